// SPDX-License-Identifier: Apache-2.0
#include "queue_table.h"

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"
#include "pages_table.h"

namespace crawlstore::format {

namespace {

/// nullptr, or the text that names the broken rule.
const char* check_run(const QueueRunState& run, RunId before) {
  if (run.run <= before) return "the runs of a queue table do not ascend";
  if (run.cut == QueueEntry{}) return nullptr;
  if (!is_queue_order(run.cut.order) || run.cut.order == kQueueGone || run.cut.page > kPageMax) {
    return "a cut of a queue table is no entry";
  }
  return nullptr;
}

}  // namespace

std::vector<std::byte> encode_queue_table(const QueueTable& table) {
  CRAWLSTORE_ASSERT(table.runs.size() + table.changes.size() <= kRunsPerLogMax);
  std::vector<std::byte> payload(sizeof(QueueTableHeader) +
                                 table.runs.size() * sizeof(QueueRunCut) +
                                 table.changes.size() * sizeof(std::uint64_t));
  std::byte* at = payload.data();
  store_struct(
      at, QueueTableHeader{.magic = kQueueTableMagic,
                           .entries = table.entries.value,
                           .entry_count = table.entry_count,
                           .page_count = table.page_count,
                           .run_count = static_cast<std::uint32_t>(table.runs.size()),
                           .change_run_count = static_cast<std::uint32_t>(table.changes.size())});
  at += sizeof(QueueTableHeader);
  for (const QueueRunState& run : table.runs) {
    store_struct(at, QueueRunCut{run.run.value, run.cut.order, run.cut.page});
    at += sizeof(QueueRunCut);
  }
  for (const RunId run : table.changes) {
    store(at, run.value);
    at += sizeof run.value;
  }
  return payload;
}

Result<QueueTable> parse_queue_table(std::span<const std::byte> payload) {
  if (payload.size() < sizeof(QueueTableHeader) || payload.size() > kQueueTableBytesMax) {
    return invalid("the length of a queue table is out of range", 0);
  }
  const auto header = load_struct<QueueTableHeader>(payload.data());
  if (header.magic != kQueueTableMagic) {
    return invalid("the magic number of a queue table is wrong", 0);
  }
  const std::uint64_t changes_at = sizeof header + header.run_count * sizeof(QueueRunCut);
  if (payload.size() != changes_at + header.change_run_count * sizeof(std::uint64_t)) {
    return invalid("the runs of a queue table do not fit its length", 0);
  }
  const std::uint64_t run_count = std::uint64_t{header.run_count} + header.change_run_count;
  if (run_count > kRunsPerLogMax) return invalid("a queue table has too many runs", 0);
  if ((header.entries != 0) != (run_count != 0) ||
      (header.run_count == 0 && header.entry_count != 0)) {
    return invalid("a queue table has entries without runs, or runs without a log", 0);
  }
  if (header.page_count > header.entry_count) {
    return invalid("a queue table has more pages than entries", 0);
  }
  QueueTable table{{header.entries}, header.entry_count, header.page_count, {}, {}};
  table.runs.reserve(header.run_count);
  RunId before;
  for (std::size_t at = sizeof header; at < changes_at; at += sizeof(QueueRunCut)) {
    const auto cut = load_struct<QueueRunCut>(payload.data() + at);
    const QueueRunState run{{cut.run_id}, {cut.cut_order, cut.cut_page}};
    if (const char* broken = check_run(run, before)) return invalid(broken, at);
    table.runs.push_back(run);
    before = run.run;
  }
  before = {};
  for (std::size_t at = changes_at; at < payload.size(); at += sizeof(std::uint64_t)) {
    const RunId run{load<std::uint64_t>(payload.data() + at)};
    if (run <= before) return invalid("the runs of changes of a queue table do not ascend", at);
    table.changes.push_back(run);
    before = run;
  }
  return table;
}

}  // namespace crawlstore::format
