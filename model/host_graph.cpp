// SPDX-License-Identifier: Apache-2.0
// Hosts around a host. A host is known by its name while the graph is built, and looked at once.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include <crawlstore/page_key.h>

#include "model/ego_graph.h"

namespace crawlstore::model {
namespace {

constexpr std::size_t kPageLinksMax = 1000;

class HostGraphBuilder {
 public:
  HostGraphBuilder(const PageView& view, const EgoGraphOptions& options,
                   const PagesProgress& progress)
      : view_(view), options_(options), progress_(progress) {}

  Result<EgoGraph> build(std::string_view centre) {
    graph_.is_of_hosts = true;
    CRAWLSTORE_TRY(add(std::string(centre), 0));
    if (graph_.nodes.front().page_count == 0) {
      return fail(Errc::kInvalidArgument, "no page is of this host");
    }
    do {
      is_changed_ = false;
      for (std::uint32_t level = 1; level <= options_.depth; ++level) {
        CRAWLSTORE_TRY(add_level(level));
      }
      // Room that the last levels left of their shares goes to the first ones.
    } while (is_changed_ && graph_.nodes.size() < options_.nodes_max);
    for (const std::uint64_t page : options_.expanded) {
      const auto at = std::ranges::find(graph_.nodes, page, &GraphNode::page);
      if (at == graph_.nodes.end()) continue;
      CRAWLSTORE_TRY(add_neighbours(static_cast<std::size_t>(at - graph_.nodes.begin()),
                                    EgoGraphOptions::kExpandedMax, at->distance + 1));
    }
    return take_edges();
  }

 private:
  struct Counts {
    std::uint64_t out = 0;
    std::uint64_t in = 0;
  };
  using Neighbours = std::map<std::string, Counts, std::less<>>;

  /// Its first pages, in the order of their keys.
  Result<std::vector<std::uint64_t>> pages_of(const std::string& host, GraphNode& node) const {
    std::vector<std::uint64_t> pages;
    const auto read = view_.for_each_page_of(host, [&](const PageInfo& page) {
      if (pages.empty()) {
        node.page = page.index;
        node.state = page.state;
        node.depth = page.depth;
        node.score = page.score;
      }
      node.depth = std::min(node.depth, page.depth);
      node.score = std::max(node.score, page.score);
      if (page.state == PageState::kCrawled) node.state = page.state;
      pages.push_back(page.index);
      return pages.size() < options_.host_pages_max;
    });
    if (!read) return tl::unexpected<Error>(read.error());
    node.page_count = pages.size();
    if (pages.size() < options_.host_pages_max) return pages;
    node.page_count = 0;
    const auto counted = view_.for_each_key_of(host, [&node](Key16 /*key*/, std::uint64_t) {
      ++node.page_count;
      return true;
    });
    if (!counted) return tl::unexpected<Error>(counted.error());
    return pages;
  }

  Result<void> add(const std::string& host, std::uint32_t distance) {
    GraphNode node;
    node.host = host;
    node.label = host.empty() ? "(no host)" : host;
    node.distance = distance;
    CRAWLSTORE_TRY(auto pages, pages_of(host, node));
    graph_.unseen_page_count +=
        node.page_count - std::min<std::uint64_t>(node.page_count, pages.size());
    pages_.push_back(std::move(pages));
    places_.emplace(host, static_cast<std::uint32_t>(graph_.nodes.size()));
    graph_.nodes.push_back(std::move(node));
    return {};
  }

  Result<const std::string*> host_of(std::uint64_t page) {
    const auto known = hosts_.find(page);
    if (known != hosts_.end()) return &known->second;
    CRAWLSTORE_TRY(const auto url, view_.url(page));
    return &hosts_.emplace(page, url_host(url)).first->second;
  }

  Result<void> count(const std::vector<std::uint64_t>& links, std::uint64_t Counts::*which,
                     Neighbours& found) {
    for (std::size_t i = 0; i < std::min(links.size(), kPageLinksMax); ++i) {
      CRAWLSTORE_TRY(const auto host, host_of(links[i]));
      ++(found[*host].*which);
    }
    return {};
  }

