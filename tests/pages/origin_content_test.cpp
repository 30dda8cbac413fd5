// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "container/container_store.h"
#include "container/description.h"
#include "format/origin_samples.h"
#include "io/unmapped_storage.h"
#include "pages/page_content.h"

namespace crawlstore::testing {
namespace {

constexpr SegmentId kSegment{7};

const container::Kind& kind() {
  return *container::all_kinds().find(SegmentKind::kPageOrigins);
}

/// A run of origins in a store of its own, not committed.
class OriginRun {
 public:
  explicit OriginRun(const Pages& pages, const Bytes& dictionary = {})
      : payload_(origin_run(pages, 0, dictionary)), writer_(store_.writer()) {
    run_ = must(container::write_run(*writer_, {kSegment, SegmentKind::kPageOrigins, {}, {9}},
                                     payload_, pages.size()));
  }
  [[nodiscard]] const format::RunRef& run() const { return run_; }
  [[nodiscard]] const Bytes& payload() const { return payload_; }
  [[nodiscard]] std::unique_ptr<Storage> storage() const { return store_.storage(OpenMode::kRead); }

  void flip(std::uint64_t offset) {
    Bytes byte = read_bytes(writer_->storage(), run_.offset_bytes + offset, 1);
    byte[0] ^= std::byte{16};
    must(writer_->storage().write(run_.offset_bytes + offset, byte));
  }

  /// The lines of a description; of a place in the run, if one is given.
  [[nodiscard]] std::vector<FieldInfo> lines(std::uint64_t place = ~std::uint64_t{0}) const {
    const auto file = storage();
    format::SegmentEntry entry;
    entry.id = kSegment;
    entry.kind = SegmentKind::kPageOrigins;
    const container::RunSource source(*file, writer_->identity().uuid, entry, run_);
    container::Description out({.entries_max = 3});
    if (place == ~std::uint64_t{0}) {
      container::describe_run(out, source, kind());
    } else {
      container::describe_run_at(out, source, kind(), run_.offset_bytes + place);
    }
    return out.take();
  }

