// SPDX-License-Identifier: Apache-2.0
//
// Invariants: the end of a run that is kept was proved by the checksum of its top, and its extent
// lies in the file. Nothing that only the end says is trusted with memory or time.
#include "rescue/run_search.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "container/kind.h"
#include "container/run_scan.h"
#include "format/endian.h"
#include "format/layout.h"
#include "rescue/places.h"

namespace crawlstore::rescue {
namespace {

constexpr std::uint64_t kSearchStepBytes = std::uint64_t{1} << 20;  // between calls of advance()

/// Whether a run of this label may be in any directory.
bool is_legal(const format::RunLabel& label) {
  const auto* kind = container::all_kinds().find(label.kind);
  if (kind == nullptr || label.segment.value >= kIdsMax || label.owner.value >= kIdsMax) {
    return false;
  }
  const bool is_owned = kind->rule.owner != SegmentKind{};
  if (is_owned != static_cast<bool>(label.owner)) return false;
  switch (kind->rule.storage_class) {
    case StorageClass::kBlob:
      return label.first == 0;
    case StorageClass::kLog:
      return label.first < label.run.value;
    case StorageClass::kTiled:
      return true;
  }
  return false;
}

struct Search {
  Storage& storage;
  const Uuid& uuid;
  std::uint64_t next_run_id;
  const Advance& advance;
  std::vector<FoundRun> found{};
  std::vector<std::byte> top{};

  Result<void> find_ends(std::uint64_t size) {
    std::uint64_t begin = format::kDataStart;
    const std::uint64_t end = size & ~(format::kUnitBytes - 1);
    while ((begin = storage.next_data(begin) & ~(format::kUnitBytes - 1)) < end) {
      const std::uint64_t stop = std::min(end, begin + kSearchStepBytes);
      CRAWLSTORE_TRY(advance(stop - begin));
      for (; begin < stop; begin += format::kUnitBytes) look_at(begin + format::kUnitBytes);
    }
    return {};
  }

  /// A unit that cannot be read has no end.
  void look_at(std::uint64_t end_bytes) {
    std::array<std::byte, sizeof(format::RunEnd)> last{};
    const auto got = storage.read(end_bytes - last.size(), last);
    if (!got || *got < last.size()) return;
    if (format::load<std::uint32_t>(last.data()) != format::kRunEndMagic) return;
    auto ended = format::run_of_end(last, end_bytes);
    if (!ended || ended->label.run.value >= next_run_id || !is_legal(ended->label)) return;
    const Extent place = format::checksum_tree(ended->run.payload_bytes).top();
    top.resize(place.length_bytes);
    const auto read = storage.read(ended->run.offset_bytes + place.offset_bytes, top);
    if (!read || *read < top.size() || !format::prove_run_end(top, uuid, *ended)) return;
    found.push_back({ended->label, ended->run});
  }

  /// Reads the runs to the first damage. The rest counts as damaged when `bytes_max` are read.
  Result<void> look_through(std::uint64_t bytes_max) {
    std::uint64_t read = 0;
    for (FoundRun& one : found) {
      const format::RunName name{uuid, one.label.segment, one.label.run};
      bool is_whole = true;
      const auto scanned = container::scan_run(
          storage, name, one.run, [&](const container::RunPiece& piece) -> Result<void> {
            read += piece.extent.length_bytes;
            is_whole = piece.is_whole() && read <= bytes_max;
            if (!is_whole) return fail(Errc::kChunkDamaged, "damaged");
            return {};
          });
      one.is_whole = scanned && is_whole;
      CRAWLSTORE_TRY(advance(one.run.extent().length_bytes));
      if (read > bytes_max) break;
    }
    return {};
  }

  std::vector<FoundRun> without_overlaps(const std::vector<Extent>& taken) {
    std::ranges::stable_sort(found, [](const FoundRun& a, const FoundRun& b) {
      return std::tuple(a.is_whole, a.run.run_id) > std::tuple(b.is_whole, b.run.run_id);
    });
    Places places(taken);
    std::set<std::pair<SegmentId, RunId>> names;
    std::erase_if(found, [&](const FoundRun& one) {
      const std::pair name(one.label.segment, one.run.run_id);
      return names.contains(name) || !places.take(one.run.extent()) || !names.insert(name).second;
    });
    std::ranges::sort(found, {}, [](const FoundRun& one) {
      return std::pair(one.run.run_id, one.label.segment);
    });
    return std::move(found);
  }
};

}  // namespace

Result<std::vector<FoundRun>> find_runs(Storage& storage, const Uuid& uuid,
                                        const std::vector<Extent>& taken, std::uint64_t next_run_id,
                                        const Advance& advance) {
  CRAWLSTORE_TRY(const auto size, storage.size());
  Search search{storage, uuid, next_run_id, advance};
  CRAWLSTORE_TRY(search.find_ends(size));
  CRAWLSTORE_TRY(search.look_through(2 * size));
  return search.without_overlaps(taken);
}

}  // namespace crawlstore::rescue
