// SPDX-License-Identifier: Apache-2.0
//
// A frontier in LMDB as Aduana has it: all items in one tree by priority, which is scanned past the
// items of hosts that may not be visited yet, whose times are in RAM. A taken item moves to a table
// of leases, in the same transaction. A transaction a call, synced. Tuned: keys of 13 bytes,
// batches in order, hosts by number, whose keys are in a third table, one cursor a transaction, no
// locks, no read-ahead.

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <fmt/core.h>
#include <lmdb.h>

#include "frontier_run.h"
#include "queue_keys.h"

namespace crawlstore::bench {
namespace {

void must(int code) {
  if (code != 0) fail(mdb_strerror(code));
}

MDB_val bytes_of(std::string& text) {
  return {text.size(), text.data()};
}

template <class T>
T load_at(const MDB_val& bytes, std::size_t offset) {
  T number{};
  std::memcpy(&number, static_cast<const char*>(bytes.mv_data) + offset, sizeof(T));
  return number;
}

class LmdbFrontier final : public BenchFrontier {
 public:
  explicit LmdbFrontier(const std::string& path) {
    must(mdb_env_create(&environment_));
    must(mdb_env_set_mapsize(environment_, std::size_t{256} << 30));
    must(mdb_env_set_maxdbs(environment_, 3));
    constexpr unsigned kFlags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NORDAHEAD | MDB_NOMEMINIT;
    must(mdb_env_open(environment_, path.c_str(), kFlags, 0644));
    begin();
    must(mdb_dbi_open(transaction_, "waiting", MDB_CREATE, &waiting_));
    must(mdb_dbi_open(transaction_, "leased", MDB_CREATE | MDB_INTEGERKEY, &leased_));
    must(mdb_dbi_open(transaction_, "hosts", MDB_CREATE | MDB_INTEGERKEY, &hosts_table_));
    read_hosts();
    must(mdb_txn_commit(transaction_));
  }
  ~LmdbFrontier() override { mdb_env_close(environment_); }

  [[nodiscard]] std::string name() const override {
    return fmt::format("LMDB {}.{}.{}", MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH);
  }
  void put(std::span<const WorkItem> items) override {
    std::vector<std::pair<QueueKey, const WorkItem*>> keys;
    keys.reserve(items.size());
    for (const WorkItem& item : items) keys.emplace_back(key_of_item(item), &item);
    std::sort(keys.begin(), keys.end());
    begin();
    MDB_cursor* cursor = cursor_of(waiting_);
    std::string value;
    for (auto& [key, item] : keys) {
      const std::uint32_t host = host_of(item->group);
      value.assign(reinterpret_cast<const char*>(&host), sizeof(host)).append(item->body);
      MDB_val name{key.size(), key.data()};
      MDB_val content = bytes_of(value);
      must(mdb_cursor_put(cursor, &name, &content, MDB_NOOVERWRITE));
    }
    mdb_cursor_close(cursor);
    must(mdb_txn_commit(transaction_));
  }
  std::vector<WorkTaken> take(std::size_t count, std::uint64_t now_ms) override {
    std::vector<WorkTaken> taken;
    taken.reserve(count);
    begin();
    for (const std::uint64_t delay_ms : {kDelayMs, kHardDelayMs}) {
      if (taken.size() < count) scan(count, now_ms, delay_ms, taken);
    }
    must(mdb_txn_commit(transaction_));
    return taken;
  }
  void finish(std::span<const std::uint64_t> ids, std::uint64_t /*now_ms*/) override {
    std::vector<std::uint64_t> sorted(ids.begin(), ids.end());
    std::sort(sorted.begin(), sorted.end());
    begin();
    for (std::uint64_t& id : sorted) {
      MDB_val key{sizeof(id), &id};
      must(mdb_del(transaction_, leased_, &key, nullptr));
    }
    must(mdb_txn_commit(transaction_));
  }

 private:
  struct Host {
    std::string key;
    std::uint64_t visited_ms = 0;
  };

  static QueueKey key_of_item(const WorkItem& item) {
    return queue_key({.page = item.id, .priority = item.priority});
  }
  void begin() { must(mdb_txn_begin(environment_, nullptr, 0, &transaction_)); }
  MDB_cursor* cursor_of(MDB_dbi table) {
    MDB_cursor* cursor = nullptr;
    must(mdb_cursor_open(transaction_, table, &cursor));
    return cursor;
  }
  void read_hosts() {
    MDB_cursor* cursor = cursor_of(hosts_table_);
    MDB_val key{};
    MDB_val text{};
    while (mdb_cursor_get(cursor, &key, &text, MDB_NEXT) == 0) {
      hosts_.push_back({{static_cast<const char*>(text.mv_data), text.mv_size}});
      numbers_.emplace(hosts_.back().key, static_cast<std::uint32_t>(hosts_.size() - 1));
    }
    mdb_cursor_close(cursor);
  }
  std::uint32_t host_of(std::string_view key) {
    const auto [found, is_new] =
        numbers_.try_emplace(std::string(key), static_cast<std::uint32_t>(hosts_.size()));
    if (is_new) {
      hosts_.push_back({found->first});
      std::uint32_t number = found->second;
      MDB_val name{sizeof(number), &number};
      MDB_val text = bytes_of(hosts_.back().key);
      must(mdb_put(transaction_, hosts_table_, &name, &text, MDB_APPEND));
    }
    return found->second;
  }
  /// Takes what hosts have that were not visited for so long.
  void scan(std::size_t count, std::uint64_t now_ms, std::uint64_t delay_ms,
            std::vector<WorkTaken>& taken) {
    MDB_cursor* cursor = cursor_of(waiting_);
    MDB_val key{};
    MDB_val value{};
    // After a deletion MDB_NEXT is the one that followed.
    for (MDB_cursor_op which = MDB_FIRST; taken.size() < count; which = MDB_NEXT) {
      const int code = mdb_cursor_get(cursor, &key, &value, which);
      if (code == MDB_NOTFOUND) break;
      must(code);
      Host& host = hosts_[load_at<std::uint32_t>(value, 0)];
      if (host.visited_ms + delay_ms > now_ms) continue;
      host.visited_ms = now_ms;
      const QueuedPage page = page_of(key.mv_data);
      const std::string_view body(static_cast<const char*>(value.mv_data) + sizeof(std::uint32_t),
                                  value.mv_size - sizeof(std::uint32_t));
      taken.push_back({page.page, host.key, page.priority, std::string(body)});
      lease(key, value, now_ms + kLeaseMs);
      must(mdb_cursor_del(cursor, 0));
    }
    mdb_cursor_close(cursor);
  }
  void lease(const MDB_val& key, const MDB_val& value, std::uint64_t until_ms) {
    std::uint64_t id = page_of(key.mv_data).page;
    std::string record(reinterpret_cast<const char*>(&until_ms), sizeof(until_ms));
    record.append(static_cast<const char*>(key.mv_data), key.mv_size);
    record.append(static_cast<const char*>(value.mv_data), value.mv_size);
    MDB_val name{sizeof(id), &id};
    MDB_val content = bytes_of(record);
    must(mdb_put(transaction_, leased_, &name, &content, 0));
  }

  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi waiting_ = 0;
  MDB_dbi leased_ = 0;
  MDB_dbi hosts_table_ = 0;
  std::vector<Host> hosts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return frontier_main(
      argc, argv, [](const std::string& path) { return std::make_unique<LmdbFrontier>(path); });
}
