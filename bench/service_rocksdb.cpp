// SPDX-License-Identifier: Apache-2.0
//
// URLFrontier's scheme in RocksDB. Three tables: URLs by crawl, queue and URL, with their key in
// the table of queues, or nothing if they are completed; queues, by crawl, queue, time and URL,
// with the message that is given out; and the times at which URLs came. Queues stand in a ring in
// RAM, which turns as they are visited, with their counts; so do leases, lost when the process
// ends, so that a take writes nothing. Counts are written at a clean end, and read and removed at
// the next begin; without them all URLs are read.
//
// Like the reference service: universal compaction, Bloom filters of 10 bits, a batch for each
// update without a sync, one lookup and one batch for the discovered URLs of a message. Better than
// that: no locks, no second lookup under them, and one iterator a take. Tuned: buffers of 64 MiB a
// table, a cache of 64 MiB, LZ4, checksums not verified, two threads of background work.

#include <array>
#include <ctime>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include "service_run.h"

namespace crawlstore::bench {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{64} << 20;
constexpr std::string_view kCrawl = "DEFAULT";
constexpr std::size_t kTimeDigits = 10;

void must(const rocksdb::Status& status) {
  if (!status.ok()) fail(status.ToString());
}

std::uint64_t now_s() {
  return static_cast<std::uint64_t>(std::time(nullptr));
}

std::string prefix_of(std::string_view queue) {
  return std::string(kCrawl) + '_' + std::string(queue) + '_';
}

std::string queue_key(std::string_view queue, std::uint64_t time_s, std::string_view url) {
  const std::string time = std::to_string(time_s);
  std::string key = prefix_of(queue);
  key.append(kTimeDigits - std::min(kTimeDigits, time.size()), '0');
  return key.append(time).append(1, '_').append(url);
}

/// A field of a message: its tag, its length, its bytes.
void add_field(std::string& message, char number, std::string_view text) {
  message.push_back(static_cast<char>(number << 3 | 2));
  std::size_t length = text.size();
  for (; length > 127; length >>= 7) message.push_back(static_cast<char>(length | 128));
  message.push_back(static_cast<char>(length));
  message.append(text);
}

/// The message URLInfo of a URL.
std::string info_of(const ServiceUrl& url) {
  std::string message;
  add_field(message, 1, url.url);
  add_field(message, 2, url.queue);
  add_field(message, 4, kCrawl);
  return message;
}

/// The URL of a message.
std::string url_of(const rocksdb::Slice& message) {
  std::size_t length = 0;
  std::size_t at = 1;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(message[at++]);
    length |= static_cast<std::size_t>(byte & 127) << shift;
    if (byte < 128) break;
  }
  return {message.data() + at, length};
}

rocksdb::ColumnFamilyOptions table_settings() {
  rocksdb::ColumnFamilyOptions settings;
  settings.OptimizeUniversalStyleCompaction(kMemoryBytes);
  settings.compression = rocksdb::kLZ4Compression;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_cache = rocksdb::NewLRUCache(kMemoryBytes);
  settings.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return settings;
}

class RocksService final : public BenchService {
 public:
  explicit RocksService(const std::string& path) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    rocksdb::DBOptions settings;
    settings.create_if_missing = true;
    settings.create_missing_column_families = true;
    settings.max_background_jobs = 2;
    settings.allow_fallocate = false;  // room set aside for the log would count as its file's
    std::vector<rocksdb::ColumnFamilyDescriptor> tables;
    for (const char* name : {"default", "queues", "queueInfos", "creationDates"}) {
      tables.emplace_back(name, table_settings());
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* opened = nullptr;
    must(rocksdb::DB::Open(settings, path, tables, &handles, &opened));
    db_.reset(opened);
    std::copy_n(handles.begin(), tables_.size(), tables_.begin());
    reading_.verify_checksums = false;
    if (!read_counts()) read_urls();
  }

