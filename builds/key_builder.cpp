#include "builds/key_builder.h"

#include <string>
#include <string_view>
#include <vector>

#include "builds/builder.h"
#include "builds/kernel_sources.h"
#include "builds/library_id.h"

namespace baton::builds {
namespace {

/// The options of a code object that a key does not hold; a text for each.
constexpr std::string_view kOptions = "linked code object, sources embedded";

/// The kernels' sources travel in the line table: they are part of the code object's bytes.
const Digest& sources_digest() {
  static const Digest digest = [] {
    std::vector<std::string_view> parts;
    for (const SourceText& source : kernel_sources()) {
      parts.push_back(source.file);
      parts.push_back(source.text);
    }
    return sha256_of(parts);
  }();
  return digest;
}

class Traced : public TracedKey {
 public:
  explicit Traced(const BuildKey& key) : build_(key) {
    const std::string module = build_.module_text();
    const std::string pipeline = pipeline_id().hex(), sources = sources_digest().hex();
    const std::string_view parts[] = {"baton content", module,   key.chip(),
                                      kOptions,        pipeline, sources};
    content_ = sha256_of(parts);
  }

  const Digest& content() const override { return content_; }
  CodeObject compile() override { return build_.finish().code_object; }

 private:
  TracedBuild build_;
  Digest content_;
};

}  // namespace

const Digest& KeyBuilder::library() const { return library_id(); }

std::unique_ptr<TracedKey> KeyBuilder::trace(const BuildKey& key) const {
  return std::make_unique<Traced>(key);
}

}  // namespace baton::builds
