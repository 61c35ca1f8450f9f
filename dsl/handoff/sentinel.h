// Sentinel words: half the bytes of a tagged pair, and whole cache lines; the payload word itself
// says that it has arrived. The reader re-arms a word before the writer's next use of it.
#pragma once

#include "dsl/handoff/handoff.h"
#include "runtime/object/handoff_protocol.h"

namespace baton::dsl {

namespace detail {

/// `rank` is empty for scratch.
void put_sent(Handle handoffs, const std::string& region, Handle rank, Handle index, Handle word,
              const SourceLocation& at);
std::vector<Handle> poll_sent(Handle handoffs, std::span<const SpecHandle> specs, TypeId word,
                              bool rearm, const SourceLocation& at);
void rearm(Handle handoffs, const std::string& region, Handle index, const SourceLocation& at);

}  // namespace detail

/// A region of bf16 pairs [sources, tokens, width], seen from one place: this GPU's scratch, or one
/// rank's peer buffer.
class SentinelRegion {
 public:
  SentinelRegion() = default;
  SentinelRegion(Handle handoffs, std::string name, int tokens, int width, Handle rank = {})
      : handoffs_(handoffs), name_(std::move(name)), tokens_(tokens), width_(width), rank_(rank) {}

  /// The same region in the peer buffer of `rank`: where a put goes.
  SentinelRegion to(In<I32> rank) const {
    return SentinelRegion(handoffs_, name_, tokens_, width_, rank.handle);
  }

  /// The word of columns `column` (even) and `column` + 1 of `token`, from `source`.
  I32 word(const I32& source, const I32& token, const I32& column) const {
    return sentinel_word(source, token, column, tokens_, width_);
  }

  Handle handoffs() const { return handoffs_; }
  Handle rank() const { return rank_; }
  const std::string& name() const { return name_; }

 private:
  Handle handoffs_;
  std::string name_;
  int tokens_ = 0, width_ = 0;
  Handle rank_;
};

/// Declares a sentinel region in every peer buffer, or in this GPU's scratch.
inline SentinelRegion peer_sentinel(const Handoffs& handoffs, const std::string& name, int sources,
                                    int tokens, int width,
                                    SourceLocation at = SourceLocation::current()) {
  detail::declare_region(name, {.peer = true, .sentinel = true}, Scalar::bf16,
                         {sources, tokens, width}, at);
  return SentinelRegion(handoffs.handle(), name, tokens, width);
}
inline SentinelRegion scratch_sentinel(const Handoffs& handoffs, const std::string& name,
                                       int sources, int tokens, int width,
                                       SourceLocation at = SourceLocation::current()) {
  detail::declare_region(name, {.sentinel = true}, Scalar::bf16, {sources, tokens, width}, at);
  return SentinelRegion(handoffs.handle(), name, tokens, width);
}

/// Puts word `index` by one plain store. A payload that equals the sentinel becomes another pair of
/// NaNs.
inline void put_sent(const SentinelRegion& region, In<I32> index, const Vec<BF16, 2>& pair) {
  detail::put_sent(region.handoffs(), region.name(), region.rank(), index.handle, pair.handle(),
                   index.at);
}
/// The same for a raw word.
inline void put_sent(const SentinelRegion& region, In<I32> index, const U32& word) {
  detail::put_sent(region.handoffs(), region.name(), region.rank(), index.handle, word.handle(),
                   index.at);
}

enum class Rearm : uint8_t { later, at_once };

namespace detail {
/// `what` is done to this rank's own words.
inline void require_own(const SentinelRegion& region, const std::string& what,
                        const SourceLocation& at) {
  if (!region.rank().get()) return;
  misuse(at, "a " + what + " of region '" + region.name() + "' names a rank",
         "a " + what + " is of this rank's own buffer: leave out to(...)");
}

template <class Result>
std::vector<Result> poll_sent_as(const SentinelRegion& region, const std::vector<I32>& indices,
                                 Rearm rearm, const SourceLocation& at) {
  if (indices.empty()) misuse(at, "a poll of nothing");
  require_own(region, "poll", at);
  std::vector<SpecHandle> specs;
  for (const I32& index : indices) specs.push_back({region.name(), index.handle(), 1});
  std::vector<Result> words;
  for (Handle word :
       poll_sent(region.handoffs(), specs, Result::type(), rearm == Rearm::at_once, at)) {
    words.emplace_back(Result(word));
  }
  return words;
}
}  // namespace detail

/// Waits until none of the words is the sentinel; returns them in order. With `later` the reader
/// re-arms them by rearm(), off the critical path. More than 12 words are polled batch by batch.
inline std::vector<Vec<BF16, 2>> poll_sent(const SentinelRegion& region,
                                           const std::vector<I32>& indices,
                                           Rearm rearm = Rearm::later,
                                           SourceLocation at = SourceLocation::current()) {
  return detail::poll_sent_as<Vec<BF16, 2>>(region, indices, rearm, at);
}
inline std::vector<U32> poll_sent_words(const SentinelRegion& region,
                                        const std::vector<I32>& indices, Rearm rearm = Rearm::later,
                                        SourceLocation at = SourceLocation::current()) {
  return detail::poll_sent_as<U32>(region, indices, rearm, at);
}

/// Stores the sentinel back into a word that this thread has polled.
inline void rearm(const SentinelRegion& region, In<I32> index) {
  detail::require_own(region, "re-arm", index.at);
  detail::rearm(region.handoffs(), region.name(), index.handle, index.at);
}

}  // namespace baton::dsl
