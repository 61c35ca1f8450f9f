#include "runtime/emulator/launch.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/error.h"

namespace baton::emulator {
namespace {

constexpr uint32_t kWaveLanes = kLanes;

/// kernel_code_properties.
enum Property : uint32_t {
  kPrivateSegmentBuffer = 1u << 0,
  kDispatchPtr = 1u << 1,
  kQueuePtr = 1u << 2,
  kKernargPtr = 1u << 3,
  kDispatchId = 1u << 4,
  kFlatScratchInit = 1u << 5,
  kPrivateSegmentSize = 1u << 6,
};

/// compute_pgm_rsrc2.
enum Rsrc2 : uint32_t {
  kEnablePrivateSegment = 1u << 0,
  kWorkgroupIdX = 1u << 7,
  kWorkgroupIdY = 1u << 8,
  kWorkgroupIdZ = 1u << 9,
  kWorkgroupInfo = 1u << 10,
};

uint32_t lanes_of(const LaunchShape& s) { return s.workgroup[0] * s.workgroup[1] * s.workgroup[2]; }
uint32_t waves_of(const LaunchShape& s) { return (lanes_of(s) + kWaveLanes - 1) / kWaveLanes; }

// A program may name registers that this kernel does not allocate, in code of another kernel: no
// wave's access may leave its file.
uint32_t vgprs(const KernelCode& code) {
  return std::max(static_cast<uint32_t>(code.kernel.descriptor.accum_offset()),
                  code.program->vgpr_rows());
}
uint32_t agprs(const KernelCode& code) {
  const KernelDescriptor& d = code.kernel.descriptor;
  return std::max(static_cast<uint32_t>(std::max(0, d.allocated_vgprs() - d.accum_offset())),
                  code.program->agpr_rows());
}

uint64_t rows_of(const Dispatch& d) {
  // One more: an operand may be read as a pair where one word is named.
  return uint64_t{vgprs(*d.code)} + agprs(*d.code) + 1 + (d.uninit ? WaveShadow::kSpareRows : 0);
}

uint64_t shadow_bytes(const Dispatch& d) {
  return d.uninit ? waves_of(d.shape) * rows_of(d) * kWaveLanes * 4 + 2 * d.lds_bytes : 0;
}

/// Resource word 3 of a private segment: 4-byte elements, 64 lanes, thread ids added.
constexpr uint32_t kScratchWord3 = 1u << 19 | 3u << 21 | 1u << 23;
constexpr uint32_t kSwizzleEnable = 1u << 31;

class SgprWriter {
 public:
  explicit SgprWriter(Wave& wave) : wave_(wave) {}
  void word(uint32_t value) {
    if (wave_.shadow) wave_.shadow->sgpr[next_] = 0;
    wave_.sgpr[next_++] = value;
  }
  void pair(uint64_t value) {
    word(static_cast<uint32_t>(value));
    word(static_cast<uint32_t>(value >> 32));
  }
  uint32_t next() const { return next_; }
  void align(uint32_t to) { next_ = std::max(next_, to); }

