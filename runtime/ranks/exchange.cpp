#include "runtime/ranks/exchange.h"

#include <new>

#include "runtime/base/error.h"

namespace baton {
namespace {

/// Before what a rank made, or before its reason and then its hint.
struct OutcomeHeader {
  uint32_t error_kind;  ///< 0 for none
  uint32_t reason_bytes;
};
static_assert(sizeof(OutcomeHeader) == 8);

Bytes packed(const OutcomeHeader& header, ByteView first, ByteView second) {
  const auto* raw = reinterpret_cast<const uint8_t*>(&header);
  Bytes all(raw, raw + sizeof header);
  all.insert(all.end(), first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

Bytes failure(ErrorKind kind, std::string_view reason, std::string_view hint) {
  return packed({static_cast<uint32_t>(kind), static_cast<uint32_t>(reason.size())},
                as_bytes(reason), as_bytes(hint));
}

/// Other exceptions than ours count too: a rank that left would keep its peers waiting.
Bytes outcome_of(const std::function<Bytes()>& work) {
  try {
    return packed({0, 0}, work(), {});
  } catch (const Error& error) {
    return failure(error.kind(), error.what(), error.hint());
  } catch (const std::bad_alloc&) {
    return failure(ErrorKind::environment, "out of memory", "");
  } catch (const std::exception& error) {
    return failure(ErrorKind::failed_check, error.what(), "");
  } catch (...) {
    return failure(ErrorKind::failed_check, "an exception without a text", "");
  }
}

std::string text_of(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

std::vector<Bytes> gather_in_agreement(Exchange& exchange, const std::function<Bytes()>& work) {
  std::vector<Bytes> all = exchange.all_gather(outcome_of(work));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const std::string what = fmt::format("the outcome of rank {}", rank);
    const auto header = read_at<OutcomeHeader>(all[rank], 0, what);
    const ByteView rest = ByteView(all[rank]).subspan(sizeof header);
    if (header.error_kind != 0) {
      const ByteView reason = slice(rest, 0, header.reason_bytes, what);
      throw Error(static_cast<ErrorKind>(header.error_kind),
                  fmt::format("rank {}: {}", rank, text_of(reason)),
                  text_of(rest.subspan(reason.size())));
    }
    all[rank].erase(all[rank].begin(), all[rank].begin() + sizeof header);
  }
  return all;
}

void in_agreement(Exchange& exchange, const std::function<void()>& work) {
  gather_in_agreement(exchange, [&] {
    work();
    return Bytes();
  });
}

}  // namespace baton
