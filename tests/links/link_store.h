// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A store with one `pages` segment and its three segments of links, and the words in which the
/// tests of links/ speak of it.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "container/container_store.h"
#include "format/link_samples.h"
#include "links/link_log.h"
#include "links/link_view.h"
#include "links/plain_run.h"

namespace crawlstore::testing {

/// A segment of pages, whose payload nobody looks at here, and empty logs of links.
inline links::LinkSegments add_link_segments(container::Writer& writer) {
  const SegmentId pages = writer.new_segment_id();
  const auto run = must(container::write_run(
      writer, {pages, SegmentKind::kPages, {}, writer.new_run_ids(1)}, filled(64, 0), 1));
  writer.put({pages, SegmentKind::kPages, StorageClass::kBlob, {}, "pages", {run}});
  const auto add = [&](SegmentKind kind) {
    const SegmentId id = writer.new_segment_id();
    writer.put({id, kind, StorageClass::kLog, pages, "", {}});
    return id;
  };
  return {add(SegmentKind::kOutLinks), add(SegmentKind::kInLinks), add(SegmentKind::kGoneLinks)};
}

/// The bytes that `rows` need at most.
inline std::uint64_t bytes_max(const Rows& rows) {
  std::uint64_t links = 0;
  std::uint64_t highest = 0;
  for (const auto& [page, row] : rows) {
    links += row.size();
    highest = std::max({highest, page, row.empty() ? 0 : row.back()});
  }
  return links::link_run_bytes_max(rows.size(), links, highest);
}

/// Writes the rows as a run; nothing for none.
inline Result<std::optional<format::RunRef>> write_rows(container::Writer& writer,
                                                        SegmentId segment, const Rows& rows) {
  auto run =
      links::LinksWriter::start(writer, container::new_run(writer, segment), bytes_max(rows));
  if (!run) return tl::unexpected<Error>(run.error());
  for (const auto& [page, row] : rows) CRAWLSTORE_TRY(run->append(page, row));
  auto written = run->finish();
  if (written && *written) run->give_back();
  return written;
}

/// Appends the rows as a run to a log.
inline void append_rows(container::Writer& writer, SegmentId segment, const Rows& rows) {
  const auto run = must(write_rows(writer, segment, rows));
  if (run) links::append_run(writer, segment, *run);
}

/// Through its own storage, as a program that opens the file anew.
inline std::shared_ptr<const container::RunReader> run_reader(container::Writer& writer,
                                                              SegmentId segment,
                                                              const format::RunRef& run) {
  const std::shared_ptr<Storage> storage(std::shared_ptr<void>(), &writer.storage());
  return std::make_shared<const container::RunReader>(
      storage, container::run_name(writer.identity(), segment, run.run_id), run);
}

/// All rows of a stream that have links.
inline Rows rows_of(Result<links::CombinedRows> opened) {
  auto stream = must(std::move(opened));
  Rows rows;
  while (must(stream.next())) {
    if (stream.links().empty()) continue;
    EXPECT_TRUE(rows.empty() || rows.rbegin()->first < stream.page());
    rows[stream.page()] = {stream.links().begin(), stream.links().end()};
  }
  return rows;
}

inline Rows rows_of(Result<links::LinksCursor> opened) {
  auto cursor = must(std::move(opened));
  Rows rows;
  for (; !cursor.at_end(); must(cursor.advance())) {
    rows[cursor.page()] = {cursor.links().begin(), cursor.links().end()};
  }
  return rows;
}

}  // namespace crawlstore::testing
