// SPDX-License-Identifier: Apache-2.0
#include "cli/edge_lines.h"

#include <charconv>

namespace crawlstore::cli {
namespace {

/// An event with more than that is cut: what follows adds links to the same page.
constexpr std::size_t kLinksMax = std::size_t{1} << 16;
constexpr std::size_t kUrlBytesMax = std::size_t{4} << 20;
constexpr std::uint64_t kIndexEnd = std::uint64_t{1} << 40;

tl::unexpected<Error> broken(const char* text) {
  return fail(Errc::kInvalidArgument, text);
}

}  // namespace

std::optional<std::uint64_t> parse_index_name(std::string_view text) {
  if (!text.starts_with('#') || text.size() == 1) return std::nullopt;
  std::uint64_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data() + 1, end, index);
  if (stopped != end) return std::nullopt;
  return error == std::errc{} ? index : ~std::uint64_t{0};
}

Result<Edge> parse_edge(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return broken("there is no TAB between FROM and TO");
  Edge edge{line.substr(0, tab), line.substr(tab + 1)};
  if (edge.to.find('\t') != std::string_view::npos) return broken("it has more than one TAB");
  if (edge.from.empty()) return broken("there is nothing before the TAB");
  if (edge.to.empty()) return broken("there is nothing behind the TAB");
  if (edge.from.size() > kEventUrlBytesMax || edge.to.size() > kEventUrlBytesMax) {
    return broken("a URL is longer than 16 MiB");
  }
  const auto from_index = parse_index_name(edge.from);
  const auto to_index = parse_index_name(edge.to);
  if (!from_index && !to_index) return edge;
  if (!from_index || !to_index) return broken("one end is an index, the other one a URL");
  if (*from_index >= kIndexEnd || *to_index >= kIndexEnd) {
    return broken("an index is below 2^40");
  }
  return Edge{{}, {}, *from_index, *to_index, model::PageNaming::kIndexes};
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
