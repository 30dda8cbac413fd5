// SPDX-License-Identifier: Apache-2.0
#include "cli/shards_split.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <crawlstore/queue.h>
#include <crawlstore/scores.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/split_pages.h"
#include "cli/split_parts.h"
#include "cli/stop_signals.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kHalfMemoryMin = std::uint64_t{1} << 20;

const char* const kGraphs = "graphs";
const char* const kCounts = "counts";
const char* const kScoreArrays = "scores";
const char* const kQueues = "queues";
const char* const kFrontiers = "frontiers";
const char* const kDrums = "drums";

bool leaves(const SplitOptions& options, const char* kind) {
  return std::ranges::find(options.left, kind) != options.left.end();
}

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// The parts of FILE that go into the new files, and how many do not.
struct Contents {
  Shard shard;
  std::vector<std::string> databases;
  std::vector<QueueInfo> queues;
  std::vector<FrontierInfo> frontiers;
  std::vector<DrumInfo> drums;
  std::uint64_t score_array_count = 0;  // of all databases
};

/// Text about a part that forbids the split; empty: nothing does.
using Objection = std::string;

Result<Objection> survey_databases(const Snapshot& snapshot, const SplitOptions& options,
                                   Contents& to) {
  for (const std::string& name : PageView::names(snapshot)) {
    CRAWLSTORE_TRY(const auto view, PageView::open(snapshot, name));
    const std::string shown = model::format_printable(name);
    if (view.info().event_count != 0) {
      return fmt::format("{} edits wait in the page database `{}`: `crawlstore merge` it first",
                         model::format_count(view.info().event_count), shown);
    }
    CRAWLSTORE_TRY(const auto arrays, ScoreView::list(view));
    to.score_array_count += arrays.size();
    for (const ScoresInfo& array : arrays) {
      const bool is_own = array.scorer >= Scorer::kOwn || array.scorer == Scorer::kOpicCash ||
                          array.scorer == Scorer::kOpicHistory ||
                          array.scorer == Scorer::kOpicCrawls;
      if (!is_own || leaves(options, kScoreArrays)) continue;
      return fmt::format(
          "the scores `{}` cannot be computed anew from pages and links: "
          "`--leave scores` goes on without them",
          model::format_printable(array.name));
    }
    if (view.info().has_urls) {
      to.databases.push_back(name);
    } else if (!leaves(options, kGraphs)) {
      return fmt::format(
          "pages of `{}` have no URLs, whose hosts say whose they are: `--leave "
          "graphs` goes on without them",
          shown);
    }
  }
  return Objection();
}

Result<Objection> survey_drums(const Snapshot& snapshot, const SplitOptions& options,
                               Contents& to) {
  if (leaves(options, kDrums)) return Objection();
  CRAWLSTORE_TRY(const auto drums, list_drums(snapshot));
  const auto pages = PageView::names(snapshot);
  for (const DrumInfo& drum : drums) {
    if (drum.key_scheme == KeyScheme::kPage && has_name(pages, drum.name)) continue;
    const std::string shown = model::format_printable(drum.name);
    if (drum.pending_count != 0) {
      return fmt::format("{} requests wait in the DRUM `{}`: `crawlstore merge` it first",
                         model::format_count(drum.pending_count), shown);
    }
    if (drum.result_count != 0) {
      return fmt::format(
          "{} answers of the DRUM `{}` wait for a program, which takes them first; "
          "`--leave drums` goes on without DRUMs",
          model::format_count(drum.result_count), shown);
    }
    to.drums.push_back(drum);
  }
  return Objection();
}

Result<Objection> survey_queues(const Snapshot& snapshot, const SplitOptions& options,
                                Contents& to) {
  if (leaves(options, kQueues)) return Objection();
  CRAWLSTORE_TRY(to.queues, QueueView::list(snapshot));
  if (to.queues.empty() || has_name(to.databases, options.database)) return Objection();
  return fmt::format(
      "there is a queue, but no page database `{}` with the pages in it: "
      "`--database` names another, `--leave queues` goes on without queues",
      model::format_printable(options.database));
}

