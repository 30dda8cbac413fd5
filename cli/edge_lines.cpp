// SPDX-License-Identifier: Apache-2.0
#include "cli/edge_lines.h"

#include <algorithm>
#include <charconv>

#include "cli/line_reader.h"
#include "model/any_byte.h"

namespace crawlstore::cli {
namespace {

/// An event with more than that is cut: what follows adds links to the same page.
constexpr std::size_t kEdgesMax = std::size_t{1} << 16;
constexpr std::size_t kEdgeBytesMax = std::size_t{4} << 20;
constexpr std::uint64_t kIndexEnd = std::uint64_t{1} << 40;
const char* const kIndexAndUrl = "one end is an index, the other one a URL";

tl::unexpected<Error> broken(const char* text) {
  return fail(Errc::kInvalidArgument, text);
}

bool is_digit(char c) {
  return '0' <= c && c <= '9';
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view without_leading_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

/// Takes `#N` or `N`, behind blanks and before one or the end, from a line; an index that does not
/// fit is the largest number. Cost: a URL is told by its first bytes.
std::optional<std::uint64_t> take_index(std::string_view& line) {
  std::string_view text = without_leading_blanks(line);
  if (text.starts_with('#')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  std::uint64_t index = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
  if (!text.empty() && !is_blank(text.front())) return std::nullopt;
  line = text;
  return error == std::errc{} ? index : ~std::uint64_t{0};
}

/// The text is one index, with blanks around it or none.
bool is_index(std::string_view text) {
  return take_index(text) && without_leading_blanks(text).empty();
}

/// `#-1` or `#+1`: begins with what was meant as an index, but is none.
bool begins_signed_index(std::string_view text) {
  return text.size() > 2 && text[0] == '#' && (text[1] == '-' || text[1] == '+') &&
         is_digit(text[2]);
}

bool is_signed_index(std::string_view text) {
  text = without_leading_blanks(text);
  return begins_signed_index(text) && is_index(text.substr(2));
}

/// Takes an index like take_index(), also `-N`, `+N` and with a # before the sign.
bool take_signed_index(std::string_view& line) {
  std::string_view text = without_leading_blanks(line);
  if (text.starts_with('#')) text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text.front()) || !take_index(text)) return false;
  line = text;
  return true;
}

/// Returns the fault of a line of indexes and other columns; `otherwise`, if it begins with none.
const char* problem_of_columns(std::string_view line, const char* otherwise) {
  std::string_view rest = line;
  const bool begins_with_index = take_index(rest).has_value();
  if (begins_with_index && take_index(rest)) return "there are more than two columns";
  rest = line;
  const bool begins_with_signed = take_signed_index(rest);
  if (begins_with_signed && take_signed_index(rest)) return "an index has no sign";
  return begins_with_index ? kIndexAndUrl : otherwise;
}

/// Parses a line that is not two indexes.
Result<Edge> parse_url_edge(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) {
    if (is_index(line)) return broken("there is one column only");
    return broken(problem_of_columns(line, "there is no TAB between FROM and TO"));
  }
  const Edge edge{line.substr(0, tab), line.substr(tab + 1)};
  if (edge.to.find('\t') != std::string_view::npos) return broken("it has more than one TAB");
  if (edge.from.empty()) return broken("there is nothing before the TAB");
  if (edge.to.empty()) return broken("there is nothing after the TAB");
  if (is_signed_index(edge.from) || is_signed_index(edge.to)) {
    return broken("an index has no sign");
  }
  if (is_index(edge.from) || is_index(edge.to)) {
    return broken(problem_of_columns(line, kIndexAndUrl));
  }
  if (edge.from.size() > kEventUrlBytesMax || edge.to.size() > kEventUrlBytesMax) {
    return broken("a URL is longer than 16 MiB");
  }
  return edge;
}

}  // namespace

std::optional<std::uint64_t> parse_index_name(std::string_view text) {
  if (!text.starts_with('#')) return std::nullopt;
  const auto index = take_index(text);
  return text.empty() ? index : std::nullopt;
}

bool is_comment_line(std::string_view line) {
  line = without_leading_blanks(line);
  if (line.empty() || line.front() == '%') return true;
  if (line.front() != '#' || begins_signed_index(line)) return false;
  return line.size() == 1 || !is_digit(line[1]);
}

std::size_t edge_column_count(std::string_view line) {
  std::size_t index_count = 0;
  std::string_view rest = line;
  while (take_index(rest)) ++index_count;
  if (without_leading_blanks(rest).empty()) return index_count;
  return 1 + static_cast<std::size_t>(std::ranges::count(line, '\t'));
}

Result<Edge> parse_edge(std::string_view line) {
  std::string_view rest = line;
  const auto from = take_index(rest);
  const auto to = from ? take_index(rest) : std::nullopt;
  if (!to || !without_leading_blanks(rest).empty()) return parse_url_edge(line);
  if (*from >= kIndexEnd || *to >= kIndexEnd) return broken("an index is below 2^40");
  return Edge{{}, {}, *from, *to, model::PageNaming::kIndexes};
}

bool fits_edge_from(std::string_view url) {
  if (url.empty() || model::breaks_lines(url) || is_comment_line(url)) return false;
  if (url.starts_with(kByteOrderMark)) return false;  // it would be lost in the first line
  return !take_index(url) && !is_signed_index(url);
}

bool fits_edge_to(std::string_view url) {
  return !url.empty() && !model::breaks_lines(url) && !is_index(url) && !is_signed_index(url);
}

bool EdgeCollector::begins_event(const Edge& edge) const {
  return is_taken_ || empty() || edge.naming != naming_ || edge.from != from_ ||
         edge.from_index != from_index_ || targets_.size() >= kEdgesMax ||
         url_bytes_.size() >= kEdgeBytesMax;
}

void EdgeCollector::add(const Edge& edge) {
  if (begins_event(edge)) {
    from_ = edge.from;
    from_index_ = edge.from_index;
    naming_ = edge.naming;
    url_bytes_.clear();
    targets_.clear();
    is_taken_ = false;
  }
  url_bytes_ += edge.to;
  targets_.push_back({url_bytes_.size(), edge.to_index});
}

CrawlEvent EdgeCollector::take() {
  links_.clear();
  std::size_t begin = 0;
  for (const Target& target : targets_) {
    links_.push_back(
        {std::string_view(url_bytes_).substr(begin, target.url_end - begin), target.index, 0});
    begin = target.url_end;
  }
  targets_.clear();
  is_taken_ = true;
  CrawlEvent event;
  event.kind = CrawlEventKind::kLinkAdded;
  event.url = from_;
  event.index = from_index_;
  event.links = links_;
  return event;
}

}  // namespace crawlstore::cli
