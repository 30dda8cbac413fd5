// SPDX-License-Identifier: Apache-2.0
//
// The file while runs move: a front in which runs lie one behind the other, then runs and gaps, and
// behind all runs, from floor_bytes_ on, the directory, so that its small pieces do not come to lie
// in the gaps.
//
// Invariants:
// - settle_down() only lowers offsets; push_up() is used when nothing can be lowered and all that
//   was left behind is free again. Afterwards the first gap is wide enough for a run, which fills
//   it from its start: the front grows with each use, so that the number of uses is bounded by that
//   of runs.
// - Extents reserved here are in moved_ until a commit has published them.
// - The nodes above a tile that moved are written anew when the moves are committed, into a gap or,
//   without one, behind floor_bytes_, from where later rounds bring them down. That ends: a round
//   moves something down, and raises only nodes above that.
#include "container/compact.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "container/run_io.h"
#include "container/tile_tree.h"
#include "format/layout.h"

namespace crawlstore::container {
namespace {

constexpr std::uint64_t kBytesPerCommit = 64 * 1024 * 1024;
constexpr std::size_t kCopyBytes = 1024 * 1024;
/// What a commit leaves behind is free after one more. The directory of that one still lists it, so
/// the end of the file moves with the next.
constexpr int kCommitsUntilFree = 1;
constexpr int kCommitsUntilTrim = 2;
/// What is left: a few roots, and gaps that are not worth closing.
constexpr std::uint64_t kSlackBytes = 8 * format::kUnitBytes;
constexpr std::uint64_t kSlackPart = 128;

/// `tree_position`: of a tiled segment, the entry of its tree_order.
struct LiveRun {
  SegmentId segment;
  RunId run;
  Extent extent;
  std::optional<std::uint64_t> tree_position{};
};

/// A tiled segment of which runs move. Nodes are written when the moves are committed.
struct TileMoves {
  TileTree tree;
  std::map<TilePlace, Extent> node_places;  // found for nodes
};

class Compaction {
 public:
  Compaction(Writer& writer, const Progress& progress) : writer_(writer), progress_(progress) {}
  ~Compaction() {
    drop_moves();
    writer_.place_from(std::nullopt);
  }
  Compaction(const Compaction&) = delete;
  Compaction& operator=(const Compaction&) = delete;

  Result<CompactReport> compact() {
    CRAWLSTORE_TRY(writer_.prepare());
    CRAWLSTORE_ASSERT(!writer_.has_changes());
    report_.file_bytes_before = writer_.file_bytes();
    if (is_worth_it()) {
      writer_.place_from(format::kDataStart);
      CRAWLSTORE_TRY(commit_times(kCommitsUntilFree));
      CRAWLSTORE_TRY(move_directory_behind());
      CRAWLSTORE_TRY(move_runs());
      CRAWLSTORE_TRY(move_directory_to_front());
    }
    CRAWLSTORE_TRY(writer_.trim(0));
    report_.file_bytes_after = writer_.file_bytes();
    return report_;
  }

 private:
  /// False when the file holds hardly more than what is live: so it is after compact().
  [[nodiscard]] bool is_worth_it() const {
    std::uint64_t live_bytes = format::kDataStart;
    for (const Extent& extent : writer_.directory()->live_extents()) {
      live_bytes += extent.length_bytes;
    }
    const std::uint64_t all = writer_.file_bytes();
    return all > live_bytes && all - live_bytes > kSlackBytes + live_bytes / kSlackPart;
  }

  Result<void> commit() {
    CRAWLSTORE_TRY(write_nodes());
    // A commit that throws may have published them.
    auto moved = std::exchange(moved_, {});
    const auto committed = writer_.commit(true);
    if (!committed) {
      moved_ = std::move(moved);
      return tl::unexpected<Error>(committed.error());
    }
    ++report_.commit_count;
    return report_progress();
  }

  Result<void> commit_times(int count) {
    for (int i = 0; i < count; ++i) CRAWLSTORE_TRY(commit());
    return {};
  }

  /// Gives back what was reserved and not published.
  void drop_moves() {
    writer_.drop_changes();
    tile_moves_.clear();
    for (const Extent& extent : moved_) writer_.release(extent);
    moved_.clear();
  }

  Result<void> report_progress() {
    const std::uint64_t total = std::max(expected_bytes_, report_.moved_bytes);
    if (!progress_ || progress_(report_.moved_bytes, total)) return {};
    return fail(Errc::kCancelled, "compacting was stopped");
  }

  /// Ascending offset.
  [[nodiscard]] std::vector<LiveRun> live_runs() const {
    std::vector<LiveRun> runs;
    writer_.directory()->for_each_segment([&runs](const format::SegmentEntry& entry) {
      const std::size_t begin = runs.size();
      for (const auto& run : entry.runs) runs.push_back({entry.id, run.run_id, run.extent()});
      for (std::size_t i = 0; i < entry.tree_order.size(); ++i) {
        runs[begin + entry.tree_order[i]].tree_position = i;
      }
    });
    std::sort(runs.begin(), runs.end(), [](const LiveRun& a, const LiveRun& b) {
      return a.extent.offset_bytes < b.extent.offset_bytes;
    });
    return runs;
  }

