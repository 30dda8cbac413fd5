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
// - Extents reserved here are in reserved_ until a pending change names them.
// - Runs that others write meanwhile stay where they were put: a call moves what it found, and ends
//   however much is written beside it.
// - What a turn finds out of the directory holds for that turn only: publish_moves() looks again
//   where each run is, and gives back the places of those that are gone, elsewhere, or busy.
// - The nodes above a tile that moved are written anew when the moves are committed, into a gap or,
//   without one, behind floor_bytes_, from where later rounds bring them down. That ends: a round
//   moves something down, and raises only nodes above that.
#include "container/compact.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "container/run_io.h"
#include "container/tile_tree.h"
#include "format/layout.h"

namespace crawlstore::container {
namespace {

constexpr std::uint64_t kBytesPerCommit = 64 * 1024 * 1024;
constexpr std::size_t kCopyBytes = 1024 * 1024;
/// Commits after which an extent that a commit retires is free, and after which the file can end
/// before it: the directory of the first one still lists it.
constexpr int kCommitsUntilFree = 1;
constexpr int kCommitsUntilTrim = 2;
/// Free bytes that stay: a few roots, and gaps that are not worth closing.
constexpr std::uint64_t kSlackBytes = 8 * format::kUnitBytes;
constexpr std::uint64_t kSlackPart = 128;

/// `tree_position`: of a tiled segment, the entry of its tree_order.
struct PlacedRun {
  SegmentId segment;
  RunId run;
  Extent extent;
  std::optional<std::uint64_t> tree_position{};
  bool is_node = false;
};

/// A run that moves. A node is not copied, but written anew.
struct Move {
  PlacedRun run;
  Extent place;
};

/// The outcome of planned moves in the turn that publishes them.
struct Published {
  std::set<RunId> busy;         // they stay
  std::vector<PlacedRun> runs;  // that moved, but for those of tiled segments; where they were
};

/// A tiled segment of which runs move. Nodes are written when the moves are committed.
struct TileMoves {
  TileTree tree;
  std::map<TilePlace, Extent> node_places;  // found for nodes
};

/// Adds the runs of a segment, ascending run id.
void append_runs(const format::SegmentEntry& entry, std::vector<PlacedRun>& runs) {
  const std::size_t begin = runs.size();
  for (const auto& run : entry.runs) runs.push_back({entry.id, run.run_id, run.extent()});
  if (entry.tree_order.empty()) return;
  const std::uint64_t tiles = tile_count(entry);
  for (std::size_t i = 0; i < entry.tree_order.size(); ++i) {
    PlacedRun& run = runs[begin + entry.tree_order[i]];
    run.tree_position = i;
    run.is_node = i >= tiles;
  }
}

class Compaction {
 public:
  Compaction(Writer& writer, const Progress& progress, CompactionTurns& turns)
      : writer_(writer), progress_(progress), turns_(turns) {}
  ~Compaction() {
    give_back();
    if (is_placing_) writer_.place_from(placed_from_);
  }
  Compaction(const Compaction&) = delete;
  Compaction& operator=(const Compaction&) = delete;

  Result<CompactReport> compact() {
    CRAWLSTORE_TRY(turns_.plan([this] { return writer_.prepare(); }));
    report_.file_bytes_before = writer_.file_bytes();
    CRAWLSTORE_TRY(turns_.plan([this]() -> Result<void> {
      if (has_much_free()) place_low();
      return {};
    }));
    if (is_placing_) {
      CRAWLSTORE_TRY(commit_times(kCommitsUntilFree));
      CRAWLSTORE_TRY(move_directory_behind());
      CRAWLSTORE_TRY(move_runs());
      CRAWLSTORE_TRY(move_directory_to_front());
    }
    return finish();
  }

  Result<CompactReport> close_gaps() {
    CRAWLSTORE_TRY(turns_.plan([this] { return writer_.prepare(); }));
    report_.file_bytes_before = writer_.file_bytes();
    CRAWLSTORE_TRY(turns_.plan([this]() -> Result<void> {
      place_low();
      measure();
      return settle_down();
    }));
    while (!planned_.empty()) {
      CRAWLSTORE_TRY(commit_times(1 + kCommitsUntilFree));
      CRAWLSTORE_TRY(turns_.plan([this] { return settle_down(); }));
    }
    return finish();
  }

 private:
  Result<CompactReport> finish() {
    CRAWLSTORE_TRY(turns_.plan([this] { return writer_.trim(0); }));
    report_.file_bytes_after = writer_.file_bytes();
    return report_;
  }

  void place_low() {
    placed_from_ = writer_.place_from(format::kDataStart);
    is_placing_ = true;
  }

