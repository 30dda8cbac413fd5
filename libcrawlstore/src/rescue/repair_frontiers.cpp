// SPDX-License-Identifier: Apache-2.0
//
// Invariants: an item is kept that is proved to wait, or to be leased, with its values. A group
// whose key or state is damaged goes with all its items. Where a journal is damaged nobody knows
// what became of any group, so that the frontier is lost.
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "container/run_io.h"
#include "format/step_run.h"
#include "frontier/stored_frontier.h"
#include "frontier/version.h"
#include "rescue/frontier_replay.h"
#include "rescue/group_keys.h"
#include "rescue/patient.h"
#include "rescue/renewed_items.h"

namespace crawlstore::rescue {
namespace {

using format::RunRef;
using format::SegmentEntry;

auto contradicts(const char* text) {
  return fail(Errc::kSegmentInvalid, text);
}

bool is_of_damage(const Error& error) {
  return category(error.code) == ErrorCategory::kDamage;
}

/// A piece of the damaged frontier; `is_lost` one that cannot be read.
struct Piece {
  RunRef run;
  std::uint32_t first_group = 0;
  std::uint32_t end_group = 0;
  bool is_lost = false;
};

/// A damaged frontier as it was, and the one that takes its place.
/// Memory: as Frontier, and once more the keys of its groups.
class FrontierRescue {
 public:
  FrontierRescue(Patient& patient, const SegmentEntry& entry) : patient_(patient), entry_(entry) {}

  /// Puts the new frontier into the changes of the writer, in the place of the old one.
  ///   errors  of damage, kUnknownFeature: nothing is proved; of the storage
  Result<void> replace() {
    CRAWLSTORE_TRY(const auto table, read(entry_, entry_.runs.front()));
    CRAWLSTORE_TRY(found_, frontier::read_segments(*directory_, entry_, table));
    if (found_.steps == nullptr) return contradicts("a frontier without steps is damaged");
    CRAWLSTORE_TRY(read_keys());
    CRAWLSTORE_TRY(open_items());
    CRAWLSTORE_TRY(read_pieces());
    number_groups();
    return write();
  }

  /// Notes the loss: after a commit.
  void tell() {
    if (lost_count_ == 0 && numbers_.lost_count() == 0) return;
    patient_.lose({LostPart::kItems, entry_.name, 0, 0, lost_count_, first_damage()});
  }

  /// The first damage, or that of the table.
  [[nodiscard]] Error first_damage() const {
    for (const auto* const segment : {found_.groups, found_.items, found_.steps}) {
      if (segment == nullptr) continue;
      for (const RunRef& run : segment->runs) {
        if (patient_.is_damaged(run)) return damage_of(run, segment->id);
      }
    }
    return damage_of(entry_.runs.front(), entry_.id);
  }

 private:
  Result<std::span<const std::byte>> read(const SegmentEntry& segment, const RunRef& run) {
    const auto name = container::run_name(patient_.writer.identity(), segment.id, run.run_id);
    CRAWLSTORE_TRY(container::read_run(patient_.copy, name, run, payload_));
    return std::span<const std::byte>(payload_);
  }

  Result<void> read_keys() {
    if (found_.groups == nullptr) return {};
    for (const RunRef& run : found_.groups->runs) {
      if (run.record_count > found_.table.group_count - keys_.size()) {
        return contradicts("a frontier has more groups than it says");
      }
      const auto opened = patient_.writer.runs->add(found_.groups->id, run);
      CRAWLSTORE_TRY(auto keys, read_group_keys(*opened->reader(), keys_.size()));
      std::ranges::move(keys, std::back_inserter(keys_));
    }
    return {};
  }

  Result<void> open_items() {
    for (const format::ItemRunSpan& span : found_.table.runs) {
      if (span.last_step != 0) {
        return fail(Errc::kUnknownFeature, "a frontier has runs that were joined");
      }
      const RunRef& ref = *found_.items->find_run(span.run);
      items_.push_back({span, ref, {}});
      auto run = frontier::ItemRun::open(patient_.writer.runs->add(found_.items->id, ref));
      if (run) {
        items_.back().waiting.emplace_back(std::move(*run));
      } else if (!is_of_damage(run.error())) {
        return tl::unexpected<Error>(run.error());
      }
    }
    return {};
  }

