// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the damaged file is read only. The new one gets its name when verification to the
// last rule finds nothing in it; so nothing is in it that was not proved.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <crawlstore/tools/recover.h>
#include <crawlstore/tools/verify.h>

#include "container/run_scan.h"
#include "container/superblocks.h"
#include "container/verify.h"
#include "rescue/borrowed_storage.h"
#include "rescue/copy.h"
#include "rescue/older_frontiers.h"
#include "rescue/patient.h"
#include "rescue/rebuild.h"
#include "rescue/survey.h"

namespace crawlstore {
namespace rescue {
namespace {

/// Generations are looked at until one is whole, at most so many.
constexpr std::size_t kReadersMax = 8;
/// A newer generation is taken when at most such a share less of it can be read.
constexpr double kShareLess = 0.01;
constexpr int kRoundsMax = 16;  // of parts that break rules

class Recovery {
 public:
  Recovery(std::shared_ptr<Storage> storage, const RecoverOptions& options)
      : storage_(std::move(storage)), options_(options) {}

  Result<void> choose() {
    CRAWLSTORE_TRY(const auto size, storage_->size());
    total_ = 5 * size;
    CRAWLSTORE_TRY(auto found, survey(storage_, advance()));
    report_.newest = found.newest;
    report_.identity_was_lost = found.identity_was_lost;
    CRAWLSTORE_TRY(auto place, choose_of(found.candidates));
    if (lacks_tables(found.candidates, place)) {
      CRAWLSTORE_TRY(rebuild_tables(found, place));
      CRAWLSTORE_TRY(place, choose_of(found.candidates));
    }
    auto& chosen = found.candidates[place];
    reader_ = chosen.reader;
    damage_ = std::move(chosen.damage);
    doubtful_ = std::move(chosen.doubtful);
    report_.generation = reader_->directory().generation();
    report_.newest = std::max(report_.newest, report_.generation);
    if (report_.generation < report_.newest) {
      report_.losses.push_back(
          {LostPart::kCommits,
           {},
           report_.generation.value + 1,
           report_.newest.value + 1,
           report_.newest.value - report_.generation.value,
           {Errc::kDirectoryDamaged, 0, {}, Error::kNoOffset, "a newer generation is damaged"}});
      container::Reader* const first = found.candidates.front().reader.get();
      const bool is_newest = first->directory().generation() == report_.newest;
      const auto losses = lost_with_commits(*reader_, is_newest ? first : nullptr);
      report_.losses.insert(report_.losses.end(), losses.begin(), losses.end());
    }
    report_.losses.insert(report_.losses.end(), chosen.losses.begin(), chosen.losses.end());
    report_.commit_time_us = reader_->directory().superblock.commit_time_us;
    for (const Extent& extent : reader_->directory().live_extents()) {
      report_.read_bytes += extent.length_bytes;
    }
    return {};
  }

  Result<void> fill(Storage& target) {
    CRAWLSTORE_TRY(auto damaged, copy_readable(*reader_, target, advance()));
    report_.damaged_run_count = damaged.size() + damage_.trees.size();
    const bool is_whole = damaged.empty() && damage_.trees.empty() && damage_.tables.empty();
    if (!is_whole) CRAWLSTORE_TRY(repair(target, std::move(damaged)));
    return prove(target);
  }

  RecoverReport report() && { return std::move(report_); }

 private:
  [[nodiscard]] Advance advance() {
    return [this](std::uint64_t bytes) -> Result<void> {
      done_ += bytes;
      if (!options_.progress || options_.progress(done_, std::max(done_, total_))) return {};
      return fail(Errc::kCancelled, "recovery was stopped; there is no new file");
    };
  }

  using Candidates = std::vector<Survey::Candidate>;

