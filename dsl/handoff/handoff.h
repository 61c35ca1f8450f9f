// Hand-offs: regions of scratch and peer memory whose words carry the launch's tag.
#pragma once

#include <string>
#include <vector>

#include "dsl/memory/memory.h"

namespace baton::dsl {

namespace detail {

struct SpecHandle {
  std::string region;
  Handle index;
  int words;
};

/// A handle that is empty was left out.
struct OpenedMemory {
  Handle scratch, epoch, slot, peers, rank, diag;
};
Handle open_handoffs(const OpenedMemory& memory, const SourceLocation& at);

struct RegionKind {
  bool peer = false, sentinel = false, plain = false;
};
void declare_region(const std::string& name, RegionKind kind, Scalar element,
                    const std::vector<int64_t>& shape, const SourceLocation& at);
/// `rank` is empty for scratch; `index` counts words.
void put(Handle handoffs, const std::string& region, Handle rank, Handle index,
         std::span<const Handle> words, bool raw, const SourceLocation& at);
Handle open_rows(Handle handoffs, const std::string& region, const SourceLocation& at);
std::vector<Handle> poll(Handle handoffs, std::span<const SpecHandle> specs, TypeId word,
                         bool behind_loads, const SourceLocation& at);
void publish(Handle handoffs, const std::string& region, Handle index, const SourceLocation& at);

/// One word of a region: an F32, an I32, or two adjacent BF16.
template <class T>
struct WordOf {
  using type = T;
  static constexpr int kElements = 1;
};
template <>
struct WordOf<BF16> {
  using type = Vec<BF16, 2>;
  static constexpr int kElements = 2;
};

}  // namespace detail

template <class T>
using Word = typename detail::WordOf<T>::type;

/// What a poll waits for: 1 or 2 adjacent words of a region.
template <class T>
struct PollSpec {
  Handle handoffs;
  detail::SpecHandle spec;
  SourceLocation at;
};

/// A declared region, seen from one place: this GPU's scratch, or one rank's peer buffer.
template <class T>
class Region {
 public:
  Region() = default;
  Region(Handle handoffs, std::string name, Handle rank = {})
      : handoffs_(handoffs), name_(std::move(name)), rank_(rank) {}

  /// The same region in the peer buffer of `rank`: where a put goes.
  Region to(In<I32> rank) const { return Region(handoffs_, name_, rank.handle); }

  /// `words` adjacent words from word `index`, for a poll.
  PollSpec<T> at(In<I32> index, int words = 1) const {
    if (rank_.get()) {
      detail::misuse(index.at, "a poll of region '" + name_ + "' names a rank",
                     "a poll reads this rank's own buffer: leave out to(...)");
    }
    return {handoffs_, {name_, index.handle, words}, index.at};
  }

  Handle handoffs() const { return handoffs_; }
  Handle rank() const { return rank_; }
  const std::string& name() const { return name_; }

 private:
  Handle handoffs_;
  std::string name_;
  Handle rank_;
};

/// Rows that a flag hands over, without tags: stored before a publish, loaded behind a poll of its
/// flag, always at device scope.
template <class T>
class Rows {
 public:
  Rows() = default;
  explicit Rows(const Buffer<T>& memory) : memory_(memory) {}

  /// N adjacent elements from element `index`: 1, 2 or 4 words.
  template <int N>
  Vec<T, N> load(In<I32> index) const {
    return memory_.template load<N>(index, {.scope = Scope::device});
  }
  /// One element: 2 bytes or a word.
  T load(In<I32> index) const { return memory_.load(index, {.scope = Scope::device}); }

  template <int N>
  void store(In<I32> index, const Vec<T, N>& value) const {
    memory_.store(index, value, Scope::device);
  }
  void store(In<I32> index, const T& value) const { memory_.store(index, value, Scope::device); }

 private:
  Buffer<T> memory_;
};

/// The hand-off memory of one launch. Opened once, at the kernel's head.
class Handoffs {
 public:
  struct Memory {
    Handle scratch;         ///< address of this GPU's scratch buffer
    Table<I32> epoch;       ///< [1]
    I32 slot;               ///< 0 .. 255: layers of one step do not share a tag
    Table<I64> peers = {};  ///< [8], every rank's peer buffer; left out: no peer regions
    I32 rank = {};
    Handle diag = {};  ///< one record of 32 bytes a workgroup; given: every wait is bounded
  };
  explicit Handoffs(const Memory& memory, SourceLocation at = SourceLocation::current())
      : handoffs_(
            detail::open_handoffs({memory.scratch, memory.epoch.address(), memory.slot.handle(),
                                   memory.peers.address(), memory.rank.handle(), memory.diag},
                                  at)) {}

