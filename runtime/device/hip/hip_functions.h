// The C interface of libamdhip64, as far as Baton calls it: written down here, so that a build
// needs no header of ROCm. Driver-style calls only.
#pragma once

#include <cstddef>

namespace baton::hip {

/// hipError_t. Those that Baton tells apart.
using Code = int;
inline constexpr Code kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100,
                      kInvalidDevice = 101, kInvalidImage = 200, kPeerAccessAlreadyEnabled = 704,
                      kNotReady = 600;

using StreamHandle = struct OpaqueStream*;
using EventHandle = struct OpaqueEvent*;
using ModuleHandle = struct OpaqueModule*;
using FunctionHandle = struct OpaqueFunction*;

/// hipIpcMemHandle_t.
struct IpcHandle {
  char bytes[64];
};

inline constexpr unsigned kStreamNonBlocking = 1;     ///< hipStreamNonBlocking
inline constexpr unsigned kEventDisableTiming = 2;    ///< hipEventDisableTiming
inline constexpr unsigned kDeviceMallocUncached = 3;  ///< hipDeviceMallocUncached
inline constexpr unsigned kDeviceMallocFinegrained = 1;
inline constexpr unsigned kIpcLazyEnablePeerAccess = 1;
enum MemcpyKind : int { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3 };

/// Keys of the `extra` list of a launch: a packed kernarg buffer, its size, the end.
inline void* const kLaunchBuffer = reinterpret_cast<void*>(1);
inline void* const kLaunchBufferSize = reinterpret_cast<void*>(2);
inline void* const kLaunchEnd = reinterpret_cast<void*>(3);

/// hipDeviceAttributeMultiprocessorCount: the same number since ROCm 5.
inline constexpr int kMultiprocessorCount = 63;

/// Larger than hipDeviceProp_t of any version.
inline constexpr size_t kPropertiesBytes = 8192;

/// Every function that has to be there: X(name, parameters).
#define BATON_HIP_FUNCTIONS(X)                                                                     \
  X(hipInit, (unsigned flags))                                                                     \
  X(hipDriverGetVersion, (int* version))                                                           \
  X(hipGetDeviceCount, (int* count))                                                               \
  X(hipSetDevice, (int device))                                                                    \
  X(hipDeviceGetName, (char* name, int bytes, int device))                                         \
  X(hipGetDeviceProperties, (void* properties, int device))                                        \
  X(hipDeviceGetAttribute, (int* value, int attribute, int device))                                \
  X(hipDeviceSynchronize, ())                                                                      \
  X(hipDeviceEnablePeerAccess, (int peer, unsigned flags))                                         \
  X(hipMalloc, (void** address, size_t bytes))                                                     \
  X(hipExtMallocWithFlags, (void** address, size_t bytes, unsigned flags))                         \
  X(hipFree, (void* address))                                                                      \
  X(hipMemcpy, (void* to, const void* from, size_t bytes, int kind))                               \
  X(hipMemcpyAsync, (void* to, const void* from, size_t bytes, int kind, StreamHandle stream))     \
  X(hipMemsetAsync, (void* to, int value, size_t bytes, StreamHandle stream))                      \
  X(hipMemsetD32Async, (void* to, int value, size_t words, StreamHandle stream))                   \
  X(hipStreamCreateWithFlags, (StreamHandle * stream, unsigned flags))                             \
  X(hipStreamDestroy, (StreamHandle stream))                                                       \
  X(hipStreamSynchronize, (StreamHandle stream))                                                   \
  X(hipStreamWaitEvent, (StreamHandle stream, EventHandle event, unsigned flags))                  \
  X(hipEventCreateWithFlags, (EventHandle * event, unsigned flags))                                \
  X(hipEventDestroy, (EventHandle event))                                                          \
  X(hipEventRecord, (EventHandle event, StreamHandle stream))                                      \
  X(hipEventQuery, (EventHandle event))                                                            \
  X(hipEventSynchronize, (EventHandle event))                                                      \
  X(hipModuleLoadData, (ModuleHandle * module, const void* image))                                 \
  X(hipModuleUnload, (ModuleHandle module))                                                        \
  X(hipModuleGetFunction, (FunctionHandle * function, ModuleHandle module, const char* name))      \
  X(hipModuleLaunchKernel,                                                                         \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
     unsigned block_y, unsigned block_z, unsigned dynamic_lds_bytes, StreamHandle stream,          \
     void** parameters, void** extra))                                                             \
  X(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,                                            \
    (int* blocks, FunctionHandle function, int block_lanes, size_t dynamic_lds_bytes))             \
  X(hipIpcGetMemHandle, (IpcHandle * handle, void* address))                                       \
  X(hipIpcOpenMemHandle, (void** address, IpcHandle handle, unsigned flags))                       \
  X(hipIpcCloseMemHandle, (void* address))

/// The functions, found.
struct Functions {
#define BATON_HIP_POINTER(name, parameters) Code(*name) parameters = nullptr;
  BATON_HIP_FUNCTIONS(BATON_HIP_POINTER)
#undef BATON_HIP_POINTER
  const char* (*hipGetErrorString)(Code code) = nullptr;
};

}  // namespace baton::hip
