// SPDX-License-Identifier: Apache-2.0
//
// RocksDB, key by key: get, then put what is absent. No log; full Bloom filters of 10 bits a key,
// so that most absent keys are found absent in memory; blocks of 4 KiB, checksums of blocks not
// verified, no performance counters; memtables of 32 MiB under a cap, else of 128. The block cache
// is a quarter of the cap, or 2 GiB, and holds filters and indexes under a cap.

#include <fmt/core.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include "insert_run.h"
#include "seen_lsm.h"

namespace crawlstore::bench {
namespace {

using Bytes = KeyBytes<rocksdb::Slice>;

void must(const rocksdb::Status& status) {
  if (!status.ok()) fail(status.ToString());
}

rocksdb::Options settings_for(const SeenOptions& options) {
  const bool is_capped = options.cap_bytes != 0;
  rocksdb::Options settings;
  settings.create_if_missing = true;
  settings.compression = rocksdb::kNoCompression;
  settings.max_background_jobs = 2;
  settings.write_buffer_size = std::size_t{is_capped ? 32U : 128U} << 20;
  settings.max_open_files = -1;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  table.format_version = 5;
  table.cache_index_and_filter_blocks = is_capped;
  table.pin_l0_filter_and_index_blocks_in_cache = is_capped;
  table.block_cache =
      rocksdb::NewLRUCache(is_capped ? options.cap_bytes / 4 : std::uint64_t{2} << 30);
  settings.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return settings;
}

class RocksStore final : public InsertStore {
 public:
  explicit RocksStore(const SeenOptions& options) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    const rocksdb::Options settings = settings_for(options);
    must(rocksdb::DestroyDB(options.path, settings));
    rocksdb::DB* opened = nullptr;
    must(rocksdb::DB::Open(settings, options.path, &opened));
    db_.reset(opened);
    writing_.disableWAL = true;
    reading_.verify_checksums = false;
  }

  [[nodiscard]] std::string name() const override { return "RocksDB"; }
  [[nodiscard]] std::string version() const override { return rocksdb::GetRocksVersionAsString(); }
  [[nodiscard]] std::string tuning() const override {
    return "get, then put; no log, Bloom filters of 10 bits";
  }
  bool insert(std::uint64_t key) override {
    if (has(key)) return false;
    must(db_->Put(writing_, Bytes(key).slice(), rocksdb::Slice()));
    return true;
  }
  bool has(std::uint64_t key) override {
    found_.Reset();
    const rocksdb::Status status =
        db_->Get(reading_, db_->DefaultColumnFamily(), Bytes(key).slice(), &found_);
    if (!status.IsNotFound()) must(status);
    return status.ok();
  }
  void close() override {
    found_.Reset();
    must(db_->Flush({}));
    must(db_->Close());
    db_.reset();
  }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions writing_;
  rocksdb::ReadOptions reading_;
  rocksdb::PinnableSlice found_;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return insert_main(
      argc, argv, [](const SeenOptions& options) { return std::make_unique<RocksStore>(options); });
}
