#include "runtime/object/handoff_protocol.h"

#include <zlib.h>

namespace baton {

uint32_t region_id(std::string_view name) {
  const uLong crc =
      crc32(0, reinterpret_cast<const Bytef*>(name.data()), static_cast<uInt>(name.size()));
  return static_cast<uint32_t>(crc) & 0x7FFFFFFF;
}

}  // namespace baton
