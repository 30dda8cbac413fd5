// SPDX-License-Identifier: Apache-2.0
//
// T3 of spec/features.md: the nth allocation fails, for every n. A call that throws bad_alloc has
// either changed nothing, and succeeds when it is made again, or has poisoned the store: then the
// file is exactly the last generation that was published, and opens whole. CRAWLSTORE_LONG=1 tries
// every allocation, the ordinary run some that CRAWLSTORE_TEST_SEED chooses, of each call one.
#include <cstdio>
#include <map>
#include <new>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/tools/verify.h>

#include "container/crash_store.h"
#include "drum/call_log.h"
#include "drum/memory_store.h"
#include "support/allocation_failure.h"
#include "support/bytes.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using Numbers = Drum<std::uint64_t, std::string, std::string>;
constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;

DrumOptions small_options(bool parallel) {
  DrumOptions options;
  options.bucket_count = 3;
  options.array_elements = 4;
  options.partition_keys_max = 12;
  options.auto_merge = false;
  options.parallel = parallel;
  return options;
}

/// While it lives allocations count.
class Countdown {
 public:
  explicit Countdown(std::int64_t& left) : left_(left) { allocations_left = left; }
  ~Countdown() { left_ = allocations_left.exchange(-1); }
  Countdown(const Countdown&) = delete;
  Countdown& operator=(const Countdown&) = delete;

 private:
  std::int64_t& left_;
};

struct World {
  explicit World(bool merge_on_threads)
      : parallel(merge_on_threads), file(make_empty_store_file(std::uint64_t{1} << 22)) {}

  bool parallel;
  std::shared_ptr<MemoryFile> file;
  CallLog log;
  std::optional<Store> store;
  std::optional<Numbers> drum;
};

/// One call of the library.
struct Step {
  std::string name;
  std::function<Result<void>(World&)> call;
};

template <class T>
Result<void> without_value(const Result<T>& result) {
  if (!result) return tl::unexpected<Error>(result.error());
  return {};
}

class Script {
 public:
  Script() {
    open();
    submit(30);
    add("merge", [](World& w) { return without_value(w.drum->merge()); });
    add("name a consumer", [](World& w) { return without_value(w.drum->consumer("second")); });
    submit(25);
    add("detach", [](World& w) -> Result<void> {
      w.drum->detach();
      return {};
    });
    add("merge, answers wait", [](World& w) { return without_value(w.drum->merge()); });
    add("look up", [](World& w) { return without_value(w.drum->lookup(kSpread)); });
    add("take results", [](World& w) { return without_value(w.drum->take_results(w.log)); });
    submit(20);
    add("commit", [](World& w) { return without_value(w.store->commit()); });
    add("close the drum", [](World& w) -> Result<void> {
      const auto closed = w.drum->close();
      if (closed) w.drum.reset();
      return closed;
    });
    add("compact", [](World& w) { return without_value(w.store->compact()); });
    add("roll back", [](World& w) { return without_value(w.store->rollback()); });
    add("close", [](World& w) { return w.store->close(); });
    open();
    submit(9);
    add("merge again", [](World& w) { return without_value(w.drum->merge()); });
  }

  std::vector<Step> steps;

 private:
  void add(const std::string& name, std::function<Result<void>(World&)> call) {
    steps.push_back({name, std::move(call)});
  }
  void open() {
    add("open the store", [](World& w) -> Result<void> {
      OpenOptions options;
      options.time_us = kFixedTimeUs;
      auto store = Store::open(open_memory_storage(w.file, OpenMode::kWrite), options);
      if (!store) return tl::unexpected<Error>(store.error());
      w.store.emplace(std::move(*store));
      return {};
    });
    add("open the drum", [](World& w) -> Result<void> {
      auto drum = Numbers::open(*w.store, "numbers", small_options(w.parallel));
      if (!drum) return tl::unexpected<Error>(drum.error());
      w.drum.emplace(std::move(*drum));
      return {};
    });
    add("attach", [](World& w) -> Result<void> {
      w.drum->attach(w.log);
      return {};
    });
  }
  void submit(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i, ++submitted_) {
      const std::uint64_t key = submitted_ * 7 % 40 * kSpread;
      const std::string text(submitted_ % 50, 'a');
      add("submit", [key, text](World& w) { return w.drum->check_update(key, text, text + "x"); });
    }
  }

  std::uint64_t submitted_ = 0;
};

/// Keys, values and answers at the end, by which runs are compared.
struct Ending {
  Calls keys;
  Calls calls;
  friend bool operator==(const Ending&, const Ending&) = default;
};

