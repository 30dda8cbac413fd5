// SPDX-License-Identifier: Apache-2.0
//
// A queue as keys in RocksDB. Tuned: no log, batches in order, small memtables, universal
// compaction on a second thread, no compression, checksums not verified. Pages that leave are read
// by an iterator that begins where the last one ended, or at what was inserted before that, and
// deleted as one range: a deletion each took 1.4 times as long. Nothing is flushed at the end, so a
// crash may lose all that is in memtables.

#include <algorithm>
#include <memory>

#include <fmt/core.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include "queue_keys.h"
#include "queue_run.h"

namespace crawlstore::bench {
namespace {

void must(const rocksdb::Status& status) {
  if (!status.ok()) fail(status.ToString());
}

rocksdb::Slice slice_of(const QueueKey& key) {
  return rocksdb::Slice(key.data(), key.size());
}

rocksdb::Options settings_for(const QueueOptions& options) {
  const std::uint64_t memory_bytes =
      options.memory_bytes != 0 ? options.memory_bytes : std::uint64_t{1} << 30;
  rocksdb::Options settings;
  settings.create_if_missing = true;
  settings.compression = rocksdb::kNoCompression;
  settings.compaction_style = rocksdb::kCompactionStyleUniversal;
  settings.max_background_jobs = 2;
  settings.max_open_files = -1;
  settings.write_buffer_size = std::min(memory_bytes / 8, std::uint64_t{32} << 20);
  settings.max_write_buffer_number = 3;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = std::size_t{16} << 10;
  table.format_version = 5;
  table.block_cache = rocksdb::NewLRUCache(memory_bytes / 8);
  settings.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return settings;
}

class RocksQueue final : public BenchQueue {
 public:
  explicit RocksQueue(const QueueOptions& options) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    rocksdb::DB* opened = nullptr;
    must(rocksdb::DB::Open(settings_for(options), options.path, &opened));
    db_.reset(opened);
    writing_.disableWAL = true;
  }

  [[nodiscard]] std::string name() const override {
    return "RocksDB " + rocksdb::GetRocksVersionAsString();
  }
  void insert(std::span<const QueuedPage> pages) override {
    rocksdb::WriteBatch batch;
    const auto keys = sorted_keys(pages);
    if (slice_of(keys.front()).compare(slice_of(first_)) < 0) first_ = keys.front();
    for (const QueueKey& key : keys) must(batch.Put(slice_of(key), {}));
    must(db_->Write(writing_, &batch));
  }
  std::vector<QueuedPage> take(std::size_t count) override {
    std::vector<QueuedPage> taken;
    taken.reserve(count);
    rocksdb::ReadOptions reading;
    reading.verify_checksums = false;
    const rocksdb::Slice lower = slice_of(first_);
    reading.iterate_lower_bound = &lower;
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(reading));
    for (iterator->SeekToFirst(); taken.size() < count && iterator->Valid(); iterator->Next()) {
      taken.push_back(page_of(iterator->key().data()));
    }
    must(iterator->status());
    if (taken.empty()) return taken;
    const QueueKey first = queue_key(taken.front());
    const QueueKey last = queue_key(taken.back());
    std::string end(last.data(), last.size());
    end.push_back('\0');
    must(db_->DeleteRange(writing_, db_->DefaultColumnFamily(), slice_of(first), end));
    first_ = last;
    return taken;
  }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions writing_;
  QueueKey first_{};  ///< no key is before it
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return queue_main(argc, argv, [](const QueueOptions& options) {
    return std::make_unique<RocksQueue>(options);
  });
}
