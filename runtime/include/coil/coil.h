/*===- coil.h - The C API of Coil's runtime ----------------------*- C -*-===*\
|*
|* Collective communication between ranks, by plans that Coil's compiler wrote.
|* A rank is one process, or one thread of a process; a communicator joins the
|* ranks of one group. The calls have the shape of NCCL's.
|*
|* Threads. Different communicators may be used by different threads at once.
|* One communicator serves one call at a time: a second thread that calls into
|* a busy communicator gets coilInvalidUsage, but for coilCommAbort,
|* coilCommGetAsyncError and coilGetLastError, which any thread may call at any
|* time.
|*
|* Where calls run. A communicator on CPUs (the default) blocks in every call
|* until the result is there, and takes NULL for a stream. One on GPUs (target
|* coilTargetCuda) puts collectives on the CUDA stream that each call is given
|* and returns at once; buffers are memory of its device. Plans are compiled for
|* the device when they are first needed, or taken from the user's cache; kernels
|* compiled ahead of time are used only through coilCommLoadPlanTrustingCubins.
|*
|* Ownership. Buffers belong to the caller and may be reused as soon as a call
|* has returned, on GPUs as soon as the stream has got past it. Send buffers are
|* never written. Handles belong to the library between their making and the
|* matching destroy, free or deregister call.
|*
|* Errors. Every call returns a result; on a failure coilGetLastError gives a
|* sentence that says where, what was expected and what was found. A failed
|* collective poisons the communicator: each later call on it fails at once,
|* only coilCommDestroy and coilCommAbort remain. What fails on a GPU after its
|* call has returned is found by coilCommGetAsyncError and by later calls; the
|* stream itself goes on. Nothing ever aborts the process.
|*
\*===----------------------------------------------------------------------===*/

#ifndef COIL_COIL_H
#define COIL_COIL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define COIL_API __attribute__((visibility("default")))
#else
#define COIL_API
#endif

#define COIL_VERSION_MAJOR 0
#define COIL_VERSION_MINOR 1
#define COIL_VERSION_PATCH 0
/** major * 10000 + minor * 100 + patch. */
#define COIL_VERSION (COIL_VERSION_MAJOR * 10000 + COIL_VERSION_MINOR * 100 + COIL_VERSION_PATCH)

/** What a call came to. */
typedef enum {
  coilSuccess = 0,
  coilSystemError = 1,     /**< a call to the operating system failed */
  coilInternalError = 2,   /**< a bug in Coil */
  coilInvalidArgument = 3, /**< an argument that can never be right */
  coilInvalidUsage = 4,    /**< a wrong time, or arguments that the ranks disagree on */
  coilInvalidPlan = 5,     /**< a plan that is damaged, of another version, or does not fit */
  coilRemoteError = 6,     /**< another rank failed, died or left */
  coilTimeout = 7,         /**< a rank did not come within the time allowed */
  coilAborted = 8,         /**< coilCommAbort was called, here or on another rank */
  coilUnsupported = 9      /**< this build or machine cannot do it */
} coilResult_t;

/** Element types. */
typedef enum {
  coilInt8 = 0,
  coilUint8 = 1,
  coilInt32 = 2,
  coilUint32 = 3,
  coilInt64 = 4,
  coilUint64 = 5,
  coilFloat16 = 6,
  coilFloat32 = 7,
  coilFloat64 = 8,
  coilBfloat16 = 9,
  coilFloat8e4m3 = 10,
  coilFloat8e5m2 = 11
} coilDataType_t;

/** Operators. Integers wrap; avg of integers divides the wrapped sum towards
 *  zero; min and max are NaN if an operand is. Values from coilRedOpCount on are
 *  made by coilRedOpCreatePreMulSum. */
typedef enum {
  coilSum = 0,
  coilProd = 1,
  coilMax = 2,
  coilMin = 3,
  coilAvg = 4,
  coilRedOpCount = 5,
  coilRedOpMax = 0x7fffffff
} coilRedOp_t;

