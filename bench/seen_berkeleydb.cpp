// SPDX-License-Identifier: Apache-2.0
//
// Berkeley DB on the URL-seen stream. Tuned: a B-tree without environment, log, locks and
// transactions, pages of 16 KiB. While the tree has at most 16 keys for each key of a batch, the
// batch is answered in slices of 4096 keys: bulk reads ("DB_MULTIPLE_KEY") of their range tell
// which are there, then the others are inserted by one bulk put. That is up to twice as fast as
// DB_NOOVERWRITE key by key, which a larger tree gets. Its compression (set_bt_compress) was 4
// times slower.
//
// Under a memory cap the cache is 1/16 of it, because the kernel's page cache serves the sweep of
// an ascending batch better; the file is read without read-ahead, because its leaves lie in no
// order. Keys are stored with the first byte highest, so that bytes ascend as the keys do.

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <db.h>
#include <fcntl.h>
#include <fmt/core.h>

#include "seen_batch.h"

namespace crawlstore::bench {
namespace {

constexpr std::size_t kSlice = 4096;
constexpr std::uint64_t kScannedKeysPerKey = 16;
constexpr u_int32_t kPageBytes = 16384;
constexpr std::size_t kBulkBytes = std::size_t{1} << 20;

static_assert(std::endian::native == std::endian::little);
std::uint64_t swapped(std::uint64_t key) {
  return __builtin_bswap64(key);
}

void must(int code) {
  if (code != 0) fail(db_strerror(code));
}

DBT room(void* place, std::size_t bytes) {
  DBT item{};
  item.data = place;
  item.size = static_cast<u_int32_t>(bytes);
  item.ulen = static_cast<u_int32_t>(bytes);
  item.flags = DB_DBT_USERMEM;
  return item;
}

class BerkeleyStore final : public SortedStore {
 public:
  explicit BerkeleyStore(const SeenOptions& options)
      : value_bytes_(options.has_aux ? sizeof(std::uint64_t) : 0),
        cache_bytes_(options.cap_bytes != 0 ? options.cap_bytes / 16 : std::uint64_t{4} << 30),
        bulk_(kBulkBytes) {
    std::remove(options.path.c_str());
    must(db_create(&db_, nullptr, 0));
    must(db_->set_pagesize(db_, kPageBytes));
    must(db_->set_cachesize(db_, static_cast<u_int32_t>(cache_bytes_ >> 30),
                            static_cast<u_int32_t>(cache_bytes_ & ((1U << 30) - 1)), 1));
    must(db_->open(db_, nullptr, options.path.c_str(), nullptr, DB_BTREE, DB_CREATE, 0644));
    int file = -1;
    must(db_->fd(db_, &file));
    if (options.cap_bytes != 0) must(posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM));
  }
  ~BerkeleyStore() override {
    if (db_ != nullptr) db_->close(db_, 0);
  }

  [[nodiscard]] std::string name() const override { return "Berkeley DB"; }
  [[nodiscard]] std::string version() const override {
    return fmt::format("{}.{}.{}", DB_VERSION_MAJOR, DB_VERSION_MINOR, DB_VERSION_PATCH);
  }
  [[nodiscard]] std::string tuning() const override {
    return fmt::format("B-tree, no log, {} MiB of cache, bulk reads before bulk inserts",
                       cache_bytes_ >> 20);
  }

  void check_update(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> values,
                    std::span<std::uint8_t> was_there) override {
    const bool is_dense = key_count_ / keys.size() <= kScannedKeysPerKey;
    for (std::size_t begin = 0; begin < keys.size(); begin += kSlice) {
      const std::size_t count = std::min(kSlice, keys.size() - begin);
      const Slice slice{keys.subspan(begin, count),
                        values.empty() ? values : values.subspan(begin, count),
                        was_there.subspan(begin, count)};
      if (is_dense) {
        scan(slice);
        insert_absent(slice);
      } else {
        put_each(slice);
      }
      key_count_ +=
          static_cast<std::uint64_t>(std::count(slice.was_there.begin(), slice.was_there.end(), 0));
    }
  }

  std::optional<std::uint64_t> find(std::uint64_t key) override {
    std::uint64_t bytes = swapped(key);
    std::uint64_t value = 0;
    DBT key_item = room(&bytes, sizeof(bytes));
    DBT value_item = room(&value, sizeof(value));
    const int code = db_->get(db_, nullptr, &key_item, &value_item, 0);
    if (code == DB_NOTFOUND) return std::nullopt;
    must(code);
    return value;
  }

