// SPDX-License-Identifier: Apache-2.0
//
// Views that are read, not mapped: right bytes or an error with its offset, and pointers that stay.
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <crawlstore/storage.h>

#include "support/bytes.h"
#include "support/recording_storage.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kUnit = 4096;
using Bytes = std::vector<std::byte>;

/// A storage on `length` seeded bytes that writes down what is read.
struct World {
  explicit World(std::size_t length = 100 * kUnit)
      : content(random_bytes(length, 1)),
        recorder(make_memory_file(content, std::uint64_t{1} << 24)),
        storage(unmapped(recorder.open(OpenMode::kRead))) {
    recorder.set_hook([this](CallKind kind, Extent extent) {
      if (kind == CallKind::kRead) reads.push_back(extent);
      if (kind == CallKind::kView) ADD_FAILURE() << "mapped";
    });
  }
  [[nodiscard]] Bytes viewed(Extent extent) const {
    const auto view = storage->view(extent);
    if (!view) return {};
    return {*view, *view + extent.length_bytes};
  }
  [[nodiscard]] Bytes expected(Extent extent) const {
    const auto bytes = std::span(content).subspan(extent.offset_bytes, extent.length_bytes);
    return {bytes.begin(), bytes.end()};
  }

  Bytes content;
  Recorder recorder;
  std::unique_ptr<Storage> storage;
  std::vector<Extent> reads;
};

TEST(UnmappedStorage, ReadsWhatIsViewedOnce) {
  World world;
  for (const Extent extent : {Extent{10 * kUnit + 5, 8}, Extent{9 * kUnit, 3 * kUnit},
                              Extent{0, 100 * kUnit}, Extent{50 * kUnit - 1, 2}}) {
    EXPECT_EQ(world.viewed(extent), world.expected(extent));
  }
  EXPECT_THAT(world.reads,
              ::testing::ElementsAre(Extent{10 * kUnit, kUnit}, Extent{9 * kUnit, kUnit},
                                     Extent{11 * kUnit, kUnit}, Extent{0, 9 * kUnit},
                                     Extent{12 * kUnit, 88 * kUnit}));
}

TEST(UnmappedStorage, KeepsPointers) {
  World world;
  const auto first = world.storage->view({0, 10});
  const auto all = world.storage->view({0, 100 * kUnit});
  ASSERT_TRUE(first && all);
  EXPECT_EQ(*first, *all);
  EXPECT_EQ(*world.storage->view({7 * kUnit, 1}), *all + 7 * kUnit);
}

TEST(UnmappedStorage, SaysWhichBytesCannotBeRead) {
  World world;
  world.recorder.inject({.calls = calls(CallKind::kRead), .nth = 2, .system_errno = EIO});
  EXPECT_EQ(world.viewed({0, kUnit}), world.expected({0, kUnit}));
  const auto failed = world.storage->view({30 * kUnit + 100, 200});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kIo);
  EXPECT_EQ(failed.error().system_errno, EIO);
  EXPECT_EQ(failed.error().offset, 30 * kUnit);
  EXPECT_EQ(world.viewed({30 * kUnit + 100, 200}), world.expected({30 * kUnit + 100, 200}))
      << "nothing was kept of the failure";
}

TEST(UnmappedStorage, NeverShowsZerosForTheEndOfAFile) {
  World world(10 * kUnit + 100);
  EXPECT_EQ(world.viewed({8 * kUnit, 2 * kUnit}), world.expected({8 * kUnit, 2 * kUnit}));
  for (const Extent extent : {Extent{9 * kUnit, 2 * kUnit}, Extent{10 * kUnit, 200},
                              Extent{20 * kUnit, 1}, Extent{std::uint64_t{1} << 60, 1}}) {
    const auto failed = world.storage->view(extent);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::kTruncated);
  }
  EXPECT_EQ(world.storage->view({std::uint64_t{1} << 63, 1}).error().code, Errc::kInvalidArgument);
}

TEST(UnmappedStorage, ReadsAgainWhatWasForgotten) {
  World world;
  EXPECT_EQ(world.viewed({0, 10 * kUnit}), world.expected({0, 10 * kUnit}));
  world.storage->forget({kUnit + 1, 3 * kUnit});  // the first and the last are shared
  world.reads.clear();
  EXPECT_EQ(world.viewed({0, 10 * kUnit}), world.expected({0, 10 * kUnit}));
  EXPECT_THAT(world.reads, ::testing::ElementsAre(Extent{2 * kUnit, 2 * kUnit}));
}

/// The number of these bytes, from a page on, that are in memory.
std::uint64_t resident_bytes(const std::byte* begin, std::uint64_t length) {
  std::vector<unsigned char> pages(length / kUnit);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  // mincore() asks for a pointer to what may change, and changes nothing.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (::mincore(reinterpret_cast<void*>(address), length, pages.data()) != 0)
    throw std::runtime_error("mincore");
  std::uint64_t resident = 0;
  for (const unsigned char page : pages) resident += (page & 1) != 0 ? kUnit : 0;
  return resident;
}

TEST(UnmappedStorage, TakesMemoryForWhatIsViewedAndGivesItBack) {
  constexpr std::uint64_t kLength = std::uint64_t{4} << 20;
  const auto file = make_memory_file(random_bytes(kLength, 2));
  const auto storage = unmapped(open_memory_storage(file, OpenMode::kRead));
  const auto begin = storage->view({0, 1});
  ASSERT_TRUE(begin);
  EXPECT_EQ(resident_bytes(*begin, kLength), kUnit);
  ASSERT_TRUE(storage->view({0, kLength}));
  EXPECT_EQ(resident_bytes(*begin, kLength), kLength);
  storage->forget({kUnit, kLength - kUnit});
  EXPECT_EQ(resident_bytes(*begin, kLength), kUnit);
}

TEST(UnmappedStorage, ShowsTheSameToManyThreads) {
  World world;
  world.recorder.set_hook(nullptr);
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&world, seed] {
      for (std::uint64_t i = 0; i < 400; ++i) {
        const Extent extent{(seed + i * 7919) % (99 * kUnit), 1 + i * 13 % kUnit};
        if (world.viewed(extent) != world.expected(extent)) ADD_FAILURE();
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(UnmappedStorage, WritesNothing) {
  const auto file = make_memory_file(random_bytes(kUnit, 1));
  const auto storage = unmapped(open_memory_storage(file, OpenMode::kWrite));
  EXPECT_EQ(storage->write(0, random_bytes(1, 1)).error().code, Errc::kReadOnly);
  EXPECT_EQ(storage->truncate(0).error().code, Errc::kReadOnly);
  EXPECT_EQ(storage->lock_writer(0).error().code, Errc::kReadOnly);
  EXPECT_EQ(contents(*file), random_bytes(kUnit, 1));
}

TEST(UnmappedStorage, OpensAnotherOneOfTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  std::ofstream(path) << std::string(kUnit, 'a');
  const auto storage = unmapped(std::move(*open_storage(path, OpenMode::kRead)));
  const auto other = storage->reopen();
  ASSERT_TRUE(other);
  const auto view = (*other)->view({0, kUnit});
  ASSERT_TRUE(view);
  EXPECT_EQ(**view, std::byte{'a'});
  std::ofstream(path) << std::string(kUnit, 'b');
  EXPECT_EQ(**view, std::byte{'a'}) << "a copy, not a mapping";
}

}  // namespace
}  // namespace crawlstore::testing