  /// Returns the place of the best candidate, 0 if there is none.
  Result<std::size_t> choose_of(const Candidates& candidates) {
    std::vector<double> shares;  // of the first candidates, until one is near whole
    double record_max = 1;       // of these
    for (std::size_t i = 0; i < std::min(kReadersMax, candidates.size()); ++i) {
      CRAWLSTORE_TRY(const double share, readable_share(candidates[i]));
      // It lacks the records that later commits had added.
      const double records = record_count(candidates[i].reader->directory());
      record_max = std::max(record_max, records);
      shares.push_back(share * std::min(1.0, records / record_max));
      if (share >= 1 - kShareLess) break;
    }
    if (shares.empty()) return 0;
    const double best = *std::ranges::max_element(shares);
    const auto newest =
        std::ranges::find_if(shares, [best](double share) { return share >= best - kShareLess; });
    return static_cast<std::size_t>(newest - shares.begin());
  }

  /// Whether the candidate, or a newer one, lacks tables, or there is none.
  static bool lacks_tables(const Candidates& candidates, std::size_t place) {
    if (candidates.empty()) return true;
    const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(place) + 1;
    return std::any_of(candidates.begin(), end,
                       [](const auto& candidate) { return !candidate.damage.tables.empty(); });
  }

  /// Looks for the segments of lost tables: of the newest candidate that lacks some, and of the one
  /// at `place`.
  Result<void> rebuild_tables(Survey& found, std::size_t place) {
    if (found.candidates.empty()) {
      CRAWLSTORE_TRY(auto rebuilt, rebuild(storage_, found, nullptr, advance()));
      found.candidates.push_back(std::move(rebuilt));
      return {};
    }
    bool is_first = true;
    for (std::size_t i = 0; i <= place; ++i) {
      auto& candidate = found.candidates[i];
      if (candidate.damage.tables.empty() || (!is_first && i != place)) continue;
      is_first = false;
      auto rebuilt = rebuild(storage_, found, &candidate, advance());
      if (!rebuilt && category(rebuilt.error().code) != ErrorCategory::kDamage) {
        return tl::unexpected<Error>(rebuilt.error());
      }
      if (rebuilt) candidate = std::move(*rebuilt);
    }
    return {};
  }

  /// Bytes of a part, all its segments together.
  struct Part {
    std::uint64_t all = 0;
    std::uint64_t lost = 0;
    std::uint64_t lost_out = 0;  // of links, which either direction gives back
    std::uint64_t lost_in = 0;
    bool has_table = true;
  };

  /// The share of the bytes of runs that are not lost: neither are those that another part gives
  /// back, but all those of a part whose table is damaged. Runs of several generations are read
  /// once.
  Result<double> readable_share(const Survey::Candidate& candidate) {
    container::Reader& reader = *candidate.reader;
    std::map<SegmentId, Part> parts;  // by owners
    Result<void> went = {};
    reader.directory().for_each_segment([&](const format::SegmentEntry& entry) {
      if (!went || is_computed(reader.directory(), entry)) return;
      went = add_to_part(reader, entry, parts[entry.owner ? entry.owner : entry.id]);
    });
    if (!went) return tl::unexpected<Error>(went.error());
    std::uint64_t all = 0;
    std::uint64_t lost = 0;
    for (const auto& tree : candidate.damage.trees) {
      const std::uint64_t bytes = format::kChunkBytes * tree.tiles.size();
      all += bytes;
      lost += bytes / 2;  // some of the tiles can be read
    }
    for (const auto& [id, part] : parts) {
      all += part.all;
      lost += part.has_table ? part.lost + std::min(part.lost_out, part.lost_in) : part.all;
    }
    const double share = all == 0 ? 1 : 1 - static_cast<double>(lost) / static_cast<double>(all);
    return share * candidate.damage.known_share;
  }

  /// Records of all segments that cannot be computed.
  static double record_count(const container::Directory& directory) {
    double count = 0;
    directory.for_each_segment([&](const format::SegmentEntry& entry) {
      if (is_computed(directory, entry)) return;
      for (const auto& run : entry.runs) count += static_cast<double>(run.record_count);
    });
    return count;
  }

  /// Whether a segment can be computed from others: scores, keys of pages, and contents.
  static bool is_computed(const container::Directory& directory,
                          const format::SegmentEntry& entry) {
    if (entry.kind == SegmentKind::kScoreArray || entry.kind == SegmentKind::kFreshKeys ||
        entry.kind == SegmentKind::kPageContents) {
      return true;
    }
    const auto* owner = entry.owner ? directory.find(entry.owner) : &entry;
    return owner != nullptr && owner->kind == SegmentKind::kDrum &&
           directory.find_named(SegmentKind::kPages, owner->name) != nullptr;
  }

