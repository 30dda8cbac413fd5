// SPDX-License-Identifier: Apache-2.0
#include "frontier/stored_frontier.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "format/group_run.h"
#include "format/step_run.h"

namespace crawlstore::frontier {
namespace {

using format::RunRef;
using format::SegmentEntry;

/// An error about a place in a payload, as one about a place in the file.
tl::unexpected<Error> in_file(Error error, const SegmentEntry& segment, const RunRef& run) {
  if (error.code == Errc::kSegmentInvalid || error.code == Errc::kUnknownFeature) {
    error.segment = segment.id;
    error.offset = run.offset_bytes + (error.offset == Error::kNoOffset ? 0 : error.offset);
  }
  return tl::unexpected<Error>(error);
}

Result<void> read_groups(const SegmentEntry& segment, const RunRef& run,
                         std::span<const std::byte> payload, State& state) {
  const auto groups = format::parse_group_run(payload);
  if (!groups) return in_file(groups.error(), segment, run);
  const auto broken = [&](const char* text) {
    return in_file({Errc::kSegmentInvalid, 0, {}, 0, text}, segment, run);
  };
  if (groups->first_group != state.groups().count()) {
    return broken("the runs of a frontier's groups do not follow each other");
  }
  auto keys = format::keys_of(*groups);
  for (const std::uint16_t length : groups->lengths) {
    const auto key = keys.next(length);
    if (!key) return in_file(key.error(), segment, run);
    if (const auto added = state.apply(format::GroupStep{*key}); !added) {
      return in_file(added.error(), segment, run);
    }
    keys.forget();
  }
  return {};
}

/// Reads pieces and journals, in the order in which the steps were made.
class StepRuns {
 public:
  StepRuns(const FrontierSegments& found, const ReadRun& read, StoredState& out)
      : found_(found), read_(read), out_(out) {}

  Result<void> read_pieces() {
    std::uint32_t end_group = 0;
    for (const RunId id : found_.table.pieces) {
      const RunRef& run = *found_.steps->find_run(id);
      CRAWLSTORE_TRY(auto reader, open(run));
      const format::StepRun& piece = reader.run();
      if (!piece.is_piece || piece.first_group != end_group) {
        return broken(run, "the pieces of a frontier do not follow each other");
      }
      if (end_group != 0 && piece.first_step != last_step_) {
        unknown_ = {Errc::kUnknownFeature, 0, found_.steps->id, run.offset_bytes,
                    "the pieces of a frontier are of different steps, as later versions have them"};
      }
      last_step_ = end_group == 0 ? piece.first_step : std::min(last_step_, piece.first_step);
      end_group = piece.end_group;
      if (end_group > out_.state.groups().count()) {
        return broken(run, "a piece of a frontier is of groups that are none");
      }
      if (const auto applied = apply(reader, run); !applied) {
        return in_file(applied.error(), *found_.steps, run);
      }
      out_.piece_bytes += run.payload_bytes;
    }
    return {};
  }

