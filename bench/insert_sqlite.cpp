// SPDX-License-Identifier: Apache-2.0
//
// SQLite, key by key: INSERT OR IGNORE says whether the key was there, which is faster than a
// SELECT and an INSERT. No journal, no syncs, a rowid table; a transaction each --batch requests,
// by default 100,000. The cache is half of a memory cap, or 2 GiB.

#include <cstdio>

#include <fmt/core.h>
#include <sqlite3.h>

#include "insert_run.h"

namespace crawlstore::bench {
namespace {

class SqliteStore final : public InsertStore {
 public:
  explicit SqliteStore(const SeenOptions& options)
      : batch_(options.batch != 0 ? options.batch : 100'000),
        cache_bytes_(options.cap_bytes != 0 ? options.cap_bytes / 2 : std::uint64_t{2} << 30) {
    std::remove(options.path.c_str());
    if (sqlite3_open(options.path.c_str(), &db_) != SQLITE_OK) fail_here();
    execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;");
    execute(fmt::format("PRAGMA cache_size=-{}", cache_bytes_ >> 10));
    execute("CREATE TABLE seen(key INTEGER PRIMARY KEY)");
    insert_ = prepare("INSERT OR IGNORE INTO seen VALUES(?1)");
    find_ = prepare("SELECT 1 FROM seen WHERE key=?1");
    execute("BEGIN EXCLUSIVE");
  }
  ~SqliteStore() override { sqlite3_close_v2(db_); }

  [[nodiscard]] std::string name() const override { return "SQLite"; }
  [[nodiscard]] std::string version() const override { return sqlite3_libversion(); }
  [[nodiscard]] std::string tuning() const override {
    return fmt::format("no journal, no sync, {} MiB of cache, a transaction each {} requests",
                       cache_bytes_ >> 20, batch_);
  }
  bool insert(std::uint64_t key) override {
    if (++count_ % batch_ == 0) end();
    step(insert_, key);
    return sqlite3_changes(db_) != 0;
  }
  void end() override { execute("COMMIT; BEGIN EXCLUSIVE"); }
  bool has(std::uint64_t key) override { return step(find_, key); }
  void close() override {
    execute("COMMIT");
    sqlite3_finalize(insert_);
    sqlite3_finalize(find_);
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
  /// Returns whether there is a row.
  bool step(sqlite3_stmt* statement, std::uint64_t key) {
    sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(key));
    const int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail_here();
    sqlite3_reset(statement);
    return code == SQLITE_ROW;
  }

  std::uint64_t batch_;
  std::uint64_t cache_bytes_;
  std::uint64_t count_ = 0;
  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* find_ = nullptr;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return insert_main(argc, argv, [](const SeenOptions& options) {
    return std::make_unique<SqliteStore>(options);
  });
}
