// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <crawlstore/tools/generations.h>

#include "container/container_store.h"
#include "container/superblocks.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

std::vector<GenerationInfo> of(const Bytes& file) {
  return must(generations(*open_memory_storage(make_memory_file(file), OpenMode::kRead)));
}

/// "valid 3 winner, empty ..." in the order of the copies.
std::string text_of(const std::vector<GenerationInfo>& copies) {
  std::string text;
  for (const auto& info : copies) {
    text += std::string(name_of(info.state));
    if (info.generation.value != 0) text += " " + std::to_string(info.generation.value);
    text += info.is_winner ? " winner" : info.is_previous ? " previous" : "";
    text += ", ";
  }
  return text;
}

/// A file of generations 3 and 2.
Bytes three_generations() {
  const ContainerStore store;
  const auto writer = store.writer();
  add_drum(*writer);
  must(writer->commit());
  add_drum(*writer, "other");
  must(writer->commit());
  return store.bytes();
}

TEST(Generations, ShowsTheOnlyOneOfANewFile) {
  EXPECT_EQ(text_of(of(ContainerStore().bytes())), "empty, empty, valid 1 winner, valid 1, ");
}

TEST(Generations, ShowsWinnerAndPrevious) {
  const auto copies = of(three_generations());
  EXPECT_EQ(text_of(copies), "valid 2, valid 2 previous, valid 3, valid 3 winner, ");
  const ContainerStore store(three_generations());
  const auto expected = store.reader()->directory().superblock;
  const GenerationInfo& winner = copies[3];
  EXPECT_EQ(winner.slot, 1U);
  EXPECT_EQ(winner.copy, 1U);
  EXPECT_EQ(winner.offset_bytes, 64 * kKiB);
  EXPECT_EQ(winner.commit_time_us, kTimeUs);
  EXPECT_EQ(winner.pass, expected.pass);
  EXPECT_EQ(winner.high_water_bytes, expected.high_water_bytes);
  EXPECT_EQ(winner.root, (Extent{expected.root_offset_bytes, 4 * kKiB}));
}

TEST(Generations, SaysWhyACopyIsInvalid) {
  auto file = three_generations();
  file[32 * kKiB + 40] ^= std::byte{1};
  const auto copies = of(file);
  EXPECT_EQ(text_of(copies), "valid 2, valid 2 previous, invalid, valid 3 winner, ");
  EXPECT_EQ(copies[2].error.code, Errc::kSuperblockDamaged);
  EXPECT_EQ(copies[2].error.offset, 32 * kKiB);
}

TEST(Generations, ShowsCopiesOfAFileThatCannotBeOpened) {
  auto file = three_generations();
  file[100] ^= std::byte{1};  // of the identity page
  for (const std::uint64_t offset : {16U, 32U, 48U, 64U}) file[offset * kKiB] ^= std::byte{1};
  EXPECT_EQ(text_of(of(file)), "invalid, invalid, invalid, invalid, ");
  file = three_generations();
  file[100] ^= std::byte{1};
  EXPECT_EQ(text_of(of(file)), "valid 2, valid 2 previous, valid 3, valid 3 winner, ");
}

TEST(Generations, ShowsWhatACutFileStillHas) {
  auto file = three_generations();
  file.resize(66 * kKiB);
  const auto copies = of(file);
  EXPECT_EQ(text_of(copies), "valid 2, valid 2 previous, valid 3 winner, invalid, ");
  EXPECT_EQ(copies[3].error.code, Errc::kTruncated);
  EXPECT_EQ(copies[3].error.offset, 64 * kKiB);
}

TEST(Generations, TellsAnUnreadableCopyFromAnInvalidOne) {
  const ContainerStore store(three_generations());
  Recorder recorder(store.file());
  const auto storage = recorder.open(OpenMode::kRead);
  recorder.inject({.calls = calls(CallKind::kRead), .nth = 4});  // identity, then the copies
  const auto copies = must(generations(*storage));
  EXPECT_EQ(text_of(copies), "valid 2, valid 2 previous, unreadable, valid 3 winner, ");
  EXPECT_EQ(copies[2].error.code, Errc::kIo);
  EXPECT_EQ(copies[2].error.system_errno, EIO);
}

TEST(Generations, SaysWhyAValidCopyIsOfNoUse) {
  const auto with = [](const std::function<void(format::Superblock&)>& change) {
    const ContainerStore store;
    const auto storage = store.storage(OpenMode::kWrite);
    auto superblock = store.reader()->directory().superblock;
    change(superblock);
    must(container::write_superblock(*storage, superblock, fixed_identity().uuid, 1, 0));
    return of(store.bytes())[2];
  };
  auto info = with([](auto& superblock) { superblock.features_incompat = 1U << 9; });
  EXPECT_EQ(info.state, CopyState::kValid);
  EXPECT_EQ(info.error.code, Errc::kUnknownFeature);
  info = with([](auto& superblock) { superblock.root_payload_bytes = ~std::uint64_t{7}; });
  EXPECT_EQ(info.error.code, Errc::kDirectoryInvalid);
  EXPECT_EQ(info.root, Extent{});
}

TEST(Generations, TellsATombstoneFromAGeneration) {
  const ContainerStore store(three_generations());
  must(container::write_tombstone(*store.storage(OpenMode::kWrite), fixed_identity().uuid, 2));
  const auto copies = of(store.bytes());
  EXPECT_EQ(text_of(copies), "tombstone 2, tombstone 2, valid 3, valid 3 winner, ");
  EXPECT_EQ(copies[0].root, Extent{});
  EXPECT_EQ(copies[0].error.code, Errc{});
}

TEST(Generations, RefusesOtherFiles) {
  const auto code = [](const Bytes& file) {
    return code_of(generations(*open_memory_storage(make_memory_file(file), OpenMode::kRead)));
  };
  EXPECT_EQ(code(Bytes(100'000, std::byte{'x'})), Errc::kNotACrawlFile);
  auto file = three_generations();
  file[12] = std::byte{format::kFormatVersion + 1};
  EXPECT_EQ(code(file), Errc::kNewerVersion);
}

}  // namespace
}  // namespace crawlstore::testing
