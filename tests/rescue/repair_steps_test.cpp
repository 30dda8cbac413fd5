// SPDX-License-Identifier: Apache-2.0
//
// A frontier whose last steps cannot be read: recover() makes of it what it was before the first of
// these. The oracle makes the steps of the undamaged file, one by one.
#include <initializer_list>

#include <gtest/gtest.h>

#include <crawlstore/tools/recover.h>

#include "base/inside.h"
#include "container/reader.h"
#include "drum/memory_store.h"
#include "format/group_run.h"
#include "format/queue_run.h"
#include "format/step_run.h"
#include "frontier/item_walk.h"
#include "frontier/snapshot_state.h"
#include "frontier/stored_frontier.h"
#include "rescue/known_frontier.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using format::RunRef;
using format::StepsIn;

constexpr std::uint64_t kBegin = 4'000'000'000'000;  // behind the wall clock
constexpr std::uint64_t kChunkBytes = 65'536;
constexpr std::uint64_t kNoCheckpoint = 100'000'000;

/// The states of a frontier in a whole file: after its pieces, and after each step behind them.
class StepOracle {
 public:
  explicit StepOracle(const Snapshot& snapshot)
      : snapshot_(snapshot), state_(read_table().default_rule) {
    std::uint32_t first_group = 0;
    for (std::size_t i = 0; found_.groups != nullptr && i < found_.groups->runs.size(); ++i) {
      const auto payload = read(*found_.groups, found_.groups->runs[i]);
      const auto run = must(format::parse_group_run(payload));
      EXPECT_EQ(run.first_group, first_group);
      auto keys = format::keys_of(run);
      for (const auto length : run.lengths) {
        must(state_.apply(format::GroupStep{must(keys.next(length))}));
        keys.forget();
        ++first_group;
      }
    }
    std::vector<frontier::ItemRunPtr> items;
    for (const auto& span : found_.table.runs) {
      items.push_back(must(frontier::ItemRun::open(std::make_shared<const container::Run>(
          reader().run_reader(found_.items->id, *found_.items->find_run(span.run))))));
    }
    must(state_.add_runs(items));
    for (const RunId id : found_.table.pieces) apply_piece(*found_.steps->find_run(id));
    first_step_ = step_;
  }

  /// The step of the pieces.
  [[nodiscard]] std::uint64_t first_step() const { return first_step_; }
  [[nodiscard]] const format::FrontierTable& table() const { return found_.table; }
  /// The runs of steps behind the pieces.
  [[nodiscard]] std::vector<RunRef> journals() const {
    std::vector<RunRef> runs;
    for (const RunRef& run : found_.steps->runs) {
      if (std::ranges::count(found_.table.pieces, run.run_id) == 0) runs.push_back(run);
    }
    return runs;
  }
  /// Steps of a journal that lie wholly in its first bytes.
  [[nodiscard]] std::uint64_t steps_in(const RunRef& run, std::uint64_t bytes) const {
    const auto payload = read(*found_.steps, run);
    auto steps = must(format::StepReader::open(payload));
    format::StepWriter writer(steps.run());
    for (format::Step step; must(steps.next(step));) {
      writer.append(step);
      if (writer.payload_bytes() > bytes) return writer.step_count() - 1;
    }
    return writer.step_count();
  }
  /// Makes the steps up to one, which is not before that of the last call.
  const Content& after(std::uint64_t last_step) {
    for (const RunRef& run : journals()) {
      const auto payload = read(*found_.steps, run);
      auto steps = must(format::StepReader::open(payload));
      std::uint64_t number = steps.run().first_step;
      for (format::Step step; number <= last_step && must(steps.next(step)); ++number) {
        if (number <= step_) continue;
        must(state_.apply(step));
        step_ = number;
      }
    }
    EXPECT_EQ(step_, last_step);
    fill();
    return content_;
  }

 private:
  [[nodiscard]] container::Reader& reader() const { return Inside::of(snapshot_); }
  [[nodiscard]] std::vector<std::byte> read(const format::SegmentEntry& segment,
                                            const RunRef& run) const {
    std::vector<std::byte> payload;
    const auto name = container::run_name(reader().identity(), segment.id, run.run_id);
    must(container::read_run(*reader().storage(), name, run, payload));
    return payload;
  }
  const format::FrontierTable& read_table() {
    const auto* const entry = reader().directory().find_named(SegmentKind::kFrontier, "f");
    const auto payload = read(*entry, entry->runs.front());
    found_ = must(frontier::read_segments(reader().directory(), *entry, payload));
    return found_.table;
  }
  void apply_piece(const RunRef& run) {
    const auto payload = read(*found_.steps, run);
    auto steps = must(format::StepReader::open(payload));
    step_ = steps.run().first_step;
    for (format::Step step; must(steps.next(step));) {
      const auto* const clock = std::get_if<format::ClockStep>(&step);
      if (clock != nullptr) must(state_.begin(clock->time));
      must(state_.apply(step, {}, StepsIn::kPiece));
    }
  }

