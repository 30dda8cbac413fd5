// SPDX-License-Identifier: Apache-2.0
#include "container/run.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "container/compact.h"
#include "container/container_store.h"

namespace crawlstore::testing {
namespace {

using container::RunPtr;
using container::Writer;

/// A blob of one new run, put into the writer's changes; and the run.
struct Written {
  SegmentId segment;
  RunPtr run;
};
Written write_blob(Writer& writer, SegmentId drum) {
  const SegmentId id = add_blob(writer, drum, 100 * kKiB, 7);
  return {id, writer.runs->add(id, writer.find(id)->runs.front())};
}

/// Lets go of a run, and returns the bytes that became free.
std::uint64_t freed_by(const Writer& writer, RunPtr& run) {
  const std::uint64_t free_bytes = writer.free_bytes();
  run.reset();
  return writer.free_bytes() - free_bytes;
}

TEST(SharedRun, GivesItsExtentBackWithTheLastStateThatNamesIt) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  auto blob = write_blob(*writer, drum);
  writer->remove(blob.segment);
  RunPtr other_state = blob.run;
  EXPECT_EQ(freed_by(*writer, blob.run), 0U);
  const std::uint64_t length_bytes = other_state->ref().extent().length_bytes;
  EXPECT_EQ(freed_by(*writer, other_state), length_bytes);
}

TEST(SharedRun, BelongsToTheFileOnceACommitHasPublishedIt) {
  const ContainerStore store;
  const auto writer = store.writer();
  auto blob = write_blob(*writer, add_drum(*writer));
  EXPECT_EQ(blob.run->ref().born.value, 0U);
  const Generation generation = must(writer->commit());
  EXPECT_EQ(blob.run->ref().born, generation);
  EXPECT_EQ(freed_by(*writer, blob.run), 0U);
}

TEST(SharedRun, StaysUnpublishedAfterACommitWithoutIt) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  auto blob = write_blob(*writer, drum);
  writer->remove(blob.segment);
  must(writer->commit());
  EXPECT_EQ(blob.run->ref().born.value, 0U);
  const std::uint64_t length_bytes = blob.run->ref().extent().length_bytes;
  EXPECT_EQ(freed_by(*writer, blob.run), length_bytes);
}

TEST(SharedRun, IsReadWhereCompactionHasMovedIt) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  const SegmentId in_front = add_blob(*writer, drum, 200 * kKiB, 1);
  const auto blob = write_blob(*writer, drum);
  must(writer->commit());
  const std::uint64_t offset_bytes = blob.run->ref().offset_bytes;
  const auto reader = blob.run->reader();  // moves with it
  const auto view = must(reader->bytes(0, 100 * kKiB));
  const Bytes bytes(view.begin(), view.end());
  writer->remove(in_front);
  must(writer->commit());
  must(container::compact(*writer, {}));
  EXPECT_LT(blob.run->ref().offset_bytes, offset_bytes);
  EXPECT_EQ(reader->run().offset_bytes, blob.run->ref().offset_bytes);
  const auto moved = must(reader->bytes(0, 100 * kKiB));
  EXPECT_NE(moved.data(), view.data());
  EXPECT_TRUE(std::ranges::equal(moved, bytes));
}

TEST(SharedRun, StaysWhereWorkUnderWayUsesIt) {
  const ContainerStore store;
  const auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  const SegmentId in_front = add_blob(*writer, drum, 200 * kKiB, 1);
  const auto blob = write_blob(*writer, drum);
  must(writer->commit());
  const std::uint64_t offset_bytes = blob.run->ref().offset_bytes;
  writer->remove(in_front);
  must(writer->commit());
  auto use = container::Run::use(blob.run);
  must(container::compact(*writer, {}));
  EXPECT_EQ(blob.run->ref().offset_bytes, offset_bytes);
  use.reset();
  must(container::compact(*writer, {}));
  EXPECT_LT(blob.run->ref().offset_bytes, offset_bytes);
}

TEST(SharedRun, OutlivesItsWriter) {
  const ContainerStore store;
  auto writer = store.writer();
  auto blob = write_blob(*writer, add_drum(*writer));
  writer.reset();
  blob.run.reset();
  EXPECT_TRUE(store.verified().findings.empty());
}

}  // namespace
}  // namespace crawlstore::testing
