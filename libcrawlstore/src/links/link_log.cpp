// SPDX-License-Identifier: Apache-2.0
//
// Invariants: run ids ascend in the order in which runs take effect, in in_links and gone_links
// together. A merge takes the newest runs, so the ids of what it writes are higher than all that
// stay. Nothing is put before everything is written.
#include "links/link_log.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "base/assert.h"
#include "container/choose_join.h"
#include "links/dense_run.h"

namespace crawlstore::links {
namespace {

using format::RunRef;

/// Bytes that a merge of runs into one may need, or all that it can.
std::uint64_t reserve_bytes(std::span<const LogRun> runs, bool with_gone, bool all) {
  std::uint64_t payload_bytes = 0;
  std::uint64_t row_count = 0;
  std::uint64_t link_count = 0;
  std::uint64_t number_max = 0;
  for (const LogRun& log_run : runs) {
    if (log_run.is_gone != with_gone) continue;
    const format::LinkRunFooter& footer = log_run.run.footer();
    payload_bytes += log_run.run.run().payload_bytes;
    row_count += footer.row_count;
    link_count += footer.link_count;
    number_max = std::max({number_max, footer.last_page, footer.target_max});
  }
  const std::uint64_t bytes_max = link_run_bytes_max(row_count, link_count, number_max);
  return all ? bytes_max : std::min(bytes_max, payload_bytes + payload_bytes / 8 + row_count);
}

/// Steps of a merge of the runs from `first` on.
std::uint64_t merge_steps(std::span<const LogRun> runs, std::size_t first) {
  std::uint64_t steps = 0;
  for (const LogRun& log_run : runs.subspan(first)) {
    steps += log_run.run.footer().row_count + log_run.run.footer().link_count;
  }
  return steps;
}

/// Steps of a merge of all runs that may write a dense one: the survey and the writer see all rows.
std::uint64_t compaction_steps(std::span<const LogRun> runs) {
  return 2 * merge_steps(runs, 0);
}

/// A merge of the newest runs of one way. Writes, and only then changes the segments.
class Merge {
 public:
  /// Merges those of `runs` from `first` on.
  Merge(container::SegmentWriter& writer, std::span<const LogRun> runs, std::size_t first,
        Combination combination, container::WorkSteps& steps)
      : writer_(writer),
        runs_(runs.begin() + static_cast<long>(first), runs.end()),
        is_whole_(first == 0),
        combination_(combination),
        steps_(steps) {}

  Result<void> write(SegmentId links, SegmentId gone) {
    return in_room([&](bool reserve_all) { return write_into(links, gone, reserve_all); });
  }

  /// The same of all runs, as one that is dense if that is worth it.
  Result<void> write_compact(SegmentId links) {
    DenseSurvey survey;
    CRAWLSTORE_TRY(copy_rows(survey, nullptr));
    CRAWLSTORE_TRY(survey.finish());
    coder_bytes_ = survey.memory_bytes();
    if (!survey.is_worth_it()) return write(links, {});
    return in_room([&](bool reserve_all) { return write_dense(links, survey, reserve_all); });
  }

  /// The most that survey and writer of write_compact() held.
  [[nodiscard]] std::uint64_t coder_bytes() const { return coder_bytes_; }

  /// Puts what was written in the place of the runs.
  void install(SegmentId links, SegmentId gone) {
    replace(links, links_run_);
    if (gone) replace(gone, gone_run_);
    for (const LogRun& log_run : runs_) {
      const RunRef& run = log_run.run.run();
      if (run.born.value == 0) writer_.release(run.extent());
    }
  }

 private:
  /// Tries with the room that will do nearly always, then with all that may be needed.
  template <class Write>
  static Result<void> in_room(const Write& write) {
    auto written = write(false);
    if (!written && written.error().code == Errc::kTooLarge) written = write(true);
    return written;
  }

  Result<void> write_dense(SegmentId links, const DenseSurvey& survey, bool reserve_all) {
    std::uint64_t bytes_max = reserve_bytes(runs_, false, reserve_all) + survey.gap_bytes() +
                              sizeof(format::LinkRunFooter) + format::kDenseModelBytes;
    const LinksLookup& base = runs_.front().run;
    if (reserve_all) {
      bytes_max += bytes_max;
    } else if (base.is_dense() && survey.link_count() <= base.footer().link_count) {
      const std::uint64_t base_bytes = base.run().payload_bytes;  // which held more links
      bytes_max = std::min(bytes_max, base_bytes + base_bytes / 16 + format::kDenseModelBytes);
    }
    CRAWLSTORE_TRY(auto writer,
                   DenseWriter::start(writer_, container::new_run(writer_, links, first()),
                                      bytes_max, survey.model()));
    CRAWLSTORE_TRY(copy_rows(writer, nullptr));
    CRAWLSTORE_TRY(const auto written, writer.finish());
    links_run_ = written;
    coder_bytes_ = survey.memory_bytes() + writer.memory_bytes();
    if (links_run_) writer.give_back();
    return {};
  }

