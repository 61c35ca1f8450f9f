// A libamdhip64 whose devices are emulated: the C symbols that Baton calls, and no more.
#include <cstring>

#include "tests/support/hip_standin/transport.h"

namespace baton::standin {
namespace {

using namespace hip;

thread_local int current_device = 0;

uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

void (*on_call)() = nullptr;

Reply ask(Op op, std::array<uint64_t, 10> values, ByteView payload = {}, Bytes* answer = nullptr) {
  if (on_call != nullptr) on_call();
  Bytes ignored;
  return perform({.op = op, .device = current_device, .values = values}, payload,
                 answer == nullptr ? ignored : *answer);
}

/// A call whose value is an address or a handle.
template <typename T>
Code make(T* result, Op op, std::array<uint64_t, 10> values, ByteView payload = {}) {
  const Reply reply = ask(op, values, payload);
  *result = reinterpret_cast<T>(reply.value);
  return reply.code;
}

ByteView bytes_of(const void* data, size_t bytes) {
  return {static_cast<const uint8_t*>(data), bytes};
}

/// hipModuleLoadData is given no size: an ELF file ends with its section headers.
size_t elf_bytes(const void* image) {
  const auto* base = static_cast<const uint8_t*>(image);
  uint64_t table;
  uint16_t entry, count;
  std::memcpy(&table, base + 40, sizeof table);
  std::memcpy(&entry, base + 58, sizeof entry);
  std::memcpy(&count, base + 60, sizeof count);
  return table + uint64_t{entry} * count;
}

Code read_memory(void* to, const void* from, size_t bytes) {
  Bytes answer;
  const Reply reply = ask(Op::read, {number(from), bytes}, {}, &answer);
  if (reply.code == kSuccess) std::memcpy(to, answer.data(), bytes);
  return reply.code;
}

constexpr size_t kChipOffset = 1160;  // gcnArchName of ROCm 6
constexpr size_t kNameBytes = 256;
const char* chip_name() {
  const char* chip = std::getenv("BATON_STANDIN_CHIP");
  return chip == nullptr ? "gfx950" : chip;
}

/// BATON_STANDIN_CUS, else as many as the whole chip has.
int compute_units() {
  const char* cus = std::getenv("BATON_STANDIN_CUS");
  return cus == nullptr ? find_target(chip_name()).cus : std::atoi(cus);
}

}  // namespace
}  // namespace baton::standin

using namespace baton;
using namespace baton::standin;
using namespace baton::hip;