  Result<Neighbours> neighbours(std::size_t at) {
    Neighbours found;
    for (const std::uint64_t page : pages_[at]) {
      if (!progress_(graph_.nodes.size(), 0)) return fail(Errc::kCancelled, "it was cancelled");
      if (options_.direction != GraphDirection::kIn) {
        CRAWLSTORE_TRY(const auto out, view_.out_links(page));
        CRAWLSTORE_TRY(count(out, &Counts::out, found));
      }
      if (options_.direction != GraphDirection::kOut) {
        CRAWLSTORE_TRY(const auto in, view_.in_links(page));
        CRAWLSTORE_TRY(count(in, &Counts::in, found));
      }
    }
    found.erase(graph_.nodes[at].host);
    return found;
  }

  /// Does the same as for pages, in ego_graph.cpp; but nodes that have no room left are looked at
  /// too, for their edges.
  Result<void> add_level(std::uint32_t level) {
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < graph_.nodes.size(); ++at) {
      const GraphNode& node = graph_.nodes[at];
      if (node.distance + 1 == level && node.hidden_count != 0) open.push_back(at);
    }
    std::size_t room = room_of_level(options_.nodes_max, graph_.nodes.size(),
                                     options_.depth - level + std::size_t{1});
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::size_t share = (room + open.size() - i - 1) / (open.size() - i);
      const std::size_t before = graph_.nodes.size();
      CRAWLSTORE_TRY(add_neighbours(open[i], share, level));
      room -= graph_.nodes.size() - before;
    }
    return {};
  }

  Result<void> add_neighbours(std::size_t at, std::size_t room, std::uint32_t distance) {
    if (!found_.contains(at)) {
      CRAWLSTORE_TRY(auto found, neighbours(at));
      found_.emplace(at, std::move(found));
    }
    std::vector<std::pair<std::uint64_t, std::string>> ranked;
    for (const auto& [host, counts] : found_.at(at)) {
      const auto known = places_.find(host);
      if (known == places_.end()) {
        ranked.emplace_back(counts.out + counts.in, host);
      } else if (distance < graph_.nodes[known->second].distance) {
        graph_.nodes[known->second].distance = distance;
        is_changed_ = true;
      }
    }
    std::ranges::stable_sort(ranked, std::greater<>{},
                             [](const auto& entry) { return entry.first; });
    const std::size_t added = std::min(room, ranked.size());
    for (std::size_t i = 0; i < added; ++i) CRAWLSTORE_TRY(add(ranked[i].second, distance));
    graph_.nodes[at].hidden_count = ranked.size() - added;
    is_changed_ = is_changed_ || added > 0;
    return {};
  }

  /// Notes the edges from all nodes that were looked at to all that are there in the end.
  void note_edges() {
    for (const auto& [at, found] : found_) {
      std::uint64_t hidden_count = 0;
      for (const auto& [host, counts] : found) {
        const auto other = places_.find(host);
        hidden_count += other == places_.end() ? 1U : 0U;
        if (other == places_.end()) continue;
        const auto here = static_cast<std::uint32_t>(at);
        // Seen from both ends, a bundle of links is counted once: the larger count is of more
        // pages.
        note_edge(here, other->second, counts.out);
        note_edge(other->second, here, counts.in);
      }
      graph_.nodes[at].hidden_count = hidden_count;
    }
  }

  void note_edge(std::uint32_t from, std::uint32_t to, std::uint64_t link_count) {
    if (link_count == 0) return;
    std::uint64_t& known = edges_[{from, to}];
    known = std::max(known, link_count);
  }

  Result<EgoGraph> take_edges() {
    note_edges();
    for (const auto& [ends, link_count] : edges_) {
      graph_.edges.push_back({ends.first, ends.second, link_count});
    }
    find_distances(graph_, options_.direction);
    return std::move(graph_);
  }

  const PageView& view_;
  const EgoGraphOptions& options_;
  const PagesProgress& progress_;
  EgoGraph graph_;
  std::vector<std::vector<std::uint64_t>> pages_;          // of each node
  std::unordered_map<std::string, std::uint32_t> places_;  // of hosts, in nodes
  std::unordered_map<std::uint64_t, std::string> hosts_;   // of pages that were met
  std::map<std::size_t, Neighbours> found_;                // of nodes that were looked at
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> edges_;
  bool is_changed_ = false;  // by this round through the levels
};

}  // namespace

Result<EgoGraph> host_graph(const PageView& view, std::string_view host,
                            const EgoGraphOptions& options, const PagesProgress& progress) {
  return HostGraphBuilder(view, options, progress).build(host);
}

}  // namespace crawlstore::model
