// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the directory that comes out keeps the rules of directories: runs were found without
// overlaps, and a made-up run, which stands for a lost one, lies after the end of the file. Owners
// and parts that a known table names stay as it has them.
#include "rescue/rebuild.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "container/run_io.h"
#include "format/layout.h"
#include "format/small_values.h"
#include "rescue/found_parts.h"
#include "rescue/found_segments.h"

namespace crawlstore::rescue {
namespace {

using format::SegmentEntry;

const format::KindRule& rule_of(SegmentKind kind) {
  return container::all_kinds().find(kind)->rule;
}

/// The extents that the candidate's directory refers to, parts without an owner included, or lists
/// as held.
std::vector<Extent> taken_by(const Survey::Candidate& known) {
  const auto& directory = known.reader->directory();
  auto extents = directory.live_extents();
  directory.for_each_held(
      [&extents](const format::HeldExtent& held) { extents.push_back(held.extent); });
  for (const auto& entry : known.damage.orphans) {
    for (const auto& run : entry.runs) extents.push_back(run.extent());
  }
  return extents;
}

/// Keeps the newest segment of small values, or the one that a directory names: a file has one.
void name_values(std::map<SegmentId, SegmentEntry>& entries) {
  SegmentEntry* kept = nullptr;
  for (auto& [id, entry] : entries) {
    if (entry.kind != SegmentKind::kValues || (kept != nullptr && !kept->name.empty())) continue;
    const bool is_newer = kept == nullptr || entry.runs[0].run_id > kept->runs[0].run_id;
    if (is_newer || !entry.name.empty()) kept = &entry;
  }
  if (kept == nullptr) return;
  kept->name = format::kValuesName;
  std::erase_if(entries, [kept](const auto& part) {
    return part.second.kind == SegmentKind::kValues && &part.second != kept;
  });
}

class Rebuilding {
 public:
  Rebuilding(const std::shared_ptr<Storage>& storage, const Survey& survey,
             const Survey::Candidate* known, std::vector<FoundRun> runs, std::uint64_t size)
      : storage_(storage),
        survey_(survey),
        known_(known),
        found_(*storage, std::move(runs)),
        parts_(*storage, survey.identity, found_, size) {}

  Result<Survey::Candidate> rebuild() {
    take_known();
    const auto& runs = found_.all();
    std::for_each(runs.rbegin(), runs.rend(), [this](const auto& run) { note_owner(run); });
    // One of two runs with one id counts: the one whose id a table names. Page databases come last:
    // they may give DRUMs that hold their keys another table.
    for (const SegmentKind kind :
         {SegmentKind::kQueue, SegmentKind::kFrontier, SegmentKind::kDrum, SegmentKind::kPages}) {
      for (const SegmentId id : owners_of(kind)) parts_.complete(id);
    }
    if (parts_.entries.empty()) {
      return fail(Errc::kDirectoryDamaged, "no run of the file can be proved");
    }
    add_scores();
    learn_names();
    name_values(parts_.entries);
    give_names();
    return finish();
  }

 private:
  void take_known() {
    if (known_ == nullptr) return;
    const auto& directory = known_->reader->directory();
    directory.for_each_segment([this](const SegmentEntry& entry) {
      parts_.entries.emplace(entry.id, entry);
      parts_.claim(entry);
    });
    parts_.trees = known_->damage.trees;
    parts_.orphans.trees = known_->damage.orphan_trees;
    for (const auto& entry : known_->damage.orphans) {
      parts_.orphans.entries.emplace(entry.id, entry);
      parts_.claim(entry);
    }
    parts_.numbers.next_run_id = directory.next_run_id;
    parts_.numbers.next_segment_id = directory.next_segment_id;
    parts_.numbers.max_born = directory.generation().value;
  }

  /// Whether a table that named the segment is lost.
  [[nodiscard]] bool is_lost(SegmentId id) const {
    if (known_ == nullptr) return true;
    const auto& tables = known_->damage.tables;  // ascending
    const auto after =
        std::ranges::upper_bound(tables, id, {}, [](const auto& table) { return table.first; });
    return after != tables.begin() && id < std::prev(after)->end;
  }

  /// Takes the newest whole table of an owner that no directory knows.
  void note_owner(const FoundRun& run) {
    const SegmentId id = run.label.segment;
    const bool is_owner = !run.label.owner && run.is_whole && is_lost(id);
    if (!is_owner || parts_.entries.contains(id) || parts_.orphans.entries.contains(id)) return;
    if (parts_.is_claimed(run.run.run_id)) return;
    const SegmentEntry entry{id, run.label.kind, StorageClass::kBlob, {}, {}, {run.run}};
    parts_.claim(entry);
    parts_.entries.emplace(id, entry);
    parts_.found_owners.insert(id);
  }

  [[nodiscard]] std::vector<SegmentId> owners_of(SegmentKind kind) const {
    std::vector<SegmentId> ids;
    for (const auto& [id, entry] : parts_.entries) {
      if (entry.kind == kind) ids.push_back(id);
    }
    return ids;
  }

  // Score arrays: nothing names them but their owner's table in the directory

