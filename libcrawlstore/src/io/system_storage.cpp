// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - descriptor_ is a regular file, opened for writing iff mode_ is kWrite, and is the only
//   description of this storage that holds the writer lock and asks for pins.
// - In a forked child every operation fails with kForked, and the destructor closes without
//   unlocking: locks belong to the description, which the parent still has. The owner's destructor
//   unlocks.
// - A failed allocate leaves the length as it was (unless the system refuses even that).
// - Counters count what succeeded.

#include "io/system_storage.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file_size_signal.h"
#include "io/lock_bytes.h"
#include "io/ofd_locks.h"
#include "io/pin_holders.h"

namespace crawlstore::io {
namespace {

/// Writes of so many bytes or more are no metadata.
constexpr std::size_t kWritebackBytes = 64 * 1024;

constexpr std::uint64_t kOffsetEnd = std::uint64_t{std::numeric_limits<off_t>::max()};

/// Whether the extent ends before the largest file offset, so that off_t can name it.
bool fits_offsets(std::uint64_t offset, std::uint64_t length_bytes) {
  return offset <= kOffsetEnd && length_bytes <= kOffsetEnd - offset;
}

/// Calls a function that returns -1 and errno until it is not interrupted.
template <class Call>
auto retrying(Call call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace

SystemStorage::SystemStorage(int descriptor, std::string path, OpenMode mode)
    : descriptor_(descriptor),
      path_(std::move(path)),
      mode_(mode),
      mapping_(descriptor),
      pins_(descriptor, path_) {}

SystemStorage::~SystemStorage() {
  // Closing alone would leave the locks with children that were forked in the meantime.
  if (!sentinel_.forked()) {
    pins_.unpin_all();
    if (mode_ == OpenMode::kWrite) unlock_byte(descriptor_, kWriterLockByte);
  }
  ::close(descriptor_);
}

Result<void> SystemStorage::check_process() {
  if (sentinel_.forked()) return fail(Errc::kForked, "opened by the parent process");
  return {};
}

Result<void> SystemStorage::check_writable() {
  if (mode_ != OpenMode::kWrite) return fail(Errc::kReadOnly, "opened for reading");
  return check_process();
}

Result<std::uint64_t> SystemStorage::size() {
  CRAWLSTORE_TRY(check_process());
  struct stat status = {};
  if (::fstat(descriptor_, &status) != 0) return fail_errno(errno, "cannot stat the file");
  return static_cast<std::uint64_t>(status.st_size);
}

Result<std::size_t> SystemStorage::read(std::uint64_t offset, std::span<std::byte> into) {
  CRAWLSTORE_TRY(check_process());
  if (!fits_offsets(offset, into.size())) {
    return fail(Errc::kInvalidArgument, "read outside any file", offset);
  }
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = retrying([&] {
      return ::pread(descriptor_, into.data() + done, into.size() - done,
                     static_cast<off_t>(offset + done));
    });
    if (got == -1) return fail_errno(errno, "cannot read the file", offset + done);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  meter_.count_read(offset, done);
  return done;
}

std::uint64_t SystemStorage::next_data(std::uint64_t offset) {
  if (!check_process() || !fits_offsets(offset, 0)) return offset;
  const off_t found = ::lseek(descriptor_, static_cast<off_t>(offset), SEEK_DATA);
  if (found != -1) return static_cast<std::uint64_t>(found);
  if (errno == ENXIO) return size().value_or(offset);
  return offset;
}

Result<void> SystemStorage::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  CRAWLSTORE_TRY(check_writable());
  if (!fits_offsets(offset, bytes.size())) {
    return fail(Errc::kInvalidArgument, "write outside any file", offset);
  }
  const FileSizeSignalBlock block;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = retrying([&] {
      return ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                      static_cast<off_t>(offset + done));
    });
    if (put == -1) return fail_errno(errno, "cannot write the file", offset + done);
    if (put == 0) return fail(Errc::kIo, "the system wrote nothing", offset + done);
    done += static_cast<std::size_t>(put);
  }
  // Begins to write them out, so that the next sync has less to wait for. Errors come out there.
  if (bytes.size() >= kWritebackBytes) {
    (void)::sync_file_range(descriptor_, static_cast<off_t>(offset),
                            static_cast<off_t>(bytes.size()), SYNC_FILE_RANGE_WRITE);
  }
  meter_.count_write(offset, bytes.size());
  return {};
}

