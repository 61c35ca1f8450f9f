#include "tests/runtime/emulator/instruction_table.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "runtime/emulator/handlers.h"
#include "runtime/emulator/report.h"
#include "tests/runtime/emulator/encodings.h"

namespace baton::tests {
namespace {

constexpr std::array kChips = {"gfx90a", "gfx942", "gfx950"};
constexpr size_t kColumns = kChips.size();

struct Family {
  Encoding encoding;
  bool matrix;
  const char* title;
};
constexpr Family kFamilies[] = {
    {Encoding::sop1, false, "Scalar, one source (SOP1)"},
    {Encoding::sop2, false, "Scalar, two sources (SOP2)"},
    {Encoding::sopc, false, "Scalar compares (SOPC)"},
    {Encoding::sopk, false, "Scalar with a constant (SOPK)"},
    {Encoding::sopp, false, "Program control (SOPP)"},
    {Encoding::smem, false, "Scalar memory (SMEM)"},
    {Encoding::vop1, false, "Vector, one source (VOP1)"},
    {Encoding::vop2, false, "Vector, two sources (VOP2)"},
    {Encoding::vopc, false, "Vector compares (VOPC)"},
    {Encoding::vop3, false, "Vector, three sources and modifiers (VOP3)"},
    {Encoding::vop3p, false, "Packed (VOP3P)"},
    {Encoding::vop3p, true, "Matrix (VOP3P)"},
    {Encoding::ds, false, "LDS and GDS (DS)"},
    {Encoding::flat, false, "Flat memory"},
    {Encoding::global, false, "Global memory"},
    {Encoding::scratch, false, "Private memory"},
    {Encoding::mubuf, false, "Buffers (MUBUF)"},
    {Encoding::mtbuf, false, "Typed buffers (MTBUF)"},
    {Encoding::other, false, "Images, interpolation, export"},
};

constexpr const char* kAbsent = "";
constexpr const char* kRefused = "not emulated";

bool is_matrix(const std::string& name) {
  return name.starts_with("v_mfma") || name.starts_with("v_smfmac");
}

/// Sums of products that hardware does not round as IEEE arithmetic would.
bool rounds_by_rule(const std::string& name) {
  if (!is_matrix(name) || name.find("_ld_scale") != std::string::npos) return false;
  const bool result_f32 = name.starts_with("v_mfma_f32") || name.starts_with("v_smfmac_f32") ||
                          name.starts_with("v_mfma_scale_f32");
  // "v_mfma_f32_16x16x4_f32" and the older "v_mfma_f32_16x16x4f32".
  const bool source_f32 = name.ends_with("f32") && !name.ends_with("xf32");
  return result_f32 && !source_f32;
}

/// Asks the run's report, so that it and the table say the same.
bool is_rounded(const std::string& name) {
  emulator::RunReport report;
  report.instructions[name] = 1;
  return report.fidelity().find("correctly rounded") != std::string::npos;
}

const char* mark(const std::string& name, size_t chip) {
  const auto& table = emulator::HandlerTable::of(emulator::best_host_level());
  if (!table.find(name)) return kRefused;
  if (rounds_by_rule(name)) {
    constexpr const char* kRules[] = {"CDNA2 rule", "CDNA3 rule", "CDNA3 rule, extrapolated"};
    return kRules[chip];
  }
  return is_rounded(name) ? "correctly rounded" : "exact";
}

using Row = std::array<const char*, kColumns>;
constexpr Row kNowhere = {kAbsent, kAbsent, kAbsent};

/// Of each instruction, in the family where it is first met, its marks by chip.
std::vector<std::map<std::string, Row>> collect() {
  std::vector<std::map<std::string, Row>> families(std::size(kFamilies));
  std::map<std::string, size_t> family_of;
  for (size_t chip = 0; chip < kColumns; ++chip) {
    for (const EncodedInstruction& e : all_instructions(kChips[chip])) {
      for (size_t f = 0; f < std::size(kFamilies); ++f) {
        if (kFamilies[f].encoding != e.encoding || kFamilies[f].matrix != is_matrix(e.name)) {
          continue;
        }
        const size_t home = family_of.emplace(e.name, f).first->second;
        families[home].emplace(e.name, kNowhere).first->second[chip] = mark(e.name, chip);
      }
    }
  }
  return families;
}

constexpr const char* kIntroduction =
    R"(# Instructions of the chips, and what the emulator makes of them

Every instruction that LLVM 22 decodes for gfx90a, gfx942 and gfx950, found by trying every opcode
of every encoding. `ninja instruction_table` writes this file. A test fails when it is not what
would be written; another assembles and executes every instruction that is not marked "not
emulated".

- exact: bit for bit what the ISA documents say. Matrix instructions on fp32, fp64 and integers
  are: a fused chain over ascending k, and exact integer sums.
- correctly rounded: hardware is within some units in the last place, the emulator gives the
  nearest result.
- CDNA2 rule, CDNA3 rule: sums as published for the matrix core. gfx950's rule is not published:
  it is CDNA3's, extrapolated. `--mfma chain` gives a plain fp32 chain instead.
- not emulated: a kernel that reaches it stops with the instruction's name.
- an empty field: the chip has no such instruction.
)";

}  // namespace

std::string instruction_table() {
  const auto families = collect();
  std::array<size_t, kColumns> claimed = {}, all = {};
  std::string tables;
  for (size_t f = 0; f < std::size(kFamilies); ++f) {
    if (families[f].empty()) continue;
    tables +=
        fmt::format("\n## {}\n\n| instruction | gfx90a | gfx942 | gfx950 |\n", kFamilies[f].title);
    tables += "| --- | --- | --- | --- |\n";
    for (const auto& [name, row] : families[f]) {
      tables += fmt::format("| {} | {} | {} | {} |\n", name, row[0], row[1], row[2]);
      for (size_t chip = 0; chip < kColumns; ++chip) {
        all[chip] += row[chip] != kAbsent;
        claimed[chip] += row[chip] != kAbsent && row[chip] != kRefused;
      }
    }
  }
  std::string text = kIntroduction;
  text += "\n| | gfx90a | gfx942 | gfx950 |\n| --- | --- | --- | --- |\n";
  text += fmt::format("| instructions | {} | {} | {} |\n", all[0], all[1], all[2]);
  text += fmt::format("| emulated | {} | {} | {} |\n", claimed[0], claimed[1], claimed[2]);
  return text + tables;
}

}  // namespace baton::tests
