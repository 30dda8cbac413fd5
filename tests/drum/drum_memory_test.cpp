// SPDX-License-Identifier: Apache-2.0
//
// How much memory a DRUM takes, counted by operator new.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>

#include "drum/memory_store.h"
#include "support/allocation_failure.h"

namespace crawlstore::testing {
namespace {

// A run of 32 MiB of auxiliaries takes a few KiB in the log. Its answers are told 256 at a time,
// and no more of them is unpacked at once.
TEST(DrumMemory, UnpacksNoMoreThanItTells) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 1;
  options.memory_bytes = 64 << 20;
  options.log_first = true;
  options.auto_merge = false;
  options.parallel = false;
  auto drum = must(Drum<std::uint64_t, NoValue, std::string_view>::open(*store, "urls", options));
  const std::string aux(4096, 'x');
  for (std::uint64_t i = 0; i < 8192; ++i) must(drum.check_update(i << 40, {}, aux));
  must(store->commit());
  const std::int64_t before = live_bytes;
  std::int64_t most = 0;
  std::uint64_t told = 0;
  drum.core().attach({}, [&](std::span<const RawAnswer> answers) {
    for (const RawAnswer& answer : answers) told += answer.aux.size();
    most = std::max(most, live_bytes - before);
  });
  must(drum.merge());
  EXPECT_EQ(told, 8192 * aux.size());
  EXPECT_GT(most, 256 * 4096) << "what is told at a time";
  EXPECT_LT(most, 4 << 20);
}

}  // namespace
}  // namespace crawlstore::testing
