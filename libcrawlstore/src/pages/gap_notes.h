// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include <crawlstore/tools/page_gaps.h>

namespace crawlstore::pages {

/// Gaps that were found so far, merged where they touch. Threads: any.
class GapNotes {
 public:
  /// Notes that this part of pages `first` to `end` - 1 cannot be read, and why.
  void add(PagePart part, std::uint64_t first, std::uint64_t end, const Error& error);
  [[nodiscard]] std::vector<PageGap> gaps() const;

 private:
  struct Gap {
    std::uint64_t end;
    Error error;
  };
  mutable std::mutex mutex_;
  std::map<PagePart, std::map<std::uint64_t, Gap>> gaps_;  // by first page
};

/// Whether a view that goes on past damage goes on past this.
inline bool is_damage(const Error& error) {
  return category(error.code) == ErrorCategory::kDamage || error.code == Errc::kIo;
}

}  // namespace crawlstore::pages
