#include <catch2/catch.hpp>
#include <set>

#include "builds/builder.h"
#include "builds/families.h"
#include "builds/key_builder.h"
#include "builds/library_id.h"

namespace baton::builds {
namespace {

TEST_CASE("a content is one key's for one chip, the same each time") {
  const KeyBuilder builder;
  std::set<Digest> contents;
  int count = 0;
  for (const char* chip : {"gfx950", "gfx942", "gfx90a"}) {
    for (const char* text : {"attn_post:tokens=1", "attn_post:tokens=2", "attn_post:eps=1e-6",
                             "attn_post:tokens=1,diag=1"}) {
      const BuildKey key = complete_key(text, chip);
      const Digest content = builder.trace(key)->content();
      CHECK(builder.trace(key)->content() == content);
      contents.insert(content);
      ++count;
    }
  }
  CHECK(static_cast<int>(contents.size()) == count);
}

TEST_CASE("what a loader compiles is what build() makes") {
  const BuildKey key = complete_key("attn_post:tokens=1,nblocks=1", "gfx950");
  const CodeObject object = KeyBuilder().trace(key)->compile();
  const CodeObject built = build(key).code_object;
  CHECK(object.bytes == built.bytes);
  CHECK(object.record == built.record);
}

TEST_CASE("the library's identity is the same all through a process") {
  CHECK(KeyBuilder().library() == library_id());
  CHECK(library_id() == library_id());
  CHECK(library_id() != pipeline_id());
}

}  // namespace
}  // namespace baton::builds
