// SPDX-License-Identifier: Apache-2.0
// The tables of spec/registry.md against the code, both ways.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "container/kind.h"
#include "format/crawl_events.h"
#include "format/dense_block.h"
#include "format/dense_index.h"
#include "format/drum_table.h"
#include "format/format_samples.h"
#include "format/frontier_table.h"
#include "format/key_block.h"
#include "format/layout.h"
#include "format/link_block.h"
#include "format/origin_block.h"
#include "format/pages_table.h"
#include "format/queue_run.h"
#include "format/request_run.h"
#include "format/score_array.h"
#include "format/spec_text.h"
#include "format/steps.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;
using Numbers = std::map<std::string, std::uint64_t>;

std::vector<Row> registry(const std::string& heading) {
  return table_after(section(source_text("spec/registry.md"), "## " + heading), "\n");
}

/// name -> value of a table that has them in the columns `name` and `value`.
Numbers numbers_of(const std::string& heading, std::size_t name, std::size_t value) {
  Numbers numbers;
  for (const Row& row : registry(heading)) numbers[row.at(name)] = std::stoull(row.at(value));
  return numbers;
}

// Written as {"kName", kName}: the names are compared too.
#define CONSTANT(name) \
  { #name, name }

TEST(Registry, ListsTheConstants) {
  const Numbers constants{
      CONSTANT(kFormatVersion),
      CONSTANT(kByteOrderMark),
      CONSTANT(kUnitBytes),
      CONSTANT(kChunkBytes),
      CONSTANT(kSuperblockBytes),
      CONSTANT(kDataStart),
      CONSTANT(kFileBytesMax),
      CONSTANT(kPayloadBytesMax),
      CONSTANT(kRootBytesMax),
      CONSTANT(kTableSegmentsMax),
      CONSTANT(kTableBytesMax),
      CONSTANT(kHeldInlineMax),
      CONSTANT(kHeldTableEntriesMax),
      CONSTANT(kNameBytesMax),
      CONSTANT(kRunsPerLogMax),
      CONSTANT(kBlockKeysMax),
      CONSTANT(kUpperWordsMax),
      CONSTANT(kValueBytesMax),
      CONSTANT(kAuxBytesMax),
      CONSTANT(kAuxBlockBytes),
      CONSTANT(kBucketsMax),
      CONSTANT(kConsumersMax),
      CONSTANT(kEventMessageBytesMax),
      CONSTANT(kEventSegmentsMax),
      CONSTANT(kEventUrlBytesMax),
      CONSTANT(kEventHashBytesMax),
      CONSTANT(kWriterLockByte),
      CONSTANT(kPinLockBase),
      CONSTANT(kPageMax),
      CONSTANT(kLinkBlockRowsMax),
      CONSTANT(kLinkBlockLinksMax),
      CONSTANT(kDenseBlockRows),
      CONSTANT(kDenseBlockLinks),
      CONSTANT(kDensePieceLinks),
      CONSTANT(kDenseRowLinksMax),
      CONSTANT(kDenseGroupBlocks),
      CONSTANT(kDenseContexts),
      CONSTANT(kDenseTokens),
      CONSTANT(kUrlBytesMax),
      CONSTANT(kOriginBlockPagesMax),
      CONSTANT(kOriginBlockRawMax),
      CONSTANT(kOriginDictionaryBytesMax),
      CONSTANT(kFrameWindowBytesMax),
      CONSTANT(kFrameExpansionMax),
      CONSTANT(kTileFanOut),
      CONSTANT(kTileLevelMax),
      CONSTANT(kTilePagesMax),
      CONSTANT(kContentHashBytesMax),
      CONSTANT(kScoreIterationsMax),
      CONSTANT(kScorerPrivateMin),
      CONSTANT(kQueueFragmentEntriesMax),
      CONSTANT(kItemIdMax),
      CONSTANT(kGroupMax),
      CONSTANT(kItemTimeMax),
      CONSTANT(kItemBodyBytesMax),
      CONSTANT(kGroupKeyBytesMax),
      CONSTANT(kBlockItemsMax),
      CONSTANT(kBlockBodyBytesMax),
      CONSTANT(kStepListMax),
      CONSTANT(kFrontierTableBytesMax),
      CONSTANT(kSmallValuesMax),
      CONSTANT(kSmallValueBytesMax),
  };
  EXPECT_EQ(numbers_of("Constants", 0, 1), constants);
}

TEST(Registry, ListsTheMagicNumbers) {
  std::map<std::string, std::string> written;
  for (const Row& row : registry("Magic numbers")) written[row.at(0)] = row.at(1);
  std::map<std::string, std::string> computed;
  for (const auto& [name, value] :
       Numbers{CONSTANT(kIdentityMagic), CONSTANT(kSuperblockMagic), CONSTANT(kRootEndMagic),
               CONSTANT(kPartitionMagic), CONSTANT(kKeyRunMagic), CONSTANT(kAuxRunMagic),
               CONSTANT(kResultRunMagic), CONSTANT(kEventRunMagic), CONSTANT(kLinkRunMagic),
               CONSTANT(kOriginRunMagic), CONSTANT(kTileNodeMagic), CONSTANT(kRecordTileMagic),
               CONSTANT(kScoreArrayMagic), CONSTANT(kQueueTableMagic), CONSTANT(kQueueRunMagic),
               CONSTANT(kGroupRunMagic), CONSTANT(kItemRunMagic), CONSTANT(kStepRunMagic),
               CONSTANT(kValuesMagic)}) {
    computed[name] = hex_of(bytes_of_struct(value));
  }
  computed["kRunEndMagic"] = hex_of(bytes_of_struct(kRunEndMagic));
  EXPECT_EQ(written, computed);
}

TEST(Registry, ListsTheSuperblockPlaces) {
  const auto rows = registry("Superblock places");
  ASSERT_EQ(rows.size(), 4u);
  for (const Row& row : rows) {
    EXPECT_EQ(std::stoull(row.at(2)),
              kSuperblockOffsets.at(std::stoul(row[0])).at(std::stoul(row[1])));
  }
  std::uint64_t end = sizeof(Identity);
  for (const SuperblockPlace& place : kSuperblockPlaces) {
    EXPECT_EQ(place.offset_bytes, kSuperblockOffsets.at(place.slot).at(place.copy));
    EXPECT_GT(place.offset_bytes, end);
    end = place.offset_bytes + kSuperblockBytes;
  }
}

TEST(Registry, ListsTheSegmentKinds) {
  const auto rows = registry("Segment kinds");
  EXPECT_EQ(rows.size(), container::all_kinds().all().size());
  for (const Row& row : rows) {
    const auto* const kind = container::all_kinds().find(SegmentKind(std::stoi(row.at(0))));
    ASSERT_NE(kind, nullptr) << row.at(0);
    EXPECT_EQ(kind->rule.name, row.at(1));
    EXPECT_EQ(name_of(kind->rule.storage_class), row.at(2));
    EXPECT_EQ(name_of(kind->rule.kind), row.at(1));
    EXPECT_EQ(find_segment_kind(row.at(1)), kind->rule.kind);
  }
  EXPECT_EQ(name_of(SegmentKind{23}), "unknown");
}

TEST(Registry, ListsTheStorageClasses) {
  const auto rows = registry("Storage classes");
  EXPECT_EQ(rows.size(), 3u);
  for (const Row& row : rows) {
    EXPECT_EQ(name_of(static_cast<StorageClass>(std::stoi(row.at(0)))), row.at(1));
  }
  EXPECT_EQ(name_of(StorageClass{4}), "unknown");
}

TEST(Registry, ListsTheStatesOfPages) {
  const auto rows = registry("States of pages");
  EXPECT_EQ(rows.size(), kPageStateCount);
  for (const Row& row : rows) {
    EXPECT_EQ(name_of(static_cast<PageState>(std::stoi(row.at(0)))), row.at(1));
  }
  EXPECT_EQ(name_of(PageState{kPageStateCount}), "unknown");
}

TEST(Registry, ListsTheFeatureBits) {
  std::map<std::string, std::uint64_t> known;
  for (const Row& row : registry("Feature bits")) known[row.at(0)] |= 1ull << std::stoi(row.at(1));
  EXPECT_EQ(known["compat"], kKnownCompat);
  EXPECT_EQ(known["ro_compat"], kKnownRoCompat);
  EXPECT_EQ(known["incompat"], kKnownIncompat);
  EXPECT_EQ(container::all_kinds().features(), kKnownIncompat);
}

TEST(Registry, ListsTheChecksumDomains) {
  const auto number = [](ChecksumDomain domain) { return static_cast<std::uint64_t>(domain); };
  const Numbers domains{{"kIdentity", number(ChecksumDomain::kIdentity)},
                        {"kSuperblock", number(ChecksumDomain::kSuperblock)},
                        {"kRoot", number(ChecksumDomain::kRoot)},
                        {"kTable", number(ChecksumDomain::kTable)},
                        {"kHeldTable", number(ChecksumDomain::kHeldTable)},
                        {"kChunk", number(ChecksumDomain::kChunk)},
                        {"kRunEnd", number(ChecksumDomain::kRunEnd)}};
  EXPECT_EQ(numbers_of("Checksum domains", 1, 0), domains);
}

TEST(Registry, ListsTheKeySchemes) {
  const Numbers schemes{{"kOpaque", static_cast<std::uint64_t>(KeyScheme::kOpaque)},
                        {"kUrl", static_cast<std::uint64_t>(KeyScheme::kUrl)},
                        {"kUrlRabin", static_cast<std::uint64_t>(KeyScheme::kUrlRabin)},
                        {"kPage", static_cast<std::uint64_t>(KeyScheme::kPage)}};
  EXPECT_EQ(numbers_of("Key schemes", 1, 0), schemes);
}

TEST(Registry, ListsTheCodecsOfAuxiliaries) {
  const Numbers codecs{{"raw", static_cast<std::uint64_t>(AuxCodec::kRaw)},
                       {"lz4", static_cast<std::uint64_t>(AuxCodec::kLz4)}};
  EXPECT_EQ(numbers_of("Codecs of auxiliaries", 1, 0), codecs);
}

TEST(Registry, ListsTheCodecsOfLinkBlocks) {
  const Numbers codecs{{"short", static_cast<std::uint64_t>(LinkCodec::kShort)},
                       {"plain", static_cast<std::uint64_t>(LinkCodec::kPlain)}};
  EXPECT_EQ(numbers_of("Codecs of link blocks", 1, 0), codecs);
}

TEST(Registry, ListsTheCodecsOfOrigins) {
  const Numbers codecs{{"raw", static_cast<std::uint64_t>(OriginCodec::kRaw)},
                       {"zstd", static_cast<std::uint64_t>(OriginCodec::kZstd)}};
  EXPECT_EQ(numbers_of("Codecs of origins", 1, 0), codecs);
}

TEST(Registry, ListsTheNumbersOfScoreArrays) {
  const Numbers scorers{{"page_rank", static_cast<std::uint64_t>(Scorer::kPageRank)},
                        {"hits_authority", static_cast<std::uint64_t>(Scorer::kHitsAuthority)},
                        {"hits_hub", static_cast<std::uint64_t>(Scorer::kHitsHub)},
                        {"opic_cash", static_cast<std::uint64_t>(Scorer::kOpicCash)},
                        {"opic_history", static_cast<std::uint64_t>(Scorer::kOpicHistory)},
                        {"opic_crawls", static_cast<std::uint64_t>(Scorer::kOpicCrawls)}};
  EXPECT_EQ(numbers_of("Scorers", 1, 0), scorers);
  const Numbers subjects{{"page", static_cast<std::uint64_t>(ScoreSubject::kPage)},
                         {"host", static_cast<std::uint64_t>(ScoreSubject::kHost)},
                         {"domain", static_cast<std::uint64_t>(ScoreSubject::kDomain)}};
  EXPECT_EQ(numbers_of("Subjects of scores", 1, 0), subjects);
  const Numbers codecs{{"float32", static_cast<std::uint64_t>(ScoreCodec::kFloat32)},
                       {"float64", static_cast<std::uint64_t>(ScoreCodec::kFloat64)}};
  EXPECT_EQ(numbers_of("Codecs of scores", 1, 0), codecs);
}

TEST(Registry, ListsTheOperations) {
  const Numbers operations{{"check", static_cast<std::uint64_t>(Operation::kCheck)},
                           {"update", static_cast<std::uint64_t>(Operation::kUpdate)},
                           {"check_update", static_cast<std::uint64_t>(Operation::kCheckUpdate)}};
  EXPECT_EQ(numbers_of("Operations and verdicts", 1, 0), operations);
}

TEST(Registry, ListsTheKindsOfEvents) {
  const auto rows = registry("Kinds of events");
  EXPECT_EQ(rows.size(), 10u);
  for (const Row& row : rows) {
    EXPECT_EQ(name_of(static_cast<CrawlEventKind>(std::stoi(row.at(0)))), row.at(1));
  }
  EXPECT_EQ(name_of(CrawlEventKind{10}), "unknown");
}

TEST(Registry, ListsTheFlags) {
  const Numbers flags{CONSTANT(kRunHasTags),        CONSTANT(kRunHasSequences),
                      CONSTANT(kAuxUniformLength),  CONSTANT(kLinkPageGaps),
                      CONSTANT(kPagesHaveUrls),     CONSTANT(kScoresContentWeighted),
                      CONSTANT(kScoresPersonalised)};
  EXPECT_EQ(numbers_of("Flags", 2, 1), flags);
}

TEST(Registry, ListsTheErrorCodes) {
  Numbers codes;
  for (std::uint16_t number = 0; number < 1000; ++number) {
    const auto name = name_of(static_cast<Errc>(number));
    if (name != name_of(Errc{})) codes[std::string(name)] = number;
  }
  EXPECT_EQ(numbers_of("Error codes", 1, 0), codes);
}

}  // namespace
}  // namespace crawlstore::format
