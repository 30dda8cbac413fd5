// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "container/description.h"
#include "format/checksum.h"
#include "format/format_samples.h"
#include "format/frontier_table.h"
#include "format/group_samples.h"
#include "format/item_samples.h"
#include "format/run_end.h"
#include "format/step_samples.h"
#include "frontier/frontier_content.h"

namespace crawlstore::frontier {
namespace {

using namespace crawlstore::testing;
using ::testing::Contains;

constexpr std::uint64_t kRunAt = 4096;
constexpr Uuid kUuid{};

/// A run by itself in a file in memory.
struct StoredRun {
  StoredRun(SegmentKind kind, const Bytes& payload)
      : entry{{2}, kind, StorageClass::kLog, {1}, "", {}} {
    run = {kRunAt, {1}, {3}, payload.size(), 1, 0};
    format::ChecksumTreeBuilder tree({kUuid, entry.id, run.run_id});
    Bytes bytes = payload;
    bytes.resize(format::round_up(bytes.size(), 8));
    for (std::size_t at = 0; at < bytes.size(); at += format::kChunkBytes) {
      tree.add_chunk(std::span(bytes).subspan(
          at, std::min<std::size_t>(format::kChunkBytes, bytes.size() - at)));
    }
    const auto tail =
        tree.finish(format::run_end(format::label_of(entry, run.run_id), payload.size(), 1));
    run.checksum = tail.checksum;
    bytes.insert(bytes.end(), tail.bytes.begin(), tail.bytes.end());
    Bytes content(kRunAt);
    content.insert(content.end(), bytes.begin(), bytes.end());
    storage =
        open_memory_storage(make_memory_file(content, std::uint64_t{1} << 22), OpenMode::kWrite);
  }
  void write(std::uint64_t offset, const Bytes& bytes) const {
    ASSERT_TRUE(storage->write(offset, bytes));
  }

  using Describe = void (*)(container::Description&, const container::RunSource&);
  [[nodiscard]] std::vector<FieldInfo> described(Describe describe,
                                                 std::size_t entries_max = 1000) const {
    container::Description out({.entries_max = entries_max});
    describe(out, container::RunSource(*storage, kUuid, entry, run));
    return out.take();
  }
  [[nodiscard]] std::vector<FieldInfo> described_at(std::uint64_t place) const {
    container::Description out({});
    describe_item_run_at(out, container::RunSource(*storage, kUuid, entry, run), place);
    return out.take();
  }

