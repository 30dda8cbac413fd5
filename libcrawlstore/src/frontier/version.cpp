// SPDX-License-Identifier: Apache-2.0
#include "frontier/version.h"

#include <algorithm>
#include <string>
#include <utility>

#include "container/choose_join.h"
#include "format/group_run.h"
#include "frontier/piece.h"

namespace crawlstore::frontier {
namespace {

using container::RunPtr;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
/// A journal ends when it has so many bytes, which are in memory.
constexpr std::uint64_t kJournalBytes = 8 * kMebibyte;
constexpr std::uint64_t kPieceBytes = 8 * kMebibyte;
constexpr std::uint64_t kPiecesMax = 100;
/// Journals that are kept. A log has at most 256 runs, pieces among them, and a commit may add
/// some.
constexpr std::size_t kJournalsMax = 64;
/// More may stay where they are too long to be joined in memory.
constexpr std::size_t kLongJournalsMax = 128;
constexpr std::uint64_t kJoinedBytesMax = 2 * kJournalBytes;
constexpr std::size_t kGroupRunsMax = 16;
/// Bytes in memory that have come out of runs by time.
constexpr std::uint64_t kDueBytesMax = 64 * kMebibyte;
/// Items that a commit joins: for each step, and one more for so many bytes of a checkpoint.
constexpr std::uint64_t kJoinedAStep = 8;
constexpr std::uint64_t kJoinShare = 1024;

/// The name that a run has in the file.
format::RunName name_of(container::Writer& writer, SegmentId segment, const RunPtr& run) {
  return container::run_name(writer.identity(), segment, run->ref().run_id);
}

}  // namespace

Result<Written> VersionWriter::write(const Version& before, StepLog& steps, State& state,
                                     const RewriteItem* rewrite, bool is_checkpoint) {
  Written written{before};
  Version& next = written.version;
  next.table.next_id = std::max(next.table.next_id, state.next_id());
  const bool is_long =
      next.journal_bytes + steps.bytes() > std::max(checkpoint_bytes_, next.piece_bytes) ||
      next.journals.size() >= kLongJournalsMax || state.later().due_bytes() > kDueBytesMax ||
      rewrite != nullptr || is_checkpoint;
  CRAWLSTORE_TRY(advance_join(checkpoint_bytes_ / kJoinShare + kJoinedAStep * steps.count(), next));
  if (is_long && state.groups().count() != 0) {
    next.table.step_count += steps.count();
    CRAWLSTORE_TRY(write_checkpoint(written, state, rewrite));
  } else {
    CRAWLSTORE_TRY(write_journals(next, steps));
    if (next.journals.size() > kJournalsMax) CRAWLSTORE_TRY(join_journals(next));
  }
  next.table.group_count = state.groups().count();
  next.table.waiting_count = state.waiting_count() - written.items.left_out.size();
  next.table.leased_count = state.leases().count();
  next.table.clock_ms = state.clock();
  return written;
}

Result<void> VersionWriter::write_journals(Version& next, StepLog& steps) {
  auto journal = format::StepWriter(format::journal_from(next.table.step_count + 1));
  const auto end_journal = [&]() -> Result<void> {
    const std::uint64_t count = journal.step_count();
    if (count == 0) return {};
    const auto payload = journal.finish();
    CRAWLSTORE_TRY(auto run,
                   write_run(next.table.steps, SegmentKind::kFrontierSteps, payload, count));
    next.journals.push_back(std::move(run));
    next.journal_bytes += payload.size();
    next.table.step_count += count;
    journal = format::StepWriter(format::journal_from(next.table.step_count + 1));
    return {};
  };
  CRAWLSTORE_TRY(steps.for_each([&](const format::Step& step) -> Result<void> {
    journal.append(step);
    return journal.payload_bytes() < kJournalBytes ? Result<void>() : end_journal();
  }));
  return end_journal();
}

Result<void> VersionWriter::join_journals(Version& next) {
  std::vector<std::uint64_t> sizes;
  for (const RunPtr& run : next.journals) sizes.push_back(run->ref().payload_bytes);
  std::size_t first = container::choose_join_to_few(sizes, kJournalsMax / 2);
  std::uint64_t bytes_max = 0;
  for (std::size_t i = first; i < sizes.size(); ++i) bytes_max += sizes[i];
  while (bytes_max > kJoinedBytesMax) bytes_max -= sizes[first++];
  if (first + 1 >= sizes.size()) return {};
  std::optional<format::StepWriter> joined;
  std::vector<std::byte> payload;
  for (std::size_t i = first; i < next.journals.size(); ++i) {
    const RunPtr& run = next.journals[i];
    CRAWLSTORE_TRY(container::read_run(writer_.storage(), name_of(writer_, next.table.steps, run),
                                       run->ref(), payload));
    CRAWLSTORE_TRY(auto reader, format::StepReader::open(payload));
    if (!joined) joined.emplace(reader.run());
    for (format::Step step;;) {
      CRAWLSTORE_TRY(const bool is_there, reader.next(step));
      if (!is_there) break;
      joined->append(step);
    }
    next.journal_bytes -= payload.size();
  }
  const std::uint64_t count = joined->step_count();
  const auto bytes = joined->finish();
  CRAWLSTORE_TRY(auto run, write_run(next.table.steps, SegmentKind::kFrontierSteps, bytes, count));
  next.journals.resize(first);
  next.journals.push_back(std::move(run));
  next.journal_bytes += bytes.size();
  return {};
}

/// The groups that are in journals only; or all, when there are many runs of them.
Result<void> VersionWriter::write_groups(Version& next, const State& state) {
  if (next.groups.size() >= kGroupRunsMax) {
    next.groups.clear();
    next.stored_group_count = 0;
  }
  const std::uint32_t count = state.groups().count();
  if (next.stored_group_count == count) return {};
  std::vector<std::uint16_t> lengths;
  std::vector<std::byte> keys;
  for (std::uint32_t group = next.stored_group_count; group < count; ++group) {
    const std::string_view key = state.groups().key(group);
    const auto bytes = std::as_bytes(std::span(key));
    lengths.push_back(static_cast<std::uint16_t>(key.size()));
    keys.insert(keys.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> payload;
  format::encode_group_run({next.stored_group_count, lengths, keys}, payload);
  CRAWLSTORE_TRY(auto run, write_run(next.table.groups, SegmentKind::kFrontierGroups, payload,
                                     lengths.size()));
  next.groups.push_back(std::move(run));
  next.stored_group_count = count;
  return {};
}

Result<void> VersionWriter::write_pieces(Written& written, const State& state) {
  Version& next = written.version;
  const std::uint64_t count = state.groups().count();
  const std::uint64_t piece_count = std::clamp<std::uint64_t>(
      (next.piece_bytes + next.journal_bytes) / kPieceBytes, 1, std::min(kPiecesMax, count));
  next.pieces.clear();
  next.table.pieces.clear();
  next.piece_bytes = 0;
  CRAWLSTORE_TRY(const auto gone, gone_later(written.items, state.clock()));
  const auto gone_below = [&gone](std::uint32_t group) {
    return std::ranges::lower_bound(gone, group, {}, &format::GoneStep::group);
  };
  for (std::uint64_t i = 0; i < piece_count; ++i) {
    const auto first_group = static_cast<std::uint32_t>(count * i / piece_count);
    const auto end_group = static_cast<std::uint32_t>(count * (i + 1) / piece_count);
    format::StepWriter piece(format::piece_of(first_group, end_group, next.table.step_count));
    const std::span gone_here(gone_below(first_group), gone_below(end_group));
    CRAWLSTORE_TRY(write_piece(state, {first_group, end_group, written.items, gone_here},
                               [&piece](const format::Step& step) { piece.append(step); }));
    const std::uint64_t step_count = piece.step_count();
    const auto payload = piece.finish();
    CRAWLSTORE_TRY(auto run,
                   write_run(next.table.steps, SegmentKind::kFrontierSteps, payload, step_count));
    next.table.pieces.push_back(run->ref().run_id);
    next.pieces.push_back(std::move(run));
    next.piece_bytes += payload.size();
  }
  next.journals.clear();
  next.journal_bytes = 0;
  return {};
}

/// The label of a run to be written, of a segment that is made if there is none.
format::RunLabel VersionWriter::new_run(SegmentId& segment, SegmentKind kind) {
  if (!segment) segment = writer_.new_segment_id();
  return {segment, kind, frontier_, writer_.new_run_ids(1)};
}

Result<RunPtr> VersionWriter::write_run(SegmentId& segment, SegmentKind kind,
                                        std::span<const std::byte> payload, std::uint64_t count) {
  const auto label = new_run(segment, kind);
  CRAWLSTORE_TRY(const auto run, container::write_run(writer_, label, payload, count));
  return writer_.runs->add(segment, run);
}

Result<void> VersionWriter::put(Written& written, std::string_view name) {
  const Version& version = written.version;
  const auto payload = format::encode_frontier_table(version.table);
  SegmentId own = frontier_;
  const format::RunLabel label{own, SegmentKind::kFrontier, {}, writer_.new_run_ids(1)};
  CRAWLSTORE_TRY(const auto run, container::write_run(writer_, label, payload, 1));
  written.table = writer_.runs->add(own, run);
  writer_.put({own, SegmentKind::kFrontier, StorageClass::kBlob, {}, std::string(name), {run}});
  if (written.gone) writer_.remove(written.gone);
  put_log(version.table.groups, SegmentKind::kFrontierGroups, version.groups);
  std::vector<RunPtr> items;
  for (const ItemRunPtr& item_run : version.items) items.push_back(item_run->run());
  put_log(version.table.items, SegmentKind::kFrontierItems, items);
  std::vector<RunPtr> steps = version.pieces;
  steps.insert(steps.end(), version.journals.begin(), version.journals.end());
  put_log(version.table.steps, SegmentKind::kFrontierSteps, steps);
  return {};
}

void VersionWriter::put_log(SegmentId segment, SegmentKind kind, const std::vector<RunPtr>& runs) {
  if (!segment) return;
  format::SegmentEntry log{segment, kind, StorageClass::kLog, frontier_, {}, {}};
  for (const RunPtr& run : runs) log.runs.push_back(run->ref());
  std::ranges::sort(log.runs, {}, &format::RunRef::run_id);
  writer_.put(std::move(log));
}

}  // namespace crawlstore::frontier
