//===- DriverAbiTest.cpp - Coil's declarations against cuda.h -------------===//
//
// Compiled where a CUDA toolkit is found; there is nothing to run.
//
//===----------------------------------------------------------------------===//

#include "runtime/executor/cuda/DriverAbi.h"

#include <cuda.h>
#include <type_traits>

namespace {

using namespace coil::cuda;

/// Types that a function passes alike.
template <typename Ours, typename Theirs>
inline constexpr bool isAlike =
    sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs) &&
    std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
    std::is_class_v<Ours> == std::is_class_v<Theirs>;

template <typename Ours, typename Theirs> inline constexpr bool isSameFunction = false;
template <typename Ours, typename... OurParameters, typename Theirs, typename... TheirParameters>
  requires(sizeof...(OurParameters) == sizeof...(TheirParameters))
inline constexpr bool isSameFunction<Ours (*)(OurParameters...), Theirs (*)(TheirParameters...)> =
    isAlike<Ours, Theirs> && (isAlike<OurParameters, TheirParameters> && ...);

#define CHECK_FUNCTION(name, parameters)                                                           \
  static_assert(isSameFunction<decltype(DriverFunctions::name), decltype(&::name)>, #name);
COIL_DRIVER_FUNCTIONS(CHECK_FUNCTION)

template <auto ours, auto theirs>
inline constexpr bool isSame = static_cast<long>(ours) == static_cast<long>(theirs);

static_assert(isSame<DriverResult::Success, CUDA_SUCCESS>);
static_assert(isSame<DriverResult::InvalidValue, CUDA_ERROR_INVALID_VALUE>);
static_assert(isSame<DriverResult::OutOfMemory, CUDA_ERROR_OUT_OF_MEMORY>);
static_assert(isSame<DriverResult::NotInitialized, CUDA_ERROR_NOT_INITIALIZED>);
static_assert(isSame<DriverResult::Deinitialized, CUDA_ERROR_DEINITIALIZED>);
static_assert(isSame<DriverResult::NoDevice, CUDA_ERROR_NO_DEVICE>);
static_assert(isSame<DriverResult::InvalidDevice, CUDA_ERROR_INVALID_DEVICE>);
static_assert(isSame<DriverResult::InvalidImage, CUDA_ERROR_INVALID_IMAGE>);
static_assert(isSame<DriverResult::InvalidContext, CUDA_ERROR_INVALID_CONTEXT>);
static_assert(isSame<DriverResult::MapFailed, CUDA_ERROR_MAP_FAILED>);
static_assert(isSame<DriverResult::NoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU>);
static_assert(isSame<DriverResult::PeerAccessUnsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED>);
static_assert(isSame<DriverResult::InvalidPtx, CUDA_ERROR_INVALID_PTX>);
static_assert(isSame<DriverResult::OperatingSystem, CUDA_ERROR_OPERATING_SYSTEM>);
static_assert(isSame<DriverResult::InvalidHandle, CUDA_ERROR_INVALID_HANDLE>);
static_assert(isSame<DriverResult::IllegalState, CUDA_ERROR_ILLEGAL_STATE>);
static_assert(isSame<DriverResult::NotFound, CUDA_ERROR_NOT_FOUND>);
static_assert(isSame<DriverResult::NotReady, CUDA_ERROR_NOT_READY>);
static_assert(isSame<DriverResult::IllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS>);
static_assert(isSame<DriverResult::LaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES>);
static_assert(
    isSame<DriverResult::PeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED>);
static_assert(isSame<DriverResult::PeerAccessNotEnabled, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED>);
static_assert(
    isSame<DriverResult::HostMemoryAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED>);
static_assert(isSame<DriverResult::HostMemoryNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED>);
static_assert(isSame<DriverResult::LaunchFailed, CUDA_ERROR_LAUNCH_FAILED>);
static_assert(
    isSame<DriverResult::CooperativeLaunchTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE>);
static_assert(isSame<DriverResult::NotPermitted, CUDA_ERROR_NOT_PERMITTED>);
static_assert(isSame<DriverResult::NotSupported, CUDA_ERROR_NOT_SUPPORTED>);
static_assert(
    isSame<DriverResult::StreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED>);
static_assert(
    isSame<DriverResult::StreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED>);
static_assert(isSame<DriverResult::StreamCaptureMerge, CUDA_ERROR_STREAM_CAPTURE_MERGE>);
static_assert(isSame<DriverResult::StreamCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED>);
static_assert(isSame<DriverResult::StreamCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED>);
static_assert(isSame<DriverResult::StreamCaptureIsolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION>);
static_assert(isSame<DriverResult::StreamCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT>);
static_assert(isSame<DriverResult::CapturedEvent, CUDA_ERROR_CAPTURED_EVENT>);
static_assert(
    isSame<DriverResult::StreamCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD>);
static_assert(isSame<DriverResult::Unknown, CUDA_ERROR_UNKNOWN>);

#define CHECK_DEVICE_ATTRIBUTE(ours, theirs)                                                       \
  static_assert(isSame<DeviceAttribute::ours, CU_DEVICE_ATTRIBUTE_##theirs>)
CHECK_DEVICE_ATTRIBUTE(MaxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
CHECK_DEVICE_ATTRIBUTE(MaxSharedMemoryPerBlock, MAX_SHARED_MEMORY_PER_BLOCK);
CHECK_DEVICE_ATTRIBUTE(WarpSize, WARP_SIZE);
CHECK_DEVICE_ATTRIBUTE(MultiprocessorCount, MULTIPROCESSOR_COUNT);
CHECK_DEVICE_ATTRIBUTE(Integrated, INTEGRATED);
CHECK_DEVICE_ATTRIBUTE(CanMapHostMemory, CAN_MAP_HOST_MEMORY);
CHECK_DEVICE_ATTRIBUTE(ComputeMode, COMPUTE_MODE);
CHECK_DEVICE_ATTRIBUTE(PciBusId, PCI_BUS_ID);
CHECK_DEVICE_ATTRIBUTE(PciDeviceId, PCI_DEVICE_ID);
CHECK_DEVICE_ATTRIBUTE(UnifiedAddressing, UNIFIED_ADDRESSING);
CHECK_DEVICE_ATTRIBUTE(PciDomainId, PCI_DOMAIN_ID);
CHECK_DEVICE_ATTRIBUTE(ComputeCapabilityMajor, COMPUTE_CAPABILITY_MAJOR);
CHECK_DEVICE_ATTRIBUTE(ComputeCapabilityMinor, COMPUTE_CAPABILITY_MINOR);
CHECK_DEVICE_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
CHECK_DEVICE_ATTRIBUTE(MaxRegistersPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR);
CHECK_DEVICE_ATTRIBUTE(CooperativeLaunch, COOPERATIVE_LAUNCH);
CHECK_DEVICE_ATTRIBUTE(MaxSharedMemoryPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
CHECK_DEVICE_ATTRIBUTE(HostRegisterSupported, HOST_REGISTER_SUPPORTED);
CHECK_DEVICE_ATTRIBUTE(MulticastSupported, MULTICAST_SUPPORTED);

static_assert(isSame<PointerAttribute::Context, CU_POINTER_ATTRIBUTE_CONTEXT>);
static_assert(isSame<PointerAttribute::MemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE>);
static_assert(isSame<PointerAttribute::DevicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER>);
static_assert(isSame<PointerAttribute::IsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED>);
static_assert(isSame<PointerAttribute::DeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL>);
static_assert(
    isSame<PointerAttribute::IsIpcCapable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE>);
static_assert(isSame<PointerAttribute::RangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR>);
static_assert(isSame<PointerAttribute::RangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE>);

static_assert(isSame<MemoryType::Host, CU_MEMORYTYPE_HOST>);
static_assert(isSame<MemoryType::Device, CU_MEMORYTYPE_DEVICE>);
static_assert(isSame<MemoryType::Array, CU_MEMORYTYPE_ARRAY>);
static_assert(isSame<MemoryType::Unified, CU_MEMORYTYPE_UNIFIED>);

static_assert(
    isSame<FunctionAttribute::MaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK>);
static_assert(isSame<FunctionAttribute::SharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES>);
static_assert(isSame<FunctionAttribute::LocalSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES>);
static_assert(isSame<FunctionAttribute::NumRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS>);
static_assert(isSame<FunctionAttribute::MaxDynamicSharedSizeBytes,
                     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES>);

static_assert(isSame<StreamCaptureMode::Global, CU_STREAM_CAPTURE_MODE_GLOBAL>);
static_assert(isSame<StreamCaptureMode::ThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL>);
static_assert(isSame<StreamCaptureMode::Relaxed, CU_STREAM_CAPTURE_MODE_RELAXED>);
static_assert(isSame<StreamCaptureStatus::None, CU_STREAM_CAPTURE_STATUS_NONE>);
static_assert(isSame<StreamCaptureStatus::Active, CU_STREAM_CAPTURE_STATUS_ACTIVE>);
static_assert(isSame<StreamCaptureStatus::Invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED>);

static_assert(isSame<streamNonBlocking, CU_STREAM_NON_BLOCKING>);
static_assert(isSame<eventDisableTiming, CU_EVENT_DISABLE_TIMING>);
static_assert(isSame<memHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE>);
static_assert(isSame<memHostAllocDeviceMap, CU_MEMHOSTALLOC_DEVICEMAP>);
static_assert(isSame<memHostRegisterPortable, CU_MEMHOSTREGISTER_PORTABLE>);
static_assert(isSame<memHostRegisterDeviceMap, CU_MEMHOSTREGISTER_DEVICEMAP>);
static_assert(isSame<ipcMemLazyEnablePeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS>);

} // namespace
