// SPDX-License-Identifier: Apache-2.0
#include "model/host_rows.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <crawlstore/page_key.h>
#include <crawlstore/queue.h>

#include "model/domain_rows.h"
#include "model/host_name.h"

namespace crawlstore::model {
namespace {

constexpr std::uint64_t kHostsBetweenReports = 4096;

tl::unexpected<Error> cancelled() {
  return fail(Errc::kCancelled, "it was cancelled");
}

/// The states of all pages, 4 bits each; a bit more once one of them cannot be read.
class StateMap {
 public:
  explicit StateMap(std::uint64_t count) : bits_(count / 2 + 1) {}
  void set(std::uint64_t index, PageState state) {
    if (index / 2 >= bits_.size()) return;
    const auto value = static_cast<unsigned>(state);
    bits_[index / 2] = static_cast<std::uint8_t>(bits_[index / 2] | value << (index % 2 * 4));
  }
  void set_unreadable(std::uint64_t index) {
    unreadable_.resize(std::max<std::size_t>(unreadable_.size(), bits_.size() * 2));
    unreadable_[index] = true;
  }
  [[nodiscard]] bool has_unreadable() const { return !unreadable_.empty(); }
  /// Nothing of a page whose record cannot be read.
  [[nodiscard]] std::optional<PageState> at(std::uint64_t index) const {
    if (index / 2 >= bits_.size()) return PageState::kKnown;
    if (has_unreadable() && unreadable_[index]) return std::nullopt;
    return static_cast<PageState>(static_cast<unsigned>(bits_[index / 2]) >> (index % 2 * 4) & 15U);
  }

 private:
  std::vector<std::uint8_t> bits_;
  std::vector<bool> unreadable_;  // empty = none
};

Result<StateMap> read_states(const PageView& view, const PagesProgress& progress,
                             const HostsOptions& options) {
  const std::uint64_t count = view.info().page_count;
  StateMap states(count);
  for (std::uint64_t index = 0; index < count; ++index) {
    if (index % kHostsBetweenReports == 0 && !progress(index, 2 * count)) return cancelled();
    const auto state = view.state(index);
    if (state) {
      states.set(index, *state);
    } else if (options.damaged) {
      options.damaged(state.error());
      states.set_unreadable(index);
    } else {
      return tl::unexpected<Error>(state.error());
    }
  }
  return states;
}

/// Hosts one after the other, in the order of their keys.
class HostCounter {
 public:
  HostCounter(const PageView& view, const HostsOptions& options, StateMap states)
      : view_(view), options_(options), states_(std::move(states)) {
    table_ = {"hosts",
              {{"host", Unit::kText},
               {"page_count", Unit::kCount},
               {"crawled_count", Unit::kCount},
               {"crawled_share", Unit::kShare},
               {"gone_count", Unit::kCount},
               {"failed_count", Unit::kCount}},
              {}};
    if (options_.waiting != nullptr) table_.columns.push_back({"waiting_count", Unit::kCount});
    if (states_.has_unreadable()) table_.columns.push_back({"unreadable_count", Unit::kCount});
    table_.columns.push_back({"first_page", Unit::kId});
  }

  Result<void> add(Key16 key, std::uint64_t index) {
    if (run_.page_count == 0 || key.head != run_.head) {
      CRAWLSTORE_TRY(finish());
      run_ = {.head = key.head, .first_page = index};
    }
    ++run_.page_count;
    run_.last_page = index;
    if (const auto state = states_.at(index)) {
      ++run_.state_counts[static_cast<std::size_t>(*state)];
    } else {
      ++run_.unreadable_count;
    }
    const WaitingPages* const waiting = options_.waiting;
    if (waiting != nullptr && index < waiting->size() && (*waiting)[index]) ++run_.waiting_count;
    if (++page_count_ >= told_at_ && options_.so_far) tell();
    return {};
  }

  Result<Table> take() {
    CRAWLSTORE_TRY(finish());
    return std::move(table_);
  }

 private:
  struct HostRun {
    std::uint64_t head = 0;
    std::uint64_t first_page = 0;
    std::uint64_t last_page = 0;
    std::uint64_t page_count = 0;
    std::uint64_t waiting_count = 0;
    std::uint64_t unreadable_count = 0;
    std::array<std::uint64_t, kPageStateCount> state_counts{};
  };

  Result<void> finish() {
    if (run_.page_count == 0) return {};
    CRAWLSTORE_TRY(const std::string host, host_of_run());
    const auto count_of = [&](PageState state) {
      return run_.state_counts[static_cast<std::size_t>(state)];
    };
    if (count_of(PageState::kElsewhere) == run_.page_count) {
      run_ = {};
      return {};
    }
    const std::uint64_t crawled = count_of(PageState::kCrawled);
    const std::uint64_t readable = run_.page_count - run_.unreadable_count;
    const double share = static_cast<double>(crawled) / static_cast<double>(readable);
    Row& row = table_.rows.emplace_back(
        Row{host, run_.page_count, crawled, readable == 0 ? Cell() : Cell(share),
            count_of(PageState::kGone), count_of(PageState::kFailed)});
    if (options_.waiting != nullptr) row.emplace_back(run_.waiting_count);
    if (states_.has_unreadable()) row.emplace_back(run_.unreadable_count);
    row.emplace_back(run_.first_page);
    run_ = {};
    return {};
  }

