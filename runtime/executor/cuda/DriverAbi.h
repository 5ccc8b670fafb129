//===- DriverAbi.h - The C interface of NVIDIA's driver ---------*- C++ -*-===//
//
// What Coil calls in libcuda, declared here so that building Coil needs no CUDA
// toolkit; the library itself is found and loaded at run time. Values and
// signatures are the driver's binary interface on 64-bit Linux, which is stable.
// A unit test compares them with cuda.h where there is one.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_DRIVERABI_H
#define COIL_RUNTIME_EXECUTOR_CUDA_DRIVERABI_H

#include <cstddef>

namespace coil::cuda {

/// CUresult. Values that are not listed exist.
enum class DriverResult : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  MapFailed = 205,
  NoBinaryForGpu = 209,
  PeerAccessUnsupported = 217,
  InvalidPtx = 218,
  OperatingSystem = 304,
  InvalidHandle = 400,
  IllegalState = 401,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  PeerAccessAlreadyEnabled = 704,
  PeerAccessNotEnabled = 705,
  HostMemoryAlreadyRegistered = 712,
  HostMemoryNotRegistered = 713,
  LaunchFailed = 719,
  CooperativeLaunchTooLarge = 720,
  NotPermitted = 800,
  NotSupported = 801,
  StreamCaptureUnsupported = 900,
  StreamCaptureInvalidated = 901,
  StreamCaptureMerge = 902,
  StreamCaptureUnmatched = 903,
  StreamCaptureUnjoined = 904,
  StreamCaptureIsolation = 905,
  StreamCaptureImplicit = 906,
  CapturedEvent = 907,
  StreamCaptureWrongThread = 908,
  Unknown = 999,
};

/// CUdevice: a number that cuDeviceGet gives.
using Device = int;
/// CUdeviceptr: an address in the unified address space.
using DevicePointer = unsigned long long;

// CUcontext and so on are pointers to these.
struct DriverContext;
struct DriverModule;
struct DriverFunction;
struct DriverStream;
struct DriverEvent;
struct DriverGraph;
struct DriverGraphExec;

/// CUdevice_attribute: those that Coil asks for.
enum class DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxSharedMemoryPerBlock = 8,
  WarpSize = 10,
  MultiprocessorCount = 16,
  Integrated = 18,
  CanMapHostMemory = 19,
  ComputeMode = 20,
  PciBusId = 33,
  PciDeviceId = 34,
  UnifiedAddressing = 41,
  PciDomainId = 50,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxSharedMemoryPerMultiprocessor = 81,
  MaxRegistersPerMultiprocessor = 82,
  CooperativeLaunch = 95,
  MaxSharedMemoryPerBlockOptin = 97,
  HostRegisterSupported = 99,
  MulticastSupported = 132,
};

/// CUpointer_attribute.
enum class PointerAttribute : int {
  Context = 1,       ///< DriverContext *
  MemoryType = 2,    ///< unsigned: a MemoryType
  DevicePointer = 3, ///< DevicePointer
  IsManaged = 8,     ///< unsigned
  DeviceOrdinal = 9, ///< int
  IsIpcCapable = 10, ///< int: CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
  RangeStart = 11,   ///< DevicePointer
  RangeSize = 12,    ///< size_t
};

/// CUmemorytype.
enum class MemoryType : unsigned { Host = 1, Device = 2, Array = 3, Unified = 4 };

/// CUfunction_attribute.
enum class FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  SharedSizeBytes = 1,
  LocalSizeBytes = 3,
  NumRegisters = 4,
  MaxDynamicSharedSizeBytes = 8,
};

/// CUstreamCaptureMode.
enum class StreamCaptureMode : int { Global = 0, ThreadLocal = 1, Relaxed = 2 };
/// CUstreamCaptureStatus.
enum class StreamCaptureStatus : int { None = 0, Active = 1, Invalidated = 2 };

/// CUipcMemHandle.
struct IpcMemHandle {
  char reserved[64];
};
/// CUuuid.
struct DeviceUuid {
  char bytes[16];
};

inline constexpr unsigned streamNonBlocking = 1;        ///< CU_STREAM_NON_BLOCKING
inline constexpr unsigned eventDisableTiming = 2;       ///< CU_EVENT_DISABLE_TIMING
inline constexpr unsigned memHostAllocPortable = 1;     ///< CU_MEMHOSTALLOC_PORTABLE
inline constexpr unsigned memHostAllocDeviceMap = 2;    ///< CU_MEMHOSTALLOC_DEVICEMAP
inline constexpr unsigned memHostRegisterPortable = 1;  ///< CU_MEMHOSTREGISTER_PORTABLE
inline constexpr unsigned memHostRegisterDeviceMap = 2; ///< CU_MEMHOSTREGISTER_DEVICEMAP
/// CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
inline constexpr unsigned ipcMemLazyEnablePeerAccess = 1;

