// SPDX-License-Identifier: Apache-2.0
#include "model/queue_pass.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include <crawlstore/page_key.h>

#include "model/format_text.h"
#include "model/page_source.h"
#include "model/parse_text.h"

namespace crawlstore::model {
namespace {

constexpr std::uint64_t kWaitingBetweenReports = 4096;

tl::unexpected<Error> pass_cancelled() {
  return fail(Errc::kCancelled, "it was cancelled");
}

/// Visits pages of a queue, with how many came before, until `visit` returns false.
///   total  of the progress: the pages of the queue, and what is to be done after them
Result<void> pass(const QueueView& queue, std::uint64_t total, const PagesProgress& progress,
                  const std::function<bool(const QueuedPage&, std::uint64_t before_count)>& visit) {
  std::uint64_t before_count = 0;
  bool is_cancelled = false;
  CRAWLSTORE_TRY(queue.for_each_page([&](const QueuedPage& page) {
    is_cancelled = before_count % kWaitingBetweenReports == 0 && !progress(before_count, total);
    return !is_cancelled && visit(page, before_count++);
  }));
  if (is_cancelled) return pass_cancelled();
  return {};
}

struct HostCount {
  std::uint64_t first_page = 0;  ///< one of its pages that wait
  std::uint64_t page_count = 0;
};

/// The keys of a host are neighbours.
Result<std::vector<HostCount>> count_hosts(const PageView& pages, const std::vector<bool>& waits,
                                           const PagesProgress& progress) {
  std::vector<HostCount> hosts;
  std::optional<std::uint64_t> head;
  std::uint64_t done = 0;
  bool is_cancelled = false;
  CRAWLSTORE_TRY(pages.for_each_key([&](Key16 key, std::uint64_t index) {
    is_cancelled = done++ % kWaitingBetweenReports == 0 && !progress(done, 0);
    if (is_cancelled) return false;
    if (index >= waits.size() || !waits[index]) return true;
    if (head != key.head) hosts.push_back({index, 0});
    head = key.head;
    ++hosts.back().page_count;
    return true;
  }));
  if (is_cancelled) return pass_cancelled();
  return hosts;
}

std::string priority_text(double priority) {
  return format_cell(priority, Unit::kScore);
}

/// When a page was crawled that failed or is gone.
std::string crawled_before(const PageInfo& page) {
  if (page.crawl_count == 0) return "it was never crawled.";
  return "it was crawled at " + format_time(page.last_crawl_us) + ".";
}

/// The reason that a page does not wait.
std::string why_not_waiting(const std::optional<PageInfo>& page) {
  if (!page) return "The page database does not have it.";
  switch (page->state) {
    case PageState::kKnown:
      return "It is known and was not crawled: nobody has inserted it, or it was taken and its "
             "crawl "
             "is not in the file yet.";
    case PageState::kCrawled:
      return "It was crawled at " + format_time(page->last_crawl_us) + ".";
    case PageState::kFailed:
      return "Its last fetch failed; " + crawled_before(*page);
    case PageState::kGone:
      return "It is gone; " + crawled_before(*page);
    case PageState::kRedirect:
      return "Its last fetch was redirected; " + crawled_before(*page);
    case PageState::kDenied:
      return "robots.txt forbids it; " + crawled_before(*page);
    case PageState::kDuplicate:
      return "Another page has its content; " + crawled_before(*page);
    case PageState::kElsewhere:
      return "Another shard has it.";
  }
  return {};
}

/// The run of the queue's table, which every change of the queue writes anew.
std::optional<RunId> table_run(const Snapshot& snapshot, const QueueInfo& queue) {
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.id == queue.id) return segment.runs.front().run_id;
  }
  return std::nullopt;
}

struct QueueState {
  const Snapshot& snapshot;
  const QueueInfo& queue;
};

/// Whether other pages wait, or with other priorities.
Result<bool> differ(const QueueState& old_state, const QueueState& new_state,
                    const PagesProgress& progress, bool& failed_in_new) {
  const auto& [older, before] = old_state;
  const auto& [newer, after] = new_state;
  if (before.page_count != after.page_count) return true;
  const bool is_same_run = older.uuid() == newer.uuid() && before.id == after.id &&
                           table_run(older, before) == table_run(newer, after);
  if (is_same_run) return false;
  const auto number_in = [&](bool in_new, const QueueState& state) -> Result<std::uint64_t> {
    failed_in_new = in_new;
    CRAWLSTORE_TRY(const auto queue, QueueView::open(state.snapshot, state.queue.name));
    return content_number(queue, progress);
  };
  CRAWLSTORE_TRY(const auto old_number, number_in(false, old_state));
  CRAWLSTORE_TRY(const auto new_number, number_in(true, new_state));
  return old_number != new_number;
}