Result<void> SystemStorage::sync() {
  CRAWLSTORE_TRY(check_writable());
  // An interrupted sync has reported no failure of a page yet, so that it may be asked again.
  if (retrying([&] { return ::fdatasync(descriptor_); }) != 0) {
    return fail_errno(errno, "cannot sync the file");
  }
  meter_.count_sync();
  return {};
}

Result<void> SystemStorage::allocate(Extent extent) {
  CRAWLSTORE_TRY(check_writable());
  if (!fits_offsets(extent.offset_bytes, extent.length_bytes)) {
    return fail(Errc::kInvalidArgument, "extent outside any file", extent.offset_bytes);
  }
  if (extent.length_bytes == 0) return {};
  const Result<std::uint64_t> size_before = size();
  CRAWLSTORE_TRY(size_before);
  const FileSizeSignalBlock block;
  const Result<void> reserved = reserve(extent, *size_before);
  if (reserved) {
    meter_.count_allocate(extent.length_bytes);
    return {};
  }
  // Some file systems keep what they could reserve. Nobody refers to bytes past the old end.
  if (const Result<std::uint64_t> now = size(); now && *now > *size_before) {
    (void)retrying([&] { return ::ftruncate(descriptor_, static_cast<off_t>(*size_before)); });
  }
  return reserved;
}

/// fallocate in pieces: one that a signal interrupts starts again with half the length, because
/// some file systems undo an interrupted one and would never finish under a fast timer.
Result<void> SystemStorage::reserve(Extent extent, std::uint64_t size_before_bytes) {
  constexpr std::uint64_t kPieceMin = std::uint64_t{1} << 20;
  std::uint64_t piece_bytes = extent.length_bytes;
  std::uint64_t offset = extent.offset_bytes;
  while (offset < extent.end_bytes()) {
    const std::uint64_t length = std::min(piece_bytes, extent.end_bytes() - offset);
    if (::fallocate(descriptor_, 0, static_cast<off_t>(offset), static_cast<off_t>(length)) == 0) {
      offset += length;
    } else if (errno == EINTR) {
      piece_bytes = std::max(piece_bytes / 2, kPieceMin);
    } else if (errno == EOPNOTSUPP || errno == ENOSYS) {
      const std::uint64_t from = std::max(extent.offset_bytes, size_before_bytes);
      if (from >= extent.end_bytes()) return {};
      return write_zeros({from, extent.end_bytes() - from});
    } else {
      return fail_errno(errno, "cannot reserve space", offset);
    }
  }
  return {};
}

Result<void> SystemStorage::write_zeros(Extent extent) {
  static constexpr std::array<std::byte, std::size_t{64} << 10> kZeros = {};
  std::uint64_t offset = extent.offset_bytes;
  while (offset < extent.end_bytes()) {
    const auto length = static_cast<std::size_t>(
        std::min<std::uint64_t>(kZeros.size(), extent.end_bytes() - offset));
    const ssize_t put = retrying(
        [&] { return ::pwrite(descriptor_, kZeros.data(), length, static_cast<off_t>(offset)); });
    if (put <= 0) return fail_errno(put == 0 ? EIO : errno, "cannot reserve space", offset);
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

Result<void> SystemStorage::truncate(std::uint64_t size_bytes) {
  CRAWLSTORE_TRY(check_writable());
  const Result<std::uint64_t> size_before = size();
  CRAWLSTORE_TRY(size_before);
  if (size_bytes > *size_before) {
    return fail(Errc::kInvalidArgument, "truncate only shortens", size_bytes);
  }
  if (retrying([&] { return ::ftruncate(descriptor_, static_cast<off_t>(size_bytes)); }) != 0) {
    return fail_errno(errno, "cannot shorten the file", size_bytes);
  }
  meter_.count_truncate();
  return {};
}

Result<void> SystemStorage::punch(Extent extent) {
  CRAWLSTORE_TRY(check_writable());
  if (!fits_offsets(extent.offset_bytes, extent.length_bytes)) {
    return fail(Errc::kInvalidArgument, "extent outside any file", extent.offset_bytes);
  }
  if (extent.length_bytes == 0) return {};
  const int punched = retrying([&] {
    return ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                       static_cast<off_t>(extent.offset_bytes),
                       static_cast<off_t>(extent.length_bytes));
  });
  if (punched != 0) return fail_errno(errno, "cannot give space back", extent.offset_bytes);
  meter_.count_punch(extent.length_bytes);
  return {};
}

Result<const std::byte*> SystemStorage::view(Extent extent) {
  CRAWLSTORE_TRY(check_process());
  if (const std::byte* bytes = mapping_.find(extent)) return bytes;
  const Result<std::uint64_t> file_size = size();
  CRAWLSTORE_TRY(file_size);
  return mapping_.view(extent, *file_size);
}

Result<void> SystemStorage::lock_writer(std::uint32_t wait_ms) {
  CRAWLSTORE_TRY(check_writable());
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(wait_ms);
  auto pause = std::chrono::milliseconds(1);
  for (;;) {
    const Result<void> locked = try_lock_byte(descriptor_, kWriterLockByte, LockKind::kExclusive);
    if (locked || locked.error().code != Errc::kLocked || Clock::now() >= deadline) return locked;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(20));
  }
}

