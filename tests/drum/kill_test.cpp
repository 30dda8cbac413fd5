// SPDX-License-Identifier: Apache-2.0
//
// T7 of spec/features.md: real processes on a real file. A child submits and merges, or adds and
// forgets pages, and says what is safe after it was; it is killed at random times and before chosen
// storage calls. Readers look on.
// CRAWLSTORE_LONG=1 kills 10,000 times.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>
#include <unordered_map>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <crawlstore/drum.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/tools/verify.h>
#include <crawlstore/transaction.h>

#include "drum/memory_store.h"
#include "support/bytes.h"
#include "support/recording_storage.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t>;
constexpr std::uint64_t kSeed = 7;
constexpr std::uint64_t kBatch = 25;

std::uint64_t key_of(std::uint64_t number) {
  return Random(number + 1).next();
}

DrumOptions small_drum() {
  DrumOptions options;
  options.bucket_count = 4;
  options.memory_bytes = 1 << 20;
  options.partition_keys_max = 1000;
  options.auto_merge = false;
  return options;
}

/// Notes in a second DRUM, in the same commit, what was unique.
struct NoteFirsts {
  Keys& firsts;
  void unique_key_update(const Keys::AnswerType& answer) { must(firsts.check_update(answer.key)); }
};
/// A key that was noted twice has been unique twice.
struct NoDuplicates {
  void duplicate_key_update(const Keys::AnswerType&) { ::_exit(3); }
};

/// The parts that a worker said are safe.
struct Acknowledged {
  std::uint64_t keys = 0;
  std::uint64_t round = 0;  // of hosts
};

/// The point where the child kills itself: before the nth call of a kind.
struct KillPoint {
  CallKind kind{};
  bool superblock = false;
  std::uint64_t nth = 0;  // 0 = nowhere: the parent does it
};

std::unique_ptr<Storage> open_recorded(const std::string& path, Recorder& recorder,
                                       const KillPoint& point, std::uint64_t& count) {
  recorder.set_hook([&point, &count](CallKind kind, Extent extent) {
    if (kind != point.kind) return;
    const bool superblock = extent.offset_bytes < 80 * 1024;
    if (kind == CallKind::kWrite && superblock != point.superblock) return;
    if (++count == point.nth) (void)::kill(::getpid(), SIGKILL);
  });
  return recorder.wrap(must(open_storage(path, OpenMode::kWrite)));
}

/// Keys in two DRUMs at once, of which merges may come in between.
class Twins {
 public:
  explicit Twins(Store& store) : store_(store) {}
  void add(std::uint64_t number) {
    auto both = must(Transaction::begin(store_));
    for (std::uint64_t i = 0; i < kBatch; ++i) must(left_.update(key_of(number + i)));
    for (std::uint64_t i = 0; i < kBatch; ++i) must(right_.update(key_of(number + i)));
    must(both.commit());
  }
  void merge_one() { must(left_.merge()); }

 private:
  Store& store_;
  Keys left_ = must(Keys::open(store_, "left", small_drum()));
  Keys right_ = must(Keys::open(store_, "right", small_drum()));
};

void say(int pipe, std::uint64_t number) {
  if (::write(pipe, &number, sizeof number) != sizeof number) ::_exit(4);
}

/// Submits from `number` on, and says how far it has got after each commit. Never returns.
void work(Store& store, std::uint64_t number, std::uint64_t seed, int pipe) {
  Random random(seed);
  auto keys = must(Keys::open(store, "keys", small_drum()));
  auto firsts = must(Keys::open(store, "firsts", small_drum()));
  NoteFirsts note{firsts};
  keys.attach(note);
  NoDuplicates none;
  firsts.attach(none);
  auto inserted = must(Keys::open(store, "inserted", small_drum()));
  Twins twins(store);
  for (;;) {
    twins.add(number);
    for (std::uint64_t i = 0; i < kBatch; ++i) must(inserted.insert(key_of(number + i)));
    for (int again = 0; again < 5; ++again) {
      // Somebody has inserted it, and either it was acknowledged or it was this process.
      if (must(inserted.insert(key_of(random.below(number + kBatch))))) ::_exit(9);
    }
    for (std::uint64_t i = 0; i < kBatch; ++i) must(keys.check_update(key_of(number++)));
    for (int again = 0; again < 5; ++again) must(keys.check_update(key_of(random.below(number))));
    switch (random.below(4)) {
      case 0:
        must(store.commit());
        break;
      case 1:
        must(firsts.merge());
        must(inserted.merge());
        twins.merge_one();
        [[fallthrough]];
      default:
        must(keys.merge());
    }
    must(store.commit());
    say(pipe, number);
  }
}

