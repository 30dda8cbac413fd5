// SPDX-License-Identifier: Apache-2.0
//
// Auxiliaries that were logged, and so compressed, come back as they were.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/tools/verify.h>

#include "drum/memory_store.h"
#include "golden/patch.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

using Urls = Drum<std::uint64_t, NoValue, std::string>;

std::uint64_t key_of(std::uint64_t i) {
  return Random(i).next();
}
/// Like URLs; the lengths differ.
std::string url(std::uint64_t i) {
  const std::uint64_t random = Random(i).next();
  std::string text = "https://www.host" + std::to_string(random % 50) + ".com/";
  for (std::uint64_t j = 0; j < random % 7; ++j)
    text += "folder" + std::to_string(random % 11) + '/';
  return i % 10 == 0 ? std::string() : text + std::to_string(i);
}
/// The text is so long that it crosses blocks, or so that it shrinks 200 times.
std::string long_text(std::uint64_t i) {
  return std::string(1 << 20, static_cast<char>('a' + i % 20)) + std::to_string(i);
}

DrumOptions log_first(std::uint32_t buckets) {
  DrumOptions options;
  options.bucket_count = buckets;
  options.log_first = true;
  options.auto_merge = false;
  return options;
}

/// Logs `count` requests in `commits` commits, opens the store again, and has them answered.
/// Returns the bytes that the commits wrote.
template <class AuxOf>
std::uint64_t expect_all_back(std::uint64_t count, std::uint64_t commits, std::uint32_t buckets,
                              const AuxOf& aux_of) {
  MemoryStore store(std::uint64_t{1} << 30);
  std::uint64_t written = store->counters().storage.bytes_written;
  {
    auto drum = must(Urls::open(*store, "urls", log_first(buckets)));
    for (std::uint64_t i = 0; i < count; ++i) {
      must(drum.check_update(key_of(i), {}, aux_of(i)));
      if ((i + 1) % (count / commits) == 0) must(store->commit());
    }
    must(drum.close());
  }
  written = store->counters().storage.bytes_written - written;
  VerifyOptions deep;
  deep.level = VerifyLevel::kDeep;
  EXPECT_TRUE(
      must(verify(*open_memory_storage(store.file(), OpenMode::kRead), deep)).findings.empty());
  std::size_t run_count = 0;
  for (const SegmentInfo& segment : must(store->snapshot()).segments()) {
    if (segment.kind == SegmentKind::kDrumAuxLog) run_count += segment.runs.size();
  }
  EXPECT_LE(run_count, std::min<std::uint64_t>(commits * buckets, 130));
  store.reopen();
  auto drum = must(Urls::open(*store, "urls", log_first(buckets)));
  std::map<std::uint64_t, std::string> expected;
  for (std::uint64_t i = 0; i < count; ++i) expected[key_of(i)] = aux_of(i);
  struct {
    std::map<std::uint64_t, std::string>& expected;
    std::uint64_t wrong = 0;
    void unique_key_update(const Urls::AnswerType& answer) {
      const auto found = expected.find(answer.key);
      if (found == expected.end() || found->second != answer.aux) {
        ++wrong;
      } else {
        expected.erase(found);
      }
    }
  } checker{expected};
  drum.attach(checker);
  must(drum.merge());
  EXPECT_EQ(checker.wrong, 0U);
  EXPECT_TRUE(expected.empty()) << expected.size() << " are missing";
  must(drum.close());
  return written;
}

TEST(DrumAuxLogs, GiveUrlsBack) {
  std::uint64_t raw_bytes = 0;
  for (std::uint64_t i = 0; i < 30'000; ++i) raw_bytes += url(i).size();
  const std::uint64_t written = expect_all_back(30'000, 3, 2, url);
  EXPECT_LT(written, raw_bytes * 3 / 4 + 30'000 * 12 + 100'000);
}

TEST(DrumAuxLogs, GiveLongTextsBack) {
  expect_all_back(40, 2, 2, [](std::uint64_t i) { return long_text(i); });
}

// 150 runs of a bucket are joined; all of them together would take 150 MiB.
TEST(DrumAuxLogs, JoinRunsThatGrowWhenTheyAreRead) {
  const std::uint64_t written =
      expect_all_back(150, 150, 1, [](std::uint64_t i) { return long_text(i); });
  EXPECT_LT(written, std::uint64_t{32} << 20);
}

// The blocks have the faults that deep verify would have found.
TEST(DrumAuxLogs, FailToAnswerWithABrokenBlock) {
  for (const std::string name :
       {"aux_block_cut", "aux_block_gives_more_bytes", "aux_block_length_too_small",
        "aux_block_length_zero", "aux_block_offset_before_begin", "aux_run_codec"}) {
    MemoryStore store(rejected_file(name).bytes);
    auto drum = must(Urls::open(*store, "aux", log_first(2)));
    NullDispatcher nobody;
    drum.attach(nobody);
    const auto done = drum.merge();
    ASSERT_FALSE(done) << name;
    EXPECT_EQ(done.error().code, Errc::kSegmentInvalid) << name;
  }
}

/// The bytes of a file with requests of several megabytes in its logs.
std::vector<std::byte> bytes_of_logs(bool parallel) {
  MemoryStore store(std::uint64_t{1} << 26);
  DrumOptions options = log_first(40);  // more than are encoded at once
  options.parallel = parallel;
  auto drum = must(Urls::open(*store, "urls", options));
  for (std::uint64_t i = 0; i < 60'000; ++i) must(drum.check_update(key_of(i), {}, url(i)));
  must(drum.close());
  must(store->close());
  return store.image();
}

TEST(DrumAuxLogs, AreTheSameBytesWhateverTheThreads) {
  const auto alone = bytes_of_logs(false);
  EXPECT_EQ(alone, bytes_of_logs(false));
  for (int again = 0; again < 3; ++again) EXPECT_EQ(alone, bytes_of_logs(true));
}

}  // namespace
}  // namespace crawlstore::testing