  /// Declares a tagged region of logical `shape` in this GPU's scratch, or in every peer buffer.
  template <class T>
  Region<T> scratch(const std::string& name, const std::vector<int64_t>& shape,
                    SourceLocation at = SourceLocation::current()) const {
    detail::declare_region(name, {}, T::type().scalar, shape, at);
    return Region<T>(handoffs_, name);
  }
  template <class T>
  Region<T> peer(const std::string& name, const std::vector<int64_t>& shape,
                 SourceLocation at = SourceLocation::current()) const {
    detail::declare_region(name, {.peer = true}, T::type().scalar, shape, at);
    return Region<T>(handoffs_, name);
  }

  /// Declares plain rows in this GPU's scratch.
  template <class T>
  Rows<T> rows(const std::string& name, const std::vector<int64_t>& shape,
               SourceLocation at = SourceLocation::current()) const {
    detail::declare_region(name, {.plain = true}, T::type().scalar, shape, at);
    return Rows<T>(Buffer<T>(detail::open_rows(handoffs_, name, at)));
  }

  Handle handle() const { return handoffs_; }

 private:
  Handle handoffs_;
};

/// Puts 1 or 2 adjacent words, each with its tag, by one store.
template <class T>
void put(const Region<T>& region, In<I32> index,
         std::initializer_list<In<std::type_identity_t<T>>> values) {
  std::vector<Handle> words;
  for (const In<T>& value : values) words.push_back(value.handle);
  detail::put(region.handoffs(), region.name(), region.rank(), index.handle, words, false,
              index.at);
}
template <class T>
void put(const Region<T>& region, In<I32> index, const std::type_identity_t<T>& value) {
  const Handle word = value.handle();
  detail::put(region.handoffs(), region.name(), region.rank(), index.handle, {&word, 1}, false,
              index.at);
}

/// Puts 2 or 4 fp32 values as bf16 pairs, from the even element `element`.
template <size_t N>
void put_bf(const Region<BF16>& region, In<I32> element, const In<F32> (&values)[N]) {
  static_assert(N == 2 || N == 4, "a word holds a pair of bf16: put 2 or 4 values");
  Handle words[N / 2];
  for (size_t i = 0; i < N; i += 2) words[i / 2] = pack_bf16({values[i], values[i + 1]}).handle();
  const I32 word = as_signed(as_unsigned(element) / 2u);
  detail::put(region.handoffs(), region.name(), region.rank(), word.handle(), words, false,
              element.at);
}

/// Puts raw words: integer payloads must not travel through a float, a NaN would not survive.
template <class T, size_t N>
void put_words(const Region<T>& region, In<I32> index, const In<U32> (&values)[N]) {
  static_assert(N <= 2, "one store holds 1 or 2 words");
  Handle words[N];
  for (size_t i = 0; i < N; ++i) words[i] = values[i].handle;
  detail::put(region.handoffs(), region.name(), region.rank(), index.handle, words, true, index.at);
}

/// A poll's loads retire in order behind earlier loads: one that stands behind streaming loads in
/// flight is remarked upon, unless that is meant.
struct PollOptions {
  bool behind_loads = false;
};

namespace detail {
template <class Result, class T>
std::vector<Result> poll_as(const std::vector<PollSpec<T>>& specs, PollOptions options,
                            const SourceLocation& at) {
  if (specs.empty()) misuse(at, "a poll of nothing");
  std::vector<SpecHandle> handles;
  for (const PollSpec<T>& spec : specs) handles.push_back(spec.spec);
  std::vector<Result> words;
  for (Handle word : poll(specs[0].handoffs, handles, Result::type(), options.behind_loads, at)) {
    words.emplace_back(Result(word));
  }
  return words;
}
}  // namespace detail

/// Waits until every word of the list carries the launch's tag; returns the words in order. A list
/// of more than 12 specs is polled batch by batch.
template <class T>
std::vector<Word<T>> poll(const std::vector<PollSpec<T>>& specs, PollOptions options = {},
                          SourceLocation at = SourceLocation::current()) {
  return detail::poll_as<Word<T>>(specs, options, at);
}
template <class T>
std::vector<U32> poll_words(const std::vector<PollSpec<T>>& specs, PollOptions options = {},
                            SourceLocation at = SourceLocation::current()) {
  return detail::poll_as<U32>(specs, options, at);
}

/// Raises the flag at word `index` behind plain rows: every thread waits for its own stores, the
/// workgroup meets at a barrier, one thread puts 1.
inline void publish(const Region<I32>& flags, In<I32> index) {
  detail::publish(flags.handoffs(), flags.name(), index.handle, index.at);
}

}  // namespace baton::dsl
