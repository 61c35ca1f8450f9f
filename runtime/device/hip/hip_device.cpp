#include "runtime/device/hip/hip_device.h"

#include <cstring>
#include <map>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/text.h"
#include "runtime/device/hip/hip_library.h"
#include "runtime/object/elf_image.h"

namespace baton::hip {
namespace {

void* pointer(DeviceAddress address) { return reinterpret_cast<void*>(address); }
DeviceAddress address_of(void* pointer) { return reinterpret_cast<DeviceAddress>(pointer); }

struct HipStream : Stream {
  explicit HipStream(const Library& library) : library(library) {}
  ~HipStream() override { library.call().hipStreamDestroy(handle); }

  const Library& library;
  StreamHandle handle = nullptr;
  /// What copies from host memory still read; freed when the stream has been waited for.
  std::vector<Bytes> staged;
};

struct HipEvent : Event {
  explicit HipEvent(const Library& library) : library(library) {}
  ~HipEvent() override { library.call().hipEventDestroy(handle); }

  const Library& library;
  EventHandle handle = nullptr;
};

struct HipFunction : Function {
  const KernelMetadata& metadata() const override { return kernel; }

  KernelMetadata kernel;
  FunctionHandle handle = nullptr;
};

struct HipModule : Module {
  explicit HipModule(const Library& library) : library(library) {}
  ~HipModule() override { library.call().hipModuleUnload(handle); }

  const Function& function(std::string_view name) const override {
    const auto found = functions.find(name);
    if (found != functions.end()) return found->second;
    std::string names;
    for (const auto& [known, function] : functions) names += (names.empty() ? "" : ", ") + known;
    throw Error(ErrorKind::user, fmt::format("the module has no kernel {}", quote(name)),
                "its kernels: " + names);
  }

  const Library& library;
  ModuleHandle handle = nullptr;
  std::map<std::string, HipFunction, std::less<>> functions;
};

StreamHandle handle_of(Stream& stream) { return static_cast<HipStream&>(stream).handle; }
EventHandle handle_of(Event& event) { return static_cast<HipEvent&>(event).handle; }

class HipDevice : public Device {
 public:
  HipDevice(const Library& library, const Gpu& gpu, const Target& target)
      : library_(library), hip_(library.call()), gpu_(gpu), target_(target) {}

  int ordinal() const override { return gpu_.ordinal; }
  const Target& target() const override { return target_; }
  std::string description() const override {
    return fmt::format("{} ({}, device {})", printable(gpu_.name), target_.chip, gpu_.ordinal);
  }

  DeviceAddress allocate(uint64_t bytes, MemoryKind kind) override {
    use();
    void* address = nullptr;
    Code code = kInvalidValue;
    if (kind == MemoryKind::normal) {
      code = hip_.hipMalloc(&address, bytes);
    } else {
      code = hip_.hipExtMallocWithFlags(&address, bytes, kDeviceMallocUncached);
      // Older versions know the other flag only.
      if (code == kInvalidValue) {
        code = hip_.hipExtMallocWithFlags(&address, bytes, kDeviceMallocFinegrained);
      }
    }
    check(code, fmt::format("allocate {} bytes", bytes));
    return address_of(address);
  }
  void release(DeviceAddress address) override {
    use();
    check(hip_.hipDeviceSynchronize(), "wait for the device");
    check(hip_.hipFree(pointer(address)), fmt::format("free {:#x}", address));
  }

  void write(DeviceAddress to, ByteView bytes) override {
    if (bytes.empty()) return;
    use();
    check(hip_.hipMemcpy(pointer(to), bytes.data(), bytes.size(), kHostToDevice), "write memory");
  }
  void read(DeviceAddress from, std::span<uint8_t> bytes) override {
    if (bytes.empty()) return;
    use();
    check(hip_.hipMemcpy(bytes.data(), pointer(from), bytes.size(), kDeviceToHost), "read memory");
  }

  std::unique_ptr<Stream> create_stream() override {
    use();
    auto stream = std::make_unique<HipStream>(library_);
    check(hip_.hipStreamCreateWithFlags(&stream->handle, kStreamNonBlocking), "make a stream");
    return stream;
  }
  std::unique_ptr<Event> create_event() override {
    use();
    auto event = std::make_unique<HipEvent>(library_);
    check(hip_.hipEventCreateWithFlags(&event->handle, kEventDisableTiming), "make an event");
    return event;
  }

  void write_async(DeviceAddress to, ByteView bytes, Stream& stream) override {
    if (bytes.empty()) return;
    use();
    Bytes& copy = static_cast<HipStream&>(stream).staged.emplace_back(bytes.begin(), bytes.end());
    check(hip_.hipMemcpyAsync(pointer(to), copy.data(), copy.size(), kHostToDevice,
                              handle_of(stream)),
          "write memory");
  }
  void read_async(DeviceAddress from, std::span<uint8_t> bytes, Stream& stream) override {
    if (bytes.empty()) return;
    use();
    check(hip_.hipMemcpyAsync(bytes.data(), pointer(from), bytes.size(), kDeviceToHost,
                              handle_of(stream)),
          "read memory");
  }
  void copy_async(DeviceAddress to, DeviceAddress from, uint64_t bytes, Stream& stream) override {
    if (bytes == 0) return;
    use();
    check(
        hip_.hipMemcpyAsync(pointer(to), pointer(from), bytes, kDeviceToDevice, handle_of(stream)),
        "copy memory");
  }
  void fill_async(DeviceAddress to, uint8_t value, uint64_t bytes, Stream& stream) override {
    if (bytes == 0) return;
    use();
    check(hip_.hipMemsetAsync(pointer(to), value, bytes, handle_of(stream)), "fill memory");
  }

