// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a link is kept when the row of its source or that of its target can be read; so both
// directions have the same links. Those of forgotten pages go.
#include <algorithm>
#include <map>
#include <utility>

#include <crawlstore/tools/page_gaps.h>

#include "base/seeded_hash.h"
#include "links/link_view.h"
#include "links/plain_run.h"
#include "rescue/lost_pages.h"
#include "rescue/page_database.h"

namespace crawlstore::rescue {
namespace {

using pages::is_damage;
using LinkPairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// One direction: the rows that can be read, and the pages whose row cannot.
struct Direction {
  bool incoming = false;
  std::vector<bool> is_lost;     // by page
  LinkPairs found{};             // rows of lost pages, by the other direction; sorted
  std::uint64_t link_count = 0;  // in rows that can be read
  std::uint64_t link_sum = 0;    // of hashes of these links

  [[nodiscard]] bool lacks_rows() const {
    return std::ranges::find(is_lost, true) != is_lost.end();
  }
  void lose_all() { is_lost.assign(is_lost.size(), true); }
};

class LinksRepair {
 public:
  explicit LinksRepair(PageDatabase& database) : database_(database) {}

  Result<void> repair() {
    const bool has_damage = database_.is_damaged(table().out_links) ||
                            database_.is_damaged(table().in_links) ||
                            database_.is_damaged(table().gone_links);
    const bool needs_repair = has_damage || database_.is_any_forgotten || database_.is_doubtful();
    if (!table().out_links || !needs_repair) return {};
    Direction out{false, std::vector<bool>(table().page_count)};
    Direction in{true, std::vector<bool>(table().page_count)};
    for (Direction* direction : {&out, &in}) CRAWLSTORE_TRY(survey_rows(*direction));
    if (database_.is_doubtful()) {
      CRAWLSTORE_TRY(settle(out, in));
    } else {
      CRAWLSTORE_TRY(gather(in, out));
      CRAWLSTORE_TRY(gather(out, in));
    }
    tell_lost_links(out, in);
    std::uint64_t link_count = 0;
    CRAWLSTORE_TRY(write_rows(out, table().out_links, link_count));
    table().link_count = link_count;
    CRAWLSTORE_TRY(write_rows(in, table().in_links, link_count));
    if (table().gone_links) clear_log(table().gone_links);
    if (table().link_count != 0) return {};
    for (SegmentId* log : {&table().out_links, &table().in_links, &table().gone_links}) {
      if (*log) database_.writer.remove(*log);
      *log = {};
    }
    return {};
  }

 private:
  /// A view of one direction alone, so that the other may be damaged.
  Result<links::LinkView> open_direction(bool incoming) {
    const links::LinkSegments segments{table().out_links, table().in_links, table().gone_links};
    std::map<SegmentId, format::SegmentEntry> emptied;
    const auto find = [&](SegmentId id) -> const format::SegmentEntry* {
      const auto* entry = database_.reader().directory().find(id);
      const bool is_of_out = id == table().out_links;
      if (entry == nullptr || is_of_out != incoming) return entry;
      auto& empty = emptied[id] = *entry;
      empty.runs.clear();
      return &empty;
    };
    CRAWLSTORE_TRY(auto opened, links::LinkView::open(
                                    find,
                                    [this](SegmentId id, const format::RunRef& run) {
                                      return database_.reader().run_reader(id, run);
                                    },
                                    segments));
    CRAWLSTORE_TRY(opened.check_pages(table().page_count));
    return opened;
  }

  /// Visits the rows of a direction that can be read; marks the pages of the others.
  template <class Visit>
  Result<void> for_each_row(Direction& direction, const Visit& visit) {
    auto opened = open_direction(direction.incoming);
    if (!opened) {
      if (!is_damage(opened.error())) return tl::unexpected<Error>(opened.error());
      direction.is_lost.assign(table().page_count, true);
      return {};
    }
    database_.inside().links.emplace(std::move(*opened));
    database_.inside().gaps = std::make_unique<pages::GapNotes>();
    LinkStreamOptions options;
    options.incoming = direction.incoming;
    CRAWLSTORE_TRY(auto rows, database_.view.links(options));
    while (true) {
      CRAWLSTORE_TRY(const bool more, rows.next());
      if (!more) break;
      CRAWLSTORE_TRY(database_.look());
      CRAWLSTORE_TRY(visit(rows.page(), rows.links()));
    }
    for (const auto& gap : database_.inside().gaps->gaps()) {
      for (std::uint64_t page = gap.first_page; page < gap.end_page; ++page) {
        direction.is_lost[page] = true;
      }
    }
    return {};
  }

  Result<void> survey_rows(Direction& direction) {
    return for_each_row(direction, [&](std::uint64_t page, auto links) -> Result<void> {
      direction.link_count += links.size();
      for (const std::uint64_t link : links) {
        const std::uint64_t source = direction.incoming ? link : page;
        const std::uint64_t target = direction.incoming ? page : link;
        direction.link_sum += hash_(hash_(source) + target);
      }
      return {};
    });
  }