  Result<void> add_to_part(container::Reader& reader, const format::SegmentEntry& entry,
                           Part& part) {
    const bool is_in = entry.kind == SegmentKind::kInLinks || entry.kind == SegmentKind::kGoneLinks;
    const bool is_out = entry.kind == SegmentKind::kOutLinks;
    for (const auto& run : entry.runs) {
      CRAWLSTORE_TRY(const auto whole, whole_bytes(reader, entry, run));
      const std::uint64_t lost = run.extent().length_bytes - whole;
      part.all += run.extent().length_bytes;
      (is_in ? part.lost_in : is_out ? part.lost_out : part.lost) += lost;
      if (!entry.owner && lost != 0) part.has_table = false;
    }
    return {};
  }

  Result<std::uint64_t> whole_bytes(container::Reader& reader, const format::SegmentEntry& entry,
                                    const format::RunRef& run) {
    const auto key = container::RunKey::of(entry, run);
    const auto known = whole_bytes_.find(key);
    if (known != whole_bytes_.end()) return known->second;
    std::uint64_t whole = 0;
    const auto name = container::run_name(reader.identity(), entry.id, run.run_id);
    const auto add = [&whole](const container::RunPiece& piece) -> Result<void> {
      if (piece.is_whole()) whole += piece.extent.length_bytes;
      return {};
    };
    CRAWLSTORE_TRY(container::scan_run(*storage_, name, run, add));
    CRAWLSTORE_TRY(advance()(run.extent().length_bytes));
    whole_bytes_.emplace(key, whole);
    return whole;
  }

  Result<void> repair(Storage& target, std::set<RunId> damaged) {
    CRAWLSTORE_TRY(auto writer,
                   container::Writer::open(std::make_unique<BorrowedStorage>(target), {}));
    Patient patient{target, *writer, std::move(damaged), options_.memory_bytes, advance()};
    patient.doubtful = doubtful_;
    for (const auto& table : damage_.tables) {
      patient.lose({LostPart::kTable, {}, 0, 0, table.segment_count, table.error});
    }
    CRAWLSTORE_TRY(repair_trees(patient, *reader_, damage_));
    CRAWLSTORE_TRY(repair_scores(patient));
    CRAWLSTORE_TRY(repair_values(patient));
    CRAWLSTORE_TRY(repair_drums(patient));
    CRAWLSTORE_TRY(repair_pages(patient));
    CRAWLSTORE_TRY(repair_frontiers(patient));
    report_.losses.insert(report_.losses.end(), patient.losses.begin(), patient.losses.end());
    const Uuid uuid = writer->identity().uuid;
    patient_end(writer);
    CRAWLSTORE_TRY(repair_queues(target, patient, report_.losses));
    return forget_older(target, uuid);
  }

  static void patient_end(std::unique_ptr<container::Writer>& writer) {
    writer->runs->end();
    writer.reset();
  }

  /// Gives up the generation before the newest, which has the damaged runs, and their room.
  static Result<void> forget_older(Storage& target, const Uuid& uuid) {
    {
      CRAWLSTORE_TRY(const auto writer,
                     container::Writer::open(std::make_unique<BorrowedStorage>(target), {}));
      for (int i = 0; i < 2; ++i) CRAWLSTORE_TRY(writer->commit(true));
      CRAWLSTORE_TRY(writer->trim(0));
      writer->runs->end();
    }
    const auto set = container::read_superblock_set(target, uuid);
    if (!set || set->winner() == nullptr) {
      return fail(Errc::kSuperblockDamaged, "the new file does not hold what was written");
    }
    return container::write_tombstone(target, uuid, set->winner()->generation - 1);
  }