  void close() override {
    DB* const db = std::exchange(db_, nullptr);
    must(db->close(db, 0));
  }

 private:
  struct Slice {
    std::span<const std::uint64_t> keys;
    std::span<const std::uint64_t> values;
    std::span<std::uint8_t> was_there;
    [[nodiscard]] std::uint64_t value(std::size_t i) const {
      return values.empty() ? 0 : values[i];
    }
  };

  /// Reads from the slice's first key on, a buffer at a time, until its last key is passed.
  void scan(const Slice& slice) {
    DBC* cursor = nullptr;
    must(db_->cursor(db_, nullptr, &cursor, 0));
    std::uint64_t first = swapped(slice.keys.front());
    DBT key_item = room(&first, sizeof(first));
    DBT many = room(bulk_.data(), bulk_.size());
    std::size_t i = 0;
    int code = cursor->get(cursor, &key_item, &many, DB_SET_RANGE | DB_MULTIPLE_KEY);
    while (code == 0 && i < slice.keys.size()) {
      mark(slice, many, i);
      if (i < slice.keys.size()) {
        code = cursor->get(cursor, &key_item, &many, DB_NEXT | DB_MULTIPLE_KEY);
      }
    }
    must(cursor->close(cursor));
    if (code != DB_NOTFOUND) must(code);
  }

  /// Advances `i` over the keys of the slice that a buffer of keys decides.
  static void mark(const Slice& slice, DBT& many, std::size_t& i) {
    void* place = nullptr;
    DB_MULTIPLE_INIT(place, &many);
    while (i < slice.keys.size()) {
      void* key = nullptr;
      [[maybe_unused]] void* value = nullptr;
      std::size_t key_bytes = 0;
      [[maybe_unused]] std::size_t value_bytes = 0;
      DB_MULTIPLE_KEY_NEXT(place, &many, key, key_bytes, value, value_bytes);
      if (place == nullptr) return;
      if (key_bytes != sizeof(std::uint64_t)) fail("a key of another length");
      std::uint64_t found = 0;
      std::memcpy(&found, key, sizeof(found));
      found = swapped(found);
      while (i < slice.keys.size() && slice.keys[i] < found) ++i;
      if (i < slice.keys.size() && slice.keys[i] == found) slice.was_there[i++] = 1;
    }
  }

  void insert_absent(const Slice& slice) {
    DBT many = room(bulk_.data(), bulk_.size());
    many.flags |= DB_DBT_BULK;
    void* place = nullptr;
    DB_MULTIPLE_WRITE_INIT(place, &many);
    bool is_empty = true;
    for (std::size_t i = 0; i < slice.keys.size(); ++i) {
      if (slice.was_there[i] != 0) continue;
      const std::uint64_t key = swapped(slice.keys[i]);
      const std::uint64_t value = slice.value(i);
      DB_MULTIPLE_KEY_WRITE_NEXT(place, &many, &key, sizeof(key), &value, value_bytes_);
      is_empty = false;
    }
    DBT unused{};
    if (!is_empty) must(db_->put(db_, nullptr, &many, &unused, DB_MULTIPLE_KEY));
  }

  void put_each(const Slice& slice) {
    for (std::size_t i = 0; i < slice.keys.size(); ++i) {
      std::uint64_t key = swapped(slice.keys[i]);
      std::uint64_t value = slice.value(i);
      DBT key_item = room(&key, sizeof(key));
      DBT value_item = room(&value, value_bytes_);
      const int code = db_->put(db_, nullptr, &key_item, &value_item, DB_NOOVERWRITE);
      if (code != DB_KEYEXIST) must(code);
      slice.was_there[i] = code == DB_KEYEXIST ? 1 : 0;
    }
  }

  std::size_t value_bytes_;
  std::uint64_t cache_bytes_;
  std::uint64_t key_count_ = 0;
  std::vector<char> bulk_;
  DB* db_ = nullptr;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using crawlstore::bench::SeenOptions;
  return crawlstore::bench::sorted_main(argc, argv, [](const SeenOptions& options) {
    return std::make_unique<crawlstore::bench::BerkeleyStore>(options);
  });
}
