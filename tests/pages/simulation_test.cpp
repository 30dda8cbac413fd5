// SPDX-License-Identifier: Apache-2.0
//
// T6: one writer and up to eight readers as interleaved steps over a storage that fails, and that
// crashes. Readers act between the calls that the writer makes of its storage. The store has a
// DRUM, pages with links, a queue, a frontier and scores; pages/simulation/ says what each
// generation has to show. A seed says it all: CRAWLSTORE_TEST_SEED=N begins with the simulation N,
// and CRAWLSTORE_SIMULATIONS=N runs so many; CRAWLSTORE_LONG=1 runs 100,000.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/scores.h>
#include <crawlstore/tools/link_runs.h>
#include <crawlstore/transaction.h>

#include "drum/memory_store.h"
#include "pages/simulation/writer.h"
#include "support/seeded.h"

namespace crawlstore::testing::simulation {
namespace {

using Undisturbed = Machine::Undisturbed;

/// The steps of a writer, and of readers between them.
class Simulation {
 public:
  Simulation(std::uint64_t seed, Counts& counts) : counts_(counts), writer_(seed, counts) {}

  void run() {
    for (std::uint64_t left = 5 + random_.below(20); left > 0 && !failed(); --left) {
      for (std::uint64_t changes = random_.below(3); changes > 0; --changes) writer_.submit();
      operate();
      if (machine_.has_crashed()) writer_.crash();
      if (writer_.is_over()) return;
      if (!failed() && random_.below(3) == 0) writer_.readers().step();
    }
    if (!failed()) finish();
  }

 private:
  [[nodiscard]] static bool failed() { return ::testing::Test::HasFailure(); }

  void operate() {
    switch (random_.below(18)) {
      case 0:
        return compact_file();
      case 1:
        return compact_links();
      case 2:
        return merge_rounds();
      case 3:
        return forget();
      case 4:
        return close();
      case 5:
        return roll_back();
      case 6:
      case 7:
        return transact();
      case 8:
        return set_scores();
      case 9:
        return remove_some_scores();
      case 10:
      case 11:
        return take();
      case 12:
      case 13:
      case 14:
      case 15:
        return merge_pages();
      default:
        commit();
    }
  }

  void commit() {
    writer_.attempt(
        {[this] { return no_value(parts_.store->commit()); }, {}, {writer_.now()}, writer_.now()});
  }

  void compact_file() {
    const bool is_done =
        writer_.attempt({[this] { return no_value(parts_.store->compact()); },
                         with_more_rounds(writer_.committed()),
                         with_more_rounds(writer_.committed()), writer_.now(), false});
    counts_.compactions += is_done;
  }

  /// The states that a merge leads to: nothing is committed when no edit waits.
  [[nodiscard]] std::vector<State> merged_results(const State& merged) const {
    if (writer_.now().waiting.empty()) return {writer_.committed(), merged};
    return {merged};
  }

  [[nodiscard]] std::vector<LinkRunInfo> runs_of_links() {
    const Undisturbed undisturbed(machine_);
    return link_runs(must(PageView::open(writer_.look())));
  }

  void merge_pages() {
    const std::size_t run_count = runs_of_links().size();
    const State merged = writer_.now().merged();
    const bool is_done = writer_.attempt({[this] { return no_value(parts_.pages->merge()); },
                                          {writer_.now()},
                                          merged_results(merged),
                                          merged});
    if (is_done && runs_of_links().size() < run_count) ++counts_.merges_joined;
  }

  void compact_links() {
    const std::size_t run_count = runs_of_links().size();
    const State merged = writer_.now().merged();
    const bool is_done = writer_.attempt({[this] { return no_value(parts_.pages->compact()); },
                                          {writer_.now(), merged},
                                          merged_results(merged),
                                          merged,
                                          true,
                                          false});
    if (!is_done) return;
    std::array<int, 2> counts{};
    for (const LinkRunInfo& run : runs_of_links()) {
      EXPECT_FALSE(run.is_gone);
      EXPECT_LE(++counts[run.is_incoming ? 1 : 0], 1) << "runs of links were not joined";
    }
    if (run_count > 2) ++counts_.links_joined;
  }

  /// Keys that wait in other buckets than the ones that are merged may stay in memory.
  [[nodiscard]] std::vector<State> with_fewer_rounds(const State& state) const {
    std::vector<State> states;
    for (std::uint64_t count = writer_.committed().round_count; count <= state.round_count;
         ++count) {
      states.push_back(state.with_rounds(count));
    }
    return states;
  }

  /// Keys that a commit in vain has brought into the file come with the next one of any kind.
  [[nodiscard]] std::vector<State> with_more_rounds(const State& state) const {
    std::vector<State> states;
    for (std::uint64_t count = writer_.now().round_count + 1;
         count-- > writer_.committed().round_count;) {
      states.push_back(state.with_rounds(count));
    }
    return states;
  }

