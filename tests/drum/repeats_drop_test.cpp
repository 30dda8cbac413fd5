// SPDX-License-Identifier: Apache-2.0
//
// With Repeats::kDrop a DRUM leaves out nothing but repeats.
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/tools/verify.h>

#include "drum/memory_store.h"
#include "drum/told.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

/// A DRUM that drops repeats, and what it must and may tell.
class Dropping {
 public:
  Dropping(std::uint64_t seed, const DrumOptions& options) : random_(seed), options_(options) {
    options_.repeats = Repeats::kDrop;
    open();
  }

  void run(int step_count) {
    for (int i = 0; i < step_count && !::testing::Test::HasFailure(); ++i) {
      switch (random_.below(150)) {
        case 0:
          must(core_->merge());
          break;
        case 1:
          must(store_->commit());
          break;
        case 2:
          reopen();
          break;
        default:
          submit(false);
      }
    }
    must(core_->merge());
    must(core_->merge());  // what dispatchers submitted
    dropped_ += core_->status().dropped_count;
    EXPECT_EQ(core_->status().repeat_count, 0U);
    EXPECT_EQ(told_count_ + dropped_, requests_.size());
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const Asked& asked = requests_[i];
      EXPECT_TRUE(asked.is_told || (asked.was_there && !asked.is_inner)) << "request " << i;
    }
    EXPECT_EQ(core_->status().key_count, inserted_.size());
  }
  [[nodiscard]] std::uint64_t dropped_count() const { return dropped_; }

 private:
  struct Asked {
    std::uint64_t key = 0;
    DrumOperation operation{};
    bool was_there = false;
    bool is_inner = false;
    bool is_told = false;
  };

  void open() {
    core_ = must(DrumCore::open(*store_, "keys", 0, options_));
    core_->attach({}, [this](std::span<const RawAnswer> answers) {
      for (const RawAnswer& answer : answers) take(told(answer));
    });
  }
  void reopen() {
    dropped_ += core_->status().dropped_count;
    core_.reset();
    store_.reopen();
    open();
  }
  void take(const Told& answer) {
    Asked& asked = requests_.at(std::stoull(answer.aux));
    EXPECT_FALSE(std::exchange(asked.is_told, true));
    EXPECT_EQ(answer.key, asked.key);
    EXPECT_EQ(answer.operation, asked.operation);
    EXPECT_EQ(answer.duplicate, asked.was_there && asked.operation != DrumOperation::kUpdate);
    ++told_count_;
    if (!asked.is_inner && random_.below(10) == 0) submit(true);
  }
  void submit(bool is_inner) {
    Asked asked{random_.below(60) * kSpread, static_cast<DrumOperation>(random_.below(3))};
    asked.was_there = inserted_.contains(asked.key);
    asked.is_inner = is_inner;
    if (asked.operation != DrumOperation::kCheck) inserted_.insert(asked.key);
    const std::string aux = std::to_string(requests_.size());
    requests_.push_back(asked);
    must(core_->submit({asked.operation, {}, asked.key, {}, std::as_bytes(std::span(aux))}));
    EXPECT_EQ(must(core_->contains(asked.key)), inserted_.contains(asked.key));
  }

  Random random_;
  DrumOptions options_;
  MemoryStore store_;
  std::shared_ptr<DrumCore> core_;
  std::vector<Asked> requests_;
  std::set<std::uint64_t> inserted_;
  std::uint64_t told_count_ = 0;
  std::uint64_t dropped_ = 0;
};

std::uint64_t dropped_in_streams(const DrumOptions& options) {
  std::uint64_t dropped = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Dropping dropping(seed, options);
    dropping.run(1500);
    dropped += dropping.dropped_count();
  }
  return dropped;
}

DrumOptions dropping_options() {
  DrumOptions options;
  options.bucket_count = 4;
  options.memory_bytes = 1 << 15;
  options.partition_keys_max = 12;
  return options;
}

TEST(RepeatsDrop, TellsAllButRepeatsOfWhatWaits) {
  EXPECT_GT(dropped_in_streams(dropping_options()), 2000U);
}

TEST(RepeatsDrop, TellsAllButRepeatsWhereRequestsAreLoggedFirst) {
  DrumOptions options = dropping_options();
  options.log_first = true;
  EXPECT_GT(dropped_in_streams(options), 2000U);
  options.log_first = false;
  options.array_elements = 16;
  EXPECT_GT(dropped_in_streams(options), 300U);
}

TEST(RepeatsDrop, DropsNothingOfWhatIsCommittedOneByOne) {
  DrumOptions options = dropping_options();
  options.durability = Durability::kRequest;
  EXPECT_EQ(dropped_in_streams(options), 0U);
}

TEST(RepeatsDrop, KeepsTheKeysAndTheirFirstAnswersInBulk) {
  const auto keys = recent_stream(1 << 19);
  DrumOptions options;
  options.memory_bytes = 1 << 20;
  options.bucket_count = 16;
  Bulk all = answer_in_bulk(options, keys);
  options.repeats = Repeats::kDrop;
  Bulk some = answer_in_bulk(options, keys);
  EXPECT_GT(some.status.dropped_count, keys.size() * 2 / 5);
  EXPECT_EQ(some.answers.size() + some.status.dropped_count, keys.size());
  const auto is_duplicate = [](const auto& answer) { return answer.second; };
  std::erase_if(all.answers, is_duplicate);
  std::erase_if(some.answers, is_duplicate);
  std::sort(all.answers.begin(), all.answers.end());
  std::sort(some.answers.begin(), some.answers.end());
  EXPECT_TRUE(some.answers == all.answers);
  EXPECT_EQ(some.status.key_count, some.answers.size());
  EXPECT_EQ(some.status.pending_count, 0U);
}

TEST(RepeatsDrop, TakesEffectWhenTheOptionsChange) {
  MemoryStore store;
  DrumOptions options;
  auto core = must(DrumCore::open(*store, "keys", 0, options));
  const auto submit = [&] { must(core->submit({DrumOperation::kCheckUpdate, {}, 7, {}, {}})); };
  submit();
  submit();
  options.repeats = Repeats::kDrop;
  must(core->tune(options));
  submit();
  submit();
  EXPECT_EQ(core->status().repeat_count, 1U);
  EXPECT_EQ(core->status().dropped_count, 2U);
  EXPECT_EQ(core->status().pending_count, 2U);
  EXPECT_EQ(must(core->merge()).duplicate_count, 1U);
}

}  // namespace
}  // namespace crawlstore::testing
