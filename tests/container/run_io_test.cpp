// SPDX-License-Identifier: Apache-2.0
#include "container/run_io.h"

#include <gmock/gmock.h>

#include "container/container_store.h"
#include "container/run_scan.h"
#include "format/endian.h"
#include "support/lockless_storage.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using container::read_run;
using container::RunReader;
using container::RunStream;
using container::RunWriter;
using container::scan_run;
using format::kChunkBytes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr SegmentId kSegment{5};

TEST(RunWriter, RefusesToGrowBeyondItsRoom) {
  ContainerStore store;
  const auto writer = store.writer();
  for (const std::size_t length : {5 * kKiB, 3 * kMiB}) {
    auto run = must(RunWriter::start(
        *writer, {kSegment, SegmentKind::kDrumPartition, {}, writer->new_run_ids(1)}, 1000));
    auto done = run.append(random_bytes(length, 1));
    if (done) done = run.finish(1).map([](const auto&) {});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::kTooLarge);
    EXPECT_EQ(done.error().segment, kSegment);
  }
}

/// A run of `length` seeded bytes in a store of its own.
class WrittenRun {
 public:
  explicit WrittenRun(std::size_t length, std::uint64_t seed = 1)
      : payload_(random_bytes(length, seed)), writer_(store_.writer()) {
    run_ = must(container::write_run(
        *writer_, {kSegment, SegmentKind::kDrumPartition, {}, writer_->new_run_ids(1)}, payload_,
        1));
  }

  [[nodiscard]] format::RunName name() const {
    return container::run_name(writer_->identity(), kSegment, run_.run_id);
  }
  [[nodiscard]] Storage& storage() { return writer_->storage(); }
  [[nodiscard]] std::unique_ptr<Storage> open() const { return store_.storage(OpenMode::kRead); }
  [[nodiscard]] const format::RunRef& ref() const { return run_; }
  [[nodiscard]] const Bytes& payload() const { return payload_; }

  /// Flips a bit at an offset of the extent.
  void flip(std::uint64_t offset) {
    Bytes byte = read_bytes(storage(), run_.offset_bytes + offset, 1);
    byte[0] ^= std::byte{16};
    must(storage().write(run_.offset_bytes + offset, byte));
  }

  Result<Bytes> read() {
    Bytes bytes;
    CRAWLSTORE_TRY(read_run(storage(), name(), run_, bytes));
    return bytes;
  }

  /// The payload as a stream of pieces of `want` bytes gives it.
  Result<Bytes> stream(std::size_t want) {
    RunStream stream(storage(), name(), run_);
    Bytes bytes;
    while (bytes.size() < run_.payload_bytes) {
      const auto piece = stream.peek(want);
      if (!piece) return tl::unexpected<Error>(piece.error());
      const auto length = std::min({piece->size(), want, payload_.size() - bytes.size()});
      bytes.insert(bytes.end(), piece->begin(), piece->begin() + static_cast<long>(length));
      stream.advance(length);
    }
    CRAWLSTORE_TRY(stream.finish());
    return bytes;
  }

  /// The extents of the pieces that are not whole.
  std::vector<Extent> broken() {
    std::vector<Extent> extents;
    must(scan_run(storage(), name(), run_, [&](const container::RunPiece& piece) -> Result<void> {
      if (!piece.is_whole()) extents.push_back(piece.extent);
      return {};
    }));
    return extents;
  }

 private:
  ContainerStore store_;
  Bytes payload_;
  std::unique_ptr<container::Writer> writer_;
  format::RunRef run_;
};

class RunLengths : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RunLengths, ReadsBackWhatWasWritten) {
  WrittenRun run(GetParam());
  EXPECT_EQ(must(run.read()), run.payload());
}

TEST_P(RunLengths, StreamsWhatWasWritten) {
  WrittenRun run(GetParam());
  EXPECT_EQ(must(run.stream(1000)), run.payload());
  EXPECT_EQ(must(run.stream(3 * kMiB)), run.payload());
}

