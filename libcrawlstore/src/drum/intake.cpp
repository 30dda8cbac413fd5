// SPDX-License-Identifier: Apache-2.0
#include "drum/intake.h"

#include <algorithm>
#include <bit>

#include <crawlstore/tools/merge_rules.h>

namespace crawlstore::drum {
namespace {

constexpr std::size_t kKeysPerLook = 512;
/// Requests between the prefetch of columns, or of their ends, and the append.
constexpr std::size_t kColumnsAhead = 8;
constexpr std::size_t kEndsAhead = 4;
/// Requests at which an array is logged. Callers compare when it needs another slab, so the
/// requests of one slab of each kind still fit.
constexpr std::uint64_t kArrayRequestsMax = kSortCountMax - kSlabBytes;
constexpr std::uint64_t kMemoryPerRecentKey = 256;  // of which the window takes 16

/// Returns the size of the recent-keys window, which leaves 15/16 of the memory to requests.
/// Requests that are logged first are sorted from the log, where only dropped ones save work.
std::size_t recent_key_count(const OpenDrum& drum)
    CRAWLSTORE_LOCKING(requires_capability(kPartMutex)) {
  if (drum.shape.value_bytes != 0) return 0;
  if (!drum.merges_from_memory() && drum.options.repeats == Repeats::kAnswer) return 0;
  return std::min<std::uint64_t>(drum.options.recent_keys,
                                 std::bit_floor(drum.options.memory_bytes / kMemoryPerRecentKey));
}

template <class Key>
RawRequest request_of(std::uint16_t tag, Key key) {
  const Key16 both{key};
  return {static_cast<DrumOperation>(format::operation_of(tag)),
          format::consumer_of(tag),
          both.head,
          {},
          {},
          both.tail};
}

}  // namespace

void Intake::tune() {
  inbox_.arrays.tune(recent_key_count(drum_), drum_.options.repeats);
  logs_.look_for_full_buckets();
}

Result<void> Intake::check(const RawRequest& request) const {
  if (request.aux.size() > format::kAuxBytesMax) {
    return fail(Errc::kTooLarge, "an auxiliary is larger than 64 MiB");
  }
  const std::int32_t value_bytes = drum_.shape.value_bytes;
  const bool has_value = request.operation != DrumOperation::kCheck;
  if (value_bytes >= 0 && has_value &&
      request.value.size() != static_cast<std::size_t>(value_bytes)) {
    return fail(Errc::kInvalidArgument, "a value has another size than the DRUM's");
  }
  if (request.value.size() > format::kValueBytesMax) {
    return fail(Errc::kTooLarge, "a value is larger than 16 MiB");
  }
  if (request.key_tail != 0 && !drum_.shape.is_wide()) {
    return fail(Errc::kInvalidArgument, "this DRUM's keys have 8 bytes");
  }
  if (request.consumer != ConsumerId{} && drum_.state.find_consumer(request.consumer) == nullptr) {
    return fail(Errc::kUnknownName, "no consumer has this id");
  }
  return {};
}

/// Whether there is no room for a request. Limits that the options leave open follow memory_bytes.
bool Intake::is_full(const RequestColumns& columns, const RawRequest& request) const {
  if (columns.empty()) return false;
  if (columns.count() >= kSortCountMax) return true;
  const DrumOptions& options = drum_.options;
  const std::uint64_t aux_bytes = columns.aux_bytes() + request.aux.size();
  if (options.array_elements != 0 && columns.count() >= options.array_elements) return true;
  if (options.array_aux_bytes != 0 && aux_bytes > options.array_aux_bytes) return true;
  std::uint64_t bytes = options.array_aux_bytes != 0 ? 0 : aux_bytes;
  if (options.array_elements == 0) bytes += columns.key_bytes() + drum_.shape.key_bytes;
  if (options.array_elements == 0 || drum_.shape.value_bytes < 0) {
    bytes += columns.value_bytes() + request.value.size();
  }
  return bytes > std::max(kArrayBytesMin, options.memory_bytes / drum_.state.buckets.size());
}

/// Makes room for a request in an array that is merged from memory.
Result<void> Intake::make_room_in_memory(std::size_t bucket) {
  const RequestColumns& array = inbox_.arrays[bucket];
  if (array.empty()) return logs_.ensure_room_for_run(bucket);
  const DrumOptions& options = drum_.options;
  inbox_.look_for_heat(bucket, options.memory_bytes);
  // Without automatic merges the log takes the requests, in runs of limited size.
  const bool is_over =
      inbox_.arrays.bytes() + flight_bytes(options.memory_bytes) >= options.memory_bytes;
  if ((!options.auto_merge && is_over) || array.count() >= kArrayRequestsMax) {
    CRAWLSTORE_TRY(logs_.log_arrays());
  }
  return array.empty() ? logs_.ensure_room_for_run(bucket) : Result<void>{};
}

/// Makes room in an array that is logged when it is full.
Result<void> Intake::make_room(std::size_t bucket, const RawRequest& request, bool is_tentative) {
  const RequestColumns& array = is_tentative ? inbox_.tentative(bucket) : inbox_.arrays[bucket];
  if (is_full(array, request)) {
    CRAWLSTORE_TRY(is_tentative ? logs_.log_tentative() : logs_.log_arrays());
  }
  return array.empty() ? logs_.ensure_room_for_run(bucket) : Result<void>{};
}

Result<void> Intake::take(const RawRequest& request) {
  const bool is_tentative = drum_.store.in_transaction();
  const std::size_t bucket = inbox_.bucket_of(request.key);
  CRAWLSTORE_TRY(!is_tentative && drum_.merges_from_memory()
                     ? make_room_in_memory(bucket)
                     : make_room(bucket, request, is_tentative));
  if (is_tentative) {
    inbox_.append_tentative(bucket, request);
  } else {
    inbox_.arrays.append(bucket, request);
  }
  return {};
}

Result<void> Intake::take_some(std::span<const RawRequest>& requests) {
  const auto array_of = [this](const RawRequest& request) -> const RequestColumns& {
    kPartMutex.assert_held();
    return inbox_.arrays[inbox_.bucket_of(request.key)];
  };
  for (const auto& request : requests.first(std::min(requests.size(), kColumnsAhead))) {
    array_of(request).prefetch();
  }
  do {
    if (requests.size() > kColumnsAhead) array_of(requests[kColumnsAhead]).prefetch();
    if (requests.size() > kEndsAhead) array_of(requests[kEndsAhead]).prefetch_ends();
    CRAWLSTORE_TRY(check(requests.front()));
    CRAWLSTORE_TRY(take(requests.front()));
    requests = requests.subspan(1);
  } while (!requests.empty() &&
           !(drum_.options.auto_merge && (logs_.has_full_bucket() || logs_.wants_relief())));
  return {};
}

template <class Key>
Result<void> Intake::take_keys(std::uint16_t tag, std::span<const Key>& keys) {
  if (drum_.store.in_transaction() || !drum_.merges_from_memory()) {
    for (; !keys.empty(); keys = keys.subspan(1)) {
      CRAWLSTORE_TRY(take(request_of(tag, keys.front())));
    }
    return {};
  }
  while (!keys.empty() && !(drum_.options.auto_merge && logs_.wants_relief())) {
    const auto look = keys.first(std::min(keys.size(), kKeysPerLook));
    std::size_t count = 0;
    Result<void> done;
    while (done && count < look.size()) {
      count += inbox_.append_plain(tag, look.subspan(count));
      if (count < look.size()) done = take(request_of(tag, look[count++]));
    }
    keys = keys.subspan(done ? count : count - 1);
    CRAWLSTORE_TRY(done);
  }
  return {};
}

template Result<void> Intake::take_keys(std::uint16_t, std::span<const std::uint64_t>&);
template Result<void> Intake::take_keys(std::uint16_t, std::span<const Key16>&);

Wants Intake::wants() const {
  Wants wants;
  if (drum_.store.in_transaction()) return wants;
  const DrumOptions& options = drum_.options;
  wants.commit = options.durability == Durability::kRequest;
  if (options.durability == Durability::kInterval) {
    const auto now = std::chrono::steady_clock::now();
    wants.commit = now - last_commit_ >= std::chrono::milliseconds(options.interval_ms);
  }
  wants.merge = options.auto_merge && logs_.has_full_bucket();
  wants.only_full = options.merge_scope == MergeScope::kFull;
  wants.relief = options.auto_merge && logs_.wants_relief();
  return wants;
}

}  // namespace crawlstore::drum