  /// Reads of which groups the pieces are, and how many items have left the runs.
  Result<void> read_pieces() {
    for (const RunId id : found_.table.pieces) {
      Piece piece{*found_.steps->find_run(id), end_of_pieces(), 0, true};
      const auto payload = read(*found_.steps, piece.run);
      if (!payload && !is_of_damage(payload.error())) return tl::unexpected<Error>(payload.error());
      if (payload) CRAWLSTORE_TRY(read_piece(piece, *payload));
      pieces_.push_back(piece);
    }
    if (!pieces_.empty() && pieces_.back().is_lost) pieces_.back().end_group = key_count();
    return {};
  }
  Result<void> read_piece(Piece& piece, std::span<const std::byte> payload) {
    CRAWLSTORE_TRY(auto reader, format::StepReader::open(payload));
    const format::StepRun& run = reader.run();
    const bool is_after_lost = !pieces_.empty() && pieces_.back().is_lost;
    if (is_after_lost) pieces_.back().end_group = run.first_group;
    const bool follows =
        is_after_lost ? run.first_group > piece.first_group : run.first_group == piece.first_group;
    if (!run.is_piece || !follows || run.end_group > key_count()) {
      return contradicts("the pieces of a frontier do not follow each other");
    }
    if (last_step_.value_or(run.first_step) != run.first_step) {
      return fail(Errc::kUnknownFeature, "the pieces of a frontier are of different steps");
    }
    last_step_ = run.first_step;
    piece = {piece.run, run.first_group, run.end_group, false};
    for (format::Step step;;) {
      CRAWLSTORE_TRY(const bool is_there, reader.next(step));
      if (!is_there) return {};
      if (const auto* const left = std::get_if<format::LeftStep>(&step)) {
        CRAWLSTORE_TRY(leave(*left));
      }
    }
  }
  [[nodiscard]] std::uint32_t end_of_pieces() const {
    return pieces_.empty()          ? 0
           : pieces_.back().is_lost ? pieces_.back().first_group
                                    : pieces_.back().end_group;
  }
  [[nodiscard]] std::uint32_t key_count() const { return static_cast<std::uint32_t>(keys_.size()); }

  Result<void> leave(const format::LeftStep& left) {
    for (const auto& [id, count] : left.runs) {
      const auto items =
          std::ranges::find(items_, RunId{id}, [](const DamagedItems& of) { return of.span.run; });
      if (items == items_.end()) return contradicts("items have left a run that is none");
      if (items->waiting.empty()) continue;
      frontier::WaitingRun& run = items->waiting.front();
      const auto place = run.run->place_of(left.group);
      const auto waiting = place ? run.waiting_at(*place) : format::ItemRange{};
      if (count > waiting.end - waiting.begin) {
        return contradicts("more items of a group have left a run than it has");
      }
      run.left[*place] += static_cast<std::uint32_t>(count);
      run.waiting_count -= count;
    }
    return {};
  }

  void number_groups() {
    auto piece = pieces_.begin();
    for (std::uint32_t group = 0; group < key_count(); ++group) {
      while (piece != pieces_.end() && piece->end_group <= group) ++piece;
      const bool is_lost = piece != pieces_.end() && piece->is_lost;
      keys_[group] && !is_lost ? numbers_.add() : numbers_.add_lost();
    }
  }

  Result<void> write() {
    const SegmentId id = patient_.writer.new_segment_id();
    frontier::Version version;
    version.table.has_own_ids = found_.table.has_own_ids;
    version.table.default_rule = found_.table.default_rule;
    version.table.next_id = found_.table.next_id;
    version.table.step_count = found_.table.step_count;
    frontier::State state(found_.table.default_rule);
    for (std::uint32_t group = 0; group < key_count(); ++group) {
      if (!numbers_.find(group)) continue;
      CRAWLSTORE_TRY(state.apply(format::GroupStep{*keys_[group]}));
    }
    const SegmentId items = patient_.writer.new_segment_id();
    ItemRenewal renewal(patient_, numbers_, items, id);
    for (const DamagedItems& run : items_) CRAWLSTORE_TRY(renewal.add(run));
    version.items = renewal.runs();
    version.table.runs = renewal.spans();
    if (!version.items.empty()) version.table.items = items;
    CRAWLSTORE_TRY(state.add_runs(version.items));
    KnownItems known = std::move(renewal).known();
    known.has_own_ids = found_.table.has_own_ids;
    FrontierReplay replay(state, numbers_, std::move(known));
    CRAWLSTORE_TRY(replay_all(replay));
    if (state.groups().count() == 0) version.table.step_count = 0;  // there is no piece
    return put(id, version, state);
  }