TEST_P(RunLengths, ViewsWhatWasWritten) {
  WrittenRun run(GetParam());
  const RunReader reader(run.open(), run.name(), run.ref());
  EXPECT_TRUE(reader.verify_all());
  const auto view = must(reader.bytes(0, run.ref().payload_bytes));
  EXPECT_TRUE(std::equal(view.begin(), view.end(), run.payload().begin(), run.payload().end()));
}

TEST_P(RunLengths, ScansTheWholeExtentOnce) {
  WrittenRun run(GetParam());
  Bytes payload(run.payload().size());
  std::uint64_t bytes = 0;
  std::uint64_t end = run.ref().offset_bytes;
  const auto visit = [&](const container::RunPiece& piece) -> Result<void> {
    EXPECT_TRUE(piece.is_whole());
    bytes += piece.extent.length_bytes;
    if (piece.extent.offset_bytes != end) return {};  // a piece of the tree
    std::copy(piece.bytes.begin(), piece.bytes.end(),
              payload.begin() + static_cast<long>(end - run.ref().offset_bytes));
    end = piece.extent.end_bytes();
    return {};
  };
  must(scan_run(run.storage(), run.name(), run.ref(), visit));
  EXPECT_EQ(payload, run.payload());
  EXPECT_EQ(bytes, run.ref().extent().length_bytes);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RunLengths,
                         ::testing::Values(8, 4088, 4096, kChunkBytes - 8, kChunkBytes,
                                           kChunkBytes + 8, 17 * kChunkBytes, 3 * kMiB + 24));

// spec: container.md#checksum-tree rule 4
TEST(Run, FindsEveryFlippedBitOfItsExtent) {
  WrittenRun run(4 * kKiB);
  for (std::uint64_t offset = 0; offset < run.ref().extent().length_bytes; ++offset) {
    run.flip(offset);
    EXPECT_EQ(code_of(run.read()), Errc::kChunkDamaged) << offset;
    EXPECT_EQ(code_of(run.stream(512)), Errc::kChunkDamaged) << offset;
    EXPECT_EQ(run.broken().size(), 1U) << offset;
    run.flip(offset);
  }
}

TEST(Run, ReportsDamageAtItsChunk) {
  WrittenRun run(5 * kChunkBytes);
  run.flip(3 * kChunkBytes + 17);
  const Extent chunk{run.ref().offset_bytes + 3 * kChunkBytes, kChunkBytes};
  EXPECT_EQ(run.read().error().offset, chunk.offset_bytes);
  EXPECT_EQ(run.stream(512).error().offset, chunk.offset_bytes);
  EXPECT_THAT(run.broken(), ::testing::ElementsAre(chunk));
}

TEST(Run, ReportsEachDamagedChunk) {
  WrittenRun run(40 * kChunkBytes);
  for (const std::uint64_t chunk : {0UL, 15UL, 16UL, 39UL}) run.flip(chunk * kChunkBytes);
  EXPECT_EQ(run.broken().size(), 4U);
}

TEST(Run, SaysNothingAboutWhatHangsOnADamagedTable) {
  WrittenRun run(5 * kChunkBytes);
  run.flip(5 * kChunkBytes + 8);
  run.flip(0);
  const auto top = format::checksum_tree(5 * kChunkBytes).top();
  EXPECT_THAT(run.broken(), ::testing::ElementsAre(Extent{run.ref().offset_bytes + top.offset_bytes,
                                                          top.length_bytes}));
}

TEST(Run, RejectsTheChunkOfAnotherPlace) {
  WrittenRun run(4 * kChunkBytes);
  const auto first = read_bytes(run.storage(), run.ref().offset_bytes, kChunkBytes);
  const auto second = read_bytes(run.storage(), run.ref().offset_bytes + kChunkBytes, kChunkBytes);
  must(run.storage().write(run.ref().offset_bytes, second));
  must(run.storage().write(run.ref().offset_bytes + kChunkBytes, first));
  EXPECT_EQ(run.broken().size(), 2U);
}