/// Pages of one host; those of a few hosts are more than what a dictionary of URLs begins with, and
/// more than a block of URLs.
constexpr std::uint64_t kHostPages = 70;
constexpr std::uint64_t kHostsKept = 3;
constexpr std::size_t kUrlPadding = 4000;
/// The words of a worker about pages: that the host of a round is there, and those before the kept
/// ones are forgotten.
constexpr std::uint64_t kRoundFlag = std::uint64_t{1} << 63;
/// And how many bytes are live before it forgets, which no generation shows after it.
constexpr std::uint64_t kLiveFlag = std::uint64_t{1} << 62;

PagesOptions small_pages() {
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  options.bucket_count = 2;
  return options;
}

std::string host_url(std::uint64_t round) {
  return "http://h" + std::to_string(round) + ".test/";
}

/// A host a round comes, and the one that came kHostsKept rounds before goes. Never returns.
void work_pages(Store& store, std::uint64_t round, int pipe) {
  auto pages = must(PageDb::open(store, "pages", small_pages()));
  for (;; ++round) {
    for (std::uint64_t i = 0; i < kHostPages; ++i) {
      std::string url = host_url(round) + std::to_string(i) + "/";
      CrawledPage page(url.append(kUrlPadding, static_cast<char>('a' + i % 26)), 1);
      page.add_link(host_url(round));
      page.add_link(host_url(round - 1));
      must(pages.add(page));
    }
    must(pages.merge());
    say(pipe, kLiveFlag | must(must(store.snapshot()).info()).live_bytes);
    if (round > kHostsKept) {
      const std::string gone = host_url(round - kHostsKept);
      must(pages.forget([&gone](std::string_view url) { return url.starts_with(gone); }));
    }
    say(pipe, kRoundFlag | round);
  }
}

int run_worker(const std::string& path, const Acknowledged& acknowledged, const KillPoint& point,
               std::uint64_t seed, int pipe) {
  try {
    Recorder recorder(file_bytes(path));
    std::uint64_t count = 0;
    OpenOptions options;
    options.lock_wait_ms = 5000;
    auto storage = point.nth == 0 ? must(open_storage(path, OpenMode::kWrite))
                                  : open_recorded(path, recorder, point, count);
    auto store = must(Store::open(std::move(storage), options));
    if (seed % 8 == 0) must(store.compact());
    if (seed % 8 == 1) work_pages(store, acknowledged.round + 1, pipe);
    work(store, acknowledged.keys, seed, pipe);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "worker: %s\n", error.what());
  }
  return 5;
}

/// All keys of a DRUM, merged and pending; false when one stands there twice or out of order.
bool collect(const Snapshot& snapshot, std::string_view name, std::set<std::uint64_t>& merged,
             std::multiset<std::uint64_t>& pending) {
  const auto view = must(DrumView::open(snapshot, name));
  bool ascending = true;
  Key16 last;
  must(view.for_each_key([&](Key16 key, std::span<const std::byte>) {
    if (!merged.empty() && key <= last) ascending = false;
    last = key;
    merged.insert(key.head);
    return true;
  }));
  must(view.for_each_pending([&](std::uint64_t, const RawRequest& request, std::uint64_t) {
    pending.insert(request.key);
    return true;
  }));
  return ascending && merged.size() == view.info().key_count &&
         pending.size() == view.info().pending_count;
}

/// Every page that has a URL is found, every link is there both ways, and hosts come and go.
bool are_pages_consistent(const Snapshot& snapshot, std::uint64_t round) {
  const auto view = must(PageView::open(snapshot, "pages"));
  for (const bool incoming : {false, true}) {
    LinkStreamOptions options;
    options.incoming = incoming;
    auto rows = must(view.links(options));
    std::uint64_t link_count = 0;
    while (must(rows.next())) link_count += rows.links().size();
    if (link_count != view.info().link_count) return false;
  }
  std::uint64_t of_newest = 0;
  for (std::uint64_t page = 0; page < view.info().page_count; ++page) {
    const std::string url = must(view.url(page));
    if (url.empty()) continue;
    if (must(view.find_text(url)) != page) return false;
    if (round != 0 && url.starts_with(host_url(round))) ++of_newest;
    for (std::uint64_t gone = 1; gone + kHostsKept <= round; ++gone) {
      if (url.starts_with(host_url(gone) + "0/")) return false;
    }
  }
  return round == 0 || of_newest > kHostPages;
}

