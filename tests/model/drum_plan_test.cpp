// SPDX-License-Identifier: Apache-2.0
//
// The planner against itself, and against DRUMs that did what was planned.

#include "model/drum_plan.h"

#include <random>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>

#include "drum/memory_store.h"

namespace crawlstore::testing {
namespace {

using model::DrumForecast;
using model::DrumPlan;
using model::plan_drum;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

DrumForecast of_keys(std::uint64_t keys, std::uint64_t memory_bytes) {
  DrumForecast forecast;
  forecast.key_count = keys;
  forecast.memory_bytes = memory_bytes;
  return forecast;
}

Errc code_of(const DrumForecast& forecast) {
  const auto plan = plan_drum(forecast);
  return plan ? Errc{} : plan.error().code;
}

// covers: D26
TEST(DrumPlan, ChoosesPowersOfTwo) {
  for (const std::uint64_t keys : {1UL, 1000UL, 1000000UL, 100000000UL, 3000000000UL}) {
    const DrumPlan plan = must(plan_drum(of_keys(keys, 256 * kMiB)));
    EXPECT_EQ(plan.bucket_count & (plan.bucket_count - 1), 0U);
    EXPECT_GE(plan.bucket_count, 1U);
    EXPECT_LE(plan.bucket_count, 65536U);
    EXPECT_TRUE(plan.bucket_count == 1 || keys / plan.bucket_count >= 16384);
    EXPECT_LE(keys / plan.bucket_count, DrumOptions{}.partition_keys_max);
    EXPECT_FALSE(plan.reasons.empty());
  }
}

TEST(DrumPlan, NeedsLessWithMoreMemory) {
  double bytes = 1e18;
  double passes = 1e18;
  for (const std::uint64_t memory : {16 * kMiB, 64 * kMiB, 256 * kMiB, 1024 * kMiB}) {
    const DrumPlan plan = must(plan_drum(of_keys(50'000'000, memory)));
    EXPECT_LT(plan.written_bytes_per_request, bytes) << memory;
    EXPECT_LT(static_cast<double>(plan.pass_count), passes) << memory;
    EXPECT_GT(plan.resident_bytes, memory);
    bytes = plan.written_bytes_per_request;
    passes = static_cast<double>(plan.pass_count);
  }
}

TEST(DrumPlan, NeedsMoreForMoreKeys) {
  DrumPlan before;
  for (const std::uint64_t keys : {100'000UL, 1'000'000UL, 10'000'000UL, 100'000'000UL}) {
    const DrumPlan plan = must(plan_drum(of_keys(keys, 64 * kMiB)));
    EXPECT_GT(plan.written_bytes, before.written_bytes);
    EXPECT_GE(plan.read_bytes, before.read_bytes);
    EXPECT_GE(plan.pass_count, before.pass_count);
    EXPECT_GT(plan.partition_bytes, before.partition_bytes);
    EXPECT_GT(plan.file_bytes, plan.partition_bytes);
    EXPECT_GT(plan.seconds, before.seconds);
    EXPECT_GE(plan.seconds, plan.submit_seconds);
    before = plan;
  }
}

TEST(DrumPlan, CountsFalseDuplicates) {
  EXPECT_NEAR(must(plan_drum(of_keys(6'000'000'000, 4096 * kMiB))).expected_false_duplicates, 0.976,
              0.001);
  EXPECT_LT(must(plan_drum(of_keys(1'000'000, kMiB))).expected_false_duplicates, 1e-7);
}

TEST(DrumPlan, WritesOnceWhatFitsTheMemory) {
  const DrumPlan plan = must(plan_drum(of_keys(1'000'000, 256 * kMiB)));
  EXPECT_EQ(plan.pass_count, 1U);
  EXPECT_EQ(plan.read_bytes, 0U);
  EXPECT_EQ(plan.logged_request_count, 0U);
}

TEST(DrumPlan, TakesTheBucketsThatAreGiven) {
  DrumForecast forecast = of_keys(1'000'000, kMiB);
  forecast.bucket_count = 3;
  EXPECT_EQ(must(plan_drum(forecast)).bucket_count, 3U);
}

// covers: D25
TEST(DrumPlan, RefusesWhatCannotBe) {
  const DrumForecast good = of_keys(1'000'000, kMiB);
  EXPECT_EQ(code_of(good), Errc{});
  const auto refused = [&good](auto field, auto value) {
    DrumForecast bad = good;
    bad.*field = value;
    return code_of(bad) == Errc::kInvalidArgument;
  };
  EXPECT_TRUE(refused(&DrumForecast::key_count, 0U));
  EXPECT_TRUE(refused(&DrumForecast::key_count, ~std::uint64_t{0}));
  EXPECT_TRUE(refused(&DrumForecast::request_count, 999'999U)) << "fewer requests than keys";
  EXPECT_TRUE(refused(&DrumForecast::request_count, ~std::uint64_t{0}));
  EXPECT_TRUE(refused(&DrumForecast::memory_bytes, 65535U));
  EXPECT_EQ(code_of(of_keys(1'000'000'000, kMiB)), Errc::kInvalidArgument) << "too many passes";
  EXPECT_TRUE(refused(&DrumForecast::aux_bytes, kMiB)) << "no array holds one";
  EXPECT_TRUE(refused(&DrumForecast::value_bytes, ~std::uint64_t{0}));
  EXPECT_TRUE(refused(&DrumForecast::key_bytes, 12U));
  EXPECT_TRUE(refused(&DrumForecast::disk_read_bytes_per_second, 0U));
  EXPECT_TRUE(refused(&DrumForecast::disk_write_bytes_per_second, 0U));
  EXPECT_TRUE(refused(&DrumForecast::bucket_count, 65537U));
  EXPECT_TRUE(refused(&DrumForecast::aux_stored_share, 0.0));
  EXPECT_TRUE(refused(&DrumForecast::aux_stored_share, 1.1));
}

/// Fresh keys among repeats, in the share that the forecast says, all of them hashed.
class Requests {
 public:
  explicit Requests(const DrumForecast& forecast) : forecast_(forecast) {}
  std::uint64_t next() {
    state_ = state_ * 0x5851F42D4C957F2D + 0x14057B7EF767814F;
    ++count_;
    const bool is_fresh = keys_ * forecast_.request_count < count_ * forecast_.key_count;
    const auto scaled = static_cast<unsigned __int128>(mix(state_)) * keys_;
    return mix(is_fresh ? keys_++ : static_cast<std::uint64_t>(scaled >> 64));
  }

 private:
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }
  DrumForecast forecast_;
  std::uint64_t state_ = 1;
  std::uint64_t count_ = 0;
  std::uint64_t keys_ = 0;
};

struct Measured {
  StorageCounters counters;
  DrumStatus status;
  double bytes_per_key = 0;
  std::uint64_t file_bytes = 0;
};

/// Does what was planned for.
Measured measure(const DrumForecast& forecast, std::uint32_t buckets) {
  MemoryStore store(std::uint64_t{1} << 30);
  DrumOptions options;
  options.bucket_count = buckets;
  options.memory_bytes = forecast.memory_bytes;
  options.key_bytes = static_cast<std::uint16_t>(forecast.key_bytes);
  options.recent_keys = 0;  // not foreseen
  const auto core = must(
      DrumCore::open(*store, "keys", static_cast<std::int32_t>(forecast.value_bytes), options));
  core->attach({}, [](std::span<const RawAnswer>) {});
  std::vector<std::byte> bytes(std::max(forecast.aux_bytes, forecast.value_bytes));
  const auto value = std::span(bytes).first(forecast.value_bytes);
  const auto aux = std::span(bytes).first(forecast.aux_bytes);
  // The noise is as long as is to be left when the rest, which repeats, is a sequence of 3 bytes.
  const double left = forecast.aux_stored_share * static_cast<double>(aux.size());
  const auto noisy = std::span(bytes).first(forecast.aux_stored_share < 1
                                                ? static_cast<std::size_t>(std::max(0.0, left - 3))
                                                : aux.size());
  std::mt19937_64 random(9);
  const auto before = store->counters().storage;
  Requests requests(forecast);
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < forecast.request_count; ++i) {
    if (!bytes.empty()) {
      for (auto& byte : noisy) byte = static_cast<std::byte>(random());
      must(core->submit({DrumOperation::kCheckUpdate, {}, requests.next(), value, aux}));
      continue;
    }
    if (forecast.key_bytes == 16) {
      const std::uint64_t key = requests.next();
      must(core->submit({DrumOperation::kCheckUpdate, {}, key, {}, {}, ~key}));
      continue;
    }
    keys.push_back(requests.next());
    if (keys.size() < 4096 && i + 1 < forecast.request_count) continue;
    must(core->submit_keys(DrumOperation::kCheckUpdate, keys, {}));
    keys.clear();
  }
  must(core->merge());
  Measured measured{store->counters().storage, core->status(), 0, store->file_bytes()};
  measured.counters.bytes_read -= before.bytes_read;
  measured.counters.bytes_written -= before.bytes_written;
  measured.bytes_per_key = drum_info(*store, "keys").bytes_per_key();
  return measured;
}

void expect_within(double share, double predicted, double measured, const char* what) {
  const double slack = std::string_view(what).find("bytes_") == 0 ? 65536 : 0.5;
  EXPECT_NEAR(predicted, measured, share * measured + slack) << what;
  ::testing::Test::RecordProperty(what, std::to_string(predicted / std::max(1.0, measured)));
}

void expect_as_planned(DrumForecast forecast) {
  const DrumPlan plan = must(plan_drum(forecast));
  forecast.request_count = plan.request_count;
  const Measured measured = measure(forecast, plan.bucket_count);
  constexpr double kTenth = 0.1;
  expect_within(kTenth, static_cast<double>(plan.written_bytes),
                static_cast<double>(measured.counters.bytes_written), "bytes_written");
  expect_within(kTenth, static_cast<double>(plan.read_bytes),
                static_cast<double>(measured.counters.bytes_read), "bytes_read");
  expect_within(kTenth, static_cast<double>(plan.pass_count),
                static_cast<double>(measured.status.merge_count), "pass_count");
  expect_within(kTenth, plan.bytes_per_key, measured.bytes_per_key, "key_bytes");
  expect_within(0.3, static_cast<double>(plan.file_bytes), static_cast<double>(measured.file_bytes),
                "bytes_of_file");
  EXPECT_EQ(plan.logged_request_count != 0, measured.status.transfer_count != 0);
}

// covers: D26
TEST(DrumPlan, ForeseesSweepsFromMemory) {
  DrumForecast forecast = of_keys(200'000, kMiB);
  forecast.bucket_count = 16;
  expect_as_planned(forecast);
}

TEST(DrumPlan, ForeseesLogs) {
  expect_as_planned(of_keys(400'000, kMiB / 4));
}

TEST(DrumPlan, ForeseesValuesAndAuxiliaries) {
  DrumForecast forecast = of_keys(100'000, 2 * kMiB);
  forecast.value_bytes = 8;
  forecast.aux_bytes = 60;
  expect_as_planned(forecast);
}

TEST(DrumPlan, ForeseesKeysOf16Bytes) {
  DrumForecast forecast = of_keys(200'000, kMiB);
  forecast.key_bytes = 16;
  expect_as_planned(forecast);
  forecast = of_keys(400'000, kMiB / 2);  // logs
  forecast.key_bytes = 16;
  expect_as_planned(forecast);
  EXPECT_LT(must(plan_drum(forecast)).expected_false_duplicates, 1e-20);
}

TEST(DrumPlan, ForeseesLogsOfAuxiliaries) {
  DrumForecast forecast = of_keys(200'000, kMiB / 2);
  forecast.value_bytes = 8;
  forecast.aux_bytes = 60;
  forecast.aux_stored_share = 1;
  expect_as_planned(forecast);
  EXPECT_GT(must(plan_drum(forecast)).logged_request_count, 0U);
}

TEST(DrumPlan, ForeseesLogsOfCompressedAuxiliaries) {
  DrumForecast forecast = of_keys(200'000, kMiB / 2);
  forecast.value_bytes = 8;
  forecast.aux_bytes = 60;
  forecast.bucket_count = 8;
  forecast.aux_stored_share = 0.5;
  expect_as_planned(forecast);
  const auto plan = must(plan_drum(forecast));
  EXPECT_GT(plan.logged_request_count, 0U);
  forecast.aux_stored_share = 1;
  EXPECT_LT(plan.log_written_bytes, must(plan_drum(forecast)).log_written_bytes * 3 / 4);
}

TEST(DrumPlan, ForeseesBucketsLargerThanAFlight) {
  DrumForecast forecast = of_keys(150'000, kMiB / 2);
  forecast.bucket_count = 8;
  expect_as_planned(forecast);
}

TEST(DrumPlan, ForeseesWhatFitsTheMemory) {
  expect_as_planned(of_keys(100'000, 16 * kMiB));
}

}  // namespace
}  // namespace crawlstore::testing