  /// Makes both directions say the same where they may be of different times: what the table
  /// counts is right, or else the links of the sources.
  Result<void> settle(Direction& out, Direction& in) {
    const bool is_whole = !out.lacks_rows() && !in.lacks_rows();
    const bool agrees = is_whole && out.link_count == in.link_count && out.link_sum == in.link_sum;
    const std::uint64_t counted = table().link_count;
    if (agrees && out.link_count == counted) return {};
    if (!out.lacks_rows() && out.link_count == counted) {
      in.lose_all();
    } else if (!in.lacks_rows() && in.link_count == counted) {
      out.lose_all();
    } else {
      tell_doubt();
      CRAWLSTORE_TRY(gather(in, out));
      in.lose_all();
    }
    CRAWLSTORE_TRY(gather(in, out));
    CRAWLSTORE_TRY(gather(out, in));
    return {};
  }

  void tell_doubt() {
    database_.patient.lose({LostPart::kLinks,
                            database_.state.name,
                            0,
                            table().page_count,
                            0,
                            {Errc::kDirectoryDamaged, 0, table().out_links, Error::kNoOffset,
                             "the directory that named their runs is damaged, and runs are lost"}});
  }

  /// Finds the lost rows of `to` among the rows of `from`.
  Result<void> gather(Direction& from, Direction& to) {
    if (!to.lacks_rows()) return {};
    // Links of the rows of `from` that were found in turn.
    for (const auto& [page, link] : from.found) {
      if (to.is_lost[link]) to.found.emplace_back(link, page);
    }
    const auto gathered = for_each_row(from, [&](std::uint64_t page, auto links) -> Result<void> {
      if (from.is_lost[page]) return {};
      for (const std::uint64_t link : links) {
        if (to.is_lost[link]) to.found.emplace_back(link, page);
      }
      return {};
    });
    if (!gathered) return gathered;
    std::ranges::sort(to.found);
    return {};
  }

  void tell_lost_links(const Direction& out, const Direction& in) {
    // A link is lost when the row of its source and that of its target are: nobody knows how many.
    if (!in.lacks_rows() || !out.lacks_rows()) return;
    LostPages gaps;
    for (std::uint64_t page = 0; page < table().page_count; ++page) {
      if (!out.is_lost[page]) continue;
      gaps.add(page, {Errc::kChunkDamaged, 0, table().out_links, Error::kNoOffset,
                      "the rows of both directions are damaged"});
    }
    gaps.tell(database_.patient, LostPart::kLinks, database_.state.name);
  }

  /// Writes all rows of a direction as one run: those that can be read, and those that were found.
  Result<void> write_rows(Direction& direction, SegmentId segment, std::uint64_t& link_count) {
    const std::uint64_t bytes_max = links::link_run_bytes_max(
        table().page_count,
        std::max(table().link_count, direction.link_count) + direction.found.size(),
        table().page_count);
    CRAWLSTORE_TRY(auto run,
                   links::LinksWriter::start(
                       database_.writer, container::new_run(database_.writer, segment), bytes_max));
    link_count = 0;
    auto found = direction.found.begin();
    std::vector<std::uint64_t> row;
    const auto append = [&](std::uint64_t page, auto&& links) -> Result<void> {
      row.clear();
      if (!database_.forgotten[page]) {
        for (const std::uint64_t link : links) {
          if (!database_.forgotten[link]) row.push_back(link);
        }
      }
      if (row.empty()) return {};
      link_count += row.size();
      return run.append(page, row);
    };
    std::vector<std::uint64_t> gathered;
    const auto append_found_below = [&](std::uint64_t end) -> Result<void> {
      while (found != direction.found.end() && found->first < end) {
        const std::uint64_t page = found->first;
        gathered.clear();
        for (; found != direction.found.end() && found->first == page; ++found) {
          gathered.push_back(found->second);
        }
        CRAWLSTORE_TRY(append(page, gathered));
      }
      return {};
    };
    const auto written = for_each_row(direction, [&](std::uint64_t page, auto links) {
      if (direction.is_lost[page]) return Result<void>{};
      auto below = append_found_below(page);
      return below ? append(page, links) : below;
    });
    if (!written) return written;
    CRAWLSTORE_TRY(append_found_below(table().page_count));
    CRAWLSTORE_TRY(const auto ref, run.finish());
    auto entry = *database_.writer.find(segment);
    entry.runs.clear();
    if (ref) entry.runs.push_back(*ref);
    if (ref) run.give_back();
    database_.writer.put(std::move(entry));
    return {};
  }

  void clear_log(SegmentId segment) {
    auto entry = *database_.writer.find(segment);
    entry.runs.clear();
    database_.writer.put(std::move(entry));
  }

  [[nodiscard]] format::PagesTable& table() { return database_.table; }

  PageDatabase& database_;
  const SeededHash hash_;
};

}  // namespace

Result<void> repair_links(PageDatabase& database) {
  return LinksRepair(database).repair();
}

}  // namespace crawlstore::rescue
