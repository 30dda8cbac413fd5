// SPDX-License-Identifier: Apache-2.0
//
// A frontier and small values beside it, used step by step. An item that is never taken says which
// step was the last, so that all else can be compared with what that step left. It comes last, and
// the next step takes it away first, so that a step that fails half-way leaves none.
#include <array>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crawlstore/frontier_view.h>
#include <crawlstore/values.h>

#include "container/crash_workloads.h"
#include "drum/memory_store.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kBegin = 1'700'000'000'000;  // milliseconds, as kFixedTimeUs
constexpr std::string_view kMark = "mark";
/// Checkpoints, runs of items and a join are there when the record begins.
constexpr std::uint64_t kStepsBefore = 12;

using Ids = std::vector<std::uint64_t>;

FrontierOptions small_options() {
  FrontierOptions options;
  options.default_rule.in_flight_max = 3;
  options.checkpoint_bytes = 1500;
  options.commits_takes = false;
  return options;
}

Frontier open_frontier(Store& store) {
  return must(Frontier::open(store, Frontier::kDefaultName, small_options()));
}

std::string some_host(Random& random) {
  return "host" + std::to_string(random.below(6));
}

void put_some(Frontier& frontier, Random& random, std::uint64_t now) {
  for (std::uint64_t left = 1 + random.below(30); left > 0; --left) {
    const std::string group = some_host(random);
    const std::string body(random.below(80), static_cast<char>('a' + random.below(26)));
    const std::uint64_t time = random.below(3) == 0 ? now + random.below(3000) : 0;
    must(frontier.put(
        std::vector<FrontierItem>{{group, static_cast<double>(random.below(9)), body, time, {}}}));
  }
}

/// Ends leases in all ways, or lets them be.
void end_leases(Frontier& frontier, Random& random, const Ids& leased, std::uint64_t now) {
  for (const std::uint64_t id : leased) {
    const std::uint64_t way = random.below(4);
    if (way < 2) must(frontier.finish(Ids{id}, now));
    if (way == 2) {
      must(frontier.give_back(
          std::vector<GivenBack>{{id, now + random.below(2000), random.below(2) == 0}}, now));
    }
  }
}

void change_values(Store& store, Random& random, std::uint64_t step) {
  const std::vector<std::byte> bytes(random.below(3000), static_cast<std::byte>(step));
  must(store.set("value" + std::to_string(random.below(5)), bytes));
  must(store.remove("value" + std::to_string(random.below(5))));
}

/// Returns what it takes.
///   leased  what the step before took
Ids do_step(Store& store, Frontier& frontier, std::uint64_t step, const Ids& leased) {
  Random random(step);
  const std::uint64_t now = kBegin + 400 * step;
  FrontierRule never;
  never.is_active = false;
  must(frontier.set_rule(kMark, never));
  must(frontier.drop_group(kMark));
  end_leases(frontier, random, leased, now);
  put_some(frontier, random, now);
  change_values(store, random, step);
  FrontierRule rule;
  rule.delay_ms = rule.hard_ms = random.below(1000);
  must(frontier.set_rule(some_host(random), rule));
  Ids taken;
  const TakeOptions take{.count = 6, .per_group = 3, .lease_ms = 1500, .now_ms = now};
  for (const TakenItem& item : must(frontier.take(take))) taken.push_back(item.id);
  const std::string text = std::to_string(step);
  must(frontier.put(std::vector<FrontierItem>{{kMark, 0, text}}));
  return taken;
}

struct StepState {
  std::string text;
  std::optional<std::uint64_t> mark;
  Ids leased;
  Ids taken{};  // by this step
};

StepState read_frontier(const Snapshot& snapshot) {
  StepState state;
  if (must(FrontierView::list(snapshot)).empty()) return state;
  const auto view = must(FrontierView::open(snapshot));
  std::ostringstream text;
  const auto add = [&](const FrontierEntry& entry) {
    text << ' ' << entry.group << ' ' << entry.id << ' ' << entry.priority << ' ' << entry.attempt
         << ' ' << entry.body << ' ' << entry.not_before_ms << ' ' << entry.until_ms.value_or(1)
         << '\n';
    if (entry.group == kMark) state.mark = std::stoull(std::string(entry.body));
    if (entry.until_ms) state.leased.push_back(entry.id);
    return true;
  };
  must(view.for_each_lease(add));
  view.for_each_group([&](const FrontierGroup& group) {
    text << group.key << ' ' << group.put_count << ' ' << group.finished_count << ' '
         << group.soft_time_ms << ' ' << group.hard_time_ms << ' ' << group.failure_count << ' '
         << (group.rule ? group.rule->delay_ms : 0) << '\n';
    must(view.for_each_waiting(group.key, add));
    return true;
  });
  for (const auto& [name, bytes] : must(read_values(snapshot))) {
    text << name << ' ' << bytes.size() << ' '
         << (bytes.empty() ? 0 : static_cast<int>(bytes.front())) << '\n';
  }
  state.text = text.str();
  return state;
}