  void add_scores() {
    for (const auto& [id, entry] : parts_.orphans.entries) {
      if (entry.kind == SegmentKind::kScoreArray) add_score(entry);
    }
    for (const auto& run : found_.all()) {
      const SegmentId id = run.label.segment;
      if (run.label.kind != SegmentKind::kScoreArray || !is_lost(id)) continue;
      scores_.insert_or_assign(
          id,
          SegmentEntry{id, run.label.kind, StorageClass::kBlob, run.label.owner, {}, {run.run}});
    }
    for (const auto& [id, entry] : scores_) {
      if (!parts_.entries.contains(id) && !parts_.orphans.entries.contains(id)) add_score(entry);
    }
  }

  void add_score(const SegmentEntry& entry) {
    const auto owner = parts_.entries.find(entry.owner);
    if (owner == parts_.entries.end() || owner->second.kind != SegmentKind::kPages) return;
    const bool is_known = parts_.orphans.entries.contains(entry.id);
    if (!is_known && parts_.is_claimed(entry.runs.front().run_id)) return;
    parts_.claim(entry);
    parts_.entries.emplace(entry.id, entry);
  }

  // Names: they stand in directories alone

  void learn_names() {
    const auto learn = [this](const SegmentEntry& entry) {
      if (!entry.name.empty()) names_.emplace(entry.id, entry.name);
    };
    for (const auto& candidate : survey_.candidates) {
      candidate.reader->directory().for_each_segment(learn);
      std::ranges::for_each(candidate.damage.orphans, learn);
    }
  }

  void give_names() {
    for (const auto& [id, entry] : parts_.entries) {
      if (!entry.name.empty()) taken_.emplace(entry.kind, entry.owner, entry.name);
    }
    for (const auto& [pages, database] : parts_.databases) name_pages(pages, database.keys);
    std::vector<SegmentId> nameless;
    for (auto& [id, entry] : parts_.entries) {
      const auto& rule = rule_of(entry.kind);
      if (entry.name.empty() && (!entry.owner || rule.is_named)) nameless.push_back(id);
    }
    for (const SegmentId id : nameless) {
      SegmentEntry& entry = parts_.entries.at(id);
      const auto known = names_.find(id);
      if (known != names_.end() && take(entry, known->second)) continue;
      const std::string made_up =
          std::string(rule_of(entry.kind).name) + "-" + std::to_string(id.value);
      if (entry.kind == SegmentKind::kScoreArray) {
        lose(LostPart::kScores, id, made_up);
        parts_.entries.erase(id);
      } else {
        take_made_up(id, {}, made_up);
      }
    }
  }

  /// A page database and the DRUM of its keys have one name.
  void name_pages(SegmentId pages, SegmentId keys) {
    SegmentEntry& entry = parts_.entries.at(pages);
    const auto drum = parts_.entries.find(keys);
    if (!entry.name.empty()) {
      if (drum != parts_.entries.end()) {
        taken_.erase({drum->second.kind, {}, drum->second.name});
        take(drum->second, entry.name);
      }
      return;
    }
    for (const SegmentId id : {pages, keys}) {
      const auto known = names_.find(id);
      if (known != names_.end() && take_both(pages, keys, known->second)) return;
    }
    take_made_up(pages, keys, "pages");
  }

  /// Gives the segment the name unless another one of its kind has it.
  bool take(SegmentEntry& entry, const std::string& name) {
    if (!taken_.emplace(entry.kind, entry.owner, name).second) return false;
    entry.name = name;
    return true;
  }
  bool take_both(SegmentId first, SegmentId second, const std::string& name) {
    const auto other = parts_.entries.find(second);
    if (other != parts_.entries.end() && other->second.name != name) {
      if (taken_.contains({other->second.kind, {}, name})) return false;
      taken_.erase({other->second.kind, {}, other->second.name});
    }
    if (!take(parts_.entries.at(first), name)) return false;
    if (other != parts_.entries.end() && other->second.name != name) take(other->second, name);
    return true;
  }
  void take_made_up(SegmentId first, SegmentId second, std::string name) {
    const std::string id = "-" + std::to_string(first.value);
    if (!take_both(first, second, name)) {
      if (!name.ends_with(id)) name += id;
      while (!take_both(first, second, name)) name += "-";
    }
    lose(LostPart::kName, first, name);
  }
  void lose(LostPart part, SegmentId id, const std::string& name) {
    losses_.push_back({part,
                       name,
                       0,
                       0,
                       0,
                       {Errc::kDirectoryDamaged, 0, id, Error::kNoOffset,
                        "the table of the directory that named it is damaged"}});
  }

