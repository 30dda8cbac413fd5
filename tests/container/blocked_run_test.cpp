// SPDX-License-Identifier: Apache-2.0
//
// The parts of blocked runs with a toy family, in memory and without a store.
#include "container/blocked_run.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "format/invalid.h"

namespace crawlstore::testing {
namespace {

using container::PayloadSource;
using container::PayloadWindow;
using ::testing::ElementsAre;

struct ToyFooter {
  std::uint8_t block_count = 0;
};
struct ToyEntry {
  std::uint64_t offset_bytes = 0;
};

Result<ToyFooter> parse_toy_footer(std::span<const std::byte> bytes, std::uint64_t payload_bytes) {
  if (bytes.size() != sizeof(ToyFooter)) return format::invalid("no footer");
  const ToyFooter footer{std::to_integer<std::uint8_t>(bytes[0])};
  if (footer.block_count + sizeof footer > payload_bytes) {
    return format::invalid("too many", payload_bytes - sizeof footer);
  }
  return footer;
}

/// Writes down the order of its calls.
struct ToyWalk {
  Result<ToyEntry> entry(std::uint64_t i) {
    calls.push_back("entry " + std::to_string(i));
    if (i == offsets.size()) return ToyEntry{end_bytes};
    return ToyEntry{offsets[i]};
  }
  Result<std::uint64_t> check_block(const ToyEntry& entry, std::uint64_t end) {
    calls.push_back("block " + std::to_string(entry.offset_bytes) + " to " + std::to_string(end));
    if (entry.offset_bytes == broken_offset) return format::invalid("broken", broken_offset);
    return end;
  }
  Result<void> check_end() {
    calls.emplace_back("end");
    return {};
  }

  std::vector<std::uint64_t> offsets;
  std::uint64_t end_bytes = 0;
  std::uint64_t broken_offset = ~std::uint64_t{0};
  std::vector<std::string> calls{};
};

Result<void> go_on(std::uint64_t /*bytes*/) {
  return {};
}

TEST(ReadFooter, TakesTheLastBytesOfAPayload) {
  const std::vector<std::byte> payload{std::byte{9}, std::byte{9}, std::byte{2}};
  const auto footer =
      container::read_footer(container::payload_in_memory(payload), parse_toy_footer);
  ASSERT_TRUE(footer);
  EXPECT_EQ(footer->block_count, 2u);
}

TEST(ReadFooter, LetsTheFamilyRejectAPayloadThatIsTooShort) {
  const auto read = container::read_footer(container::payload_in_memory({}), parse_toy_footer);
  ASSERT_FALSE(read);
  EXPECT_STREQ(read.error().text, "no footer");
}

TEST(CheckBlocked, SeesEveryEntryBeforeTheBlockThatEndsThere) {
  ToyWalk walk{{0, 3}, 8};
  ASSERT_TRUE(container::check_blocked(walk, 2, 12, go_on));
  EXPECT_THAT(walk.calls,
              ElementsAre("entry 0", "entry 1", "block 0 to 3", "entry 2", "block 3 to 8", "end"));
}

TEST(CheckBlocked, EndsAtTheFirstBrokenBlock) {
  ToyWalk walk{{0, 3}, 8, 0};
  const auto checked = container::check_blocked(walk, 2, 12, go_on);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().offset, 0u);
  EXPECT_EQ(walk.calls.back(), "block 0 to 3");
}

TEST(CheckBlocked, ReportsAllBytesOfThePayloadInStepsOfAMegabyte) {
  constexpr std::uint64_t kStep = std::uint64_t{3} << 19;
  ToyWalk walk{{0, kStep, kStep + 8}, 2 * kStep};
  std::vector<std::uint64_t> reported;
  const auto report = [&](std::uint64_t bytes) -> Result<void> {
    reported.push_back(bytes);
    return {};
  };
  ASSERT_TRUE(container::check_blocked(walk, 3, 2 * kStep + 100, report));
  EXPECT_THAT(reported, ElementsAre(kStep, kStep, 100u));
}

TEST(CheckBlocked, IsStoppedByItsProgress) {
  ToyWalk walk{{0, std::uint64_t{1} << 20}, std::uint64_t{2} << 20};
  const auto checked = container::check_blocked(
      walk, 2, std::uint64_t{3} << 20,
      [](std::uint64_t) -> Result<void> { return fail(Errc::kCancelled, ""); });
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Errc::kCancelled);
  EXPECT_EQ(walk.calls.back(), "block 0 to 1048576");
}

/// Lengths of the fronts of a block that parse_block() shows, all of which are refused.
std::vector<std::uint64_t> tried_lengths(std::uint64_t length_bytes) {
  const std::vector<std::byte> payload(length_bytes + 8);
  const PayloadSource source = container::payload_in_memory(payload);
  const container::ContentProgress progress = go_on;
  PayloadWindow blocks(source, {0, payload.size()}, progress);
  std::vector<std::uint64_t> tried;
  const auto parsed = container::parse_block(blocks, {8, length_bytes},
                                             [&](std::span<const std::byte> bytes) -> Result<void> {
                                               tried.push_back(bytes.size());
                                               return format::invalid("broken", 5);
                                             });
  EXPECT_FALSE(parsed);
  EXPECT_EQ(parsed.error().offset, 8u + 5u);
  return tried;
}

TEST(ParseBlock, ShowsAllOfALongBlockOnlyIfItsFrontIsNotEnough) {
  constexpr std::uint64_t kWindow = PayloadWindow::kWindowBytes;
  EXPECT_THAT(tried_lengths(100), ElementsAre(100u));
  EXPECT_THAT(tried_lengths(kWindow), ElementsAre(kWindow));
  EXPECT_THAT(tried_lengths(kWindow + 8), ElementsAre(kWindow, kWindow + 8));
}

}  // namespace
}  // namespace crawlstore::testing
