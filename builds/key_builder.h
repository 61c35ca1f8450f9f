// The compiler as a loader wants it.
#pragma once

#include "runtime/loader.h"

namespace baton::builds {

class KeyBuilder : public CodeBuilder {
 public:
  const Digest& library() const override;
  std::unique_ptr<TracedKey> trace(const BuildKey& key) const override;
};

}  // namespace baton::builds
