// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a Directory is complete and checked when load_directory() returns it: extents are
// inside the file and disjoint, tables ascend, ids are below next_segment_id; tiled segments have
// all their runs. It never changes.
#include "container/directory_state.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>

#include "container/tile_tree.h"
#include "format/checksum.h"
#include "format/endian.h"
#include "format/layout.h"
#include "format/root_extent.h"

namespace crawlstore::container {
namespace {

using format::ChecksumDomain;

struct Loader {
  Storage& storage;
  const Uuid& uuid;
  const CommitPolicy& policy;
  std::uint64_t generation;
  std::uint64_t high_water_bytes;
  const KindSet& kinds;
  DirectoryDamage* damage = nullptr;  // noted there, not an error
  TileLoader tiles{storage, uuid, high_water_bytes};

  Result<std::vector<std::byte>> read_extent(Extent extent, std::uint64_t payload_bytes) const {
    if (extent.offset_bytes < format::kDataStart || extent.length_bytes > high_water_bytes ||
        extent.offset_bytes > high_water_bytes - extent.length_bytes || payload_bytes == 0 ||
        extent.offset_bytes % format::kUnitBytes != 0) {
      return fail(Errc::kDirectoryInvalid, "a directory extent lies outside the file",
                  extent.offset_bytes);
    }
    CRAWLSTORE_TRY(const auto size, storage.size());
    const auto truncated =
        fail(Errc::kTruncated, "the file ends inside its directory", extent.offset_bytes);
    if (extent.end_bytes() > size) return truncated;
    std::vector<std::byte> bytes(extent.length_bytes);
    CRAWLSTORE_TRY(const auto got, storage.read(extent.offset_bytes, bytes));
    if (got < bytes.size()) return truncated;
    return bytes;
  }

  [[nodiscard]] Result<void> check_checksum(bool matches, Extent extent) const {
    if (matches || !policy.verify_directory_checksum) return {};
    return fail(Errc::kDirectoryDamaged, "the checksum of a directory piece does not match",
                extent.offset_bytes);
  }

  Result<std::vector<std::byte>> read_piece(Extent extent, std::uint64_t payload_bytes,
                                            ChecksumDomain domain, Generation born,
                                            std::uint64_t expected) const {
    auto bytes = read_extent(extent, payload_bytes);
    if (!bytes) return bytes;
    const auto seed = format::extent_seed(uuid, domain, born, extent.offset_bytes);
    CRAWLSTORE_TRY(check_checksum(format::checksum(*bytes, seed) == expected, extent));
    bytes->resize(payload_bytes);
    return bytes;
  }

  Result<std::vector<std::byte>> read_root(const format::Superblock& superblock) const {
    const Extent extent = format::root_extent(superblock);
    auto bytes = read_extent(extent, superblock.root_payload_bytes);
    if (!bytes) return bytes;
    CRAWLSTORE_TRY(check_checksum(format::is_root_whole(*bytes, uuid, superblock), extent));
    CRAWLSTORE_TRY(format::check_root_end(*bytes, uuid, superblock));
    bytes->resize(superblock.root_payload_bytes);
    return bytes;
  }

  [[nodiscard]] format::ParseLimits limits(std::uint64_t offset) const {
    return {{generation}, high_water_bytes, offset, kinds.rules()};
  }

  Result<std::shared_ptr<const Table>> load_table(const format::TableRef& ref) {
    CRAWLSTORE_TRY(auto bytes, read_piece(ref.extent(), ref.payload_bytes, ChecksumDomain::kTable,
                                          ref.born, ref.checksum));
    CRAWLSTORE_TRY(auto segments, format::parse_table(bytes, limits(ref.offset_bytes)));
    if (segments.size() != ref.segment_count || segments.empty() ||
        segments.front().id != ref.first_segment) {
      return fail(Errc::kDirectoryInvalid, "a table does not match its reference",
                  ref.offset_bytes);
    }
    CRAWLSTORE_TRY(load_trees(segments));
    if (segments.empty()) return nullptr;
    return std::make_shared<const Table>(ref, std::move(segments));
  }

  /// Takes out the segments whose trees are damaged, if `damage` is asked for.
  Result<void> load_trees(std::vector<format::SegmentEntry>& segments) {
    for (auto segment = segments.begin(); segment != segments.end();) {
      const auto root = segment->runs;
      const auto loaded = tiles.load(*segment);
      if (!loaded && damage == nullptr) return loaded;
      if (!loaded) {
        segment->runs = root;
        TileLoader again(storage, uuid, high_water_bytes);
        damage->trees.push_back({*segment, again.readable_tiles(*segment), loaded.error()});
      }
      segment = loaded ? segment + 1 : segments.erase(segment);
    }
    return {};
  }

