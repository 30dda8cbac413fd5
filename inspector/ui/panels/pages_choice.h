// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The page database that a panel shows: one for most files, so that nothing is to be chosen.

#include <cstdint>
#include <string>

#include "inspector/ui/ui.h"
#include "model/crawl_file.h"

namespace crawlstore::inspector {

class PagesChoice {
 public:
  /// Draws the choice where there is one, or why there is nothing to see.
  ///   returns  the database, open; nullptr when nothing can be read now: it is said already
  const PageView* draw(Ui& ui, const model::FileView& view, std::string_view label);
  /// Turns to a database by its name; empty = the usual one.
  void choose(const std::string& name);
  /// The name is that of PageThing.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Another number: another look at the file, or another database.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  std::string name_;
  std::uint64_t number_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace crawlstore::inspector
