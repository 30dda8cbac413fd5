// SPDX-License-Identifier: Apache-2.0
#include "shards_crawl.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string_view>

#include <crawlstore/must.h>
#include <crawlstore/page_key.h>
#include <crawlstore/scores.h>
#include <crawlstore/shard_scores.h>

#include "format/zstd_frame.h"  // tidy: inside, to pack other URLs as messages are
#include "shards/outbox.h"      // tidy: inside, to pack other URLs as messages are

namespace crawlstore::bench {
namespace {

constexpr std::uint64_t kKeySeed = 7;
constexpr double kPrecision = 1e-9;
constexpr std::uint32_t kIterationsMax = 1000;
constexpr int kMessageLevel = 3;  // of zstd, as in messages

template <class Work>
void timed(double& seconds, const Work& work) {
  const double start = cpu_seconds();
  work();
  seconds += cpu_seconds() - start;
}

std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EB;
  return number ^ (number >> 31);
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3;
  }
  return mixed(hash);
}

std::uint64_t raw_bytes(std::string_view url) {
  std::uint64_t bytes = 1 + url.size();
  for (std::size_t rest = url.size() >> 7; rest != 0; rest >>= 7) ++bytes;
  return bytes;
}

/// Counts the bytes of messages with the URLs of all links that cross, one to each other shard.
class CrossingMessages {
 public:
  explicit CrossingMessages(const Shard& shard) : shard_(shard) {
    format::OutboxHeader header;
    header.step = 1;
    header.shard_count = shard.count;
    header.from = shard.index;
    for (header.to = 0; header.to < shard.count; ++header.to) {
      messages_.emplace_back(header, compressor_, sink_, report_);
    }
  }
  void add(std::string_view url) {
    must(messages_[shard_of(url_host(url), shard_.count)].add(url));
  }
  std::uint64_t finish() {
    for (std::uint32_t to = 0; to < shard_.count; ++to) {
      if (to != shard_.index) must(messages_[to].finish());
    }
    return report_.byte_count;
  }

 private:
  Shard shard_;
  format::FrameCompressor compressor_{{}, kMessageLevel};
  OutboxSink sink_ = [](std::uint32_t, std::span<const std::byte>) { return Result<void>(); };
  OutboxReport report_;
  std::vector<shards::MessageWriter> messages_;
};

}  // namespace

CrawlCosts& CrawlCosts::operator+=(const CrawlCosts& other) {
  open += other.open;
  merge_received += other.merge_received;
  read += other.read;
  add += other.add;
  merge += other.merge;
  exchange += other.exchange;
  outbox += other.outbox;
  receive += other.receive;
  note += other.note;
  carry += other.carry;
  return *this;
}

Found& Found::operator+=(const Found& other) {
  pages += other.pages;
  crawled += other.crawled;
  links += other.links;
  page_hash += other.page_hash;
  link_hash += other.link_hash;
  crossing += other.crossing;
  crossing_raw += other.crossing_raw;
  crossing_bytes += other.crossing_bytes;
  elsewhere += other.elsewhere;
  elsewhere_raw += other.elsewhere_raw;
  return *this;
}

PageView ShardCrawl::view() const {
  return must(PageView::open(must(store_->snapshot())));
}

void ShardCrawl::open(std::size_t seed_count) {
  CreateOptions options;
  options.key_seed = kKeySeed;
  store_.emplace(must(create_shard(path_, shard_, options)));
  pages_.emplace(must(PageDb::open(*store_)));
  for (const std::uint32_t page : web_.seeds(seed_count)) {
    CrawlEvent event;
    event.kind = CrawlEventKind::kKnown;
    event.url = web_.url(page);
    if (shard_.has(url_host(event.url))) must(pages_->add(event));
  }
}