Result<Objection> survey_frontiers(const Snapshot& snapshot, const SplitOptions& options,
                                   Contents& to) {
  if (leaves(options, kFrontiers)) return Objection();
  CRAWLSTORE_TRY(to.frontiers, FrontierView::list(snapshot));
  for (const FrontierInfo& frontier : to.frontiers) {
    const bool is_empty = frontier.waiting_count + frontier.leased_count == 0;
    if (is_empty || frontier.pages.empty() || has_name(to.databases, frontier.pages)) continue;
    return fmt::format(
        "the frontier `{}` is of pages that are not there: `--leave frontiers` "
        "goes on without frontiers",
        model::format_printable(frontier.name));
  }
  return Objection();
}

Result<Objection> survey(const Snapshot& snapshot, const SplitOptions& options, Contents& to) {
  CRAWLSTORE_TRY(to.shard, read_shard(snapshot));
  if (to.shard.count > kShardsMax / 2) {
    return fmt::format("a crawl has at most {} shards", kShardsMax);
  }
  for (const auto read : {survey_databases, survey_drums, survey_queues, survey_frontiers}) {
    CRAWLSTORE_TRY(auto objection, read(snapshot, options, to));
    if (!objection.empty()) return objection;
  }
  return Objection();
}

/// The new files under names of their own; those that are not put in place are removed.
class SplitFiles {
 public:
  SplitFiles() = default;
  SplitFiles(const SplitFiles&) = delete;
  SplitFiles& operator=(const SplitFiles&) = delete;
  ~SplitFiles() {
    work.halves.clear();
    for (const std::string& part : parts_) (void)::unlink(part.c_str());
  }

  Result<void> make(const Snapshot& snapshot, const Shard& shard, const SplitOptions& options) {
    CRAWLSTORE_TRY(const auto time_us, source_date_us());
    CreateOptions made;
    made.key_seed = snapshot.key_seed();
    made.time_us = time_us;
    for (std::uint32_t half = 0; half < 2; ++half) {
      work.working_on = half;
      CRAWLSTORE_TRY(
          make_one({2 * shard.index + half, 2 * shard.count}, options.paths[1 + half], made));
    }
    return {};
  }

  /// Closes both, and gives them their names.
  Result<void> finish() {
    for (SplitHalf& half : work.halves) {
      work.working_on = half.shard.index % 2;
      CRAWLSTORE_TRY(half.store.close());
    }
    for (std::size_t half = 0; half < 2; ++half) {
      work.working_on = half;
      const auto named = rename_without_replacing(parts_[half], work.halves[half].path);
      if (!named) return named;
      parts_[half] = work.halves[half].path;  // which goes again if the other one fails
    }
    for (const SplitHalf& half : work.halves) CRAWLSTORE_TRY(sync_folder(half.path));
    parts_.clear();
    return {};
  }

  SplitWork work;

 private:
  Result<void> make_one(const Shard& shard, const std::string& path, const CreateOptions& made) {
    constexpr int kSplitPartsMax = 1000;
    for (int number = 1;; ++number) {
      const std::string part = path + (number == 1 ? ".part" : fmt::format(".{}.part", number));
      auto store = create_shard(part, shard, made);
      if (store) {
        parts_.push_back(part);
        work.halves.push_back({shard, path, part, std::move(*store)});
        return {};
      }
      if (store.error().code != Errc::kExists || number == kSplitPartsMax) {
        return tl::unexpected<Error>(store.error());
      }
    }
  }
  static Result<void> rename_without_replacing(const std::string& from, const std::string& to) {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) {
      return fail_errno(errno, "cannot name the new file");
    }
    if (::link(from.c_str(), to.c_str()) != 0) return fail_errno(errno, "cannot name the new file");
    (void)::unlink(from.c_str());
    return {};
  }
  static Result<void> sync_folder(const std::string& path) {
    const int descriptor = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return fail_errno(errno, "cannot open the folder to sync it");
    const int failure = ::fsync(descriptor) == 0 ? 0 : errno;
    (void)::close(descriptor);
    // Some network file systems do not sync folders and say so with EINVAL: nothing to be done.
    if (failure != 0 && failure != EINVAL) return fail_errno(failure, "cannot sync the folder");
    return {};
  }

  std::vector<std::string> parts_;
};

