// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <re2/re2.h>

#include "inspector/core/shown_text.h"
#include "model/label.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

char lower_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower_letter);
  return result;
}

/// Nearly all texts: they are shown as they are.
bool is_plain(std::string_view text) {
  bool is_other = false;
  for (const char c : text) is_other |= c < ' ' || c > '~';
  return !is_other;
}

constexpr std::string_view kBlanks = " \t\r\n";

}  // namespace

/// A count, a hexadecimal number, a fraction, or a size.
std::optional<Filter::Number> Filter::parse_number(std::string_view text) {
  if (const auto count = model::parse_count(text)) {
    return Number{static_cast<double>(*count), *count};
  }
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stopped == end && std::isfinite(value)) return Number{value, {}};
  if (const auto bytes = model::parse_bytes(text)) {
    return Number{static_cast<double>(*bytes), *bytes};
  }
  return std::nullopt;
}

std::optional<Filter::Number> Filter::number_of(const model::Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return Number{static_cast<double>(*number), *number};
  }
  if (const auto* number = std::get_if<std::int64_t>(&cell)) {
    const auto value = static_cast<double>(*number);
    if (*number < 0) return Number{value, {}};
    return Number{value, static_cast<std::uint64_t>(*number)};
  }
  if (const auto* number = std::get_if<double>(&cell)) return Number{*number, {}};
  if (const auto* text = std::get_if<std::string>(&cell)) return parse_number(*text);
  return std::nullopt;
}

std::partial_ordering Filter::compare(const Number& a, const Number& b) {
  if (a.whole && b.whole) return *a.whole <=> *b.whole;
  return a.value <=> b.value;
}

struct Filter::Parser {
  std::string_view text;
  std::size_t at = 0;
  Filter& filter;

  struct Operator {
    std::string_view text;
    Test test;
  };
  static constexpr std::array kOperators{
      Operator{"<=", Test::kLessEqual}, Operator{">=", Test::kMoreEqual},
      Operator{"!=", Test::kIsNot},     Operator{":", Test::kShows},
      Operator{"=", Test::kIs},         Operator{"<", Test::kLess},
      Operator{">", Test::kMore},       Operator{"~", Test::kFinds},
  };

  bool fail(std::size_t offset, std::string what) {
    filter.problem_ = FilterProblem{offset, std::move(what)};
    return false;
  }
  [[nodiscard]] std::string_view rest() const { return text.substr(at); }
  void skip_blanks() { at = std::min(text.find_first_not_of(kBlanks, at), text.size()); }

