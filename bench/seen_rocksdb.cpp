// SPDX-License-Identifier: Apache-2.0
//
// RocksDB on the URL-seen stream. Tuned: ascending batches are answered by one iterator (see
// seen_lsm.h), then what was absent is written as one sorted file and ingested: no log, no
// memtable, no second copy. Universal compaction on a second thread, LZ4 (it takes most of the 8
// bytes that RocksDB adds to a key), blocks of 16 KiB, no filters (an iterator has no use for
// them), checksums of blocks not verified, no performance counters. Slower at 5 million requests in
// batches of 300,000: write batches without log about 1.6 times, levelled compaction 1.4, MultiGet
// with Bloom filters 1.5, a seek a key 3.5 times. Sweeps through the files are left to the kernel's
// page cache; the block cache is 1/32 of a memory cap.

#include <memory>
#include <string>

#include <fmt/core.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include "seen_batch.h"
#include "seen_lsm.h"

namespace crawlstore::bench {
namespace {

using Bytes = KeyBytes<rocksdb::Slice>;

void must(const rocksdb::Status& status) {
  if (!status.ok()) fail(status.ToString());
}

rocksdb::Options settings_for(const SeenOptions& options) {
  rocksdb::Options settings;
  settings.create_if_missing = true;
  settings.compression = rocksdb::kLZ4Compression;
  settings.compaction_style = rocksdb::kCompactionStyleUniversal;
  settings.max_background_jobs = 2;
  settings.compaction_readahead_size = std::size_t{2} << 20;
  settings.max_open_files = -1;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = std::size_t{16} << 10;
  table.format_version = 5;
  const std::uint64_t memory_bytes =
      options.cap_bytes != 0 ? options.cap_bytes : std::uint64_t{4} << 30;
  table.block_cache = rocksdb::NewLRUCache(memory_bytes / 32);
  settings.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return settings;
}

class RocksStore final : public SortedStore {
 public:
  explicit RocksStore(const SeenOptions& options)
      : path_(options.path), settings_(settings_for(options)) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    must(rocksdb::DestroyDB(path_, settings_));
    rocksdb::DB* opened = nullptr;
    must(rocksdb::DB::Open(settings_, path_, &opened));
    db_.reset(opened);
  }

  [[nodiscard]] std::string name() const override { return "RocksDB"; }
  [[nodiscard]] std::string version() const override { return rocksdb::GetRocksVersionAsString(); }
  [[nodiscard]] std::string tuning() const override {
    return "no log, iterator before an ingested file a batch, universal compaction, LZ4";
  }

  void check_update(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> values,
                    std::span<std::uint8_t> was_there) override {
    rocksdb::ReadOptions reading;
    reading.fill_cache = false;
    reading.verify_checksums = false;
    reading.readahead_size = std::size_t{256} << 10;
    {
      const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(reading));
      mark_present<rocksdb::Slice>(*iterator, keys, was_there);
    }
    ingest_absent(keys, values, was_there);
  }

  std::optional<std::uint64_t> find(std::uint64_t key) override {
    std::string value;
    const rocksdb::Status status = db_->Get({}, Bytes(key).slice(), &value);
    if (status.IsNotFound()) return std::nullopt;
    must(status);
    return parse_value(value);
  }

  void close() override {
    must(db_->Close());
    db_.reset();
  }

 private:
  void ingest_absent(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> values,
                     std::span<const std::uint8_t> was_there) {
    const std::string path = fmt::format("{}/batch_{}.sst", path_, batch_count_++);
    rocksdb::SstFileWriter file(rocksdb::EnvOptions(), settings_);
    must(file.Open(path));
    bool is_empty = true;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (was_there[i] != 0) continue;
      must(file.Put(Bytes(keys[i]).slice(), value_slice<rocksdb::Slice>(values, i)));
      is_empty = false;
    }
    if (is_empty) return;
    must(file.Finish());
    rocksdb::IngestExternalFileOptions ingesting;
    ingesting.move_files = true;
    ingesting.write_global_seqno = false;
    must(db_->IngestExternalFile({path}, ingesting));
  }

  std::string path_;
  rocksdb::Options settings_;
  std::unique_ptr<rocksdb::DB> db_;
  std::uint64_t batch_count_ = 0;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using crawlstore::bench::SeenOptions;
  return crawlstore::bench::sorted_main(argc, argv, [](const SeenOptions& options) {
    return std::make_unique<crawlstore::bench::RocksStore>(options);
  });
}
