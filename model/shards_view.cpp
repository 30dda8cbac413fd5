// SPDX-License-Identifier: Apache-2.0
#include "model/shards_view.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "model/format_text.h"

namespace crawlstore::model {
namespace {

std::uint64_t own_page_count(const ShardRow& row) {
  return row.pages.page_count - row.pages.elsewhere_count;
}

/// Numbers of shards as a list: "1, 4 and 7 more".
std::string listed(const std::vector<std::uint32_t>& shards) {
  constexpr std::size_t kShownMax = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(shards.size(), kShownMax); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", shards[i]);
  }
  if (shards.size() > kShownMax) text += fmt::format(" and {} more", shards.size() - kShownMax);
  return text;
}

}  // namespace

Result<ShardRow> shard_row(const std::string& path, const Snapshot& snapshot,
                           std::string_view database) {
  ShardRow row;
  row.path = path;
  row.key_seed = snapshot.key_seed();
  CRAWLSTORE_TRY(row.state, read_exchange(snapshot, database));
  const auto names = PageView::names(snapshot);
  const bool is_there = std::ranges::find(names, database) != names.end();
  if (!is_there && !names.empty()) {
    return fail(Errc::kUnknownName, "there is no page database of that name");
  }
  if (is_there) {
    CRAWLSTORE_TRY(const auto view, PageView::open(snapshot, database));
    row.pages = view.info();
  }
  return row;
}

std::string shards_problem(std::span<const ShardRow> rows) {
  if (rows.empty()) return {};
  const ShardRow& first = rows.front();
  const std::uint32_t count = first.state.shard.count;
  std::vector<const ShardRow*> by_shard(count);
  for (const ShardRow& row : rows) {
    const std::string path = format_printable(row.path);
    if (row.state.shard.count != count) {
      return fmt::format("{}: of {} shards, but {} is of {}", path, row.state.shard.count,
                         format_printable(first.path), count);
    }
    if (row.key_seed != first.key_seed) {
      return fmt::format("{}: another key seed than {}: not of the same crawl", path,
                         format_printable(first.path));
    }
    const ShardRow*& place = by_shard[row.state.shard.index];
    if (place != nullptr) {
      return fmt::format("{}: shard {} is {} already", path, row.state.shard.index,
                         format_printable(place->path));
    }
    place = &row;
  }
  std::vector<std::uint32_t> absent;
  for (std::uint32_t shard = 0; shard < count; ++shard) {
    if (by_shard[shard] == nullptr) absent.push_back(shard);
  }
  if (!absent.empty()) {
    return fmt::format("{} of {} shards missing: {}", absent.size(), count, listed(absent));
  }
  const auto [least, most] =
      std::ranges::minmax(rows, {}, [](const ShardRow& row) { return row.state.step; });
  if (most.state.step > least.state.step + kStepsKept) {
    return fmt::format("{}: in step {}, but {} is in step {}: outboxes are kept for {} steps",
                       format_printable(least.path), least.state.step, format_printable(most.path),
                       most.state.step, kStepsKept);
  }
  if (most.state.step > least.state.step + 1) {
    return fmt::format(
        "{}: in step {}, but {} is in step {}; the others send what they sent since: "
        "`crawlstore shards send FILE --step {}`, and so on",
        format_printable(least.path), least.state.step, format_printable(most.path),
        most.state.step, least.state.step);
  }
  for (const ShardRow& row : rows) {
    if (row.state.step == most.state.step || row.state.is_sent) continue;
    return fmt::format(
        "{}: in step {}, of which others had its outbox: it is an older copy; they send what they "
        "sent in it: `crawlstore shards send FILE --step {}`",
        format_printable(row.path), row.state.step, row.state.step);
  }
  return {};
}

Document shards_view(std::span<const ShardRow> rows) {
  std::uint64_t page_count = 0;
  std::uint64_t crawled_count = 0;
  std::uint64_t link_count = 0;
  Table table{"shards",
              {{"path", Unit::kText},
               {"shard", Unit::kText},
               {"step", Unit::kId},
               {"has_ended", Unit::kFlag},
               {"is_sent", Unit::kFlag},
               {"missing_count", Unit::kCount},
               {"page_count", Unit::kCount},
               {"elsewhere_count", Unit::kCount},
               {"crawled_count", Unit::kCount},
               {"link_count", Unit::kCount},
               {"edit_count", Unit::kCount}},
              {}};
  for (const ShardRow& row : rows) {
    page_count += own_page_count(row);
    crawled_count += row.pages.crawled_count;
    link_count += row.pages.link_count;
    table.rows.push_back({row.path, to_text(row.state.shard), row.state.step, row.state.has_ended,
                          row.state.is_sent, std::uint64_t{row.state.missing.size()},
                          own_page_count(row), row.pages.elsewhere_count, row.pages.crawled_count,
                          row.pages.link_count, row.pages.event_count});
  }
  return {{{"page_count", Unit::kCount, page_count},
           {"crawled_count", Unit::kCount, crawled_count},
           {"link_count", Unit::kCount, link_count}},
          {std::move(table)}};
}

}  // namespace crawlstore::model