  void fill() {
    content_ = {};
    content_.clock = state_.clock();
    for (std::uint32_t group = 0; group < state_.groups().count(); ++group) {
      const auto of = frontier::group_of(state_, group);
      content_.groups[of.key] = known_group(of);
      for (const auto& item : state_.groups()[group].items.all()) note(group, item, 0, {});
    }
    for (const auto& later : state_.later().held()) note(later.group, later.item, later.time, {});
    for (const auto& [id, lease] : state_.leases().all()) {
      note(lease.group, lease.item, 0, lease.until);
    }
    for (const auto& run : state_.later().runs()) note_walk(frontier::ItemWalk(run));
    for (std::uint32_t group = 0; group < state_.groups().count(); ++group) {
      state_.runs().for_each_of(group, [&](std::size_t at, const format::ItemRange& items) {
        const auto& run = state_.runs().all()[at];
        for (std::uint64_t number = items.begin; number < items.end; ++number) {
          if (run.gone.has(number)) continue;
          const auto item = must(run.run->item(number));
          note(group, {item.order, item.id, 0, must(run.run->body(number))}, 0, {});
        }
      });
    }
  }
  void note_walk(frontier::ItemWalk walk) {
    while (must(walk.next())) {
      const auto& item = walk.item();
      note(item.group, {item.order, item.id, 0, std::string(walk.body())}, item.time, {});
    }
  }
  void note(std::uint32_t group, const frontier::Item& item, std::uint64_t time,
            std::optional<std::uint64_t> until) {
    content_.items[item.id] = {std::string(state_.groups().key(group)),
                               format::queue_priority(item.order),
                               item.attempt,
                               must(item.body.text()),
                               time,
                               until};
  }

  Snapshot snapshot_;
  frontier::FrontierSegments found_;
  frontier::State state_;
  std::uint64_t first_step_ = 0;
  std::uint64_t step_ = 0;  // that was made last
  Content content_;
};