  /// Verifies the copy. Parts that break rules although their checksums are right were written so:
  /// they are left out.
  Result<void> prove(Storage& target) {
    for (int round = 0; round < kRoundsMax; ++round) {
      VerifyOptions options;
      options.level = VerifyLevel::kDeep;
      std::uint64_t before = 0;
      options.progress = [&](std::uint64_t done, std::uint64_t) {
        const std::uint64_t more = done - std::min(done, before);
        before = done;
        return advance()(more).has_value();
      };
      CRAWLSTORE_TRY(const auto report,
                     container::verify_storage(target, options, container::all_kinds()));
      if (!report.damaged()) return {};
      CRAWLSTORE_TRY(leave_out(target, report));
    }
    return fail(Errc::kSegmentInvalid, "the file breaks rules in ways that recovery cannot mend");
  }

  Result<void> leave_out(Storage& target, const VerifyReport& report) {
    CRAWLSTORE_TRY(auto writer,
                   container::Writer::open(std::make_unique<BorrowedStorage>(target), {}));
    Patient patient{target, *writer, {}, options_.memory_bytes, advance()};
    std::map<SegmentId, Error> parts;
    for (const Finding& finding : report.findings) {
      const auto* entry = writer->directory()->find(finding.error.segment);
      if (entry == nullptr) return tl::unexpected<Error>(finding.error);
      const bool is_alone = !entry->owner || entry->kind == SegmentKind::kScoreArray;
      if (!is_alone) entry = writer->directory()->find(entry->owner);
      parts.emplace(entry->id, finding.error);
    }
    for (const auto& [id, error] : parts) {
      const auto entry = *writer->directory()->find(id);
      if (entry.kind == SegmentKind::kScoreArray) {
        writer->remove(id);
        patient.lose({LostPart::kScores, entry.name, 0, 0, 0, error});
        continue;
      }
      if (entry.kind == SegmentKind::kFrontier || entry.kind == SegmentKind::kValues) {
        const bool is_frontier = entry.kind == SegmentKind::kFrontier;
        patient.remove(entry);
        patient.lose(
            {is_frontier ? LostPart::kFrontier : LostPart::kValues, entry.name, 0, 0, 0, error});
        continue;
      }
      const auto* pages = writer->directory()->find_named(SegmentKind::kPages, entry.name);
      const auto* keys = writer->directory()->find_named(SegmentKind::kDrum, entry.name);
      if (entry.kind == SegmentKind::kDrum && pages != nullptr) patient.remove(*pages);
      if (entry.kind == SegmentKind::kPages && keys != nullptr) patient.remove(*keys);
      patient.remove(entry);
      const bool is_pages = entry.kind == SegmentKind::kPages || pages != nullptr;
      const LostPart part = entry.kind == SegmentKind::kQueue ? LostPart::kQueue
                            : is_pages                        ? LostPart::kPages
                                                              : LostPart::kDrum;
      patient.lose({part, entry.name, 0, 0, 0, error});
    }
    CRAWLSTORE_TRY(lose_frontiers_of_lost_pages(patient));
    CRAWLSTORE_TRY(writer->commit());
    const Uuid uuid = writer->identity().uuid;
    patient_end(writer);
    report_.losses.insert(report_.losses.end(), patient.losses.begin(), patient.losses.end());
    return forget_older(target, uuid);
  }

