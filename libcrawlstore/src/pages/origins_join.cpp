// SPDX-License-Identifier: Apache-2.0
//
// Runs of origins joined into one.
#include "base/assert.h"
#include "pages/origins_run.h"

namespace crawlstore::pages {
namespace {

/// What a joined run may take beside the runs and an eighth, before it is tried with all it may
/// need.
constexpr std::uint64_t kJoinedBytesMore = std::uint64_t{1} << 20;
constexpr std::size_t kRunsMax = 32;

}  // namespace

std::size_t origin_runs_to_join(std::span<const format::RunRef> runs) {
  if (runs.size() < kRunsMax) return 0;
  std::size_t count = 1;
  std::uint64_t joined_bytes = runs.back().payload_bytes;
  while (count < runs.size()) {
    const std::uint64_t older_bytes = runs[runs.size() - count - 1].payload_bytes;
    if (count > 1 && older_bytes > joined_bytes) break;
    joined_bytes += older_bytes;
    ++count;
  }
  return count;
}

namespace {

/// `keeps`: blocks stay as they are, for both runs have one dictionary.
Result<void> append_all(OriginsCursor& from, OriginsWriter& to, bool keeps,
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
  SegmentId segment;
  std::span<const format::RunRef> runs;
  std::vector<format::OriginFooter> footers;
};

Result<format::RunRef> write_joined(container::SegmentWriter& writer, const Joinable& from,
                                    const OriginsPlan& plan, container::WorkSteps& steps) {
  CRAWLSTORE_TRY(auto joined,
                 OriginsWriter::start(writer, from.segment, writer.new_run_ids(1), plan));
  for (std::size_t i = 0; i < from.runs.size(); ++i) {
    CRAWLSTORE_TRY(const auto cursor, open_run(writer, from.segment, from.runs[i]));
    if (cursor->footer() != from.footers[i]) {
      return fail(Errc::kSegmentInvalid, "the footer of an origin run has changed",
                  from.runs[i].offset_bytes, from.segment);
    }
    const bool keeps =
        plan.source == DictionarySource::kGiven && cursor->dictionary() == plan.dictionary;
    CRAWLSTORE_TRY(append_all(*cursor, joined, keeps, steps));
  }
  auto run = joined.finish();
  if (run) joined.give_back();
  return run;
}

Result<void> join(container::SegmentWriter& writer, format::SegmentEntry& log, std::size_t count,
                  bool keeps_blocks, container::WorkSteps& steps) {
  // All are opened twice, one at a time: each takes a buffer of a megabyte.
  Joinable from = {log.id, std::span<const format::RunRef>(log.runs).last(count), {}};
  OriginsPlan plan;
  plan.is_thorough = true;
  plan.reserve_bytes = kJoinedBytesMore;
  std::uint64_t largest_bytes = 0;
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
    if (footer.url_bytes > largest_bytes) {
      largest_bytes = footer.url_bytes;
      plan.dictionary = cursor->dictionary();
    }
  }
  // Without a dictionary the largest one was short, and all together may pay for one.
  if (keeps_blocks && !plan.dictionary.empty()) plan.source = DictionarySource::kGiven;
  auto run = write_joined(writer, from, plan, steps);
  if (!run && run.error().code == Errc::kTooLarge) {  // together they compress worse
    plan.reserve_bytes = origins_bytes_max(plan);
    run = write_joined(writer, from, plan, steps);
  }
  if (!run) return tl::unexpected<Error>(run.error());
  log.runs.erase(log.runs.end() - static_cast<std::ptrdiff_t>(count), log.runs.end());
  log.runs.push_back(*run);
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
