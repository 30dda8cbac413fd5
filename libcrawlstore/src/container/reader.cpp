// SPDX-License-Identifier: Apache-2.0
//
// Invariants: directory_ belongs to the generation that is pinned; it was reached only through
// bytes that were read after the pin was held. Or it is what this process is about to publish.
#include "container/reader.h"

#include "container/superblocks.h"

namespace crawlstore::container {

Reader::~Reader() {
  if (pinned_ && storage_->check_process()) storage_->unpin(directory_->generation());
}

/// One attempt; false = the generation moved on between the two readings.
Result<bool> Reader::try_pin(const ReaderOptions& options) {
  const auto first = read_superblocks(*storage_, identity_.uuid);
  if (!first) return tl::unexpected<Error>(first.error());
  const auto* wanted = options.previous ? first->previous() : first->winner();
  if (wanted == nullptr) {
    return fail(Errc::kNoPreviousGeneration, "there is no previous generation in this file");
  }
  const Generation generation{wanted->generation};
  if (options.pin) CRAWLSTORE_TRY(storage_->pin(generation));
  const auto give_up = [&](const Error& error) -> Result<bool> {
    if (options.pin) storage_->unpin(generation);
    return tl::unexpected<Error>(error);
  };

  const auto second =
      options.policy.reread_after_pin ? read_superblocks(*storage_, identity_.uuid) : first;
  if (!second) return give_up(second.error());
  const auto* now = options.previous ? second->previous() : second->winner();
  if (now == nullptr || now->generation != generation.value) {
    now = second->previous();  // the winner moved on by one while we were pinning
  }
  if (now == nullptr || now->generation != generation.value) {
    if (options.pin) storage_->unpin(generation);
    return false;
  }
  const auto load = now == second->winner() ? load_directory : load_previous_directory;
  auto directory = load(*storage_, identity_.uuid, *now, options.policy, *options.kinds);
  if (!directory) return give_up(directory.error());
  directory_ = std::move(*directory);
  pinned_ = options.pin;
  return true;
}

Result<std::shared_ptr<Reader>> Reader::open(std::shared_ptr<Storage> storage,
                                             const ReaderOptions& options) {
  CRAWLSTORE_TRY(const auto identity, read_identity(*storage));
  std::shared_ptr<Reader> reader(new Reader(std::move(storage), identity));
  for (int attempt = 0; attempt < 1000; ++attempt) {
    CRAWLSTORE_TRY(const auto pinned, reader->try_pin(options));
    if (pinned) return reader;
  }
  return fail(Errc::kBusyPinned, "the store commits faster than a generation can be pinned");
}

std::shared_ptr<Reader> Reader::open_unpublished(std::shared_ptr<Storage> storage,
                                                 const format::Identity& identity,
                                                 DirectoryPtr directory) {
  std::shared_ptr<Reader> reader(new Reader(std::move(storage), identity));
  reader->directory_ = std::move(directory);
  return reader;
}

std::shared_ptr<RunReader> Reader::run_reader(SegmentId segment, const format::RunRef& run) {
  const std::lock_guard lock(mutex_);
  auto& place = run_readers_[run.run_id];
  if (place == nullptr) {
    place = std::make_shared<RunReader>(storage_, run_name(identity_, segment, run.run_id), run);
  }
  return place;
}

Result<Generation> Reader::newest() {
  CRAWLSTORE_TRY(storage_->check_process());
  const auto replaced =
      fail(Errc::kReplaced, "the file no longer holds the generation that was read; open it again");
  const auto set = read_superblocks(*storage_, identity_.uuid);
  if (!set) {  // those of another store look damaged
    const auto identity = read_identity(*storage_);
    if (identity && identity->uuid != identity_.uuid) return replaced;
    return tl::unexpected<Error>(set.error());
  }
  const auto* winner = set->winner();
  const auto& mine = directory_->superblock;
  const bool has_other_content =
      winner->generation == mine.generation && !format::same_generation(*winner, mine);
  if (winner->generation < mine.generation || has_other_content) return replaced;
  // A copy of the store that went on by itself shows newer generations, too; but no writer that
  // sees the pin reuses what the pinned one refers to.
  if (pinned_) {
    const auto is_there = has_root(*storage_, identity_.uuid, mine);
    if (!is_there) return tl::unexpected<Error>(is_there.error());
    if (!*is_there) return replaced;
  }
  return Generation{winner->generation};
}

}  // namespace crawlstore::container