  /// By one of its pages.
  [[nodiscard]] Result<std::string> host_of_run() const {
    const auto first = view_.url(run_.first_page);
    if (first) return url_host(*first);
    if (!options_.damaged) return tl::unexpected<Error>(first.error());
    options_.damaged(first.error());
    const auto last = view_.url(run_.last_page);
    return last ? url_host(*last) : std::string("(damaged)");
  }

  /// Costs a look at each row: after ever more pages, so that all of it is linear.
  void tell() {
    constexpr std::uint64_t kPagesMax = std::uint64_t{1} << 22;
    told_at_ = page_count_ + std::clamp(page_count_ / 4, kHostsBetweenReports, kPagesMax);
    std::vector<const Row*> rows(table_.rows.size());
    std::ranges::transform(table_.rows, rows.begin(), [](const Row& row) { return &row; });
    Table largest{table_.name, table_.columns,
                  std::vector<Row>(std::min(rows.size(), kLargestHosts))};
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(largest.rows.size());
    std::ranges::partial_sort(rows, end, std::greater<>(),
                              [](const Row* row) { return std::get<std::uint64_t>((*row)[1]); });
    std::transform(rows.begin(), end, largest.rows.begin(), [](const Row* row) { return *row; });
    options_.so_far(std::move(largest), rows.size());
  }

  const PageView& view_;
  const HostsOptions& options_;
  StateMap states_;
  Table table_;
  HostRun run_;
  std::uint64_t page_count_ = 0;
  std::uint64_t told_at_ = kHostsBetweenReports;
};

/// Does nothing if there is no such column.
void move_behind_pages(Table& hosts, std::string_view name) {
  constexpr std::ptrdiff_t kBehindPages = 2;
  const auto column = std::ranges::find(hosts.columns, name, &Column::name);
  if (column == hosts.columns.end()) return;
  const auto place = column - hosts.columns.begin();
  const auto move = [place](auto& cells) {
    std::rotate(cells.begin() + kBehindPages, cells.begin() + place, cells.begin() + place + 1);
  };
  move(hosts.columns);
  for (Row& row : hosts.rows) move(row);
}

}  // namespace

Result<WaitingPages> waiting_in_queues(const Snapshot& snapshot, std::uint64_t page_count,
                                       const PagesProgress& progress) {
  WaitingPages waiting(page_count);
  CRAWLSTORE_TRY(const auto queues, QueueView::list(snapshot));
  for (const QueueInfo& info : queues) {
    CRAWLSTORE_TRY(const auto queue, QueueView::open(snapshot, info.name));
    std::uint64_t done = 0;
    bool goes_on = true;
    CRAWLSTORE_TRY(queue.for_each_page([&](const QueuedPage& page) {
      if (page.page < page_count) waiting[page.page] = true;
      if (done++ % kHostsBetweenReports == 0) goes_on = progress(done, info.page_count);
      return goes_on;
    }));
    if (!goes_on) return cancelled();
  }
  return waiting;
}

Result<Table> hosts_table(const PageView& view, const PagesProgress& progress,
                          const HostsOptions& options) {
  CRAWLSTORE_TRY(auto states, read_states(view, progress, options));
  HostCounter hosts(view, options, std::move(states));
  const std::uint64_t count = view.info().page_count;
  std::uint64_t done = 0;
  std::optional<Error> problem;
  const auto read = view.for_each_key([&](Key16 key, std::uint64_t index) {
    if (done++ % kHostsBetweenReports == 0 && !progress(count + done, 2 * count)) {
      problem = cancelled().value();
      return false;
    }
    const auto added = hosts.add(key, index);
    if (!added) problem = added.error();
    return !problem;
  });
  if (!read) return tl::unexpected<Error>(read.error());
  if (problem) return tl::unexpected<Error>(*problem);
  return hosts.take();
}

Table named_hosts(Table hosts) {
  sort_by_page_count(hosts);
  move_behind_pages(hosts, "failed_count");
  move_behind_pages(hosts, "waiting_count");
  move_behind_pages(hosts, "unreadable_count");
  std::vector<std::string> forms;
  for (Row& row : hosts.rows) {
    auto& name = std::get<std::string>(row.front());
    forms.push_back(unicode_host(name));
    name = host_name(name);
  }
  const bool has_form =
      std::ranges::any_of(forms, [](const std::string& form) { return !form.empty(); });
  if (!has_form) return hosts;
  hosts.columns.insert(hosts.columns.begin() + 1, {"unicode_host", Unit::kText});
  for (std::size_t i = 0; i < forms.size(); ++i) {
    Row& row = hosts.rows[i];
    row.insert(row.begin() + 1, forms[i].empty() ? Cell() : Cell(std::move(forms[i])));
  }
  return hosts;
}

Result<PageList> pages_of_host(const PageView& view, std::string_view host,
                               const PagesProgress& progress) {
  auto pages = std::make_shared<std::vector<std::uint64_t>>();
  bool is_cancelled = false;
  const auto read = view.for_each_key_of(host, [&](Key16 /*key*/, std::uint64_t index) {
    pages->push_back(index);
    is_cancelled = pages->size() % kHostsBetweenReports == 0 && !progress(pages->size(), 0);
    return !is_cancelled;
  });
  if (!read) return tl::unexpected<Error>(read.error());
  if (is_cancelled) return cancelled();
  return PageList(std::move(pages));
}

}  // namespace crawlstore::model