/// The driver's functions that return a DriverResult, each under its symbol's
/// name: FUNCTION(name, (parameters)).
#define COIL_DRIVER_FUNCTIONS(FUNCTION)                                                            \
  FUNCTION(cuGetErrorName, (::coil::cuda::DriverResult error, const char **text))                  \
  FUNCTION(cuGetErrorString, (::coil::cuda::DriverResult error, const char **text))                \
  FUNCTION(cuInit, (unsigned flags))                                                               \
  FUNCTION(cuDriverGetVersion, (int *version))                                                     \
  FUNCTION(cuDeviceGetCount, (int *count))                                                         \
  FUNCTION(cuDeviceGet, (::coil::cuda::Device * device, int ordinal))                              \
  FUNCTION(cuDeviceGetName, (char *name, int length, ::coil::cuda::Device device))                 \
  FUNCTION(cuDeviceGetAttribute,                                                                   \
           (int *value, ::coil::cuda::DeviceAttribute attribute, ::coil::cuda::Device device))     \
  FUNCTION(cuDeviceGetUuid_v2, (::coil::cuda::DeviceUuid * uuid, ::coil::cuda::Device device))     \
  FUNCTION(cuDevicePrimaryCtxRetain,                                                               \
           (::coil::cuda::DriverContext * *context, ::coil::cuda::Device device))                  \
  FUNCTION(cuDevicePrimaryCtxRelease_v2, (::coil::cuda::Device device))                            \
  FUNCTION(cuDeviceCanAccessPeer,                                                                  \
           (int *canAccess, ::coil::cuda::Device device, ::coil::cuda::Device peer))               \
  FUNCTION(cuCtxPushCurrent_v2, (::coil::cuda::DriverContext * context))                           \
  FUNCTION(cuCtxPopCurrent_v2, (::coil::cuda::DriverContext * *context))                           \
  FUNCTION(cuCtxSetCurrent, (::coil::cuda::DriverContext * context))                               \
  FUNCTION(cuCtxGetCurrent, (::coil::cuda::DriverContext * *context))                              \
  FUNCTION(cuCtxEnablePeerAccess, (::coil::cuda::DriverContext * peer, unsigned flags))            \
  FUNCTION(cuMemAlloc_v2, (::coil::cuda::DevicePointer * pointer, std::size_t bytes))              \
  FUNCTION(cuMemFree_v2, (::coil::cuda::DevicePointer pointer))                                    \
  FUNCTION(cuMemHostAlloc, (void **pointer, std::size_t bytes, unsigned flags))                    \
  FUNCTION(cuMemFreeHost, (void *pointer))                                                         \
  FUNCTION(cuMemHostRegister_v2, (void *pointer, std::size_t bytes, unsigned flags))               \
  FUNCTION(cuMemHostUnregister, (void *pointer))                                                   \
  FUNCTION(cuMemHostGetDevicePointer_v2,                                                           \
           (::coil::cuda::DevicePointer * devicePointer, void *pointer, unsigned flags))           \
  FUNCTION(cuMemcpyAsync, (::coil::cuda::DevicePointer to, ::coil::cuda::DevicePointer from,       \
                           std::size_t bytes, ::coil::cuda::DriverStream *stream))                 \
  FUNCTION(cuMemcpyHtoD_v2, (::coil::cuda::DevicePointer to, const void *from, std::size_t bytes)) \
  FUNCTION(cuMemcpyDtoH_v2, (void *to, ::coil::cuda::DevicePointer from, std::size_t bytes))       \
  FUNCTION(cuMemsetD8_v2,                                                                          \
           (::coil::cuda::DevicePointer pointer, unsigned char value, std::size_t bytes))          \
  FUNCTION(cuMemsetD8Async, (::coil::cuda::DevicePointer pointer, unsigned char value,             \
                             std::size_t bytes, ::coil::cuda::DriverStream *stream))               \
  FUNCTION(cuMemGetAddressRange_v2, (::coil::cuda::DevicePointer * base, std::size_t *bytes,       \
                                     ::coil::cuda::DevicePointer pointer))                         \
  FUNCTION(cuPointerGetAttribute, (void *value, ::coil::cuda::PointerAttribute attribute,          \
                                   ::coil::cuda::DevicePointer pointer))                           \
  FUNCTION(cuIpcGetMemHandle,                                                                      \
           (::coil::cuda::IpcMemHandle * handle, ::coil::cuda::DevicePointer pointer))             \
  FUNCTION(cuIpcOpenMemHandle_v2, (::coil::cuda::DevicePointer * pointer,                          \
                                   ::coil::cuda::IpcMemHandle handle, unsigned flags))             \
  FUNCTION(cuIpcCloseMemHandle, (::coil::cuda::DevicePointer pointer))                             \
  FUNCTION(cuStreamCreate, (::coil::cuda::DriverStream * *stream, unsigned flags))                 \
  FUNCTION(cuStreamDestroy_v2, (::coil::cuda::DriverStream * stream))                              \
  FUNCTION(cuStreamSynchronize, (::coil::cuda::DriverStream * stream))                             \
  FUNCTION(cuStreamQuery, (::coil::cuda::DriverStream * stream))                                   \
  FUNCTION(cuStreamWaitEvent, (::coil::cuda::DriverStream * stream,                                \
                               ::coil::cuda::DriverEvent * event, unsigned flags))                 \
  FUNCTION(cuStreamBeginCapture_v2,                                                                \
           (::coil::cuda::DriverStream * stream, ::coil::cuda::StreamCaptureMode mode))            \
  FUNCTION(cuStreamEndCapture,                                                                     \
           (::coil::cuda::DriverStream * stream, ::coil::cuda::DriverGraph * *graph))              \
  FUNCTION(cuStreamIsCapturing,                                                                    \
           (::coil::cuda::DriverStream * stream, ::coil::cuda::StreamCaptureStatus * status))      \
  FUNCTION(cuThreadExchangeStreamCaptureMode, (::coil::cuda::StreamCaptureMode * mode))            \
  FUNCTION(cuGraphInstantiateWithFlags,                                                            \
           (::coil::cuda::DriverGraphExec * *exec, ::coil::cuda::DriverGraph * graph,              \
            unsigned long long flags))                                                             \
  FUNCTION(cuGraphLaunch,                                                                          \
           (::coil::cuda::DriverGraphExec * exec, ::coil::cuda::DriverStream * stream))            \
  FUNCTION(cuGraphExecDestroy, (::coil::cuda::DriverGraphExec * exec))                             \
  FUNCTION(cuGraphDestroy, (::coil::cuda::DriverGraph * graph))                                    \
  FUNCTION(cuEventCreate, (::coil::cuda::DriverEvent * *event, unsigned flags))                    \
  FUNCTION(cuEventRecord,                                                                          \
           (::coil::cuda::DriverEvent * event, ::coil::cuda::DriverStream * stream))               \
  FUNCTION(cuEventQuery, (::coil::cuda::DriverEvent * event))                                      \
  FUNCTION(cuEventSynchronize, (::coil::cuda::DriverEvent * event))                                \
  FUNCTION(cuEventDestroy_v2, (::coil::cuda::DriverEvent * event))                                 \
  FUNCTION(cuModuleLoadData, (::coil::cuda::DriverModule * *module, const void *image))            \
  FUNCTION(cuModuleUnload, (::coil::cuda::DriverModule * module))                                  \
  FUNCTION(cuModuleGetFunction, (::coil::cuda::DriverFunction * *function,                         \
                                 ::coil::cuda::DriverModule * module, const char *name))           \
  FUNCTION(cuFuncGetAttribute, (int *value, ::coil::cuda::FunctionAttribute attribute,             \
                                ::coil::cuda::DriverFunction *function))                           \
  FUNCTION(cuFuncSetAttribute, (::coil::cuda::DriverFunction * function,                           \
                                ::coil::cuda::FunctionAttribute attribute, int value))             \
  FUNCTION(cuLaunchKernel, (::coil::cuda::DriverFunction * function, unsigned gridX,               \
                            unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,      \
                            unsigned blockZ, unsigned sharedBytes,                                 \
                            ::coil::cuda::DriverStream *stream, void **parameters, void **extra))  \
  FUNCTION(cuLaunchCooperativeKernel,                                                              \
           (::coil::cuda::DriverFunction * function, unsigned gridX, unsigned gridY,               \
            unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,                     \
            unsigned sharedBytes, ::coil::cuda::DriverStream *stream, void **parameters))          \
  FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                            \
           (int *blocks, ::coil::cuda::DriverFunction *function, int blockSize,                    \
            std::size_t sharedBytes))

/// A pointer to each function.
struct DriverFunctions {
#define COIL_DRIVER_POINTER(name, parameters)                                                      \
  ::coil::cuda::DriverResult(*name) parameters = nullptr;
  COIL_DRIVER_FUNCTIONS(COIL_DRIVER_POINTER)
#undef COIL_DRIVER_POINTER
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_DRIVERABI_H
