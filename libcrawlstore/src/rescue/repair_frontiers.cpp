// SPDX-License-Identifier: Apache-2.0
//
// Invariants: an item is kept that is proved to wait, or to be leased, with its values. A group
// whose key or state is damaged goes with all its items; a piece proves the groups before the one
// that its last step in front of the first damaged chunk is of. Visits do not say what they took,
// so that nothing can be said of what came after a step that is lost: where a journal is damaged,
// the frontier is as it was in front of the first step that cannot be read. The runs of items that
// it had then are known: all are as old as the pieces, or those that were joined are lost.
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
#include "rescue/damaged_payload.h"
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

/// A piece of the damaged frontier.
struct Piece {
  RunRef run;
  std::uint32_t first_group = 0;
  std::uint32_t end_group = 0;
  std::uint32_t kept_end = 0;  ///< the state of groups from here on cannot be read
  bool is_lost = true;         ///< none can be read, nor which these are
};

Result<DamagedPayload> read_steps(Patient& patient, const frontier::FrontierSegments& found,
                                  const RunRef& run) {
  CRAWLSTORE_TRY(patient.advance(run.extent().length_bytes));
  return read_damaged(*patient.writer.runs->add(found.steps->id, run)->reader());
}

/// The steps in front of the first damaged chunk, which is not the first one.
Result<format::StepReader> open_steps(const DamagedPayload& payload) {
  CRAWLSTORE_TRY(auto reader, format::StepReader::open(payload.bytes));
  if (!payload.is_whole()) reader.cut(payload.whole_bytes());
  return reader;
}

/// Makes the steps of a damaged frontier that can be read.
class StepReplay {
 public:
  StepReplay(Patient& patient, const frontier::FrontierSegments& found, FrontierReplay& replay)
      : patient_(patient), found_(found), replay_(replay) {}

  /// Makes those of a piece, in front of the first damaged chunk.
  Result<void> add_piece(const RunRef& run) {
    CRAWLSTORE_TRY(const auto payload, read_steps(patient_, found_, run));
    CRAWLSTORE_TRY(auto reader, open_steps(payload));
    CRAWLSTORE_TRY(replay_run(reader));
    return {};
  }
  /// Makes those of journals, up to the first that cannot be read. Returns the last one's number.
  ///   last_step  of the pieces; nothing: none of them can be read
  Result<std::uint64_t> add_journals(std::optional<std::uint64_t> last_step) {
    CRAWLSTORE_TRY(begin_journals(last_step));
    for (const RunRef& run : found_.steps->runs) {
      if (is_piece(run)) continue;
      CRAWLSTORE_TRY(replay_journal(run));
      if (cut_) return last_step_;
    }
    if (last_step_ == found_.table.step_count) return last_step_;
    return contradicts("a frontier has other steps than it says");
  }
  /// The damage from which on steps cannot be read.
  [[nodiscard]] const std::optional<Error>& cut() const { return cut_; }

 private:
  [[nodiscard]] bool is_piece(const RunRef& run) const {
    return std::ranges::find(found_.table.pieces, run.run_id) != found_.table.pieces.end();
  }
  /// Finds the step of the pieces; where all are lost, the journals tell how many are behind it.
  Result<void> begin_journals(std::optional<std::uint64_t> last_step) {
    std::uint64_t behind = 0;
    for (const RunRef& run : found_.steps->runs) behind += is_piece(run) ? 0 : run.record_count;
    const std::uint64_t count = found_.table.step_count;
    last_step_ = last_step.value_or(count - std::min(count, behind));
    for (const format::ItemRunSpan& span : found_.table.runs) {
      if (span.first_step <= last_step_) continue;
      return fail(Errc::kUnknownFeature, "a frontier has runs that are younger than its pieces");
    }
    return {};
  }
  /// Makes the steps in front of the first damaged chunk.
  Result<void> replay_journal(const RunRef& run) {
    CRAWLSTORE_TRY(const auto payload, read_steps(patient_, found_, run));
    const std::uint64_t whole_bytes = payload.whole_bytes();
    if (!payload.is_whole()) {
      cut_ = damage_of(run, found_.steps->id);
      cut_->offset += whole_bytes;
    }
    if (whole_bytes == 0) return {};
    CRAWLSTORE_TRY(auto reader, open_steps(payload));
    if (reader.run().is_piece || reader.run().first_step != last_step_ + 1) {
      return contradicts("the journals of a frontier do not follow each other");
    }
    CRAWLSTORE_TRY(const std::uint64_t count, replay_run(reader));
    last_step_ += count;
    return {};
  }
  /// Returns how many steps there are.
  Result<std::uint64_t> replay_run(format::StepReader& reader) {
    const bool is_piece = reader.run().is_piece;
    const auto in = is_piece ? format::StepsIn::kPiece : format::StepsIn::kJournal;
    std::uint64_t count = 0;
    for (format::Step step;; ++count) {
      CRAWLSTORE_TRY(const bool is_there, reader.next(step));
      if (!is_there) return count;
      const auto* const clock = std::get_if<format::ClockStep>(&step);
      if (clock != nullptr && is_piece) CRAWLSTORE_TRY(replay_.begin(clock->time));
      CRAWLSTORE_TRY(replay_.apply(step, in));
    }
  }