/** Collectives, as plans implement them. */
typedef enum {
  coilCollAllReduce = 0,
  coilCollAllGather = 1,
  coilCollReduceScatter = 2,
  coilCollBroadcast = 3,
  coilCollReduce = 4,
  coilCollGather = 5,
  coilCollScatter = 6,
  coilCollAlltoAll = 7,
  coilCollSendRecv = 8,
  coilCollBarrier = 9,
  coilCollCustom = 10 /**< states its own contract */
} coilCollective_t;

typedef struct coilComm *coilComm_t;
typedef struct coilWindow *coilWindow_t;

#define COIL_UNIQUE_ID_BYTES 128
/** Names one communicator to be; made by one rank, handed to all by the user. */
typedef struct {
  char internal[COIL_UNIQUE_ID_BYTES];
} coilUniqueId;

/** A CUDA stream: CUstream or cudaStream_t, NULL for the default one. */
typedef void *coilStream_t;

/** What a communicator's ranks run on. */
typedef enum { coilTargetCpu = 0, coilTargetCuda = 1 } coilTarget_t;

/** How messages of staged channels are packed on GPUs. Auto: ll up to llBytes,
 *  simple beyond. ll128 is right only where a warp's 128-byte stores arrive
 *  whole, as they do over NVLink; it is refused where a self-test shows otherwise. */
typedef enum {
  coilProtocolAuto = 0,
  coilProtocolSimple = 1,
  coilProtocolLl = 2,
  coilProtocolLl128 = 3
} coilProtocol_t;

/** In a configuration: what suits the target. */
#define COIL_CHOOSE UINT64_MAX

/** How a communicator behaves; begin with COIL_CONFIG_INITIALIZER. All but
 *  timeoutMs, device and the paths must be the same on all ranks. */
typedef struct {
  size_t size;          /**< sizeof(coilConfig_t) */
  unsigned int version; /**< COIL_VERSION */
  /** Milliseconds that a call waits for a rank that neither comes nor dies; 0: for ever. */
  uint64_t timeoutMs;
  /** Bytes of a channel's slot, which is also the largest tile; a multiple of 64.
   *  Plans with very many slots a rank get smaller ones. */
  uint64_t slotBytes;
  /** From this many bytes (count * size of an element) on, registered buffers are
   *  accessed directly. */
  uint64_t directBytes;
  coilTarget_t target;

  /* The rest matters to coilTargetCuda alone. */

  /** CUDA device ordinal of this rank. Ranks share a device only as threads of one
   *  process, and then their calls wait for each other to be launched together. */
  int device;
  /** Copies of a plan's program, each on its share of the tiles; 0: what suits the
   *  device. Fewer run if so many would not be resident together. */
  unsigned int instances;
  /** Threads of a block, a multiple of 32 up to 1024; 0: what suits the device. */
  unsigned int threadsPerBlock;
  coilProtocol_t protocol;
  /** With coilProtocolAuto: calls up to this many bytes use ll. */
  uint64_t llBytes;
  /** Libraries to load in place of the system's libcuda and libnvrtc; NULL: those. */
  const char *cudaLibrary;
  const char *nvrtcLibrary;
} coilConfig_t;
#define COIL_CONFIG_INITIALIZER                                                                    \
  {sizeof(coilConfig_t), COIL_VERSION, 30000, COIL_CHOOSE, COIL_CHOOSE, coilTargetCpu, 0, 0, 0,    \
   coilProtocolAuto,     COIL_CHOOSE,  NULL,  NULL}

/** COIL_VERSION of the library in use. */
COIL_API coilResult_t coilGetVersion(int *version);
/** A static, short name of a result. */
COIL_API const char *coilGetErrorString(coilResult_t result);
/** The last error's sentence, of this communicator or (comm NULL) of this
 *  thread's calls without one. Valid until the next failing call there. */
COIL_API const char *coilGetLastError(coilComm_t comm);

/** Makes an id. Needs no network; unique on this machine. */
COIL_API coilResult_t coilGetUniqueId(coilUniqueId *id);
/** Collective. Joins `ranks` ranks that hold the same id; blocks until all have
 *  come. Ranks of one process join from different threads. */
