// SPDX-License-Identifier: Apache-2.0
//
// The program of the DRUM article, as spec/features.md has it under D10.

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/url.h>

#include "drum/call_log.h"
#include "drum/memory_store.h"

namespace crawlstore::testing {
namespace {

using ArticleDrum = Drum<std::uint64_t, std::string, std::string>;

constexpr std::string_view kCodeproject = "http://www.codeproject.com";
constexpr std::string_view kBoost = "http://www.boost.org";
constexpr std::string_view kOracle =
    "http://www.oracle.com/technology/products/berkeley-db/index.html";

DrumOptions article_options() {
  DrumOptions options;
  options.bucket_count = 2;
  options.array_elements = 4;
  options.bucket_bytes = 64;
  return options;
}

/// The four lines of the article.
void submit_article(ArticleDrum& drum) {
  for (const auto url : {kCodeproject, kOracle, kBoost, kCodeproject}) {
    must(drum.check_update(rabin_fingerprint(url), "", std::string(url)));
  }
}

std::string line(std::string_view what, std::string_view url) {
  return std::string(what) + ' ' + std::to_string(rabin_fingerprint(url)) + ' ' + std::string(url);
}

/// The bucket of a key in a fresh DRUM, by the file's own account.
std::size_t bucket_of(std::uint32_t bucket_count, std::uint64_t key) {
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = bucket_count;
  auto drum = must(Drum<std::uint64_t>::open(*store, "buckets", options));
  must(drum.check_update(key));
  must(store->commit());
  std::size_t found = bucket_count;
  must(drum_view(*store, "buckets")
           .for_each_pending([&](std::uint64_t bucket, const RawRequest&, std::uint64_t) {
             found = bucket;
             return true;
           }));
  return found;
}

// covers: D23, E17
TEST(Article, HasTheFingerprintsOfBroder) {
  EXPECT_EQ(rabin_fingerprint(kCodeproject), 0x446929cac144a7e6U);
  EXPECT_EQ(rabin_fingerprint(kBoost), 0x52958e52dbf15c77U);
  EXPECT_EQ(rabin_fingerprint("a\xc3\xa9"), 0x61c3a9U);
}

// covers: D6
TEST(Article, PutsItsUrlsIntoTheBucketsOfTheArticle) {
  EXPECT_EQ(bucket_of(2, rabin_fingerprint(kCodeproject)), 0U);
  EXPECT_EQ(bucket_of(2, rabin_fingerprint(kBoost)), 0U);
  EXPECT_EQ(bucket_of(2, rabin_fingerprint(kOracle)), 1U);
  EXPECT_EQ(bucket_of(4, rabin_fingerprint(kCodeproject)), 1U);
  EXPECT_EQ(bucket_of(4, rabin_fingerprint(kOracle)), 3U);
  EXPECT_EQ(bucket_of(4, rabin_fingerprint(kBoost)), 1U);
}

// covers: D6
TEST(Article, TakesTheTopBitsAsBucket) {
  EXPECT_EQ(bucket_of(2, 0x7fffffffffffffff), 0U);
  EXPECT_EQ(bucket_of(2, 0x8000000000000000), 1U);
  EXPECT_EQ(bucket_of(16, 0xf000000000000000), 15U);
  for (const std::uint64_t key : {0x0UL, 0x2fffffffffffffffUL, 0x7123456789abcdefUL, ~0UL}) {
    EXPECT_EQ(bucket_of(8, key), key >> 61) << key;
    EXPECT_EQ(bucket_of(16, key), key >> 60) << key;
  }
}

// covers: D5
TEST(Article, DispatchesNothingBeforeMerge) {
  MemoryStore store;
  auto drum = must(ArticleDrum::open(*store, "urls", article_options()));
  CallLog log;
  drum.attach(log);
  submit_article(drum);
  EXPECT_TRUE(log.calls.empty());
  EXPECT_EQ(drum.status().pending_count, 4U);
}

// covers: D3, D11, D12, D20
TEST(Article, DispatchesItsFourAnswersInOrder) {
  MemoryStore store;
  auto drum = must(ArticleDrum::open(*store, "urls", article_options()));
  CallLog log;
  drum.attach(log);
  submit_article(drum);
  must(drum.merge());
  EXPECT_EQ(log.calls,
            (Calls{line("unique update", kCodeproject), line("unique update", kBoost),
                   line("duplicate update", kCodeproject), line("unique update", kOracle)}));
}

// covers: D13, D17
TEST(Article, FindsFourDuplicatesInASecondRun) {
  MemoryStore store;
  {
    auto drum = must(ArticleDrum::open(*store, "urls", article_options()));
    submit_article(drum);
    NullDispatcher nobody;
    must(drum.merge(nobody));
  }
  store.reopen();
  auto drum = must(ArticleDrum::open(*store, "urls", article_options()));
  CallLog log;
  drum.attach(log);
  submit_article(drum);
  const MergeReport report = must(drum.merge());
  EXPECT_EQ(report.duplicate_count, 4U);
  EXPECT_EQ(log.calls,
            (Calls{line("duplicate update", kCodeproject), line("duplicate update", kBoost),
                   line("duplicate update", kCodeproject), line("duplicate update", kOracle)}));
}

}  // namespace
}  // namespace crawlstore::testing
