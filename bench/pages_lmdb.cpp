// SPDX-License-Identifier: Apache-2.0
//
// LMDB on the made-up crawl, with the tables of Aduana's PageDB (lib/src/page_db.c):
//
//   hash2info  hash of a URL (24 bits of its host, 40 of the whole; there 32 and 32, so that pages
//              of large hosts collide) -> what is known of the page: URL, score, hash of the first
//              page that links to it, depth, number of crawls; once crawled also the time and the
//              content hash
//   hash2idx   the same hash -> index of the page
//   links      index -> links: how many leave the host, these, then the others, each as the
//              difference to the one before in a varint
//
// In-links are not there, nor in Aduana: who wants them reads all links. Kinder than Aduana: a
// transaction each 2000 pages (there: each page), no locks, no read-ahead. MDB_NOSYNC as there: a
// crash of the system may destroy the database. Unlike there URLs are not shortened with smaz, and
// not normalised. --writemap 1: a writable map.

#include <array>
#include <cstdio>
#include <cstring>

#include <fmt/core.h>
#include <lmdb.h>
#include <xxhash.h>

#include <crawlstore/page_key.h>

#include "pages_run.h"

namespace crawlstore::bench {
namespace {

constexpr std::uint64_t kPagesPerTransaction = 2000;

void must(int code) {
  if (code != 0) fail(mdb_strerror(code));
}

std::uint64_t hash_of(std::string_view url) {
  constexpr int kUrlBits = 40;
  const std::string host = url_host(url);
  return std::uint64_t{XXH32(host.data(), host.size(), 0)} << kUrlBits |
         XXH64(url.data(), url.size(), 0) >> (64 - kUrlBits);
}

MDB_val value_of(const void* data, std::size_t bytes) {
  MDB_val value{bytes, nullptr};
  std::memcpy(&value.mv_data, &data, sizeof(data));  // LMDB does not change what it points to
  return value;
}

std::uint64_t load_index(const MDB_val& value) {
  std::uint64_t index = 0;
  std::memcpy(&index, value.mv_data, sizeof(index));
  return index;
}

/// The data about a page, without its URL. Written as far as Aduana does.
struct Info {
  std::uint64_t linked_from = 0;
  std::uint64_t depth = 0;
  std::uint64_t crawl_count = 0;
  double crawl_seconds = 0;
  std::uint64_t content_hash = 0;
  float score = 0;
};
constexpr std::size_t kKnownBytes = 3 * sizeof(std::uint64_t);

class LmdbPages final : public PagesStore {
 public:
  LmdbPages(const PagesRunOptions& options, bool is_write_mapped) : is_mapped_(is_write_mapped) {
    std::remove(options.path.c_str());
    must(mdb_env_create(&environment_));
    must(mdb_env_set_mapsize(environment_, std::size_t{256} << 30));
    must(mdb_env_set_maxdbs(environment_, 4));
    const unsigned flags = MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOTLS | MDB_NOLOCK | MDB_NORDAHEAD |
                           MDB_NOMEMINIT | (is_write_mapped ? MDB_WRITEMAP : 0U);
    must(mdb_env_open(environment_, options.path.c_str(), flags, 0644));
    begin();
    constexpr unsigned kFlags = MDB_CREATE | MDB_INTEGERKEY;
    must(mdb_dbi_open(transaction_, "hash2info", kFlags, &infos_));
    must(mdb_dbi_open(transaction_, "hash2idx", kFlags, &indexes_));
    must(mdb_dbi_open(transaction_, "links", kFlags, &links_));
  }
  ~LmdbPages() override {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
    mdb_env_close(environment_);
  }

  [[nodiscard]] std::string name() const override { return "LMDB"; }
  [[nodiscard]] std::string tuning() const override {
    return fmt::format("Aduana's tables, no sync, a transaction each {} pages{}, no in-links",
                       kPagesPerTransaction, is_mapped_ ? ", writable map" : "");
  }

  void add(const CrawlEvent& event) override {
    const std::uint64_t hash = hash_of(event.url);
    const Info info = put_crawled(hash, event);
    const std::string host = url_host(event.url);
    same_host_.clear();
    other_hosts_.clear();
    const std::uint64_t page = index_of(hash).first;
    for (const EventLink& link : event.links) {
      const std::uint64_t target_hash = hash_of(link.url);
      const auto [index, is_new] = index_of(target_hash);
      if (is_new) put_info(target_hash, link.url, {hash, info.depth + 1, 0, 0, 0, link.score});
      (url_host(link.url) == host ? same_host_ : other_hosts_).push_back(index);
    }
    put_links(page);
    if (++waiting_ < kPagesPerTransaction) return;
    commit();
    begin();
  }

  std::uint64_t step_count() override { return commits_; }
  void finish() override {
    commit();
    must(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &transaction_));
  }

  FoundPage find(std::string_view url) override {
    const std::uint64_t hash = hash_of(url);
    MDB_val key = value_of(&hash, sizeof(hash));
    MDB_val data{};
    must(mdb_get(transaction_, indexes_, &key, &data));
    FoundPage found{load_index(data), 0, {}};
    must(mdb_get(transaction_, infos_, &key, &data));
    found.crawl_count = load_info(data, found.url).crawl_count;
    return found;
  }
  void out_links(std::uint64_t index, std::vector<std::uint64_t>& links) override {
    links.clear();
    MDB_val key = value_of(&index, sizeof(index));
    MDB_val data{};
    must(mdb_get(transaction_, links_, &key, &data));
    const auto* place = static_cast<const std::uint8_t*>(data.mv_data);
    const std::uint8_t* const end = place + data.mv_size;
    read_varint(place);  // how many leave the host
    while (place != end) {
      const std::uint64_t folded = read_varint(place);
      index += (folded >> 1) ^ (0 - (folded & 1));
      links.push_back(index);
    }
  }
  bool in_links(std::uint64_t /*index*/, std::vector<std::uint64_t>& links) override {
    links.clear();
    return false;
  }
  nlohmann::ordered_json figures() override {
    return {{"hash2info_bytes", table_bytes(infos_)},
            {"hash2idx_bytes", table_bytes(indexes_)},
            {"links_bytes", table_bytes(links_)}};
  }

