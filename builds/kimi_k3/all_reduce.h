// The all-reduce of bf16 partials over the ranks, inside a launch: stages push, reduce and, for
// sentinel words, re-arm. One-shot: every rank pushes every column to all ranks, and each sums for
// itself. Two-shot: a rank pushes a column to its owner, which sums and broadcasts. All variants
// give the same bits: fp32 in rank order, then one rounding to bf16.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "builds/kimi_k3/model.h"
#include "dsl/dsl.h"

namespace baton::builds::kimi_k3 {

struct AllReduceShape {
  int tokens;     ///< S
  int width;      ///< columns: 7168, or 3584
  bool two_shot;  ///< rank r owns columns r (width / 8) ..
  bool sentinel;  ///< words instead of tagged pairs
};

class AllReduce {
 public:
  using Pair = dsl::Vec<dsl::BF16, 2>;
  /// Takes the sum of columns 2 pair, 2 pair + 1 of the slice.
  using Keep = std::function<void(const dsl::I32& token, const dsl::I32& pair, const Pair& sum)>;

  /// Declares region `name`, [8, S, width]: a slot a source rank.
  AllReduce(const dsl::Handoffs& handoffs, const std::string& name, const AllReduceShape& shape,
            const dsl::I32& rank);

  /// Pushes this rank's partials of columns `column` (even) and `column` + 1 of `token`. The
  /// columns of one wave have one owner.
  void push(const dsl::I32& token, const dsl::I32& column,
            const std::array<dsl::F32, 2>& partial) const;

  /// Waits for and sums the 128 columns from `first_column`, all tokens; two-shot, they have one
  /// owner. Every thread of the workgroup takes part; the workgroup's barrier is the caller's.
  void reduce(const dsl::I32& first_column, const Keep& keep) const;

  /// Whether words are left to re-arm; they are those that reduce() of the same columns read.
  bool rearms() const { return shape_.sentinel; }
  void rearm(const dsl::I32& first_column) const;

 private:
  /// One thread's share of a slice: a pair of columns of a token.
  struct Item {
    dsl::I32 token, pair, column;
  };
  void each_item(const dsl::I32& first_column, const std::function<void(const Item&)>& body) const;

  /// Where `source`'s pair of columns `column` (even) and `column` + 1 of `token` lies.
  dsl::I32 word(const dsl::I32& source, const dsl::I32& token, const dsl::I32& column) const;
  dsl::I32 owner(const dsl::I32& column) const { return column / (shape_.width / kTp); }
  void put_pair(const dsl::I32& to, const dsl::I32& word, const Pair& pair) const;
  std::vector<Pair> poll_pairs(const std::vector<dsl::I32>& words) const;
  Pair sum_of_ranks(const Item& item) const;
  /// Runs `mine` for a column that this rank sums, `theirs` for one that its owner broadcasts.
  void by_owner(const Item& item, const std::function<void()>& mine,
                const std::function<void()>& theirs) const;

  AllReduceShape shape_;
  dsl::I32 rank_;
  dsl::Region<dsl::BF16> pairs_;  ///< of a tagged build
  dsl::SentinelRegion words_;     ///< of a sentinel build
};

}  // namespace baton::builds::kimi_k3