Ending ending_of(const World& world) {
  Ending ending;
  ending.calls = world.log.calls;
  const DrumView view = drum_view(*world.store, "numbers");
  must(view.for_each_key([&](Key16 key, std::span<const std::byte> value) {
    ending.keys.push_back(std::to_string(key.head) + ':' + std::to_string(value.size()));
    return true;
  }));
  return ending;
}

class Allocations : public ::testing::TestWithParam<bool> {
 protected:
  Allocations() {
    World world(GetParam());
    note(world);
    for (const Step& step : script_.steps) {
      constexpr std::int64_t kEnough = 1 << 30;
      std::int64_t left = kEnough;
      {
        const Countdown counting(left);
        must(step.call(world));
      }
      counts_.push_back(kEnough - left);
      note(world);
    }
    ending_ = ending_of(world);
  }

  /// Fails allocation `nth` of the whole script. Returns whether there were so many.
  bool fails_well(std::int64_t nth) {
    World world(GetParam());
    an_allocation_failed = false;
    left_ = nth;
    for (const Step& step : script_.steps) {
      if (run(world, step)) continue;
      EXPECT_TRUE(an_allocation_failed) << step.name;
      check_poisoned(world, step);
      ++poisoned_;
      return true;
    }
    EXPECT_EQ(ending_of(world), ending_);
    return an_allocation_failed;
  }

  std::uint64_t poisoned_ = 0;
  std::vector<std::int64_t> counts_;  // allocations of each step

 private:
  /// Notes the contents of the generation that the file shows.
  void note(const World& world) {
    const StoreState state = must(read_state(world.file));
    published_[state.generation] = state.digest;
  }

  /// Returns false when the store is poisoned.
  bool run(World& world, const Step& step) {
    const Calls before = world.log.calls;
    for (int attempt = 0; attempt < 2; ++attempt) {
      try {
        const Countdown counting(left_);
        const Result<void> done = step.call(world);
        if (done) return true;
        if (done.error().code == Errc::kPoisoned) return false;
        // The dispatcher had no memory: its transaction is gone, and so is what it was told.
        EXPECT_EQ(done.error().code, Errc::kDispatcherFailed) << step.name;
      } catch (const std::bad_alloc&) {
        EXPECT_EQ(attempt, 0) << step.name;
      }
      world.log.calls = before;
    }
    ADD_FAILURE() << step.name << " fails with enough memory, too";
    return true;
  }

  void check_poisoned(World& world, const Step& step) {
    EXPECT_TRUE(code_of(world.store->commit()) == Errc::kPoisoned) << step.name;
    world.drum.reset();
    world.store.reset();
    const StoreState state = must(read_state(world.file));
    const auto known = published_.find(state.generation);
    if (known != published_.end()) {  // a step may publish several
      EXPECT_EQ(state.digest, known->second) << step.name;
    }
    const auto storage = open_memory_storage(world.file, OpenMode::kRead);
    VerifyOptions deep;
    deep.level = VerifyLevel::kDeep;
    // A root that was never published may stand in free space, as after a killed commit: test
    // builds look at each commit before its superblock, and that allocates (PublishCheck).
    EXPECT_TRUE(must(verify(*storage, deep)).whole()) << step.name;
    MemoryStore again(contents(*world.file));
    EXPECT_TRUE(again->commit()) << step.name;
  }

  Script script_;
  std::int64_t left_ = -1;  // allocations that succeed
  std::map<std::uint64_t, std::uint64_t> published_;
  Ending ending_;
};

TEST_P(Allocations, FailWithoutHarm) {
  SeededRandom random;
  const std::int64_t stride = is_long() ? 1 : 40;
  std::int64_t end = 0;
  std::int64_t tried = 0;
  for (const std::int64_t count : counts_) {
    std::int64_t nth = end;
    end += count;
    for (; nth < end; nth += stride) {
      const auto choices = static_cast<std::uint64_t>(std::min(stride, end - nth));
      const std::int64_t chosen = nth + static_cast<std::int64_t>(random.below(choices));
      tried += fails_well(chosen) ? 1 : 0;
      ASSERT_FALSE(HasFailure()) << "allocation " << chosen;
    }
  }
  std::printf("%lld allocations, %lld failed, %llu poisoned the store\n",
              static_cast<long long>(end), static_cast<long long>(tried),
              static_cast<unsigned long long>(poisoned_));
  EXPECT_GT(end, 1000);
  EXPECT_GT(tried, 150);
  EXPECT_GT(poisoned_, 50U);
}

INSTANTIATE_TEST_SUITE_P(Merges, Allocations, ::testing::Bool(), [](const auto& tested) {
  return tested.param ? "OnAnotherThread" : "OnTheCallersThread";
});

}  // namespace
}  // namespace crawlstore::testing
