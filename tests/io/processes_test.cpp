// SPDX-License-Identifier: Apache-2.0
//
// Locks, pins and use of a storage across processes: forked ones and killed ones.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <crawlstore/storage.h>

#include "io/fork_sentinel.h"
#include "io/ofd_locks.h"
#include "io/pin_holders.h"
#include "support/bytes.h"
#include "support/child_process.h"
#include "support/temporary_folder.h"

namespace crawlstore {
namespace {

using Generations = std::vector<Generation>;
using testing::bytes_of;
using testing::code_of;
using testing::run_in_child;
using testing::WaitingChild;

class Processes : public ::testing::Test {
 protected:
  Processes() {
    testing::put_file(path_, bytes_of("content"));
    storage_ = open(OpenMode::kWrite);
  }

  std::unique_ptr<Storage> open(OpenMode mode) {
    auto opened = open_storage(path_, mode);
    return opened ? std::move(*opened) : nullptr;
  }

  /// For children: opens for reading, pins, and leaves it open.
  bool open_and_pin(Generation generation) {
    return open(OpenMode::kRead).release()->pin(generation).has_value();
  }

  Generations pinned() { return storage_->pinned({0}, {1000}).value_or(Generations{{9999}}); }

  testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "file";
  std::unique_ptr<Storage> storage_;
};

TEST_F(Processes, ExcludesAWriterInAnotherProcess) {
  ASSERT_TRUE(storage_->lock_writer(0));
  EXPECT_EQ(run_in_child([&] {
              return code_of(open(OpenMode::kWrite)->lock_writer(0)) == Errc::kLocked ? 0 : 1;
            }),
            0);
}

TEST_F(Processes, TakesTheWriterLockOfAKilledOneAtOnce) {
  WaitingChild child([&] { return open(OpenMode::kWrite).release()->lock_writer(0).has_value(); });
  ASSERT_TRUE(child.is_ready());
  EXPECT_EQ(code_of(storage_->lock_writer(0)), Errc::kLocked);
  child.kill();
  EXPECT_TRUE(storage_->lock_writer(0));
}

TEST_F(Processes, LosesThePinsOfAKilledOneAtOnce) {
  WaitingChild child([&] { return open_and_pin({7}); });
  ASSERT_TRUE(child.is_ready());
  EXPECT_EQ(pinned(), (Generations{{7}}));
  child.kill();
  EXPECT_EQ(pinned(), Generations{});
}

TEST_F(Processes, KeepsAPinUntilTheLastOfManyProcessesIsGone) {
  WaitingChild one([&] { return open_and_pin({7}); });
  WaitingChild other([&] { return open_and_pin({7}); });
  ASSERT_TRUE(one.is_ready() && other.is_ready());
  one.kill();
  EXPECT_EQ(pinned(), (Generations{{7}}));
  other.kill();
  EXPECT_EQ(pinned(), Generations{});
}

TEST_F(Processes, NamesTheHolderInAnotherProcess) {
  const WaitingChild child([&] {
    storage_.reset();
    return open_and_pin({7});
  });
  ASSERT_TRUE(child.is_ready());
  const std::vector<PinHolder> holders = storage_->pin_holders();
  ASSERT_EQ(holders.size(), 1U);
  EXPECT_EQ(holders[0].generation, Generation{7});
  EXPECT_EQ(holders[0].pid, child.pid());
}

TEST_F(Processes, NamesTheWriterInAnotherProcess) {
  EXPECT_TRUE(io::find_writers(path_).empty());
  const WaitingChild child([&] {
    storage_.reset();
    return open(OpenMode::kWrite).release()->lock_writer(0).has_value();
  });
  ASSERT_TRUE(child.is_ready());
  EXPECT_EQ(io::find_writers(path_), std::vector<std::int64_t>{child.pid()});
  EXPECT_TRUE(io::find_writers(path_ + ".gone").empty());
}

TEST_F(Processes, RejectsEveryUseInAForkedChild) {
  EXPECT_EQ(run_in_child([&] {
              std::array<std::byte, 4> buffer = {};
              const Errc codes[] = {
                  code_of(storage_->check_process()), code_of(storage_->size()),
                  code_of(storage_->read(0, buffer)), code_of(storage_->write(0, buffer)),
                  code_of(storage_->sync()),          code_of(storage_->allocate({0, 1})),
                  code_of(storage_->truncate(0)),     code_of(storage_->punch({0, 1})),
                  code_of(storage_->view({0, 1})),    code_of(storage_->lock_writer(0)),
                  code_of(storage_->pin({1})),        code_of(storage_->pinned({0}, {9})),
                  code_of(storage_->check_path()),
              };
              int wrong = 0;
              for (const Errc code : codes) wrong += code == Errc::kForked ? 0 : 1;
              return wrong;
            }),
            0);
}

TEST_F(Processes, KeepsTheOwnersLocksWhenAChildEndsItsCopy) {
  ASSERT_TRUE(storage_->lock_writer(0));
  ASSERT_TRUE(storage_->pin({7}));
  ASSERT_EQ(run_in_child([&] {
              storage_->unlock_writer();
              storage_->unpin({7});
              storage_.reset();
              return 0;
            }),
            0);
  EXPECT_EQ(pinned(), (Generations{{7}}));
  EXPECT_EQ(code_of(open(OpenMode::kWrite)->lock_writer(0)), Errc::kLocked);
}

TEST_F(Processes, FreesLocksAtItsEndAlthoughAChildLivesOn) {
  ASSERT_TRUE(storage_->lock_writer(0));
  ASSERT_TRUE(storage_->pin({7}));
  const WaitingChild child([] { return true; });
  storage_ = open(OpenMode::kWrite);
  EXPECT_EQ(pinned(), Generations{});
  EXPECT_TRUE(storage_->lock_writer(0));
}

TEST_F(Processes, KeepsLocksOfAKilledOwnerWhoseChildLivesOn) {
  // Documented: descriptions are shared by fork, so the child keeps what the owner locked.
  std::array<int, 2> ends = {};
  ASSERT_EQ(::pipe(ends.data()), 0);
  WaitingChild owner([&] {
    if (!open_and_pin({7})) return false;
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) ::pause();
    }
    return ::write(ends[1], &child, sizeof child) == sizeof child;
  });
  pid_t grandchild = 0;
  ASSERT_EQ(::read(ends[0], &grandchild, sizeof grandchild),
            static_cast<ssize_t>(sizeof grandchild));
  owner.kill();
  EXPECT_EQ(pinned(), (Generations{{7}}));
  ::kill(grandchild, SIGKILL);
  for (int turn = 0; turn < 1000 && !pinned().empty(); ++turn) ::usleep(1000);
  EXPECT_EQ(pinned(), Generations{});
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Processes, OpensAnewInAChild) {
  EXPECT_EQ(run_in_child([&] {
              const auto storage = open(OpenMode::kWrite);
              return storage->write(0, bytes_of("C")) && storage->lock_writer(0) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(testing::read_bytes(*storage_, 0, 1), bytes_of("C"));
}

TEST_F(Processes, KeepsPinsWhenAForeignDescriptorIsClosed) {
  // With POSIX locks this would lose them.
  ASSERT_TRUE(storage_->pin({7}));
  ASSERT_TRUE(storage_->lock_writer(0));
  ::close(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  const auto other = open(OpenMode::kWrite);
  EXPECT_EQ(*other->pinned({0}, {1000}), (Generations{{7}}));
  EXPECT_EQ(code_of(other->lock_writer(0)), Errc::kLocked);
}

TEST_F(Processes, ReportsAForeignLockOnTheWholeFileAsBusy) {
  const int descriptor = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(descriptor, F_OFD_SETLK, &whole), 0);
  EXPECT_EQ(*storage_->pinned({5}, {8}), (Generations{{5}, {6}, {7}}));
  EXPECT_EQ(code_of(storage_->pinned({0}, {~std::uint64_t{0}})), Errc::kBusyPinned);
  EXPECT_EQ(code_of(storage_->lock_writer(0)), Errc::kLocked);
  ::close(descriptor);
}

TEST_F(Processes, ReportsNoLocksWhenTheSystemKnowsNone) {
  // Any file: past the largest offset the system says EINVAL, as it does without such locks.
  const int descriptor = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  constexpr std::uint64_t kNowhere = std::uint64_t{1} << 63;
  EXPECT_EQ(code_of(io::try_lock_byte(descriptor, kNowhere, io::LockKind::kShared)),
            Errc::kNoLocks);
  EXPECT_EQ(code_of(io::locked_bytes(descriptor, kNowhere, kNowhere + 1, 1)), Errc::kNoLocks);
  ::close(descriptor);
}

TEST(PinHolders, ReadsLockLinesOfFdinfo) {
  constexpr const char* kInfo =
      "pos:\t0\nflags:\t02100000\nmnt_id:\t25\nino:\t12\n"
      "lock:\t1: OFDLCK  ADVISORY  READ -1 fe:00:12 4611686018427387911 4611686018427387912\n"
      "lock:\t2: OFDLCK  ADVISORY  WRITE -1 fe:00:12 4611686018427387903 4611686018427387903\n"
      "lock:\t3: POSIX  ADVISORY  READ 77 fe:00:12 4611686018427387913 4611686018427387913\n"
      "lock:\t4: OFDLCK  ADVISORY  READ -1 fe:00:12 4611686018427387914 EOF\n";
  constexpr std::uint64_t kPins = std::uint64_t{1} << 62;
  EXPECT_EQ(io::parse_lock_lines(kInfo),
            (std::vector<io::LockedRange>{{kPins + 7, kPins + 8, true},
                                          {kPins - 1, kPins - 1, false},
                                          {kPins + 9, kPins + 9, false},
                                          {kPins + 10, UINT64_MAX, true}}));
}

TEST(PinHolders, SurvivesBrokenLockLines) {
  for (const char* text :
       {"", "lock:", "lock:\t1:", "lock:\t1: OFDLCK", "\n\n", "lock: 1: OFDLCK x READ",
        "lock: 1: OFDLCK x READ -1 a b c", "lock: 1: OFDLCK x READ -1 a 9 3"}) {
    EXPECT_TRUE(io::parse_lock_lines(text).empty()) << text;
  }
}

TEST(ForkSentinel, KnowsTheChild) {
  const io::ForkSentinel sentinel;
  EXPECT_FALSE(sentinel.forked());
  EXPECT_EQ(run_in_child([&] { return sentinel.forked() ? 0 : 1; }), 0);
  EXPECT_FALSE(sentinel.forked());
}

}  // namespace
}  // namespace crawlstore