/// Counts of what went into the new files.
struct Sums {
  std::uint64_t value_count = 0;
  std::uint64_t key_count = 0;
  std::uint64_t cut_page_count = 0;
  SplitEntries queued;
  SplitEntries items;
};

void add_to(SplitEntries& sum, const SplitEntries& counts) {
  sum.entry_count += counts.entry_count;
  sum.lease_count += counts.lease_count;
  sum.gone_count += counts.gone_count;
}

/// Pages first: queues and frontiers have their indexes.
Result<void> carry(const Snapshot& snapshot, const SplitOptions& options, const Contents& contents,
                   SplitWork& work, Sums& sums) {
  CRAWLSTORE_TRY(sums.value_count, copy_values(snapshot, work));
  std::map<std::string, SplitIndexes> indexes;
  for (const std::string& name : contents.databases) {
    CRAWLSTORE_TRY(const std::uint64_t cut_count, split_pages(snapshot, name, work));
    sums.cut_page_count += cut_count;
    CRAWLSTORE_TRY(auto found, SplitIndexes::open(snapshot, name, work));
    indexes.emplace(name, std::move(found));
  }
  for (const DrumInfo& drum : contents.drums) {
    CRAWLSTORE_TRY(copy_drum(snapshot, drum, work));
    sums.key_count += drum.key_count;
  }
  for (const QueueInfo& queue : contents.queues) {
    const auto& pages = indexes.at(options.database);
    CRAWLSTORE_TRY(const auto counts, split_queue(snapshot, queue.name, pages, work));
    add_to(sums.queued, counts);
  }
  for (const FrontierInfo& frontier : contents.frontiers) {
    const auto pages = indexes.find(frontier.pages);
    CRAWLSTORE_TRY(const auto counts,
                   split_frontier(snapshot, frontier,
                                  pages == indexes.end() ? nullptr : &pages->second, work));
    add_to(sums.items, counts);
  }
  return {};
}

Result<model::Document> document_of(const SplitWork& work, const Contents& contents,
                                    const Sums& sums) {
  const auto count = model::Unit::kCount;
  model::Document document{
      {{"queued_count", count, sums.queued.entry_count},
       {"item_count", count, sums.items.entry_count},
       {"ended_lease_count", count, sums.items.lease_count},
       {"gone_entry_count", count, sums.queued.gone_count + sums.items.gone_count},
       {"key_count", count, sums.key_count},
       {"value_count", count, sums.value_count},
       {"cut_page_count", count, sums.cut_page_count},
       {"left_score_array_count", count, contents.score_array_count}},
      {}};
  model::Table table{"shards",
                     {{"path", model::Unit::kText},
                      {"shard", model::Unit::kText},
                      {"page_count", count},
                      {"elsewhere_count", count},
                      {"crawled_count", count},
                      {"link_count", count}},
                     {}};
  for (const SplitHalf& half : work.halves) {
    PagesInfo sum;
    CRAWLSTORE_TRY(const auto snapshot, half.store.snapshot());
    for (const std::string& name : contents.databases) {
      CRAWLSTORE_TRY(const auto view, PageView::open(snapshot, name));
      sum.page_count += view.info().page_count - view.info().elsewhere_count;
      sum.elsewhere_count += view.info().elsewhere_count;
      sum.crawled_count += view.info().crawled_count;
      sum.link_count += view.info().link_count;
    }
    table.rows.push_back({half.path, to_text(half.shard), sum.page_count, sum.elsewhere_count,
                          sum.crawled_count, sum.link_count});
  }
  document.tables.push_back(std::move(table));
  return document;
}

/// Says why the new files cannot be made under these names; kExitDone: they can.
int check_names(const SplitOptions& options) {
  const auto normal = [&options](std::size_t i) {
    std::error_code ignored;
    return std::filesystem::absolute(options.paths[i], ignored).lexically_normal();
  };
  if (normal(0) == normal(1) || normal(0) == normal(2)) {
    return fail_with("shards: LOWER and UPPER are new files, FILE stays", kExitUsage);
  }
  if (normal(1) == normal(2)) {
    return fail_with("shards: LOWER and UPPER are one file; each needs a name of its own",
                     kExitUsage);
  }
  for (std::size_t i = 1; i < options.paths.size(); ++i) {
    struct stat status = {};
    if (::lstat(options.paths[i].c_str(), &status) != 0) continue;
    return fail_with(options.paths[i], fail_errno(EEXIST, "the new file").value());
  }
  return kExitDone;
}

