// A deployment's list of keys, as a TOML file spans it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/key/build_key.h"

namespace baton::builds {

struct Matrix {
  std::string name;
  std::vector<BuildKey> keys;  ///< each once: chips as listed, then builds as listed
};

/// Reads and expands:
///
///     name = "..."                # of the set
///     chips = ["gfx950"]
///     [[build]]
///     kernel = "attn_post"
///     tokens = [1, 2, 4]          # a value, a list of values, or { from = 1, to = 8, step = 1 }
///     sent = ["none", "ar"]       # absent fields take their defaults
///     [[build.exclude]]           # a key that has all of these values is left out
///     tokens = 1
///     sent = "ar"
///
/// `chips` replaces the file's unless empty. Throws Error (user) whose place is FILE:LINE: text
/// that is no TOML, an unknown field, a value out of range, a combination that its kernel refuses,
/// an exclude that leaves nothing out, no key at all.
Matrix read_matrix(std::string_view text, const std::string& file,
                   std::span<const std::string> chips = {});

}  // namespace baton::builds