  Result<std::shared_ptr<const HeldTable>> load_held(const format::HeldTableRef& ref) const {
    CRAWLSTORE_TRY(auto bytes, read_piece(ref.extent(), ref.payload_bytes,
                                          ChecksumDomain::kHeldTable, ref.born, ref.checksum));
    CRAWLSTORE_TRY(auto entries, format::parse_held_table(bytes, limits(ref.offset_bytes)));
    if (entries.size() != ref.entry_count) {
      return fail(Errc::kDirectoryInvalid, "a held table does not match its reference",
                  ref.offset_bytes);
    }
    return std::make_shared<const HeldTable>(ref, std::move(entries));
  }
};

/// Checks that the pieces that the root names are disjoint, before any is read: a hostile root
/// could name one held table two million times.
Result<void> check_pieces(const format::DirectoryRoot& root, Extent root_extent) {
  std::vector<Extent> pieces{root_extent};
  for (const auto& ref : root.tables) pieces.push_back(ref.extent());
  for (const auto& ref : root.held_tables) pieces.push_back(ref.extent());
  return format::check_disjoint(pieces);
}

/// The rules that need several tables at once.
class MeaningCheck {
 public:
  explicit MeaningCheck(const Directory& directory) : directory_(directory) {}

  Result<void> check() {
    SegmentId last{0};
    for (const auto& table : directory_.tables) {
      if (table->segments.front().id <= last) {
        return fail(Errc::kDirectoryInvalid, "tables are not in ascending order",
                    table->ref.offset_bytes);
      }
      last = table->segments.back().id;
      for (const auto& segment : table->segments) {
        if (const char* broken = check_segment(segment)) {
          return fail(Errc::kDirectoryInvalid, broken, table->ref.offset_bytes, segment.id);
        }
      }
    }
    if (last.value >= directory_.next_segment_id) {
      return invalid("a segment id is not below next_segment_id");
    }
    std::sort(run_ids_.begin(), run_ids_.end());
    if (std::adjacent_find(run_ids_.begin(), run_ids_.end()) != run_ids_.end()) {
      return invalid("two runs have the same id");
    }
    auto extents = directory_.live_extents();
    directory_.for_each_held(
        [&extents](const format::HeldExtent& held) { extents.push_back(held.extent); });
    return format::check_disjoint(extents);
  }

 private:
  const char* check_segment(const format::SegmentEntry& segment) {
    const format::KindRule& rule = directory_.kinds->of(segment).rule;
    if ((directory_.superblock.features_incompat & rule.feature) == 0) {
      return "a segment stands without the feature bit of its kind";
    }
    for (const auto& run : segment.runs) {
      if (run.run_id.value >= directory_.next_run_id) return "a run id is not below next_run_id";
      run_ids_.push_back(run.run_id);
    }
    const bool is_named = rule.owner == SegmentKind{} || rule.is_named;
    if (is_named && !names_.emplace(segment.kind, segment.owner, segment.name).second) {
      return "two segments of one kind have the same name";
    }
    if (rule.owner == SegmentKind{}) return nullptr;
    const auto* owner = directory_.find(segment.owner);
    const bool is_owned = owner != nullptr && owner->kind == rule.owner;
    return is_owned ? nullptr : "the owner of a segment is not one of this directory and its kind";
  }

  [[nodiscard]] tl::unexpected<Error> invalid(const char* text) const {
    return fail(Errc::kDirectoryInvalid, text, directory_.root_extent.offset_bytes);
  }

