// SPDX-License-Identifier: Apache-2.0
//
// SQLite on the URL-seen stream. Tuned: a rowid table whose rowid is the key; no journal, no syncs,
// exclusive locking, one transaction a batch, statements prepared once, pages of 16 KiB. While the
// table has at most 8 rows for each key of a batch, the batch is answered in slices of 4096 keys:
// one range scan tells which are there, then the others are inserted, into pages that the scan has
// just loaded. That is about 1.3 times as fast as INSERT OR IGNORE key by key, which a larger table
// gets.
//
// Under a memory cap the cache is 1/32 of it: ascending batches sweep through the file, so the
// kernel's page cache serves better than a second one (half the cap as cache was about 1.7 times
// slower). Mapping the file was 20 times slower under a cap. The key's top bit is flipped, so that
// signed rowids ascend as the keys do.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/core.h>
#include <sqlite3.h>

#include "seen_batch.h"

namespace crawlstore::bench {
namespace {

constexpr std::size_t kSlice = 4096;
constexpr std::uint64_t kScannedRowsPerKey = 8;

sqlite3_int64 rowid(std::uint64_t key) {
  return static_cast<sqlite3_int64>(key ^ (std::uint64_t{1} << 63));
}

class SqliteStore final : public SortedStore {
 public:
  explicit SqliteStore(const SeenOptions& options)
      : has_aux_(options.has_aux),
        cache_bytes_(options.cap_bytes != 0 ? options.cap_bytes / 32 : std::uint64_t{4} << 30) {
    std::remove(options.path.c_str());
    constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(options.path.c_str(), &db_, kFlags, nullptr) != SQLITE_OK) fail_here();
    execute("PRAGMA page_size=16384");
    execute("PRAGMA journal_mode=OFF");
    execute("PRAGMA synchronous=OFF");
    execute("PRAGMA locking_mode=EXCLUSIVE");
    execute(fmt::format("PRAGMA cache_size=-{}", cache_bytes_ / 1024));
    execute(has_aux_ ? "CREATE TABLE seen(key INTEGER PRIMARY KEY, value INTEGER)"
                     : "CREATE TABLE seen(key INTEGER PRIMARY KEY)");
    const std::string row = has_aux_ ? "INTO seen VALUES(?1, ?2)" : "INTO seen VALUES(?1)";
    insert_ = prepare("INSERT " + row);
    insert_or_ignore_ = prepare("INSERT OR IGNORE " + row);
    scan_ = prepare("SELECT * FROM seen WHERE key BETWEEN ?1 AND ?2");
  }
  ~SqliteStore() override { sqlite3_close_v2(db_); }

  [[nodiscard]] std::string name() const override { return "SQLite"; }
  [[nodiscard]] std::string version() const override { return sqlite3_libversion(); }
  [[nodiscard]] std::string tuning() const override {
    return fmt::format("no journal, no sync, {} MiB of cache, range scans before inserts",
                       cache_bytes_ >> 20);
  }

  void check_update(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> values,
                    std::span<std::uint8_t> was_there) override {
    execute("BEGIN EXCLUSIVE");
    const bool is_dense = row_count_ / keys.size() <= kScannedRowsPerKey;
    for (std::size_t begin = 0; begin < keys.size(); begin += kSlice) {
      const std::size_t end = std::min(begin + kSlice, keys.size());
      if (is_dense) scan(keys.subspan(begin, end - begin), was_there.subspan(begin, end - begin));
      sqlite3_stmt* const statement = is_dense ? insert_ : insert_or_ignore_;
      for (std::size_t i = begin; i < end; ++i) {
        if (was_there[i] != 0) continue;
        insert(statement, keys[i], has_aux_ ? values[i] : 0);
        if (!is_dense) was_there[i] = sqlite3_changes(db_) == 0 ? 1 : 0;
        row_count_ += was_there[i] == 0 ? 1 : 0;
      }
    }
    execute("COMMIT");
  }

  std::optional<std::uint64_t> find(std::uint64_t key) override {
    bind(scan_, 1, rowid(key));
    bind(scan_, 2, rowid(key));
    std::optional<std::uint64_t> value;
    if (next_row(scan_)) value = static_cast<std::uint64_t>(sqlite3_column_int64(scan_, 1));
    sqlite3_reset(scan_);
    return value;
  }

  void close() override {
    for (sqlite3_stmt* statement : {insert_, insert_or_ignore_, scan_}) sqlite3_finalize(statement);
    if (sqlite3_close(db_) != SQLITE_OK) fail_here();
    db_ = nullptr;
  }

 private:
  [[noreturn]] void fail_here() { fail(sqlite3_errmsg(db_)); }

  void execute(const std::string& sql) {
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail_here();
  }
  sqlite3_stmt* prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(db_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
        SQLITE_OK) {
      fail_here();
    }
    return statement;
  }
  void bind(sqlite3_stmt* statement, int place, sqlite3_int64 number) {
    if (sqlite3_bind_int64(statement, place, number) != SQLITE_OK) fail_here();
  }
  bool next_row(sqlite3_stmt* statement) {
    const int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail_here();
    return code == SQLITE_ROW;
  }
  void insert(sqlite3_stmt* statement, std::uint64_t key, std::uint64_t value) {
    bind(statement, 1, rowid(key));
    if (has_aux_) bind(statement, 2, static_cast<sqlite3_int64>(value));
    next_row(statement);
    sqlite3_reset(statement);
  }
  void scan(std::span<const std::uint64_t> keys, std::span<std::uint8_t> was_there) {
    bind(scan_, 1, rowid(keys.front()));
    bind(scan_, 2, rowid(keys.back()));
    for (std::size_t i = 0; next_row(scan_);) {
      const sqlite3_int64 row = sqlite3_column_int64(scan_, 0);
      while (rowid(keys[i]) < row) ++i;
      if (rowid(keys[i]) == row) was_there[i] = 1;
    }
    sqlite3_reset(scan_);
  }

  bool has_aux_;
  std::uint64_t cache_bytes_;
  std::uint64_t row_count_ = 0;
  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* insert_or_ignore_ = nullptr;
  sqlite3_stmt* scan_ = nullptr;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using crawlstore::bench::SeenOptions;
  return crawlstore::bench::sorted_main(argc, argv, [](const SeenOptions& options) {
    return std::make_unique<crawlstore::bench::SqliteStore>(options);
  });
}
