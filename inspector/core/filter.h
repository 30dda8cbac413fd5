// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The filter language of all tables. Words between blanks; a row is shown when all hold:
///
///   word              some column shows it, in any case;  "two words" likewise
///   kind:partition    that column shows it
///   kind=drum         that column shows exactly this
///   bytes>1MiB        < <= > >= = != compare numbers, sizes, offsets
///   name~/^ur/        a regular expression (RE2) finds something in that column
///   -word             not; before any of these
///
/// Values are immutable once parsed; any thread may match.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/table.h"

namespace re2 {
class RE2;
}

namespace crawlstore::inspector {

struct FilterProblem {
  std::size_t offset = 0;  ///< in the text, in bytes
  std::string text;
};

class Filter {
 public:
  /// Never fails as a whole: what is wrong is in problem(), and such a filter matches everything.
  static Filter parse(std::string_view text, const std::vector<model::Column>& columns);

  [[nodiscard]] bool matches(const std::vector<model::Cell>& row) const;
  /// Nothing to filter by.
  [[nodiscard]] bool empty() const { return terms_.empty(); }
  [[nodiscard]] const std::optional<FilterProblem>& problem() const { return problem_; }

 private:
  enum class Test : std::uint8_t {
    kShows,
    kIs,
    kIsNot,
    kLess,
    kLessEqual,
    kMore,
    kMoreEqual,
    kFinds
  };
  struct Term {
    std::optional<std::size_t> column;  // none = any
    Test test = Test::kShows;
    bool is_negated = false;
    std::string text;              // lower case for kShows and kIs
    std::optional<double> number;  // what the text means as one
    std::shared_ptr<const re2::RE2> expression;
  };
  struct Parser;
  [[nodiscard]] bool holds(const Term& term, const std::vector<model::Cell>& row) const;
  [[nodiscard]] bool holds(const Term& term, const model::Cell& cell, model::Unit unit) const;

  std::vector<model::Column> columns_;
  std::vector<Term> terms_;
  std::optional<FilterProblem> problem_;
};

}  // namespace crawlstore::inspector