 private:
  ContainerStore store_;
  Bytes payload_;
  std::unique_ptr<container::Writer> writer_;
  format::RunRef run_;
};

/// The line of a name; the test fails without it.
FieldInfo line_of(const std::vector<FieldInfo>& lines, const std::string& name) {
  for (const FieldInfo& line : lines) {
    if (line.name == name) return line;
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

std::string problems_of(const std::vector<FieldInfo>& lines) {
  std::string text;
  for (const FieldInfo& line : lines) {
    if (!line.problem.empty()) text += line.name + ": " + line.problem + "\n";
  }
  return text;
}

TEST(OriginContent, IsCheckedInWindows) {
  const OriginRun run(odd_pages(30'000, 0, 3000, 2));
  ASSERT_GT(run.payload().size(), 6 * kMiB);
  io::UnmappedStorage storage(std::shared_ptr<Storage>(run.storage()));
  std::uint64_t peak_bytes = 0;
  std::uint64_t done_bytes = 0;
  const auto in_file = [&](Extent extent) {
    return Extent{run.run().offset_bytes + extent.offset_bytes, extent.length_bytes};
  };
  const container::PayloadSource source{
      run.payload().size(), [&](Extent extent) { return storage.view(in_file(extent)); },
      [&](Extent extent) { storage.forget(in_file(extent)); }};
  const auto content = pages::check_origin_run(source, [&](std::uint64_t bytes) -> Result<void> {
    done_bytes += bytes;
    peak_bytes = std::max(peak_bytes, storage.kept_bytes());
    return {};
  });
  ASSERT_TRUE(content) << content.error().text;
  EXPECT_EQ((*content)->record_count, 30'000u);
  EXPECT_EQ(done_bytes, run.payload().size());
  EXPECT_LE(peak_bytes, 5 * container::PayloadWindow::kWindowBytes);
}

TEST(OriginContent, IsStoppedByItsProgress) {
  const OriginRun run(odd_pages(10'000, 0, 1500, 2));
  const auto stopped = pages::check_origin_run(container::payload_in_memory(run.payload()),
                                               [](std::uint64_t bytes) -> Result<void> {
                                                 if (bytes != 0) return fail(Errc::kCancelled, "");
                                                 return {};
                                               });
  EXPECT_EQ(code_of(stopped), Errc::kCancelled);
}

TEST(OriginDescription, ShowsFooterDictionaryIndexAndBlocks) {
  const OriginRun run(site_pages(300), bytes_of("http://site1.test/section"));
  const auto lines = run.lines();
  const std::uint64_t start = run.run().offset_bytes;
  EXPECT_EQ(problems_of(lines), "");
  EXPECT_EQ(line_of(lines, "footer").offset_bytes, start + run.payload().size() - 64);
  EXPECT_EQ(line_of(lines, "dictionary").length_bytes, 25u);
  EXPECT_EQ(line_of(lines, "blocks").value, "5");
  EXPECT_EQ(line_of(lines, "blocks[0]").offset_bytes, start + 25);
  const FieldInfo second = line_of(lines, "blocks[1]");
  EXPECT_EQ(second.offset_bytes,
            line_of(lines, "blocks[0]").offset_bytes + line_of(lines, "blocks[0]").length_bytes);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const auto& line) { return line.name.starts_with("blocks["); }),
            3);
  const FieldInfo stored = line_of(lines, "stored");
  EXPECT_EQ(stored.offset_bytes + stored.length_bytes, second.offset_bytes);
}

TEST(OriginDescription, ShowsTheBlockOfAPlace) {
  const OriginRun run(site_pages(300));
  const auto all = run.lines();
  const FieldInfo block = line_of(all, "blocks[2]");
  const auto lines = run.lines(block.offset_bytes + 20 - run.run().offset_bytes);
  EXPECT_EQ(line_of(lines, "blocks[2]").offset_bytes, block.offset_bytes);
  EXPECT_EQ(problems_of(lines), "");
  line_of(run.lines(run.payload().size() - 10), "footer");
}

TEST(OriginDescription, SaysWhatIsWrong) {
  OriginRun run(site_pages(300));
  run.flip(300);
  EXPECT_THAT(problems_of(run.lines()),
              ::testing::HasSubstr("the checksum of a chunk does not match"));
  Bytes payload = origin_run(site_pages(300), 0);
  payload[4] ^= std::byte{0xff};
  ContainerStore store;
  const auto writer = store.writer();
  const auto sealed = must(
      container::write_run(*writer, {kSegment, SegmentKind::kPageOrigins, {}, {9}}, payload, 300));
  format::SegmentEntry entry;
  entry.id = kSegment;
  entry.kind = SegmentKind::kPageOrigins;
  container::Description out({.entries_max = 3});
  container::describe_run(out, {writer->storage(), writer->identity().uuid, entry, sealed}, kind());
  EXPECT_EQ(problems_of(out.take()), "raw_bytes: a zstd frame does not end where it should\n");
}

TEST(OriginDescription, SurvivesEveryFlippedByteThatIsSealed) {
  const Bytes payload = origin_run(site_pages(130), 0);
  ContainerStore store;
  const auto writer = store.writer();
  format::SegmentEntry entry;
  entry.id = kSegment;
  entry.kind = SegmentKind::kPageOrigins;
  for (std::size_t at = 0; at < payload.size(); ++at) {
    Bytes other = payload;
    other[at] ^= std::byte{0x81};
    const auto run = must(
        container::write_run(*writer, {kSegment, SegmentKind::kPageOrigins, {}, {9}}, other, 130));
    container::Description out({.entries_max = 100});
    container::describe_run(out, {writer->storage(), writer->identity().uuid, entry, run}, kind());
    EXPECT_FALSE(out.take().empty());
    writer->release(run.extent());
  }
}

}  // namespace
}  // namespace crawlstore::testing