  Result<void> write_into(SegmentId links, SegmentId gone, bool reserve_all) {
    const bool keeps_gone = !is_whole_ && gone;
    const RunId id = writer_.new_run_ids(2);
    CRAWLSTORE_TRY(auto links_writer,
                   LinksWriter::start(writer_, label_of(*writer_.find(links), id, first()),
                                      reserve_bytes(runs_, false, reserve_all)));
    std::optional<LinksWriter> gone_writer;
    if (keeps_gone) {
      const auto label = label_of(*writer_.find(gone), {id.value + 1}, first());
      CRAWLSTORE_TRY(auto started,
                     LinksWriter::start(writer_, label, reserve_bytes(runs_, true, reserve_all)));
      gone_writer.emplace(std::move(started));
    }
    CRAWLSTORE_TRY(copy_rows(links_writer, gone_writer ? &*gone_writer : nullptr));
    CRAWLSTORE_TRY(const auto links_run, links_writer.finish());
    if (gone_writer) {
      CRAWLSTORE_TRY(const auto gone_run, gone_writer->finish());
      gone_run_ = gone_run;
      if (gone_run_) gone_writer->give_back();
    }
    links_run_ = links_run;
    if (links_run_) links_writer.give_back();
    return {};
  }

  /// The lowest id of the runs, and of those of gone links beside them.
  [[nodiscard]] std::uint64_t first() const { return runs_.front().run.run().run_id.value; }

  template <class Rows>
  Result<void> copy_rows(Rows& links, LinksWriter* gone) {
    CRAWLSTORE_TRY(auto rows, CombinedRows::open(runs_, combination_, 0));
    const bool keeps_empty = !is_whole_ && combination_ == Combination::kReplace;
    while (true) {
      CRAWLSTORE_TRY(const auto more, rows.next());
      if (!more) return {};
      CRAWLSTORE_TRY(steps_.add(1 + rows.links().size()));
      if (keeps_empty || !rows.links().empty()) {
        CRAWLSTORE_TRY(links.append(rows.page(), rows.links()));
      }
      if (gone != nullptr && !rows.gone().empty()) {
        CRAWLSTORE_TRY(gone->append(rows.page(), rows.gone()));
      }
    }
  }

  void replace(SegmentId segment, const std::optional<RunRef>& merged) {
    format::SegmentEntry entry = *writer_.find(segment);
    std::erase_if(entry.runs, [this](const RunRef& run) {
      return std::any_of(runs_.begin(), runs_.end(), [&run](const LogRun& log_run) {
        return log_run.run.run().run_id == run.run_id;
      });
    });
    if (merged) entry.runs.push_back(*merged);
    writer_.put(std::move(entry));
  }