  const Directory& directory_;
  std::vector<RunId> run_ids_;
  std::set<std::tuple<SegmentKind, SegmentId, std::string_view>> names_;  // of one owner
};

}  // namespace

Table::Table(const format::TableRef& place, std::vector<format::SegmentEntry> entries)
    : ref(place), segments(std::move(entries)), end_bytes(place.extent().end_bytes()) {
  for (const auto& segment : segments) {
    for (const auto& run : segment.runs) {
      end_bytes = std::max(end_bytes, run.extent().end_bytes());
    }
  }
}

HeldTable::HeldTable(const format::HeldTableRef& place, std::vector<format::HeldExtent> extents)
    : ref(place), entries(std::move(extents)), end_bytes(place.extent().end_bytes()) {
  for (const auto& entry : entries) end_bytes = std::max(end_bytes, entry.extent.end_bytes());
}

const format::SegmentEntry* Directory::find(SegmentId id) const {
  auto table = std::upper_bound(
      tables.begin(), tables.end(), id,
      [](SegmentId wanted, const auto& entry) { return wanted < entry->segments.front().id; });
  if (table == tables.begin()) return nullptr;
  --table;
  const auto& segments = (*table)->segments;
  const auto place = std::lower_bound(
      segments.begin(), segments.end(), id,
      [](const format::SegmentEntry& entry, SegmentId wanted) { return entry.id < wanted; });
  return place != segments.end() && place->id == id ? &*place : nullptr;
}

const format::SegmentEntry* SegmentNames::find(const Tables& tables, SegmentKind kind,
                                               std::string_view name) const {
  if (!was_asked_.exchange(true, std::memory_order_relaxed)) {
    for (const auto& table : tables) {
      for (const auto& segment : table->segments) {
        if (segment.kind == kind && segment.name == name) return &segment;
      }
    }
    return nullptr;
  }
  using Name = std::pair<SegmentKind, std::string_view>;
  const auto name_of = [](const format::SegmentEntry* entry) {
    return Name(entry->kind, entry->name);
  };
  std::call_once(once_, [&] {
    std::vector<const format::SegmentEntry*> sorted;
    for (const auto& table : tables) {
      for (const auto& segment : table->segments) sorted.push_back(&segment);
    }
    std::ranges::stable_sort(sorted, {}, name_of);  // of the same name the lowest id first
    sorted_ = std::move(sorted);
  });
  const Name wanted(kind, name);
  const auto found = std::ranges::lower_bound(sorted_, wanted, {}, name_of);
  return found != sorted_.end() && name_of(*found) == wanted ? *found : nullptr;
}

const format::SegmentEntry* Directory::find_named(SegmentKind kind, std::string_view name) const {
  return names.find(tables, kind, name);
}

void Directory::for_each_segment(
    const std::function<void(const format::SegmentEntry&)>& visit) const {
  for (const auto& table : tables) {
    for (const auto& segment : table->segments) visit(segment);
  }
}

void Directory::for_each_held(const std::function<void(const format::HeldExtent&)>& visit) const {
  for (const auto& entry : held) visit(entry);
  for (const auto& table : held_tables) {
    for (const auto& entry : table->entries) visit(entry);
  }
}

std::vector<Extent> Directory::live_extents() const {
  std::vector<Extent> extents{root_extent};
  for (const auto& table : held_tables) extents.push_back(table->ref.extent());
  for (const auto& table : tables) {
    extents.push_back(table->ref.extent());
    for (const auto& segment : table->segments) {
      for (const auto& run : segment.runs) extents.push_back(run.extent());
    }
  }
  return extents;
}

bool Directory::continues(Generation older) const {
  return older > taken_back && older <= generation();
}

std::uint64_t Directory::segment_count() const {
  std::uint64_t count = 0;
  for (const auto& table : tables) count += table->segments.size();
  return count;
}

std::uint64_t Directory::end_bytes() const {
  std::uint64_t end = root_extent.end_bytes();
  for (const auto& table : tables) end = std::max(end, table->end_bytes);
  for (const auto& entry : held) end = std::max(end, entry.extent.end_bytes());
  for (const auto& table : held_tables) end = std::max(end, table->end_bytes);
  return end;
}

namespace {

/// Takes out segments whose owner is not there.
void remove_orphans(Directory& directory, DirectoryDamage& damage) {
  const auto is_orphan = [&directory](const format::SegmentEntry& entry) {
    return entry.owner && directory.find(entry.owner) == nullptr;
  };
  std::vector<std::shared_ptr<const Table>> tables;
  for (const auto& table : directory.tables) {
    auto segments = table->segments;
    std::ranges::copy_if(segments, std::back_inserter(damage.orphans), is_orphan);
    std::erase_if(segments, is_orphan);
    if (segments.size() == table->segments.size()) {
      tables.push_back(table);
    } else if (!segments.empty()) {
      tables.push_back(std::make_shared<const Table>(table->ref, std::move(segments)));
    }
  }
  const auto is_orphan_tree = [&](const auto& tree) { return is_orphan(tree.entry); };
  std::ranges::copy_if(damage.trees, std::back_inserter(damage.orphan_trees), is_orphan_tree);
  std::erase_if(damage.trees, is_orphan_tree);
  directory.tables = std::move(tables);
}

/// Whatever the length of the file. Notes what is damaged, and leaves it out, where the loader has
/// a place for that.
Result<DirectoryPtr> load(Loader loader, const format::Superblock& superblock) {
  CRAWLSTORE_TRY(format::check_root_place(superblock));
  DirectoryDamage* const damage = loader.damage;
  auto directory = std::make_shared<Directory>();
  directory->kinds = &loader.kinds;
  directory->superblock = superblock;
  directory->root_extent = format::root_extent(superblock);

  CRAWLSTORE_TRY(auto bytes, loader.read_root(superblock));
  CRAWLSTORE_TRY(auto root, format::parse_root(bytes, loader.limits(superblock.root_offset_bytes)));
  CRAWLSTORE_TRY(check_pieces(root, directory->root_extent));
  directory->next_segment_id = root.next_segment_id;
  directory->next_run_id = root.next_run_id;
  directory->taken_back = root.taken_back;
  directory->held = std::move(root.held);
  for (std::size_t i = 0; i < root.tables.size(); ++i) {
    const auto& ref = root.tables[i];
    auto table = loader.load_table(ref);
    if (!table && damage == nullptr) return tl::unexpected<Error>(table.error());
    if (!table) {
      const SegmentId end = i + 1 < root.tables.size() ? root.tables[i + 1].first_segment
                                                       : SegmentId{root.next_segment_id};
      damage->tables.push_back({table.error(), ref.first_segment, end, ref.segment_count});
    }
    if (table && *table != nullptr) directory->tables.push_back(std::move(*table));
  }
  for (const auto& ref : root.held_tables) {
    auto table = loader.load_held(ref);
    if (!table && damage == nullptr) return tl::unexpected<Error>(table.error());
    if (table) directory->held_tables.push_back(std::move(*table));
  }
  if (damage != nullptr) {
    std::uint64_t named = 0;
    for (const auto& ref : root.tables) named += ref.segment_count;
    const std::uint64_t known = directory->segment_count() + damage->trees.size();
    if (named != 0) damage->known_share = static_cast<double>(known) / static_cast<double>(named);
    remove_orphans(*directory, *damage);
  }
  CRAWLSTORE_TRY(MeaningCheck(*directory).check());
  return DirectoryPtr(std::move(directory));
}

}  // namespace

Result<DirectoryPtr> load_directory(Storage& storage, const Uuid& uuid,
                                    const format::Superblock& superblock,
                                    const CommitPolicy& policy, const KindSet& kinds) {
  CRAWLSTORE_TRY(format::check_features(superblock, false, kinds.features()));
  CRAWLSTORE_TRY(const auto size, storage.size());
  if (size < superblock.high_water_bytes) {
    return fail(Errc::kTruncated, "the file is shorter than its last commit", size);
  }
  return load({storage, uuid, policy, superblock.generation, superblock.high_water_bytes, kinds},
              superblock);
}

Result<DirectoryPtr> load_previous_directory(Storage& storage, const Uuid& uuid,
                                             const format::Superblock& superblock,
                                             const CommitPolicy& policy, const KindSet& kinds) {
  CRAWLSTORE_TRY(format::check_features(superblock, false, kinds.features()));
  CRAWLSTORE_TRY(const auto size, storage.size());
  auto directory =
      load({storage, uuid, policy, superblock.generation, superblock.high_water_bytes, kinds},
           superblock);
  if (!directory) return directory;
  for (const Extent& extent : (*directory)->live_extents()) {
    if (extent.end_bytes() > size) {
      return fail(Errc::kTruncated, "the file ends inside the previous generation", size);
    }
  }
  return directory;
}

Result<DirectoryPtr> load_readable_directory(Storage& storage, const Uuid& uuid,
                                             const format::Superblock& superblock,
                                             const KindSet& kinds, DirectoryDamage& damage) {
  CRAWLSTORE_TRY(format::check_features(superblock, false, kinds.features()));
  const CommitPolicy policy;
  return load(
      {storage, uuid, policy, superblock.generation, superblock.high_water_bytes, kinds, &damage},
      superblock);
}

Result<bool> has_root(Storage& storage, const Uuid& uuid, const format::Superblock& superblock) {
  const Extent extent = format::root_extent(superblock);
  std::vector<std::byte> bytes(extent.length_bytes);
  CRAWLSTORE_TRY(const auto got, storage.read(extent.offset_bytes, bytes));
  return got == bytes.size() && format::is_root_whole(bytes, uuid, superblock);
}

}  // namespace crawlstore::container
