// SPDX-License-Identifier: Apache-2.0
//
// Runs of origins joined into few.
#include "base/assert.h"
#include "container/choose_join.h"
#include "pages/origins_pieces.h"

namespace crawlstore::pages {
namespace {

/// Bytes that a joined run may take beyond those of its runs and an eighth more. If it needs more,
/// it is written once more with all the room that it may need.
constexpr std::uint64_t kJoinedBytesMore = std::uint64_t{1} << 20;
/// Runs of a log; those that were written together count as one.
constexpr std::size_t kGroupsMax = 32;
/// The format has room for twice as many.
constexpr std::size_t kRunsMax = 128;

/// Some runs of a log, from `first` on, that were written together.
struct RunGroup {
  std::size_t first = 0;
  std::uint64_t payload_bytes = 0;
};

/// Ids of other segments lie between those of runs that were not written together.
std::vector<RunGroup> groups_of(std::span<const format::RunRef> runs) {
  std::vector<RunGroup> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool goes_on = i != 0 && runs[i].run_id.value == runs[i - 1].run_id.value + 1;
    if (!goes_on) groups.push_back({i, 0});
    groups.back().payload_bytes += runs[i].payload_bytes;
  }
  return groups;
}

}  // namespace

std::size_t origin_group_count(std::span<const format::RunRef> runs) {
  return groups_of(runs).size();
}

std::size_t origin_runs_to_join(std::span<const format::RunRef> runs) {
  if (runs.size() >= kRunsMax) return runs.size();
  const auto groups = groups_of(runs);
  if (groups.size() < kGroupsMax) return 0;
  const std::size_t first = container::choose_join(
      0, groups.size(), [&](std::size_t i) { return groups[i].payload_bytes; },
      [](std::size_t) { return true; });
  return runs.size() - groups[first].first;
}

namespace {

/// `keeps`: blocks stay as they are, for both runs have one dictionary.
Result<void> append_all(OriginsCursor& from, OriginsPieces& to, bool keeps,
                        container::WorkSteps& steps) {
  while (!from.at_end()) {
    if (keeps && from.begins_block() && from.block().page_count() >= kKeptBlockPages) {
      CRAWLSTORE_TRY(steps.add(from.block().page_count()));
      CRAWLSTORE_TRY(to.append_block(from.block()));
      CRAWLSTORE_TRY(from.skip_block());
      continue;
    }
    CRAWLSTORE_TRY(steps.add(1));
    CRAWLSTORE_TRY(to.append(from.origin()));
    CRAWLSTORE_TRY(from.advance());
  }
  return from.finish();
}

Result<std::unique_ptr<OriginsCursor>> open_run(container::SegmentWriter& writer, SegmentId segment,
                                                const format::RunRef& run) {
  return OriginsCursor::open(writer.storage(),
                             container::run_name(writer.identity(), segment, run.run_id), run);
}

/// The last runs of a log, one footer each.
struct Joinable {
  const format::SegmentEntry& log;
  std::span<const format::RunRef> runs;
  std::vector<format::OriginFooter> footers;
  std::uint64_t log_url_bytes = 0;  // of all its runs
};

Result<std::vector<format::RunRef>> write_joined(container::SegmentWriter& writer,
                                                 const Joinable& from, const OriginsPlan& plan,
                                                 container::WorkSteps& steps) {
  const std::uint64_t piece_bytes = origin_piece_bytes(from.log_url_bytes);
  const RunId first_run = writer.new_run_ids(origin_pieces_max(plan, piece_bytes));
  OriginsPieces joined(writer, label_of(from.log, first_run), plan, piece_bytes);
  for (std::size_t i = 0; i < from.runs.size(); ++i) {
    CRAWLSTORE_TRY(const auto cursor, open_run(writer, from.log.id, from.runs[i]));
    if (cursor->footer() != from.footers[i]) {
      return fail(Errc::kSegmentInvalid, "the footer of an origin run has changed",
                  from.runs[i].offset_bytes, from.log.id);
    }
    const bool keeps =
        plan.source == DictionarySource::kGiven && cursor->dictionary() == plan.dictionary;
    CRAWLSTORE_TRY(append_all(*cursor, joined, keeps, steps));
  }
  auto runs = joined.finish();
  if (runs) joined.give_back();
  return runs;
}

Result<void> join(container::SegmentWriter& writer, format::SegmentEntry& log, std::size_t count,
                  bool keeps_blocks, container::WorkSteps& steps) {
  // All are opened twice, one at a time: each takes a buffer of a megabyte.
  CRAWLSTORE_TRY(const auto log_url_bytes, origin_url_bytes(writer, log));
  Joinable from = {log, std::span<const format::RunRef>(log.runs).last(count), {}, log_url_bytes};
  OriginsPlan plan;
  plan.is_thorough = true;
  plan.reserve_bytes = kJoinedBytesMore;
  std::uint64_t largest_bytes = 0;
  std::vector<std::byte> first_dictionary;
  for (const auto& run : from.runs) {
    CRAWLSTORE_TRY(const auto cursor, open_run(writer, log.id, run));
    const auto& footer = from.footers.emplace_back(cursor->footer());
    plan.first_page = from.footers.front().first_page;
    if (footer.first_page != plan.first_page + plan.page_count) {
      return fail(Errc::kSegmentInvalid,
                  "an origin run does not begin where the one before it ends", run.offset_bytes,
                  log.id);
    }
    plan.page_count += footer.page_count;
    plan.url_bytes += footer.url_bytes;
    plan.reserve_bytes += run.payload_bytes + run.payload_bytes / 8;
    if (from.footers.size() == 1) first_dictionary = cursor->dictionary();
    if (footer.url_bytes > largest_bytes) {
      largest_bytes = footer.url_bytes;
      plan.dictionary = cursor->dictionary();
    }
  }
  // Several runs: see origins_run.h, which pages a dictionary may be of.
  if (plan.url_bytes > origin_piece_bytes(log_url_bytes)) plan.dictionary = first_dictionary;
  // Without a dictionary it was short, and all together may pay for one.
  if (keeps_blocks && !plan.dictionary.empty()) plan.source = DictionarySource::kGiven;
  auto runs = write_joined(writer, from, plan, steps);
  if (!runs && runs.error().code == Errc::kTooLarge) {  // together they compress worse
    plan.reserve_bytes = ~std::uint64_t{0};
    runs = write_joined(writer, from, plan, steps);
  }
  if (!runs) return tl::unexpected<Error>(runs.error());
  log.runs.erase(log.runs.end() - static_cast<std::ptrdiff_t>(count), log.runs.end());
  log.runs.insert(log.runs.end(), runs->begin(), runs->end());
  return {};
}

}  // namespace

Result<void> join_origin_runs(container::SegmentWriter& writer, format::SegmentEntry& log,
                              std::size_t count, container::WorkSteps& steps) {
  CRAWLSTORE_ASSERT(count >= 2 && count <= log.runs.size());
  return join(writer, log, count, true, steps);
}

Result<void> compress_origins_anew(container::SegmentWriter& writer, format::SegmentEntry& log,
                                   container::WorkSteps& steps) {
  CRAWLSTORE_ASSERT(!log.runs.empty());
  return join(writer, log, log.runs.size(), false, steps);
}

}  // namespace crawlstore::pages