/// Commits of each 500 items, with work between them.
///   checkpoint_bytes  of steps, behind which the state is stored
std::vector<std::byte> made_image(std::uint64_t checkpoint_bytes, bool has_own_ids) {
  MemoryStore store;
  Random random(test_seed());
  FrontierOptions options;
  options.default_rule = {.delay_ms = 40, .hard_ms = 10, .in_flight_max = 3};
  options.checkpoint_bytes = checkpoint_bytes;
  options.has_own_ids = has_own_ids;
  std::optional<Frontier> frontier(must(Frontier::open(*store, "f", options)));
  std::uint64_t next_id = 0;
  for (std::uint64_t round = 0; round < 16; ++round) {
    std::vector<std::string> texts;
    for (int i = 0; i < 500; ++i) {
      texts.push_back("host" + std::to_string(random.below(10 * round + 20)));
      texts.push_back(std::string(20 + random.below(300), static_cast<char>('a' + i % 26)));
    }
    std::vector<FrontierItem> items;
    const std::uint64_t now = kBegin + 10'000 * round;
    for (std::size_t i = 0; i < 500; ++i) {
      const std::uint64_t later = random.below(8) == 0 ? now + random.below(50'000) : 0;
      items.push_back(
          {texts[2 * i], static_cast<double>(random.below(100)), texts[2 * i + 1], later});
      if (has_own_ids) items.back().id = next_id++ * 7;
    }
    must(frontier->put(items));
    const auto taken =
        must(frontier->take({.count = 100, .per_group = 3, .lease_ms = 25'000, .now_ms = now}));
    std::vector<std::uint64_t> done;
    std::vector<GivenBack> back;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (i % 3 == 0) done.push_back(taken[i].id);
      if (i % 5 == 1) back.push_back({taken[i].id, i % 2 == 0 ? 0 : now + 5000, i % 4 == 0});
    }
    must(frontier->finish(done, now + 10));
    must(frontier->give_back(back, now + 20));
    must(frontier->drop_group("host" + std::to_string(random.below(20))));
    must(frontier->remove(std::vector<FrontierKey>{{texts[0], items[0].id.value_or(500 * round)}}));
    must(store->commit());
  }
  frontier.reset();
  must(store->close());
  return store.image();
}

class RepairSteps : public ::testing::TestWithParam<std::tuple<std::uint64_t, bool>> {
 protected:
  RepairSteps() : image_(made_image(std::get<0>(GetParam()), std::get<1>(GetParam()))) {
    write_file(folder_ / "whole", image_);
    oracle_.emplace(must(Snapshot::open(folder_ / "whole")));
  }

  std::vector<Loss> recover_with(std::initializer_list<std::uint64_t> places) {
    auto bytes = image_;
    for (const std::uint64_t place : places) bytes[place] ^= std::byte{1};
    write_file(folder_ / "x", bytes);
    std::filesystem::remove(folder_ / "new");
    return must(recover(folder_ / "x", folder_ / "new")).losses;
  }
  [[nodiscard]] std::vector<RunInfo> item_runs() const {
    const auto snapshot = must(Snapshot::open(folder_ / "whole"));
    for (const auto& segment : snapshot.segments()) {
      if (segment.kind == SegmentKind::kFrontierItems) return segment.runs;
    }
    return {};
  }
  void check_state(std::uint64_t last_step) {
    const Content& expected = oracle_->after(last_step);
    const Content found(folder_ / "new");
    EXPECT_EQ(found.items, expected.items);
    EXPECT_EQ(found.groups, expected.groups);
    EXPECT_EQ(found.clock, expected.clock);
  }
  /// Ids that were given are not given again, but those of the caller.
  void check_next_id() {
    if (std::get<1>(GetParam())) return;
    auto store = must(Store::open(folder_ / "new"));
    {
      auto frontier = must(Frontier::open(store, "f"));
      must(frontier.put(std::vector<FrontierItem>{{"other", 0, "body"}}));
      const auto found = must(frontier.find({"other", oracle_->table().next_id}));
      EXPECT_TRUE(found);
    }
    must(store.close());
  }

  TemporaryFolder folder_;
  std::vector<std::byte> image_;
  std::optional<StepOracle> oracle_;
};

TEST_P(RepairSteps, GivesTheStateBeforeADamagedChunk) {
  const auto& table = oracle_->table();
  std::uint64_t cut_count = 0;
  std::uint64_t before = oracle_->first_step();
  for (const RunRef& run : oracle_->journals()) {
    for (std::uint64_t at = 0; at < run.payload_bytes; at += kChunkBytes) {
      const auto losses = recover_with({run.offset_bytes + at + 7});
      const std::uint64_t proved = before + oracle_->steps_in(run, at);
      // The generation before it may be whole, and have nearly as much.
      const bool is_older = losses.front().part == LostPart::kCommits;
      ASSERT_EQ(losses.size(), is_older ? 2U : 1U);
      const Loss& loss = losses.back();
      EXPECT_EQ(loss.part, LostPart::kSteps);
      EXPECT_EQ(loss.name, "f");
      EXPECT_EQ(loss.end, table.step_count + 1);
      EXPECT_EQ(loss.count, loss.end - loss.first);
      check_state(loss.first - 1);
      if (is_older) continue;
      EXPECT_EQ(loss.first, proved + 1);
      EXPECT_EQ(loss.error.offset, run.offset_bytes + at);
      check_next_id();
      ++cut_count;
    }
    before += run.record_count;
  }
  EXPECT_GE(cut_count, 2U);
}

/// Each of the states has all of its items, or lacks those that cannot be read.
TEST_P(RepairSteps, LacksItemsOfTheStateToo) {
  const auto runs = item_runs();
  if (runs.empty()) return;
  const RunRef journal = oracle_->journals().back();
  const auto losses = recover_with({journal.offset_bytes, runs.front().extent.offset_bytes});
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[0].part, LostPart::kSteps);
  EXPECT_EQ(losses[1].part, LostPart::kItems);
  EXPECT_EQ(losses[1].count, 0U);
  const Content& whole = oracle_->after(losses[0].first - 1);
  const Content found(folder_ / "new");
  EXPECT_LT(found.items.size(), whole.items.size());
  EXPECT_GT(found.items.size(), whole.items.size() / 4);
  for (const auto& [id, item] : found.items) EXPECT_EQ(whole.items.at(id), item) << id;
}

std::string name_of_case(const ::testing::TestParamInfo<RepairSteps::ParamType>& of) {
  return std::string(std::get<0>(of.param) < kNoCheckpoint ? "Pieces" : "Journals") +
         (std::get<1>(of.param) ? "OwnIds" : "");
}
INSTANTIATE_TEST_SUITE_P(All, RepairSteps,
                         ::testing::Combine(::testing::Values(kNoCheckpoint, 600'000),
                                            ::testing::Bool()),
                         name_of_case);

}  // namespace
}  // namespace crawlstore::testing