/// Names FILE where it is damaged or holds what cannot be split, else the file that is written.
int fail_split(const SplitOptions& options, const SplitWork& work, const Error& error) {
  const bool is_of_file =
      category(error.code) == ErrorCategory::kDamage || error.code == Errc::kInvalidArgument;
  if (is_of_file) return fail_with(options.paths[0], error);
  return fail_with_output(options.paths[1 + work.working_on], error);
}

Result<Sums> make_halves(const Snapshot& snapshot, const SplitOptions& options,
                         const Contents& contents, const StopSignals& stop, SplitFiles& files) {
  WorkBar superstep("superstep", stop, options.quiet);
  WorkBar bar("split", stop, options.quiet);
  const std::uint64_t memory = options.memory_bytes.value_or(default_memory_bytes());
  files.work.memory_bytes = std::max(memory / 2, kHalfMemoryMin);
  files.work.superstep = superstep.progress();
  files.work.look = [looks = bar.progress()](std::uint64_t done,
                                             std::uint64_t total) -> Result<void> {
    if (looks(done, total)) return {};
    return fail(Errc::kCancelled, "the split was stopped");
  };
  CRAWLSTORE_TRY(files.make(snapshot, contents.shard, options));
  Sums sums;
  CRAWLSTORE_TRY(carry(snapshot, options, contents, files.work, sums));
  return sums;
}

}  // namespace

const std::vector<std::string>& split_leave_words() {
  static const std::vector<std::string> kWords{kCounts, kDrums,  kFrontiers,
                                               kGraphs, kQueues, kScoreArrays};
  return kWords;
}

const char* const kSplitFooter =
    "`split FILE LOWER UPPER` makes two files of shard I of N, the shards 2 I and 2 I + 1 of 2 N; "
    "a file that is alone becomes 0/2 and 1/2. FILE stays as it is, and nobody should write it "
    "meanwhile or go on with it. All shards of a crawl are split together, between two steps: the "
    "exchange begins anew at step 1. Both new files are there as a whole or not at all.\n"
    "With the pages go their records and links, queues, items and rules of frontiers; small values "
    "and DRUMs go to both. A page that only pages of the other half led to has depth 0. Leases "
    "end: the items wait until these would have ended, and how often an item was taken and a host "
    "failed is not kept. Items have new ids, so what was taken from FILE is finished there before; "
    "a host that may not be visited yet gets a rule with that time. Scores "
    "and older generations stay behind. Split is refused where edits or requests wait "
    "(`merge` first), and where something would be lost that nobody can compute anew, unless "
    "--leave names it.";

int split_shard(const SplitOptions& options) {
  const StopSignals stop;
  if (const int code = check_names(options); code != kExitDone) return code;
  const auto snapshot = open_snapshot(options.paths[0], false);
  if (!snapshot) return fail_with(options.paths[0], snapshot.error());
  Contents contents;
  const auto objection = survey(*snapshot, options, contents);
  if (!objection) return fail_with(options.paths[0], objection.error());
  const std::string path = model::format_printable(options.paths[0]);
  if (!objection->empty()) return fail_with(path + ": " + *objection, kExitNo);
  SplitFiles files;
  const auto sums = make_halves(*snapshot, options, contents, stop, files);
  if (stop.requested() != 0) return exit_code_of_signal(stop.requested());
  if (!sums) return fail_split(options, files.work, sums.error());
  if (sums->cut_page_count != 0 && !leaves(options, kCounts)) {
    return fail_with(
        fmt::format("{}: {} pages have more crawls, or failures in a row, than can be told: "
                    "`--leave counts` goes on with fewer",
                    path, model::format_count(sums->cut_page_count)),
        kExitNo);
  }
  const auto document = document_of(files.work, contents, *sums);
  if (!document) return fail_split(options, files.work, document.error());
  if (const auto finished = files.finish(); !finished) {
    return fail_split(options, files.work, finished.error());
  }
  return print_document(*document, options.as_json);
}

}  // namespace crawlstore::cli