  Result<void> read_journals() {
    const std::set<RunId> pieces(found_.table.pieces.begin(), found_.table.pieces.end());
    for (const RunRef& run : found_.steps->runs) {
      if (pieces.contains(run.run_id)) continue;
      CRAWLSTORE_TRY(auto reader, open(run));
      const std::uint64_t first_step = reader.run().first_step;
      if (reader.run().is_piece || first_step > last_step_ + 1 ||
          (first_step <= last_step_ && !out_.journals.empty())) {
        return broken(run, "the journals of a frontier do not follow each other");
      }
      if (first_step <= last_step_) {
        note_unknown({Errc::kUnknownFeature, 0, found_.steps->id, run.offset_bytes,
                      "a frontier has journals from before its pieces, as later versions have"});
        last_step_ = first_step - 1;
      }
      if (const auto applied = apply(reader, run); !applied) {
        return in_file(applied.error(), *found_.steps, run);
      }
      last_step_ += reader.step_count();
      out_.journals.push_back(run);
      out_.journal_bytes += run.payload_bytes;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t last_step() const { return last_step_; }
  /// The first thing that this version does not know: nothing was applied from there on.
  [[nodiscard]] const std::optional<Error>& unknown() const { return unknown_; }
  void note_unknown(const Error& error) {
    if (!unknown_) unknown_ = error;
  }

 private:
  Result<void> apply(format::StepReader& reader, const RunRef& run) {
    const auto in = reader.run().is_piece ? format::StepsIn::kPiece : format::StepsIn::kJournal;
    for (format::Step step;;) {
      CRAWLSTORE_TRY(const bool is_there, reader.next(step));
      if (!is_there) return {};
      if (unknown_) continue;
      const auto* const clock = std::get_if<format::ClockStep>(&step);
      if (clock != nullptr && reader.run().is_piece) {
        CRAWLSTORE_TRY(out_.state.begin(clock->time));
      }
      const auto applied = out_.state.apply(step, {}, in);
      if (applied) continue;
      if (applied.error().code != Errc::kUnknownFeature) return applied;
      unknown_ = in_file(applied.error(), *found_.steps, run).value();
    }
  }
  Result<format::StepReader> open(const RunRef& run) {
    CRAWLSTORE_TRY(const auto payload, read_(*found_.steps, run));
    auto reader = format::StepReader::open(payload);
    if (!reader) return in_file(reader.error(), *found_.steps, run);
    return reader;
  }
  tl::unexpected<Error> broken(const RunRef& run, const char* text) const {
    return in_file({Errc::kSegmentInvalid, 0, {}, 0, text}, *found_.steps, run);
  }

  const FrontierSegments& found_;
  const ReadRun& read_;
  StoredState& out_;
  std::uint64_t last_step_ = 0;
  std::optional<Error> unknown_;
};

}  // namespace

Result<FrontierSegments> read_segments(const container::Directory& directory,
                                       const SegmentEntry& frontier,
                                       std::span<const std::byte> payload) {
  const auto broken = [&frontier](const char* text) {
    return fail(Errc::kSegmentInvalid, text, frontier.runs.front().offset_bytes, frontier.id);
  };
  FrontierSegments found{&frontier, nullptr, nullptr, nullptr, {}};
  auto parsed = format::parse_frontier_table(payload);
  if (!parsed) return broken(parsed.error().text);
  found.table = std::move(*parsed);
  const auto find = [&](SegmentId id, SegmentKind kind, const SegmentEntry*& segment) {
    if (!id) return true;
    segment = directory.find(id);
    return segment != nullptr && segment->kind == kind && segment->owner == frontier.id;
  };
  if (!find(found.table.groups, SegmentKind::kFrontierGroups, found.groups) ||
      !find(found.table.items, SegmentKind::kFrontierItems, found.items) ||
      !find(found.table.steps, SegmentKind::kFrontierSteps, found.steps)) {
    return broken("a frontier names a log that is not its own");
  }
  if (found.items != nullptr && !std::ranges::equal(found.table.runs, found.items->runs, {},
                                                    &format::ItemRunSpan::run, &RunRef::run_id)) {
    return broken("a frontier does not name the runs of its items");
  }
  for (const RunId piece : found.table.pieces) {
    if (found.steps->find_run(piece) == nullptr) {
      return broken("a frontier names a piece that is none");
    }
  }
  return found;
}

Result<StoredState> read_state(const FrontierSegments& found, const ReadRun& read,
                               const OpenItems& open_items) {
  const format::FrontierTable& table = found.table;
  const auto broken = [&found](const char* text) {
    return fail(Errc::kSegmentInvalid, text, found.frontier->runs.front().offset_bytes,
                found.frontier->id);
  };
  StoredState stored{State(table.default_rule)};
  if (found.groups != nullptr) {
    for (const RunRef& run : found.groups->runs) {
      CRAWLSTORE_TRY(const auto payload, read(*found.groups, run));
      CRAWLSTORE_TRY(read_groups(*found.groups, run, payload, stored.state));
    }
  }
  stored.stored_group_count = stored.state.groups().count();
  StepRuns steps(found, read, stored);
  const auto note_unknown = [&](const char* text) {
    steps.note_unknown({Errc::kUnknownFeature, 0, found.frontier->id,
                        found.frontier->runs.front().offset_bytes, text});
  };
  for (const format::ItemRunSpan& span : table.runs) {
    if (span.last_step != 0) {
      note_unknown("a frontier has runs that were joined, as later versions have them");
      continue;
    }
    auto run = open_items(*found.items, *found.items->find_run(span.run));
    if (!run && run.error().code != Errc::kUnknownFeature) {
      return tl::unexpected<Error>(run.error());
    }
    if (!run) {
      steps.note_unknown(run.error());
    } else {
      stored.items.push_back(std::move(*run));
    }
  }
  if (const auto added = stored.state.add_runs(stored.items); !added) {
    if (added.error().code != Errc::kUnknownFeature) {
      return in_file(added.error(), *found.items, found.items->runs.front());
    }
    note_unknown(added.error().text);
  }
  if (found.steps != nullptr) {
    CRAWLSTORE_TRY(steps.read_pieces());
    for (const format::ItemRunSpan& span : table.runs) {
      if (span.first_step > steps.last_step()) {
        note_unknown("a frontier has runs that are younger than its pieces, as later versions do");
      }
    }
    CRAWLSTORE_TRY(steps.read_journals());
  }
  stored.state.wake(0);
  const State& state = stored.state;
  if (steps.last_step() != table.step_count) {
    return broken("a frontier has other steps than it says");
  }
  if (steps.unknown()) return tl::unexpected<Error>(*steps.unknown());
  if (state.groups().count() != table.group_count || state.waiting_count() != table.waiting_count ||
      state.leases().count() != table.leased_count || state.clock() != table.clock_ms ||
      state.next_id() > table.next_id) {
    return broken("the counts of a frontier are not those of its steps");
  }
  return stored;
}

}  // namespace crawlstore::frontier
