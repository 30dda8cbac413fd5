// SPDX-License-Identifier: Apache-2.0
#include "pages/origins_run.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "container/container_store.h"
#include "format/origin_samples.h"
#include "pages/origins_pieces.h"
#include "pages/page_content.h"

namespace crawlstore::testing {
namespace {

using pages::join_origin_runs;
using pages::origin_runs_to_join;
using pages::OriginsCursor;
using pages::OriginsLookup;
using pages::OriginsPlan;
using pages::OriginsWriter;

constexpr SegmentId kSegment{7};

OriginsPlan plan_of(const Pages& pages, std::uint64_t first_page) {
  OriginsPlan plan{first_page, pages.size(), 0, true};
  for (const Page& page : pages) plan.url_bytes += page.url.size();
  return plan;
}

/// A store with a log of origins that is not committed.
class OriginLog {
 public:
  explicit OriginLog(std::uint64_t capacity_bytes = 256 * kMiB)
      : store_(capacity_bytes), writer_(store_.writer()) {
    log.id = kSegment;
    log.kind = SegmentKind::kPageOrigins;
    log.storage_class = StorageClass::kLog;
  }

  Result<format::RunRef> write(const Pages& pages, std::uint64_t first_page = 0) {
    return write(pages, plan_of(pages, first_page));
  }
  Result<format::RunRef> write(const Pages& pages, const OriginsPlan& plan) {
    auto out = OriginsWriter::start(
        *writer_, {kSegment, SegmentKind::kPageOrigins, {}, writer_->new_run_ids(1)}, plan);
    if (!out) return tl::unexpected<Error>(out.error());
    for (const Page& page : pages) CRAWLSTORE_TRY(out->append(page.origin()));
    auto run = out->finish();
    if (run) out->give_back();
    return run;
  }
  /// A payload that somebody else made.
  format::RunRef put(const Bytes& payload, std::uint64_t record_count) {
    return must(container::write_run(
        *writer_, {kSegment, SegmentKind::kPageOrigins, {}, writer_->new_run_ids(1)}, payload,
        record_count));
  }

  [[nodiscard]] format::RunName name(const format::RunRef& run) const {
    return container::run_name(writer_->identity(), kSegment, run.run_id);
  }
  [[nodiscard]] container::Writer& writer() { return *writer_; }

  Result<Pages> walk(const format::RunRef& run) {
    auto cursor = OriginsCursor::open(writer_->storage(), name(run), run);
    if (!cursor) return tl::unexpected<Error>(cursor.error());
    Pages pages;
    while (!(*cursor)->at_end()) {
      EXPECT_EQ((*cursor)->page(), (*cursor)->footer().first_page + pages.size());
      pages.push_back(Page::of((*cursor)->origin()));
      CRAWLSTORE_TRY((*cursor)->advance());
    }
    CRAWLSTORE_TRY((*cursor)->finish());
    return pages;
  }
  container::RunReader reader(const format::RunRef& run) {
    return {store_.storage(OpenMode::kRead), name(run), run};
  }
  Result<std::unique_ptr<OriginsLookup>> lookup(const format::RunRef& run) {
    return OriginsLookup::open(std::make_shared<container::RunReader>(reader(run)));
  }
  /// The fault of the payload by itself, or "accepted".
  std::string verdict(const format::RunRef& run) {
    Bytes payload;
    must(container::read_run(writer_->storage(), name(run), run, payload));
    const auto content = pages::check_origin_run(container::payload_in_memory(payload),
                                                 [](std::uint64_t) { return Result<void>{}; });
    return content ? "accepted" : content.error().text;
  }
  /// Flips a bit of a run's extent.
  void flip(const format::RunRef& run, std::uint64_t offset) {
    Bytes byte = read_bytes(writer_->storage(), run.offset_bytes + offset, 1);
    byte[0] ^= std::byte{16};
    must(writer_->storage().write(run.offset_bytes + offset, byte));
  }

  format::SegmentEntry log;