  std::shared_ptr<Storage> storage_;
  const RecoverOptions& options_;
  RecoverReport report_;
  std::shared_ptr<container::Reader> reader_;
  container::DirectoryDamage damage_;
  std::set<SegmentId> doubtful_;
  std::map<container::RunKey, std::uint64_t> whole_bytes_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

/// The file, kept from being written meanwhile where that can be had.
Result<std::shared_ptr<Storage>> open_unwritten(const std::string& path, std::uint32_t wait_ms) {
  auto writable = open_storage(path, OpenMode::kWrite);
  if (writable) {
    const auto locked = (*writable)->lock_writer(wait_ms);
    if (!locked && locked.error().code == Errc::kLocked) {
      return tl::unexpected<Error>(locked.error());
    }
    return std::shared_ptr<Storage>(std::move(*writable));
  }
  CRAWLSTORE_TRY(auto readable, open_storage(path, OpenMode::kRead));
  return std::shared_ptr<Storage>(std::move(readable));
}

}  // namespace
}  // namespace rescue

Result<RecoverReport> recover(const std::string& path, const std::string& new_path,
                              const RecoverOptions& options) {
  CRAWLSTORE_TRY(auto storage, rescue::open_unwritten(path, options.lock_wait_ms));
  rescue::Recovery recovery(std::move(storage), options);
  CRAWLSTORE_TRY(recovery.choose());
  const auto fill = [](Storage& target, void* context) {
    return static_cast<rescue::Recovery*>(context)->fill(target);
  };
  CRAWLSTORE_TRY(create_file(new_path, fill, &recovery));
  return std::move(recovery).report();
}

namespace {

std::string range_of(const Loss& loss) {
  if (loss.end == 0) return "";
  return loss.end == loss.first + 1
             ? " of page " + std::to_string(loss.first)
             : " of pages " + std::to_string(loss.first) + " to " + std::to_string(loss.end - 1);
}

std::string some(const Loss& loss, const char* things) {
  return loss.count == 0 ? std::string(things)
                         : "up to " + std::to_string(loss.count) + " " + things;
}

std::string steps_of(const Loss& loss) {
  const std::string before = std::to_string(loss.first - 1);
  const std::string of_frontier = " of the frontier `" + loss.name + "`";
  const std::string which =
      loss.count == 0 ? "steps" + of_frontier + " after the first " + before + ", if there were any"
      : loss.count == loss.end - 1 ? "all " + std::to_string(loss.count) + " steps" + of_frontier
                                   : "the last " + std::to_string(loss.count) + " of " +
                                         std::to_string(loss.end - 1) + " steps" + of_frontier;
  return which + ": it is as it was before them, so that items may be taken again, and what was " +
         "put since is to be put again";
}

}  // namespace

std::string describe(const Loss& loss) {
  const std::string of_name = " of `" + loss.name + "`";
  switch (loss.part) {
    case LostPart::kCommits:
      return "what the commits of generations " + std::to_string(loss.first) + " to " +
             std::to_string(loss.end - 1) + " changed: more of an older one can be read";
    case LostPart::kTable:
      return "a table of the directory: its parts are known by the ends of their runs" +
             (loss.count == 0 ? std::string()
                              : ", but for " + std::to_string(loss.count) +
                                    ": what of these others need is told with them");
    case LostPart::kDrum:
      return "the DRUM" + of_name + ": its URLs will be seen as new";
    case LostPart::kKeys:
      return some(loss, "keys") + " from " + std::to_string(loss.first) + " to " +
             std::to_string(loss.end) + of_name + ": they will be seen as new";
    case LostPart::kRequests:
      return some(loss, "requests") + " that waited for a merge" + of_name;
    case LostPart::kAnswers:
      return some(loss, "answers") + " that waited for a consumer" + of_name;
    case LostPart::kPages:
      return "the page database" + of_name;
    case LostPart::kRecords:
      return "records" + range_of(loss) + of_name + ": known, as if never crawled";
    case LostPart::kUrls:
      return "URLs" + range_of(loss) + of_name + ": forgotten, with their links";
    case LostPart::kLinks:
      return "links" + range_of(loss) + of_name + " to pages whose in-links are damaged, too";
    case LostPart::kEdits:
      return some(loss, "edits") + " that waited for a superstep" + of_name;
    case LostPart::kScores:
      return "score array `" + loss.name + "`: compute it again";
    case LostPart::kQueue:
      return "all pages of the queue `" + loss.name + "`: fill it again";
    case LostPart::kFrontier:
      return "the frontier" + of_name + ": put again what was not fetched";
    case LostPart::kValues:
      return some(loss, "small values") + ": the program that set them has to set them again";
    case LostPart::kName:
      return "the name of a part, which is called `" + loss.name + "` now";
    case LostPart::kItems:
      return some(loss, "items") + " of the frontier `" + loss.name + "`: put them again";
    case LostPart::kEntries:
      return some(loss, "pages") + " of the queue `" + loss.name + "`";
    case LostPart::kSteps:
      return steps_of(loss);
  }
  return "something" + of_name;
}

}  // namespace crawlstore
