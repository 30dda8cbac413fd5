// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The filter language of all tables. Words between blanks; a row is shown when all hold:
///
///   word              some column shows it, in any case;  "two words" likewise
///   kind:partition    that column shows it; http://x is a word, and so is 21:30
///   kind=drum         that column shows exactly this, in any case, or the same number
///   bytes>1MiB        < <= > >= = != compare numbers, sizes, offsets, exactly; a text that is a
///                     number counts as one, and nothing is neither less nor more than anything
///   name~/^ur/        a regular expression (RE2) finds something in that column, cases differ;
///                     name~^ur as well, as far as the next blank
///   -word             not; before any of these
///
/// A column may be called by its label too, "links in">3, in quotes unless it is one word. Where
/// there is no such column, that is a problem, not a word that no row shows.
/// In quotes a quote is written twice, in an expression between slashes a slash as \/.
/// Values are immutable once parsed; any thread may match.

#include <compare>
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
  /// Bounds for hostile rows: the longest text, the most conditions in it, and the largest
  /// expression, in steps of RE2. A longer text, or more, is a problem.
  static constexpr std::size_t kTextBytesMax = 16384;
  static constexpr std::size_t kTermsMax = 100;
  static constexpr int kExpressionStepsMax = 4000;

  /// Never fails as a whole: what is wrong is in problem(), and such a filter matches everything.
  static Filter parse(std::string_view text, const std::vector<model::Column>& columns);

  [[nodiscard]] bool matches(const std::vector<model::Cell>& row) const;
  /// Whether a condition names this column. Words without one look at every column that is there.
  [[nodiscard]] bool names(std::size_t column) const;
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
  struct Number {
    double value = 0;
    std::optional<std::uint64_t> whole;  // exactly, where it is one
  };
  struct Term {
    std::optional<std::size_t> column;  // none = any
    Test test = Test::kShows;
    bool is_negated = false;
    std::string text;              // lower case for kShows and kIs
    std::optional<Number> number;  // what the text means as one
    std::shared_ptr<const re2::RE2> expression;
  };
  struct Parser;
  static std::optional<Number> parse_number(std::string_view text);
  static std::optional<Number> number_of(const model::Cell& cell);
  static std::partial_ordering compare(const Number& a, const Number& b);
  [[nodiscard]] bool holds(const Term& term, const std::vector<model::Cell>& row) const;
  static bool holds(const Term& term, const model::Cell& cell, model::Unit unit);
  static bool shows(const Term& term, const model::Cell& cell, model::Unit unit);

  std::vector<model::Column> columns_;
  std::vector<Term> terms_;
  std::optional<FilterProblem> problem_;
};

/// The text in quotes, as the filter language takes it.
std::string quote_filter_word(std::string_view text);

}  // namespace crawlstore::inspector
