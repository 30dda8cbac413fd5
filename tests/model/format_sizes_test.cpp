// SPDX-License-Identifier: Apache-2.0
//
// The lengths in model/ are those that the codecs write.
#include "model/format_sizes.h"

#include <gtest/gtest.h>

#include "format/checksum.h"
#include "format/key_block.h"
#include "format/layout.h"
#include "format/partition_index.h"
#include "format/request_run.h"

namespace crawlstore::testing {
namespace {

static_assert(model::kUnitBytes == format::kUnitBytes);
static_assert(model::kChunkBytes == format::kChunkBytes);
static_assert(model::kKeyRunHeaderBytes == sizeof(format::KeyRunHeader));
static_assert(model::kAuxRunHeaderBytes == sizeof(format::AuxRunHeader));
static_assert(model::kTableSegmentsMax == format::kTableSegmentsMax);
static_assert(model::kTableBytesMax == format::kTableBytesMax);
static_assert(model::kHeldInlineMax == format::kHeldInlineMax);
static_assert(model::kValueBytesMax == format::kValueBytesMax);
static_assert(model::kAuxBytesMax == format::kAuxBytesMax);

TEST(FormatSizes, AreThoseOfExtents) {
  for (std::uint64_t payload = 1; payload < std::uint64_t{1} << 47; payload = payload * 5 / 3 + 1) {
    EXPECT_EQ(model::extent_bytes(payload), format::extent_bytes(payload)) << payload;
  }
  for (const std::uint64_t chunks : {1ULL, 8191ULL, 8192ULL, 8193ULL}) {
    for (std::uint64_t payload = chunks * 65536 - 9; payload < chunks * 65536 + 9; ++payload) {
      EXPECT_EQ(model::extent_bytes(payload), format::extent_bytes(payload)) << payload;
    }
  }
}

TEST(FormatSizes, AreThoseOfKeyBlocks) {
  for (const std::uint32_t count : {1U, 2U, 3U, 64U, 127U, 128U, 129U, 130U, 500U, 511U, 512U}) {
    for (int bits = 0; bits < 64; ++bits) {
      const std::uint64_t distance = count + (std::uint64_t{0x9E3779B97F4A7C15} >> bits);
      EXPECT_EQ(model::key_block_bytes(distance, count), format::key_block_bytes(distance, count))
          << distance << ' ' << count;
    }
  }
}

TEST(FormatSizes, AreThoseOfPartitionTails) {
  for (const std::uint64_t blocks : {1ULL, 2ULL, 1000ULL, 1001ULL}) {
    for (const std::uint16_t key_bytes : {std::uint16_t{8}, std::uint16_t{16}}) {
      EXPECT_EQ(model::partition_tail_bytes(blocks, key_bytes),
                format::partition_tail_bytes(blocks, key_bytes));
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
