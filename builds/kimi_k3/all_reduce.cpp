#include "builds/kimi_k3/all_reduce.h"

#include "runtime/base/error.h"

namespace baton::builds::kimi_k3 {

using namespace dsl;

namespace {

constexpr int kColumnPairs = kCols / 2;
constexpr int kBlockPairs = kSentinelBlockColumns / 2;

}  // namespace

AllReduce::AllReduce(const Handoffs& handoffs, const std::string& name, const AllReduceShape& shape,
                     const I32& rank)
    : shape_(shape), rank_(rank) {
  // A wave with columns of two owners could wait for the other's sum before it sends its own, and
  // the other for it.
  BATON_CHECK(!shape.two_shot || shape.width / kTp % kCols == 0,
              "a slice with two owners: " + name);
  if (shape.sentinel) {
    words_ = peer_sentinel(handoffs, name, kTp, shape.tokens, shape.width);
  } else {
    pairs_ = handoffs.peer<BF16>(name, {kTp, shape.tokens, shape.width});
  }
}

I32 AllReduce::word(const I32& source, const I32& token, const I32& column) const {
  if (shape_.sentinel) return words_.word(source, token, column);
  return (source * shape_.tokens + token) * (shape_.width / 2) + column / 2;
}

void AllReduce::put_pair(const I32& to, const I32& word, const Pair& pair) const {
  if (shape_.sentinel) return put_sent(words_.to(to), word, pair);
  put_words(pairs_.to(to), word, {bitcast<U32>(pair)});
}

std::vector<AllReduce::Pair> AllReduce::poll_pairs(const std::vector<I32>& words) const {
  if (shape_.sentinel) return poll_sent(words_, words);
  std::vector<PollSpec<BF16>> specs;
  for (const I32& word : words) specs.push_back(pairs_.at(word));
  return poll(specs);
}

void AllReduce::push(const I32& token, const I32& column, const std::array<F32, 2>& partial) const {
  const Pair pair = pack_bf16({partial[0], partial[1]});
  const I32 slot = word(rank_, token, column);
  if (shape_.two_shot) return put_pair(uniform(owner(column)), slot, pair);
  for (int to = 0; to < kTp; ++to) put_pair(I32(to), slot, pair);
}

/// Items in the order of the words: consecutive threads read consecutive words.
void AllReduce::each_item(const I32& first_column,
                          const std::function<void(const Item&)>& body) const {
  const int items = shape_.tokens * kColumnPairs;
  const auto run = [&](const I32& item) {
    I32 token = item / kColumnPairs, pair = item % kColumnPairs;
    if (shape_.sentinel) {
      const int block = kBlockPairs * shape_.tokens;
      token = item % block / kBlockPairs;
      pair = item / block * kBlockPairs + item % kBlockPairs;
    }
    body({token, pair, first_column + 2 * pair});
  };
  if (items <= kThreads) {
    If(thread_id() < items, [&] { run(thread_id()); });
  } else {
    For(thread_id(), items, kThreads, run);
  }
}

/// The 8 ranks' partials, in rank order in fp32, rounded to bf16.
AllReduce::Pair AllReduce::sum_of_ranks(const Item& item) const {
  std::vector<I32> words;
  for (int source = 0; source < kTp; ++source)
    words.push_back(word(I32(source), item.token, item.column));
  const std::vector<Pair> partials = poll_pairs(words);
  F32 low = to_f32(partials[0][0]), high = to_f32(partials[0][1]);
  for (size_t source = 1; source < kTp; ++source) {
    low = low + to_f32(partials[source][0]);
    high = high + to_f32(partials[source][1]);
  }
  return pack_bf16({low, high});
}

void AllReduce::by_owner(const Item& item, const std::function<void()>& mine,
                         const std::function<void()>& theirs) const {
  if (!shape_.two_shot) return mine();
  If(owner(item.column) == rank_, mine).Else(theirs);
}

void AllReduce::reduce(const I32& first_column, const Keep& keep) const {
  each_item(first_column, [&](const Item& item) {
    by_owner(
        item,
        [&] {
          const Pair sum = sum_of_ranks(item);
          keep(item.token, item.pair, sum);
          if (!shape_.two_shot) return;
          // The scatter left the owner's slot free at the other ranks. Each rank begins with its
          // next one, so that the links carry alike.
          for (int next = 1; next < kTp; ++next) {
            put_pair((rank_ + next) % kTp, word(rank_, item.token, item.column), sum);
          }
        },
        [&] {
          keep(item.token, item.pair,
               poll_pairs({word(owner(item.column), item.token, item.column)})[0]);
        });
  });
}

void AllReduce::rearm(const I32& first_column) const {
  each_item(first_column, [&](const Item& item) {
    by_owner(
        item,
        [&] {
          for (int source = 0; source < kTp; ++source) {
            dsl::rearm(words_, word(I32(source), item.token, item.column));
          }
        },
        [&] { dsl::rearm(words_, word(owner(item.column), item.token, item.column)); });
  });
}

}  // namespace baton::builds::kimi_k3