  Patient& patient_;
  const frontier::FrontierSegments& found_;
  FrontierReplay& replay_;
  std::uint64_t last_step_ = 0;
  std::optional<Error> cut_;
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
    if (cut_) {
      const std::uint64_t end = found_.table.step_count + 1;
      const std::uint64_t first = *last_step_ + 1;
      patient_.lose({LostPart::kSteps, entry_.name, first, end, end - first, *cut_});
    }
    if (lost_count_ == 0 && !lacks_parts_) return;
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
      Piece piece{.run = *found_.steps->find_run(id), .first_group = end_of_pieces()};
      CRAWLSTORE_TRY(const auto payload, read_steps(patient_, found_, piece.run));
      if (payload.whole_bytes() != 0) CRAWLSTORE_TRY(read_piece(piece, payload));
      pieces_.push_back(piece);
    }
    if (!pieces_.empty() && pieces_.back().is_lost) pieces_.back().end_group = key_count();
    return {};
  }
  Result<void> read_piece(Piece& piece, const DamagedPayload& payload) {
    CRAWLSTORE_TRY(auto reader, open_steps(payload));
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
    for (format::Step step;;) {
      CRAWLSTORE_TRY(const bool is_there, reader.next(step));
      if (!is_there) break;
      if (const auto* const left = std::get_if<format::LeftStep>(&step)) {
        CRAWLSTORE_TRY(leave(*left));
      }
    }
    const std::uint32_t kept_end = payload.is_whole() ? run.end_group : reader.last_group();
    piece = {piece.run, run.first_group, run.end_group, kept_end, false};
    return {};
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
      const bool is_kept = piece == pieces_.end() || group < piece->kept_end;
      keys_[group] && is_kept ? numbers_.add() : numbers_.add_lost();
    }
  }

  Result<void> write() {
    const SegmentId id = patient_.writer.new_segment_id();
    frontier::Version version;
    version.table.has_own_ids = found_.table.has_own_ids;
    version.table.default_rule = found_.table.default_rule;
    version.table.pages = found_.table.pages;
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
    CRAWLSTORE_TRY(replay.lower_counts());
    lacks_parts_ = numbers_.lost_count() != 0 || (cut_ && replay.lacks_items());
    if (state.groups().count() == 0) version.table.step_count = 0;  // there is no piece
    return put(id, version, state);
  }

  Result<void> replay_all(FrontierReplay& replay) {
    StepReplay steps(patient_, found_, replay);
    for (const Piece& piece : pieces_) {
      if (!piece.is_lost) CRAWLSTORE_TRY(steps.add_piece(piece.run));
    }
    CRAWLSTORE_TRY(last_step_, steps.add_journals(last_step_));
    cut_ = steps.cut();
    return {};
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
    if (!cut_ && kept > held) return contradicts("a frontier has more items than it says");
    lost_count_ = cut_ ? 0 : held - kept;  // how many there were earlier nothing says
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
  std::optional<Error> cut_;                // where steps behind it cannot be read
  bool lacks_parts_ = false;                // groups; or items, and steps
  GroupNumbers numbers_;
  frontier::Written written_;  // whose runs belong to it until a commit
  std::uint64_t lost_count_ = 0;
};

}  // namespace

Result<void> lose_frontiers_of_lost_pages(Patient& patient) {
  const std::vector<Loss> losses = patient.losses;
  const auto find_lost = [&losses](LostPart part, const std::string& name) {
    return std::ranges::find_if(
        losses, [&](const Loss& loss) { return loss.part == part && loss.name == name; });
  };
  std::vector<std::byte> payload;
  for (const auto& entry : patient.segments(SegmentKind::kFrontier)) {
    if (find_lost(LostPart::kFrontier, entry.name) != losses.end()) continue;
    const RunRef& run = entry.runs.front();
    const auto name = container::run_name(patient.writer.identity(), entry.id, run.run_id);
    const auto read = container::read_run(patient.copy, name, run, payload);
    if (!read && !is_of_damage(read.error())) return read;
    const auto table = format::parse_frontier_table(payload);
    if (!read || !table) continue;  // it is lost itself
    const auto pages = find_lost(LostPart::kPages, table->pages);
    if (table->pages.empty() || pages == losses.end()) continue;
    patient.remove(entry);
    patient.lose({LostPart::kFrontier, entry.name, 0, 0, 0, pages->error});
  }
  return {};
}

Result<void> repair_frontiers(Patient& patient) {
  CRAWLSTORE_TRY(lose_frontiers_of_lost_pages(patient));
  if (patient.writer.has_changes()) CRAWLSTORE_TRY(patient.writer.commit());
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