  void fill_words_async(DeviceAddress to, uint32_t value, uint64_t words, Stream& stream) override {
    if (words == 0) return;
    use();
    check(hip_.hipMemsetD32Async(pointer(to), static_cast<int>(value), words, handle_of(stream)),
          "fill memory");
  }

  void record(Event& event, Stream& stream) override {
    use();
    check(hip_.hipEventRecord(handle_of(event), handle_of(stream)), "record an event");
  }
  void wait(Event& event, Stream& stream) override {
    use();
    check(hip_.hipStreamWaitEvent(handle_of(stream), handle_of(event), 0), "wait for an event");
  }
  bool query(Event& event) override {
    const Code code = hip_.hipEventQuery(handle_of(event));
    if (code == kNotReady) return false;
    check(code, "query an event");
    return true;
  }
  void synchronize(Event& event) override {
    check(hip_.hipEventSynchronize(handle_of(event)), "wait for an event");
  }

  std::unique_ptr<Module> load(ByteView code_object) override {
    const ElfImage image = ElfImage::parse(code_object, "code object");
    if (image.chip() != target_.chip) {
      throw Error(ErrorKind::user, fmt::format("the code object is for {}, the device is a {}",
                                               image.chip(), target_.chip));
    }
    use();
    auto module = std::make_unique<HipModule>(library_);
    check(hip_.hipModuleLoadData(&module->handle, code_object.data()), "load a code object");
    for (const Kernel& kernel : image.kernels()) {
      HipFunction& function = module->functions[kernel.name];
      function.kernel = kernel;
      check(hip_.hipModuleGetFunction(&function.handle, module->handle, kernel.name.c_str()),
            fmt::format("find kernel {}", kernel.name));
    }
    return module;
  }

  void launch(const Function& function, const LaunchShape& shape, ByteView arguments,
              Stream& stream) override {
    use();
    size_t bytes = arguments.size();
    void* extra[] = {kLaunchBuffer, const_cast<uint8_t*>(arguments.data()), kLaunchBufferSize,
                     &bytes, kLaunchEnd};
    const Code code = hip_.hipModuleLaunchKernel(
        static_cast<const HipFunction&>(function).handle, shape.grid[0], shape.grid[1],
        shape.grid[2], shape.workgroup[0], shape.workgroup[1], shape.workgroup[2],
        shape.dynamic_lds_bytes, handle_of(stream), nullptr, extra);
    if (code != kSuccess) check(code, fmt::format("launch {}", function.metadata().name));
  }

  void synchronize(Stream& stream) override {
    use();
    check(hip_.hipStreamSynchronize(handle_of(stream)), "wait for a stream");
    static_cast<HipStream&>(stream).staged.clear();
  }
  void synchronize() override {
    use();
    check(hip_.hipDeviceSynchronize(), "wait for the device");
  }

  void enable_peer_access(Device& peer) override {
    use();
    const Code code = hip_.hipDeviceEnablePeerAccess(peer.ordinal(), 0);
    if (code == kPeerAccessAlreadyEnabled) return;
    check(code, fmt::format("reach the memory of device {}", peer.ordinal()));
  }

  int workgroups_per_cu(const Function& function, const LaunchShape& shape) override {
    use();
    int workgroups = 0;
    const auto lanes =
        static_cast<int>(shape.workgroup[0] * shape.workgroup[1] * shape.workgroup[2]);
    check(hip_.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
              &workgroups, static_cast<const HipFunction&>(function).handle, lanes,
              shape.dynamic_lds_bytes),
          fmt::format("tell the occupancy of {}", function.metadata().name));
    return workgroups;
  }
  int compute_units() override {
    int count = 0;
    check(hip_.hipDeviceGetAttribute(&count, kMultiprocessorCount, gpu_.ordinal),
          "count the compute units");
    return count;
  }
  bool holds_every_workgroup() const override { return false; }

  MemoryHandle export_memory(DeviceAddress address) override {
    use();
    IpcHandle handle = {};
    check(hip_.hipIpcGetMemHandle(&handle, pointer(address)),
          fmt::format("share the memory at {:#x}", address));
    MemoryHandle exported;
    static_assert(sizeof exported.bytes == sizeof handle.bytes);
    std::memcpy(exported.bytes.data(), handle.bytes, sizeof handle.bytes);
    return exported;
  }
  DeviceAddress import_memory(const MemoryHandle& exported) override {
    use();
    IpcHandle handle;
    std::memcpy(handle.bytes, exported.bytes.data(), sizeof handle.bytes);
    void* address = nullptr;
    check(hip_.hipIpcOpenMemHandle(&address, handle, kIpcLazyEnablePeerAccess),
          "open another process's memory");
    return address_of(address);
  }
  void close_imported(DeviceAddress address) override {
    use();
    check(hip_.hipIpcCloseMemHandle(pointer(address)), "close another process's memory");
  }

 private:
  /// The current device is a thread's.
  void use() const { check(hip_.hipSetDevice(gpu_.ordinal), "use the device"); }
  void check(Code code, const char* doing) const {
    if (code != kSuccess) check(code, std::string(doing));
  }
  void check(Code code, const std::string& doing) const {
    library_.check(code, fmt::format("{} on device {}", doing, gpu_.ordinal));
  }

  const Library& library_;
  const Functions& hip_;
  const Gpu gpu_;
  const Target& target_;
};

}  // namespace

std::unique_ptr<Device> make_device(const Library& library, const Gpu& gpu, const Target& target) {
  return std::make_unique<HipDevice>(library, gpu, target);
}

}  // namespace baton::hip
