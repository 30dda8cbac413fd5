// SPDX-License-Identifier: Apache-2.0
#include "drum/bucket_logs.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/in_parallel.h"
#include "container/choose_join.h"
#include "container/run_io.h"

namespace crawlstore::drum {
namespace {

/// Runs that requests outside a transaction leave free, so that a transaction can write its own.
constexpr std::size_t kRunsKeptForDispatchers = 16;
/// Arrays that are in memory a second time, encoded.
constexpr std::size_t kEncodedAtOnce = 16;
constexpr unsigned kThreadsMax = 4;
/// Bytes that one thread encodes in about a millisecond.
constexpr std::uint64_t kBytesPerThread = 512 * 1024;

std::size_t run_count(const Bucket& bucket) {
  return bucket.pending.keys.size() + bucket.tentative.keys.size();
}

tl::unexpected<Error> too_many_runs() {
  return fail(Errc::kTooLarge, "a bucket has too many runs; merge more often");
}

/// The runs to join of a log, from `first` to its end, and their bytes.
struct JoinedTail {
  std::size_t first = 0;
  std::uint64_t bytes = 0;
};
/// Returns the runs that join_runs() may join; those before `fixed` stay.
JoinedTail tail_to_join(const LogRuns& log, std::size_t fixed, std::uint64_t requests_max,
                        std::uint64_t bytes_max) {
  std::size_t aux = log.auxes.size();
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  const auto fits = [&](std::size_t i) {
    const format::RunRef& run = log.keys[i]->ref();
    const bool has_aux = aux > 0 && log.auxes[aux - 1]->ref().run_id.value == run.run_id.value + 1;
    const std::uint64_t more =
        run.payload_bytes + (has_aux ? log.auxes[aux - 1]->ref().payload_bytes : 0);
    if (requests + run.record_count > requests_max || bytes + more > bytes_max) return false;
    requests += run.record_count;
    bytes += more;
    if (has_aux) --aux;
    return true;
  };
  const auto size_of = [&](std::size_t i) { return log.keys[i]->ref().record_count; };
  const std::size_t first = container::choose_join(fixed, log.keys.size(), size_of, fits);
  return {first, bytes};
}

}  // namespace

Result<void> BucketLogs::ensure_room_for_run(std::size_t index) {
  Bucket& bucket = drum_.state.buckets[index];
  const std::size_t waiting = inbox_.run_count(index);
  const std::size_t kept = drum_.store.in_transaction() ? 0 : kRunsKeptForDispatchers;
  const auto has_room = [&] { return run_count(bucket) + waiting + kept < format::kRunsPerLogMax; };
  if (has_room()) return {};
  CRAWLSTORE_TRY(join_runs(bucket));
  return has_room() ? Result<void>{} : too_many_runs();
}

/// Writes the bucket's next runs; makes its logs the first time.
Result<RequestRuns> BucketLogs::write_runs(Bucket& bucket, const RequestColumns::Encoded& encoded) {
  container::Writer& writer = drum_.writer();
  if (!bucket.key_log) bucket.key_log = writer.new_segment_id();
  if (!bucket.aux_log) bucket.aux_log = writer.new_segment_id();
  CRAWLSTORE_TRY(const auto runs, RequestColumns::write(writer,
                                                        {drum_.state.id, bucket.key_log,
                                                         bucket.aux_log, writer.new_run_ids(2)},
                                                        encoded));
  RequestRuns written{writer.runs->add(bucket.key_log, runs.keys), {}};
  if (runs.auxes.payload_bytes != 0) written.auxes = writer.runs->add(bucket.aux_log, runs.auxes);
  return written;
}

/// Encodes some requests, on several threads if they are many.
Result<void> BucketLogs::encode(std::span<const Transferred> some,
                                std::span<RequestColumns::Encoded> to) {
  std::uint64_t bytes = 0;
  for (const auto& entry : some) bytes += entry.columns->request_bytes();
  const auto threads = std::clamp(std::thread::hardware_concurrency(), 1U, kThreadsMax);
  const auto useful =
      std::min<std::uint64_t>(drum_.options.parallel ? threads : 1, bytes / kBytesPerThread);
  return in_parallel(static_cast<unsigned>(std::max<std::uint64_t>(1, useful)), some.size(),
                     [&](std::uint64_t i, unsigned) -> Result<void> {
                       some[i].columns->encode(some[i].first_sequence, drum_.shape.value_bytes,
                                               to[i]);
                       return {};
                     });
}

/// Writes the runs of all, or of none, in this order, whatever the number of threads.
Result<void> BucketLogs::write(std::span<Transferred> all) {
  std::vector<RequestColumns::Encoded> encoded(std::min(all.size(), kEncodedAtOnce));
  while (!all.empty()) {
    const auto some = all.first(std::min(all.size(), kEncodedAtOnce));
    all = all.subspan(some.size());
    CRAWLSTORE_TRY(encode(some, encoded));
    for (std::size_t i = 0; i < some.size(); ++i) {
      Bucket& bucket = drum_.state.buckets[some[i].bucket];
      CRAWLSTORE_TRY(some[i].runs, write_runs(bucket, encoded[i]));
    }
  }
  return {};
}

/// Moves requests, once their runs are written, to the bucket's log.
void BucketLogs::move_to_log(Transferred& entry) {
  using Source = Transferred::Source;
  Bucket& bucket = drum_.state.buckets[entry.bucket];
  const bool is_tentative = entry.source == Source::kTentative;
  (is_tentative ? bucket.tentative : bucket.pending).add(std::move(entry.runs));
  if (entry.source == Source::kSealed) {
    // A merge that has planned to take them takes them as its locked runs.
    if (bucket.is_planned) ++bucket.locked_run_count;
    inbox_.sealed.drop_oldest(entry.bucket);
  } else if (is_tentative) {
    inbox_.drop_tentative(entry.bucket);
  } else {
    (void)inbox_.arrays.take(entry.bucket);
  }
}

/// Writes the wanted buckets' requests in memory as runs, in arrival order. All or nothing.
template <class Wanted>
Result<void> BucketLogs::transfer(bool takes_tentative, const Wanted& is_wanted) {
  using Source = Transferred::Source;
  std::vector<Transferred> all;
  std::uint64_t sequence = drum_.state.next_sequence;
  const auto take = [&](std::size_t b, Source source, const RequestColumns& columns) {
    if (columns.empty()) return;
    all.push_back({b, source, &columns, sequence});
    sequence += columns.count();
  };
  for (std::size_t b = 0; b < inbox_.arrays.size(); ++b) {
    if (inbox_.run_count(b) == 0 || !is_wanted(b)) continue;
    for (const auto& waiting : inbox_.sealed.of(b)) {
      all.push_back({b, Source::kSealed, waiting.columns.get(), waiting.first_sequence});
    }
    take(b, Source::kArray, inbox_.arrays[b]);
    if (takes_tentative) take(b, Source::kTentative, inbox_.tentative(b));
  }
  if (all.empty()) return {};
  CRAWLSTORE_TRY(write(all));
  drum_.state.next_sequence = sequence;
  drum_.dirty = true;
  ++transfer_count_;
  for (auto& entry : all) move_to_log(entry);
  for (const auto& entry : all) {
    Bucket& bucket = drum_.state.buckets[entry.bucket];
    // The requests are taken: a join that fails now is asked for again by the next transfer.
    if (run_count(bucket) > kJoinRunCount) (void)join_runs(bucket);
  }
  look_for_full_buckets();
  return {};
}

Result<void> BucketLogs::log_arrays() {
  return transfer(false, [](std::size_t) { return true; });
}

Result<void> BucketLogs::log_arrays(std::size_t first, std::size_t end) {
  return transfer(false, [first, end](std::size_t b) { return b >= first && b < end; });
}

Result<void> BucketLogs::log_tentative() {
  return transfer(true, [this](std::size_t b) {
    kPartMutex.assert_held();
    return !inbox_.tentative(b).empty();
  });
}

Result<void> BucketLogs::log_for(CommitScope scope) {
  if (scope == CommitScope::kEverything || !drum_.merges_from_memory()) {
    CRAWLSTORE_TRY(log_arrays());
  }
  return log_tentative();
}

Result<void> BucketLogs::read_requests(const Bucket& bucket,
                                       std::span<const container::RunPtr> keys,
                                       std::span<const container::RunPtr> auxes,
                                       const Visit& visit) {
  container::Writer& writer = drum_.writer();
  std::vector<std::byte> key_payload;
  std::vector<std::byte> aux_payload;
  for (const auto& run : keys) {
    const format::RunRef& ref = run->ref();
    CRAWLSTORE_TRY(container::read_run(
        writer.storage(), container::run_name(writer.identity(), bucket.key_log, ref.run_id), ref,
        key_payload));
    const auto aux = std::find_if(auxes.begin(), auxes.end(), [&ref](const auto& candidate) {
      return candidate->ref().run_id.value == ref.run_id.value + 1;
    });
    aux_payload.clear();
    if (aux != auxes.end()) {
      const format::RunRef& aux_ref = (*aux)->ref();
      CRAWLSTORE_TRY(container::read_run(
          writer.storage(), container::run_name(writer.identity(), bucket.aux_log, aux_ref.run_id),
          aux_ref, aux_payload));
    }
    std::uint64_t count = 0;
    const auto count_and_visit = [&](const RawRequest& request, std::uint64_t sequence) {
      if (++count <= ref.record_count) visit(request, sequence);
    };
    CRAWLSTORE_TRY(for_each_request(key_payload, aux_payload, count_and_visit));
    if (count != ref.record_count) {
      return fail(Errc::kSegmentInvalid, "a key run does not match its reference", ref.offset_bytes,
                  bucket.key_log);
    }
  }
  return {};
}

/// Joins the newest runs of the newer log into one. The work is logarithmic: a run is joined if the
/// runs after it hold at least as many requests. Runs that a merge reads stay. So do runs before
/// one of the other log, as sequences must ascend. Nothing to join is no error.
Result<void> BucketLogs::join_runs(Bucket& bucket) {
  // Take the log with the newest run, and only its runs after all of the other log.
  const auto newest_of = [](const LogRuns& runs) {
    return runs.empty() ? RunId{} : runs.keys.back()->ref().run_id;
  };
  const bool is_tentative = newest_of(bucket.pending) < newest_of(bucket.tentative);
  LogRuns& log = is_tentative ? bucket.tentative : bucket.pending;
  const LogRuns& other = is_tentative ? bucket.pending : bucket.tentative;
  std::size_t fixed = is_tentative ? 0 : bucket.locked_run_count;
  if (!other.empty()) {
    const auto newest = newest_of(other);
    while (fixed < log.keys.size() && log.keys[fixed]->ref().run_id < newest) ++fixed;
  }
  const std::uint64_t requests_max = std::min<std::uint64_t>(
      kSortCountMax, std::max(kJoinedRequestsMin, drum_.slice_requests_max()));
  const std::uint64_t bytes_max = std::max(kJoinedBytesMin, drum_.options.memory_bytes);
  RequestColumns joined;
  std::size_t first = 0;
  // Compressed requests may be too much once they are read: then take half as many bytes of runs.
  for (std::uint64_t budget = bytes_max;;) {
    const JoinedTail joins = tail_to_join(log, fixed, requests_max, budget);
    first = joins.first;
    budget = joins.bytes / 2;
    if (log.keys.size() - first < 2) return {};
    joined.clear();
    CRAWLSTORE_TRY(read_requests(bucket, std::span(log.keys).subspan(first), log.auxes,
                                 [&](const RawRequest& request, std::uint64_t sequence) {
                                   if (joined.request_bytes() > bytes_max) return;
                                   joined.append(tag_of(request), key_of(request), drum_.shape,
                                                 request.value, request.aux);
                                   joined.append_sequence(sequence);
                                 }));
    if (joined.request_bytes() <= bytes_max) break;
  }
  if (!joined.can_hold(joined.last_sequence())) return {};
  joined.encode(0, drum_.shape.value_bytes, scratch_);
  CRAWLSTORE_TRY(auto runs, write_runs(bucket, scratch_));
  LogRuns kept = log;
  LogRuns dropped = log;
  dropped.drop_front(first);
  kept.keys.resize(first);
  kept.auxes.resize(log.auxes.size() - dropped.auxes.size());
  kept.request_count -= dropped.request_count;
  kept.key_bytes -= dropped.key_bytes;
  kept.aux_bytes -= dropped.aux_bytes;
  kept.add(std::move(runs));
  log = std::move(kept);
  drum_.dirty = true;
  return {};
}

Result<void> BucketLogs::redistribute(std::size_t first, std::size_t count) {
  LogRuns log = drum_.state.buckets[first].pending;
  log.add(drum_.state.buckets[first].tentative);
  if (log.empty()) return {};
  const Bucket source = drum_.state.buckets[first];
  drum_.state.buckets[first].pending = {};
  drum_.state.buckets[first].tentative = {};
  std::vector<RequestColumns> parts(count);
  const auto write_part = [&](std::size_t i) -> Result<void> {
    kPartMutex.assert_held();
    Bucket& bucket = drum_.state.buckets[first + i];
    if (run_count(bucket) >= format::kRunsPerLogMax) return too_many_runs();
    parts[i].encode(0, drum_.shape.value_bytes, scratch_);
    CRAWLSTORE_TRY(auto runs, write_runs(bucket, scratch_));
    bucket.pending.add(std::move(runs));
    parts[i].clear();
    return {};
  };
  const std::uint64_t bytes_max = 2 * std::max(kJoinedBytesMin, drum_.options.memory_bytes);
  Result<void> done;
  CRAWLSTORE_TRY(read_requests(
      source, log.keys, log.auxes, [&](const RawRequest& request, std::uint64_t sequence) {
        if (!done) return;
        kPartMutex.assert_held();
        const std::size_t i = drum_.state.bucket_of(request.key) - first;
        if (i >= count) {
          done = fail(Errc::kSegmentInvalid, "a request lies in another bucket than its key",
                      Error::kNoOffset, source.key_log);
          return;
        }
        RequestColumns& part = parts[i];
        if (part.count() != 0 &&
            (!part.can_hold(sequence) || part.count() == kSortCountMax ||
             part.value_bytes() + part.aux_bytes() + drum_.shape.key_bytes * part.count() >=
                 bytes_max)) {
          done = write_part(i);
        }
        part.append(tag_of(request), key_of(request), drum_.shape, request.value, request.aux);
        part.append_sequence(sequence);
      }));
  CRAWLSTORE_TRY(done);
  for (std::size_t i = 0; i < count; ++i) {
    if (parts[i].count() != 0) CRAWLSTORE_TRY(write_part(i));
  }
  return {};
}

void BucketLogs::keep_tentative() {
  for (auto& bucket : drum_.state.buckets) bucket.keep_tentative();
  inserts.forget_tentative();
  look_for_full_buckets();
}

void BucketLogs::drop_tentative() {
  for (auto& bucket : drum_.state.buckets) bucket.tentative = {};
  inserts.forget_tentative();
}

void BucketLogs::look_for_full_buckets() {
  has_full_bucket_ = std::ranges::any_of(drum_.state.buckets, [this](const Bucket& bucket) {
    kPartMutex.assert_held();
    return drum_.calls_for_merge(bucket);
  });
}

void BucketLogs::adapt_to_buckets() {
  std::vector<std::uint64_t> first_keys;
  first_keys.reserve(drum_.state.buckets.size());
  for (const auto& bucket : drum_.state.buckets) first_keys.push_back(bucket.first_key);
  inbox_.reshape(std::move(first_keys));
  look_for_full_buckets();
}

bool BucketLogs::wants_relief() const {
  return drum_.merges_from_memory() && inbox_.fills(drum_.options.memory_bytes);
}

bool BucketLogs::has_too_many_runs() const {
  return std::ranges::any_of(drum_.state.buckets, [](const Bucket& bucket) {
    return bucket.pending.keys.size() > kRunsUntilMerge;
  });
}

}  // namespace crawlstore::drum
