// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A random stream of everything that can be done to a DRUM, checked against DrumModel.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum_core.h>

#include "drum/drum_model.h"
#include "drum/memory_store.h"
#include "support/random.h"

namespace crawlstore::testing {

struct StreamPlan {
  std::uint64_t seed = 1;
  std::uint64_t step_count = 120;
  std::int32_t value_bytes = 0;      ///< as DrumCore::open
  std::uint16_t consumer_count = 1;  ///< some of them come and go
  std::uint64_t key_count = 40;
  std::uint64_t quiet = 40;  ///< one step in so many is a merge, one a reopening ...
  bool reentrant = false;    ///< dispatchers submit to the DRUM
  bool reopens = true;
  std::uint64_t aux_bytes_max = 20;
  DrumOptions options{};
};

/// The true totals of a stream.
struct StreamTotals {
  std::uint64_t requests = 0;
  std::uint64_t answers = 0;
  std::uint64_t merges = 0;
  std::uint64_t transfers = 0;
  std::uint64_t splits = 0;
  std::uint64_t reopens = 0;
  std::uint64_t kept_results = 0;
  std::uint64_t nested = 0;
  std::uint64_t slices = 0;   ///< commits of merges beyond the first
  std::uint64_t repeats = 0;  ///< that the recent-keys window knew

  StreamTotals& operator+=(const StreamTotals& other) {
    requests += other.requests;
    answers += other.answers;
    merges += other.merges;
    transfers += other.transfers;
    splits += other.splits;
    reopens += other.reopens;
    kept_results += other.kept_results;
    nested += other.nested;
    slices += other.slices;
    repeats += other.repeats;
    return *this;
  }
};

class DrumStream {
 public:
  explicit DrumStream(const StreamPlan& plan) : plan_(plan), random_(plan.seed) { open(); }

  StreamTotals run() {
    for (std::uint64_t i = 0; i < plan_.step_count && !::testing::Test::HasFailure(); ++i) step();
    plan_.reentrant = false;
    merge();
    for (std::uint16_t id = 0; id < plan_.consumer_count; ++id) take_results(id);
    EXPECT_EQ(model_.due_count(), 0U) << "requests without an answer, seed " << plan_.seed;
    check_store();
    totals_.requests = model_.arrivals();
    if (::testing::Test::HasFailure()) ADD_FAILURE() << "stream of seed " << plan_.seed;
    return totals_;
  }

 private:
  void open() {
    core_ = must(DrumCore::open(*store_, "stream", plan_.value_bytes, plan_.options));
    for (std::uint16_t id = 1; id < plan_.consumer_count; ++id) {
      EXPECT_EQ(must(core_->consumer("consumer " + std::to_string(id))).value, id);
    }
    attached_.clear();
    transfer_count_ = 0;
    repeat_count_ = 0;
    first_keys_.clear();
    for (std::uint16_t id = 0; id < plan_.consumer_count; id += 2) attach(id);
  }

  /// First takes what waited: later merges may answer younger requests at once.
  void attach(std::uint16_t id) {
    take_results(id);
    attached_.insert(id);
    core_->attach({id}, [this](std::span<const RawAnswer> answers) {
      for (const RawAnswer& answer : answers) told(answer, true);
    });
  }

  [[nodiscard]] bool is_wide() const { return plan_.options.key_bytes == 16; }
  /// The model's keys have 8 bytes. Several keys of 16 bytes share their head; the order stays.
  [[nodiscard]] Key16 key_of(std::uint64_t key) const {
    return is_wide() ? Key16{key >> 58 << 58, key} : Key16{key};
  }
  [[nodiscard]] RawRequest raw_of(const ModelRequest& made) const {
    RawRequest request = raw(made);
    const Key16 key = key_of(made.key);
    request.key = key.head;
    request.key_tail = key.tail;
    return request;
  }

  void told(RawAnswer answer, bool is_merge) {
    ++totals_.answers;
    const std::uint64_t key = is_wide() ? answer.key_tail : answer.key;
    EXPECT_EQ(key_of(key), Key16(answer.key, answer.key_tail));
    answer.key = key;
    const auto arrival = model_.told(answer);
    if (!arrival) return;
    if (is_merge) order_.told(answer, *arrival);
    if (!is_merge) order_.number(*arrival, answer.sequence);
    if (totals_.answers % 8 == 0) expect_found(key);
    if (plan_.reentrant && random_.below(6) == 0) {
      ++totals_.nested;
      submit_one();
    }
  }

  ModelRequest request() {
    ModelRequest made;
    made.operation = static_cast<DrumOperation>(random_.below(3));
    made.consumer = {static_cast<std::uint16_t>(random_.below(plan_.consumer_count))};
    const std::uint64_t pick = random_.below(plan_.key_count);
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
    made.key = pick == 0 ? 0 : pick == 1 ? ~std::uint64_t{0} : pick * kSpread;
    if (made.operation != DrumOperation::kCheck) {
      made.value = bytes(plan_.value_bytes >= 0 ? static_cast<std::uint64_t>(plan_.value_bytes)
                                                : random_.below(300));
    }
    if (random_.below(3) != 0) made.aux = bytes(random_.below(plan_.aux_bytes_max + 1));
    return made;
  }

  std::string bytes(std::uint64_t length) {
    std::string made;
    while (made.size() < length) made.push_back(static_cast<char>(random_.next()));
    return made;
  }

  void submit_one() {
    const ModelRequest made = request();
    model_.submit(made);
    must(core_->submit(raw_of(made)));
  }