COIL_API coilResult_t coilCommInitRank(coilComm_t *comm, int ranks, coilUniqueId id, int rank);
COIL_API coilResult_t coilCommInitRankConfig(coilComm_t *comm, int ranks, coilUniqueId id, int rank,
                                             const coilConfig_t *config);
/** Local. Releases the communicator; peers that still wait for this rank get
 *  coilRemoteError. NULL is fine. */
COIL_API coilResult_t coilCommDestroy(coilComm_t comm);
/** Any thread. Every rank's running and later calls end with coilAborted (the
 *  caller's) or coilRemoteError. coilCommDestroy is still owed. */
COIL_API coilResult_t coilCommAbort(coilComm_t comm);
/** Any thread. `*result` is coilSuccess while the communicator is healthy. */
COIL_API coilResult_t coilCommGetAsyncError(coilComm_t comm, coilResult_t *result);
COIL_API coilResult_t coilCommCount(coilComm_t comm, int *ranks);
COIL_API coilResult_t coilCommUserRank(coilComm_t comm, int *rank);

/** Collective. Loads a plan, of which every rank must give the same, and uses it
 *  from now on for its collective, in place of one loaded before. Of plans with
 *  contracts of their own, those of different names are loaded side by side. */
COIL_API coilResult_t coilCommLoadPlan(coilComm_t comm, const void *bytes, size_t size);
COIL_API coilResult_t coilCommLoadPlanFile(coilComm_t comm, const char *path);
/** The same with kernels that were compiled ahead of time: `cubins` is what
 *  `coilc --cubin` wrote beside the plan (ring.plan.cubins). GPUs that these
 *  kernels fit need no NVRTC.
 *
 *  Kernels are machine code, which nobody can check as a plan is checked: they
 *  can do whatever this process can do on its GPU. This call is the user's word
 *  that they come from someone who may; nothing else loads a cubin from
 *  elsewhere. Ranks may give different cubins, and some none.
 *
 *  Cubins that are damaged, of another version, or of another plan are
 *  coilInvalidPlan, also on CPUs, which have no further use for them. A kernel
 *  that is missing, for the device, the type or the operator, or that another
 *  version of Coil generated is compiled when a call first needs it, as without
 *  cubins; where there is no NVRTC that call is coilUnsupported. */
COIL_API coilResult_t coilCommLoadPlanTrustingCubins(coilComm_t comm, const void *bytes,
                                                     size_t size, const void *cubins,
                                                     size_t cubinsSize);
COIL_API coilResult_t coilCommLoadPlanFileTrustingCubins(coilComm_t comm, const char *path,
                                                         const char *cubinsPath);

/** Local. Memory that can be registered, aligned to 4096 bytes, zeroed. Bytes
 *  may be 0. */
COIL_API coilResult_t coilMemAlloc(void **pointer, size_t bytes);
/** Local. Frees what coilMemAlloc gave; deregister it first. NULL is fine. */
COIL_API coilResult_t coilMemFree(void *pointer);
/** Collective. Lets the other ranks access `bytes` bytes at `pointer` directly;
 *  ranks may give different pointers and sizes. The memory must lie in one
 *  allocation of coilMemAlloc or, on GPUs, of cuMemAlloc (cudaMalloc).
 *  Registering is a matter of speed only: calls accept any memory. */
COIL_API coilResult_t coilCommRegister(coilComm_t comm, void *pointer, size_t bytes,
                                       coilWindow_t *window);
/** Collective. */
COIL_API coilResult_t coilCommDeregister(coilComm_t comm, coilWindow_t window);

/** Local. An operator that multiplies this rank's input by `*scalar`, an element
 *  of `type`, and sums. The scalar is read now; ranks may give different ones. */
COIL_API coilResult_t coilRedOpCreatePreMulSum(coilRedOp_t *op, const void *scalar,
                                               coilDataType_t type, coilComm_t comm);
COIL_API coilResult_t coilRedOpDestroy(coilRedOp_t op, coilComm_t comm);

/*
 * The collectives. All ranks call the same one, in the same order, with the
 * same count, type, operator and root, and all in place or none; where they
 * differ, every rank gets coilInvalidUsage. Buffers may be any memory, at any
 * alignment; with count 0 pointers may be NULL. Send and receive buffers are
 * the same (in place) or do not overlap. `stream` is NULL on CPUs; on GPUs, all
 * ranks give registered buffers or none does.
 */

