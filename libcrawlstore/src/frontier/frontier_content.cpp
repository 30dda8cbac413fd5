// SPDX-License-Identifier: Apache-2.0
#include "frontier/frontier_content.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "container/blocked_run.h"
#include "format/group_run.h"
#include "format/item_run.h"
#include "format/step_run.h"
#include "frontier/stored_frontier.h"

namespace crawlstore::frontier {

namespace {

struct ItemRunContent : container::RunContent {
  explicit ItemRunContent(std::uint64_t count) : RunContent(count) {}
  std::uint64_t highest_id = 0;
};

}  // namespace

using container::PayloadWindow;
using container::RunContent;
using container::RunContentPtr;

Result<RunContentPtr> check_group_run(std::span<const std::byte> payload) {
  CRAWLSTORE_TRY(const auto run, format::parse_group_run(payload));
  CRAWLSTORE_TRY(format::check_group_blocks(run));
  return std::make_unique<const RunContent>(run.lengths.size());
}

Result<RunContentPtr> check_step_run(std::span<const std::byte> payload) {
  CRAWLSTORE_TRY(auto reader, format::StepReader::open(payload));
  for (format::Step step;;) {
    CRAWLSTORE_TRY(const bool is_there, reader.next(step));
    if (!is_there) break;
  }
  return std::make_unique<const RunContent>(reader.step_count());
}

Result<RunContentPtr> check_item_run(const container::PayloadSource& payload,
                                     const container::ContentProgress& progress) {
  const auto read = [&](Extent place) -> Result<std::vector<std::byte>> {
    PayloadWindow window(payload, place, progress);
    CRAWLSTORE_TRY(const std::byte* const at, window.at(place.offset_bytes, place.length_bytes));
    return std::vector<std::byte>(at, at + place.length_bytes);
  };
  CRAWLSTORE_TRY(const auto footer, container::read_footer(payload, format::parse_item_footer));
  const auto places = format::item_run_places(footer);
  CRAWLSTORE_TRY(const auto index_read, read({places.index, places.footer - places.index}));
  CRAWLSTORE_TRY(const auto index, format::parse_item_index(index_read, footer));
  CRAWLSTORE_TRY(const auto directory_read,
                 read({places.directory, places.padding - places.directory}));
  CRAWLSTORE_TRY(const auto directory, format::parse_item_directory(directory_read, footer));
  CRAWLSTORE_TRY(const auto padding, read({places.padding, places.index - places.padding}));
  CRAWLSTORE_TRY(format::check_item_padding(footer, padding));
  CRAWLSTORE_TRY(progress(payload.length_bytes - footer.block_bytes));

  PayloadWindow window(payload, {0, footer.block_bytes}, progress);
  format::ItemBlock block;
  std::optional<format::Item> before;
  std::uint64_t body_bytes = 0;
  auto content = std::make_unique<ItemRunContent>(footer.item_count);
  for (std::size_t i = 0; i < index.block_count(); ++i) {
    const std::uint64_t begin = index.offsets[i];
    const std::uint64_t length = index.offsets[i + 1] - begin;
    CRAWLSTORE_TRY(const std::byte* const at, window.at(begin, length));
    CRAWLSTORE_TRY(format::read_item_block(index, directory, i, {at, length}, block));
    CRAWLSTORE_TRY(format::check_item_block(index.frame(i), {at, length}, block, before));
    before = block.items.back();
    for (const format::Item& item : block.items) {
      content->highest_id = std::max(content->highest_id, item.id);
    }
    body_bytes += block.header.body_bytes;
    CRAWLSTORE_TRY(progress(length));
  }
  CRAWLSTORE_TRY(format::check_item_body_bytes(footer, body_bytes));
  return RunContentPtr(std::move(content));
}

Result<bool> verify_frontier(container::SegmentVerifier& segments,
                             const format::SegmentEntry& entry) {
  CRAWLSTORE_TRY(const auto payload, segments.read_table(entry, format::kFrontierTableBytesMax,
                                                         "a frontier table is too long"));
  if (!payload) return false;
  container::Verification& verification = segments.verification();
  CRAWLSTORE_TRY(verification.advance(payload->size()));
  const auto found = read_segments(segments.directory(), entry, *payload);
  if (!found) {
    segments.broken(entry.id, entry.runs.front().offset_bytes, found.error().text);
    return false;
  }
  bool is_whole = true;
  for (const auto* const log : {found->groups, found->items, found->steps}) {
    if (log == nullptr) continue;
    segments.name(SegmentKind::kFrontier, log->id);
    for (const format::RunRef& run : log->runs) {
      CRAWLSTORE_TRY(const auto* const content, segments.content_of(*log, run));
      is_whole = is_whole && content != nullptr;
      if (content == nullptr || log != found->items) continue;
      if (static_cast<const ItemRunContent*>(content)->highest_id >= found->table.next_id) {
        segments.broken(log->id, run.offset_bytes, "an item of a run has an id that was never put");
        return false;
      }
    }
  }
  if (!is_whole) return true;
  std::vector<std::byte> bytes;
  const auto read = [&](const format::SegmentEntry& segment,
                        const format::RunRef& run) -> Result<std::span<const std::byte>> {
    CRAWLSTORE_TRY(container::read_run(
        verification.storage, container::run_name(verification.identity, segment.id, run.run_id),
        run, bytes));
    CRAWLSTORE_TRY(verification.advance(run.payload_bytes));
    return std::span<const std::byte>(bytes);
  };
  const auto open_items = [&](const format::SegmentEntry& segment, const format::RunRef& run) {
    return ItemRun::open(
        std::make_shared<const container::Run>(std::make_shared<container::RunReader>(
            std::shared_ptr<Storage>(std::shared_ptr<void>(), &verification.storage),
            container::run_name(verification.identity, segment.id, run.run_id), run)));
  };
  const auto state = read_state(*found, read, open_items);
  // Each run by itself keeps the rules: what this version does not know it cannot judge.
  if (state || state.error().code == Errc::kUnknownFeature) return true;
  CRAWLSTORE_TRY(segments.failed(state.error()));
  return true;
}

}  // namespace crawlstore::frontier
