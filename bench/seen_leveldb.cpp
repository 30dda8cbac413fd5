// SPDX-License-Identifier: Apache-2.0
//
// LevelDB on the URL-seen stream. Tuned: ascending batches are answered by one iterator (see
// seen_lsm.h), then what was absent goes in by WriteBatches of 4096 keys, no syncs. LevelDB cannot
// do without its log. Files of 64 MiB, blocks of 16 KiB, no compression (slower, keys are hashes),
// no filters (an iterator has no use for them), checksums of blocks not verified. Under a memory
// cap a memtable is 1/8 of it (there can be two) and the block cache 1/32: what sweeps through the
// files is left to the kernel's page cache.

#include <algorithm>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/options.h>
#include <leveldb/write_batch.h>

#include "seen_batch.h"
#include "seen_lsm.h"

namespace crawlstore::bench {
namespace {

using Bytes = KeyBytes<leveldb::Slice>;

constexpr std::size_t kKeysPerWrite = 4096;

void must(const leveldb::Status& status) {
  if (!status.ok()) fail(status.ToString());
}

class LevelStore final : public SortedStore {
 public:
  explicit LevelStore(const SeenOptions& options) {
    const std::uint64_t memory_bytes =
        options.cap_bytes != 0 ? options.cap_bytes : std::uint64_t{4} << 30;
    cache_.reset(leveldb::NewLRUCache(memory_bytes / 32));
    settings_.create_if_missing = true;
    settings_.compression = leveldb::kNoCompression;
    settings_.write_buffer_size = std::min<std::uint64_t>(memory_bytes / 8, 256U << 20);
    settings_.max_file_size = std::size_t{64} << 20;
    settings_.block_size = std::size_t{16} << 10;
    settings_.block_cache = cache_.get();
    must(leveldb::DestroyDB(options.path, settings_));
    leveldb::DB* opened = nullptr;
    must(leveldb::DB::Open(settings_, options.path, &opened));
    db_.reset(opened);
  }

  [[nodiscard]] std::string name() const override { return "LevelDB"; }
  [[nodiscard]] std::string version() const override {
    return fmt::format("{}.{}", leveldb::kMajorVersion, leveldb::kMinorVersion);
  }
  [[nodiscard]] std::string tuning() const override {
    return fmt::format("no sync, memtables of {} MiB, files of 64 MiB, iterator before writes",
                       settings_.write_buffer_size >> 20);
  }

  void check_update(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> values,
                    std::span<std::uint8_t> was_there) override {
    leveldb::ReadOptions reading;
    reading.fill_cache = false;
    {
      const std::unique_ptr<leveldb::Iterator> iterator(db_->NewIterator(reading));
      mark_present<leveldb::Slice>(*iterator, keys, was_there);
    }
    leveldb::WriteBatch batch;
    std::size_t count = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (was_there[i] != 0) continue;
      batch.Put(Bytes(keys[i]).slice(), value_slice<leveldb::Slice>(values, i));
      if (++count % kKeysPerWrite != 0) continue;
      must(db_->Write({}, &batch));
      batch.Clear();
    }
    must(db_->Write({}, &batch));
  }

  std::optional<std::uint64_t> find(std::uint64_t key) override {
    std::string value;
    const leveldb::Status status = db_->Get({}, Bytes(key).slice(), &value);
    if (status.IsNotFound()) return std::nullopt;
    must(status);
    return parse_value(value);
  }

  void close() override { db_.reset(); }

 private:
  std::unique_ptr<leveldb::Cache> cache_;
  leveldb::Options settings_;
  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using crawlstore::bench::SeenOptions;
  return crawlstore::bench::sorted_main(argc, argv, [](const SeenOptions& options) {
    return std::make_unique<crawlstore::bench::LevelStore>(options);
  });
}
