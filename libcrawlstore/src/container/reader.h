// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <crawlstore/storage.h>

#include "container/directory_state.h"
#include "container/run_io.h"

namespace crawlstore::container {

struct ReaderOptions {
  bool pin = true;        ///< false: another process may reuse what is read (no OFD locks)
  bool previous = false;  ///< the generation before the winner
  CommitPolicy policy{};
  const KindSet* kinds = &all_kinds();
};

/// One pinned generation, or the one that a writer is about to publish. Never writes. Threads: any
/// number.
class Reader {
 public:
  /// PIN of spec/commit.md: locks the generation's byte, reads the superblocks again, uses only
  /// what the second reading showed.
  ///   errors  those of read_identity(), read_superblocks(), load_directory(); kNoLocks
  static Result<std::shared_ptr<Reader>> open(std::shared_ptr<Storage> storage,
                                              const ReaderOptions& options);
  /// Reads what a writer is about to publish (Writer::next_directory()). Unpinned: the writer
  /// keeps its place in the meantime.
  static std::shared_ptr<Reader> open_unpublished(std::shared_ptr<Storage> storage,
                                                  const format::Identity& identity,
                                                  DirectoryPtr directory);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const format::Identity& identity() const { return identity_; }
  [[nodiscard]] const Directory& directory() const { return *directory_; }
  [[nodiscard]] const std::shared_ptr<Storage>& storage() const { return storage_; }

  /// Random access to a run of this generation; one reader a run, kept.
  std::shared_ptr<RunReader> run_reader(SegmentId segment, const format::RunRef& run);

  /// FOLLOW: the newest generation in the file now.
  ///   errors  kReplaced when the file no longer holds the generation that is read: reopen
  Result<Generation> newest();

 private:
  Reader(std::shared_ptr<Storage> storage, const format::Identity& identity)
      : storage_(std::move(storage)), identity_(identity) {}
  Result<bool> try_pin(const ReaderOptions& options);

  std::shared_ptr<Storage> storage_;
  format::Identity identity_;
  DirectoryPtr directory_;
  bool pinned_ = false;
  std::mutex mutex_;  // guards run_readers_
  std::map<RunId, std::shared_ptr<RunReader>> run_readers_;
};

}  // namespace crawlstore::container
