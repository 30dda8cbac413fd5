// SPDX-License-Identifier: Apache-2.0
//
// A commit that changes k bytes in s segments writes at most 1.25 k + 24 KiB * s + 64 KiB,
// superblocks included, whether the file has 10 or 100,000 segments (spec/design.md).
#include <ctime>

#include <gmock/gmock.h>

#include "container/container_store.h"

namespace crawlstore::testing {
namespace {

/// A change: `segment_count` blobs, far apart, each gets `length` bytes.
struct Change {
  std::size_t segment_count = 1;
  std::size_t length = 8;
};

std::uint64_t bound(const Change& change) {
  const std::uint64_t k = change.segment_count * change.length;
  return k + k / 4 + 24 * kKiB * change.segment_count + 64 * kKiB;
}

/// A store of many blobs, of which nobody will read the content.
class ManySegments {
 public:
  explicit ManySegments(std::size_t segment_count)
      : store_(std::uint64_t{4} << 30), writer_(store_.writer()) {
    const SegmentId drum = add_drum(*writer_);
    for (std::size_t i = 1; i < segment_count; ++i) {
      const SegmentId id = writer_->new_segment_id();
      ids_.push_back(id);
      writer_->put({id, SegmentKind::kDrumPartition, StorageClass::kBlob, drum, "", {unwritten()}});
    }
    must(writer_->commit());
  }

  /// Writes of the commit alone, and of the bytes it publishes.
  std::uint64_t written_by(const Change& change) {
    const std::uint64_t before = written();
    replace(change);
    must(writer_->commit());
    return written() - before;
  }
  std::uint64_t written_by_removing(std::size_t count) {
    const std::uint64_t before = written();
    for (std::size_t i = 0; i < count; ++i) {
      writer_->remove(ids_.back());
      ids_.pop_back();
    }
    must(writer_->commit());
    return written() - before;
  }
  void replace(const Change& change) {
    const Bytes payload(change.length);
    const std::size_t step =
        std::max<std::size_t>(1, ids_.size() / std::max<std::size_t>(1, change.segment_count));
    for (std::size_t i = 0; i < change.segment_count; ++i) {
      auto entry = *writer_->find(ids_[i * step % ids_.size()]);
      entry.runs = {
          must(container::write_run(*writer_, container::new_run(*writer_, entry.id), payload, 1))};
      writer_->put(std::move(entry));
    }
  }
  /// Gives every `step`-th blob a new extent.
  void churn(std::size_t step) {
    for (std::size_t i = 0; i < ids_.size(); i += step) {
      auto entry = *writer_->find(ids_[i]);
      entry.runs = {unwritten()};
      writer_->put(std::move(entry));
    }
    must(writer_->commit());
  }
  void reopen() {
    writer_.reset();
    writer_ = store_.writer();
  }
  [[nodiscard]] const ContainerStore& store() const { return store_; }
  [[nodiscard]] std::size_t segment_count() const { return ids_.size() + 1; }

 private:
  [[nodiscard]] std::uint64_t written() const {
    return writer_->storage().counters().bytes_written;
  }
  format::RunRef unwritten() {
    const Extent extent = must(writer_->reserve(format::kUnitBytes));
    return {extent.offset_bytes, {0}, writer_->new_run_ids(1), 8, 1, 0};
  }

  ContainerStore store_;
  std::unique_ptr<container::Writer> writer_;
  std::vector<SegmentId> ids_;
};

class CommitBound : public ::testing::TestWithParam<std::size_t> {
 protected:
  CommitBound() : many_(GetParam()) {}

