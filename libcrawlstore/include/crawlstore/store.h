// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A crawl file, open for writing. One writer at a time, in any process; any number of snapshots
/// beside it. The byte layout is in spec/format.md, the commit protocol in spec/commit.md.
///
/// Ownership: as in crawlstore.hpp. A Store holds its file and the writer lock until close(), or
/// its end; parts that are still there then give kClosed.
/// Threads: commit(), rollback(), compact(), merges and DRUM submissions may be called from any
/// thread; they take turns. Moving or closing a Store needs it for oneself.
/// A handle that was moved from may only be destroyed, or assigned to; so it is of all classes.
/// Fork: a child process must not use its parent's store (kForked); it may exit normally.
/// Errors: every call may also fail with kClosed, kForked, kPoisoned.
///
/// Callbacks: functions of the program that are called in the middle of the work: Progress,
/// RankProgress, reports, PagesOptions::unparsed, what PageDb::forget(), Frontier::rewrite() and
/// DrumCore::drop_keys() ask, rules of a normalizer. Inside one, each call that changes, commits or
/// closes the store or a part of it gives kReentrant, and so do those that read what waits, or the
/// writer: Store::snapshot(), Drum::lookup(), contains() and find(). Counters, generation,
/// file_bytes and status are free, and so are snapshots that are open, or opened by path.
/// Other threads may use the store, but may have to wait for the work, so that the callback must
/// not wait for them. What it throws stops the work as a "no" would, and is thrown on: the store
/// is as it was before, but for commits that the call makes on its way. A handle that goes inside
/// is closed when the call ends. Dispatchers have a rule of their own: drum_dispatcher.h.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/report.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/storage.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

struct StoreImpl;

/// For tests and reproducible files; everything has a default.
struct CreateOptions {
  std::optional<Uuid> uuid;               ///< default: random
  std::optional<std::uint64_t> key_seed;  ///< default: random; fixed seeds let a hostile site aim
  std::optional<std::int64_t> time_us;    ///< creation and commit times; default: the clock
  ReportFunction report{};                ///< as in OpenOptions
};

struct OpenOptions {
  /// Milliseconds to wait for another writer. 0: fail at once with kLocked.
  std::uint32_t lock_wait_ms = 0;
  /// Commit time to write, and crawl time of pages that come without one; default: the clock.
  std::optional<std::int64_t> time_us;
  /// Told of each step, until the store and all its parts are gone: report.h.
  ReportFunction report{};
};

/// Told about long work; a callback (see above). Returns false to stop it: the call then ends with
/// kCancelled, and what was committed stands.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

/// A part of a store: the kind of the segment that bears its name, and the name.
struct PartName {
  SegmentKind kind{};
  std::string name{};
};

class Store {
 public:
  /// Creates `path` atomically and opens it. Never replaces a file.
  ///   errors  kExists, kPermission, kNoSpace, kNotFound (the folder)
  [[nodiscard]] static Result<Store> create(const std::string& path,
                                            const CreateOptions& options = {});

  /// Opens an existing file for writing. Reads the directory, writes nothing.
  ///   errors  kNotFound, kNotACrawlFile, kNewerVersion, kOlderVersion, kUnknownFeature,
  ///           kReadOnlyFeature, the damage family, kLocked, kNoLocks, kPermission
  ///   cost    O(directory)
  [[nodiscard]] static Result<Store> open(const std::string& path, const OpenOptions& options = {});

  /// open(), behind create() when there is no such file; waits for others that create it meanwhile.
  [[nodiscard]] static Result<Store> open_or_create(const std::string& path,
                                                    const CreateOptions& create = {},
                                                    const OpenOptions& open = {});

  /// The same on any storage; the storage must hold a store already.
  [[nodiscard]] static Result<Store> open(std::unique_ptr<Storage> storage,
                                          const OpenOptions& options = {});

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  /// close(); after an error it is closed all the same, and what waited is lost. Inside a callback
  /// or a transaction, and so in a dispatcher, the store stays open until that ends.
  ~Store();

  /// Publishes everything that waits: pending requests of all DRUMs become durable. Returns the
  /// generation that holds them; the current one when nothing waited, which is durable as well.
  ///   errors  kNoSpace and the like: nothing changed, try again; kReentrant inside a transaction;
  ///           kReplaced when another file is at the path by now, or another program has written
  ///           into this one: then nothing more is written, and every later call says so, too
  ///   cost    two fdatasync and the bytes that changed (bounds: spec/design.md)
  [[nodiscard]] Result<Generation> commit();