void SystemStorage::unlock_writer() {
  if (!sentinel_.forked()) unlock_byte(descriptor_, kWriterLockByte);
}

Result<void> SystemStorage::pin(Generation generation) {
  CRAWLSTORE_TRY(check_process());
  if (mode_ == OpenMode::kReadNoPin) return {};
  return pins_.pin(generation);
}

void SystemStorage::unpin(Generation generation) {
  if (mode_ != OpenMode::kReadNoPin && !sentinel_.forked()) pins_.unpin(generation);
}

Result<std::vector<Generation>> SystemStorage::pinned(Generation from, Generation to) {
  CRAWLSTORE_TRY(check_process());
  const std::uint64_t end = std::min(to.value, kPinnableGenerationEnd);
  std::vector<Generation> generations;
  if (from.value >= end) return generations;
  CRAWLSTORE_TRY(const auto bytes, locked_bytes(descriptor_, kPinLockBase + from.value,
                                                kPinLockBase + end, kPinnedCountMax));
  generations.reserve(bytes.size());
  for (const std::uint64_t byte : bytes) generations.push_back({byte - kPinLockBase});
  return generations;
}

std::vector<PinHolder> SystemStorage::pin_holders() {
  std::vector<PinHolder> holders = find_pin_holders(descriptor_);
  const auto everybody = pinned({0}, {kPinnableGenerationEnd});
  if (!everybody) return holders;
  const std::size_t known_count = holders.size();
  for (const Generation generation : *everybody) {
    const auto known_end = holders.begin() + static_cast<std::ptrdiff_t>(known_count);
    const bool known = std::any_of(holders.begin(), known_end, [&](const PinHolder& holder) {
      return holder.generation == generation;
    });
    if (!known) holders.push_back({generation, 0});
  }
  std::stable_sort(holders.begin(), holders.end(), [](const PinHolder& a, const PinHolder& b) {
    return a.generation < b.generation;
  });
  return holders;
}

Result<std::shared_ptr<Storage>> SystemStorage::reopen() {
  CRAWLSTORE_TRY(check_path());
  CRAWLSTORE_TRY(auto other, open_storage(path_, OpenMode::kRead));
  // The path may have been replaced between the two: then the check fails now.
  CRAWLSTORE_TRY(check_path());
  return std::shared_ptr<Storage>(std::move(other));
}

void SystemStorage::prefetch(Extent extent) {
  (void)::posix_fadvise(descriptor_, static_cast<off_t>(extent.offset_bytes),
                        static_cast<off_t>(extent.length_bytes), POSIX_FADV_WILLNEED);
}

Result<void> SystemStorage::check_path() {
  CRAWLSTORE_TRY(check_process());
  if (path_.empty()) return {};
  struct stat opened = {};
  struct stat named = {};
  if (::fstat(descriptor_, &opened) != 0) return fail_errno(errno, "cannot stat the file");
  if (::stat(path_.c_str(), &named) != 0) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) {
      return fail(Errc::kReplaced, "nothing is at the path any more");
    }
    return fail_errno(errno, "cannot stat the path");
  }
  if (opened.st_nlink == 0 || opened.st_dev != named.st_dev || opened.st_ino != named.st_ino) {
    return fail(Errc::kReplaced, "another file is at the path now");
  }
  return {};
}

std::optional<std::uint64_t> SystemStorage::first_fault() {
  return mapping_.first_fault();
}

StorageCounters SystemStorage::counters() const {
  return meter_.counters();
}

}  // namespace crawlstore::io
