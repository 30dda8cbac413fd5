// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rescue/patient.h"

namespace crawlstore::rescue {

/// Ranges of pages that cannot be read, ascending. Threads: one.
class LostPages {
 public:
  void add(std::uint64_t page, const Error& error) { add(page, page + 1, error); }
  void add(std::uint64_t first, std::uint64_t end, const Error& error) {
    if (first >= end) return;
    if (!ranges_.empty() && ranges_.back().end == first) {
      ranges_.back().end = end;
    } else {
      ranges_.push_back({first, end, error});
    }
  }
  void tell(Patient& patient, LostPart part, const std::string& name) const {
    for (const auto& range : ranges_) {
      patient.lose({part, name, range.first, range.end, range.end - range.first, range.error});
    }
  }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    std::uint64_t first;
    std::uint64_t end;
    Error error;
  };
  std::vector<Range> ranges_;
};

}  // namespace crawlstore::rescue
