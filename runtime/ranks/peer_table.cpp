#include "runtime/ranks/peer_table.h"

#include "runtime/base/digest.h"
#include "runtime/base/error.h"
#include "runtime/object/handoff_protocol.h"

namespace baton {
namespace {

/// What a rank tells the others, before the text of its key.
struct Card {
  MemoryHandle buffer;
  Digest code;
};

Bytes card_of(Exchange& exchange, const PeerEnd& end) {
  if (exchange.rank() != end.rank) {
    throw Error(ErrorKind::user, fmt::format("the runner is that of rank {}", end.rank),
                "connect each runner through the exchange of its own rank");
  }
  const Card card = {.buffer = end.device.export_memory(end.buffer),
                     .code = sha256(end.object.bytes)};
  const auto* raw = reinterpret_cast<const uint8_t*>(&card);
  Bytes all(raw, raw + sizeof card);
  const ByteView key = as_bytes(end.object.record.key);
  all.insert(all.end(), key.begin(), key.end());
  return all;
}

/// Every rank has all cards, so that all come to the same verdict.
void require_same_code(const std::vector<Bytes>& cards) {
  const auto code_of = [](const Bytes& card) { return read_at<Card>(card, 0, "a card").code; };
  const auto named = [&](const Bytes& card) {
    const std::string key(card.begin() + sizeof(Card), card.end());
    return fmt::format("{} (SHA-256 {:.12}...)", key, code_of(card).hex());
  };
  for (size_t rank = 1; rank < cards.size(); ++rank) {
    if (code_of(cards[rank]) == code_of(cards[0])) continue;
    throw Error(ErrorKind::user,
                fmt::format("rank {} has another code object than rank 0: {}, not {}", rank,
                            named(cards[rank]), named(cards[0])),
                "give all ranks the same key, and the same build of Baton or the same cache");
  }
}

}  // namespace

PeerTable::PeerTable(Exchange& exchange, const PeerEnd& end) : device_(end.device) {
  if (exchange.ranks() != kRanks) {
    throw Error(ErrorKind::user,
                fmt::format("{} runs on {} ranks, not on {}", end.object.record.kernel, kRanks,
                            exchange.ranks()),
                "start a process for each rank");
  }
  const std::vector<Bytes> cards =
      gather_in_agreement(exchange, [&] { return card_of(exchange, end); });
  require_same_code(cards);
  try {
    in_agreement(exchange, [&] {
      imported_.reserve(kRanks);  // what is open is never lost for want of memory
      std::array<DeviceAddress, kRanks> table;
      for (int rank = 0; rank < kRanks; ++rank) {
        const auto index = static_cast<size_t>(rank);
        if (rank != end.rank) {
          const auto card = read_at<Card>(cards[index], 0, "a card");
          imported_.push_back(device_.import_memory(card.buffer));
        }
        table[index] = rank == end.rank ? end.buffer : imported_.back();
      }
      device_.write(end.table, {reinterpret_cast<const uint8_t*>(table.data()), sizeof table});
    });
  } catch (...) {
    close_quietly();
    exchange.all_gather({});  // now all have: each may free its buffer
    throw;
  }
}

PeerTable::~PeerTable() { close_quietly(); }

void PeerTable::close() {
  while (!imported_.empty()) {
    // What cannot be closed is not tried again.
    const DeviceAddress address = imported_.back();
    imported_.pop_back();
    device_.close_imported(address);
  }
}

void PeerTable::close_quietly() noexcept {
  while (!imported_.empty()) {
    try {
      close();
    } catch (const Error&) {
      // The device has failed and said so already; its driver closes the rest with the process.
    }
  }
}

}  // namespace baton
