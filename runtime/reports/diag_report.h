// What the records of a diagnostics build say: who gave up waiting, when, for whose word.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/object/handoff_protocol.h"
#include "runtime/object/record.h"

namespace baton {

/// Waits that gave up alike: workgroups of one rank that miss words of one region with the same
/// tags, and in a peer region [ranks, ...] words of one source.
struct DiagWait {
  int rank = 0;
  std::vector<uint32_t> workgroups;  ///< ascending
  std::string region;                ///< empty when the code object's record has no such region
  std::string place;                 ///< that the first workgroup misses: "ar[3, 0, 512]"
  size_t places = 0;                 ///< different ones
  std::optional<int> source;         ///< the rank that puts those words
  uint32_t expected_tag = 0, seen_tag = 0;
  std::string expected, seen;                  ///< in words: "epoch 5, slot 128 (layer 0)"
  double first_seconds = 0, last_seconds = 0;  ///< since the first wait of all that gave up
};

/// Times compare between ranks as far as their clocks run together. A record holds the clock modulo
/// 42.9 s: times are right when all waits gave up within that, less the longest pause among them.
struct DiagReport {
  /// Causes before their consequences: first those that wait for a rank without a record, then
  /// those that wait for ranks which wait themselves. Among equals the earliest first, to the
  /// millisecond.
  std::vector<DiagWait> waits;
  /// What follows from them, a line each: ranks that did not arrive, ranks that wait themselves.
  std::vector<std::string> conclusions;

  /// A table of the waits and the conclusions below it; empty without waits.
  std::string text() const;
};

/// `ranks` holds each rank's records of one step, of as many ranks as the kernel ran on:
/// Runner::read_diag().
DiagReport diag_report(const Record& record, std::span<const std::vector<DiagRecord>> ranks);

}  // namespace baton
