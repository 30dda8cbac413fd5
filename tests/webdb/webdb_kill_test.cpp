// SPDX-License-Identifier: Apache-2.0
// covers: W19, W28
#include <chrono>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/time.h>

#include <crawlstore/webdb.h>

#include "support/child_process.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"
#include "webdb/webdb_model.h"

namespace crawlstore::testing {
namespace {

/// Ends this process so many microseconds from now.
void end_in(std::int64_t delay_us) {
  itimerval timer{};
  timer.it_value.tv_sec = delay_us / 1'000'000;
  timer.it_value.tv_usec = delay_us % 1'000'000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

int write_and_close(const std::string& path, const std::vector<WebDbEdit>& session,
                    std::int64_t delay_us) {
  auto store = Store::open(path);
  if (!store) return 1;
  auto writer = WebDbWriter::open(*store);
  if (!writer) return 2;
  for (const WebDbEdit& edit : session) {
    if (!write_edit(*writer, edit)) return 3;
  }
  if (delay_us > 0) end_in(delay_us);
  if (!writer->close()) return 4;
  end_in(0);
  return store->close() ? 0 : 5;
}

/// A process is killed somewhere in close(): the next one finds all of the session, or nothing.
TEST(WebDbKill, LeavesTheOldStateOrTheNewOne) {
  SeededRandom random;
  const TemporaryFolder folder;
  const std::string path = folder / "my.crawl";
  must(must(Store::create(path)).close());
  WebDbModel model;
  std::int64_t close_us = 0;
  int killed_count = 0;
  for (int round = 0; round < (is_long() ? 200 : 25); ++round) {
    const auto session = random_session(random, 300, 100);
    const auto delay_us =
        round == 0
            ? 0
            : 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(close_us)));
    const auto start = std::chrono::steady_clock::now();
    const int ended = run_in_child([&] { return write_and_close(path, session, delay_us); });
    if (round == 0) {
      close_us = std::chrono::duration_cast<std::chrono::microseconds>(
                     std::chrono::steady_clock::now() - start)
                     .count();
    }
    ASSERT_TRUE(ended == 0 || ended == 1000 + SIGALRM) << ended;
    killed_count += ended == 0 ? 0 : 1;
    const auto found = WebDbModel::read(must(WebDbReader::open(must(Snapshot::open(path)))));
    const auto before = model;
    model.apply(session);
    if (ended == 0) {
      ASSERT_EQ(found, model.pages());
    } else if (found != model.pages()) {
      ASSERT_EQ(found, before.pages());
      model = before;
    }
  }
  EXPECT_GT(killed_count, 0);
}

}  // namespace
}  // namespace crawlstore::testing