  /// Whether the file holds much more than its live bytes; after compact() it does not.
  [[nodiscard]] bool has_much_free() const {
    std::uint64_t live_bytes = format::kDataStart;
    for (const Extent& extent : writer_.directory()->live_extents()) {
      live_bytes += extent.length_bytes;
    }
    const std::uint64_t all = writer_.file_bytes();
    return all > live_bytes && all - live_bytes > kSlackBytes + live_bytes / kSlackPart;
  }

  /// Copies what was planned and publishes it, with the tables of the directory if asked.
  Result<void> commit(bool with_tables = false) {
    CRAWLSTORE_TRY(copy_runs());
    CRAWLSTORE_TRY(turns_.publish([&]() -> Result<void> {
      CRAWLSTORE_ASSERT(!writer_.has_changes());
      if (with_tables) touch_tables();
      const auto published = publish_moves();
      if (!published) writer_.drop_changes();
      return published;
    }));
    ++report_.commit_count;
    return report_progress();
  }

  Result<void> commit_times(int count) {
    for (int i = 0; i < count; ++i) CRAWLSTORE_TRY(commit());
    return {};
  }

  /// Gives back what was reserved and is not needed.
  void give_back() {
    for (const Extent& extent : reserved_) writer_.release(extent);
    reserved_.clear();
    planned_.clear();
  }

  Result<void> report_progress() {
    const std::uint64_t moved = report_.moved_bytes;
    if (!progress_ || progress_(moved, std::max(expected_bytes_, moved))) return {};
    return fail(Errc::kCancelled, "compacting was stopped");
  }

  /// Ascending offset.
  [[nodiscard]] std::vector<PlacedRun> live_runs() const {
    std::vector<PlacedRun> runs;
    writer_.directory()->for_each_segment(
        [&runs](const format::SegmentEntry& entry) { append_runs(entry, runs); });
    std::sort(runs.begin(), runs.end(), [](const PlacedRun& a, const PlacedRun& b) {
      return a.extent.offset_bytes < b.extent.offset_bytes;
    });
    return runs;
  }

  /// Bytes below the end of the last run that are not runs.
  static std::uint64_t gap_bytes(const std::vector<PlacedRun>& runs) {
    if (runs.empty()) return 0;
    std::uint64_t bytes = runs.back().extent.end_bytes() - format::kDataStart;
    for (const PlacedRun& run : runs) bytes -= run.extent.length_bytes;
    return bytes;
  }

  /// Marks every table for rewriting.
  void touch_tables() {
    for (const auto& table : writer_.directory()->tables) writer_.put(table->segments.front());
  }

  Result<void> move_directory_behind() {
    CRAWLSTORE_TRY(turns_.plan([this]() -> Result<void> {
      measure();
      return {};
    }));
    if (floor_bytes_ == 0) return {};
    writer_.place_from(floor_bytes_);
    auto committed = commit(true);
    if (committed) committed = commit_times(kCommitsUntilFree);
    if (committed || committed.error().code != Errc::kNoSpace) return committed;
    give_back();  // the disk is full: the directory stays where it finds room
    writer_.place_from(format::kDataStart);
    return {};
  }

  void measure() {
    const auto runs = live_runs();
    if (runs.empty()) return;
    first_new_run_ = writer_.new_run_ids(1);
    floor_bytes_ = runs.back().extent.end_bytes();
    std::uint64_t live_bytes = 0;
    for (const PlacedRun& run : runs) live_bytes += run.extent.length_bytes;
    slide_bytes_min_ = std::max(format::kUnitBytes, live_bytes / kSlackPart);
    moves_left_bytes_ = 8 * live_bytes;
    for (const PlacedRun& run : runs) {
      const std::uint64_t end = run.extent.end_bytes();
      if (end > format::kDataStart + live_bytes) expected_bytes_ += run.extent.length_bytes;
    }
  }

  Result<void> move_runs() {
    for (;;) {
      CRAWLSTORE_TRY(turns_.plan([this] { return settle_down(); }));
      if (!planned_.empty()) {
        CRAWLSTORE_TRY(commit());
        continue;
      }
      // Free the old places of the last moves before deciding that nothing fits.
      CRAWLSTORE_TRY(commit_times(kCommitsUntilFree));
      CRAWLSTORE_TRY(turns_.plan([this] { return settle_down(); }));
      if (planned_.empty()) CRAWLSTORE_TRY(turns_.plan([this] { return push_up(); }));
      if (planned_.empty()) return {};
      CRAWLSTORE_TRY(commit_times(1 + kCommitsUntilFree));
    }
  }

