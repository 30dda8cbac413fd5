// SPDX-License-Identifier: Apache-2.0
//
// A kind that only this file knows: one row, and the container stores, verifies and describes it.
#include "container/kind.h"

#include <gmock/gmock.h>

#include "container/container_store.h"
#include "container/inspect_directory.h"

namespace crawlstore::testing {
namespace {

using ::testing::Contains;

constexpr SegmentKind kToy{40'000};  // of those for private use

/// A word for each record, all the same.
Result<container::RunContentPtr> check_toy(std::span<const std::byte> payload) {
  if (std::adjacent_find(payload.begin(), payload.end(), std::not_equal_to<>()) != payload.end()) {
    return fail(Errc::kSegmentInvalid, "a toy is of two colours", 8);
  }
  return std::make_unique<container::RunContent>(payload.size() / 8);
}

void describe_toy(container::Description& out, const container::RunSource& source) {
  out.add("toy", "bytes", source.run().extent(), "of one colour");
}

const container::KindSet& toys() {
  static const container::KindSet kKinds({{
      .rule = {kToy, "toy", StorageClass::kLog, {}, std::uint64_t{1} << 63},
      .check = container::check_whole<check_toy>,
      .describe = describe_toy,
      .verify = [](container::SegmentVerifier& segments,
                   const format::SegmentEntry& entry) -> Result<bool> {
        for (const auto& run : entry.runs) CRAWLSTORE_TRY(segments.content_of(entry, run));
        return true;
      },
  }});
  return kKinds;
}

/// A store with a toy of that payload. Returns its run.
format::RunRef add_toy(const ContainerStore& store, const Bytes& payload) {
  auto options = fixed_time();
  options.kinds = &toys();
  const auto writer = store.writer(options);
  const SegmentId id = writer->new_segment_id();
  const auto run = must(container::write_run(*writer, {id, kToy, {}, writer->new_run_ids(1)},
                                             payload, payload.size() / 8));
  writer->put({id, kToy, StorageClass::kLog, {}, "car", {run}});
  must(writer->commit());
  return run;
}

VerifyReport verified(const ContainerStore& store) {
  VerifyOptions options;
  options.level = VerifyLevel::kDeep;
  return must(container::verify_storage(*store.storage(OpenMode::kRead), options, toys()));
}

TEST(Kind, IsReadByWhoKnowsIt) {
  const ContainerStore store;
  add_toy(store, Bytes(64, std::byte{7}));
  EXPECT_EQ(store.reader({.kinds = &toys()})->directory().find_named(kToy, "car")->runs.size(), 1U);
  EXPECT_EQ(code_of(store.try_reader()), Errc::kUnknownFeature);
  EXPECT_TRUE(verified(store).findings.empty());
}

TEST(Kind, IsVerifiedByItsRow) {
  const ContainerStore store;
  Bytes payload(64, std::byte{7});
  payload[20] = std::byte{8};
  const auto run = add_toy(store, payload);
  const auto report = verified(store);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_STREQ(report.findings[0].error.text, "a toy is of two colours");
  EXPECT_EQ(report.findings[0].error.offset, run.offset_bytes + 8);
}

TEST(Kind, IsDescribedByItsRow) {
  const ContainerStore store;
  const auto run = add_toy(store, Bytes(64, std::byte{7}));
  const auto reader = store.reader({.kinds = &toys()});
  const container::DirectoryDescriber directory(*reader->storage(), reader->identity().uuid,
                                                reader->directory().superblock, toys());
  container::Description out{DescribeOptions{}};
  EXPECT_TRUE(directory.describe_at(out, run.offset_bytes + 8));
  std::vector<std::string> lines;
  for (const FieldInfo& field : out.take()) lines.push_back(field.name + " " + field.value);
  EXPECT_THAT(lines, Contains("run segment 1 (toy) run_id 1"));
  EXPECT_THAT(lines, Contains("toy of one colour"));
}

}  // namespace
}  // namespace crawlstore::testing
