// SPDX-License-Identifier: Apache-2.0
//
// A queue as a tree of keys in LMDB. Tuned as in seen_lmdb.cpp: no syncs, no locks, writable map,
// no read-ahead, batches in order, a transaction each 2000 pages. Those that leave are read and
// deleted with one cursor. Nothing is synced, so a crash may lose all of it.

#include <algorithm>

#include <fmt/core.h>
#include <lmdb.h>

#include "queue_keys.h"
#include "queue_run.h"

namespace crawlstore::bench {
namespace {

constexpr std::size_t kPagesPerTransaction = 2000;

void must(int code) {
  if (code != 0) fail(mdb_strerror(code));
}

class LmdbQueue final : public BenchQueue {
 public:
  explicit LmdbQueue(const QueueOptions& options) {
    must(mdb_env_create(&environment_));
    must(mdb_env_set_mapsize(environment_, std::size_t{256} << 30));
    constexpr unsigned kFlags =
        MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOLOCK | MDB_WRITEMAP | MDB_NORDAHEAD | MDB_NOMEMINIT;
    must(mdb_env_open(environment_, options.path.c_str(), kFlags, 0644));
    begin();
    must(mdb_dbi_open(transaction_, nullptr, 0, &table_));
    must(mdb_txn_commit(transaction_));
  }
  ~LmdbQueue() override { mdb_env_close(environment_); }

  [[nodiscard]] std::string name() const override {
    return fmt::format("LMDB {}.{}.{}", MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH);
  }
  void insert(std::span<const QueuedPage> pages) override {
    std::vector<QueueKey> keys = sorted_keys(pages);
    for (std::size_t begin = 0; begin < keys.size(); begin += kPagesPerTransaction) {
      const std::size_t end = std::min(begin + kPagesPerTransaction, keys.size());
      transact([&](MDB_cursor* cursor) {
        for (std::size_t i = begin; i < end; ++i) {
          MDB_val key{sizeof(QueueKey), keys[i].data()};
          MDB_val none{};
          must(mdb_cursor_put(cursor, &key, &none, MDB_NOOVERWRITE));
        }
      });
    }
  }
  std::vector<QueuedPage> take(std::size_t count) override {
    std::vector<QueuedPage> taken;
    taken.reserve(count);
    while (taken.size() < count) {
      const std::size_t end = std::min(taken.size() + kPagesPerTransaction, count);
      transact([&](MDB_cursor* cursor) {
        MDB_val key{};
        MDB_val none{};
        // Behind a deletion MDB_NEXT is the one that followed.
        for (MDB_cursor_op which = MDB_FIRST; taken.size() < end; which = MDB_NEXT) {
          must(mdb_cursor_get(cursor, &key, &none, which));
          taken.push_back(page_of(key.mv_data));
          must(mdb_cursor_del(cursor, 0));
        }
      });
    }
    return taken;
  }

 private:
  void begin() { must(mdb_txn_begin(environment_, nullptr, 0, &transaction_)); }
  template <class Body>
  void transact(const Body& body) {
    begin();
    MDB_cursor* cursor = nullptr;
    must(mdb_cursor_open(transaction_, table_, &cursor));
    body(cursor);
    mdb_cursor_close(cursor);
    must(mdb_txn_commit(transaction_));
  }

  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi table_ = 0;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return queue_main(
      argc, argv, [](const QueueOptions& options) { return std::make_unique<LmdbQueue>(options); });
}
