#include "runtime/emulator/lds_shape.h"

#include <string_view>

namespace baton::emulator {
namespace {

/// The bits of the first type in the mnemonic: "_b64" of ds_read_b64_tr_b16.
int type_bits(std::string_view name) {
  for (size_t at = 0; at + 2 < name.size(); ++at) {
    if (name[at] != '_' || std::string_view("buif").find(name[at + 1]) == std::string_view::npos) {
      continue;
    }
    int bits = 0;
    for (size_t i = at + 2; i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i) {
      bits = bits * 10 + (name[i] - '0');
    }
    if (bits != 0) return bits;
  }
  return 0;
}

}  // namespace

LdsShape lds_shape(const Instruction& in) {
  LdsShape shape;
  const std::string_view name = in.name ? in.name : "";
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (!name.starts_with("ds_") || has("permute") || has("swizzle") || name == "ds_nop")
    return shape;
  shape.load = name.starts_with("ds_read");
  shape.store = name.starts_with("ds_write");
  shape.addressed = !has("addtid") && !has("append") && !has("consume");
  shape.bytes = shape.addressed && !has("_pk_") ? type_bits(name) / 8 : 4;
  if (has("read2") || has("write2") || has("wrxchg2")) {
    shape.places = 2;
    const uint32_t unit = static_cast<uint32_t>(shape.bytes) * (has("st64") ? 64 : 1);
    shape.offset[0] = (in.imm & 0xff) * unit;
    shape.offset[1] = ((in.imm >> 8) & 0xff) * unit;
  } else {
    shape.offset[0] = static_cast<uint32_t>(in.offset);
  }
  return shape;
}

}  // namespace baton::emulator