/** recv[i] = sum over ranks of send[i]. In place: send == recv. */
COIL_API coilResult_t coilAllReduce(const void *send, void *recv, size_t count, coilDataType_t type,
                                    coilRedOp_t op, coilComm_t comm, coilStream_t stream);
/** recv[r * count + i] = rank r's send[i]. In place: send == recv + rank * count. */
COIL_API coilResult_t coilAllGather(const void *send, void *recv, size_t sendCount,
                                    coilDataType_t type, coilComm_t comm, coilStream_t stream);
/** recv[i] = sum over ranks of send[rank * count + i]. In place: recv == send +
 *  rank * count. */
COIL_API coilResult_t coilReduceScatter(const void *send, void *recv, size_t recvCount,
                                        coilDataType_t type, coilRedOp_t op, coilComm_t comm,
                                        coilStream_t stream);
/** recv[i] = root's send[i]; send matters on root only. In place: send == recv on
 *  root. On other ranks send may be NULL; there in place is what root says. */
COIL_API coilResult_t coilBroadcast(const void *send, void *recv, size_t count, coilDataType_t type,
                                    int root, coilComm_t comm, coilStream_t stream);
/** On root: recv[i] = sum over ranks of send[i]; recv matters on root only and may
 *  be NULL elsewhere. In place: send == recv on root; there in place is what root
 *  says, and other ranks' send buffers stay as they are. */
COIL_API coilResult_t coilReduce(const void *send, void *recv, size_t count, coilDataType_t type,
                                 coilRedOp_t op, int root, coilComm_t comm, coilStream_t stream);
/** On root: recv[r * count + i] = rank r's send[i]; recv matters on root only and
 *  may be NULL elsewhere. In place: send == recv + root * count on root. */
COIL_API coilResult_t coilGather(const void *send, void *recv, size_t sendCount,
                                 coilDataType_t type, int root, coilComm_t comm,
                                 coilStream_t stream);
/** recv[i] = root's send[rank * count + i]; send matters on root only and may be
 *  NULL elsewhere. In place: recv == send + root * count on root, whose other
 *  parts stay as they are. */
COIL_API coilResult_t coilScatter(const void *send, void *recv, size_t recvCount,
                                  coilDataType_t type, int root, coilComm_t comm,
                                  coilStream_t stream);
/** recv[r * count + i] = rank r's send[rank * count + i]. There is no form in
 *  place: the buffers, each of ranks * count elements, must not overlap. */
COIL_API coilResult_t coilAlltoAll(const void *send, void *recv, size_t count, coilDataType_t type,
                                   coilComm_t comm, coilStream_t stream);
/** Around the ring: recv[i] = send[i] of the rank below this one, of the last one
 *  on rank 0. There is no form in place. */
COIL_API coilResult_t coilSendRecv(const void *send, void *recv, size_t count, coilDataType_t type,
                                   coilComm_t comm, coilStream_t stream);

/** Returns, on a GPU: what is behind it in the stream runs, after all ranks have called it. */
COIL_API coilResult_t coilBarrier(coilComm_t comm, coilStream_t stream);

/** Runs the loaded plan of that name whose algorithm states its own contract; NULL
 *  if only one such plan is loaded. Buffers have as many segments of `count`
 *  elements as coilCommCustomSegments tells: input segment i of the contract is
 *  send[i * count] to send[(i + 1) * count - 1]. What the contract promises nothing
 *  of stays in recv as it is. The operator is sum, prod, max or min. There is no form
 *  in place. */
COIL_API coilResult_t coilRunCustom(const char *name, const void *send, void *recv, size_t count,
                                    coilDataType_t type, coilRedOp_t op, coilComm_t comm,
                                    coilStream_t stream);
/** Local. The segments of the two buffers of the plan that coilRunCustom would run. */
COIL_API coilResult_t coilCommCustomSegments(coilComm_t comm, const char *name, size_t *send,
                                             size_t *recv);

#ifdef __cplusplus
}
#endif

#endif /* COIL_COIL_H */