  void merge_rounds() {
    std::vector<State> results{writer_.now()};
    if (writer_.committed().round_count == writer_.now().round_count)
      results.push_back(writer_.committed());
    writer_.attempt({[this] { return no_value(parts_.rounds->merge()); },
                     with_fewer_rounds(writer_.now()), std::move(results), writer_.now(), false,
                     false});
  }

  void forget() {
    const std::string host = "http://host" + std::to_string(random_.below(5)) + ".example/";
    const State forgotten = writer_.now().without_host(host);
    const bool has_pages = writer_.now().has_pages_of(host);
    const auto act = [this, host] {
      const auto is_meant = [&](std::string_view url) { return url.starts_with(host); };
      return no_value(parts_.pages->forget(is_meant));
    };
    const bool is_done = writer_.attempt(
        {act,
         {writer_.now(), writer_.now().merged()},
         has_pages ? std::vector{forgotten} : merged_results(writer_.now().merged()),
         forgotten,
         true,
         false});
    counts_.forgotten += is_done && has_pages;
  }

  void close() {
    // A store that is poisoned is closed after all, without what waited: a commit knows it.
    const auto act = [this, is_first = true]() mutable -> Result<void> {
      if (!std::exchange(is_first, false)) CRAWLSTORE_TRY(parts_.store->commit());
      return parts_.store->close();
    };
    // A close without changes writes nothing: what it opened may be in the cache alone.
    const bool commits = writer_.now().content() != writer_.committed().content();
    if (!writer_.attempt({act, {}, {writer_.now()}, writer_.now(), commits, false})) return;
    writer_.reopen();
  }

  /// Back to what a reader of the generation before sees.
  void roll_back() {
    commit();
    if (machine_.has_crashed() || failed()) return;
    {
      const Undisturbed undisturbed(machine_);
      parts_.close();
    }
    const Content content = content_of(writer_.look(true));
    const auto place = writer_.history().find_last(content, 0);
    if (!place) throw std::runtime_error("the generation before was never published");
    const State before = writer_.history().at(*place);
    const auto act = [this] { return no_value(parts_.store->rollback()); };
    if (!writer_.attempt({act, {}, {before}, before, true, false})) return;
    ++counts_.rollbacks;
    if (machine_.has_crashed()) return;
    const Undisturbed undisturbed(machine_);
    parts_.open(writer_.now());
  }

  /// A change that is committed as a whole, with an array of scores now and then, or dropped.
  void transact() {
    Change change = random_change(random_, writer_.crawl(), writer_.now());
    if (random_.below(2) == 0) change.frontier.push_back(random_take(random_));
    State next = writer_.now();
    apply(change, next);
    const std::optional<NewArray> array = random_array(3);
    if (array) next.scores[array->name] = array->values;
    const bool commits = random_.below(4) != 0;
    const auto act = [this, change, array, commits, count = next.round_count]() -> Result<void> {
      CRAWLSTORE_TRY(auto all, Transaction::begin(*parts_.store));
      CRAWLSTORE_TRY(apply(change, count, parts_));
      if (array) CRAWLSTORE_TRY(store_array(*array));
      if (commits) CRAWLSTORE_TRY(all.commit());
      return {};
    };
    Operation operation{act, {}, {writer_.committed()}, writer_.now(), false};
    if (commits) operation = {act, {}, with_fewer_rounds(next), next};
    counts_.transactions += writer_.attempt(std::move(operation));
    if (!machine_.has_crashed() && !failed()) parts_.expect_waiting(writer_.now());
  }

  struct NewArray {
    std::string name;
    std::vector<float> values;
  };

  /// Scores of all pages that the store shows, once in so many times; nothing without pages.
  std::optional<NewArray> random_array(std::uint64_t times) {
    if (writer_.committed().merged_count == 0 || random_.below(times) != 0) return std::nullopt;
    std::vector<float> values(writer_.committed().merged_count);
    for (float& value : values) value = static_cast<float>(random_.below(1000)) / 8;
    return NewArray{std::string(1, static_cast<char>('a' + random_.below(3))), std::move(values)};
  }

  Result<void> store_array(const NewArray& array) {
    CRAWLSTORE_TRY(const auto snapshot, parts_.store->snapshot());
    CRAWLSTORE_TRY(const auto view, PageView::open(snapshot));
    return no_value(store_scores(*parts_.store, array.name, view, array.values));
  }

