// SPDX-License-Identifier: Apache-2.0
#include "cli/edge_lines.h"

#include <algorithm>
#include <charconv>

namespace crawlstore::cli {
namespace {

/// An event with more than that is cut: what follows adds links to the same page.
constexpr std::size_t kLinksMax = std::size_t{1} << 16;
constexpr std::size_t kUrlBytesMax = std::size_t{4} << 20;
constexpr std::uint64_t kIndexEnd = std::uint64_t{1} << 40;

constexpr std::string_view kBlanks = " \t";

tl::unexpected<Error> broken(const char* text) {
  return fail(Errc::kInvalidArgument, text);
}

bool is_digit(char c) {
  return '0' <= c && c <= '9';
}

std::string_view without_leading_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}

/// Takes the next column, between blanks, from a line; empty: there is none.
std::string_view take_column(std::string_view& line) {
  line = without_leading_blanks(line);
  const std::string_view column = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(column.size());
  return column;
}

/// `#N` and `N`; an index that does not fit is the largest number.
std::optional<std::uint64_t> parse_index_column(std::string_view text) {
  if (text.starts_with('#')) text.remove_prefix(1);
  std::uint64_t index = 0;
  const char* const end = text.data() + text.size();
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const auto [stopped, error] = std::from_chars(text.data(), end, index);
  if (stopped != end) return std::nullopt;
  return error == std::errc{} ? index : ~std::uint64_t{0};
}

/// The text is one index, with blanks around it or none.
bool is_index(std::string_view text) {
  return parse_index_column(take_column(text)) && without_leading_blanks(text).empty();
}

/// Of a line that is not two indexes.
Result<Edge> parse_url_edge(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) {
    if (is_index(line)) return broken("there is one column only");
    if (parse_index_column(take_column(line))) {
      return parse_index_column(take_column(line))
                 ? broken("there are more than two columns")
                 : broken("one end is an index, the other one a URL");
    }
    return broken("there is no TAB between FROM and TO");
  }
  const Edge edge{line.substr(0, tab), line.substr(tab + 1)};
  if (edge.to.find('\t') != std::string_view::npos) return broken("it has more than one TAB");
  if (edge.from.empty()) return broken("there is nothing before the TAB");
  if (edge.to.empty()) return broken("there is nothing behind the TAB");
  if (is_index(edge.from) || is_index(edge.to)) {
    return broken("one end is an index, the other one a URL");
  }
  if (edge.from.size() > kEventUrlBytesMax || edge.to.size() > kEventUrlBytesMax) {
    return broken("a URL is longer than 16 MiB");
  }
  return edge;
}

bool breaks_lines(std::string_view url) {
  return url.empty() || url.find_first_of("\t\r\n") != std::string_view::npos;
}

}  // namespace

std::optional<std::uint64_t> parse_index_name(std::string_view text) {
  return text.starts_with('#') ? parse_index_column(text) : std::nullopt;
}

bool is_edge_comment(std::string_view line) {
  line = without_leading_blanks(line);
  if (line.empty() || line.front() == '%') return true;
  return line.front() == '#' && (line.size() == 1 || !is_digit(line[1]));
}

Result<Edge> parse_edge(std::string_view line) {
  std::string_view rest = line;
  const auto from = parse_index_column(take_column(rest));
  const auto to = from ? parse_index_column(take_column(rest)) : std::nullopt;
  if (!to || !without_leading_blanks(rest).empty()) return parse_url_edge(line);
  if (*from >= kIndexEnd || *to >= kIndexEnd) return broken("an index is below 2^40");
  return Edge{{}, {}, *from, *to, model::PageNaming::kIndexes};
}

bool fits_edge_from(std::string_view url) {
  if (breaks_lines(url) || is_edge_comment(url)) return false;
  return !parse_index_column(take_column(url));
}

bool fits_edge_to(std::string_view url) {
  return !breaks_lines(url) && !is_index(url);
}

bool EdgeCollector::begins_event(const Edge& edge) const {
  return is_taken_ || empty() || edge.naming != naming_ || edge.from != from_ ||
         edge.from_index != from_index_ || targets_.size() >= kLinksMax ||
         url_bytes_.size() >= kUrlBytesMax;
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
