#include "runtime/ranks/peer_table.h"

#include "runtime/base/digest.h"
#include "runtime/base/error.h"
#include "runtime/object/handoff_protocol.h"

namespace baton {
namespace {

/// What a rank tells the others, before the text of its key.
struct Offer {
  MemoryHandle buffer;
  Digest code;
};

Bytes offer_of(Exchange& exchange, const OwnRank& own) {
  if (exchange.rank() != own.rank) {
    throw Error(ErrorKind::user, fmt::format("the runner is that of rank {}", own.rank),
                "connect each runner through the exchange of its own rank");
  }
  const Offer offer = {.buffer = own.device.export_memory(own.buffer),
                       .code = sha256(own.object.bytes)};
  const auto* raw = reinterpret_cast<const uint8_t*>(&offer);
  Bytes all(raw, raw + sizeof offer);
  const ByteView key = as_bytes(own.object.record.key);
  all.insert(all.end(), key.begin(), key.end());
  return all;
}

/// Every rank has all offers, so that all come to the same verdict.
void require_same_code(const std::vector<Bytes>& offers) {
  const auto code_of = [](const Bytes& offer) { return read_at<Offer>(offer, 0, "an offer").code; };
  const auto named = [&](const Bytes& offer) {
    const std::string key(offer.begin() + sizeof(Offer), offer.end());
    return fmt::format("{} (SHA-256 {:.12}...)", key, code_of(offer).hex());
  };
  for (size_t rank = 1; rank < offers.size(); ++rank) {
    if (code_of(offers[rank]) == code_of(offers[0])) continue;
    throw Error(ErrorKind::user,
                fmt::format("rank {} has another code object than rank 0: {}, not {}", rank,
                            named(offers[rank]), named(offers[0])),
                "give all ranks the same key, and the same build of Baton or the same cache");
  }
}

}  // namespace

PeerTable::PeerTable(Exchange& exchange, const OwnRank& own) : device_(own.device) {
  if (exchange.ranks() != kRanks) {
    throw Error(ErrorKind::user,
                fmt::format("{} runs on {} ranks, not on {}", own.object.record.kernel, kRanks,
                            exchange.ranks()),
                "start a process for each rank");
  }
  const std::vector<Bytes> offers =
      gather_in_agreement(exchange, [&] { return offer_of(exchange, own); });
  require_same_code(offers);
  try {
    in_agreement(exchange, [&] {
      imported_.reserve(kRanks);  // what is open is never lost for want of memory
      std::array<DeviceAddress, kRanks> table;
      for (int rank = 0; rank < kRanks; ++rank) {
        const auto index = static_cast<size_t>(rank);
        if (rank != own.rank) {
          const auto offer = read_at<Offer>(offers[index], 0, "an offer");
          imported_.push_back(device_.import_memory(offer.buffer));
        }
        table[index] = rank == own.rank ? own.buffer : imported_.back();
      }
      device_.write(own.table, {reinterpret_cast<const uint8_t*>(table.data()), sizeof table});
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