  /// Bytes below the end of the last run that are not runs.
  [[nodiscard]] std::uint64_t gap_bytes() const {
    const auto runs = live_runs();
    if (runs.empty()) return 0;
    std::uint64_t bytes = runs.back().extent.end_bytes() - format::kDataStart;
    for (const LiveRun& run : runs) bytes -= run.extent.length_bytes;
    return bytes;
  }

  /// Marks every table for rewriting.
  void touch_tables() {
    for (const auto& table : writer_.directory()->tables) writer_.put(table->segments.front());
  }

  Result<void> move_directory_behind() {
    const auto runs = live_runs();
    if (runs.empty()) return {};
    floor_bytes_ = runs.back().extent.end_bytes();
    std::uint64_t live_bytes = 0;
    for (const LiveRun& run : runs) live_bytes += run.extent.length_bytes;
    slide_bytes_min_ = std::max(format::kUnitBytes, live_bytes / kSlackPart);
    moves_left_bytes_ = 8 * live_bytes;
    for (const LiveRun& run : runs) {
      const bool is_behind = run.extent.end_bytes() > format::kDataStart + live_bytes;
      if (is_behind) expected_bytes_ += run.extent.length_bytes;
    }
    writer_.place_from(floor_bytes_);
    touch_tables();
    const auto committed = commit_times(1 + kCommitsUntilFree);
    if (committed || committed.error().code != Errc::kNoSpace) return committed;
    drop_moves();  // the disk is full: the directory stays where it finds room
    writer_.place_from(format::kDataStart);
    return {};
  }

  Result<void> move_runs() {
    for (;;) {
      auto moved = settle_down();
      if (!moved) return tl::unexpected<Error>(moved.error());
      if (*moved) {
        CRAWLSTORE_TRY(commit());
        continue;
      }
      // What the last moves left behind is freed before it is decided that nothing fits.
      CRAWLSTORE_TRY(commit_times(kCommitsUntilFree));
      moved = settle_down();
      if (!moved) return tl::unexpected<Error>(moved.error());
      if (!*moved) moved = push_up();
      if (!moved) return tl::unexpected<Error>(moved.error());
      if (!*moved) return {};
      CRAWLSTORE_TRY(commit_times(1 + kCommitsUntilFree));
    }
  }

  /// Moves runs, the last one first, to the lowest gap that they fit into. Returns whether one did.
  Result<bool> settle_down() {
    const auto runs = live_runs();
    std::uint64_t budget = std::min(kBytesPerCommit, moves_left_bytes_);
    std::uint64_t too_long = std::numeric_limits<std::uint64_t>::max();  // no gap for so much
    bool moved = false;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      const std::uint64_t length = run->extent.length_bytes;
      if (length >= too_long) continue;
      if (moves_left_bytes_ < length || (moved && budget < length)) break;
      const auto place =
          writer_.reserve_below(length, std::min(run->extent.offset_bytes, floor_bytes_));
      if (!place) {
        too_long = length;
        continue;
      }
      CRAWLSTORE_TRY(move(*run, *place));
      moved = true;
      budget -= std::min(budget, length);
    }
    return moved;
  }

  /// Moves the runs behind the first gap out of the way, behind all others.
  Result<bool> push_up() {
    if (gap_bytes() < slide_bytes_min_) return false;
    const auto current = writer_.directory()->generation();
    const auto pins = writer_.storage().pinned({0}, current.next());
    if (!pins) return tl::unexpected<Error>(pins.error());
    if (!pins->empty()) return false;

    const auto runs = live_runs();
    std::uint64_t longest = 0;
    for (const LiveRun& run : runs) longest = std::max(longest, run.extent.length_bytes);
    auto first = runs.begin();
    std::uint64_t end = format::kDataStart;
    while (first != runs.end() && first->extent.offset_bytes == end)
      end = (first++)->extent.end_bytes();
    if (first == runs.end() || end <= front_bytes_) return false;
    front_bytes_ = end;
    std::uint64_t room = std::min(longest, moves_left_bytes_);
    bool moved = false;
    for (auto run = first; run != runs.end() && run->extent.length_bytes <= room; ++run) {
      room -= run->extent.length_bytes;
      const auto place = writer_.reserve(run->extent.length_bytes);
      if (!place && place.error().code == Errc::kNoSpace) break;
      if (!place) return tl::unexpected<Error>(place.error());
      CRAWLSTORE_TRY(move(*run, *place));
      moved = true;
    }
    return moved;
  }

