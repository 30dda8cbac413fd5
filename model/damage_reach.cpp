// SPDX-License-Identifier: Apache-2.0
#include "model/damage_reach.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <crawlstore/page_key.h>
#include <crawlstore/scores.h>

#include "model/format_text.h"

namespace crawlstore::model {
namespace {

constexpr std::uint64_t kPagesBetweenReports = 256;
constexpr std::size_t kHostsNamed = 3;

/// A damaged part and its place: a row each.
using Place = std::tuple<std::string, std::uint64_t, std::uint64_t>;  // part, segment, offset

/// The pages of a place, ascending.
using Touched = std::map<Place, std::vector<std::uint64_t>>;

/// Counts by the names of hosts.
using HostCounts = std::map<std::string, std::uint64_t>;

class Reach {
 public:
  Reach(const PageView& view, const std::function<void(const Error&)>& damaged)
      : view_(view), damaged_(damaged) {}

  /// Asks for all parts of all pages.
  Result<void> look(const std::function<bool(std::uint64_t)>& goes_on) {
    open_scores();
    const bool has_urls = view_.info().has_urls;
    for (std::uint64_t page = 0; page < view_.info().page_count; ++page) {
      if (page % kPagesBetweenReports == 0 && !goes_on(page)) {
        return fail(Errc::kCancelled, "it was cancelled");
      }
      note("record", page, view_.state(page));
      const auto url = view_.url(page);
      note("URL", page, url);
      note("links out", page, view_.out_links(page));
      note("links in", page, view_.in_links(page));
      if (url && has_urls) note("key", page, view_.find_text(*url));
      for (const auto& [name, scores] : scores_) {
        note(name, page, scores ? scores->score(page) : tl::unexpected<Error>(scores.error()));
      }
    }
    return {};
  }

  void append_rows(std::vector<std::vector<Cell>>& rows) {
    for (const auto& [place, pages] : touched_) {
      const auto& [part, segment, offset] = place;
      const bool has_place = offset != Error::kNoOffset;
      rows.push_back({part, view_.info().name, std::uint64_t{pages.size()}, pages.front(),
                      pages.back(), hosts_text(hosts_of(part, pages)),
                      segment == 0 ? Cell() : Cell(segment), has_place ? Cell(offset) : Cell()});
    }
  }

 private:
  void open_scores() {
    for (const std::string& name : ScoreView::names(view_)) {
      auto opened = ScoreView::open(view_, name);
      // One that cannot be opened is lost for all pages.
      if (opened && opened->info().subject != ScoreSubject::kPage) continue;
      scores_.emplace_back("score " + name, std::move(opened));
    }
  }

  template <class Value>
  void note(const std::string& part, std::uint64_t page, const Result<Value>& read) {
    if (read) return;
    const Error& error = read.error();
    std::vector<std::uint64_t>& pages = touched_[{part, error.segment.value, error.offset}];
    if (pages.empty()) damaged_(error);
    pages.push_back(page);
  }

  /// Pages whose URLs themselves are damaged are of the host of their neighbours by key.
  HostCounts hosts_of(const std::string& part, const std::vector<std::uint64_t>& pages) {
    if (part == "URL") return hosts_by_keys(pages);
    HostCounts counts;
    for (const std::uint64_t page : pages) {
      const auto url = view_.url(page);
      ++counts[url ? url_host(*url) : std::string()];
    }
    return counts;
  }

  HostCounts hosts_by_keys(const std::vector<std::uint64_t>& pages) {
    HostCounts counts;
    std::uint64_t head = 0;
    std::uint64_t touched = 0;
    std::optional<std::uint64_t> whole;
    const auto finish = [&] {
      if (touched == 0) return;
      const auto url = whole ? view_.url(*whole) : Result<std::string>(std::string());
      counts[url ? url_host(*url) : std::string()] += touched;
    };
    const auto read = view_.for_each_key([&](Key16 key, std::uint64_t page) {
      if (key.head != head) {
        finish();
        head = key.head;
        touched = 0;
        whole.reset();
      }
      if (std::ranges::binary_search(pages, page)) {
        ++touched;
      } else if (!whole) {
        whole = page;
      }
      return true;
    });
    if (read) finish();
    return counts;
  }

  static std::string hosts_text(const HostCounts& counts) {
    std::vector<std::pair<std::uint64_t, std::string>> hosts;
    for (const auto& [name, count] : counts) {
      hosts.emplace_back(count, name.empty() ? "(not known)" : name);
    }
    std::ranges::sort(hosts, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::string text;
    for (std::size_t i = 0; i < std::min(kHostsNamed, hosts.size()); ++i) {
      if (i != 0) text += ", ";
      text += hosts[i].second + " " + format_count(hosts[i].first);
    }
    if (hosts.size() > kHostsNamed) {
      text += " and " + format_counted(hosts.size() - kHostsNamed, "host") + " more";
    }
    return text;
  }

  const PageView& view_;
  const std::function<void(const Error&)>& damaged_;
  std::vector<std::pair<std::string, Result<ScoreView>>> scores_;
  Touched touched_;
};

/// Queues that cannot be read to their end: what leaves behind the damage.
void append_queues(const Snapshot& snapshot, const std::function<void(const Error&)>& damaged,
                   std::vector<std::vector<Cell>>& rows) {
  for (const QueueInfo& info : QueueView::list(snapshot).value_or(std::vector<QueueInfo>())) {
    const auto queue = QueueView::open(snapshot, info.name);
    if (!queue) continue;
    std::uint64_t read = 0;
    const auto all = queue->for_each_page([&read](const QueuedPage&) {
      ++read;
      return true;
    });
    if (all) continue;
    const Error& error = all.error();
    damaged(error);
    rows.push_back({"queue " + info.name + " from place " + format_count(read + 1) + " on", Cell(),
                    info.page_count - std::min(read, info.page_count), Cell(), Cell(), Cell(),
                    error.segment ? Cell(error.segment.value) : Cell(),
                    error.offset == Error::kNoOffset ? Cell() : Cell(error.offset)});
  }
}

}  // namespace

Result<Table> damage_reach(const std::vector<PageView>& databases, const Snapshot& snapshot,
                           const std::function<void(const Error&)>& damaged,
                           const std::function<bool(std::uint64_t, std::uint64_t)>& progress) {
  Table table{"damage_reach",
              {{"part", Unit::kText},
               {"database", Unit::kText},
               {"page_count", Unit::kCount},
               {"first_page", Unit::kId},
               {"last_page", Unit::kId},
               {"hosts", Unit::kText},
               {"segment", Unit::kId},
               {"offset_bytes", Unit::kOffset}},
              {}};
  std::uint64_t all = 0;
  for (const PageView& view : databases) all += view.info().page_count;
  std::uint64_t before = 0;
  for (const PageView& view : databases) {
    Reach reach(view, damaged);
    CRAWLSTORE_TRY(reach.look([&](std::uint64_t page) { return progress(before + page, all); }));
    reach.append_rows(table.rows);
    before += view.info().page_count;
  }
  append_queues(snapshot, damaged, table.rows);
  return table;
}

}  // namespace crawlstore::model
