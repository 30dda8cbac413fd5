// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "frontier/item_run.h"

namespace crawlstore::frontier {

/// The caller's bytes of an item: in memory, or in a run, from where they are read when somebody
/// asks: most items that were taken are finished without. Threads: as a string.
class Body {
 public:
  Body() = default;
  Body(std::string text) : place_(std::move(text)) {}
  /// That of item `number` of a run, which stays in the file as long as this.
  Body(ItemRunPtr run, std::uint64_t number) : place_(InRun{std::move(run), number}) {}

  /// errors  those of ItemRun::body()
  [[nodiscard]] Result<std::string> text() const {
    if (const auto* const text = std::get_if<std::string>(&place_)) return *text;
    const auto& [run, number] = std::get<InRun>(place_);
    return run->body(number);
  }
  /// Reads it into memory, so that the run may go.
  Result<void> hold() {
    if (std::holds_alternative<std::string>(place_)) return {};
    CRAWLSTORE_TRY(place_, text());
    return {};
  }
  /// The length of one that is in memory; else 0.
  [[nodiscard]] std::size_t held_bytes() const {
    const auto* const text = std::get_if<std::string>(&place_);
    return text == nullptr ? 0 : text->size();
  }

 private:
  struct InRun {
    ItemRunPtr run;
    std::uint64_t number = 0;
  };
  std::variant<std::string, InRun> place_;
};

}  // namespace crawlstore::frontier
