// SPDX-License-Identifier: Apache-2.0
//
// Requests into arrays, and when that calls for a transfer, a merge or a commit.
#include <algorithm>
#include <bit>

#include "drum/drum_impl.h"

namespace crawlstore {
namespace {

constexpr std::size_t kKeysPerLook = 512;
constexpr std::size_t kLookAhead = 24;  // slots on their way from the memory
/// Requests between the prefetch of columns, or of their ends, and the append.
constexpr std::size_t kColumnsAhead = 8;
constexpr std::size_t kEndsAhead = 4;
/// Requests at which an array is logged. Callers compare when it needs another slab, so the
/// requests of one slab of each kind still fit.
constexpr std::uint64_t kArrayRequestsMax = drum::kSortCountMax - drum::kSlabBytes;
constexpr std::uint64_t kMemoryPerRecentKey = 256;  // of which the window takes 16

}  // namespace

/// Whether full arrays are merged from memory. Options that size arrays and logs, or ask for
/// requests in the log first, have them logged.
bool DrumCore::Impl::merges_from_memory() const {
  return !drum.options.log_first && drum.options.durability != Durability::kRequest &&
         drum.options.array_elements == 0 && drum.options.array_aux_bytes == 0 &&
         drum.options.bucket_bytes == 0;
}

std::uint64_t DrumCore::Impl::flight_bytes() const {
  return drum::flight_bytes(drum.options.memory_bytes);
}

/// Whether the arrays and the sealed requests fill the memory, or an array is hot.
bool DrumCore::Impl::wants_relief() const {
  return merges_from_memory() && array_bytes + sealed_bytes != 0 &&
         (has_hot_array ||
          drum::fills_memory(array_bytes, sealed_bytes, drum.options.memory_bytes));
}

std::uint64_t DrumCore::Impl::array_budget_bytes() const {
  return std::max(drum::kArrayBytesMin, drum.options.memory_bytes / drum.state.buckets.size());
}

std::uint64_t DrumCore::Impl::slice_requests_max() const {
  const auto value = static_cast<std::uint64_t>(std::max(0, drum.state.value_bytes));
  return drum::slice_requests_max(drum.options.memory_bytes, value + drum.state.key_bytes - 8U);
}

/// Whether there is no room for a request. Limits that the options leave open follow memory_bytes.
bool DrumCore::Impl::is_full(const drum::RequestColumns& columns, const RawRequest& request) const {
  if (columns.empty()) return false;
  if (columns.count() >= drum::kSortCountMax) return true;
  const std::uint64_t aux_bytes = columns.aux_bytes() + request.aux.size();
  if (drum.options.array_elements != 0 && columns.count() >= drum.options.array_elements)
    return true;
  if (drum.options.array_aux_bytes != 0 && aux_bytes > drum.options.array_aux_bytes) return true;
  std::uint64_t bytes = drum.options.array_aux_bytes != 0 ? 0 : aux_bytes;
  if (drum.options.array_elements == 0) bytes += columns.key_bytes() + drum.state.key_bytes;
  if (drum.options.array_elements == 0 || drum.state.value_bytes < 0) {
    bytes += columns.value_bytes() + request.value.size();
  }
  return bytes > array_budget_bytes();
}

bool DrumCore::Impl::calls_for_merge(const drum::Bucket& bucket) const {
  const drum::LogRuns& log = bucket.pending;
  const std::size_t locked = bucket.locked_run_count;
  if (log.keys.size() == locked) return false;  // a merge has them already
  drum::LogSize free{.run_count = log.keys.size() - locked,
                     .request_count = log.request_count,
                     .newest_run_requests = log.keys.back()->ref().record_count,
                     .key_bytes = log.key_bytes,
                     .aux_bytes = log.aux_bytes};
  for (const auto& run : std::span(log.keys).first(locked)) {
    free.key_bytes -= run->ref().payload_bytes;
    free.request_count -= run->ref().record_count;
  }
  for (const auto& run : log.auxes) {
    if (log.keys[locked]->ref().run_id < run->ref().run_id) break;
    free.aux_bytes -= run->ref().payload_bytes;
  }
  return drum::calls_for_merge(free, merge_thresholds());
}

/// By bytes where those are given by hand, else by requests.
drum::MergeThresholds DrumCore::Impl::merge_thresholds() const {
  if (drum.options.bucket_bytes != 0) return {.bytes = drum.options.bucket_bytes};
  return {.requests = slice_requests_max()};
}

void DrumCore::Impl::look_for_full_buckets() {
  has_full_bucket =
      std::any_of(drum.state.buckets.begin(), drum.state.buckets.end(),
                  [this](const drum::Bucket& bucket) { return calls_for_merge(bucket); });
}

Result<void> DrumCore::Impl::check_request(const RawRequest& request) {
  if (request.aux.size() > format::kAuxBytesMax) {
    return fail(Errc::kTooLarge, "an auxiliary is larger than 64 MiB");
  }
  const bool has_value = request.operation != DrumOperation::kCheck;
  if (drum.state.value_bytes >= 0 && has_value &&
      request.value.size() != static_cast<std::size_t>(drum.state.value_bytes)) {
    return fail(Errc::kInvalidArgument, "a value has another size than the DRUM's");
  }
  if (request.value.size() > format::kValueBytesMax) {
    return fail(Errc::kTooLarge, "a value is larger than 16 MiB");
  }
  if (request.key_tail != 0 && !drum.state.shape().is_wide()) {
    return fail(Errc::kInvalidArgument, "this DRUM's keys have 8 bytes");
  }
  if (request.consumer != 0 && drum.state.find_consumer(request.consumer) == nullptr) {
    return fail(Errc::kUnknownName, "no consumer has this id");
  }
  return {};
}

/// Whether the error is a full log, after which the submitter may merge and try again.
bool DrumCore::Impl::may_merge_for(const Error& error) const {
  if (error.code != Errc::kTooLarge || store->in_transaction()) return false;
  const std::lock_guard lock(mutex);
  return drum.options.auto_merge &&
         std::any_of(drum.state.buckets.begin(), drum.state.buckets.end(),
                     [](const drum::Bucket& bucket) {
                       return bucket.pending.keys.size() > drum::kRunsUntilMerge;
                     });
}

DrumCore::Impl::Wants DrumCore::Impl::wants() const {
  Wants wants;
  if (store->in_transaction()) return wants;
  wants.commit = drum.options.durability == Durability::kRequest;
  if (drum.options.durability == Durability::kInterval) {
    const auto now = std::chrono::steady_clock::now();
    wants.commit = now - last_commit >= std::chrono::milliseconds(drum.options.interval_ms);
  }
  wants.merge = drum.options.auto_merge && has_full_bucket;
  wants.only_full = drum.options.merge_scope == MergeScope::kFull;
  wants.relief = drum.options.auto_merge && wants_relief();
  return wants;
}

template <class Append>
Result<void> DrumCore::Impl::take(const Append& append, StoreCall& call) {
  Wants wanted;
  const auto try_once = [&]() -> Result<void> {
    const std::lock_guard lock(mutex);
    CRAWLSTORE_TRY(check_usable());
    CRAWLSTORE_TRY(store->writer->check_not_poisoned());
    CRAWLSTORE_TRY(store->change(append));
    wanted = wants();
    return {};
  };
  auto taken = try_once();
  if (!taken || wanted.is_anything()) call.hold(*this);
  if (!taken && may_merge_for(taken.error())) {
    CRAWLSTORE_TRY(merge(MergeCall::kAll));
    taken = try_once();
  }
  CRAWLSTORE_TRY(taken);
  return after_submit(wanted);
}

Result<void> DrumCore::Impl::submit_many(std::span<const RawRequest> requests, StoreCall& call) {
  while (!requests.empty()) CRAWLSTORE_TRY(take([&] { return append_some(requests); }, call));
  return {};
}

/// Takes requests off the span, even if it fails; some stay when a merge should come first.
Result<void> DrumCore::Impl::append_some(std::span<const RawRequest>& requests) {
  const auto array_of = [this](const RawRequest& request) -> const drum::RequestColumns& {
    return arrays[ranges.find(request.key)];
  };
  for (const auto& request : requests.first(std::min(requests.size(), kColumnsAhead))) {
    array_of(request).prefetch();
  }
  do {
    if (requests.size() > kColumnsAhead) array_of(requests[kColumnsAhead]).prefetch();
    if (requests.size() > kEndsAhead) array_of(requests[kEndsAhead]).prefetch_ends();
    CRAWLSTORE_TRY(check_request(requests.front()));
    CRAWLSTORE_TRY(append(requests.front()));
    requests = requests.subspan(1);
  } while (!requests.empty() && !(drum.options.auto_merge && (has_full_bucket || wants_relief())));
  return {};
}

/// Makes room for a request in an array that is merged from memory.
Result<void> DrumCore::Impl::begin_array(std::size_t bucket) {
  if (arrays[bucket].empty()) return ensure_room_for_run(bucket);
  has_hot_array = has_hot_array || drum::is_hot(arrays[bucket].request_bytes(),
                                                arrays[bucket].count(), drum.options.memory_bytes);
  // Without automatic merges the log takes the requests, in runs of limited size.
  const bool is_over = array_bytes + flight_bytes() >= drum.options.memory_bytes;
  if ((!drum.options.auto_merge && is_over) || arrays[bucket].count() >= kArrayRequestsMax) {
    CRAWLSTORE_TRY(transfer_arrays());
  }
  return arrays[bucket].empty() ? ensure_room_for_run(bucket) : Result<void>{};
}

Result<void> DrumCore::Impl::append(const RawRequest& request) {
  const bool is_tentative = store->in_transaction();
  auto& set = is_tentative ? tentative_arrays : arrays;
  const std::size_t bucket = ranges.find(request.key);
  if (!is_tentative && merges_from_memory()) {
    CRAWLSTORE_TRY(begin_array(bucket));
  } else {
    if (is_full(set[bucket], request)) {
      CRAWLSTORE_TRY(is_tentative ? transfer_tentative() : transfer_arrays());
    }
    if (set[bucket].empty()) CRAWLSTORE_TRY(ensure_room_for_run(bucket));
  }
  drum::RequestColumns& columns = set[bucket];
  const auto tag =
      format::make_tag(static_cast<format::Operation>(request.operation), request.consumer);
  const Key16 key = drum::key_of(request);
  const std::uint64_t name = drum::RecentKeys::name_of(key);
  const bool looks = !is_tentative && recent.is_awake();
  if (looks) recent.wake();
  const auto repeated = looks ? recent.find(name, columns.number()) : recent.kNotFound;
  const bool drops = drum.options.repeats == Repeats::kDrop;
  const bool repeats = repeated != recent.kNotFound && (drops || columns.can_repeat(repeated)) &&
                       columns.has_key(repeated, key);
  if (!is_tentative) recent.count(1, repeats ? 1 : 0);
  const std::uint64_t before = columns.request_bytes();
  if (repeats) {
    ++(drops ? dropped_count : repeat_count);
    if (drops) return {};
    columns.append_repeat(tag, repeated, request.aux);
  } else {
    const bool inserts = request.operation != DrumOperation::kCheck;
    if (columns.empty()) columns.set_number(recent.begin_array());
    columns.append(tag, key, drum.state.shape(),
                   inserts ? request.value : std::span<const std::byte>{}, request.aux);
    if (looks && inserts) recent.note(name, columns.number(), columns.key_count() - 1);
  }
  if (!is_tentative) array_bytes += columns.request_bytes() - before;
  return {};
}

/// Returns the size of the window, which leaves 15/16 of the memory to requests. Requests that are
/// logged first are sorted from the log, where only dropped ones save work.
std::size_t DrumCore::Impl::recent_key_count() const {
  if (drum.state.value_bytes != 0) return 0;
  if (!merges_from_memory() && drum.options.repeats == Repeats::kAnswer) return 0;
  return std::min<std::uint64_t>(drum.options.recent_keys,
                                 std::bit_floor(drum.options.memory_bytes / kMemoryPerRecentKey));
}

template <class Key>
Result<void> DrumCore::Impl::submit_keys(std::uint16_t tag, std::span<const Key> keys,
                                         StoreCall& call) {
  while (!keys.empty()) {
    CRAWLSTORE_TRY(take([&] { return append_keys(tag, keys); }, call));
  }
  return {};
}

template Result<void> DrumCore::Impl::submit_keys(std::uint16_t, std::span<const std::uint64_t>,
                                                  StoreCall&);
template Result<void> DrumCore::Impl::submit_keys(std::uint16_t, std::span<const Key16>,
                                                  StoreCall&);

template <bool kLooks, class Key>
std::size_t DrumCore::Impl::append_plain(std::uint16_t tag, std::span<const Key> keys) {
  using drum::RecentKeys;
  const bool drops = drum.options.repeats == Repeats::kDrop;
  const bool inserts = format::operation_of(tag) != format::Operation::kCheck;
  std::uint64_t key_count = 0;
  std::uint64_t repeats = 0;
  if constexpr (kLooks) {
    recent.wake();
    for (const Key key : keys.first(std::min(kLookAhead, keys.size()))) {
      recent.prefetch(RecentKeys::name_of(key));
    }
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key key = keys[i];
    const std::uint64_t name = RecentKeys::name_of(key);
    if (kLooks && i + kLookAhead < keys.size()) {
      recent.prefetch(RecentKeys::name_of(keys[i + kLookAhead]));
    }
    drum::RequestColumns& columns = arrays[ranges.find(Key16{key}.head)];
    const std::size_t repeated = kLooks ? recent.find(name, columns.number()) : recent.kNotFound;
    if (kLooks && repeated != recent.kNotFound && (drops || columns.can_repeat(repeated)) &&
        columns.has_key(repeated, key)) {
      if (!drops && !columns.takes_plain_repeat(tag)) break;
      if (!drops) columns.append_plain_repeat(repeated);
      ++repeats;
      continue;
    }
    if (!columns.takes_plain_key(tag)) break;
    if (kLooks && inserts) recent.note(name, columns.number(), columns.key_count());
    columns.append_plain_key(key);
    ++key_count;
  }
  recent.count(key_count + repeats, repeats);
  (drops ? dropped_count : repeat_count) += repeats;
  array_bytes +=
      key_count * sizeof(Key) + (drops ? 0 : repeats * drum::RequestColumns::kPlainRepeatBytes);
  return key_count + repeats;
}

/// Takes keys off the span, even if it fails; some stay when a merge should come first.
template <class Key>
Result<void> DrumCore::Impl::append_keys(std::uint16_t tag, std::span<const Key>& keys) {
  const auto request_of = [tag](Key key) {
    const Key16 both{key};
    return RawRequest{static_cast<DrumOperation>(format::operation_of(tag)),
                      format::consumer_of(tag),
                      both.head,
                      {},
                      {},
                      both.tail};
  };
  if (store->in_transaction() || !merges_from_memory()) {
    for (; !keys.empty(); keys = keys.subspan(1)) CRAWLSTORE_TRY(append(request_of(keys.front())));
    return {};
  }
  while (!keys.empty() && !(drum.options.auto_merge && wants_relief())) {
    const auto look = keys.first(std::min(keys.size(), kKeysPerLook));
    std::size_t count = 0;
    Result<void> done;
    while (done && count < look.size()) {
      const auto rest = look.subspan(count);
      count += recent.is_awake() ? append_plain<true>(tag, rest) : append_plain<false>(tag, rest);
      if (count < look.size()) done = append(request_of(look[count++]));
    }
    keys = keys.subspan(done ? count : count - 1);
    CRAWLSTORE_TRY(done);
  }
  return {};
}

Result<void> DrumCore::Impl::after_submit(const Wants& wants) {
  if (wants.relief) {
    CRAWLSTORE_TRY(relieve());
  }
  if (wants.merge) {
    CRAWLSTORE_TRY(merge(wants.only_full ? MergeCall::kFullBuckets : MergeCall::kWhenFull));
  }
  if (!wants.commit) return {};
  const std::lock_guard lock(store->turn);
  CRAWLSTORE_TRY(store->check_open());
  CRAWLSTORE_TRY(store->commit_all());
  return {};
}

}  // namespace crawlstore