  /// Plans to move runs, the last one first, to the lowest gap that they fit into.
  Result<void> settle_down() {
    const auto runs = live_runs();
    const auto busy = writer_.runs->busy();
    std::uint64_t budget = std::min(kBytesPerCommit, moves_left_bytes_);
    std::uint64_t too_long = std::numeric_limits<std::uint64_t>::max();  // no gap for so much
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      const std::uint64_t length = run->extent.length_bytes;
      const bool is_new = !run->is_node && run->run >= first_new_run_;  // nodes are written here
      if (length >= too_long || is_new || busy.contains(run->run)) continue;
      if (moves_left_bytes_ < length || (!planned_.empty() && budget < length)) break;
      const auto place =
          writer_.reserve_below(length, std::min(run->extent.offset_bytes, floor_bytes_));
      if (!place) {
        too_long = length;
        continue;
      }
      plan(*run, *place);
      budget -= std::min(budget, length);
    }
    return {};
  }

  /// Plans to move the runs behind the first gap out of the way, behind all others.
  Result<void> push_up() {
    const auto runs = live_runs();
    if (gap_bytes(runs) < slide_bytes_min_) return {};
    const auto current = writer_.directory()->generation();
    CRAWLSTORE_TRY(const auto pins, writer_.storage().pinned({0}, current.next()));
    if (!pins.empty()) return {};

    std::uint64_t longest = 0;
    for (const PlacedRun& run : runs) longest = std::max(longest, run.extent.length_bytes);
    auto first = runs.begin();
    std::uint64_t end = format::kDataStart;
    while (first != runs.end() && first->extent.offset_bytes == end)
      end = (first++)->extent.end_bytes();
    if (first == runs.end() || end <= front_bytes_) return {};
    front_bytes_ = end;
    const auto busy = writer_.runs->busy();
    std::uint64_t room = std::min(longest, moves_left_bytes_);
    for (auto run = first; run != runs.end() && run->extent.length_bytes <= room; ++run) {
      if (busy.contains(run->run)) break;
      room -= run->extent.length_bytes;
      const auto place = writer_.reserve(run->extent.length_bytes);
      if (!place && place.error().code == Errc::kNoSpace) break;
      if (!place) return tl::unexpected<Error>(place.error());
      plan(*run, *place);
    }
    return {};
  }

  void plan(const PlacedRun& run, Extent place) {
    reserved_.insert(place);
    planned_.push_back({run, place});
    moves_left_bytes_ -= run.extent.length_bytes;
  }

  /// Outside of turns: others may go on, and even free what is copied here, or reuse it.
  Result<void> copy_runs() {
    bool has_copied = false;
    for (const Move& move : planned_) {
      if (move.run.is_node) continue;
      CRAWLSTORE_TRY(copy(move.run.extent, move.place.offset_bytes));
      has_copied = true;
    }
    if (!has_copied) return {};
    const auto synced = writer_.storage().sync();  // the commit has little left to do then
    if (!synced) writer_.poison();
    return synced;
  }