  /// Whatever comes next may merge: notes where the buckets begin.
  void expect_merge(bool is_whole = false) {
    const auto status = core_->status();
    if (first_keys_.size() != status.bucket_count) {
      if (!first_keys_.empty()) totals_.splits += status.bucket_count - first_keys_.size();
      must(store_->commit());
      first_keys_.clear();
      const DrumView view = drum_view(*store_, "stream");
      for (const auto& bucket : view.buckets()) first_keys_.push_back(bucket.first_key);
    }
    const std::uint64_t more = is_whole ? 1 : model_.arrivals();
    // The next batch of merges from memory may follow in the same call.
    const std::uint64_t arrivals = from_memory() ? ~std::uint64_t{0} : model_.arrivals();
    order_.begin(first_keys_, arrivals, from_memory() ? more : 0,
                 from_memory() && plan_.options.partition_keys_max < plan_.key_count);
  }

  [[nodiscard]] bool from_memory() const { return plan_.options.array_elements == 0; }

  void note_status() {
    const auto status = core_->status();
    totals_.transfers += status.transfer_count - transfer_count_;
    transfer_count_ = status.transfer_count;
    totals_.repeats += status.repeat_count - repeat_count_;
    repeat_count_ = status.repeat_count;
    totals_.merges += status.merge_count - merge_count_;
    merge_count_ = status.merge_count;
  }

  void merge() {
    expect_merge(true);
    const std::uint64_t known = model_.arrivals();
    const MergeReport report = must(core_->merge());
    if (report.commit_count > 1) totals_.slices += report.commit_count - 1;
    if (from_memory()) {  // what dispatchers submitted for flights of before may be answered, too
      EXPECT_LE(core_->status().pending_count, model_.arrivals() - known);
    } else {
      EXPECT_EQ(core_->status().pending_count, model_.arrivals() - known);
    }
    note_status();
    expect_merge();
  }

  void take_results(std::uint16_t id) {
    expect_merge();
    const std::uint64_t before = totals_.answers;
    const auto count = must(core_->take_results({id}, [this](std::span<const RawAnswer> answers) {
      for (const RawAnswer& answer : answers) told(answer, false);
    }));
    EXPECT_EQ(count, totals_.answers - before);
    totals_.kept_results += count;
  }

  void reopen() {
    note_status();
    core_.reset();
    store_.reopen();
    ++totals_.reopens;
    open();
  }

  void toggle(std::uint16_t id) {
    if (attached_.erase(id) != 0) {
      core_->attach({id}, {});
    } else {
      attach(id);
    }
  }

  void expect_found(std::uint64_t key) {
    const auto known = model_.map().find(key);
    const auto found = must(core_->find(key_of(key)));
    ASSERT_EQ(found.has_value(), known != model_.map().end()) << "key " << key;
    if (found) {
      EXPECT_EQ(string_of(*found), known->second) << "key " << key;
    }
  }

  /// Answered at once, exactly, whatever waits where.
  void look() {
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t key = request().key;
      EXPECT_EQ(must(core_->contains(key_of(key))), model_.map().contains(key)) << "key " << key;
      expect_found(key);
    }
    if (random_.below(8) != 0) return;
    must(store_->commit());
    const DrumView view = drum_view(*store_, "stream");
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t key = request().key;
      EXPECT_EQ(must(view.contains(key_of(key))), model_.map().contains(key)) << "key " << key;
    }
  }

  void step() {
    if (random_.below(4) == 0) look();
    const auto some_consumer = static_cast<std::uint16_t>(random_.below(plan_.consumer_count));
    switch (random_.below(plan_.quiet)) {
      case 0:
        return merge();
      case 1:
        expect_merge();
        must(core_->merge_if_full());
        return note_status();
      case 2:
        must(store_->commit());
        return;
      case 3:
        if (plan_.reopens && random_.below(4) == 0) reopen();
        return;
      case 4:
        return take_results(some_consumer);
      case 5:
        if (plan_.consumer_count > 1) toggle(some_consumer);
        return;
      default:
        submit_outside();
    }
  }

  void submit_outside() {
    const ModelRequest made = request();
    model_.submit(made);
    expect_merge();
    must(core_->submit(raw_of(made)));
    note_status();
  }

  /// After everything was merged: the store is the map, in order, and lookups find it.
  void check_store() {
    must(store_->commit());
    const DrumView view = drum_view(*store_, "stream");
    auto expected = model_.map().begin();
    must(view.for_each_key([&](Key16 key, std::span<const std::byte> value) {
      EXPECT_TRUE(expected != model_.map().end() && key == key_of(expected->first));
      EXPECT_EQ(string_of(value), expected->second);
      ++expected;
      return !::testing::Test::HasFailure();
    }));
    EXPECT_TRUE(expected == model_.map().end());
    EXPECT_EQ(core_->status().key_count, model_.map().size());
    for (const auto& [key, value] : model_.map()) {
      const auto found = must(core_->lookup(key_of(key)));
      EXPECT_TRUE(found && string_of(*found) == value) << "lookup of key " << key;
      EXPECT_EQ(must(view.lookup(key_of(key))), found);
      EXPECT_EQ(must(core_->lookup(key_of(key + 1))).has_value(), model_.map().contains(key + 1));
    }
  }

  StreamPlan plan_;
  Random random_;
  MemoryStore store_;
  std::shared_ptr<DrumCore> core_;
  DrumModel model_;
  DispatchOrder order_;
  std::set<std::uint16_t> attached_;
  std::vector<std::uint64_t> first_keys_;
  std::uint64_t transfer_count_ = 0;
  std::uint64_t repeat_count_ = 0;
  std::uint64_t merge_count_ = 0;
  StreamTotals totals_;
};

}  // namespace crawlstore::testing