  /// The column of that name; or else, in any case, of that label.
  [[nodiscard]] std::optional<std::size_t> find_column(std::string_view name) const {
    const auto& columns = filter.columns_;
    auto column = std::ranges::find(columns, name, &model::Column::name);
    if (column == columns.end()) {
      column = std::ranges::find(columns, lower(name), [](const model::Column& one) {
        return lower(model::label_of(one.name));
      });
    }
    if (column == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(column - columns.begin());
  }

  /// Whether what begins with that name and colon is a URL, also one that is not typed to its end,
  /// or a time.
  [[nodiscard]] bool is_word(std::string_view begin) const {
    const std::string_view value = rest().substr(begin.size());
    const std::string_view text_of_value = value.substr(0, value.find_first_of(kBlanks));
    const bool is_url =
        text_of_value.starts_with("//") || std::string_view("//").starts_with(text_of_value);
    return is_url || (begin.front() >= '0' && begin.front() <= '9');
  }

  /// The column and the operator, if the word begins so.
  bool parse_column(Term& term) {
    const bool is_quoted = rest().starts_with("\"");
    const auto end = is_quoted ? rest().find('"', 1)
                               : rest().find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
    if (end == rest().npos || end == 0) return true;
    const std::string_view name = is_quoted ? rest().substr(1, end - 1) : rest().substr(0, end);
    const std::size_t size = is_quoted ? end + 1 : end;
    for (const Operator& known : kOperators) {
      if (!rest().substr(size).starts_with(known.text)) continue;
      const auto column = find_column(name);
      if (!column) {
        if (is_quoted || (known.text == ":" && is_word(rest().substr(0, size + 1)))) return true;
        std::string problem = "no column \"" + std::string(name) + "\" here";
        if (known.text == ":") problem += "; a text with a colon goes in quotes";
        return fail(at, std::move(problem));
      }
      term.column = column;
      term.test = known.test;
      at += size + known.text.size();
      return true;
    }
    return true;
  }

  /// Up to the closing mark, which must be there. An escaped mark inside stays as it is in
  /// expressions: RE2 reads \/ as a slash.
  bool parse_quoted(Term& term, char mark) {
    const std::size_t start = at++;
    for (; at < text.size(); ++at) {
      const bool is_pair =
          at + 1 < text.size() && (mark == '/' ? text[at] == '\\' : text.substr(at, 2) == "\"\"");
      if (!is_pair && text[at] == mark) {
        ++at;
        return true;
      }
      if (is_pair && mark == '/') term.text += text[at];
      if (is_pair) ++at;
      term.text += text[at];
    }
    return fail(start, std::string("the closing ") + mark + " is missing");
  }

  bool parse_value(Term& term) {
    if (term.test == Test::kFinds && rest().starts_with("/")) return parse_quoted(term, '/');
    if (rest().starts_with("\"")) return parse_quoted(term, '"');
    const auto end = std::min(text.find_first_of(kBlanks, at), text.size());
    term.text = text.substr(at, end - at);
    at = end;
    return true;
  }

  bool finish(Term& term, std::size_t start) {
    term.number = parse_number(term.text);
    const bool is_order = term.test == Test::kLess || term.test == Test::kLessEqual ||
                          term.test == Test::kMore || term.test == Test::kMoreEqual;
    if (term.test == Test::kFinds) {
      re2::RE2::Options options;
      options.set_log_errors(false);
      term.expression = std::make_shared<const re2::RE2>(term.text, options);
      if (!term.expression->ok()) return fail(start, term.expression->error());
      if (term.expression->ProgramSize() > kExpressionStepsMax) {
        return fail(start, "the expression is too large");
      }
    } else if (is_order && !term.number) {
      return fail(start, "a number is expected: 1000, 64KiB, 0x1f");
    }
    if (!is_order) term.text = lower(term.text);
    if (term.test != Test::kShows || !term.text.empty()) filter.terms_.push_back(std::move(term));
    return true;
  }

  bool parse_term() {
    const std::size_t start = at;
    if (filter.terms_.size() == kTermsMax) return fail(start, "too many conditions");
    Term term;
    if (rest().starts_with("-") && rest().size() > 1 && kBlanks.find(rest()[1]) == kBlanks.npos) {
      term.is_negated = true;
      ++at;
    }
    return parse_column(term) && parse_value(term) && finish(term, start);
  }
};

Filter Filter::parse(std::string_view text, const std::vector<model::Column>& columns) {
  Filter filter;
  filter.columns_ = columns;
  Parser parser{text, 0, filter};
  if (text.size() > kTextBytesMax) {
    parser.fail(kTextBytesMax, "the filter is too long");
    return filter;
  }
  parser.skip_blanks();
  while (parser.at < text.size()) {
    if (!parser.parse_term()) {
      filter.terms_.clear();
      return filter;
    }
    parser.skip_blanks();
  }
  return filter;
}

bool Filter::matches(const std::vector<model::Cell>& row) const {
  return std::ranges::all_of(terms_,
                             [&](const Term& term) { return holds(term, row) != term.is_negated; });
}

bool Filter::names(std::size_t column) const {
  return std::ranges::any_of(terms_, [&](const Term& term) { return term.column == column; });
}

bool Filter::holds(const Term& term, const std::vector<model::Cell>& row) const {
  if (term.column)
    return *term.column < row.size() && holds(term, row[*term.column], columns_[*term.column].unit);
  for (std::size_t i = 0; i < row.size() && i < columns_.size(); ++i) {
    if (holds(term, row[i], columns_[i].unit)) return true;
  }
  return false;
}

/// Looks at bytes that cannot be shown directly in two forms: the bytes, and what is shown instead.
bool Filter::shows(const Term& term, const model::Cell& cell, model::Unit unit) {
  const auto* bytes = std::get_if<std::string>(&cell);
  if (term.test == Test::kShows && bytes != nullptr && is_plain(*bytes)) {
    const auto found = std::search(bytes->begin(), bytes->end(), term.text.begin(), term.text.end(),
                                   [](char a, char b) { return lower_letter(a) == b; });
    return found != bytes->end() || term.text.empty();
  }
  const auto is_it = [&term](const std::string& text) {
    if (term.test == Test::kFinds) return re2::RE2::PartialMatch(text, *term.expression);
    if (term.test == Test::kShows) return lower(text).find(term.text) != std::string::npos;
    return lower(text) == term.text;
  };
  const std::string shown = shown_text(cell, unit);
  return is_it(shown) || (bytes != nullptr && *bytes != shown && is_it(*bytes));
}

bool Filter::holds(const Term& term, const model::Cell& cell, model::Unit unit) {
  if (term.test == Test::kFinds || term.test == Test::kShows) return shows(term, cell, unit);
  const auto number = number_of(cell);
  if (term.test == Test::kIs || term.test == Test::kIsNot) {
    const bool is_it =
        (number && term.number && compare(*number, *term.number) == 0) || shows(term, cell, unit);
    return is_it == (term.test == Test::kIs);
  }
  if (!number) return false;
  const std::partial_ordering order = compare(*number, *term.number);
  switch (term.test) {
    case Test::kLess:
      return order < 0;
    case Test::kLessEqual:
      return order <= 0;
    case Test::kMore:
      return order > 0;
    default:
      return order >= 0;
  }
}

std::string quote_filter_word(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace crawlstore::inspector
