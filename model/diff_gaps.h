// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Parts of two states that cannot be read, which a comparison past damage leaves out.
/// Ownership: gaps own all they hold. Threads: one at a time.

#include <optional>
#include <string>
#include <vector>

#include <crawlstore/tools/page_gaps.h>

#include "model/table.h"

namespace crawlstore::model {

/// A part of one state; without `pages` a whole thing, which is not compared at all.
struct DiffGap {
  bool in_new = false;
  std::string kind;              ///< "page_database", "drum", "scores", "queue", "frontier"
  std::string name;              ///< of it; of scores "DATABASE/NAME", or "DATABASE" for all of one
  std::optional<PageGap> pages;  ///< of a page database
  Error error;
};

/// Collects gaps as they are found.
class DiffGaps {
 public:
  /// Whether a comparison goes on past the error.
  static bool is_damage(const Error& error);

  void add(bool in_new, const std::string& kind, const std::string& name, const Error& error);
  /// Adds gaps of a page database, but for those that an earlier one covers.
  void add_pages(bool in_new, const std::string& name, const std::vector<PageGap>& gaps);

  /// Whether something of this kind and name was left out as a whole, in either state.
  [[nodiscard]] bool has(const std::string& kind, const std::string& name) const;
  [[nodiscard]] const std::vector<DiffGap>& all() const { return gaps_; }
  /// The table `gaps`.
  [[nodiscard]] Table table() const;

 private:
  std::vector<DiffGap> gaps_;
};

}  // namespace crawlstore::model
