// SPDX-License-Identifier: Apache-2.0
#include "pages/simulation/writer.h"

#include <utility>

#include <gtest/gtest.h>

#include <crawlstore/tools/verify.h>

#include "drum/memory_store.h"

namespace crawlstore::testing::simulation {

Writer::Writer(std::uint64_t seed, Counts& counts)
    : random_(seed),
      counts_(counts),
      crawl_(seed),
      machine_(random_, [this] { readers_.step(); }),
      readers_(random_, machine_, history_, counts) {
  const Machine::Undisturbed undisturbed(machine_);
  machine_.start(make_empty_store_file(kCapacityBytes));
  parts_.open_store(machine_.open(OpenMode::kWrite));
  parts_.open(now_);
  for (int generation = 0; generation < 2; ++generation) begin(false);
  if (random_.below(4) != 0) return;
  // Runs of links that the supersteps to come join.
  for (int generation = 0; generation < 8; ++generation) begin(true);
}

Snapshot Writer::look(bool previous) {
  const Machine::Undisturbed undisturbed(machine_);
  SnapshotOptions options;
  options.previous = previous;
  return must(Snapshot::open(machine_.open(OpenMode::kRead), options));
}

void Writer::begin(bool merges) {
  submit();
  if (merges) {
    must(parts_.pages->merge());
    now_ = now_.merged();
  } else {
    must(parts_.store->commit());
  }
  committed_ = now_;
  history_.acknowledge(history_.add(now_), parts_.store->generation().value);
}

Result<void> Writer::without_lost_readers(const std::function<Result<void>()>& act) {
  auto result = act();
  if (result || result.error().code != Errc::kBusyPinned) return result;
  EXPECT_TRUE(machine_.has_evicted()) << "no published generation was ever lost";
  readers_.close();
  return act();
}

bool Writer::attempt(Operation operation) {
  ++counts_.operations;
  for (const State& state : operation.on_the_way) history_.add(state);
  const std::size_t first_result = history_.end();
  for (State& state : operation.results) history_.add(std::move(state));
  machine_.plan_trouble();
  auto result = without_lost_readers(operation.act);
  if (!result && !machine_.has_crashed()) {
    EXPECT_TRUE(machine_.has_injected()) << "without a reason: " << describe(result.error());
    ++counts_.failures;
    if (machine_.evicts()) history_.forget_seen();
    if (random_.below(2) == 0) machine_.calm();
    if (random_.below(2) == 0) {
      result = without_lost_readers(operation.act);
      if (result) ++counts_.retries;
    }
  }
  if (!result) {
    if (!operation.is_undone || !goes_on(result.error(), operation)) give_up();
    return false;
  }
  if (!machine_.has_crashed()) machine_.end_trouble();
  now_ = std::move(operation.next);
  const Machine::Undisturbed undisturbed(machine_);
  const Snapshot snapshot = look();
  count_item_runs(snapshot);
  const Sight sight = sight_of(snapshot);
  const std::size_t place = history_.see_result(sight, first_result, !machine_.evicts());
  committed_ = history_.at(place);
  if (operation.is_durable) history_.acknowledge(place, sight.generation);
  return true;
}

void Writer::count_item_runs(const Snapshot& snapshot) {
  const ItemRuns now = item_runs_of(snapshot);
  if (now.step_count > item_runs_.step_count) {
    counts_.item_runs += now.count > item_runs_.count;
    counts_.items_joined += now.count < item_runs_.count;
  }
  item_runs_ = now;
}

bool Writer::goes_on(const Error& error, const Operation& operation) {
  if (machine_.has_crashed() || machine_.evicts() || error.code != Errc::kNoSpace) return false;
  machine_.end_trouble();
  const Machine::Undisturbed undisturbed(machine_);
  if (!parts_.queue->insert({})) return false;  // poisoned
  ++counts_.goings_on;
  parts_.expect_waiting(now_);
  const Content content = content_of(look());
  for (const State& state : operation.on_the_way) {
    if (state.content() == content) committed_ = state;
  }
  EXPECT_TRUE(content == committed_.content()) << "an error has changed the store";
  return true;
}

void Writer::give_up() {
  if (machine_.has_crashed()) return parts_.drop();
  machine_.halt();
  parts_.drop();
  machine_.end_trouble();
  if (machine_.evicts()) history_.forget_seen();
  open(false);
}

void Writer::crash() {
  ++counts_.crashes;
  machine_.halt();
  parts_.drop();
  readers_.close();
  const bool may_have_failed_sync = machine_.may_have_failed_sync();
  machine_.restart();
  history_.crash();
  if (may_have_failed_sync && has_lost_slot()) return;
  open(true);
}

/// The one exception to the promise that each slot keeps a whole copy (spec/commit.md#commit): a
/// sync fails, the next writer sees its copy in the cache, and dies while it writes the other one.
/// All that was acknowledged is there, and the loss is told.
bool Writer::has_lost_slot() {
  const Machine::Undisturbed undisturbed(machine_);
  const auto opened = Store::open(machine_.open(OpenMode::kWrite));
  is_over_ = !opened && opened.error().code == Errc::kSuperblockDamaged;
  if (!is_over_) return false;
  ++counts_.lost_slots;
  (void)history_.see_opened(sight_of(look()));
  return true;
}

void Writer::open(bool has_crashed) {
  verify_deep();
  parts_.open_store(machine_.open(OpenMode::kWrite));
  const Snapshot snapshot = look();
  now_ = committed_ = history_.see_opened(sight_of(snapshot));
  item_runs_ = item_runs_of(snapshot);
  machine_.forget_plan();
  if (has_crashed || random_.below(2) == 0) {
    must(without_lost_readers([this] { return no_value(parts_.store->commit()); }));
    history_.acknowledge(history_.end() - 1, parts_.store->generation().value);
  } else if (machine_.has_evicted()) {
    readers_.close();  // a lost generation that one pins would stand in the way of what comes
  }
  parts_.open(now_);
}

void Writer::submit() {
  Change change = random_change(random_, crawl_, now_);
  apply(change, now_);
  must(apply(change, now_.round_count, parts_));
  parts_.expect_waiting(now_);
}

void Writer::verify_deep() {
  VerifyOptions options;
  options.level = VerifyLevel::kDeep;
  const Machine::Undisturbed undisturbed(machine_);
  const auto report = must(verify(*machine_.open(OpenMode::kRead), options));
  EXPECT_FALSE(report.damaged());
}

void Writer::reopen() {
  parts_.drop();
  if (!machine_.has_crashed()) open(false);
}

}  // namespace crawlstore::testing::simulation
