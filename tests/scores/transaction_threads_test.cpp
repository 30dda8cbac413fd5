// SPDX-License-Identifier: Apache-2.0
//
// A transaction belongs to its handle and to the thread that began it, which is not what has its
// number later.
#include <cerrno>
#include <future>
#include <optional>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/transaction.h>

#include "drum/memory_store.h"
#include "support/another_thread.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t>;

std::set<std::uint64_t> keys_of(const Store& store) {
  std::set<std::uint64_t> keys;
  const auto view = drum_view(store, "keys");
  must(view.for_each_pending([&keys](std::uint64_t, const RawRequest& request, std::uint64_t) {
    keys.insert(request.key);
    return true;
  }));
  return keys;
}

/// A transaction with one key, whose thread has ended, and what the thread was called.
struct Left {
  explicit Left(Store& store, Keys& keys) {
    std::thread([&] {
      id = std::this_thread::get_id();
      transaction.emplace(must(Transaction::begin(store)));
      must(keys.update(5));
    }).join();
  }
  std::thread::id id;
  std::optional<Transaction> transaction;
};

/// Calls `work` on a new thread that has the number of one that ended. The C library gives numbers
/// again at once.
template <class Work>
std::future<void> on_thread_numbered(std::thread::id id, const Work& work) {
  std::promise<void> done;
  auto ended = done.get_future();
  bool is_found = false;
  for (int i = 0; i < 100 && !is_found; ++i) {
    std::promise<bool> found;
    auto is_it = found.get_future();
    std::thread thread([work, id, found = std::move(found), done = &done]() mutable {
      const bool is_same = std::this_thread::get_id() == id;
      auto promise = is_same ? std::move(*done) : std::promise<void>();
      found.set_value(is_same);
      if (!is_same) return;
      work();
      promise.set_value();
    });
    is_found = is_it.get();
    is_found ? thread.detach() : thread.join();
  }
  EXPECT_TRUE(is_found);
  return ended;
}

TEST(TransactionThreads, DoNotTakeOverWhatAnEndedThreadBegan) {
  MemoryStore store;
  auto keys = must(Keys::open(*store, "keys"));
  must(store->commit());
  Left left(*store, keys);
  on_thread_numbered(left.id, [&] { must(keys.update(9)); }).get();
  left.transaction->drop();
  must(store->commit());
  EXPECT_EQ(keys_of(*store), std::set<std::uint64_t>{9});
}

TEST(TransactionThreads, WaitForWhatAnEndedThreadBegan) {
  MemoryStore store;
  auto keys = must(Keys::open(*store, "keys"));
  must(store->commit());
  Left left(*store, keys);
  std::optional<Result<Generation>> committed;
  auto ended = on_thread_numbered(left.id, [&] { committed = store->commit(); });
  EXPECT_NE(ended.wait_for(std::chrono::milliseconds(50)), std::future_status::ready);
  must(left.transaction->commit());
  ended.get();
  EXPECT_TRUE(*committed);
  EXPECT_EQ(keys_of(*store), std::set<std::uint64_t>{5});
}

/// A commit that fails on another thread leaves the turn to the one that began.
TEST(TransactionThreads, GetNoTurnFromACommitThatFails) {
  MemoryStore empty;
  Recorder recorder(make_memory_file(empty.image(), std::uint64_t{1} << 28));
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  auto keys = must(Keys::open(store, "keys"));
  must(store.commit());
  auto transaction = must(Transaction::begin(store));
  must(keys.update(5));
  std::promise<void> failed;
  auto other = std::async(std::launch::async, [&] {
    recorder.inject({.calls = calls(CallKind::kAllocate), .forever = true, .system_errno = ENOSPC});
    EXPECT_EQ(transaction.commit().error().code, Errc::kNoSpace);
    recorder.stop_injecting();
    failed.set_value();
    return store.commit();
  });
  failed.get_future().get();
  EXPECT_NE(other.wait_for(std::chrono::milliseconds(50)), std::future_status::ready);
  transaction.drop();
  must(other.get());
  EXPECT_TRUE(keys_of(store).empty());
}

}  // namespace
}  // namespace crawlstore::testing