  format::SegmentEntry entry;
  format::RunRef run;
  std::unique_ptr<Storage> storage;
};

/// Name, place in the payload and value of each line.
std::vector<std::string> lines_of(const std::vector<FieldInfo>& fields) {
  std::vector<std::string> lines;
  for (const FieldInfo& field : fields) {
    lines.push_back(field.name + ' ' + std::to_string(field.offset_bytes - kRunAt) + '+' +
                    std::to_string(field.length_bytes) + ' ' + field.value);
  }
  return lines;
}

/// The problems, each with the place of its line in the payload.
std::vector<std::string> problems_of(const std::vector<FieldInfo>& fields) {
  std::vector<std::string> problems;
  for (const FieldInfo& field : fields) {
    if (field.problem.empty()) continue;
    problems.push_back(field.problem + " at " + std::to_string(field.offset_bytes - kRunAt));
  }
  return problems;
}

bool has_problem(const std::vector<FieldInfo>& fields, const std::string& text) {
  return std::ranges::any_of(fields, [&](const FieldInfo& field) { return field.problem == text; });
}

/// Each payload has the problem that its check finds, or none.
void expect_problems(SegmentKind kind, const std::map<std::string, Bytes>& payloads,
                     StoredRun::Describe describe,
                     const std::function<Result<container::RunContentPtr>(const Bytes&)>& check) {
  std::size_t broken_count = 0;
  for (const auto& [name, payload] : payloads) {
    if (payload.empty()) continue;
    SCOPED_TRACE(name);
    const auto fields = StoredRun(kind, payload).described(describe);
    ASSERT_FALSE(fields.empty());
    const auto checked = check(payload);
    if (checked) {
      EXPECT_EQ(problems_of(fields), std::vector<std::string>());
    } else {
      EXPECT_TRUE(has_problem(fields, checked.error().text)) << checked.error().text;
      ++broken_count;
    }
  }
  EXPECT_GT(broken_count, payloads.size() / 2);
}

Result<container::RunContentPtr> item_run_check(const Bytes& payload) {
  return check_item_run(container::payload_in_memory(payload),
                        [](std::uint64_t) { return Result<void>{}; });
}

TEST(FrontierDescription, SaysWhatIsWrongWithRuns) {
  expect_problems(SegmentKind::kFrontierGroups, sample_group_payloads(), describe_group_run,
                  [](const Bytes& payload) { return check_group_run(payload); });
  expect_problems(SegmentKind::kFrontierSteps, sample_step_payloads(), describe_step_run,
                  [](const Bytes& payload) { return check_step_run(payload); });
  expect_problems(SegmentKind::kFrontierItems, sample_item_payloads(), describe_item_run,
                  item_run_check);
}

TEST(FrontierDescription, NamesThePartsOfAnItemRun) {
  const StoredRun stored(SegmentKind::kFrontierItems, encoded_item_run(sample_item_blocks()));
  const auto lines = lines_of(stored.described(describe_item_run));
  for (const char* line :
       {"footer 144+56 ", "group_count 176+4 2", "blocks 0+119 2", "blocks[0] 0+62 3 items",
        "bodies 57+5 5 bytes", "blocks[1] 62+57 2 items", "directory 119+4 2", "group 121+1 10",
        "padding 123+5 ", "index 128+16 2", "index[1] 136+8 ", "stored_bytes 136+4 57"}) {
    EXPECT_THAT(lines, Contains(line));
  }
  const auto few = lines_of(stored.described(describe_item_run, 1));
  EXPECT_EQ(std::ranges::count_if(few, [](auto& line) { return line.starts_with("blocks["); }), 1);
}

TEST(FrontierDescription, ShowsTheItemsOfTheBlockAtAPlace) {
  const StoredRun stored(SegmentKind::kFrontierItems, encoded_item_run(sample_item_blocks()));
  const auto lines = lines_of(stored.described_at(70));
  EXPECT_THAT(lines, Contains("blocks[1] 62+57 2 items"));
  EXPECT_THAT(lines, Contains("items[3] 116+0 id 4, group 3, priority 0.5"));
  EXPECT_THAT(lines, Contains("items[4] 116+3 id 12, group 10, priority 2"));
  EXPECT_EQ(lines.back(), "body 116+3 xyz");
  EXPECT_EQ(lines_of(stored.described_at(121)).back(), "item_count 122+1 1");
  EXPECT_EQ(lines_of(stored.described_at(137)).back(), "item_count 140+4 2");
  EXPECT_EQ(lines_of(stored.described_at(125)).back(), "magic 192+8 0x314e524d45544943");
}

TEST(FrontierDescription, ShowsItemsByTimeAndCompressedBodies) {
  const StoredRun timed(SegmentKind::kFrontierItems, encoded_item_run({sample_timed_items()}));
  EXPECT_THAT(lines_of(timed.described_at(0)),
              Contains("items[2] 70+2 id 1, group 2, priority 0.5, time 90000"));
  const StoredRun packed(SegmentKind::kFrontierItems, encoded_item_run({sample_long_items()}));
  EXPECT_EQ(lines_of(packed.described_at(0)).back(), "body 52+0 " + std::string(36, 'a'));
}

TEST(FrontierDescription, ShowsOneBrokenBlockAndTheOtherWhole) {
  Bytes payload = encoded_item_run(sample_item_blocks());
  payload[62 + 44] = std::byte{1};
  const StoredRun stored(SegmentKind::kFrontierItems, payload);
  EXPECT_EQ(problems_of(stored.described(describe_item_run)).size(), 2U);
  EXPECT_THAT(problems_of(stored.described(describe_item_run)),
              Contains("bytes are not zero at 106"));
  EXPECT_TRUE(problems_of(stored.described_at(0)).empty());
}

TEST(FrontierDescription, NamesStepsByTheirNumbers) {
  const StoredRun stored(SegmentKind::kFrontierSteps, sample_journal());
  const auto lines = lines_of(stored.described(describe_step_run, 2));
  EXPECT_THAT(lines, Contains("step_count 16+8 19"));
  EXPECT_THAT(lines, Contains("steps[7] 40+8 clock"));
  EXPECT_EQ(lines.back(), "key 50+6 a.test");
}

TEST(FrontierDescription, SaysThatBytesWereChanged) {
  const StoredRun stored(SegmentKind::kFrontierSteps, sample_journal());
  stored.write(kRunAt + 50, bytes_of("b"));
  const auto fields = stored.described(describe_step_run);
  EXPECT_EQ(problems_of(fields),
            std::vector<std::string>{"the checksum of a chunk does not match at 0"});
  EXPECT_THAT(lines_of(fields), Contains("key 50+6 b.test"));
}

TEST(FrontierDescription, DescribesATable) {
  format::FrontierTable table;
  table.steps = {7};
  table.step_count = 70;
  table.pieces = {{14}};
  table.has_own_ids = true;
  table.pages = "crawl";
  const Bytes bytes = format::encode_frontier_table(table);
  const auto fields = StoredRun(SegmentKind::kFrontier, bytes).described(describe_frontier);
  EXPECT_TRUE(problems_of(fields).empty());
  EXPECT_EQ(fields.back().name + " " + fields.back().value, "pages crawl");
  table.pieces = {{14}, {14}};
  const Bytes twice = format::encode_frontier_table(table);
  EXPECT_EQ(problems_of(StoredRun(SegmentKind::kFrontier, twice).described(describe_frontier)),
            std::vector<std::string>{"a piece of a frontier is none, or named twice at 0"});
}

TEST(FrontierDescription, TakesBytesThatWereChangedAnywhere) {
  const std::vector<std::pair<StoredRun::Describe, Bytes>> kinds{
      {describe_group_run, sample_group_payloads().at("lz4_block")},
      {describe_item_run, encoded_item_run(sample_item_blocks())},
      {describe_item_run, encoded_item_run({sample_long_items()})},
      {describe_step_run, sample_journal()},
      {describe_step_run, sample_piece()},
      {describe_frontier, format::encode_frontier_table({})}};
  for (const auto& [describe, payload] : kinds) {
    for (std::size_t at = 0; at < payload.size(); ++at) {
      for (const int value : {0, 1, 0x7F, 0x80, 0xFF}) {
        Bytes changed = payload;
        changed[at] = static_cast<std::byte>(value);
        const StoredRun stored(SegmentKind::kFrontierItems, changed);
        EXPECT_FALSE(stored.described(describe).empty());
        if (describe == describe_item_run) (void)stored.described_at(at);
      }
    }
  }
}

}  // namespace
}  // namespace crawlstore::frontier
