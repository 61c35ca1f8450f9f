#include "builds/families.h"

#include <algorithm>

#include "builds/kimi_k3/attn_post_family.h"
#include "builds/kimi_k3/kda_pre_family.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

namespace baton::builds {

const std::vector<Family>& families() {
  static const std::vector<Family> all = {kimi_k3::attn_post_family(), kimi_k3::kda_pre_family()};
  return all;
}

const Family& find_family(std::string_view name) {
  const auto found = std::ranges::find(families(), name, &Family::name);
  if (found != families().end()) return *found;
  std::vector<std::string_view> names;
  for (const Family& family : families()) names.push_back(family.name);
  const std::string_view near = nearest(name, names);
  const std::string list = fmt::format("kernels: {}", fmt::join(names, ", "));
  throw Error(ErrorKind::user, fmt::format("unknown kernel {}", quote(name)),
              near.empty() ? list : fmt::format("did you mean '{}'? {}", near, list));
}

BuildKey complete_key(std::string_view text, std::string_view chip) {
  const KeyText key = parse_key(text);
  return complete(find_family(key.family), key, chip);
}

}  // namespace baton::builds