/// Lists the queues of a state. Past damage those whose table cannot be read are not there.
Result<std::vector<QueueInfo>> list_queues(const Snapshot& snapshot, bool in_new, DiffGaps* gaps) {
  auto listed = QueueView::list(snapshot);
  if (listed || gaps == nullptr || !DiffGaps::is_damage(listed.error())) return listed;
  std::vector<QueueInfo> queues;
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.kind != SegmentKind::kQueue) continue;
    const auto queue = QueueView::open(snapshot, segment.name);
    if (queue) {
      queues.push_back(queue->info());
    } else if (DiffGaps::is_damage(queue.error())) {
      gaps->add(in_new, "queue", segment.name, queue.error());
    } else {
      return tl::unexpected<Error>(queue.error());
    }
  }
  return queues;
}

}  // namespace

Result<void> add_queues_diff(const Snapshot& older, const Snapshot& newer,
                             const PagesProgress& progress, Document& document, DiffGaps* gaps) {
  CRAWLSTORE_TRY(const auto before, list_queues(older, false, gaps));
  CRAWLSTORE_TRY(const auto after, list_queues(newer, true, gaps));
  struct Both {
    const QueueInfo* older = nullptr;
    const QueueInfo* newer = nullptr;
  };
  std::map<std::string, Both> queues;
  for (const QueueInfo& info : before) queues[info.name].older = &info;
  for (const QueueInfo& info : after) queues[info.name].newer = &info;
  Table table{"queues",
              {{"name", Unit::kText},
               {"is_different", Unit::kFlag},
               {"old_page_count", Unit::kCount},
               {"new_page_count", Unit::kCount},
               {"old_run_count", Unit::kCount},
               {"new_run_count", Unit::kCount}},
              {}};
  const auto cell = [](const QueueInfo* info, auto field) {
    return info == nullptr ? Cell{} : Cell{std::uint64_t{info->*field}};
  };
  for (const auto& [name, both] : queues) {
    if (gaps != nullptr && gaps->has("queue", name)) continue;
    bool is_different = true;
    if (both.older != nullptr && both.newer != nullptr) {
      bool in_new = false;
      const auto differs = differ({older, *both.older}, {newer, *both.newer}, progress, in_new);
      if (!differs && gaps != nullptr && DiffGaps::is_damage(differs.error())) {
        gaps->add(in_new, "queue", name, differs.error());
        continue;
      }
      CRAWLSTORE_TRY(is_different, differs);
    }
    if (is_different) document.fields.front().value = true;
    table.rows.push_back({name, is_different, cell(both.older, &QueueInfo::page_count),
                          cell(both.newer, &QueueInfo::page_count),
                          cell(both.older, &QueueInfo::run_count),
                          cell(both.newer, &QueueInfo::run_count)});
  }
  document.tables.push_back(std::move(table));
  return {};
}

Result<WaitingHosts> waiting_hosts(const QueueView& queue, const PageView& pages,
                                   const PagesProgress& progress) {
  WaitingHosts found;
  found.table =
      Table{"hosts",
            {{"host", Unit::kText}, {"page_count", Unit::kCount}, {"page_share", Unit::kShare}},
            {}};
  found.page_count = queue.info().page_count;
  const std::uint64_t total = found.page_count + pages.info().page_count;
  std::vector<bool> waits(pages.info().page_count);
  CRAWLSTORE_TRY(pass(queue, total, progress, [&](const QueuedPage& page, std::uint64_t) {
    if (page.page < waits.size()) {
      waits[page.page] = true;
    } else {
      ++found.unknown_count;
    }
    return true;
  }));
  CRAWLSTORE_TRY(auto hosts, count_hosts(pages, waits, [&](std::uint64_t done, std::uint64_t) {
                   return progress(found.page_count + done, total);
                 }));
  std::ranges::stable_sort(hosts, std::greater<>(), &HostCount::page_count);
  for (const HostCount& host : hosts) {
    CRAWLSTORE_TRY(const auto url, pages.url(host.first_page));
    if (found.table.rows.size() % kWaitingBetweenReports == 0 && !progress(total, total)) {
      return pass_cancelled();
    }
    found.table.rows.push_back(
        {url_host(url), host.page_count,
         static_cast<double>(host.page_count) / static_cast<double>(found.page_count)});
  }
  return found;
}

std::optional<double> parse_priority(std::string_view text, double endless) {
  if (text.empty()) return endless;
  const bool is_negative = text.front() == '-';
  const auto size = parse_score(text.substr(is_negative ? 1 : 0));
  if (!size) return std::nullopt;
  return is_negative ? -*size : *size;
}