/// Whether the requests that were submitted in transactions are in both DRUMs or in none.
bool are_twins(const Snapshot& snapshot) {
  std::array<std::set<std::uint64_t>, 2> sides;
  for (const bool is_right : {false, true}) {
    std::multiset<std::uint64_t> pending;
    auto& keys = sides.at(is_right ? 1 : 0);
    if (!collect(snapshot, is_right ? "right" : "left", keys, pending)) return false;
    keys.insert(pending.begin(), pending.end());
  }
  return sides[0] == sides[1];
}

/// A key was inserted when it was not there: no generation has it twice.
bool are_inserted_once(const Snapshot& snapshot, const Acknowledged& acknowledged) {
  std::set<std::uint64_t> keys;
  std::multiset<std::uint64_t> pending;
  if (!collect(snapshot, "inserted", keys, pending)) return false;
  for (const std::uint64_t key : pending) {
    if (!keys.insert(key).second) return false;
  }
  for (std::uint64_t number = 0; number < acknowledged.keys; ++number) {
    if (!keys.contains(key_of(number))) return false;
  }
  return true;
}

/// Whether a generation is consistent: the firsts are the keys that were merged, each once.
bool is_consistent(const Snapshot& snapshot, const Acknowledged& acknowledged) {
  if (!are_pages_consistent(snapshot, acknowledged.round)) return false;
  if (!are_twins(snapshot)) return false;
  if (!are_inserted_once(snapshot, acknowledged)) return false;
  std::set<std::uint64_t> keys;
  std::set<std::uint64_t> firsts;
  std::multiset<std::uint64_t> keys_pending;
  std::multiset<std::uint64_t> firsts_pending;
  if (!collect(snapshot, "keys", keys, keys_pending)) return false;
  if (!collect(snapshot, "firsts", firsts, firsts_pending)) return false;
  for (const std::uint64_t key : firsts_pending) {
    if (!firsts.insert(key).second) return false;  // unique in two committed merges
  }
  if (firsts != keys) return false;
  for (std::uint64_t number = 0; number < acknowledged.keys; ++number) {
    const std::uint64_t key = key_of(number);
    if (!keys.contains(key) && !keys_pending.contains(key)) return false;
  }
  return true;
}

