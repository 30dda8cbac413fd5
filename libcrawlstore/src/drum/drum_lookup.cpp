// SPDX-License-Identifier: Apache-2.0
//
// Answers at once, from the partitions and the requests that wait.
//
// Invariant: requests of a key take effect in this order: those of both logs' runs by their ids,
// those that are sealed, those of the array, those of the tentative array.
#include "container/run_io.h"
#include "drum/drum_impl.h"

namespace crawlstore {
namespace {

/// Returns the value of the newest request in memory that inserts the key, or nothing. Those of a
/// transaction count in the thread that has it.
template <class Drum>
std::optional<std::span<const std::byte>> find_in_memory(const Drum& drum, Key16 key) {
  const std::size_t bucket = drum.ranges.find(key.head);
  const std::uint64_t hash = drum::InsertIndex::hash_of(key);
  std::optional<std::span<const std::byte>> found;
  if (drum.store->in_transaction()) found = drum.tentative_arrays[bucket].find(key, hash);
  if (!found) found = drum.arrays[bucket].find(key, hash);
  const auto& sealed = drum.sealed[bucket];
  for (auto waiting = sealed.rbegin(); !found && waiting != sealed.rend(); ++waiting) {
    found = waiting->columns->find(key, hash);
  }
  return found;
}

/// Whether a logged request inserts the key. Those of a transaction count as above.
template <class Drum>
Result<bool> is_in_logs(Drum& drum, Key16 key) {
  const std::size_t bucket = drum.ranges.find(key.head);
  CRAWLSTORE_TRY(const bool is_pending, drum.is_logged(bucket, false, key));
  if (is_pending || !drum.store->in_transaction()) return is_pending;
  return drum.is_logged(bucket, true, key);
}

/// Reads a run of the bucket's log.
Result<std::vector<std::byte>> read_key_run(container::Writer& writer, const drum::Bucket& bucket,
                                            const format::RunRef& run) {
  std::vector<std::byte> payload;
  CRAWLSTORE_TRY(container::read_run(
      writer.storage(), container::run_name(writer.identity(), bucket.key_log, run.run_id), run,
      payload));
  return payload;
}

/// Returns the value of the newest request in the runs that inserts the key, or nothing.
Result<std::optional<std::vector<std::byte>>> find_in_runs(container::Writer& writer,
                                                           const drum::Bucket& bucket,
                                                           std::span<const container::RunPtr> runs,
                                                           drum::Shape shape, Key16 key) {
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    CRAWLSTORE_TRY(const auto payload, read_key_run(writer, bucket, (*run)->ref()));
    auto found = drum::find_in_run(payload, shape, key);
    if (!found) {
      return fail(found.error().code, found.error().text, (*run)->ref().offset_bytes,
                  bucket.key_log);
    }
    if (*found) return found;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<std::vector<std::byte>>> DrumCore::Impl::lookup(Key16 key) {
  drum::Bucket& bucket = drum.state.buckets[ranges.find(key.head)];
  if (!bucket.partition_run) return std::optional<std::vector<std::byte>>{};
  if (bucket.lookup == nullptr) {
    CRAWLSTORE_TRY(bucket.lookup,
                   drum::PartitionLookup::open(bucket.partition_run->reader(), drum.state.shape()));
  }
  return bucket.lookup->find(key);
}

/// Whether a request that waits inserts the key.
Result<bool> DrumCore::Impl::is_inserted(Key16 key) {
  return find_in_memory(*this, key) ? Result<bool>(true) : is_in_logs(*this, key);
}

/// Whether a run of the bucket's log inserts the key.
Result<bool> DrumCore::Impl::is_logged(std::size_t index, bool is_tentative, Key16 key) {
  const drum::Bucket& bucket = drum.state.buckets[index];
  const auto& runs = is_tentative ? bucket.tentative.keys : bucket.pending.keys;
  if (runs.empty()) return false;
  auto& all = is_tentative ? tentative_keys : pending_keys;
  if (all.size() != drum.state.buckets.size())
    all = std::vector<drum::LoggedKeys>(drum.state.buckets.size());
  return all[index].contain(runs, key, [&](const format::RunRef& run) {
    return read_key_run(*store->writer, bucket, run);
  });
}

Result<std::optional<std::vector<std::byte>>> DrumCore::lookup(Key16 key) const {
  const std::lock_guard lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  return impl_->lookup(key);
}

Result<bool> DrumCore::contains(Key16 key) const {
  const std::lock_guard lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  if (key.tail != 0 && !impl_->drum.state.shape().is_wide()) return false;
  CRAWLSTORE_TRY(const auto stored, impl_->lookup(key));
  return stored.has_value() ? Result<bool>(true) : impl_->is_inserted(key);
}

Result<std::optional<std::vector<std::byte>>> DrumCore::find(Key16 key) const {
  const std::lock_guard lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  const drum::Shape shape = impl_->drum.state.shape();
  if (key.tail != 0 && !shape.is_wide()) return std::nullopt;
  if (const auto value = find_in_memory(*impl_, key)) {
    return std::vector<std::byte>(value->begin(), value->end());
  }
  CRAWLSTORE_TRY(const bool is_logged, is_in_logs(*impl_, key));
  if (!is_logged) return impl_->lookup(key);
  const drum::Bucket& bucket = impl_->drum.state.buckets[impl_->ranges.find(key.head)];
  drum::LogRuns log = bucket.pending;
  if (impl_->store->in_transaction()) log.add(bucket.tentative);
  return find_in_runs(*impl_->store->writer, bucket, log.keys, shape, key);
}

Result<bool> DrumCore::insert(Key16 key, std::span<const std::byte> value) {
  StoreCall call;
  return impl_->insert(key, value, call);
}

}  // namespace crawlstore
