#include "runtime/emulator/handlers.h"

#include "runtime/base/error.h"
#include "runtime/emulator/scalar_families.h"

#ifdef BATON_HAS_baseline
#define BATON_ISA isa_baseline
#include "runtime/emulator/isa/families.h"
#undef BATON_ISA
#endif
#ifdef BATON_HAS_avx2
#define BATON_ISA isa_avx2
#include "runtime/emulator/isa/families.h"
#undef BATON_ISA
#endif
#ifdef BATON_HAS_avx512
#define BATON_ISA isa_avx512
#include "runtime/emulator/isa/families.h"
#undef BATON_ISA
#endif

namespace baton::emulator {
namespace {

#define BATON_FAMILIES(isa)          \
  {                                  \
      isa::vop_integer_rows(),       \
      isa::vop_half_rows(),          \
      isa::vop_float_rows(),         \
      isa::vop_double_rows(),        \
      isa::vop_math_rows(),          \
      isa::vop_convert_rows(),       \
      isa::vop_convert_small_rows(), \
      isa::vop_compare_rows(),       \
      isa::vop_packed_rows(),        \
      isa::vop_dot_rows(),           \
      isa::cross_lane_rows(),        \
      isa::mfma_rows(),              \
      isa::mfma_other_rows(),        \
      isa::lds_rows(),               \
      isa::lds_atomic_rows(),        \
      isa::buffer_rows(),            \
      isa::flat_rows(),              \
      isa::memory_atomic_rows(),     \
  }

std::vector<OpTable> families(HostLevel level) {
  switch (level) {
#ifdef BATON_HAS_baseline
    case HostLevel::baseline:
      return BATON_FAMILIES(isa_baseline);
#endif
#ifdef BATON_HAS_avx2
    case HostLevel::avx2:
      return BATON_FAMILIES(isa_avx2);
#endif
#ifdef BATON_HAS_avx512
    case HostLevel::avx512:
      return BATON_FAMILIES(isa_avx512);
#endif
    default:
      return {};
  }
}

bool cpu_runs(HostLevel level) {
  switch (level) {
    case HostLevel::avx512:
      return __builtin_cpu_supports("x86-64-v4");
    case HostLevel::avx2:
      return __builtin_cpu_supports("x86-64-v3");
    default:
      return true;
  }
}

}  // namespace

std::string_view name(HostLevel level) {
  constexpr std::string_view kNames[] = {"baseline", "avx2", "avx512"};
  return kNames[static_cast<int>(level)];
}

bool runs_here(HostLevel level) { return cpu_runs(level) && !families(level).empty(); }

HostLevel best_host_level() {
  for (const HostLevel level : {HostLevel::avx512, HostLevel::avx2}) {
    if (runs_here(level)) return level;
  }
  return HostLevel::baseline;
}

const HandlerTable& HandlerTable::of(HostLevel level) {
  static const HandlerTable tables[] = {HandlerTable(HostLevel::baseline),
                                        HandlerTable(HostLevel::avx2),
                                        HandlerTable(HostLevel::avx512)};
  return tables[static_cast<int>(level)];
}

HandlerTable::HandlerTable(HostLevel level) {
  std::vector<OpTable> tables = {salu_rows(), salu_control_rows(), smem_rows()};
  for (const OpTable& table : families(level)) tables.push_back(table);
  for (const OpTable& table : tables) {
    for (size_t i = 0; i < table.count; ++i) {
      const OpRow& row = table.rows[i];
      const bool inserted = by_name_.emplace(row.name, &row).second;
      BATON_CHECK(inserted, row.name);
      rows_.push_back(&row);
    }
  }
}

const OpRow* HandlerTable::find(std::string_view mnemonic) const {
  const auto found = by_name_.find(mnemonic);
  return found == by_name_.end() ? nullptr : found->second;
}

}  // namespace baton::emulator
