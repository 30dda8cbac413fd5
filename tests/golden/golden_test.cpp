// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include <crawlstore/tools/verify.h>

#include "golden/crafted_file.h"
#include "golden/golden_files.h"
#include "golden/golden_json.h"
#include "golden/patch.h"

namespace crawlstore::testing {
namespace {

TEST(Golden, ReadsEveryValidFileAsItsDocumentSays) {
  for (const std::string& name : golden_names("valid")) {
    const auto document = read_as_json(valid_file(name));
    ASSERT_TRUE(document) << name << ": " << describe(document.error());
    EXPECT_EQ(document->dump(1) + '\n', golden_text("valid/" + name + ".json")) << name;
  }
}

TEST(Golden, RejectsEveryRejectedFileAsItsPatchSays) {
  for (const std::string& name : golden_names("rejected")) {
    const RejectedFile file = rejected_file(name);
    const auto document = read_as_json(file.bytes);
    ASSERT_FALSE(document) << name;
    const PatchHead found = patch_head(file.head.base, document.error(), file.head.rule);
    EXPECT_EQ(found.error, file.head.error) << name;
    EXPECT_EQ(found.place, file.head.place) << name;
    EXPECT_EQ(found.text, file.head.text) << name;
  }
}

TEST(Golden, KeepsTheBytesThatTheWriterWrites) {
  for (const GoldenFile& file : valid_files()) {
    EXPECT_EQ(file.bytes, valid_file(file.name)) << file.name;
  }
}

TEST(Golden, KeepsThePatchesThatMakeGoldenMakes) {
  const auto files = rejected_files();
  EXPECT_EQ(files.size(), golden_names("rejected").size());
  for (const GoldenFile& file : files) {
    const RejectedFile kept = rejected_file(file.name);
    EXPECT_EQ(file.bytes, kept.bytes) << file.name;
    EXPECT_EQ(encode_patch(kept.head, valid_file(file.base), file.bytes, file.parts),
              golden_text("rejected/" + file.name + ".patch"));
  }
}

TEST(Golden, TakesNothingForAPatchThatIsNone) {
  const std::string head = "base: empty\nerror: a\nrule: b\nplace: c\ntext: d\n";
  EXPECT_EQ(decode_patch(head).bytes, valid_file("empty"));
  for (const std::string line :
       {"text: twice", "length: 1x", "0 89 -> 8a", "0+0 89", "0+0 88 -> 8a", "0+0 89 -> 8a8b",
        "0+0 89 - 8a", "0+0 89 -> 8", "0+0 zero", "0+0 zero 9999999", "9999999+0 89 -> 8a",
        "0+0 89 -> 8a behind"}) {
    EXPECT_THROW(decode_patch(head + line + '\n'), std::runtime_error) << line;
  }
  EXPECT_THROW(decode_patch("base: empty\nrule: b\n"), std::runtime_error);
}

/// A file that cannot be read is damaged, and is not compared with the others.
TEST(Golden, FindsNothingInvalidWhereARunIsDamaged) {
  for (const std::string name : {"keys_and_pending", "results_wait", "pages", "pages_fresh_keys"}) {
    const CraftedFile whole(valid_file(name));
    for (const auto& entry : whole.tables.front()) {
      for (const auto& run : entry.runs) {
        auto bytes = whole.bytes;
        bytes[run.offset_bytes] ^= std::byte{1};
        const auto storage = open_memory_storage(make_memory_file(bytes), OpenMode::kRead);
        const auto report = verify(*storage, {.level = VerifyLevel::kDeep, .progress = {}});
        ASSERT_TRUE(report) << name;
        EXPECT_TRUE(report->damaged()) << name;
        for (const Finding& finding : report->findings) {
          EXPECT_NE(finding.error.code, Errc::kSegmentInvalid)
              << name << ", run " << run.run_id.value << ": " << describe(finding);
        }
      }
    }
  }
}

TEST(Golden, HoldsTheDirectoryPiecesOfItsNames) {
  const auto file = [](const char* name) { return CraftedFile(valid_file(name)); };
  EXPECT_TRUE(file("held_inline").held_tables.empty());
  EXPECT_FALSE(file("held_inline").root.held.empty());
  EXPECT_FALSE(file("held_tables").held_tables.empty());
  EXPECT_GT(file("tables_several").tables.size(), 2U);
}

TEST(Golden, HoldsAtLeastThirtyValidAndSixtyRejectedFiles) {
  std::set<std::vector<std::byte>> different;
  for (const auto& name : golden_names("valid")) different.insert(valid_file(name));
  for (const auto& name : golden_names("rejected")) different.insert(rejected_file(name).bytes);
  EXPECT_GE(golden_names("valid").size(), 30U);
  EXPECT_GE(golden_names("rejected").size(), 60U);
  EXPECT_EQ(different.size(), golden_names("valid").size() + golden_names("rejected").size());
}

}  // namespace
}  // namespace crawlstore::testing
