// SPDX-License-Identifier: Apache-2.0
#include "bench/frontier_work.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "bench/frontier_heaps.h"
#include "bench/frontier_own.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using bench::FrontierStream;
using bench::FrontierWork;
using bench::HeapFrontier;
using bench::OwnFrontier;
using bench::WorkOptions;
using bench::WorkTaken;

WorkOptions small(std::size_t body_bytes) {
  return {.item_count = 3000,
          .group_count = 500,
          .body_bytes = body_bytes,
          .cycle_count = 30,
          .take_count = 20,
          .put_batch = 700};
}

std::uint64_t sum_of(bench::BenchFrontier& frontier, const WorkOptions& options) {
  FrontierWork work(options, frontier);
  work.load();
  work.run_cycles();
  frontier.close();
  return work.sum();
}

/// Takes as the heaps do, but gives each item out with another body.
class Confused final : public bench::BenchFrontier {
 public:
  [[nodiscard]] std::string name() const override { return "confused"; }
  void put(std::span<const bench::WorkItem> items) override { heaps_.put(items); }
  std::vector<WorkTaken> take(std::size_t count, std::uint64_t now_ms) override {
    std::vector<WorkTaken> taken = heaps_.take(count, now_ms);
    for (WorkTaken& item : taken) item.body += '?';
    return taken;
  }
  void finish(std::span<const std::uint64_t> ids, std::uint64_t now_ms) override {
    heaps_.finish(ids, now_ms);
  }

 private:
  HeapFrontier heaps_;
};

/// Visits groups as often as it likes.
class Rude final : public bench::BenchFrontier {
 public:
  [[nodiscard]] std::string name() const override { return "rude"; }
  void put(std::span<const bench::WorkItem> items) override { heaps_.put(items); }
  std::vector<WorkTaken> take(std::size_t count, std::uint64_t /*now_ms*/) override {
    clock_ms_ += 2 * bench::kDelayMs;
    return heaps_.take(count, clock_ms_);
  }
  void finish(std::span<const std::uint64_t> ids, std::uint64_t now_ms) override {
    heaps_.finish(ids, now_ms);
  }

 private:
  HeapFrontier heaps_;
  std::uint64_t clock_ms_ = bench::kClockBeginMs;
};

TEST(FrontierWork, IsTheSameInTheFileAndInHeaps) {
  for (const std::size_t body_bytes : {5U, 115U}) {
    const TemporaryFolder folder;
    HeapFrontier heaps;
    OwnFrontier own(folder / "a.crawl", "crawlstore");
    EXPECT_EQ(sum_of(own, small(body_bytes)), sum_of(heaps, small(body_bytes)));
  }
}

TEST(FrontierWork, TakesGroupsAtTheirHardDelayWhereNoOtherMayBe) {
  const TemporaryFolder folder;
  WorkOptions options = small(5);
  options.group_count = 150;
  HeapFrontier heaps;
  OwnFrontier own(folder / "a.crawl", "crawlstore");
  EXPECT_EQ(sum_of(own, options), sum_of(heaps, options));
}

TEST(FrontierWork, RefusesAFrontierThatMixesUpBodies) {
  Confused confused;
  EXPECT_THROW(sum_of(confused, small(5)), std::runtime_error);
}

TEST(FrontierWork, RefusesAFrontierThatVisitsGroupsEarly) {
  Rude rude;
  EXPECT_THROW(sum_of(rude, small(5)), std::runtime_error);
}

TEST(FrontierStream, GivesTheFirstGroupATwentiethOfTheItems) {
  const FrontierStream stream(1000, 5);
  int first = 0;
  for (std::uint64_t item = 0; item < 20'000; ++item) first += stream.group(item) == 0 ? 1 : 0;
  EXPECT_NEAR(first, 1000, 120);
}

TEST(FrontierStream, WritesBodiesOfTheLengthAsked) {
  std::string body;
  for (const std::size_t length : {5U, 115U}) {
    const FrontierStream stream(1000, length);
    for (const std::uint64_t item : {0U, 123'456U, 11'000'000U}) {
      stream.write_body(item, body);
      EXPECT_EQ(body.size(), length) << body;
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