  /// Commits all that waits, unless there is nothing to take.
  void take() {
    FrontierChange change = random_take(random_);
    State next = writer_.now();
    apply(change, next.frontier);
    const bool commits = !change.taken.empty();
    const State result = commits ? next : writer_.committed();
    const auto act = [this, change] { return call(change, *parts_.frontier); };
    const bool is_done = writer_.attempt({act, {}, {result}, next, commits});
    counts_.takes += is_done && commits;
    if (!machine_.has_crashed() && !failed()) parts_.expect_waiting(writer_.now());
  }

  void set_scores() {
    const auto array = random_array(1);
    if (!array) return;
    change_scores([&](State& state) { state.scores[array->name] = array->values; },
                  [this, array] { return store_array(*array); });
  }

  void remove_some_scores() {
    if (writer_.committed().scores.empty()) return set_scores();
    const std::string name = writer_.committed().scores.begin()->first;
    change_scores([&](State& state) { state.scores.erase(name); },
                  [=, this] { return remove_scores(*parts_.store, name); });
  }

  /// All that waits elsewhere goes on waiting.
  template <class Change>
  void change_scores(const Change& change, const std::function<Result<void>()>& act) {
    State result = writer_.committed();
    State next = writer_.now();
    change(result);
    change(next);
    counts_.arrays += writer_.attempt({act, {}, with_more_rounds(result), std::move(next)});
  }

  /// Nothing is lost, and what nobody uses goes back.
  void finish() {
    writer_.readers().close();
    merge_pages();
    if (machine_.has_crashed()) writer_.crash();
    if (writer_.is_over()) return;
    const Undisturbed undisturbed(machine_);
    must(parts_.store->commit());
    EXPECT_TRUE(content_of(writer_.look()) == writer_.now().content());
    parts_.close();
    must(parts_.store->compact());
    const auto info = must(writer_.look().info());
    EXPECT_LE(info.file_bytes, 2 * info.live_bytes + (std::uint64_t{1} << 20));
    EXPECT_TRUE(content_of(writer_.look()) == writer_.now().content());
    parts_.drop();
    writer_.verify_deep();
  }

  Counts& counts_;
  Writer writer_;
  Random& random_ = writer_.random();
  Machine& machine_ = writer_.machine();
  Parts& parts_ = writer_.parts();
};

std::uint64_t wanted_count() {
  const char* const given = std::getenv("CRAWLSTORE_SIMULATIONS");
  if (given != nullptr) return std::strtoull(given, nullptr, 0);
  return is_long() ? 100'000 : 100;
}

void print(const Counts& counts) {
  const auto line = [](const char* text, std::uint64_t count) {
    std::printf("%10llu %s\n", static_cast<unsigned long long>(count), text);
  };
  line("operations", counts.operations);
  line("of them failed", counts.failures);
  line("of these succeeded when repeated", counts.retries);
  line("after which the writer went on without", counts.goings_on);
  line("crashes", counts.crashes);
  line("of them left a lost slot, after a failed sync", counts.lost_slots);
  line("looks of readers", counts.looks);
  line("of them at previous generations", counts.looks_at_previous);
  line("rollbacks", counts.rollbacks);
  line("transactions", counts.transactions);
  line("arrays of scores set or removed", counts.arrays);
  line("takes of a frontier", counts.takes);
  line("commits with more runs of items", counts.item_runs);
  line("commits with fewer runs of items", counts.items_joined);
  line("hosts forgotten", counts.forgotten);
  line("compactions of the file", counts.compactions);
  line("compactions that joined links", counts.links_joined);
  line("supersteps that joined links", counts.merges_joined);
}

TEST(Simulation, ShowsReadersWhatWasCommittedWhateverFails) {
  const std::uint64_t wanted = wanted_count();
  Counts counts;
  for (std::uint64_t seed = test_seed(); seed < test_seed() + wanted && !HasFailure(); ++seed) {
    SCOPED_TRACE("CRAWLSTORE_TEST_SEED=" + std::to_string(seed));
    try {
      Simulation(seed, counts).run();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  print(counts);
  if (wanted < 100) return;
  for (const std::uint64_t count :
       {counts.failures, counts.crashes, counts.looks_at_previous, counts.rollbacks,
        counts.transactions, counts.arrays, counts.takes, counts.item_runs, counts.forgotten,
        counts.compactions}) {
    EXPECT_GT(count, wanted / 10);
  }
  EXPECT_LE(counts.lost_slots, wanted / 1000);
  EXPECT_GT(counts.looks, wanted);
  EXPECT_GT(counts.links_joined, wanted / 50);
  EXPECT_GT(counts.items_joined, wanted / 100);
  EXPECT_GT(counts.goings_on, wanted / 50);
  EXPECT_GT(counts.retries, 0U);
  EXPECT_GT(counts.merges_joined, 0U);
}

}  // namespace
}  // namespace crawlstore::testing::simulation