 private:
  void begin() { must(mdb_txn_begin(environment_, nullptr, 0, &transaction_)); }
  void commit() {
    must(mdb_txn_commit(transaction_));
    transaction_ = nullptr;
    waiting_ = 0;
    ++commits_;
  }

  std::uint64_t table_bytes(MDB_dbi table) {
    MDB_stat stat{};
    must(mdb_stat(transaction_, table, &stat));
    return stat.ms_psize * (stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages);
  }

  static Info load_info(const MDB_val& data, std::string& url) {
    const auto* place = static_cast<const char*>(data.mv_data);
    const auto take = [&place](void* into, std::size_t bytes) {
      std::memcpy(into, place, bytes);
      place += bytes;
    };
    std::uint16_t url_bytes = 0;
    take(&url_bytes, sizeof(url_bytes));
    url.assign(place, url_bytes);
    place += url_bytes;
    Info info;
    take(&info.score, sizeof(info.score));
    take(&info, kKnownBytes);
    if (info.crawl_count != 0) {
      take(&info.crawl_seconds, sizeof(info.crawl_seconds));
      take(&info.content_hash, sizeof(info.content_hash));
    }
    return info;
  }

  void put_info(std::uint64_t hash, std::string_view url, const Info& info) {
    text_.clear();
    const auto append = [this](const void* from, std::size_t bytes) {
      text_.append(static_cast<const char*>(from), bytes);
    };
    const auto url_bytes = static_cast<std::uint16_t>(url.size());
    append(&url_bytes, sizeof(url_bytes));
    append(url.data(), url.size());
    append(&info.score, sizeof(info.score));
    append(&info, kKnownBytes);
    if (info.crawl_count != 0) {
      append(&info.crawl_seconds, sizeof(info.crawl_seconds));
      append(&info.content_hash, sizeof(info.content_hash));
    }
    MDB_val key = value_of(&hash, sizeof(hash));
    MDB_val data = value_of(text_.data(), text_.size());
    must(mdb_put(transaction_, infos_, &key, &data, 0));
  }

  Info put_crawled(std::uint64_t hash, const CrawlEvent& event) {
    Info info;
    MDB_val key = value_of(&hash, sizeof(hash));
    MDB_val data{};
    const int code = mdb_get(transaction_, infos_, &key, &data);
    if (code == 0) info = load_info(data, url_);
    if (code != MDB_NOTFOUND) must(code);
    ++info.crawl_count;
    info.crawl_seconds = static_cast<double>(event.time_us) / 1e6;
    info.score = event.score;
    std::memcpy(&info.content_hash, event.content_hash.data(), sizeof(info.content_hash));
    put_info(hash, event.url, info);
    return info;
  }

  /// The index of a page, and whether it is new.
  std::pair<std::uint64_t, bool> index_of(std::uint64_t hash) {
    MDB_val key = value_of(&hash, sizeof(hash));
    MDB_val data = value_of(&page_count_, sizeof(page_count_));
    const int code = mdb_put(transaction_, indexes_, &key, &data, MDB_NOOVERWRITE);
    if (code == MDB_KEYEXIST) return {load_index(data), false};
    must(code);
    return {page_count_++, true};
  }

  void put_links(std::uint64_t page) {
    text_.clear();
    put_varint(other_hosts_.size());
    std::uint64_t last = page;
    for (const auto* links : {&other_hosts_, &same_host_}) {
      for (const std::uint64_t index : *links) {
        const auto step = static_cast<std::int64_t>(index - last);
        put_varint(static_cast<std::uint64_t>(step) << 1 ^ static_cast<std::uint64_t>(step >> 63));
        last = index;
      }
    }
    MDB_val key = value_of(&page, sizeof(page));
    MDB_val data = value_of(text_.data(), text_.size());
    must(mdb_put(transaction_, links_, &key, &data, 0));
  }

  void put_varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) text_ += static_cast<char>(number | 0x80);
    text_ += static_cast<char>(number);
  }
  static std::uint64_t read_varint(const std::uint8_t*& place) {
    std::uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint8_t byte = *place++;
      number |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return number;
    }
  }

  bool is_mapped_;
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi infos_ = 0;
  MDB_dbi indexes_ = 0;
  MDB_dbi links_ = 0;
  std::uint64_t page_count_ = 0;
  std::uint64_t waiting_ = 0;
  std::uint64_t commits_ = 0;
  std::vector<std::uint64_t> same_host_;
  std::vector<std::uint64_t> other_hosts_;
  std::string text_;
  std::string url_;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  std::uint64_t write_map = 0;
  const crawlstore::bench::OwnOption own[] = {{"--writemap", &write_map}};
  return crawlstore::bench::pages_main(
      argc, argv,
      [&](const crawlstore::bench::PagesRunOptions& options) {
        return std::make_unique<crawlstore::bench::LmdbPages>(options, write_map != 0);
      },
      own);
}