  [[nodiscard]] std::string name() const override {
    return "RocksDB " + rocksdb::GetRocksVersionAsString();
  }
  std::size_t discover(std::span<const ServiceUrl> urls) override {
    std::vector<std::string> keys;
    keys.reserve(urls.size());
    for (const ServiceUrl& url : urls) keys.push_back(prefix_of(url.queue) + url.url);
    const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<rocksdb::Status> found(keys.size());
    db_->MultiGet(reading_, urls_table(), keys.size(), slices.data(), values.data(), found.data());
    std::unordered_set<std::string_view> added;
    rocksdb::WriteBatch batch;
    const std::uint64_t now = now_s();
    for (std::size_t i = 0; i < urls.size(); ++i) {
      if (!found[i].IsNotFound()) must(found[i]);
      if (found[i].ok() || !added.insert(keys[i]).second) continue;
      wait(urls[i], keys[i], now, batch);
      add_time(keys[i], now, batch);
      ++queue_of(urls[i].queue).active_count;
    }
    if (!added.empty()) must(db_->Write(writing_, &batch));
    return added.size();
  }
  void update(std::span<const ServiceUrl> urls) override {
    for (const ServiceUrl& url : urls) update(url);
  }
  std::vector<ServiceUrl> take(std::size_t queues_max, std::size_t per_queue) override {
    std::vector<ServiceUrl> taken;
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(reading_, queues_table()));
    std::size_t queue_count = 0;
    const std::uint64_t now = now_s();
    for (std::size_t left = ring_.size(); left > 0 && queue_count < queues_max; --left) {
      Entry* const entry = ring_.front();
      ring_.pop_front();
      ring_.push_back(entry);
      Leases& leases = entry->second.leases;
      std::erase_if(leases, [now](const auto& lease) { return lease.second <= now; });
      if (leases.size() >= per_queue) continue;
      const std::size_t before = taken.size();
      take_of(*entry, *iterator, now, {taken, before + per_queue});
      if (taken.size() > before) ++queue_count;
    }
    return taken;
  }
  void commit() override { must(db_->SyncWAL()); }
  void close() override {
    for (const auto& [queue, state] : queues_) {
      const std::array<std::uint64_t, 2> counts = {state.active_count, state.completed_count};
      must(db_->Put(writing_, counts_table(), prefix_of(queue),
                    // tidy: raw bytes, as a value of RocksDB
                    {reinterpret_cast<const char*>(counts.data()), sizeof(counts)}));
    }
    must(db_->SyncWAL());
    for (rocksdb::ColumnFamilyHandle* table : tables_) {
      must(db_->DestroyColumnFamilyHandle(table));
    }
    must(db_->Close());
  }

 private:
  using Leases = std::unordered_map<std::string, std::uint64_t>;  ///< their ends, by URLs
  struct Queue {
    std::uint64_t active_count = 0;
    std::uint64_t completed_count = 0;
    Leases leases;
  };
  using Queues = std::unordered_map<std::string, Queue>;
  using Entry = Queues::value_type;

  [[nodiscard]] rocksdb::ColumnFamilyHandle* urls_table() const { return tables_[0]; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* queues_table() const { return tables_[1]; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* counts_table() const { return tables_[2]; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* times_table() const { return tables_[3]; }

  Queue& queue_of(std::string_view name) {
    const auto [entry, is_new] = queues_.try_emplace(std::string(name));
    if (is_new) ring_.push_back(&*entry);
    return entry->second;
  }
  /// Adds a URL to its queue.
  void wait(const ServiceUrl& url, const std::string& key, std::uint64_t time_s,
            rocksdb::WriteBatch& batch) {
    const std::string place = queue_key(url.queue, time_s, url.url);
    must(batch.Put(queues_table(), place, info_of(url)));
    must(batch.Put(urls_table(), key, place));
  }
  void add_time(const std::string& key, std::uint64_t time_s, rocksdb::WriteBatch& batch) {
    const std::uint64_t big_endian = __builtin_bswap64(time_s);
    // tidy: raw bytes, as a value of RocksDB
    const char* const bytes = reinterpret_cast<const char*>(&big_endian);
    must(batch.Put(times_table(), key, {bytes, sizeof(big_endian)}));
  }
  void update(const ServiceUrl& url) {
    const std::string key = prefix_of(url.queue) + url.url;
    Queue& queue = queue_of(url.queue);
    rocksdb::WriteBatch batch;
    std::string place;
    const rocksdb::Status found = db_->Get(reading_, urls_table(), key, &place);
    if (found.IsNotFound()) {
      add_time(key, now_s(), batch);
    } else {
      must(found);
      if (place.empty()) --queue.completed_count;
      if (!place.empty()) {
        must(batch.Delete(queues_table(), place));
        --queue.active_count;
      }
      queue.leases.erase(url.url);
    }
    if (url.refetch_s == 0) {
      must(batch.Put(urls_table(), key, rocksdb::Slice()));
      ++queue.completed_count;
    } else {
      wait(url, key, url.refetch_s, batch);
      ++queue.active_count;
    }
    must(db_->Write(writing_, &batch));
  }
  struct Taking {
    std::vector<ServiceUrl>& urls;
    std::size_t size_max;
  };
  /// Takes the first URLs of a queue that are due and not leased.
  void take_of(Entry& entry, rocksdb::Iterator& iterator, std::uint64_t now,
               const Taking& taken) const {
    const std::string prefix = prefix_of(entry.first);
    const std::string end = queue_key(entry.first, now + 1, {});
    for (iterator.Seek(prefix); iterator.Valid(); iterator.Next()) {
      if (taken.urls.size() == taken.size_max || iterator.key().compare(end) >= 0) return;
      std::string url = url_of(iterator.value());
      if (!entry.second.leases.try_emplace(url, now + kServiceLeaseS).second) continue;
      taken.urls.push_back({entry.first, std::move(url)});
    }
    must(iterator.status());
  }
  /// The queue of a key.
  static std::string_view queue_in(const rocksdb::Slice& key) {
    const std::string_view rest(key.data() + kCrawl.size() + 1, key.size() - kCrawl.size() - 1);
    return rest.substr(0, rest.find('_'));
  }
  /// Returns whether there are counts of a clean end.
  bool read_counts() {
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(reading_, counts_table()));
    std::string last;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      last = iterator->key().ToString();
      std::array<std::uint64_t, 2> counts{};
      std::copy_n(iterator->value().data(), sizeof(counts),
                  // tidy: raw bytes, of a value of RocksDB
                  reinterpret_cast<char*>(counts.data()));
      Queue& queue = queue_of(queue_in(iterator->key()));
      queue.active_count = counts[0];
      queue.completed_count = counts[1];
    }
    must(iterator->status());
    if (last.empty()) return false;
    must(db_->DeleteRange(writing_, counts_table(), rocksdb::Slice(), last));
    must(db_->Delete(writing_, counts_table(), last));
    return true;
  }
  void read_urls() {
    rocksdb::ReadOptions reading = reading_;
    reading.fill_cache = false;
    reading.readahead_size = std::size_t{2} << 20;
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(reading, urls_table()));
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      Queue& queue = queue_of(queue_in(iterator->key()));
      ++(iterator->value().empty() ? queue.completed_count : queue.active_count);
    }
    must(iterator->status());
  }

  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, 4> tables_{};
  rocksdb::WriteOptions writing_;
  rocksdb::ReadOptions reading_;
  Queues queues_;
  std::deque<Entry*> ring_;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return service_main(argc, argv,
                      [](const std::string& path) { return std::make_unique<RocksService>(path); });
}
