// SPDX-License-Identifier: Apache-2.0
#include "model/host_rows.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include <crawlstore/page_key.h>

namespace crawlstore::model {
namespace {

constexpr std::uint64_t kProgressEvery = 4096;

tl::unexpected<Error> cancelled() {
  return fail(Errc::kCancelled, "it was cancelled");
}

/// The states of all pages, 2 bits each.
class StateMap {
 public:
  explicit StateMap(std::uint64_t count) : bits_(count / 4 + 1) {}
  void set(std::uint64_t index, PageState state) {
    if (index / 4 >= bits_.size()) return;
    const auto value = static_cast<unsigned>(state) & 3U;
    bits_[index / 4] = static_cast<std::uint8_t>(bits_[index / 4] | value << (index % 4 * 2));
  }
  [[nodiscard]] PageState at(std::uint64_t index) const {
    if (index / 4 >= bits_.size()) return PageState::kKnown;
    return static_cast<PageState>(static_cast<unsigned>(bits_[index / 4]) >> (index % 4 * 2) & 3U);
  }

 private:
  std::vector<std::uint8_t> bits_;
};

Result<StateMap> read_states(const PageView& view, const PagesProgress& progress) {
  const std::uint64_t count = view.info().page_count;
  StateMap states(count);
  for (std::uint64_t index = 0; index < count; ++index) {
    if (index % kProgressEvery == 0 && !progress(index, 2 * count)) return cancelled();
    CRAWLSTORE_TRY(const auto state, view.state(index));
    states.set(index, state);
  }
  return states;
}

struct HostRun {
  std::uint64_t head = 0;
  std::uint64_t first_page = 0;
  std::uint64_t page_count = 0;
  std::array<std::uint64_t, 4> state_counts{};
};

Result<Row> row_of(const PageView& view, const HostRun& run) {
  CRAWLSTORE_TRY(const auto url, view.url(run.first_page));
  const auto count_of = [&](PageState state) {
    return run.state_counts[static_cast<std::size_t>(state)];
  };
  const std::uint64_t crawled = count_of(PageState::kCrawled);
  return Row{url_host(url),
             run.page_count,
             crawled,
             static_cast<double>(crawled) / static_cast<double>(run.page_count),
             count_of(PageState::kGone),
             count_of(PageState::kFailed),
             run.first_page};
}

}  // namespace

Result<Table> hosts_table(const PageView& view, const PagesProgress& progress) {
  Table table{"hosts",
              {{"host", Unit::kText},
               {"page_count", Unit::kCount},
               {"crawled_count", Unit::kCount},
               {"crawled_share", Unit::kShare},
               {"gone_count", Unit::kCount},
               {"failed_count", Unit::kCount},
               {"first_page", Unit::kId}},
              {}};
  CRAWLSTORE_TRY(const auto states, read_states(view, progress));
  const std::uint64_t count = view.info().page_count;
  std::uint64_t done = 0;
  std::optional<Error> problem;
  HostRun run;
  const auto finish = [&] {
    if (run.page_count == 0) return true;
    auto row = row_of(view, run);
    if (!row) {
      problem = row.error();
      return false;
    }
    table.rows.push_back(std::move(*row));
    return true;
  };
  const auto read = view.for_each_key([&](Key16 key, std::uint64_t index) {
    if (done++ % kProgressEvery == 0 && !progress(count + done, 2 * count)) {
      problem = cancelled().value();
      return false;
    }
    if (run.page_count == 0 || key.head != run.head) {
      if (!finish()) return false;
      run = {key.head, index, 0, {}};
    }
    ++run.page_count;
    ++run.state_counts[static_cast<std::size_t>(states.at(index))];
    return true;
  });
  if (!read) return tl::unexpected<Error>(read.error());
  if (!problem) finish();
  if (problem) return tl::unexpected<Error>(*problem);
  return table;
}

Result<PageList> pages_of_host(const PageView& view, std::string_view host,
                               const PagesProgress& progress) {
  auto pages = std::make_shared<std::vector<std::uint64_t>>();
  bool is_cancelled = false;
  const auto read = view.for_each_page_of(host, [&](const PageInfo& page) {
    pages->push_back(page.index);
    is_cancelled = pages->size() % kProgressEvery == 0 && !progress(pages->size(), 0);
    return !is_cancelled;
  });
  if (!read) return tl::unexpected<Error>(read.error());
  if (is_cancelled) return cancelled();
  return PageList(std::move(pages));
}

}  // namespace crawlstore::model