  /// Takes DRUMs, queues and frontiers out of the store, with all that is theirs, in one commit
  /// with everything that waits; or none of them. Their names are free at once. Snapshots keep what
  /// they have, rollback() brings the parts back; later commits reuse the room, as ever.
  ///   parts   one that is named twice counts once
  ///   errors  kUnknownName: one is not in the file; kInvalidArgument: one is open, of another
  ///           kind, or a DRUM with the name of a page database, which may keep its keys there;
  ///           kReentrant inside a transaction; those of commit(). Then nothing was dropped,
  ///           and what waited in others waits on
  ///   cost    that of commit(), and O(segments); reads nothing of the parts
  [[nodiscard]] Result<Generation> drop(std::span<const PartName> parts);

  /// Back to the content of the previous generation, as a new generation. Pending requests are
  /// dropped. Reads all runs of the previous one.
  ///   progress  told of bytes read; false: kCancelled, all stays
  ///   errors    kNoPreviousGeneration: there is none, or it is damaged: alone, or as the newest;
  ///             kInvalidArgument: a DRUM, a page database or a queue is open
  [[nodiscard]] Result<Generation> rollback(const Progress& progress = {});

  /// rollback() for a file whose newest generation may be damaged, or lost: tools/roll_forward.h.
  [[nodiscard]] static Result<Generation> rollback(const std::string& path,
                                                   const OpenOptions& options = {},
                                                   const Progress& progress = {});

  /// Moves everything to the front and gives the rest of the file back, in steps: each copies at
  /// most 64 MiB, or one run that is longer, while others may use the store, and then commits.
  /// DRUMs and page databases may be open and used from other threads, whose commits wait for the
  /// commit of a step at most; what they write or replace meanwhile, or a merge reads, does not
  /// move, so that the call ends however much they write.
  /// Readers keep their generations (what they pin stays).
  ///   progress  called between steps and copies, without locks: other threads go on
  ///   errors  kCancelled: the steps until then stand; kReentrant inside a transaction;
  ///           kInvalidArgument: another thread is compacting
  ///   cost    reads and writes what moves; beside what others write the file grows by no more than
  ///           its longest run and three directories
  [[nodiscard]] Result<CompactReport> compact(const Progress& progress = {});

  /// A pinned view of the current generation, without what is still pending. errors kReplaced
  [[nodiscard]] Result<Snapshot> snapshot() const;

  /// Keeps a small value under a name, for counters and states of the program's own: values.h. It
  /// waits for commit(), or is part of the transaction under way. In place of the one before.
  ///   name    1 to 255 bytes, UTF-8 without control characters; a leading full stop is reserved
  ///   errors  kInvalidArgument: the name; kTooLarge: it, more than 4,096 bytes, a 1,025th value;
  ///           where the file's are damaged, as read_values()
  ///   cost    memory; a commit writes all small values anew if one has changed
  [[nodiscard]] Result<void> set(std::string_view name, std::span<const std::byte> bytes);
  /// The value as it was set last, whether it is committed or not; nothing where there is none.
  [[nodiscard]] Result<std::optional<std::vector<std::byte>>> get(std::string_view name) const;
  /// Takes a small value away, as set() sets one. False: there was none.
  [[nodiscard]] Result<bool> remove(std::string_view name);
  /// The names of all small values, sorted, as get() has them.
  [[nodiscard]] Result<std::vector<std::string>> value_names() const;

  [[nodiscard]] Generation generation() const;
  [[nodiscard]] Uuid uuid() const;
  /// Seed of URL keys in this file.
  [[nodiscard]] std::uint64_t key_seed() const;
  [[nodiscard]] std::uint64_t file_bytes() const;
  [[nodiscard]] std::uint64_t free_bytes() const;
  /// Totals of this store since it was opened, up to now or until it was closed: report.h.
  ///   threads  any, while others merge and commit, but not while one closes or destroys the store;
  ///            each number is whole, together they are of no one moment
  ///   cost     some 20 loads from memory; no lock
  [[nodiscard]] StoreCounters counters() const;

  /// Commits what waits, gives excess free space back, releases the lock. Again: no effect. Where
  /// nothing waits it writes nothing: what a process that died left is made durable by commit().
  ///   errors  those of commit(): it stays open with what waits, try again; kPoisoned, and where a
  ///           commit poisons the store, or another program wrote into the file: it is closed, what
  ///           waited is lost
  [[nodiscard]] Result<void> close();

 private:
  explicit Store(std::shared_ptr<StoreImpl> impl);
  friend struct Inside;
  std::shared_ptr<StoreImpl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