std::string format_priority(double priority) {
  return std::isinf(priority) ? "" : format_cell(priority, Unit::kExact);
}

Result<std::vector<QueueBin>> counted_bins(const QueueView& queue, std::vector<QueueBin> bins,
                                           const PagesProgress& progress) {
  for (QueueBin& bin : bins) {
    bin.entry_count -= std::min(bin.entry_count, bin.remaining_count);
    bin.remaining_count = 0;
  }
  if (bins.empty()) return bins;
  auto bin = bins.begin();
  CRAWLSTORE_TRY(pass(queue, queue.info().page_count, progress,
                      [&](const QueuedPage& page, std::uint64_t /*before_count*/) {
                        while (page.priority <= bin->last_priority && bin + 1 != bins.end()) ++bin;
                        ++bin->remaining_count;
                        ++bin->entry_count;
                        return true;
                      }));
  return bins;
}

Result<std::uint64_t> content_number(const QueueView& queue, const PagesProgress& progress) {
  // The finish of MurmurHash3, twice; a sum, for equal priorities leave in any order.
  const auto mixed = [](std::uint64_t bits) {
    bits = (bits ^ bits >> 33) * 0xff51afd7ed558ccd;
    bits = (bits ^ bits >> 33) * 0xc4ceb9fe1a85ec53;
    return bits ^ bits >> 33;
  };
  std::uint64_t sum = 0;
  CRAWLSTORE_TRY(pass(queue, queue.info().page_count, progress,
                      [&](const QueuedPage& page, std::uint64_t /*before_count*/) {
                        sum +=
                            mixed(mixed(page.page) ^ std::bit_cast<std::uint64_t>(page.priority));
                        return true;
                      }));
  return sum;
}

Result<WaitingInRange> waiting_in_range(const QueueView& queue, const PageView* pages,
                                        const PriorityRange& range, std::size_t count,
                                        const PagesProgress& progress) {
  WaitingInRange found;
  const bool is_open = range.last == PriorityRange().last;
  const std::uint64_t page_count = queue.info().page_count;
  std::vector<QueuedPage> first;
  CRAWLSTORE_TRY(pass(queue, page_count, progress, [&](const QueuedPage& page, std::uint64_t) {
    if (page.priority < range.last) return false;
    if (page.priority > range.first) {
      ++found.before_count;
      return true;
    }
    if (first.size() < count) first.push_back(page);
    ++found.page_count;
    return !is_open || first.size() < count;
  }));
  if (is_open) found.page_count = page_count - found.before_count;
  found.pages.reserve(first.size());
  for (const QueuedPage& page : first) {
    WaitingPage& added = found.pages.emplace_back(WaitingPage{page, {}});
    if (pages == nullptr || page.page >= pages->info().page_count) continue;
    CRAWLSTORE_TRY(const auto url, pages->url(page.page));
    added.url = row_url(url);
  }
  return found;
}

Result<std::optional<QueuePlace>> find_place(const QueueView& queue, std::uint64_t page,
                                             const PagesProgress& progress) {
  std::optional<QueuePlace> found;
  double priority = 0;  // of the pages visited last
  double highest = 0;
  std::uint64_t higher_count = 0;
  CRAWLSTORE_TRY(pass(queue, queue.info().page_count, progress,
                      [&](const QueuedPage& other, std::uint64_t before_count) {
                        if (before_count == 0) highest = other.priority;
                        if (before_count == 0 || other.priority != priority) {
                          higher_count = before_count;
                          priority = other.priority;
                        }
                        if (other.page != page) return true;
                        found = QueuePlace{priority, before_count + 1, higher_count, highest};
                        return false;
                      }));
  return found;
}

std::string place_text(const QueueInfo& queue, const std::optional<QueuePlace>& place,
                       const std::optional<PageInfo>& page) {
  if (!place) return "It does not wait here. " + why_not_waiting(page);
  const std::uint64_t before_count = place->place - 1;
  std::string text = "It waits with priority " + priority_text(place->priority) + " at place " +
                     format_count(place->place) + " of " + format_count(queue.page_count) + ". ";
  if (before_count == 0) return text + "It is next.";
  const std::uint64_t equal_count = before_count - place->higher_count;
  if (place->higher_count > 0) {
    text += format_counted(place->higher_count, "page") + " with a higher priority (up to " +
            priority_text(place->highest_priority) + ")";
  }
  if (equal_count > 0) {
    if (place->higher_count > 0) text += " and ";
    text += format_counted(equal_count, "page") + " with the same priority and a lower index";
  }
  return text + (before_count == 1 ? " leaves before it." : " leave before it.");
}

}  // namespace crawlstore::model
