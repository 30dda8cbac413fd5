// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The seam between crawlstore and the file: everything the library does to a file goes through a
/// Storage. Three implementations exist: the system's (open_storage), one in memory
/// (MemoryStorage, for tests and scratch stores), and one that records every operation, injects
/// failures and replays crash images (tests/support/recording_storage.h).
///
/// Ownership: as in crawlstore.hpp, but pointers that view() returns are valid until the Storage
/// ends, or until forget(): growth never moves them.
/// Threads: read(), view(), counters() from any thread; the others from one thread at a time,
/// except pin() and unpin(), which lock inside.
/// Offsets and lengths are bytes from the start of the file.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Counts of a storage since it was opened. A seek is a read or write that does not start
/// where the last operation of the same kind ended.
struct StorageCounters {
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t read_count = 0;
  std::uint64_t write_count = 0;
  std::uint64_t read_seek_count = 0;
  std::uint64_t write_seek_count = 0;
  std::uint64_t sync_count = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t truncate_count = 0;
  std::uint64_t punched_bytes = 0;
};

/// A process that holds a pinned generation. pid 0 = unknown (another container, or no /proc).
struct PinHolder {
  Generation generation;
  std::int64_t pid = 0;
};

class Storage {
 public:
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;

  /// Length of the file now.
  [[nodiscard]] virtual Result<std::uint64_t> size() = 0;

  /// Reads at `offset`. Returns the bytes read: fewer than asked only at the end of the file.
  /// Retries EINTR and short reads itself. errors kIo
  [[nodiscard]] virtual Result<std::size_t> read(std::uint64_t offset,
                                                 std::span<std::byte> into) = 0;

  /// Writes all of `bytes` at `offset`, or fails; after a failure the range holds anything.
  /// errors kNoSpace, kFileSizeLimit, kIo, kReadOnly
  [[nodiscard]] virtual Result<void> write(std::uint64_t offset,
                                           std::span<const std::byte> bytes) = 0;

  /// The first place at or behind `offset` that may hold other bytes than zeros: what a file system
  /// knows of holes. The length of the file when there is none; `offset` where nothing is known.
  [[nodiscard]] virtual std::uint64_t next_data(std::uint64_t offset) { return offset; }

  /// Makes all that was written durable, and the file's length (fdatasync). After a failure nothing
  /// written since the last success can be trusted, and the caller must not sync again.
  [[nodiscard]] virtual Result<void> sync() = 0;

  /// Says that the extent will be read soon, so that the system can begin. Best effort. Views read
  /// nothing ahead without it.
  virtual void prefetch(Extent extent) = 0;

  /// Reserves real blocks for the extent; the file grows to its end if it was shorter. Bytes that
  /// were never written read as zero. errors kNoSpace, kFileSizeLimit, kUnsupported
  [[nodiscard]] virtual Result<void> allocate(Extent extent) = 0;

  /// Shortens the file. errors kInvalidArgument when it is shorter already
  [[nodiscard]] virtual Result<void> truncate(std::uint64_t size_bytes) = 0;

  /// Gives the blocks of the extent back; its bytes read as zero. kUnsupported is no harm.
  [[nodiscard]] virtual Result<void> punch(Extent extent) = 0;

  /// A read-only pointer to the extent's bytes, through a mapping longer than the file. The caller
  /// guarantees that the extent is inside the file. Bytes that a later truncation cut off, or that
  /// the drive does not deliver, read as zero and are reported by first_fault().
  /// Nothing outside of the extent is promised: what lies beside it is asked for anew.
  [[nodiscard]] virtual Result<const std::byte*> view(Extent extent) = 0;

  /// Says that no pointer into the extent is in use, nor what was concluded from its bytes: memory
  /// that stands for them may be given back. Nothing to do for a mapping of the file.
  virtual void forget(Extent extent) { static_cast<void>(extent); }