 private:
  ContainerStore store_;
  std::unique_ptr<container::Writer> writer_;
};

format::OriginFooter footer_of(OriginLog& log, const format::RunRef& run) {
  return must(OriginsCursor::open(log.writer().storage(), log.name(run), run))->footer();
}

TEST(OriginsRun, GivesBackEveryPageInOrder) {
  for (const std::size_t count : {1u, 63u, 64u, 65u, 1000u, 20'000u}) {
    for (const std::uint64_t first_page : {std::uint64_t{0}, std::uint64_t{1} << 41}) {
      OriginLog log;
      const Pages pages = site_pages(count, first_page, count);
      const auto run = must(log.write(pages, first_page));
      EXPECT_EQ(run.record_count, count);
      EXPECT_EQ(must(log.walk(run)), pages);
      EXPECT_EQ(log.verdict(run), "accepted");
    }
  }
}

TEST(OriginsRun, GivesBackUrlsOfAnyBytesAndLengths) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    OriginLog log;
    const std::size_t longest = std::size_t{30} << 2 * seed;
    const Pages pages = odd_pages(700, 1000, longest, seed);
    const auto run = must(log.write(pages, 1000));
    EXPECT_EQ(must(log.walk(run)), pages);
    EXPECT_EQ(log.verdict(run), "accepted");
    auto lookup = must(log.lookup(run));
    for (std::size_t i = 0; i < pages.size(); ++i) {
      ASSERT_EQ(Page::of(must(lookup->find(1000 + i))), pages[i]) << i;
    }
  }
}

TEST(OriginsRun, TakesTheLongestUrlsBesideShortOnes) {
  OriginLog log;
  Pages pages = site_pages(130);
  pages[64].url.assign(format::kUrlBytesMax, 'u');
  pages[100].url = random_bytes(1, 1)[0] == std::byte{0} ? "x" : "y";
  pages[128].url.assign(300'000, 'v');
  const auto run = must(log.write(pages));
  EXPECT_EQ(must(log.walk(run)), pages);
  auto lookup = must(log.lookup(run));
  for (const std::uint64_t page : {129u, 64u, 63u, 65u, 128u, 0u}) {
    EXPECT_EQ(Page::of(must(lookup->find(page))), pages[page]) << page;
  }
}

TEST(OriginsRun, FindsPagesInAnyOrder) {
  OriginLog log;
  const Pages pages = site_pages(10'000, 500);
  const auto run = must(log.write(pages, 500));
  auto lookup = must(log.lookup(run));
  EXPECT_EQ(lookup->first_page(), 500u);
  EXPECT_EQ(lookup->page_count(), pages.size());
  Random random(5);
  for (int i = 0; i < 3000; ++i) {
    const std::size_t page = random.below(pages.size());
    ASSERT_EQ(Page::of(must(lookup->find(500 + page))), pages[page]) << page;
  }
  for (const std::uint64_t page :
       {std::uint64_t{0}, std::uint64_t{499}, std::uint64_t{10'500}, ~std::uint64_t{0}}) {
    EXPECT_EQ(code_of(lookup->find(page)), Errc::kInvalidArgument);
  }
}

TEST(OriginsWriter, RefusesWhatARunCannotHold) {
  OriginLog log;
  auto out = must(OriginsWriter::start(
      log.writer(), {kSegment, SegmentKind::kPageOrigins, {}, log.writer().new_run_ids(1)},
      {10, 5, 64 * kMiB}));
  const std::string long_url(format::kUrlBytesMax + 1, 'x');
  EXPECT_EQ(code_of(out.append({long_url, {}, 0})), Errc::kTooLarge);
  EXPECT_EQ(code_of(out.append({"a", 10, 1})), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(out.append({"a", 9, 1})), Errc{});
  EXPECT_EQ(code_of(out.append({"b", 11, 1})), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(out.append({"b", 10, 1})), Errc{});
  const auto run = must(out.finish());
  out.give_back();
  EXPECT_EQ(must(log.walk(run)), (Pages{{"a", 9, 1}, {"b", 10, 1}}));
}

TEST(OriginsWriter, GivesEqualBytesForEqualPages) {
  const Pages pages = site_pages(30'000);
  Bytes first;
  for (int i = 0; i < 2; ++i) {
    OriginLog log;
    const auto run = must(log.write(pages));
    Bytes payload;
    must(container::read_run(log.writer().storage(), log.name(run), run, payload));
    if (i == 0) first = payload;
    EXPECT_EQ(payload, first);
  }
}

TEST(OriginsWriter, TrainsADictionaryWhereItPays) {
  OriginLog log;
  const auto few = must(log.write(site_pages(5000)));
  EXPECT_EQ(footer_of(log, few).dictionary_bytes, 0u);
  const Pages pages = site_pages(60'000);
  const auto many = must(log.write(pages));
  EXPECT_GT(footer_of(log, many).dictionary_bytes, 0u);
  EXPECT_EQ(must(log.walk(many)), pages);
  auto lookup = must(log.lookup(many));
  EXPECT_EQ(Page::of(must(lookup->find(59'999))), pages.back());
  EXPECT_EQ(log.verdict(many), "accepted");
}

TEST(OriginsWriter, KeepsWithinTheBytesItReserves) {
  for (const std::size_t longest : {0u, 1u, 300u, 100'000u, 200'000u}) {
    const Pages pages = odd_pages(300, std::uint64_t{1} << 60, longest, longest + 1);
    OriginLog log;
    const auto run = must(log.write(pages, std::uint64_t{1} << 60));
    EXPECT_LE(run.payload_bytes, pages::origins_bytes_max(plan_of(pages, 0)));
  }
  Pages worst;  // each takes a block of its own, and all columns are as wide as they may be
  for (std::uint64_t i = 0; i < 40; ++i) {
    worst.push_back({std::string(140'000, 'a'), i % 2, format::kOriginDepthMax});
    for (char& letter : worst.back().url) letter = static_cast<char>(Random(i++).next());
  }
  OriginLog log;
  EXPECT_TRUE(log.write(worst, ~std::uint64_t{0} - 100));
}

TEST(OriginsWriter, LeavesNothingReservedBehind) {
  OriginLog log;
  must(log.write(site_pages(10)));
  const std::uint64_t before = log.writer().file_bytes() - log.writer().free_bytes();
  {
    auto out = must(OriginsWriter::start(
        log.writer(), {kSegment, SegmentKind::kPageOrigins, {}, {9}}, {0, 100, 10'000}));
    EXPECT_TRUE(out.append({"a", {}, 0}));
  }
  EXPECT_EQ(log.writer().file_bytes() - log.writer().free_bytes(), before);
  const auto run = must(log.write(site_pages(1000)));
  EXPECT_EQ(log.writer().file_bytes() - log.writer().free_bytes(),
            before + run.extent().length_bytes);
}

TEST(OriginsCursor, ReportsRotAtItsChunkAndNothingElse) {
  OriginLog log;
  const auto run = must(log.write(site_pages(8000)));
  const std::uint64_t length = run.payload_bytes;
  Random random(6);
  std::vector<std::uint64_t> offsets{0, 8, 100, length - 1, length - 64, length - 30, length - 70};
  for (int i = 0; i < 60; ++i) offsets.push_back(random.below(length));
  for (const std::uint64_t offset : offsets) {
    log.flip(run, offset);
    EXPECT_EQ(code_of(log.walk(run)), Errc::kChunkDamaged) << offset;
    log.flip(run, offset);
  }
  EXPECT_TRUE(log.walk(run));
}

TEST(OriginsLookup, ReportsRotOfWhatItReads) {
  OriginLog log;
  const auto run = must(log.write(site_pages(8000)));
  log.flip(run, run.payload_bytes - 20);
  EXPECT_EQ(code_of(log.lookup(run)), Errc::kChunkDamaged);
  log.flip(run, run.payload_bytes - 20);
  log.flip(run, 5);
  auto lookup = must(log.lookup(run));
  EXPECT_EQ(code_of(lookup->find(0)), Errc::kChunkDamaged);
  EXPECT_TRUE(lookup->find(7999));
}

TEST(OriginsCursor, ReportsAnotherNumberOfPagesThanTheDirectorySays) {
  OriginLog log;
  auto run = log.put(origin_run(site_pages(100), 0), 99);
  EXPECT_EQ(code_of(log.walk(run)), Errc::kSegmentInvalid);
  run.record_count = 100;
  EXPECT_TRUE(log.walk(run));
}

// Checksums are right: somebody wrote it so. No answer is wrong that verification would accept.
TEST(OriginsRun, SurvivesEveryFlippedByteThatIsSealed) {
  const Pages pages = site_pages(200);
  const Bytes payload = origin_run(pages, 0);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < payload.size(); ++at) {
    OriginLog log(4 * kMiB);
    Bytes other = payload;
    other[at] ^= std::byte{0x41};
    const auto run = log.put(other, pages.size());
    const bool is_valid = log.verdict(run) == "accepted";
    const auto walked = log.walk(run);
    EXPECT_TRUE(walked || !is_valid) << at;
    EXPECT_TRUE(walked || code_of(walked) == Errc::kSegmentInvalid) << at;
    refused += walked ? 0 : 1;
    auto lookup = log.lookup(run);
    for (std::uint64_t page = 0; lookup && page < pages.size(); page += 17) {
      const auto found = (*lookup)->find((*lookup)->first_page() + page);
      if (!is_valid) continue;
      EXPECT_EQ(Page::of(must(found)), walked->at(page)) << at;
    }
  }
  EXPECT_GT(refused, payload.size() / 4);
}

TEST(OriginRunsToJoin, LeavesFewRunsAndWritesThemRarelyAgain) {
  std::vector<format::RunRef> runs;
  std::uint64_t written = 0;
  constexpr std::uint64_t kAppends = 20'000;
  for (std::uint64_t i = 0; i < kAppends; ++i) {
    const std::size_t count = origin_runs_to_join(runs);
    if (count != 0) {
      ASSERT_GE(count, 2u);
      ASSERT_LE(count, runs.size());
      format::RunRef joined;
      for (; runs.size() > 0 && joined.record_count < count; runs.pop_back()) {
        joined.payload_bytes += runs.back().payload_bytes;
        ++joined.record_count;
      }
      written += joined.payload_bytes;
      joined.record_count = 0;
      runs.push_back(joined);
    }
    format::RunRef run;
    run.payload_bytes = 1000;
    runs.push_back(run);
    ASSERT_LE(runs.size(), 32u);
  }
  EXPECT_LE(written, 4 * kAppends * 1000) << "each page is written again a few times";
}

TEST(OriginRunsToJoin, TakesTheSmallOnesBehindALargeOne) {
  std::vector<format::RunRef> runs(32);
  for (auto& run : runs) run.payload_bytes = 10;
  runs.front().payload_bytes = 1'000'000;
  EXPECT_EQ(origin_runs_to_join(runs), 31u);
  EXPECT_EQ(origin_runs_to_join(std::span(runs).first(31)), 0u);
  EXPECT_EQ(origin_runs_to_join({}), 0u);
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i].payload_bytes = std::uint64_t{1} << (60 - i);
  EXPECT_EQ(origin_runs_to_join(runs), 2u) << "there must be fewer";
}

TEST(JoinOriginRuns, KeepsEveryPage) {
  OriginLog log;
  container::WorkSteps unasked;
  Pages all;
  Random random(4);
  for (std::uint64_t i = 0; i < 40; ++i) {
    const Pages pages = i % 3 == 0 ? odd_pages(random.below(200) + 1, all.size(), 500, i)
                                   : site_pages(random.below(900) + 1, all.size(), i);
    if (const std::size_t count = origin_runs_to_join(log.log.runs); count != 0) {
      must(join_origin_runs(log.writer(), log.log, count, unasked));
    }
    log.log.runs.push_back(must(log.write(pages, all.size())));
    (void)log.writer().new_run_ids(1);  // others are written between them
    all.insert(all.end(), pages.begin(), pages.end());
  }
  EXPECT_LT(log.log.runs.size(), 32u);
  const std::size_t count = log.log.runs.size();
  must(join_origin_runs(log.writer(), log.log, count, unasked));
  ASSERT_EQ(log.log.runs.size(), 1u);
  EXPECT_EQ(must(log.walk(log.log.runs[0])), all);
  EXPECT_EQ(log.verdict(log.log.runs[0]), "accepted");
}

/// Blocks of runs with one dictionary are the same bytes afterwards; other runs take it over.
TEST(JoinOriginRuns, KeepsBlocksOfOneDictionary) {
  OriginLog log(1024 * kMiB);
  container::WorkSteps unasked;
  Pages all = site_pages(60'000);
  log.log.runs.push_back(must(log.write(all)));
  const auto dictionary = must(pages::read_dictionary(log.reader(log.log.runs[0])));
  ASSERT_FALSE(dictionary.empty());
  const auto add = [&](const Pages& pages, pages::DictionarySource source) {
    auto plan = plan_of(pages, all.size());
    plan.source = source;
    plan.dictionary = dictionary;
    log.log.runs.push_back(must(log.write(pages, plan)));
    all.insert(all.end(), pages.begin(), pages.end());
  };
  add(Pages(all.begin(), all.begin() + 40'000), pages::DictionarySource::kBest);
  EXPECT_EQ(must(pages::read_dictionary(log.reader(log.log.runs[1]))), dictionary);
  add(odd_pages(100, all.size(), 500, 3), pages::DictionarySource::kTrained);
  add(site_pages(20, all.size(), 4), pages::DictionarySource::kGiven);
  const auto payloads = [&](const format::RunRef& run) {
    const auto bytes = must(log.reader(run).bytes(0, run.payload_bytes));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const std::string first = payloads(log.log.runs[0]);
  const std::string second = payloads(log.log.runs[1]);
  must(join_origin_runs(log.writer(), log.log, 4, unasked));
  Pages walked;
  std::string whole;  // of runs that follow each other
  for (const auto& joined : log.log.runs) {
    EXPECT_EQ(log.verdict(joined), "accepted");
    EXPECT_EQ(must(pages::read_dictionary(log.reader(joined))), dictionary);
    const Pages part = must(log.walk(joined));
    walked.insert(walked.end(), part.begin(), part.end());
    whole += payloads(joined);
  }
  EXPECT_EQ(walked, all);
  EXPECT_EQ(pages::origin_group_count(log.log.runs), 1U) << "they were written together";
  EXPECT_GT(log.log.runs.size(), 1U);
  constexpr std::uint64_t kSomeBytes = 10'000;
  EXPECT_EQ(whole.find(first.substr(0, kSomeBytes)), 0U);
  const std::string some = second.substr(dictionary.size(), kSomeBytes);
  EXPECT_NE(whole.find(some), std::string::npos);
}

/// The pieces are as many as there are sixteenths, of a mebibyte at least; whatever the URLs'
/// lengths.
TEST(OriginsPieces, EndAfterSoManyBytes) {
  for (const std::uint64_t piece_bytes : {std::uint64_t{1} << 12, std::uint64_t{1} << 20}) {
    OriginLog log(1024 * kMiB);
    Pages all = site_pages(3000);
    const Pages odd = odd_pages(400, all.size(), 5000, 3);
    all.insert(all.end(), odd.begin(), odd.end());
    const auto plan = plan_of(all, 0);
    const std::uint64_t count_max = pages::origin_pieces_max(plan, piece_bytes);
    const RunId first = log.writer().new_run_ids(count_max);
    pages::OriginsPieces pieces(log.writer(), label_of(log.log, first), plan, piece_bytes);
    for (const auto& page : all) must(pieces.append(page.origin()));
    log.log.runs = must(pieces.finish());
    pieces.give_back();
    Pages walked;
    for (const auto& run : log.log.runs) {
      EXPECT_EQ(log.verdict(run), "accepted");
      const Pages part = must(log.walk(run));
      walked.insert(walked.end(), part.begin(), part.end());
    }
    EXPECT_EQ(walked, all);
    EXPECT_LE(log.log.runs.size(), count_max);
    EXPECT_GE(log.log.runs.size(), plan.url_bytes / (2 * piece_bytes));
  }
}

TEST(JoinOriginRuns, LeavesTheLogAsItIsWhenARunIsBroken) {
  OriginLog log;
  container::WorkSteps unasked;
  log.log.runs = {must(log.write(site_pages(100))), must(log.write(site_pages(50, 101), 101))};
  const auto before = log.log;
  EXPECT_EQ(code_of(join_origin_runs(log.writer(), log.log, 2, unasked)), Errc::kSegmentInvalid)
      << "a gap";
  EXPECT_EQ(log.log, before);
  log.log.runs[1] = must(log.write(site_pages(500, 100), 100));
  log.flip(log.log.runs[1], log.log.runs[1].payload_bytes / 2);
  const auto rotten = log.log;
  const std::uint64_t used = log.writer().file_bytes() - log.writer().free_bytes();
  EXPECT_EQ(code_of(join_origin_runs(log.writer(), log.log, 2, unasked)), Errc::kChunkDamaged);
  EXPECT_EQ(log.log, rotten);
  EXPECT_EQ(log.writer().file_bytes() - log.writer().free_bytes(), used);
}

/// The distinct URLs of a list of real ones, in the order in which they stand there.
Pages real_pages(const std::string& list, std::size_t count_max) {
  const char* const given = std::getenv("CRAWLSTORE_DATA");
  const std::filesystem::path data =
      given != nullptr ? given : std::string(CRAWLSTORE_SOURCE_DIR) + "/../shared/data";
  const std::filesystem::path path = data / list;
  Pages pages;
  if (!std::filesystem::exists(path)) return pages;
  const std::string command = "zstd -dc '" + path.string() + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::unordered_map<std::string, std::uint64_t> seen;
  std::uint64_t linker = 0;
  char* line = nullptr;
  std::size_t room_bytes = 0;
  for (ssize_t size = 0;
       pages.size() < count_max && (size = getline(&line, &room_bytes, pipe.get())) > 0;) {
    std::string url(line, static_cast<std::size_t>(size));
    if (url.ends_with('\n')) url.pop_back();
    const bool is_link = url.starts_with('\t');
    if (is_link) url.erase(0, 1);
    const auto [place, is_new] = seen.emplace(url, pages.size());
    if (!is_link) linker = place->second;
    if (!is_new) continue;
    pages.push_back({url, {}, 0});
    if (is_link) pages.back() = {url, linker, pages[linker].depth + 1};
  }
  std::free(line);
  return pages;
}

/// Writes real URLs; `bytes_max` for each is what we have measured, and a little.
void expect_bytes_per_url(const std::string& name, double bytes_max) {
  const Pages pages = real_pages(name, 300'000);
  if (pages.empty()) GTEST_SKIP() << "no " << name << "; CRAWLSTORE_DATA names its folder";
  OriginLog log(1024 * kMiB);
  const auto run = must(log.write(pages));
  const auto footer = footer_of(log, run);
  const double bytes = static_cast<double>(run.payload_bytes) / static_cast<double>(pages.size());
  std::printf("%s: %zu URLs of %.1f bytes, %.2f bytes each in the run, dictionary %u\n",
              name.c_str(), pages.size(),
              static_cast<double>(footer.url_bytes) / static_cast<double>(pages.size()), bytes,
              footer.dictionary_bytes);
  EXPECT_LT(bytes, bytes_max);
  EXPECT_TRUE(must(log.walk(run)) == pages);
  EXPECT_EQ(log.verdict(run), "accepted");
}

TEST(OriginsRun, HoldsTheUrlsOfRedditInAThirdOfTheirBytes) {
  expect_bytes_per_url("urls/reddit-a.links.zst", 32);
}
TEST(OriginsRun, HoldsTheUrlsOfDocumentsInATenthOfTheirBytes) {
  expect_bytes_per_url("graphs/docs-public.urls.zst", 10);
}
TEST(OriginsRun, HoldsTheUrlsOfOneSiteAndItsLinks) {
  expect_bytes_per_url("urls/mscpp.links.zst", 30);
}

}  // namespace
}  // namespace crawlstore::testing
