// SPDX-License-Identifier: Apache-2.0
//
// LMDB on the URL-seen stream. Tuned: no syncs, no locks, writable map, no read-ahead, and a
// transaction each 2000 keys of the ascending batch: what it frees is used again two transactions
// later, so the file has less than half the size that a transaction a batch leaves.
//
// --packed 1 (default): keys are fixed-size duplicates ("MDB_DUPFIXED") in groups of about 64, by
// their leading bits; a key, its value behind it, takes 8 or 16 bytes without the 10 of a node. The
// number of groups comes from the number of requests. --packed 0: the plain table with
// MDB_INTEGERKEY. Packed files are half as large; where only the packed one fits into a memory cap
// it was about 5 times as fast, where both fit 1.2 times.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <lmdb.h>

#include "seen_batch.h"

namespace crawlstore::bench {
namespace {

constexpr std::size_t kKeysPerTransaction = 2000;
constexpr std::uint64_t kKeysPerGroup = 64;

void must(int code) {
  if (code != 0) fail(mdb_strerror(code));
}

/// Orders duplicates by their key alone.
int compare_keys(const MDB_val* a, const MDB_val* b) {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  std::memcpy(&left, a->mv_data, sizeof(left));
  std::memcpy(&right, b->mv_data, sizeof(right));
  return left < right ? -1 : static_cast<int>(left > right);
}

class LmdbStore final : public SortedStore {
 public:
  LmdbStore(const SeenOptions& options, bool is_packed)
      : is_packed_(is_packed), item_bytes_(options.has_aux ? 16 : 8) {
    const auto groups = std::bit_ceil(options.operations / 4 / kKeysPerGroup + 2);
    group_shift_ = 64 - std::countr_zero(groups);
    std::remove(options.path.c_str());
    must(mdb_env_create(&environment_));
    must(mdb_env_set_mapsize(environment_, std::size_t{256} << 30));
    constexpr unsigned kFlags =
        MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOLOCK | MDB_WRITEMAP | MDB_NORDAHEAD | MDB_NOMEMINIT;
    must(mdb_env_open(environment_, options.path.c_str(), kFlags, 0644));
    MDB_txn* transaction = nullptr;
    must(mdb_txn_begin(environment_, nullptr, 0, &transaction));
    constexpr unsigned kPacked = MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP;
    must(mdb_dbi_open(transaction, nullptr, is_packed ? kPacked : unsigned{MDB_INTEGERKEY},
                      &table_));
    if (is_packed && options.has_aux) must(mdb_set_dupsort(transaction, table_, compare_keys));
    must(mdb_txn_commit(transaction));
  }
  ~LmdbStore() override { close(); }

  [[nodiscard]] std::string name() const override { return "LMDB"; }
  [[nodiscard]] std::string version() const override {
    return fmt::format("{}.{}.{}", MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH);
  }
  [[nodiscard]] std::string tuning() const override {
    return fmt::format("no sync, writable map, a transaction each {} keys, {}", kKeysPerTransaction,
                       is_packed_ ? "keys as packed duplicates" : "a plain table");
  }

  void check_update(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> values,
                    std::span<std::uint8_t> was_there) override {
    for (std::size_t begin = 0; begin < keys.size(); begin += kKeysPerTransaction) {
      MDB_txn* transaction = nullptr;
      must(mdb_txn_begin(environment_, nullptr, 0, &transaction));
      MDB_cursor* cursor = nullptr;
      must(mdb_cursor_open(transaction, table_, &cursor));
      const std::size_t end = std::min(begin + kKeysPerTransaction, keys.size());
      for (std::size_t i = begin; i < end; ++i) {
        Entry entry(*this, keys[i], values.empty() ? 0 : values[i]);
        const int code = mdb_cursor_put(cursor, &entry.key, &entry.data,
                                        is_packed_ ? MDB_NODUPDATA : MDB_NOOVERWRITE);
        if (code != MDB_KEYEXIST) must(code);
        was_there[i] = code == MDB_KEYEXIST ? 1 : 0;
      }
      mdb_cursor_close(cursor);
      must(mdb_txn_commit(transaction));
    }
  }

  std::optional<std::uint64_t> find(std::uint64_t key) override {
    MDB_txn* transaction = nullptr;
    must(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &transaction));
    MDB_cursor* cursor = nullptr;
    must(mdb_cursor_open(transaction, table_, &cursor));
    Entry entry(*this, key, 0);
    const int code = mdb_cursor_get(cursor, &entry.key, &entry.data,
                                    is_packed_ ? MDB_GET_BOTH_RANGE : MDB_SET_KEY);
    std::array<std::uint64_t, 2> there{key, 0};
    if (code == 0) {
      std::memcpy(&there[is_packed_ ? 0 : 1], entry.data.mv_data, entry.data.mv_size);
    }
    mdb_cursor_close(cursor);
    mdb_txn_abort(transaction);
    if (code != MDB_NOTFOUND) must(code);
    return code == 0 && there[0] == key ? std::optional(there[1]) : std::nullopt;
  }

  void close() override {
    if (environment_ != nullptr) mdb_env_close(environment_);
    environment_ = nullptr;
  }

 private:
  /// A key with its value, as the layout wants it: group -> (key, value), or key -> value.
  struct Entry {
    std::uint64_t group;
    std::array<std::uint64_t, 2> item;
    MDB_val key{};
    MDB_val data{};

    Entry(const LmdbStore& store, std::uint64_t bits, std::uint64_t value)
        : group(bits >> store.group_shift_), item{bits, value} {
      if (store.is_packed_) {
        key = {sizeof(group), &group};
        data = {store.item_bytes_, item.data()};
      } else {
        key = {sizeof(bits), item.data()};
        data = {store.item_bytes_ - sizeof(bits), &item[1]};
      }
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
  };

  bool is_packed_;
  std::size_t item_bytes_;
  int group_shift_ = 0;
  MDB_env* environment_ = nullptr;
  MDB_dbi table_ = 0;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using crawlstore::bench::SeenOptions;
  std::uint64_t packed = 1;
  const crawlstore::bench::OwnOption own[] = {{"--packed", &packed}};
  const auto open = [&packed](const SeenOptions& options) {
    return std::make_unique<crawlstore::bench::LmdbStore>(options, packed != 0);
  };
  return crawlstore::bench::sorted_main(argc, argv, open, own);
}
