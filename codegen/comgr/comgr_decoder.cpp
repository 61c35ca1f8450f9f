#include "codegen/comgr/comgr_decoder.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace baton::comgr {
namespace {

class ComgrDecoder : public codegen::Decoder {
 public:
  ComgrDecoder(const Library& library, std::string_view chip) : library_(library), info_(library) {
    const std::string isa = library.isa_of(chip);
    const auto lock = alone_in_comgr();
    library.check(library.call().amd_comgr_create_disassembly_info(
                      isa.c_str(), &read_memory, &take_instruction, &take_address, info_.out()),
                  "disassemble");
  }

  codegen::DecodedInstruction decode(ByteView bytes, uint64_t address) override {
    current_ = {.bytes = bytes, .address = address, .text = {}, .target = {}};
    uint64_t size = 0;
    const auto lock = alone_in_comgr();
    const Status status =
        library_.call().amd_comgr_disassemble_instruction(info_.get(), address, &current_, &size);
    if (current_.out_of_memory) throw std::bad_alloc();
    if (status != kSuccess || size > bytes.size()) return {};
    return {.size = static_cast<uint32_t>(size), .branch_target = current_.target};
  }

  std::string text(uint64_t, const std::string& target_label) override {
    std::string line = codegen::one_line(current_.text);
    if (!target_label.empty()) line.replace(line.rfind(' ') + 1, std::string::npos, target_label);
    return line;
  }

 private:
  struct Current {
    ByteView bytes;
    uint64_t address = 0;
    std::string text;
    std::optional<uint64_t> target;  ///< of a branch
    bool out_of_memory = false;
  };

  static uint64_t read_memory(uint64_t from, char* to, uint64_t size, void* user) {
    const Current& current = *static_cast<const Current*>(user);
    const uint64_t offset = from - current.address;
    if (offset >= current.bytes.size()) return 0;
    const uint64_t count = std::min<uint64_t>(size, current.bytes.size() - offset);
    std::memcpy(to, current.bytes.data() + offset, count);
    return count;
  }

  /// No exception may pass through comgr.
  static void take_instruction(const char* text, void* user) {
    Current& current = *static_cast<Current*>(user);
    try {
      current.text = text;
    } catch (const std::bad_alloc&) {
      current.out_of_memory = true;
    }
  }

  static void take_address(uint64_t address, void* user) {
    static_cast<Current*>(user)->target = address;
  }

  const Library& library_;
  OwnedDisassembly info_;
  Current current_;
};

}  // namespace

std::unique_ptr<codegen::Decoder> make_decoder(const Library& library, std::string_view chip) {
  return std::make_unique<ComgrDecoder>(library, chip);
}

}  // namespace baton::comgr
