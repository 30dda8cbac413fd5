// SPDX-License-Identifier: Apache-2.0
//
// The valid golden files of page databases.
#include <crawlstore/page_key.h>
#include <crawlstore/pages.h>
#include <crawlstore/queue.h>
#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>
#include <crawlstore/shard.h>

#include "base/inside.h"
#include "format/link_block.h"
#include "format/link_index.h"
#include "format/origin_block.h"
#include "format/origin_index.h"
#include "format/pages_table.h"
#include "format/record_tile.h"
#include "format/score_array.h"
#include "golden/crafted_dense.h"
#include "golden/valid_maker.h"
#include "values/pending_values.h"

namespace crawlstore::testing {
namespace {

PagesOptions pages_options(bool has_urls) {
  PagesOptions result;
  result.bucket_count = 2;
  result.has_urls = has_urls;
  return result;
}

CrawledPage page_at(const std::string& url, std::int64_t time_s,
                    const std::vector<std::string>& links) {
  CrawledPage page(url, kTimeUs + time_s * 1'000'000);
  float score = 0.5F;
  for (const std::string& link : links) page.add_link(link, score += 0.25F);
  page.set_score(score);
  return page;
}

CrawlEvent event_of(CrawlEventKind kind, std::string_view url) {
  CrawlEvent event;
  event.kind = kind;
  event.url = url;
  return event;
}

/// Some supersteps: pages come, are crawled again with other content and other links, fail and go;
/// URLs of all kinds of bytes; and edits of every kind that wait.
std::vector<std::byte> pages_file() {
  Scratch scratch;
  auto pages = must(PageDb::open(*scratch.store, "pages", pages_options(true)));
  auto home = page_at("http://a.test/", 1, {"http://a.test/x", "http://b.test/", "http://a.test/"});
  home.set_content_hash(1000);
  must(pages.add(home));
  must(pages.add(page_at("http://b.test/", 2, {})));
  must(pages.merge());
  auto again = page_at("http://a.test/", 60, {"http://b.test/", "http://c.test/new"});
  again.set_content_hash(2000);
  must(pages.add(again));
  must(pages.add(page_at("http://a.test/x", 61, {"http://a.test/", "not a URL \xFF"})));
  must(pages.add(event_of(CrawlEventKind::kKnown, "http://seed.test/")));
  must(pages.merge());
  must(pages.add(event_of(CrawlEventKind::kGone, "http://a.test/x")));
  must(pages.add(event_of(CrawlEventKind::kFailed, "http://c.test/new")));
  must(pages.merge());
  must(pages.add(page_at("http://b.test/", 90, {"http://d.test/", "http://a.test/"})));
  const EventLink link{"http://e.test/", 0, 0.125F};
  for (const auto kind : {CrawlEventKind::kLinkAdded, CrawlEventKind::kLinkRemoved}) {
    CrawlEvent event = event_of(kind, "http://a.test/");
    event.links = std::span(&link, 1);
    must(pages.add(event));
  }
  must(pages.add(event_of(CrawlEventKind::kGone, "http://seed.test/")));
  must(pages.close());
  return scratch.close();
}

/// The last shard of three: pages of its own, and elsewhere, where links and edits name them; one
/// of these is forgotten.
std::vector<std::byte> shard_file() {
  Scratch scratch(format::kShardsFeature);
  const std::string shard = "2/3";
  must(values::set_reserved(Inside::of(*scratch.store).shared_from_this(), values::kShardName,
                            std::as_bytes(std::span(shard))));
  auto pages = must(PageDb::open(*scratch.store, "pages", pages_options(true)));
  std::vector<std::string> urls;
  for (char host = 'a'; host <= 'l'; ++host)
    urls.push_back(std::string("http://") + host + ".test/");
  for (const std::string& url : urls) {
    if (shard_of(url_host(url), 3) == 2)
      must(pages.add(page_at(url, 1, {urls[0], urls[5], urls[9]})));
  }
  must(pages.add(event_of(CrawlEventKind::kKnown, urls[4])));
  must(pages.merge());
  must(pages.forget([&](std::string_view url) { return url == urls[4]; }));
  must(pages.close());
  return scratch.close();
}

/// A site of some thousand pages: blocks of URLs with a dictionary, several blocks of links, runs
/// that were merged.
std::vector<std::byte> site_file(bool forgets) {
  Scratch scratch;
  auto pages = must(PageDb::open(*scratch.store, "pages", pages_options(true)));
  const auto url = [](std::uint64_t i) {
    return "http://www.site" + std::to_string(i % 7) + ".test/section/" + std::to_string(i % 50) +
           "/page-" + std::to_string(i) + ".html";
  };
  for (std::uint64_t i = 0; i < 300; ++i) {
    std::vector<std::string> links;
    for (std::uint64_t k = 0; k < 1 + i % 9; ++k) links.push_back(url(mix(i * 10 + k) % 600));
    must(pages.add(page_at(url(i), static_cast<std::int64_t>(i), links)));
    if (i % 25 == 24) must(pages.merge());
  }
  if (forgets) {
    must(pages.forget([](std::string_view text) { return text.starts_with("http://www.site3."); }));
  }
  must(pages.close());
  return scratch.close();
}

/// Links from a page, or none; without URLs.
using Row = std::pair<std::uint64_t, std::vector<std::uint64_t>>;

std::vector<std::byte> graph_of(const std::vector<Row>& rows, bool is_compact = false) {
  Scratch scratch;
  auto pages = must(PageDb::open(*scratch.store, "graph", pages_options(false)));
  for (const auto& [page, targets] : rows) {
    std::vector<EventLink> links;
    for (const std::uint64_t target : targets) links.push_back({{}, target, 0});
    CrawlEvent event;
    event.kind = CrawlEventKind::kLinkAdded;
    event.index = page;
    event.links = links;
    must(pages.add(event));
  }
  must(pages.close());
  auto again = must(PageDb::open(*scratch.store, "graph", pages_options(false)));
  must(again.merge());
  if (is_compact) must(again.compact());
  must(again.close());
  return scratch.close();
}

/// A page above all others makes it have `pages_max` pages.
std::vector<std::byte> graph_file(std::uint64_t pages_max) {
  std::vector<Row> rows;
  for (std::uint64_t i = 0; i < 40; ++i) {
    auto& row =
        rows.emplace_back(i == 39 ? pages_max - 1 : i * (pages_max / 40), Row::second_type());
    for (std::uint64_t k = 0; k < i % 6; ++k) row.second.push_back(mix(i * 6 + k) % pages_max);
  }
  return graph_of(rows);
}

/// The runs that rejected files break byte by byte are short, and have two blocks all the same.
std::vector<std::byte> two_link_blocks_file() {
  CraftedFile file(graph_of({{5, {3, 6, 199}}, {7, {7}}, {9, {11}}, {10, {8}}, {199, {}}}));
  std::vector<std::byte> run;
  const auto block = [&run](const std::vector<std::uint64_t>& pages,
                            const std::vector<std::uint32_t>& degrees,
                            const std::vector<std::uint64_t>& links) {
    const format::LinkIndexEntry entry{pages.front(), run.size()};
    format::encode_link_block({pages, degrees, links}, run);
    return entry;
  };
  const std::vector index{block({5, 6, 7}, {3, 0, 1}, {3, 6, 199, 7}),
                          block({9, 10}, {1, 1}, {11, 8})};
  format::encode_link_tail(index, {5, 6, 10, 199}, run.size(), run);
  file.set_payload(file.segment(SegmentKind::kOutLinks), run);
  file.assemble();
  return file.bytes;
}

/// A dense run like compaction writes it: rows that refer to one up to nine before them, equal
/// ones, links one after another, more than 255 pages without links, and a row of two blocks.
std::vector<std::byte> dense_graph_file() {
  std::vector<Row> rows;
  for (std::uint64_t i = 0; i < 300; ++i) {
    auto& [page, links] = rows.emplace_back(i < 200 ? 3 * i / 2 : 1000 + i, Row::second_type());
    const std::uint64_t like = i % 10 == 7 ? i : i - i % 10;
    for (std::uint64_t k = 0; k < like % 17; ++k) links.push_back(mix(like + k) % 1000);
    if (i % 3 == 0) links.push_back(mix(i) % 8000);
    for (std::uint64_t k = 0; i % 7 == 5 && k < 12; ++k) links.push_back(page + k);
    for (std::uint64_t k = 0; i >= 195 && i < 197 && k < 150; ++k) {
      if (i != 196 || k % 50 != 3) links.push_back(5000 + 2 * k);
    }
  }
  auto& [page, links] = rows.emplace_back(4000, Row::second_type());
  for (std::uint64_t k = 0; k < 8300; ++k) links.push_back(k);
  rows.push_back({8299, {4000}});
  return graph_of(rows, true);
}

/// A file like two_link_blocks_file(), of 66 dense blocks. The second row of the first one refers
/// to the first, and the third is the same. The row of page 12 takes two blocks, and 62 are without
/// bytes.
std::vector<std::byte> dense_blocks_file() {
  CraftedFile file(graph_of({{5, {3, 6, 7, 8, 9, 10, 199}},
                             {7, {3, 4, 6, 7, 10, 100, 199}},
                             {8, {3, 4, 6, 7, 10, 100, 199}},
                             {12, {20, 21, 30}},
                             {74, {74}},
                             {199, {}}}));
  // A row; type 0; a row by another; one that is equal.
  const std::vector<DenseNumber> numbers{
      {0, 1}, {7, 6}, {23, 3}, {27, 2}, {33, 0}, {31, 0}, {31, 0}, {40, 1},  {31, 187}, {2, 0},
      {6, 0}, {1, 2}, {10, 4}, {17, 2}, {14, 0}, {21, 2}, {25, 5}, {29, 92}, {3, 49}};
  std::vector<DenseBlock> blocks{{4, numbers}, {3, {}}};
  blocks.push_back({1, {{0, 1}, {7, 0}, {23, 16}}});
  blocks.push_back({0, {{0, 1}, {7, 1}, {23, 18}, {27, 8}}});
  blocks.resize(65, {1, {}});
  blocks.push_back({1, {{0, 1}, {7, 0}, {23, 0}}});
  file.set_payload(file.segment(SegmentKind::kOutLinks), dense_run(5, blocks, {5, 25, 74, 199}));
  file.assemble();
  return file.bytes;
}

std::vector<std::byte> two_origin_blocks_file() {
  Scratch scratch;
  auto pages = must(PageDb::open(*scratch.store, "pages", pages_options(true)));
  must(pages.add(page_at("a:", 1, {"b:/x", "c:"})));
  must(pages.merge());
  must(pages.close());
  CraftedFile file(scratch.close());
  std::vector<std::byte> run;
  format::OriginBatch first(0);
  first.add({"a:", {}, 0});
  first.add({"b:/x", 0, 1});
  first.encode(nullptr, run);
  const std::vector<format::OriginEntry> index{{0, 0}, {2, run.size()}};
  format::OriginBatch second(2);
  second.add({"c:", 0, 1});
  second.encode(nullptr, run);
  format::OriginFooter footer{};
  footer.page_count = 3;
  footer.url_bytes = 8;
  encode_origin_tail(index, footer, run.size(), run);
  file.set_payload(file.segment(SegmentKind::kPageOrigins), run);
  file.assemble();
  return file.bytes;
}

/// Two pages whose URLs are one zstd frame.
std::vector<std::byte> origin_frame_file() {
  Scratch scratch;
  auto pages = must(PageDb::open(*scratch.store, "pages", pages_options(true)));
  must(pages.add(page_at("http://h.test/", 1, {"http://h.test/" + std::string(60, 'a')})));
  must(pages.merge());
  must(pages.close());
  return scratch.close();
}

format::PageRecord record(PageState state, std::uint32_t crawls, float score,
                          std::size_t hash_bytes) {
  format::PageRecord result;
  result.state = state;
  result.crawl_count = crawls;
  result.change_count = crawls == 0 ? 0 : crawls - 1;
  if (crawls != 0) result.first_crawl_us = 1000;
  if (crawls != 0) result.last_crawl_us = 1000 + 4000 * (crawls - 1);
  result.score = score;
  result.hash_bytes = static_cast<std::uint8_t>(hash_bytes);
  std::fill_n(result.hash.begin(), hash_bytes, std::byte{'h'});
  return result;
}

std::vector<std::byte> crawled_graph_file() {
  CraftedFile file(graph_file(200));
  std::vector<format::PageRecord> records(200);
  records[0] = record(PageState::kCrawled, 3, 0.5F, 4);
  records[1] = record(PageState::kCrawled, 1, 1.5F, 64);
  records[2] = record(PageState::kKnown, 0, 0.25F, 0);
  records[3] = record(PageState::kGone, 2, 0, 3);
  records[4] = record(PageState::kFailed, 0, 0, 0);
  records[4].failures = 300;
  records[4].status = 503;
  records[5] = record(PageState::kRedirect, 0, 1, 0);
  records[5].status = 301;
  records[6] = record(PageState::kDenied, 0, 0, 0);
  records[7] = record(PageState::kDuplicate, 1, 0, 2);
  std::vector<std::byte> tile;
  format::encode_record_tile(records, tile);
  file.set_tile(file.segment(SegmentKind::kPageRecords), 0, tile, records.size());
  auto& pages = file.segment(SegmentKind::kPages);
  auto table = *format::parse_pages_table(file.payload(pages));
  table.crawled_count = 4;
  file.set_payload(pages, format::encode_pages_table(table));
  file.assemble();
  return file.bytes;
}

std::vector<std::byte> waiting_graph_file() {
  Scratch scratch;
  auto pages = must(PageDb::open(*scratch.store, "graph", pages_options(false)));
  CrawlEvent event;
  event.index = 1;
  event.time_us = kTimeUs;
  must(pages.add(event));
  must(pages.close());
  return scratch.close();
}

std::vector<std::byte> compacted_file() {
  Scratch scratch;
  auto pages = must(PageDb::open(*scratch.store, "pages", pages_options(true)));
  for (std::int64_t step = 0; step < 3; ++step) {
    must(pages.add(page_at("http://a.test/" + std::to_string(step), step,
                           {"http://a.test/0", "http://b.test/" + std::to_string(step)})));
    must(pages.merge());
  }
  must(pages.compact());
  must(pages.close());
  return scratch.close();
}

/// Supersteps whose keys wait beside the DRUM of keys, in two runs.
std::vector<std::byte> fresh_keys_file() {
  Scratch scratch;
  auto pages = must(PageDb::open(*scratch.store, "pages", pages_options(true)));
  const auto url = [](int i) {
    return "http://" + std::string(1, static_cast<char>('a' + i % 3)) + ".test/" +
           std::to_string(i);
  };
  int count = 0;
  for (const int step_pages : {20, 4, 3}) {
    for (int i = 0; i < step_pages; ++i, ++count) {
      must(pages.add(page_at(url(count), count, {url(count / 2)})));
    }
    must(pages.merge());
  }
  must(pages.close());
  return scratch.close();
}

/// An index of contents in two runs: with copies, and keys of contents that pages had before.
std::vector<std::byte> contents_file() {
  Scratch scratch;
  auto options = pages_options(true);
  options.content_index = true;
  auto pages = must(PageDb::open(*scratch.store, "pages", options));
  for (int step = 0; step < 2; ++step) {
    for (int i = 0; i < 12; i += 1 + 2 * step) {
      auto page = page_at("http://a.test/" + std::to_string(i), i + 20 * step, {});
      page.set_content_hash(static_cast<std::uint64_t>(i % 5 + 3 * step));
      must(pages.add(page));
    }
    must(pages.merge());
  }
  must(pages.close());
  return scratch.close();
}

/// A graph of five pages with PageRank, with scores of a scorer of one's own, and, as a later
/// version may write them, with doubles by host.
std::vector<std::byte> scores_file() {
  Scratch scratch;
  auto pages = must(PageDb::open(*scratch.store, "graph", pages_options(false)));
  for (const auto& [page, target] : {std::pair{0U, 4U}, {1U, 4U}, {4U, 1U}, {3U, 3U}}) {
    const EventLink link{{}, target, 0};
    CrawlEvent event;
    event.kind = CrawlEventKind::kLinkAdded;
    event.index = page;
    event.links = std::span(&link, 1);
    must(pages.add(event));
  }
  must(pages.merge());
  RankOptions options;
  options.database = "graph";
  options.precision = 1e-3;
  must(rank_pages(*scratch.store, options));
  const auto view = must(PageView::open(must(scratch.store->snapshot()), "graph"));
  must(store_scores(*scratch.store, "own", view, std::vector<float>{1, 0, 0.25F, 3, 0.5F}));
  must(pages.close());
  CraftedFile file(scratch.close());
  format::ScoreArray array;
  array.scorer = Scorer::kHitsAuthority;
  array.subject = ScoreSubject::kHost;
  array.codec = format::ScoreCodec::kFloat64;
  array.flags = format::kScoresContentWeighted | format::kScoresPersonalised;
  array.iteration_count = 1;
  array.entry_count = 3;
  array.page_count = 5;
  array.link_count = 4;
  array.superstep_count = 1;
  array.generation = {file.superblock.generation - 1};
  array.time_us = kTimeUs;
  array.damping = 1;
  array.residual = 0.5;
  array.sum = 1;
  const std::vector<double> values{0.25, 0.125, 0.625};
  const std::vector<std::uint64_t> first_pages{0, 2, 4};
  const std::vector<double> residuals{0.5};
  const auto bytes = std::as_bytes(std::span(values));
  std::vector<std::byte> payload(bytes.begin(), bytes.end());
  format::encode_score_tail(array, first_pages, residuals, payload);
  auto& hosts = file.add_segment(SegmentKind::kScoreArray, file.segment(SegmentKind::kPages).id);
  hosts.storage_class = StorageClass::kBlob;
  hosts.name = "hosts";
  hosts.runs = {file.add_run(hosts.id, payload, 3)};
  file.assemble();
  return file.bytes;
}

/// Two queues: one of three runs, of which two have left in part, with pages that were changed and
/// removed, and one that is empty.
std::vector<std::byte> queues_file() {
  Scratch scratch;
  auto queue = must(Queue::open(*scratch.store));
  const auto insert = [&queue, &scratch](std::uint64_t count, double scale) {
    std::vector<QueuedPage> pages;
    for (std::uint64_t i = 0; i < count; ++i) {
      pages.push_back({mix(i) % 6000, scale * static_cast<float>(mix(i + count) % 4096)});
    }
    must(queue.insert(pages));
    must(scratch.store->commit());
  };
  insert(40, 1);
  insert(9001, 0.25);
  must(queue.take(60));
  must(queue.remove(std::vector<std::uint64_t>{mix(3) % 6000, mix(7000) % 6000, 6000}));
  insert(5, -1);
  must(must(Queue::open(*scratch.store, "empty")).close());
  must(queue.close());
  return scratch.close();
}

std::vector<std::byte> no_pages_file() {
  Scratch scratch;
  must(must(PageDb::open(*scratch.store, "pages", pages_options(true))).close());
  must(must(PageDb::open(*scratch.store, "indexes", pages_options(false))).close());
  return scratch.close();
}

/// URLs as they were given, one of them with a host only in its normal form.
std::vector<std::byte> raw_pages_file() {
  Scratch scratch;
  auto options = pages_options(true);
  options.normalizer = UrlNormalizer::raw();
  auto pages = must(PageDb::open(*scratch.store, "pages", options));
  must(pages.add(page_at("HTTP://a.test/#top", 0, {"http:\\\\a.test", "no url"})));
  must(pages.close());
  return scratch.close();
}

}  // namespace

void add_valid_pages(std::vector<GoldenFile>& files) {
  files.push_back({"pages", pages_file()});
  files.push_back({"pages_none", no_pages_file()});
  files.push_back({"pages_raw", raw_pages_file()});
  files.push_back({"pages_elsewhere", shard_file()});
  files.push_back({"pages_of_sites", site_file(false)});
  files.push_back({"pages_forgotten", site_file(true)});
  files.push_back({"pages_compacted", compacted_file()});
  files.push_back({"pages_fresh_keys", fresh_keys_file()});
  files.push_back({"pages_contents", contents_file()});
  files.push_back({"pages_of_two_origin_blocks", two_origin_blocks_file()});
  files.push_back({"pages_of_one_origin_frame", origin_frame_file()});
  files.push_back({"graph", graph_file(200)});
  files.push_back({"graph_of_one_link", graph_of({{1, {2}}, {199, {}}})});
  files.push_back({"graph_of_two_link_blocks", two_link_blocks_file()});
  files.push_back({"graph_of_dense_links", dense_graph_file()});
  files.push_back({"graph_of_dense_blocks", dense_blocks_file()});
  files.push_back({"graph_of_crawled_pages", crawled_graph_file()});
  files.push_back({"graph_of_one_edit", waiting_graph_file()});
  files.push_back({"graph_of_scores", scores_file()});
  files.push_back({"queues", queues_file()});
  files.push_back({"graph_of_two_tiles", graph_file(8193)});
  files.push_back({"graph_of_two_node_levels", graph_file(64 * 8192 + 1)});
}

}  // namespace crawlstore::testing
