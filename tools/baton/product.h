// What `baton compile` makes: the kinds of --emit, and their files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "builds/builder.h"

namespace baton::cli {

/// One word of --emit.
struct EmitKind {
  std::string_view name;
  builds::Emit emit;
  std::string_view suffix;  ///< of a file that holds it
  bool is_text;
};

/// "co|obj|...", in the order of --help.
std::string emit_names();

/// Throws Error (user) that lists the kinds.
const EmitKind& find_emit(std::string_view name);

/// The product's bytes; they live in `build`.
ByteView product_of(const builds::Build& build, const EmitKind& kind);

/// "attn_post.tokens-8.nblocks-8.eps-1e-05.gfx950.co": different for different keys.
std::string file_name(const BuildKey& key, const EmitKind& kind);

struct Written {
  std::filesystem::path path;
  std::filesystem::path record;  ///< empty when none was written
};

/// Writes the product to `path` and, for a code object, its record to `path`.json: both or none. A
/// device or a pipe gets the bytes alone. Throws Error.
Written write_product(const builds::Build& build, const EmitKind& kind,
                      const std::filesystem::path& path);

}  // namespace baton::cli