  Result<void> move(const LiveRun& run, Extent place) {
    moved_.push_back(place);
    const auto* entry = writer_.find(run.segment);
    CRAWLSTORE_ASSERT(entry != nullptr);
    if (run.tree_position) return move_in_tree(run, *entry, place);
    CRAWLSTORE_TRY(copy(run.extent, place.offset_bytes));
    auto changed = *entry;
    for (auto& ref : changed.runs) {
      if (ref.run_id != run.run) continue;
      ref.offset_bytes = place.offset_bytes;
      ref.born = {0};
    }
    writer_.put(std::move(changed));
    moves_left_bytes_ -= run.extent.length_bytes;
    return {};
  }

  /// A tile moves as it is, a node is written anew.
  Result<void> move_in_tree(const LiveRun& run, const format::SegmentEntry& entry, Extent place) {
    auto found = tile_moves_.find(run.segment);
    if (found == tile_moves_.end()) {
      found = tile_moves_.emplace(run.segment, TileMoves{TileTree(entry), {}}).first;
    }
    TileMoves& moves = found->second;
    const TilePlace at = moves.tree.place_of(*run.tree_position);
    moves_left_bytes_ -= run.extent.length_bytes;
    if (at.row != 0) {
      moves.tree.touch(at);
      moves.node_places.emplace(at, place);
      return {};
    }
    CRAWLSTORE_TRY(copy(run.extent, place.offset_bytes));
    format::RunRef ref = moves.tree.at(at);
    ref.offset_bytes = place.offset_bytes;
    ref.born = writer_.next_generation();
    moves.tree.set_tile(at.index, ref);
    return {};
  }

  /// Puts the tiled segments of which runs moved.
  Result<void> write_nodes() {
    for (auto& entry : tile_moves_) {
      const SegmentId segment = entry.first;
      TileMoves& moves = entry.second;
      CRAWLSTORE_TRY(moves.tree.write_nodes(
          [&](TilePlace at, const format::TileNode& node, const format::RunRef* replaced) {
            return write_node(segment, moves, at, node, *replaced);
          }));
      auto changed = *writer_.find(segment);
      moves.tree.store_in(changed);
      writer_.put(std::move(changed));
    }
    tile_moves_.clear();
    return {};
  }

  Result<format::RunRef> write_node(SegmentId segment, const TileMoves& moves, TilePlace at,
                                    const format::TileNode& node, const format::RunRef& replaced) {
    const auto place = place_of_node(moves, at, replaced.extent());
    if (!place) return tl::unexpected<Error>(place.error());
    std::vector<std::byte> payload;
    format::encode_tile_node(node, payload);
    auto run = write_run_at(writer_, segment, writer_.new_run_ids(1), payload, *place);
    if (!run) return run;
    run->record_count = replaced.record_count;
    run->born = writer_.next_generation();
    report_.moved_bytes += place->length_bytes;
    return run;
  }

  Result<Extent> place_of_node(const TileMoves& moves, TilePlace at, Extent old) {
    const auto found = moves.node_places.find(at);
    if (found != moves.node_places.end()) return found->second;
    const std::uint64_t end = std::min(old.offset_bytes, floor_bytes_);
    auto place = writer_.reserve_below(old.length_bytes, end);
    if (!place) {
      const auto behind = writer_.reserve(old.length_bytes);
      if (!behind) return behind;
      place = *behind;
    }
    moved_.push_back(*place);
    return *place;
  }

  Result<void> copy(Extent from, std::uint64_t to) {
    for (std::uint64_t done = 0; done < from.length_bytes; done += buffer_.size()) {
      buffer_.resize(std::min<std::uint64_t>(kCopyBytes, from.length_bytes - done));
      const auto got = writer_.storage().read(from.offset_bytes + done, buffer_);
      if (!got) return tl::unexpected<Error>(got.error());
      if (*got < buffer_.size()) {
        return fail(Errc::kTruncated, "the file ends inside a segment", from.offset_bytes + done);
      }
      CRAWLSTORE_TRY(writer_.storage().write(to + done, buffer_));
      report_.moved_bytes += buffer_.size();
      CRAWLSTORE_TRY(report_progress());
    }
    return {};
  }

  Result<void> move_directory_to_front() {
    writer_.place_from(format::kDataStart);
    touch_tables();
    return commit_times(1 + kCommitsUntilTrim);
  }

  Writer& writer_;
  const Progress& progress_;
  CompactReport report_;
  std::vector<Extent> moved_;
  std::map<SegmentId, TileMoves> tile_moves_;  // since the last commit
  std::vector<std::byte> buffer_;
  std::uint64_t expected_bytes_ = 0;    // to be moved, an estimate
  std::uint64_t moves_left_bytes_ = 0;  // against surprises: no file needs so much
  std::uint64_t floor_bytes_ = 0;
  std::uint64_t slide_bytes_min_ = 0;
  std::uint64_t front_bytes_ = 0;  // where the first gap began at the last push_up()
};

}  // namespace

Result<CompactReport> compact(Writer& writer, const Progress& progress) {
  return Compaction(writer, progress).compact();
}

}  // namespace crawlstore::container