/// Own pages that came since the last call and were not crawled.
std::vector<std::uint32_t> ShardCrawl::new_pages(bool takes_waiting) {
  std::vector<std::uint32_t> found;
  const PageView pages = view();
  must(pages.for_each_page(
      [&](const PageInfo& page) {
        if (page.state == PageState::kKnown) found.push_back(web_.page_of(page.url));
        return true;
      },
      next_));
  next_ = pages.info().page_count;
  if (!takes_waiting) return found;
  must(pages.for_each_event([&](const CrawlEvent& event) {
    found.push_back(web_.page_of(event.url));
    return true;
  }));
  std::sort(found.begin(), found.end());  // several shards may have sent one
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void ShardCrawl::exchange() {
  (void)peers_.take_marks();
  const double start = cpu_seconds();
  const StepReport report = must(exchange_step(*store_, *pages_, peers_));
  const double end = cpu_seconds();
  costs_.exchange += end - start;
  // Three exchanges: of steps, of messages, and when all have taken them.
  const std::vector<double> marks = peers_.take_marks();
  costs_.outbox += marks.at(2) - marks.at(1) + marks.at(0) - start;
  costs_.receive += marks.at(4) - marks.at(3);
  costs_.note += end - marks.at(5);
  costs_.carry += marks.at(1) - marks.at(0) + marks.at(3) - marks.at(2) + marks.at(5) - marks.at(4);
  sums_.urls_sent += report.sent.url_count;
  sums_.bytes_sent += report.sent.byte_count;
  sums_.urls_new += report.received.new_count;
}

bool ShardCrawl::anybody_has(std::size_t count) {
  if (shard_.is_alone()) return count != 0;
  const ShardPeers::Bytes told(count == 0 ? 0 : 1);
  std::vector<ShardPeers::Bytes> from;
  must(peers_.exchange(std::vector<ShardPeers::Bytes>(shard_.count, told), from));
  for (const auto& bytes : from) {
    if (!bytes.empty()) return true;
  }
  return false;
}

void ShardCrawl::crawl(const CrawlOptions& options) {
  timed(costs_.open, [&] { open(options.seed_count); });
  for (;;) {
    const bool takes_waiting = options.takes_waiting && sums_.levels != 0;
    if (!takes_waiting) timed(costs_.merge_received, [&] { must(pages_->merge()); });
    std::vector<std::uint32_t> found;
    timed(costs_.read, [&] { found = new_pages(takes_waiting); });
    if (!anybody_has(found.size())) break;
    timed(costs_.add, [&] {
      for (const std::uint32_t page : found) must(pages_->add(web_.fetched(page)));
    });
    timed(costs_.merge, [&] { must(pages_->merge()); });
    if (!shard_.is_alone()) exchange();
    ++sums_.levels;
  }
}

void ShardCrawl::rank() {
  RankOptions options;
  options.precision = kPrecision;
  options.max_iterations = kIterationsMax;
  options.thread_count = 1;
  options.is_warm = false;
  double thread_start = 0;
  double process_start = 0;
  std::uint64_t bytes_start = 0;
  options.progress = [&](std::uint32_t iteration, double) {
    if (iteration == 1) {
      thread_start = cpu_seconds();
      process_start = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
      bytes_start = peers_.sent_bytes();
    } else if (iteration > 1) {
      rank_sums_.iterations = iteration - 1;
      rank_sums_.cpu_seconds = cpu_seconds() - thread_start;
      rank_sums_.process_cpu_seconds = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - process_start;
      rank_sums_.bytes = peers_.sent_bytes() - bytes_start;
    }
    return true;
  };
  const PageView pages = view();
  const RankedPages ranked = shard_.is_alone() ? must(compute_rank(pages, options))
                                               : must(compute_rank(pages, peers_, options)).ranked;
  if (!ranked.report().converged) throw std::runtime_error("the precision was not reached");
  must(store_ranked(*store_, ranked));
}

Found ShardCrawl::look() const {
  Found found;
  const PageView pages = view();
  std::vector<std::string> urls;
  std::vector<std::uint64_t> hashes;
  std::vector<bool> is_elsewhere;
  must(pages.for_each_page([&](const PageInfo& page) {
    urls.push_back(page.url);
    hashes.push_back(hash_of(page.url));
    is_elsewhere.push_back(page.state == PageState::kElsewhere);
    if (is_elsewhere.back()) {
      ++found.elsewhere;
      found.elsewhere_raw += raw_bytes(page.url);
      return true;
    }
    ++found.pages;
    if (page.crawl_count != 0) ++found.crawled;
    found.page_hash += mixed(hashes.back() + std::uint64_t{16} * page.crawl_count +
                             static_cast<std::uint64_t>(page.state));
    return true;
  }));
  CrossingMessages messages(shard_);
  LinkStream links = must(pages.links());
  while (must(links.next())) {
    for (const std::uint64_t link : links.links()) {
      ++found.links;
      found.link_hash += mixed(hashes[links.page()] * 0x9E3779B97F4A7C15 + hashes[link]);
      if (!is_elsewhere[link]) continue;
      ++found.crossing;
      found.crossing_raw += raw_bytes(urls[link]);
      messages.add(urls[link]);
    }
  }
  if (!shard_.is_alone()) found.crossing_bytes = messages.finish();
  return found;
}

void ShardCrawl::add_scores(std::vector<double>& by_page) const {
  const PageView pages = view();
  const ScoreView scores = must(ScoreView::open(pages));
  must(pages.for_each_page([&](const PageInfo& page) {
    if (page.state != PageState::kElsewhere) {
      by_page[web_.page_of(page.url)] = must(scores.score(page.index)).value_or(0);
    }
    return true;
  }));
}

}  // namespace crawlstore::bench