#pragma GCC visibility push(default)
extern "C" {

/// From now on `hook` is called first whenever something is asked of a device. Not HIP's: for who
/// looks at the way up to here.
void baton_standin_on_call(void (*hook)()) { on_call = hook; }

Code hipInit(unsigned) { return kSuccess; }
Code hipDriverGetVersion(int* version) {
  *version = 60'000'000;
  return kSuccess;
}
Code hipGetDeviceCount(int* count) {
  const Reply reply = ask(Op::count, {});
  *count = static_cast<int>(reply.value);
  return reply.code != kSuccess ? reply.code : *count == 0 ? kNoDevice : kSuccess;
}
Code hipSetDevice(int device) {
  current_device = device;
  return kSuccess;
}
Code hipDeviceGetName(char* name, int bytes, int) {
  std::strncpy(name, "Stand-in", static_cast<size_t>(bytes));
  return kSuccess;
}
Code hipGetDeviceProperties(void* properties, int) {
  auto* text = static_cast<char*>(properties);
  std::strncpy(text, "Stand-in gfx900", kNameBytes);
  const std::string arch = std::string(chip_name()) + ":sramecc+:xnack-";
  std::strncpy(text + kChipOffset, arch.c_str(), kNameBytes);
  return kSuccess;
}
Code hipDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kCountOfCus = 63;  // hipDeviceAttributeMultiprocessorCount of ROCm 5.2's header
  if (attribute != kCountOfCus) return kInvalidValue;
  *value = compute_units();
  return kSuccess;
}
Code hipDeviceSynchronize() { return ask(Op::wait_device, {}).code; }
Code hipDeviceEnablePeerAccess(int peer, unsigned) {
  return ask(Op::enable_peer, {static_cast<uint64_t>(peer)}).code;
}
Code hipMalloc(void** address, size_t bytes) { return make(address, Op::allocate, {bytes, 0}); }
Code hipExtMallocWithFlags(void** address, size_t bytes, unsigned flags) {
  return make(address, Op::allocate, {bytes, flags});
}
Code hipFree(void* address) { return ask(Op::release, {number(address)}).code; }
Code hipMemcpy(void* to, const void* from, size_t bytes, int kind) {
  if (kind == kDeviceToHost) return read_memory(to, from, bytes);
  if (kind != kHostToDevice) return kInvalidValue;
  return ask(Op::write, {number(to)}, bytes_of(from, bytes)).code;
}
Code hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind, StreamHandle stream) {
  if (kind == kHostToDevice) {
    return ask(Op::write_async, {number(to), number(stream)}, bytes_of(from, bytes)).code;
  }
  if (kind == kDeviceToDevice) {
    return ask(Op::copy_async, {number(to), number(from), bytes, number(stream)}).code;
  }
  // To pageable memory HIP may wait as well.
  const Code code = ask(Op::wait_stream, {number(stream)}).code;
  return code != kSuccess ? code : read_memory(to, from, bytes);
}
Code hipMemsetAsync(void* to, int value, size_t bytes, StreamHandle stream) {
  return ask(Op::fill_async, {number(to), static_cast<uint64_t>(value), bytes, number(stream)})
      .code;
}
Code hipMemsetD32Async(void* to, int value, size_t words, StreamHandle stream) {
  return ask(Op::fill_words_async,
             {number(to), static_cast<uint32_t>(value), words, number(stream)})
      .code;
}
Code hipStreamCreateWithFlags(StreamHandle* stream, unsigned) {
  return make(stream, Op::create_stream, {});
}
Code hipStreamDestroy(StreamHandle stream) {
  return ask(Op::destroy_stream, {number(stream)}).code;
}
Code hipStreamSynchronize(StreamHandle stream) {
  return ask(Op::wait_stream, {number(stream)}).code;
}
Code hipStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  return ask(Op::stream_waits, {number(stream), number(event)}).code;
}
Code hipEventCreateWithFlags(EventHandle* event, unsigned) {
  return make(event, Op::create_event, {});
}
Code hipEventDestroy(EventHandle event) { return ask(Op::destroy_event, {number(event)}).code; }
Code hipEventRecord(EventHandle event, StreamHandle stream) {
  return ask(Op::record, {number(event), number(stream)}).code;
}
Code hipEventQuery(EventHandle event) { return ask(Op::wait_event, {number(event)}).code; }
Code hipEventSynchronize(EventHandle event) { return ask(Op::wait_event, {number(event)}).code; }
Code hipModuleLoadData(ModuleHandle* module, const void* image) {
  return make(module, Op::load, {}, bytes_of(image, elf_bytes(image)));
}
Code hipModuleUnload(ModuleHandle module) { return ask(Op::unload, {number(module)}).code; }
Code hipModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  return make(function, Op::function, {number(module)}, bytes_of(name, std::strlen(name)));
}
Code hipModuleLaunchKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y,
                           unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                           unsigned dynamic_lds_bytes, StreamHandle stream, void** parameters,
                           void** extra) {
  if (parameters != nullptr || extra == nullptr || extra[0] != kLaunchBuffer ||
      extra[2] != kLaunchBufferSize || extra[4] != kLaunchEnd) {
    return kInvalidValue;
  }
  const size_t bytes = *static_cast<size_t*>(extra[3]);
  return ask(Op::launch,
             {number(function), grid_x, grid_y, grid_z, block_x, block_y, block_z,
              dynamic_lds_bytes, number(stream)},
             bytes_of(extra[1], bytes))
      .code;
}
Code hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle function,
                                                        int block_lanes, size_t dynamic_lds_bytes) {
  const Reply reply =
      ask(Op::occupancy,
          {number(function), 1, 1, 1, static_cast<uint64_t>(block_lanes), 1, 1, dynamic_lds_bytes});
  *blocks = static_cast<int>(reply.value);
  return reply.code;
}
Code hipIpcGetMemHandle(IpcHandle* handle, void* address) {
  const Reply reply = ask(Op::share, {number(address)});
  std::memset(handle->bytes, 0, sizeof handle->bytes);
  std::memcpy(handle->bytes + 8, &reply.value, sizeof reply.value);
  return reply.code;
}
Code hipIpcOpenMemHandle(void** address, IpcHandle handle, unsigned) {
  if (std::getenv("BATON_STANDIN_NO_IMPORT") != nullptr) return kOutOfMemory;
  uint64_t shared;
  std::memcpy(&shared, handle.bytes + 8, sizeof shared);
  return make(address, Op::open_shared, {shared});
}
Code hipIpcCloseMemHandle(void* address) { return ask(Op::close_shared, {number(address)}).code; }

const char* hipGetErrorString(Code code) {
  switch (code) {
    case kSuccess:
      return "no error";
    case kInvalidValue:
      return "invalid argument";
    case kOutOfMemory:
      return "out of memory";
    case kNoDevice:
      return "no ROCm-capable device is detected";
    case kInvalidDevice:
      return "invalid device ordinal";
    case 400:
      return "invalid resource handle";
    case 719:
      return "unspecified launch failure";
    default:
      return "unknown error";
  }
}

}  // extern "C"
#pragma GCC visibility pop

// Each has the signature that Baton calls it with.
#define BATON_STANDIN_SAME(name, parameters) \
  static_assert(std::is_same_v<decltype(&name), decltype(Functions::name)>);
BATON_HIP_FUNCTIONS(BATON_STANDIN_SAME)
#undef BATON_STANDIN_SAME