  /// Takes the writer lock (exclusive, byte 2^62-1). With `wait_ms` 0 a held lock fails at once;
  /// otherwise it is tried until the time is over. errors kLocked, kNoLocks, kReadOnly
  [[nodiscard]] virtual Result<void> lock_writer(std::uint32_t wait_ms) = 0;
  virtual void unlock_writer() = 0;

  /// Pins a generation (shared, byte 2^62 + generation). Pins of one storage are counted. Never
  /// waits. A storage opened with kReadNoPin says yes and takes no lock. errors kNoLocks
  [[nodiscard]] virtual Result<void> pin(Generation generation) = 0;
  /// Takes one pin back; of a generation without one: nothing.
  virtual void unpin(Generation generation) = 0;

  /// The generations in [from, to) that anybody has pinned, ascending, each once. Asks through the
  /// writer's descriptor, so that this storage's own pins are seen as well.
  ///   errors  kNoLocks; kBusyPinned when there are more than 2^20 (a lock on the whole file)
  [[nodiscard]] virtual Result<std::vector<Generation>> pinned(Generation from, Generation to) = 0;

  /// The processes that hold the pins, as far as the system tells. For display.
  virtual std::vector<PinHolder> pin_holders() = 0;

  /// Another handle on the same file, for reading: its pins are its own. errors as open_storage(),
  /// kReplaced
  [[nodiscard]] virtual Result<std::shared_ptr<Storage>> reopen() = 0;

  /// errors kReplaced when the path no longer leads to this file, or it has no name any more.
  [[nodiscard]] virtual Result<void> check_path() = 0;

  /// errors kForked in a child process of the one that opened it.
  [[nodiscard]] virtual Result<void> check_process() = 0;

  /// Bytes past which reads through view() failed because the file was cut; none = no fault so far.
  virtual std::optional<std::uint64_t> first_fault() = 0;

  [[nodiscard]] virtual StorageCounters counters() const = 0;
};

enum class OpenMode : std::uint8_t { kRead, kReadNoPin, kWrite };

/// Opens an existing file.
///   errors  kNotFound, kPermission, kNotACrawlFile (a directory, FIFO, socket or device)
[[nodiscard]] Result<std::unique_ptr<Storage>> open_storage(const std::string& path, OpenMode mode);

/// The same file without a mapping, for network file systems and failing disks: view() reads what
/// it is asked for into memory of its own, once. A sector that cannot be read is kIo with its
/// offset, bytes behind the end of the file are kTruncated: never zeros, never a signal.
/// It is for reading, and for one generation: what was viewed is not read again when a writer has
/// reused its place since.
///   memory  what was viewed, in units of 4 KiB, until forget() or the end of the storage
std::unique_ptr<Storage> unmapped(std::unique_ptr<Storage> storage);

/// Creates `path` atomically: `fill` writes the whole content into a file without a name, which is
/// synced and then given its name; the folder is synced. A crash leaves nothing, or all of it.
/// When only the sync of the folder fails, that is reported, and the file stands at its path.
///   errors  kExists (never replaces a file), kNoSpace, kPermission, and what `fill` returns
[[nodiscard]] Result<void> create_file(const std::string& path,
                                       Result<void> (*fill)(Storage&, void* context),
                                       void* context);

/// A store in memory: the same behaviour, locks included, without a file.
struct MemoryFile;
/// Makes a file in memory from `content`; several storages may be opened on it.
std::shared_ptr<MemoryFile> make_memory_file(std::span<const std::byte> content,
                                             std::uint64_t capacity_bytes = std::uint64_t{1} << 28);
/// `file` may be nullptr: an empty file that cannot grow.
std::unique_ptr<Storage> open_memory_storage(std::shared_ptr<MemoryFile> file, OpenMode mode);
/// A copy of the bytes as they are now.
std::vector<std::byte> contents(const MemoryFile& file);
/// Gives the file another content: ten times faster than a new file, for tests that look at very
/// many. No storage may be open on it. errors kNoSpace (longer than its capacity)
[[nodiscard]] Result<void> reset(MemoryFile& file, std::span<const std::byte> content);

}  // namespace crawlstore
#pragma GCC visibility pop