  Result<Survey::Candidate> finish() {
    auto directory = std::make_shared<container::Directory>();
    const Generation generation = make_head(*directory);
    CRAWLSTORE_TRY(check_runs());
    std::vector<SegmentEntry> pending;
    std::size_t bytes = 0;
    const auto flush = [&] {
      if (pending.empty()) return;
      directory->tables.push_back(
          std::make_shared<const container::Table>(format::TableRef{}, std::exchange(pending, {})));
      bytes = 0;
    };
    for (auto& [id, entry] : parts_.entries) {
      for (auto& run : entry.runs) {
        if (run.born.value == 0) run.born = generation;
      }
      directory->superblock.features_incompat |= rule_of(entry.kind).feature;
      // A table holds so many bytes of it.
      const bool is_tiled = entry.storage_class == StorageClass::kTiled;
      const std::size_t more = 72 + entry.name.size() + 48 * (is_tiled ? 1 : entry.runs.size());
      if (64 + bytes + more > format::kTableBytesMax ||
          pending.size() == format::kTableSegmentsMax) {
        flush();
      }
      bytes += more;
      pending.push_back(entry);
    }
    flush();
    return Survey::Candidate{
        container::Reader::open_unpublished(storage_, survey_.identity, std::move(directory)),
        damage(), std::move(losses_), doubtful()};
  }

  /// Tables of owners name runs, and may lie.
  [[nodiscard]] Result<void> check_runs() const {
    std::set<RunId> ids;
    std::vector<Extent> extents;
    for (const auto& [id, entry] : parts_.entries) {
      for (const auto& run : entry.runs) {
        extents.push_back(run.extent());
        if (ids.insert(run.run_id).second) continue;
        return fail(Errc::kDirectoryInvalid, "two runs have the same id", run.offset_bytes, id);
      }
    }
    return format::check_disjoint(extents);
  }

  /// The fields of the root and its superblock.
  Generation make_head(container::Directory& directory) const {
    directory.kinds = &container::all_kinds();
    if (known_ != nullptr) {
      const auto& known = known_->reader->directory();
      directory.superblock = known.superblock;
      directory.root_extent = known.root_extent;
      directory.taken_back = known.taken_back;
    } else {
      directory.superblock.generation =
          std::max({survey_.newest.value, parts_.numbers.max_born, std::uint64_t{1}});
      directory.superblock.commit_time_us = survey_.newest_commit_us;
      // Not to be seen from here: whether the store is a shard.
      directory.superblock.features_incompat = format::kShardsFeature;
    }
    directory.next_run_id = parts_.numbers.next_run_id;
    directory.next_segment_id =
        std::max(parts_.numbers.next_segment_id, parts_.entries.rbegin()->first.value + 1);
    auto& high_water = directory.superblock.high_water_bytes;
    high_water = std::max(high_water, parts_.end_bytes());
    return directory.generation();
  }

  [[nodiscard]] container::DirectoryDamage damage() const {
    container::DirectoryDamage damage;
    damage.trees = parts_.trees;
    std::uint64_t missing = 0;
    if (known_ == nullptr) {
      damage.tables.push_back({{Errc::kDirectoryDamaged,
                                0,
                                {},
                                Error::kNoOffset,
                                "no root of the directory can be read"},
                               {},
                               {},
                               0});
      return damage;
    }
    for (auto table : known_->damage.tables) {
      const auto found = static_cast<std::uint64_t>(std::distance(
          parts_.entries.lower_bound(table.first), parts_.entries.lower_bound(table.end)));
      table.segment_count -= std::min(table.segment_count, found + trees_in(table));
      missing += table.segment_count;
      damage.tables.push_back(table);
    }
    const auto all = static_cast<double>(parts_.entries.size() + missing);
    damage.known_share = all == 0 ? 1 : static_cast<double>(parts_.entries.size()) / all;
    return damage;
  }

  [[nodiscard]] std::set<SegmentId> doubtful() const {
    std::set<SegmentId> ids;
    for (const auto& [id, database] : parts_.databases) {
      if (database.is_doubtful) ids.insert(id);
    }
    return ids;
  }

  [[nodiscard]] std::uint64_t trees_in(const container::DirectoryDamage::LostTable& table) const {
    return static_cast<std::uint64_t>(std::ranges::count_if(parts_.trees, [&](const auto& tree) {
      return tree.entry.id >= table.first && tree.entry.id < table.end;
    }));
  }

  using Taken = std::set<std::tuple<SegmentKind, SegmentId, std::string>>;

  const std::shared_ptr<Storage>& storage_;
  const Survey& survey_;
  const Survey::Candidate* known_;
  FoundSegments found_;
  FoundParts parts_;
  std::map<SegmentId, SegmentEntry> scores_;
  std::map<SegmentId, std::string> names_;
  Taken taken_;  // names, by kinds and owners
  std::vector<Loss> losses_;
};

}  // namespace

Result<Survey::Candidate> rebuild(const std::shared_ptr<Storage>& storage, const Survey& survey,
                                  const Survey::Candidate* known, const Advance& advance) {
  CRAWLSTORE_TRY(const auto size, storage->size());
  const auto* directory = known == nullptr ? nullptr : &known->reader->directory();
  const auto taken = known == nullptr ? std::vector<Extent>() : taken_by(*known);
  const std::uint64_t next_run_id = directory == nullptr ? kIdsMax : directory->next_run_id;
  CRAWLSTORE_TRY(auto runs, find_runs(*storage, survey.identity.uuid, taken, next_run_id, advance));
  return Rebuilding(storage, survey, known, std::move(runs), size).rebuild();
}

}  // namespace crawlstore::rescue
