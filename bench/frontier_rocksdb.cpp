// SPDX-License-Identifier: Apache-2.0
//
// A frontier in RocksDB as URLFrontier has it: an item is a key that begins with its queue and goes
// on with its place in it; queues stand in a ring in RAM, which turns as they are visited, with
// their times; leases are in RAM, and lost in a crash, so a take writes nothing. A finished item is
// deleted. One write batch a call, with a synced log. Better than there: no table of known URLs,
// and keys of the queue and 13 bytes. Tuned: universal compaction on a second thread, LZ4, blocks
// of 4 KiB, checksums not verified, one iterator a take that seeks the queues in order. Opening
// reads all keys, to know which queues there are.

#include <algorithm>
#include <deque>
#include <unordered_map>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include "frontier_run.h"
#include "queue_keys.h"

namespace crawlstore::bench {
namespace {

void must(const rocksdb::Status& status) {
  if (!status.ok()) fail(status.ToString());
}

rocksdb::Options settings() {
  rocksdb::Options settings;
  settings.create_if_missing = true;
  settings.compression = rocksdb::kLZ4Compression;
  settings.compaction_style = rocksdb::kCompactionStyleUniversal;
  settings.max_background_jobs = 2;
  settings.max_open_files = -1;
  settings.allow_fallocate = false;  // room set aside for the log would count as its file's
  settings.write_buffer_size = std::size_t{64} << 20;
  settings.max_write_buffer_number = 3;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = std::size_t{4} << 10;
  table.format_version = 5;
  table.block_cache = rocksdb::NewLRUCache(std::size_t{256} << 20);
  settings.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return settings;
}

std::string item_key(std::string_view group, std::uint64_t id, double priority) {
  const QueueKey place = queue_key({.page = id, .priority = priority});
  std::string key(group);
  key.push_back('\0');
  return key.append(place.data(), place.size());
}

class RocksFrontier final : public BenchFrontier {
 public:
  explicit RocksFrontier(const std::string& path) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    rocksdb::DB* opened = nullptr;
    must(rocksdb::DB::Open(settings(), path, &opened));
    db_.reset(opened);
    writing_.sync = true;
    reading_.verify_checksums = false;
    read_queues();
  }

  [[nodiscard]] std::string name() const override {
    return "RocksDB " + rocksdb::GetRocksVersionAsString();
  }
  void put(std::span<const WorkItem> items) override {
    rocksdb::WriteBatch batch;
    for (const WorkItem& item : items) {
      must(batch.Put(item_key(item.group, item.id, item.priority),
                     rocksdb::Slice(item.body.data(), item.body.size())));
      add_to_queue(item.group);
    }
    must(db_->Write(writing_, &batch));
  }
  std::vector<WorkTaken> take(std::size_t count, std::uint64_t now_ms) override {
    std::vector<Entry*> chosen;
    chosen.reserve(count);
    for (const std::uint64_t delay_ms : {kDelayMs, kHardDelayMs}) {
      choose(count, now_ms, delay_ms, chosen);
    }
    std::sort(chosen.begin(), chosen.end(),
              [](const Entry* a, const Entry* b) { return a->first < b->first; });
    std::vector<WorkTaken> taken;
    taken.reserve(count);
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(reading_));
    for (Entry* queue : chosen) taken.push_back(take_of(*queue, *iterator));
    return taken;
  }
  void finish(std::span<const std::uint64_t> ids, std::uint64_t /*now_ms*/) override {
    rocksdb::WriteBatch batch;
    for (const std::uint64_t id : ids) {
      const auto found = leases_.find(id);
      if (found == leases_.end()) fail("an item is not leased");
      must(batch.Delete(found->second));
      leases_.erase(found);
    }
    must(db_->Write(writing_, &batch));
  }

 private:
  struct Queue {
    std::uint64_t waiting_count = 0;
    std::uint64_t visited_ms = 0;
    bool is_in_ring = false;
  };
  using Queues = std::unordered_map<std::string, Queue>;
  using Entry = Queues::value_type;

  void read_queues() {
    rocksdb::ReadOptions reading = reading_;
    reading.fill_cache = false;
    reading.readahead_size = std::size_t{2} << 20;
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(reading));
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      const std::string_view key(iterator->key().data(), iterator->key().size());
      add_to_queue(key.substr(0, key.find('\0')));
    }
    must(iterator->status());
  }
  void add_to_queue(std::string_view group) {
    Entry& queue = *queues_.try_emplace(std::string(group)).first;
    ++queue.second.waiting_count;
    if (std::exchange(queue.second.is_in_ring, true)) return;
    ring_.push_back(&queue);
  }
  /// Turns the ring once at most.
  void choose(std::size_t count, std::uint64_t now_ms, std::uint64_t delay_ms,
              std::vector<Entry*>& chosen) {
    for (std::size_t left = ring_.size(); left > 0 && chosen.size() < count; --left) {
      Entry* const entry = ring_.front();
      Queue& queue = entry->second;
      ring_.pop_front();
      if (queue.waiting_count == 0) {
        queue.is_in_ring = false;
        continue;
      }
      ring_.push_back(entry);
      if (queue.visited_ms + delay_ms > now_ms) continue;
      queue.visited_ms = now_ms;
      chosen.push_back(entry);
    }
  }
  /// Takes the first item of a queue that is not leased.
  WorkTaken take_of(Entry& entry, rocksdb::Iterator& iterator) {
    std::string prefix = entry.first;
    prefix.push_back('\0');
    for (iterator.Seek(prefix); iterator.Valid(); iterator.Next()) {
      if (!iterator.key().starts_with(prefix)) break;
      const QueuedPage page = page_of(iterator.key().data() + prefix.size());
      if (!leases_.try_emplace(page.page, iterator.key().ToString()).second) continue;
      --entry.second.waiting_count;
      return {page.page, entry.first, page.priority, iterator.value().ToString()};
    }
    must(iterator.status());
    fail("a queue has fewer items than were put");
  }

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions writing_;
  rocksdb::ReadOptions reading_;
  Queues queues_;
  std::deque<Entry*> ring_;
  std::unordered_map<std::uint64_t, std::string> leases_;  ///< keys by id
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return frontier_main(
      argc, argv, [](const std::string& path) { return std::make_unique<RocksFrontier>(path); });
}