  /// Commits what was planned and still holds, and gives the rest back.
  Result<void> publish_moves() {
    auto moves = std::exchange(planned_, {});
    std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
      return std::tie(a.run.segment, a.run.run) < std::tie(b.run.segment, b.run.run);
    });
    Published published{writer_.runs->busy(), {}};
    for (auto begin = moves.cbegin(); begin != moves.cend();) {
      const SegmentId segment = begin->run.segment;
      const auto end = std::find_if(
          begin, moves.cend(), [segment](const Move& move) { return move.run.segment != segment; });
      CRAWLSTORE_TRY(put_moves({begin, end}, published));
      begin = end;
    }
    CRAWLSTORE_TRY(writer_.commit(true));
    give_back();
    tell_moved(published.runs);
    return {};
  }

  /// Puts one segment with those of its `moves` that still hold.
  Result<void> put_moves(std::span<const Move> moves, Published& published) {
    const auto* entry = writer_.find(moves.front().run.segment);
    std::vector<PlacedRun> now;
    if (entry != nullptr) append_runs(*entry, now);
    std::optional<format::SegmentEntry> changed;
    std::optional<TileMoves> tiles;
    for (const Move& move : moves) {
      const auto found =
          std::lower_bound(now.begin(), now.end(), move.run.run,
                           [](const PlacedRun& run, RunId wanted) { return run.run < wanted; });
      const bool holds = found != now.end() && found->run == move.run.run &&
                         found->extent == move.run.extent && !published.busy.contains(found->run);
      if (!holds) continue;
      if (!changed) changed = *entry;
      if (!found->tree_position) {
        format::RunRef& ref = changed->runs[static_cast<std::size_t>(found - now.begin())];
        ref.offset_bytes = move.place.offset_bytes;
        ref.born = {0};
        published.runs.push_back(*found);
        continue;
      }
      if (!tiles) tiles.emplace(TileMoves{TileTree(*entry), {}});
      move_in_tree(*tiles, *found, move.place);
    }
    if (tiles) CRAWLSTORE_TRY(write_nodes(*changed, *tiles));
    if (!changed) return {};
    for (const auto& run : changed->runs) reserved_.erase(run.extent());
    writer_.put(std::move(*changed));
    return {};
  }

  void move_in_tree(TileMoves& moves, const PlacedRun& run, Extent place) {
    const TilePlace at = moves.tree.place_of(*run.tree_position);
    if (run.is_node) {
      moves.tree.touch(at);
      moves.node_places.emplace(at, place);
      return;
    }
    format::RunRef ref = moves.tree.at(at);
    ref.offset_bytes = place.offset_bytes;
    ref.born = writer_.next_generation();
    moves.tree.set_tile(at.index, ref);
  }

  void tell_moved(const std::vector<PlacedRun>& runs) {
    std::map<RunId, format::RunRef> refs;
    for (const PlacedRun& run : runs) {
      refs.emplace(run.run, *writer_.directory()->find(run.segment)->find_run(run.run));
    }
    if (!refs.empty()) writer_.runs->moved(refs);
  }

  Result<void> write_nodes(format::SegmentEntry& entry, TileMoves& moves) {
    CRAWLSTORE_TRY(moves.tree.write_nodes(
        [&](TilePlace at, const format::TileNode& node, const format::RunRef* replaced) {
          return write_node(entry.id, moves, at, node, *replaced);
        }));
    moves.tree.store_in(entry);
    return {};
  }

  Result<format::RunRef> write_node(SegmentId segment, const TileMoves& moves, TilePlace at,
                                    const format::TileNode& node, const format::RunRef& replaced) {
    CRAWLSTORE_TRY(const auto place, place_of_node(moves, at, replaced.extent()));
    std::vector<std::byte> payload;
    format::encode_tile_node(node, payload);
    auto label = new_run(writer_, segment, moves.tree.first_tile(at));
    auto run = write_run_at(writer_, label, payload, replaced.record_count, place);
    if (!run) return run;
    run->born = writer_.next_generation();
    report_.moved_bytes += place.length_bytes;
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
    reserved_.insert(*place);
    return *place;
  }

  Result<void> copy(Extent from, std::uint64_t to) {
    for (std::uint64_t done = 0; done < from.length_bytes; done += buffer_.size()) {
      buffer_.resize(std::min<std::uint64_t>(kCopyBytes, from.length_bytes - done));
      CRAWLSTORE_TRY(const auto got, writer_.storage().read(from.offset_bytes + done, buffer_));
      if (got < buffer_.size()) {
        return fail(Errc::kTruncated, "the file ends inside a segment", from.offset_bytes + done);
      }
      CRAWLSTORE_TRY(writer_.write(to + done, buffer_));
      report_.moved_bytes += buffer_.size();
      CRAWLSTORE_TRY(report_progress());
    }
    return {};
  }

  Result<void> move_directory_to_front() {
    writer_.place_from(format::kDataStart);
    CRAWLSTORE_TRY(commit(true));
    return commit_times(kCommitsUntilTrim);
  }

  Writer& writer_;
  const Progress& progress_;
  CompactReport report_;
  CompactionTurns& turns_;
  std::vector<Move> planned_;
  std::set<Extent> reserved_;  // for what is planned, and for nodes
  std::vector<std::byte> buffer_;
  std::uint64_t expected_bytes_ = 0;    // to be moved, an estimate
  std::uint64_t moves_left_bytes_ = 0;  // against surprises: no file needs so much
  std::uint64_t floor_bytes_ = 0;
  bool is_placing_ = false;
  std::optional<std::uint64_t> placed_from_;  // before that
  RunId first_new_run_;
  std::uint64_t slide_bytes_min_ = 0;
  std::uint64_t front_bytes_ = 0;  // where the first gap began at the last push_up()
};

}  // namespace

Result<CompactReport> compact(Writer& writer, const Progress& progress, CompactionTurns& turns) {
  return Compaction(writer, progress, turns).compact();
}

Result<CompactReport> close_gaps(Writer& writer, const Progress& progress, CompactionTurns& turns) {
  return Compaction(writer, progress, turns).close_gaps();
}

}  // namespace crawlstore::container