/// Looks at generation after generation, each twice. Returns only when something is wrong.
int run_reader(const std::string& path) {
  try {
    for (;;) {
      const auto snapshot = must(Snapshot::open(path));
      if (!is_consistent(snapshot, {})) return 6;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (!is_consistent(snapshot, {})) return 7;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reader: %s\n", error.what());
  }
  return 8;
}

class KillTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = must(Store::create(path_));
    must(must(Keys::open(store, "keys", small_drum())).close());
    for (const char* name : {"firsts", "inserted", "left", "right"}) {
      must(must(Keys::open(store, name, small_drum())).close());
    }
    must(must(PageDb::open(store, "pages", small_pages())).close());
    must(store.close());
  }

  void TearDown() override { stop_reader(); }

  void start_reader() {
    reader_ = ::fork();
    ASSERT_NE(reader_, -1);
    if (reader_ == 0) ::_exit(run_reader(path_));
  }

  /// Kills the reader, wherever it is; its pin is gone at once.
  void stop_reader() {
    if (reader_ == -1) return;
    int status = 0;
    EXPECT_EQ(::waitpid(reader_, &status, WNOHANG), 0) << "a reader gave up: " << status;
    ::kill(reader_, SIGKILL);
    ::waitpid(reader_, &status, 0);
    reader_ = -1;
    const auto pinned =
        must(must(open_storage(path_, OpenMode::kWrite))->pinned({0}, {std::uint64_t{1} << 60}));
    EXPECT_TRUE(pinned.empty()) << "a dead reader's pin is still there";
  }

  /// Notes what a worker said.
  void acknowledge(std::uint64_t number) {
    auto& known = (number & kRoundFlag) != 0  ? acknowledged_.round
                  : (number & kLiveFlag) != 0 ? live_bytes_max_
                                              : acknowledged_.keys;
    known = std::max(known, number & ~(kRoundFlag | kLiveFlag));
  }

  /// Runs a worker until it is dead; notes what it acknowledged. However slow the machine, every
  /// second worker of pages that is killed by time has finished a round.
  void kill_a_worker() {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const KillPoint point = choose_point();
    const std::uint64_t seed = random_.next();
    const pid_t child = ::fork();
    ASSERT_NE(child, -1);
    if (child == 0) {
      ::close(ends[0]);
      ::_exit(run_worker(path_, acknowledged_, point, seed, ends[1]));
    }
    ::close(ends[1]);
    std::uint64_t number = 0;
    if (point.nth == 0) {
      const std::uint64_t time_us_max = seed % 8 == 1 ? 200'000 : 60'000;
      const std::uint64_t round = acknowledged_.round;
      while (seed % 16 == 1 && acknowledged_.round == round &&
             ::read(ends[0], &number, sizeof number) == sizeof number) {
        acknowledge(number);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(random_.below(time_us_max)));
      ::kill(child, SIGKILL);
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (::read(ends[0], &number, sizeof number) == sizeof number) {
      acknowledge(number);
      if (std::chrono::steady_clock::now() > deadline) ::kill(child, SIGKILL);
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << "a worker ended by itself: " << WEXITSTATUS(status);
    ++(point.nth == 0 ? kills_by_time_ : kills_by_point_);
  }

  KillPoint choose_point() {
    static constexpr std::array kKinds = {CallKind::kWrite,    CallKind::kWrite,
                                          CallKind::kSync,     CallKind::kAllocate,
                                          CallKind::kTruncate, CallKind::kPinned};
    if (random_.below(2) == 0) return {};
    const std::size_t kind = random_.below(kKinds.size());
    const std::uint64_t nth_max = kKinds[kind] == CallKind::kTruncate ? 1 : 12;
    return {kKinds[kind], kind == 0, 1 + random_.below(nth_max)};
  }

  void check_store(bool deep) {
    VerifyOptions options;
    options.level = deep ? VerifyLevel::kDeep : VerifyLevel::kNormal;
    const auto report = must(verify(path_, options));
    EXPECT_FALSE(report.damaged());
    const auto snapshot = must(Snapshot::open(path_));
    EXPECT_TRUE(is_consistent(snapshot, acknowledged_))
        << acknowledged_.keys << " keys, " << acknowledged_.round << " rounds acknowledged";
    const auto info = must(snapshot.info());
    live_bytes_max_ = std::max(live_bytes_max_, info.live_bytes);
    file_bytes_max_ = std::max(file_bytes_max_, info.file_bytes);
    EXPECT_LE(info.file_bytes, 4 * live_bytes_max_ + (std::uint64_t{1} << 20));
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "killed.crawl";
  Random random_{kSeed};
  pid_t reader_ = -1;
  Acknowledged acknowledged_;
  std::uint64_t kills_by_time_ = 0;
  std::uint64_t kills_by_point_ = 0;
  std::uint64_t live_bytes_max_ = 0;
  std::uint64_t file_bytes_max_ = 0;
};

TEST_F(KillTest, LosesNothingAcknowledged) {
  const char* value = std::getenv("CRAWLSTORE_LONG");
  const std::uint64_t wanted = value != nullptr && *value == '1' ? 10'000 : 200;
  for (std::uint64_t kill = 0; kill < wanted && !HasFailure(); ++kill) {
    if (kill % 10 == 0) start_reader();
    kill_a_worker();
    if (kill % 10 == 7) stop_reader();
    check_store(kill % 10 == 0);
  }
  stop_reader();
  std::printf(
      "%llu kills at random times, %llu before chosen calls, seed %llu; %llu keys and %llu rounds "
      "of hosts acknowledged; file at most %llu KiB, live at most %llu KiB\n",
      static_cast<unsigned long long>(kills_by_time_),
      static_cast<unsigned long long>(kills_by_point_), static_cast<unsigned long long>(kSeed),
      static_cast<unsigned long long>(acknowledged_.keys),
      static_cast<unsigned long long>(acknowledged_.round),
      static_cast<unsigned long long>(file_bytes_max_ / 1024),
      static_cast<unsigned long long>(live_bytes_max_ / 1024));
  EXPECT_EQ(kills_by_time_ + kills_by_point_, wanted);
  EXPECT_GT(acknowledged_.keys, 10 * kBatch);
  EXPECT_GT(acknowledged_.round, kHostsKept + 1);
}

}  // namespace
}  // namespace crawlstore::testing