TEST(Run, RejectsItselfUnderAnotherName) {
  WrittenRun run(64);
  Bytes bytes;
  auto name = run.name();
  name.run.value += 1;
  EXPECT_EQ(code_of(read_run(run.storage(), name, run.ref(), bytes)), Errc::kChunkDamaged);
  name = run.name();
  name.segment.value += 1;
  EXPECT_EQ(code_of(read_run(run.storage(), name, run.ref(), bytes)), Errc::kChunkDamaged);
}

TEST(Run, VerifiesAChunkWhenItIsFirstTouched) {
  WrittenRun run(5 * kChunkBytes);
  run.flip(3 * kChunkBytes);
  const RunReader reader(run.open(), run.name(), run.ref());
  EXPECT_TRUE(reader.bytes(0, 3 * kChunkBytes));
  EXPECT_EQ(code_of(reader.bytes(3 * kChunkBytes - 1, 2)), Errc::kChunkDamaged);
  run.flip(3 * kChunkBytes);
  EXPECT_TRUE(reader.bytes(3 * kChunkBytes - 1, 2)) << "a failure is not remembered";
  run.flip(3 * kChunkBytes);
  EXPECT_TRUE(reader.bytes(3 * kChunkBytes - 1, 2)) << "a success is";
}

TEST(Run, FetchesWholeChunksBeforeItVerifiesThem) {
  const WrittenRun run(67 * kChunkBytes + 104);
  Recorder recorder(std::vector<std::byte>{});
  std::vector<Extent> fetched;  // in chunks of the payload
  recorder.set_hook([&](CallKind kind, Extent extent) {
    if (kind != CallKind::kPrefetch) return;
    const std::uint64_t begin = extent.offset_bytes - run.ref().offset_bytes;
    EXPECT_EQ(begin % kChunkBytes, 0U);
    fetched.push_back({begin / kChunkBytes, (extent.length_bytes + kChunkBytes - 1) / kChunkBytes});
  });
  const RunReader reader(recorder.wrap(run.open()), run.name(), run.ref());
  must(reader.bytes(3 * kChunkBytes + 5, 1));
  must(reader.bytes(3 * kChunkBytes + 6, 1));
  must(reader.bytes(3 * kChunkBytes + 6, kChunkBytes));
  EXPECT_THAT(fetched, ElementsAre(Extent{3, 1}, Extent{4, 1}));
  fetched.clear();
  must(reader.verify_all());
  EXPECT_THAT(fetched, ElementsAre(Extent{0, 64}, Extent{64, 4}));
  fetched.clear();
  must(reader.verify_all());
  EXPECT_THAT(fetched, IsEmpty());
}

TEST(Run, RefusesBytesOutsideItsPayload) {
  WrittenRun run(64);
  const RunReader reader(run.open(), run.name(), run.ref());
  EXPECT_EQ(code_of(reader.bytes(0, 65)), Errc::kSegmentInvalid);
  EXPECT_EQ(code_of(reader.bytes(65, 0)), Errc::kSegmentInvalid);
  EXPECT_EQ(code_of(reader.bytes(~std::uint64_t{0}, 2)), Errc::kSegmentInvalid);
  EXPECT_TRUE(reader.bytes(64, 0));
}

TEST(Run, ReportsAFileThatEndsInside) {
  WrittenRun run(3 * kChunkBytes);
  must(run.storage().truncate(run.ref().offset_bytes + kChunkBytes + 100));
  EXPECT_EQ(code_of(run.read()), Errc::kTruncated);
  EXPECT_EQ(code_of(run.stream(512)), Errc::kTruncated);
  EXPECT_EQ(run.broken().size(), 1U) << "the tree is gone: nothing is known of the chunks";
}

/// Delivers zeros for a file that is as long as it was.
class FailingDrive final : public LocklessStorage {
 public:
  FailingDrive(std::unique_ptr<Storage> inner, std::uint64_t fault)
      : LocklessStorage(std::move(inner)), fault_(fault) {}

  Result<const std::byte*> view(Extent extent) override {
    zeros_.resize(std::max(zeros_.size(), extent.length_bytes));
    return zeros_.data();
  }
  std::optional<std::uint64_t> first_fault() override { return fault_; }

