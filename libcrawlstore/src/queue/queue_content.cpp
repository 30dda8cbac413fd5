// SPDX-License-Identifier: Apache-2.0
#include "queue/queue_content.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "container/blocked_run.h"
#include "format/queue_table.h"
#include "queue/file_runs.h"

namespace crawlstore::queue {

using container::PayloadWindow;

Result<container::RunContentPtr> check_queue_run(const container::PayloadSource& payload,
                                                 const container::ContentProgress& progress) {
  CRAWLSTORE_TRY(const auto footer, container::read_footer(payload, format::parse_queue_footer));
  const std::uint64_t index_bytes = footer.fragment_count * sizeof(format::QueueFragment);
  const Extent index_place{payload.length_bytes - sizeof footer - index_bytes, index_bytes};
  CRAWLSTORE_TRY(
      const std::byte* const index_at,
      PayloadWindow(payload, index_place, progress).at(index_place.offset_bytes, index_bytes));
  CRAWLSTORE_TRY(const auto index,
                 format::parse_queue_index({index_at, index_bytes}, footer, payload.length_bytes));
  CRAWLSTORE_TRY(progress(sizeof footer + index_bytes));

  PayloadWindow window(payload, {0, index_place.offset_bytes}, progress);
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < index.fragments.size(); ++i) {
    const std::uint64_t begin = index.offsets[i];
    const std::uint64_t length = index.offsets[i + 1] - begin;
    CRAWLSTORE_TRY(const std::byte* const at, window.at(begin, length));
    entries.resize(index.fragments[i].entry_count);
    CRAWLSTORE_TRY(format::decode_queue_fragment(index, i, {at, length}, entries));
    CRAWLSTORE_TRY(format::check_queue_fragment(index, i, entries));
    CRAWLSTORE_TRY(progress(length));
  }
  const std::uint64_t end = index.offsets.back();
  const std::uint64_t padding = index_place.offset_bytes - end;
  CRAWLSTORE_TRY(const std::byte* const at, window.at(end, padding));
  CRAWLSTORE_TRY(format::check_queue_padding(index, {at, padding}));
  return std::make_unique<const container::RunContent>(index.entry_count);
}

Result<bool> verify_queue(container::SegmentVerifier& segments, const format::SegmentEntry& entry) {
  CRAWLSTORE_TRY(const auto payload, segments.read_table(entry, format::kQueueTableBytesMax,
                                                         "a queue table is too long"));
  if (!payload) return false;
  CRAWLSTORE_TRY(segments.verification().advance(payload->size()));
  const auto found = read_segments(segments.directory(), entry, *payload);
  if (!found) {
    segments.broken(entry.id, entry.runs.front().offset_bytes, found.error().text);
    return false;
  }
  if (found->entries == nullptr) return true;
  segments.name(SegmentKind::kQueue, found->entries->id);
  for (const format::RunRef& run : found->entries->runs) {
    CRAWLSTORE_TRY(const auto* const content, segments.content_of(*found->entries, run));
    if (content == nullptr) return true;
  }
  RunSink sink;  // it takes no runs
  container::Verification& verification = segments.verification();
  const auto state = open_runs(*found, [&](const format::RunRef& run) {
    return std::make_shared<const container::Run>(std::make_shared<container::RunReader>(
        std::shared_ptr<Storage>(std::shared_ptr<void>(), &verification.storage),
        container::run_name(verification.identity, found->entries->id, run.run_id), run));
  });
  const Result<void> checked =
      state ? PageQueue(sink, *state).check() : tl::unexpected<Error>(state.error());
  if (checked) return true;
  if (checked.error().code != Errc::kSegmentInvalid || checked.error().segment) {
    CRAWLSTORE_TRY(segments.failed(checked.error()));
  } else {
    segments.broken(entry.id, entry.runs.front().offset_bytes, checked.error().text);
  }
  return true;
}

}  // namespace crawlstore::queue
