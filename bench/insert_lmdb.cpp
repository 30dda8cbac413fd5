// SPDX-License-Identifier: Apache-2.0
//
// LMDB, key by key: one put that says whether the key was there, which is faster than a get and a
// put. The tuning is that for the batches of seen_lmdb.cpp (no syncs, no locks, writable map, no
// read-ahead, keys as packed duplicates). There is a transaction each --batch requests, by default
// 100,000.

#include <array>
#include <bit>
#include <cstdio>

#include <fmt/core.h>
#include <lmdb.h>

#include "insert_run.h"

namespace crawlstore::bench {
namespace {

constexpr std::uint64_t kKeysPerGroup = 64;

void must(int code) {
  if (code != 0) fail(mdb_strerror(code));
}

class LmdbStore final : public InsertStore {
 public:
  explicit LmdbStore(const SeenOptions& options)
      : batch_(options.batch != 0 ? options.batch : 100'000),
        shift_(64 - std::countr_zero(std::bit_ceil(
                        (options.stored + options.operations / 4) / kKeysPerGroup + 2))) {
    std::remove(options.path.c_str());
    must(mdb_env_create(&environment_));
    must(mdb_env_set_mapsize(environment_, std::size_t{256} << 30));
    constexpr unsigned kFlags =
        MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOLOCK | MDB_WRITEMAP | MDB_NORDAHEAD | MDB_NOMEMINIT;
    must(mdb_env_open(environment_, options.path.c_str(), kFlags, 0644));
    begin();
    constexpr unsigned kPacked = MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP;
    must(mdb_dbi_open(transaction_, nullptr, kPacked, &table_));
    commit();
    begin();
    must(mdb_cursor_open(transaction_, table_, &cursor_));
  }
  ~LmdbStore() override { close(); }

  [[nodiscard]] std::string name() const override { return "LMDB"; }
  [[nodiscard]] std::string version() const override {
    return fmt::format("{}.{}.{}", MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH);
  }
  [[nodiscard]] std::string tuning() const override {
    return fmt::format("no sync, writable map, packed duplicates, a transaction each {} requests",
                       batch_);
  }
  bool insert(std::uint64_t key) override {
    if (++count_ % batch_ == 0) {
      end();
      begin();
      must(mdb_cursor_open(transaction_, table_, &cursor_));
    }
    std::uint64_t group = key >> shift_;
    MDB_val group_value{sizeof(group), &group};
    MDB_val key_value{sizeof(key), &key};
    const int code = mdb_cursor_put(cursor_, &group_value, &key_value, MDB_NODUPDATA);
    if (code != MDB_KEYEXIST) must(code);
    return code == 0;
  }
  void end() override {
    if (transaction_ == nullptr) return;
    mdb_cursor_close(cursor_);
    commit();
  }
  bool has(std::uint64_t key) override {
    end();
    MDB_txn* reading = nullptr;
    must(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reading));
    must(mdb_cursor_open(reading, table_, &cursor_));
    std::uint64_t group = key >> shift_;
    MDB_val group_value{sizeof(group), &group};
    MDB_val key_value{sizeof(key), &key};
    const int code = mdb_cursor_get(cursor_, &group_value, &key_value, MDB_GET_BOTH);
    mdb_cursor_close(cursor_);
    mdb_txn_abort(reading);
    if (code != MDB_NOTFOUND) must(code);
    return code == 0;
  }
  void close() override {
    if (environment_ == nullptr) return;
    end();
    mdb_env_close(environment_);
    environment_ = nullptr;
  }

 private:
  void begin() { must(mdb_txn_begin(environment_, nullptr, 0, &transaction_)); }
  void commit() {
    MDB_txn* const ended = transaction_;
    transaction_ = nullptr;
    must(mdb_txn_commit(ended));
  }

  std::uint64_t batch_;
  int shift_;
  std::uint64_t count_ = 0;
  MDB_env* environment_ = nullptr;
  MDB_dbi table_ = 0;
  MDB_txn* transaction_ = nullptr;
  MDB_cursor* cursor_ = nullptr;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return insert_main(
      argc, argv, [](const SeenOptions& options) { return std::make_unique<LmdbStore>(options); });
}