 private:
  std::uint64_t fault_;
  Bytes zeros_;
};

TEST(Run, BlamesTheDriveForWhatAWholeFileDoesNotDeliver) {
  WrittenRun run(3 * kChunkBytes);
  const RunReader reader(std::make_shared<FailingDrive>(run.open(), run.ref().offset_bytes + 100),
                         run.name(), run.ref());
  EXPECT_EQ(code_of(reader.bytes(0, 64)), Errc::kIo);
}

/// Appends the payload in pieces of `step` bytes through a RunWriter.
Result<format::RunRef> write_in_steps(container::Writer& writer, const Bytes& payload,
                                      std::size_t step, std::uint64_t payload_bytes_max) {
  auto out =
      RunWriter::start(writer, {kSegment, SegmentKind::kDrumPartition, {}, writer.new_run_ids(1)},
                       payload_bytes_max);
  if (!out) return tl::unexpected<Error>(out.error());
  for (std::size_t begin = 0; begin < payload.size(); begin += step) {
    CRAWLSTORE_TRY(
        out->append(std::span(payload).subspan(begin, std::min(step, payload.size() - begin))));
  }
  auto run = out->finish(1);
  if (run) out->give_back();
  return run;
}

TEST(RunWriter, WritesWhatWriteRunWrites) {
  const ContainerStore store;
  const auto writer = store.writer();
  const Bytes payload = random_bytes(3 * kMiB + 1000, 1);
  const auto whole = must(
      container::write_run(*writer, {kSegment, SegmentKind::kDrumPartition, {}, {7}}, payload, 1));
  auto out = must(
      RunWriter::start(*writer, {kSegment, SegmentKind::kDrumPartition, {}, {7}}, payload.size()));
  must(out.append(payload));
  const auto pieces = must(out.finish(1));
  out.give_back();
  EXPECT_EQ(pieces.checksum, whole.checksum);
  const auto length = whole.extent().length_bytes;
  EXPECT_EQ(read_bytes(writer->storage(), pieces.offset_bytes, length),
            read_bytes(writer->storage(), whole.offset_bytes, length));
}

TEST(RunWriter, TakesPiecesOfAnyLength) {
  const ContainerStore store;
  const auto writer = store.writer();
  const Bytes payload = random_bytes(2 * kMiB + 12345, 1);
  for (const std::size_t step : {777UL, kChunkBytes, 2 * kMiB}) {
    const auto run = must(write_in_steps(*writer, payload, step, payload.size()));
    Bytes back;
    must(read_run(writer->storage(), container::run_name(writer->identity(), kSegment, run.run_id),
                  run, back));
    EXPECT_EQ(back, payload);
  }
}

TEST(RunWriter, GivesBackWhatItDidNotNeed) {
  const ContainerStore store;
  const auto writer = store.writer();
  must(writer->prepare());
  const std::uint64_t used = store.size_bytes() - writer->free_bytes();
  const auto run = must(write_in_steps(*writer, random_bytes(8, 1), 8, 10 * kMiB));
  EXPECT_EQ(store.size_bytes() - writer->free_bytes(), used + run.extent().length_bytes);
}

TEST(RunWriter, GivesEverythingBackWhenDropped) {
  const ContainerStore store;
  const auto writer = store.writer();
  must(writer->prepare());
  const std::uint64_t used = store.size_bytes() - writer->free_bytes();
  {
    auto out =
        must(RunWriter::start(*writer, {kSegment, SegmentKind::kDrumPartition, {}, {7}}, kMiB));
    must(out.append(random_bytes(100, 1)));
  }
  EXPECT_EQ(store.size_bytes() - writer->free_bytes(), used);
  {
    auto out =
        must(RunWriter::start(*writer, {kSegment, SegmentKind::kDrumPartition, {}, {8}}, kMiB));
    must(out.append(random_bytes(100, 1)));
    must(out.finish(1));
  }
  EXPECT_EQ(store.size_bytes() - writer->free_bytes(), used);
}

}  // namespace
}  // namespace crawlstore::testing