/// The state that a step leaves; steps must be asked for from 0 on, or again.
const StepState& state_after(std::uint64_t last) {
  static MemoryStore store;
  static auto frontier = std::make_unique<Frontier>(open_frontier(*store));
  static std::vector<StepState> states;
  for (std::uint64_t step = states.size(); step <= last; ++step) {
    Ids taken = do_step(*store, *frontier, step, step == 0 ? Ids() : states.back().taken);
    must(store->commit());
    states.push_back(read_frontier(must(store->snapshot())));
    states.back().taken = std::move(taken);
  }
  return states[last];
}

/// After a crash: what waits and is leased is what a step left, and the frontier goes on.
void use_frontier(std::unique_ptr<Storage> storage) {
  auto store = open_store(std::move(storage));
  const StepState found = read_frontier(must(store.snapshot()));
  if (found.mark && found.text != state_after(*found.mark).text) {
    throw std::runtime_error("a frontier is other than its last step left it");
  }
  auto frontier = open_frontier(store);
  const Ids taken = do_step(store, frontier, 99, found.leased);
  must(store.commit());
  const StepState after = read_frontier(must(store.snapshot()));
  if (after.mark != 99 || after.leased.size() != frontier.leased_count() ||
      frontier.leased_count() < taken.size()) {
    throw std::runtime_error("a commit of a frontier has another number of leases");
  }
  must(frontier.close());
  must(store.close());
}

/// Starts the record with a frontier of some steps.
void begin_with_frontier(Scenario& scenario) {
  {
    auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
    auto frontier = open_frontier(store);
    Ids leased;
    for (std::uint64_t step = 0; step < kStepsBefore; ++step) {
      leased = do_step(store, frontier, step, leased);
      must(store.commit());
    }
  }
  scenario.begin_with_bytes(contents(*scenario.file()));
}

void record_frontier(Scenario& scenario) {
  begin_with_frontier(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  auto frontier = open_frontier(store);
  Ids leased = state_after(kStepsBefore - 1).taken;
  for (std::uint64_t step = kStepsBefore; step < kStepsBefore + 5; ++step) {
    leased = do_step(store, frontier, step, leased);
    must(store.commit());
    scenario.acknowledge();
  }
  must(frontier.close());
  must(store.rollback());
  scenario.acknowledge();
}

void record_transactions(Scenario& scenario) {
  begin_with_frontier(scenario);
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  auto frontier = open_frontier(store);
  Ids leased = state_after(kStepsBefore - 1).taken;
  std::uint64_t step = kStepsBefore;
  transact_and_compact(scenario, store, [&](bool commits) {
    Ids taken = do_step(store, frontier, step, leased);
    if (!commits) return;
    leased = std::move(taken);
    ++step;
  });
}

const auto kCrawl = std::to_array<PartName>(
    {{SegmentKind::kDrum, "keys"}, {SegmentKind::kFrontier, std::string(Frontier::kDefaultName)}});

/// A frontier, and a DRUM that belongs to it.
void make_crawl(Store& store) {
  const DrumOptions options{.bucket_count = 4, .memory_bytes = 1 << 20, .parallel = false};
  auto keys = must(Drum<std::uint64_t>::open(store, "keys", options));
  auto frontier = open_frontier(store);
  do_step(store, frontier, 0, {});
  for (std::uint64_t key = 0; key < 50; ++key) must(keys.update(Random(key).next()));
  must(keys.merge());
  must(frontier.close());
  must(keys.close());
}

/// Both are dropped, and made anew.
void record_drop(Scenario& scenario) {
  {
    auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
    must(must(Drum<std::uint64_t>::open(store, "kept")).close());  // kOwner
    make_crawl(store);
  }
  scenario.begin_with_bytes(contents(*scenario.file()));
  auto store = open_store(scenario.recorder().open(OpenMode::kWrite));
  must(store.drop(kCrawl));
  scenario.acknowledge();
  make_crawl(store);
  scenario.acknowledge();
}

/// After a crash both are there, or neither is.
void use_dropped(std::unique_ptr<Storage> storage) {
  auto store = open_store(std::move(storage));
  const auto snapshot = must(store.snapshot());
  const bool has_keys = !drum_info(store, "keys").name.empty();
  if (has_keys == must(FrontierView::list(snapshot)).empty()) {
    throw std::runtime_error("one part of two was dropped alone");
  }
  if (has_keys) must(store.drop(kCrawl));
  make_crawl(store);
  must(store.close());
}

}  // namespace

std::span<const CrashWorkload> frontier_workloads() {
  static constexpr auto kWorkloads = std::to_array<CrashWorkload>({
      {"frontier", record_frontier, use_frontier},
      {"frontier in transactions and compaction", record_transactions, use_frontier},
      {"drop", record_drop, use_dropped},
  });
  return kWorkloads;
}

}  // namespace crawlstore::testing
