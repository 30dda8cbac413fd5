// SPDX-License-Identifier: Apache-2.0
//
// Answers at once, from the partitions and the requests that wait.
#include "container/run_io.h"
#include "drum/drum_impl.h"

namespace crawlstore {

Result<std::optional<std::vector<std::byte>>> DrumCore::Impl::lookup(Key16 key) {
  drum::Bucket& bucket = state.buckets[ranges.find(key.head)];
  if (!bucket.partition_run) return std::optional<std::vector<std::byte>>{};
  if (bucket.lookup == nullptr) {
    CRAWLSTORE_TRY(bucket.lookup,
                   drum::PartitionLookup::open(bucket.partition_run->reader(), state.shape()));
  }
  return bucket.lookup->find(key);
}

/// Whether a request that waits inserts the key.
Result<bool> DrumCore::Impl::is_inserted(Key16 key) {
  const std::size_t index = ranges.find(key.head);
  const bool sees_tentative = store->in_transaction();  // its own transaction
  const std::uint64_t hash = drum::InsertIndex::hash_of(key);
  if (arrays[index].inserts(key, hash)) return true;
  if (sees_tentative && tentative_arrays[index].inserts(key, hash)) return true;
  for (const auto& waiting : sealed[index]) {
    if (waiting.columns->inserts(key, hash)) return true;
  }
  const auto found = is_logged(index, false, key);
  return !found || *found || !sees_tentative ? found : is_logged(index, true, key);
}

/// Whether a run of the bucket's log inserts the key.
Result<bool> DrumCore::Impl::is_logged(std::size_t index, bool is_tentative, Key16 key) {
  const drum::Bucket& bucket = state.buckets[index];
  const auto& runs = is_tentative ? bucket.tentative.keys : bucket.pending.keys;
  if (runs.empty()) return false;
  auto& all = is_tentative ? tentative_keys : pending_keys;
  if (all.size() != state.buckets.size()) all = std::vector<drum::LoggedKeys>(state.buckets.size());
  container::Writer& writer = *store->writer;
  const auto read = [&](const format::RunRef& run) -> Result<std::vector<std::byte>> {
    std::vector<std::byte> payload;
    CRAWLSTORE_TRY(container::read_run(
        writer.storage(), container::run_name(writer.identity(), bucket.key_log, run.run_id), run,
        payload));
    return payload;
  };
  return all[index].contain(runs, key, read);
}

Result<std::optional<std::vector<std::byte>>> DrumCore::lookup(Key16 key) const {
  const std::lock_guard lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  return impl_->lookup(key);
}

Result<bool> DrumCore::contains(Key16 key) const {
  const std::lock_guard lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  if (key.tail != 0 && !impl_->state.shape().is_wide()) return false;
  CRAWLSTORE_TRY(const auto stored, impl_->lookup(key));
  return stored.has_value() ? Result<bool>(true) : impl_->is_inserted(key);
}

}  // namespace crawlstore
