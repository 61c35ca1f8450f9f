// What `check_uninit` found.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/emulator/shadow.h"
#include "runtime/emulator/uninit_table.h"

namespace baton::emulator {

class UninitLog {
 public:
  /// Made when first asked for; lives as long as this.
  const UninitTable& table(const std::shared_ptr<const Program>& program);

  /// The origin of undefined bits that instruction `pc` was the first to move: `what` says out of
  /// which register or LDS byte.
  Origin origin(const Program& program, uint32_t pc, const std::string& what);

  /// The wave's instruction `pc` uses undefined bits: "the address v3". `lane` -1: all of the wave.
  /// The first finding of each static instruction is kept.
  void add(const Wave& wave, uint32_t pc, int lane, const std::string& use, Origin origin);

  bool empty() const;
  /// All findings, the first few word for word.
  Error error() const;

 private:
  struct Checked {
    std::shared_ptr<const Program> program;
    std::unique_ptr<const UninitTable> table;
  };
  using Place = std::pair<size_t, uint32_t>;  ///< in checked_, and of the instruction
  struct Source {
    Place place;
    std::string what;
  };
  Place place_of(const Program& program, uint32_t pc) const;

  mutable std::mutex mutex_;
  std::vector<Checked> checked_;  ///< in the order of their first launch
  std::vector<Source> sources_;   ///< Origin less one
  std::map<Place, Origin> origins_;
  std::map<Place, std::string> findings_;
};

}  // namespace baton::emulator
