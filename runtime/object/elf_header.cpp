#include <array>

#include "runtime/base/error.h"
#include "runtime/object/elf_parts.h"

namespace baton::elf {
namespace {

// Not in <elf.h>: LLVM's AMDGPU documentation, "ELF Code Object".
constexpr uint8_t kOsAbiAmdgpuHsa = 64;
constexpr uint8_t kAbiVersionV4 = 2;
constexpr uint8_t kAbiVersionV6 = 4;
constexpr uint32_t kMachMask = 0xff;

[[noreturn]] void fail(const std::string& message, const std::string& hint = {}) {
  throw Error(ErrorKind::user, message, hint);
}

constexpr const char* kMakeOne =
    "a code object comes from 'baton compile', or from clang -target amdgcn-amd-amdhsa";

std::string machine_name(uint16_t machine) {
  switch (machine) {
    case EM_386:
      return "i386";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "Arm";
    case EM_AARCH64:
      return "AArch64";
    case EM_PPC64:
      return "PowerPC64";
    case EM_RISCV:
      return "RISC-V";
    case EM_CUDA:
      return "NVIDIA CUDA";
    default:
      return fmt::format("machine {}", machine);
  }
}

void check_magic(ByteView bytes) {
  if (bytes.empty()) fail("the file is empty", kMakeOne);
  constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(kBundle)) {
    fail("not an ELF file but a bundle of several",
         "take the code object of one chip out with clang-offload-bundler --unbundle");
  }
  const std::string_view magic(ELFMAG, SELFMAG);
  if (!text.starts_with(magic.substr(0, text.size()))) {
    fail(fmt::format("not an ELF file: it starts with bytes {:02x}",
                     fmt::join(bytes.first(std::min<size_t>(bytes.size(), SELFMAG)), " ")),
         kMakeOne);
  }
}

void check_kind(const Elf64_Ehdr& header) {
  const uint8_t* ident = header.e_ident;
  if (ident[EI_DATA] != ELFDATA2LSB) {
    fail(fmt::format("not little-endian: EI_DATA at byte {} is {}, expected {}", EI_DATA,
                     ident[EI_DATA], ELFDATA2LSB));
  }
  if (header.e_machine != EM_AMDGPU) {
    fail(fmt::format("an ELF file for {}, not for AMDGPU (e_machine at byte {} is {}, expected {})",
                     machine_name(header.e_machine), offsetof(Elf64_Ehdr, e_machine),
                     header.e_machine, EM_AMDGPU),
         kMakeOne);
  }
  if (ident[EI_CLASS] != ELFCLASS64) {
    fail(fmt::format("not 64-bit: EI_CLASS at byte {} is {}, expected {}", EI_CLASS,
                     ident[EI_CLASS], ELFCLASS64));
  }
  if (ident[EI_VERSION] != EV_CURRENT || header.e_version != EV_CURRENT) {
    fail(fmt::format("ELF version {} (EI_VERSION) and {} (e_version), expected {}",
                     ident[EI_VERSION], header.e_version, EV_CURRENT));
  }
  if (ident[EI_OSABI] != kOsAbiAmdgpuHsa) {
    fail(fmt::format("EI_OSABI at byte {} is {}, expected {} (AMDGPU_HSA)", EI_OSABI,
                     ident[EI_OSABI], kOsAbiAmdgpuHsa),
         "compile for the operating system amdhsa");
  }
  if (header.e_type == ET_REL) {
    fail("a relocatable object, not a linked code object",
         "link it: ld.lld -shared IN.o -o OUT.co");
  }
  if (header.e_type != ET_DYN) {
    fail(fmt::format("e_type at byte {} is {}, expected {} (ET_DYN)", offsetof(Elf64_Ehdr, e_type),
                     header.e_type, ET_DYN));
  }
}

int code_object_version(const Elf64_Ehdr& header) {
  const int abi = header.e_ident[EI_ABIVERSION];
  if (abi < kAbiVersionV4 || abi > kAbiVersionV6) {
    fail(fmt::format("EI_ABIVERSION at byte {} is {}, known are {} to {} (code object 4 to 6)",
                     EI_ABIVERSION, abi, kAbiVersionV4, kAbiVersionV6),
         "compile with -mcode-object-version=5");
  }
  return abi + 2;
}

const Target* target_of(const Elf64_Ehdr& header) {
  const uint32_t mach = header.e_flags & kMachMask;
  std::string known;
  for (const Target& target : all_targets()) {
    if (target.elf_mach == mach) return &target;
    known +=
        fmt::format("{}{} (0x{:03x})", known.empty() ? "" : ", ", target.chip, target.elf_mach);
  }
  fail(fmt::format("e_flags at byte {} name the unknown chip number 0x{:03x}, known are {}",
                   offsetof(Elf64_Ehdr, e_flags), mach, known),
       "it was built for a GPU that Baton does not know: build it for one of the known chips");
}

}  // namespace

Header read_header(ByteView bytes) {
  check_magic(bytes);
  const auto raw = read_at<Elf64_Ehdr>(bytes, 0, "the ELF header");
  check_kind(raw);
  return {.raw = raw, .target = target_of(raw), .abi_version = code_object_version(raw)};
}

}  // namespace baton::elf
