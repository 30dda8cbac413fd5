// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The score array by page that a panel shows, or none.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/scores.h>

#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

class ScoreChoice {
 public:
  /// Reads which arrays there are, when there is another look at the file.
  ///   version  of PagesChoice
  void look(const PageView& pages, std::uint64_t version);
  /// Draws the choice where there is one; true when something was chosen.
  bool draw(Ui& ui, std::string_view label);
  /// The array; empty = none. Until somebody chooses one it is the usual one, if that is there; so
  /// it is when the chosen one is there no more.
  [[nodiscard]] std::string name() const;
  /// The reason that an array is not among the choices.
  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }

  [[nodiscard]] std::string view_state() const;
  void restore(std::string_view state);

 private:
  std::optional<std::string> wanted_;  // empty = none; nullopt = the usual one
  std::vector<ScoresInfo> arrays_;     // by page
  std::optional<Error> problem_;
  std::uint64_t version_ = 0;
};

}  // namespace crawlstore::inspector