  /// Changes of all shapes that the store has segments for.
  void expect_bound(const char* when) {
    for (const std::size_t segment_count : {1UL, 3UL, 9UL, 100UL, 700UL}) {
      if (segment_count >= many_.segment_count()) continue;
      for (const std::size_t length : {8UL, 4096UL, 70'000UL, std::size_t{kMiB}}) {
        if (segment_count * length > 64 * kMiB) continue;
        const Change change{segment_count, length};
        const std::uint64_t written = many_.written_by(change);
        EXPECT_LE(written, bound(change)) << when << ": " << segment_count << " x " << length;
        fullest_ = std::max(fullest_, 100 * written / bound(change));
      }
    }
    RecordProperty("fullest_percent", std::to_string(fullest_));
  }

  ManySegments many_;
  std::uint64_t fullest_ = 0;
};

TEST_P(CommitBound, HoldsForCommitsOneAfterAnother) {
  expect_bound("at rest");
}

TEST_P(CommitBound, HoldsForTheFirstCommitOfAWriter) {
  many_.reopen();
  const Change change{1, 8};
  EXPECT_LE(many_.written_by(change), bound(change)) << "step 0 included";
}

TEST_P(CommitBound, HoldsAfterABigCommit) {
  for (int i = 0; i < 4; ++i) {
    many_.churn(1);
    for (int k = 0; k < 4; ++k) EXPECT_LE(many_.written_by({1, 8}), bound({1, 8}));
  }
}

TEST_P(CommitBound, HoldsBesideAPinnedReader) {
  const auto reader = many_.store().reader();
  expect_bound("pinned");
  for (int i = 0; i < 200; ++i) EXPECT_LE(many_.written_by({1, 8}), bound({1, 8}));
}

// Half of what the second commit retires is pinned, half is not: no table of the list is quite
// free.
TEST_P(CommitBound, HoldsAfterBigCommitsBesideAPinnedReader) {
  const auto reader = many_.store().reader();
  many_.churn(2);
  many_.churn(1);
  for (int i = 0; i < 20; ++i) EXPECT_LE(many_.written_by({1, 8}), bound({1, 8})) << i;
}

TEST_P(CommitBound, HoldsWhenAPinEnds) {
  auto reader = many_.store().reader();
  many_.churn(2);
  many_.churn(1);
  many_.churn(3);
  reader.reset();
  for (int i = 0; i < 20; ++i) EXPECT_LE(many_.written_by({1, 8}), bound({1, 8})) << i;
}

TEST_P(CommitBound, HoldsForRemovals) {
  for (const std::size_t count : {1UL, 5UL, 300UL}) {
    if (count >= many_.segment_count()) continue;
    EXPECT_LE(many_.written_by_removing(count), bound({count, 0}));
  }
}

TEST_P(CommitBound, HoldsForAnEmptyCommit) {
  const auto writer_bytes = many_.written_by({0, 0});
  EXPECT_EQ(writer_bytes, 0U) << "nothing changed, nothing written";
}

/// Processor seconds of a commit that makes so many segments with names.
double seconds_of_naming(std::size_t count) {
  const ContainerStore store(std::uint64_t{4} << 30);
  const auto writer = store.writer();
  for (std::size_t i = 0; i < count; ++i) {
    const Extent extent = must(writer->reserve(format::kUnitBytes));
    const format::RunRef run{extent.offset_bytes, {0}, writer->new_run_ids(1), 8, 1, 0};
    writer->put({writer->new_segment_id(),
                 SegmentKind::kQueue,
                 StorageClass::kBlob,
                 {},
                 "queue " + std::to_string(i),
                 {run}});
  }
  const std::clock_t begin = std::clock();
  must(writer->commit());
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Linear work gives 20, quadratic work 400.
TEST(Commit, TakesTimeInProportionToNewNames) {
  const double few = std::min(seconds_of_naming(1'000), seconds_of_naming(1'000));
  EXPECT_LT(seconds_of_naming(20'000), 100 * std::max(few, 0.0005));
}

INSTANTIATE_TEST_SUITE_P(Segments, CommitBound, ::testing::Values(10, 1'000, 100'000));

}  // namespace
}  // namespace crawlstore::testing
