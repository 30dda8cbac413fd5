// SPDX-License-Identifier: Apache-2.0
#include "drum/logged_inserts.h"

#include <span>

#include "container/run_io.h"

namespace crawlstore::drum {
namespace {

/// Reads a run of the bucket's log.
Result<std::vector<std::byte>> read_key_run(container::Writer& writer, const Bucket& bucket,
                                            const format::RunRef& run) {
  std::vector<std::byte> payload;
  CRAWLSTORE_TRY(container::read_run(
      writer.storage(), container::run_name(writer.identity(), bucket.key_log, run.run_id), run,
      payload));
  return payload;
}

/// Whether one of the runs of a bucket inserts the key; `all` has the keys of all buckets.
Result<bool> have(const OpenDrum& drum, std::vector<LoggedKeys>& all, std::size_t bucket,
                  std::span<const container::RunPtr> runs, Key16 key)
    CRAWLSTORE_LOCKING(requires_capability(kPartMutex)) {
  if (runs.empty()) return false;
  const auto& buckets = drum.state.buckets;
  if (all.size() != buckets.size()) all = std::vector<LoggedKeys>(buckets.size());
  return all[bucket].contain(runs, key, [&](const format::RunRef& run) {
    kPartMutex.assert_held();
    return read_key_run(drum.writer(), buckets[bucket], run);
  });
}

}  // namespace

void LoggedInserts::forget_merged() {
  const auto& buckets = drum_.state.buckets;
  for (std::size_t b = 0; b < pending_.size() && b < buckets.size(); ++b) {
    if (buckets[b].pending.empty()) pending_[b] = {};
  }
}

Result<bool> LoggedInserts::contain(std::size_t bucket, Key16 key, bool in_transaction) {
  CRAWLSTORE_TRY(const bool is_pending,
                 have(drum_, pending_, bucket, drum_.state.buckets[bucket].pending.keys, key));
  if (is_pending || !in_transaction) return is_pending;
  return contain_tentative(bucket, key);
}

Result<bool> LoggedInserts::contain_tentative(std::size_t bucket, Key16 key) {
  return have(drum_, tentative_, bucket, drum_.state.buckets[bucket].tentative.keys, key);
}

Result<std::optional<std::vector<std::byte>>> LoggedInserts::find(std::size_t index, Key16 key,
                                                                  bool in_transaction) const {
  const Bucket& bucket = drum_.state.buckets[index];
  LogRuns log = bucket.pending;
  if (in_transaction) log.add(bucket.tentative);
  for (auto run = log.keys.rbegin(); run != log.keys.rend(); ++run) {
    CRAWLSTORE_TRY(const auto payload, read_key_run(drum_.writer(), bucket, (*run)->ref()));
    auto found = find_in_run(payload, drum_.shape, key);
    if (!found) {
      return fail(found.error().code, found.error().text, (*run)->ref().offset_bytes,
                  bucket.key_log);
    }
    if (*found) return found;
  }
  return std::nullopt;
}

}  // namespace crawlstore::drum