  Result<void> replay_all(FrontierReplay& replay) {
    for (const Piece& piece : pieces_) {
      if (piece.is_lost) continue;
      CRAWLSTORE_TRY(replay_run(replay, piece.run));
    }
    for (const RunRef& run : found_.steps->runs) {
      if (std::ranges::find(found_.table.pieces, run.run_id) != found_.table.pieces.end()) continue;
      CRAWLSTORE_TRY(const auto first_step, replay_run(replay, run));
      if (first_step != last_step_.value_or(first_step - 1) + 1) {
        return contradicts("the journals of a frontier do not follow each other");
      }
      last_step_ = first_step + run.record_count - 1;
    }
    if (last_step_.value_or(found_.table.step_count) == found_.table.step_count) return {};
    return contradicts("a frontier has other steps than it says");
  }
  /// Returns the number of its first step.
  Result<std::uint64_t> replay_run(FrontierReplay& replay, const RunRef& run) {
    CRAWLSTORE_TRY(const auto payload, read(*found_.steps, run));
    CRAWLSTORE_TRY(patient_.advance(run.extent().length_bytes));
    CRAWLSTORE_TRY(auto reader, format::StepReader::open(payload));
    for (format::Step step;;) {
      CRAWLSTORE_TRY(const bool is_there, reader.next(step));
      if (!is_there) return reader.run().first_step;
      const auto* const clock = std::get_if<format::ClockStep>(&step);
      if (clock != nullptr && reader.run().is_piece) CRAWLSTORE_TRY(replay.begin(clock->time));
      CRAWLSTORE_TRY(replay.apply(
          step, reader.run().is_piece ? format::StepsIn::kPiece : format::StepsIn::kJournal));
    }
  }

  /// Writes the state as a checkpoint: a step must have come before it.
  Result<void> put(SegmentId id, const frontier::Version& version, frontier::State& state) {
    frontier::StepLog steps;
    steps.append(format::ClockStep{state.clock()});
    frontier::VersionWriter::Join join;
    frontier::VersionWriter writer(patient_.writer, id, 0, join);
    CRAWLSTORE_TRY(written_, writer.write(version, steps, state));
    const format::FrontierTable& after = written_.version.table;
    const std::uint64_t held = found_.table.waiting_count + found_.table.leased_count;
    const std::uint64_t kept = after.waiting_count + after.leased_count;
    if (kept > held) return contradicts("a frontier has more items than it says");
    lost_count_ = held - kept;
    CRAWLSTORE_TRY(writer.put(written_, entry_.name));
    patient_.remove(entry_);
    return {};
  }

  Patient& patient_;
  const SegmentEntry& entry_;
  const container::DirectoryPtr directory_ = patient_.writer.directory();
  frontier::FrontierSegments found_;
  std::vector<std::byte> payload_;
  std::vector<GroupKey> keys_;  // of groups in runs
  std::vector<DamagedItems> items_;
  std::vector<Piece> pieces_;
  std::optional<std::uint64_t> last_step_;  // that was read
  GroupNumbers numbers_;
  frontier::Written written_;  // whose runs belong to it until a commit
  std::uint64_t lost_count_ = 0;
};

}  // namespace

Result<void> repair_frontiers(Patient& patient) {
  for (const auto& entry : patient.segments(SegmentKind::kFrontier)) {
    if (!patient.has_damage(entry)) continue;
    FrontierRescue rescue(patient, entry);
    const auto replaced = rescue.replace();
    if (!replaced) {
      const Error& error = replaced.error();
      if (!is_of_damage(error) && error.code != Errc::kUnknownFeature) return replaced;
      patient.writer.drop_changes();
      patient.remove(entry);
      patient.lose({LostPart::kFrontier, entry.name, 0, 0, 0, rescue.first_damage()});
    }
    CRAWLSTORE_TRY(patient.writer.commit());
    if (replaced) rescue.tell();
  }
  return {};
}

}  // namespace crawlstore::rescue