 private:
  Wave& wave_;
  uint32_t next_ = 0;
};

Generation generation_of(std::string_view chip) {
  return chip == "gfx90a"   ? Generation::cdna2
         : chip == "gfx942" ? Generation::cdna3
                            : Generation::cdna4;
}

bool architected_flat_scratch(const Dispatch& d) { return d.code->program->chip() != "gfx90a"; }

void user_sgprs(const Dispatch& d, SgprWriter& sgpr) {
  const KernelDescriptor& descriptor = d.code->kernel.descriptor;
  const uint32_t properties = descriptor.kernel_code_properties;
  if (properties & kPrivateSegmentBuffer) {
    sgpr.word(static_cast<uint32_t>(d.scratch));
    sgpr.word(static_cast<uint32_t>(d.scratch >> 32) | kSwizzleEnable);
    sgpr.word(~0u);
    sgpr.word(kScratchWord3);
  }
  if (properties & kDispatchPtr) sgpr.pair(d.packet);
  if (properties & kQueuePtr) sgpr.pair(d.packet);
  if (properties & kKernargPtr) sgpr.pair(d.kernarg);
  if (properties & kDispatchId) sgpr.pair(0);
  if (properties & kFlatScratchInit) {
    // Bytes from the scratch backing to the wave's part are added by the kernel.
    sgpr.pair(d.scratch);
  }
  if (properties & kPrivateSegmentSize) {
    sgpr.word(descriptor.private_segment_fixed_size);
  }
}

void preload_arguments(const Dispatch& d, const uint8_t* kernarg, SgprWriter& sgpr) {
  const uint32_t preload = d.code->kernel.descriptor.kernarg_preload;
  const uint32_t words = preload & 0x7f, first = preload >> 7;
  for (uint32_t i = 0; i < words; ++i) {
    uint32_t value = 0;
    std::memcpy(&value, kernarg + 4 * (first + i), 4);
    sgpr.word(value);
  }
}

void system_sgprs(const Dispatch& d, const Workgroup& group, uint32_t wave, SgprWriter& sgpr) {
  const uint32_t rsrc2 = d.code->kernel.descriptor.compute_pgm_rsrc2;
  sgpr.align((rsrc2 >> 1) & 0x1f);
  if (rsrc2 & kWorkgroupIdX) sgpr.word(group.id[0]);
  if (rsrc2 & kWorkgroupIdY) sgpr.word(group.id[1]);
  if (rsrc2 & kWorkgroupIdZ) sgpr.word(group.id[2]);
  if (rsrc2 & kWorkgroupInfo) sgpr.word(waves_of(d.shape));
  if ((rsrc2 & kEnablePrivateSegment) && !architected_flat_scratch(d)) {
    const uint64_t number = group.number * waves_of(d.shape) + wave;
    sgpr.word(static_cast<uint32_t>(number * d.scratch_wave_bytes));
  }
}

void start_registers(const Dispatch& d, const Workgroup& group, const uint8_t* kernarg,
                     uint32_t wave, Wave& w) {
  std::fill_n(w.sgpr, static_cast<int>(kSharedBase), kPoison);
  w.sgpr[kM0] = 0;
  w.set_sgpr64(kVcc, 0);
  w.set_sgpr64(kSharedBase, kSharedAperture);
  w.set_sgpr64(kSharedLimit, kSharedAperture | 0xffffffff);
  w.set_sgpr64(kPrivateBase, kPrivateAperture);
  w.set_sgpr64(kPrivateLimit, kPrivateAperture | 0xffffffff);
  SgprWriter sgpr(w);
  user_sgprs(d, sgpr);
  preload_arguments(d, kernarg, sgpr);
  system_sgprs(d, group, wave, sgpr);

  const uint32_t lanes = lanes_of(d.shape), first = wave * kWaveLanes;
  const uint32_t count = std::min(kWaveLanes, lanes - first);
  w.set_sgpr64(kExec, count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1);
  const uint32_t ids = (d.code->kernel.descriptor.compute_pgm_rsrc2 >> 11) & 3;
  for (uint32_t i = 0; i < kWaveLanes; ++i) {
    const uint32_t flat = first + i;
    const uint32_t x = flat % d.shape.workgroup[0];
    const uint32_t y = flat / d.shape.workgroup[0] % d.shape.workgroup[1];
    const uint32_t z = flat / d.shape.workgroup[0] / d.shape.workgroup[1];
    w.file[0][i] = x | (ids > 0 ? y << 10 : 0) | (ids > 1 ? z << 20 : 0);
  }
  const uint32_t rsrc1 = d.code->kernel.descriptor.compute_pgm_rsrc1;
  w.mode = ((rsrc1 >> 12) & 0xff) | ((rsrc1 >> 21) & 1) << 8 | ((rsrc1 >> 23) & 1) << 9;
}

}  // namespace

void check_shape(const KernelCode& code, const Target& target, const LaunchShape& shape) {
  const auto refuse = [&](std::string what, std::string hint = {}) {
    throw Error(ErrorKind::user, fmt::format("kernel {}: {}", code.kernel.name, what),
                std::move(hint));
  };
  for (int i = 0; i < 3; ++i) {
    if (shape.grid[i] == 0 || shape.workgroup[i] == 0) refuse("an empty grid or workgroup");
  }
  const uint64_t lanes = uint64_t{shape.workgroup[0]} * shape.workgroup[1] * shape.workgroup[2];
  if (lanes > code.kernel.max_workgroup_lanes) {
    refuse(fmt::format("a workgroup of {} lanes, it was compiled for at most {}", lanes,
                       code.kernel.max_workgroup_lanes));
  }
  const uint64_t lds = uint64_t{code.kernel.lds_bytes} + shape.dynamic_lds_bytes;
  if (lds > static_cast<uint64_t>(target.lds_bytes)) {
    refuse(fmt::format("{} bytes of LDS, {} has {}", lds, target.chip, target.lds_bytes));
  }
  for (int i = 0; i < 3; ++i) {
    if (uint64_t{shape.grid[i]} * shape.workgroup[i] > ~uint32_t{0}) {
      refuse(fmt::format("more than 2^32 lanes along axis {}", i));
    }
  }
}

namespace {

/// A hidden argument's value; false for one that stays zero.
bool hidden_value(std::string_view kind, const LaunchShape& s, uint64_t& value) {
  constexpr std::string_view kAxes[] = {"_x", "_y", "_z"};
  for (int i = 0; i < 3; ++i) {
    if (!kind.ends_with(kAxes[i])) continue;
    const std::string_view stem = kind.substr(0, kind.size() - 2);
    if (stem == "hidden_block_count") value = s.grid[i];
    if (stem == "hidden_group_size") value = s.workgroup[i];
    return stem == "hidden_block_count" || stem == "hidden_group_size";
  }
  if (kind == "hidden_grid_dims") {
    value = s.grid[2] * s.workgroup[2] > 1 ? 3 : s.grid[1] * s.workgroup[1] > 1 ? 2 : 1;
  } else if (kind == "hidden_dynamic_lds_size") {
    value = s.dynamic_lds_bytes;
  } else if (kind == "hidden_private_base") {
    value = kPrivateAperture >> 32;
  } else if (kind == "hidden_shared_base") {
    value = kSharedAperture >> 32;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Bytes kernarg_segment(const KernelMetadata& kernel, const LaunchShape& shape, ByteView arguments) {
  Bytes segment(std::max<size_t>(kernel.kernarg_bytes, 4), 0);
  uint64_t explicit_end = 0;
  for (const KernelArgument& a : kernel.arguments) {
    if (!a.value_kind.starts_with("hidden_")) {
      explicit_end = std::max<uint64_t>(explicit_end, uint64_t{a.offset} + a.size);
      continue;
    }
    uint64_t value = 0;
    if (hidden_value(a.value_kind, shape, value)) {
      std::memcpy(segment.data() + a.offset, &value, std::min<uint32_t>(a.size, 8));
    }
  }
  if (arguments.size() < explicit_end || arguments.size() > segment.size()) {
    throw Error(ErrorKind::user, fmt::format("kernel {}: {} bytes of arguments, it takes {}",
                                             kernel.name, arguments.size(), explicit_end));
  }
  std::copy_n(arguments.begin(), explicit_end, segment.begin());
  return segment;
}

Bytes dispatch_packet(const Dispatch& d) {
  Bytes packet(64, 0);
  const auto put = [&](size_t at, uint64_t value, size_t size) {
    std::memcpy(packet.data() + at, &value, size);
  };
  put(0, 2, 2);  // a kernel dispatch
  put(2, 3, 2);  // dimensions
  for (size_t i = 0; i < 3; ++i) {
    put(4 + 2 * i, d.shape.workgroup[i], 2);
    put(12 + 4 * i, uint64_t{d.shape.grid[i]} * d.shape.workgroup[i], 4);
  }
  put(24, d.code->kernel.descriptor.private_segment_fixed_size, 4);
  put(28, d.lds_bytes, 4);
  put(32, d.code->code_base + d.code->kernel.descriptor_vaddr, 8);
  put(40, d.kernarg, 8);
  return packet;
}

uint64_t workgroup_bytes(const Dispatch& d) {
  return waves_of(d.shape) * (rows_of(d) * kWaveLanes * 4 + sizeof(Wave)) + d.lds_bytes +
         shadow_bytes(d);
}

std::unique_ptr<Workgroup> make_workgroup(Dispatch& d, uint64_t number) {
  auto group = std::make_unique<Workgroup>();
  group->dispatch = &d;
  group->number = number;
  group->id[0] = static_cast<uint32_t>(number % d.shape.grid[0]);
  group->id[1] = static_cast<uint32_t>(number / d.shape.grid[0] % d.shape.grid[1]);
  group->id[2] = static_cast<uint32_t>(number / d.shape.grid[0] / d.shape.grid[1]);
  group->lds.resize(d.lds_bytes);
  for (size_t i = 0; i + 4 <= group->lds.size(); i += 4) {
    std::memcpy(group->lds.data() + i, &kPoison, 4);
  }
  if (d.uninit) group->shadow = std::make_unique<GroupShadow>(d.lds_bytes);
  const uint32_t waves = waves_of(d.shape);
  group->register_words = rows_of(d) * kWaveLanes;
  constexpr uint64_t kAlignWords = 16;
  const uint64_t words = group->register_words * waves + kAlignWords;
  group->registers = std::make_unique_for_overwrite<uint32_t[]>(words);
  std::fill_n(group->registers.get(), words, kPoison);
  void* start = group->registers.get();
  size_t space = words * 4;
  auto* aligned = static_cast<uint32_t*>(std::align(64, 4, start, space));
  for (uint32_t i = 0; i < waves; ++i) {
    Wave& w = *group->waves.emplace_back(std::make_unique<Wave>());
    w.file[0] = aligned + group->register_words * i;
    w.file[1] = w.file[0] + uint64_t{vgprs(*d.code)} * kWaveLanes;
    w.lds = group->lds.data();
    w.lds_bytes = d.lds_bytes;
    w.workgroup = group.get();
    w.dispatch = &d;
    w.memory = d.memory;
    w.mfma = d.mfma;
    w.generation = generation_of(d.code->program->chip());
    w.index = static_cast<int>(i);
    w.pc = d.code->entry;
    if (d.scratch_host) {
      w.scratch =
          reinterpret_cast<uint32_t*>(d.scratch_host + (number * waves + i) * d.scratch_wave_bytes);
      w.scratch_words = static_cast<uint32_t>(d.scratch_wave_bytes / kWaveLanes / 4);
    }
    if (d.uninit) {
      group->wave_shadows.push_back(std::make_unique<WaveShadow>(vgprs(*d.code), agprs(*d.code)));
      w.shadow = group->wave_shadows.back().get();
      w.shadow->define(0, ~uint64_t{0});  // the work-item ids
    }
    start_registers(d, *group, d.kernarg_host, i, w);
  }
  group->live = static_cast<int>(waves);
  return group;
}

}  // namespace baton::emulator