  container::SegmentWriter& writer_;
  const std::vector<LogRun> runs_;
  const bool is_whole_;
  const Combination combination_;
  container::WorkSteps& steps_;
  std::optional<RunRef> links_run_;
  std::optional<RunRef> gone_run_;
  std::uint64_t coder_bytes_ = 0;
};

Result<void> merge_out(container::SegmentWriter& writer, const LinkSegments& segments,
                       const LinkView& view, std::size_t first, container::WorkSteps& steps) {
  Merge merge(writer, view.out_runs(), first, Combination::kReplace, steps);
  CRAWLSTORE_TRY(merge.write(segments.out, {}));
  merge.install(segments.out, {});
  return {};
}

Result<void> merge_in(container::SegmentWriter& writer, const LinkSegments& segments,
                      const LinkView& view, std::size_t first, container::WorkSteps& steps) {
  Merge merge(writer, view.in_runs(), first, Combination::kEdit, steps);
  CRAWLSTORE_TRY(merge.write(segments.in, segments.gone));
  merge.install(segments.in, segments.gone);
  return {};
}

/// Whether compaction has something to do.
bool is_loose(std::span<const LogRun> runs) {
  if (runs.size() != 1) return !runs.empty();
  const LinksLookup& run = runs.front().run;
  const format::LinkRunFooter& footer = run.footer();
  return runs.front().is_gone ||
         (!run.is_dense() &&
          is_dense_worth_it(footer.first_page, footer.last_page, footer.link_count));
}

std::vector<std::uint64_t> sizes_of(std::span<const LogRun> runs) {
  std::vector<std::uint64_t> sizes;
  for (const LogRun& log_run : runs) sizes.push_back(log_run.run.run().payload_bytes);
  return sizes;
}

}  // namespace

void append_run(container::SegmentWriter& writer, SegmentId segment, const RunRef& run) {
  const format::SegmentEntry* found = writer.find(segment);
  CRAWLSTORE_ASSERT(found != nullptr);
  CRAWLSTORE_ASSERT(found->runs.empty() || found->runs.back().run_id < run.run_id);
  format::SegmentEntry entry = *found;
  entry.runs.push_back(run);
  writer.put(std::move(entry));
}

std::uint64_t joined_bytes_max(std::span<const LogRun> runs) {
  return reserve_bytes(runs, false, true);
}

Result<void> bound_out_runs(container::SegmentWriter& writer, const LinkSegments& segments,
                            container::WorkSteps& steps) {
  CRAWLSTORE_TRY(const auto view, LinkView::open(writer, segments));
  const auto sizes = sizes_of(view.out_runs());
  if (sizes.size() <= kFreshRunsMax + 1) return {};
  const std::size_t first = container::choose_join_to_few(sizes, kFreshRunsMax);
  steps.expect(merge_steps(view.out_runs(), first));
  return merge_out(writer, segments, view, first, steps);
}

Result<void> bound_in_runs(container::SegmentWriter& writer, const LinkSegments& segments,
                           container::WorkSteps& steps) {
  CRAWLSTORE_TRY(const auto view, LinkView::open(writer, segments));
  const auto sizes = sizes_of(view.in_runs());
  if (sizes.size() <= kFreshRunsMax + 1) return {};
  // A merge may leave two runs: what was added, and what is gone.
  const std::size_t first = container::choose_join_to_few(sizes, kFreshRunsMax - 1);
  steps.expect(merge_steps(view.in_runs(), first));
  return merge_in(writer, segments, view, first, steps);
}

namespace {

/// Whether the runs besides the base take half as much as it does.
bool is_loosened(std::span<const LogRun> runs) {
  const auto sizes = sizes_of(runs);
  return !sizes.empty() &&
         std::accumulate(sizes.begin() + 1, sizes.end(), std::uint64_t{0}) > sizes.front() / 2;
}

/// Compacts runs that are loosened; of others, too many, it merges those besides the base.
template <class Compact, class MergeFresh>
Result<void> bound_shrunk(std::span<const LogRun> runs, const Compact& compact,
                          const MergeFresh& merge_fresh, container::WorkSteps& steps) {
  if (is_loosened(runs)) {
    steps.expect(compaction_steps(runs));
    const auto compacted = compact();
    return compacted ? Result<void>{} : tl::unexpected<Error>(compacted.error());
  }
  if (runs.size() <= kFreshRunsMax + 1) return {};
  steps.expect(merge_steps(runs, 1));
  return merge_fresh();
}

}  // namespace

Result<void> bound_shrunk_out_runs(container::SegmentWriter& writer, const LinkSegments& segments,
                                   container::WorkSteps& steps) {
  CRAWLSTORE_TRY(const auto view, LinkView::open(writer, segments));
  return bound_shrunk(
      view.out_runs(), [&] { return compact_out_links(writer, segments, steps); },
      [&] { return merge_out(writer, segments, view, 1, steps); }, steps);
}

Result<void> bound_shrunk_in_runs(container::SegmentWriter& writer, const LinkSegments& segments,
                                  container::WorkSteps& steps) {
  CRAWLSTORE_TRY(const auto view, LinkView::open(writer, segments));
  return bound_shrunk(
      view.in_runs(), [&] { return compact_in_links(writer, segments, steps); },
      [&] { return merge_in(writer, segments, view, 1, steps); }, steps);
}

Result<void> expect_compaction(container::SegmentWriter& writer, const LinkSegments& segments,
                               container::WorkSteps& steps) {
  CRAWLSTORE_TRY(const auto view, LinkView::open(writer, segments));
  if (is_loose(view.out_runs())) steps.expect(compaction_steps(view.out_runs()));
  if (is_loose(view.in_runs())) steps.expect(compaction_steps(view.in_runs()));
  return {};
}

Result<std::uint64_t> compact_out_links(container::SegmentWriter& writer,
                                        const LinkSegments& segments, container::WorkSteps& steps) {
  CRAWLSTORE_TRY(const auto view, LinkView::open(writer, segments));
  if (!is_loose(view.out_runs())) return std::uint64_t{0};
  Merge merge(writer, view.out_runs(), 0, Combination::kReplace, steps);
  CRAWLSTORE_TRY(merge.write_compact(segments.out));
  merge.install(segments.out, {});
  return merge.coder_bytes();
}

Result<std::uint64_t> compact_in_links(container::SegmentWriter& writer,
                                       const LinkSegments& segments, container::WorkSteps& steps) {
  CRAWLSTORE_TRY(const auto view, LinkView::open(writer, segments));
  if (!is_loose(view.in_runs())) return std::uint64_t{0};
  Merge merge(writer, view.in_runs(), 0, Combination::kEdit, steps);
  CRAWLSTORE_TRY(merge.write_compact(segments.in));
  merge.install(segments.in, segments.gone);
  return merge.coder_bytes();
}

}  // namespace crawlstore::links
