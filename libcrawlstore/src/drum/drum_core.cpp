// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - arrays[b] and tentative_arrays[b] belong to state.buckets[b]; `ranges` is built from the same.
// - A request is in exactly one of: an array, a pending run, a tentative run, a result run; or it
//   is sealed, or done.
// - The runs of a bucket and its arrays that are not empty are together at most kRunsPerLogMax.
// - The arrival order in a bucket is: pending runs, sealed requests, arrays[b]. So before a run of
//   newer requests is written, sealed requests and arrays[b] are.
// - A sequence that a dispatcher has seen is below what the file says (but with Durability::kNone).
#include <algorithm>
#include <exception>

#include "base/assert.h"
#include "base/inside.h"
#include "container/caller_function.h"
#include "container/run_io.h"
#include "drum/choose_buckets.h"
#include "drum/drum_impl.h"
#include "format/name.h"

namespace crawlstore {
namespace {

constexpr std::uint64_t kExpectedKeysMax = std::uint64_t{1} << 40;

Result<void> check_options(const DrumOptions& options) {
  if (options.bucket_count > format::kBucketsMax) {
    return fail(Errc::kInvalidArgument, "bucket_count must be from 1 to 65536, or 0");
  }
  if (options.expected_keys > kExpectedKeysMax) {
    return fail(Errc::kInvalidArgument, "expected_keys must be at most 2^40");
  }
  if (options.memory_bytes < drum::kArrayBytesMin) {
    return fail(Errc::kInvalidArgument, "memory_bytes must be at least 4096");
  }
  if (options.partition_keys_max < 2) {
    return fail(Errc::kInvalidArgument, "partition_keys_max must be at least 2");
  }
  constexpr auto kRabin = static_cast<std::uint16_t>(format::KeyScheme::kUrlRabin);
  if (options.key_bytes != 0 && !format::is_key_bytes(options.key_bytes)) {
    return fail(Errc::kInvalidArgument, "key_bytes must be 8 or 16, or 0");
  }
  if (options.key_scheme > kRabin || (options.key_scheme == kRabin && options.key_bytes == 16)) {
    return fail(Errc::kInvalidArgument, "key_scheme must be 0 or 1, or with 8-byte keys 2");
  }
  if (!format::is_valid_name(options.normalizer) ||
      (options.key_scheme == 0 && !options.normalizer.empty())) {
    return fail(Errc::kInvalidArgument, "only keys of URLs have a normalizer, with a valid name");
  }
  if (options.recent_keys > drum::kSortCountMax) {
    return fail(Errc::kInvalidArgument, "recent_keys must be at most 16777216");
  }
  if (options.array_elements > drum::kSortCountMax) {
    return fail(Errc::kInvalidArgument, "array_elements must be at most 16777216");
  }
  return {};
}

/// Whether a DRUM of this shape fits these values and options.
bool is_like(drum::Shape shape, std::int32_t value_bytes, const DrumOptions& options) {
  return shape.value_bytes == value_bytes &&
         (options.key_bytes == 0 || options.key_bytes == shape.key_bytes);
}

}  // namespace

Result<void> DrumCore::Impl::check_usable() const {
  CRAWLSTORE_TRY(store->check_outside());
  if (closed) return fail(Errc::kClosed, "the DRUM has been closed");
  return store->writer->storage().check_process();
}

/// Adapts the arrays to buckets that were added or taken away, which have no requests in memory.
/// The other buckets keep theirs.
void DrumCore::Impl::reshape_arrays() {
  const std::size_t count = drum.state.buckets.size();
  if (arrays.size() != count) {
    Arrays old_arrays;
    Arrays old_tentative(count);
    std::vector<std::vector<drum::WaitingRequests>> old_sealed(count);
    for (std::size_t b = 0; b < count; ++b) old_arrays.emplace_back(pool);
    old_arrays.swap(arrays);
    old_tentative.swap(tentative_arrays);
    old_sealed.swap(sealed);
    std::size_t to = 0;
    for (std::size_t from = 0; from < old_arrays.size(); ++from) {
      const std::uint64_t first_key = ranges.first_keys()[from];
      while (to + 1 < count && drum.state.buckets[to].first_key < first_key) ++to;
      if (drum.state.buckets[to].first_key != first_key) {
        CRAWLSTORE_ASSERT(old_arrays[from].empty() && old_tentative[from].empty() &&
                          old_sealed[from].empty());
        continue;
      }
      arrays[to] = std::move(old_arrays[from]);
      tentative_arrays[to] = std::move(old_tentative[from]);
      sealed[to] = std::move(old_sealed[from]);
    }
    std::vector<std::uint64_t> first_keys;
    first_keys.reserve(count);
    for (const auto& bucket : drum.state.buckets) first_keys.push_back(bucket.first_key);
    ranges.assign(std::move(first_keys));
  }
  look_for_full_buckets();
}

Result<void> DrumCore::Impl::prepare(CommitScope scope) {
  if (scope != CommitScope::kNothing) CRAWLSTORE_TRY(write_arrays(scope));
  commit_is_whole = scope == CommitScope::kEverything;
  sequence_in_commit = std::max(drum.state.next_sequence, drum.state.sequence_limit);
  if (!drum.dirty) return {};
  return drum::put_state(*store->writer, *store->writer->runs, drum.state,
                         {merge_thresholds(), drum.options.partition_keys_max});
}

void DrumCore::Impl::published() {
  if (commit_is_whole) last_commit = std::chrono::steady_clock::now();
  if (drum.state.table_run == nullptr) return;
  for (auto& bucket : drum.state.buckets) {
    bucket.keep_tentative();
    if (bucket.pending.keys.empty()) bucket.key_log = {};
    if (bucket.pending.auxes.empty()) bucket.aux_log = {};
    if (!bucket.partition_run) bucket.partition = {};
  }
  for (auto& consumer : drum.state.consumers) {
    if (consumer.runs.empty()) consumer.results = {};
  }
  published_sequence = sequence_in_commit;
  drum.dirty = false;
  drum.state.table_run.reset();
}

Result<void> DrumCore::Impl::write_arrays(CommitScope scope) {
  const std::lock_guard lock(mutex);
  if (scope == CommitScope::kEverything || !merges_from_memory()) {
    CRAWLSTORE_TRY(transfer_arrays());
  }
  return transfer_tentative();
}

void DrumCore::Impl::keep_tentative() {
  const std::lock_guard lock(mutex);
  for (auto& bucket : drum.state.buckets) bucket.keep_tentative();
  tentative_keys.clear();
  look_for_full_buckets();
}

void DrumCore::Impl::drop_tentative() {
  const std::lock_guard lock(mutex);
  for (auto& columns : tentative_arrays) columns.clear();
  tentative_keys.clear();
  for (auto& bucket : drum.state.buckets) bucket.tentative = {};
}

/// Releases all runs; the counts stay.
void DrumCore::Impl::close() {
  cancel_flight();
  const std::lock_guard lock(mutex);
  for (auto& bucket : drum.state.buckets) {
    for (auto* log : {&bucket.pending, &bucket.tentative}) log->keys = log->auxes = {};
    bucket.partition_run.reset();
  }
  for (auto& consumer : drum.state.consumers) consumer.runs.clear();
  closed = true;
}

DrumCore::DrumCore(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

DrumCore::~DrumCore() {
  Participant::let_go(impl_);
}

Result<std::shared_ptr<DrumCore>> DrumCore::open(Store& store, std::string_view name,
                                                 std::int32_t value_bytes,
                                                 const DrumOptions& options) {
  CRAWLSTORE_TRY(check_options(options));
  CRAWLSTORE_TRY(format::check_name(name));
  if (value_bytes < -1 || value_bytes > static_cast<std::int64_t>(format::kValueBytesMax)) {
    return fail(Errc::kInvalidArgument, "values have at most 16 MiB");
  }
  const auto inside = Inside::of(store).shared_from_this();
  CRAWLSTORE_TRY(inside->check_outside("a DRUM cannot be opened inside a transaction"));
  const std::lock_guard lock(inside->turn);
  CRAWLSTORE_TRY(inside->check_ready());
  if (Participant* const known = inside->find(SegmentKind::kDrum, name)) {
    auto& open = static_cast<Impl&>(*known);
    if (auto core = open.handle.lock()) {
      if (!is_like(open.drum.state.shape(), value_bytes, options)) {
        return fail(Errc::kTypeMismatch, "the DRUM is open with keys or values of another size");
      }
      return core;
    }
    CRAWLSTORE_TRY(open.leave());  // its last handle is going, and waits for our turn to end
  }
  auto impl = std::make_shared<Impl>(inside);
  impl->drum.options = options;
  container::Writer& writer = *inside->writer;
  if (const auto* entry = writer.directory()->find_named(SegmentKind::kDrum, name)) {
    CRAWLSTORE_TRY(auto state, drum::load_state(writer, *entry));
    if (!is_like(state.shape(), value_bytes, options)) {
      return fail(Errc::kTypeMismatch, "the DRUM holds keys or values of another size",
                  Error::kNoOffset, entry->id);
    }
    if (state.key_scheme == format::KeyScheme::kPage) {
      return fail(Errc::kTypeMismatch, "the DRUM holds the keys of pages; open it as a PageDb",
                  Error::kNoOffset, entry->id);
    }
    impl->drum.state = std::move(state);
  } else {
    if (inside->find(SegmentKind::kPages, name) != nullptr) {
      return fail(
          Errc::kTypeMismatch,
          "a page database of this name is open, and may keep its keys in a DRUM of its name");
    }
    const drum::Shape shape{options.key_bytes != 0 ? options.key_bytes : format::kKeyBytes,
                            value_bytes};
    const std::uint32_t buckets =
        options.bucket_count != 0 ? options.bucket_count : drum::choose_buckets(options, shape);
    impl->drum.state = drum::make_state(writer.new_segment_id(), name, shape, buckets);
    impl->drum.state.key_scheme = static_cast<format::KeyScheme>(options.key_scheme);
    impl->drum.state.normalizer = options.normalizer;
    impl->drum.dirty = true;
  }
  impl->published_sequence = impl->drum.state.next_sequence;
  impl->recent.resize(impl->recent_key_count());
  impl->reshape_arrays();
  std::shared_ptr<DrumCore> core(new DrumCore(impl));
  impl->handle = core;
  impl->admit();
  return core;
}

void DrumCore::attach(std::uint16_t consumer, RawSink sink) {
  const std::lock_guard no_merge(impl_->store->turn);
  impl_->delivery.exchange_sink(consumer, std::move(sink));
}

Result<void> DrumCore::submit(const RawRequest& request) {
  return submit(std::span(&request, 1));
}

Result<void> DrumCore::submit(std::span<const RawRequest> requests) {
  StoreCall call;
  return impl_->submit_many(requests, call);
}

template <class Key>
Result<void> DrumCore::submit_any_keys(DrumOperation operation, std::span<const Key> keys,
                                       std::uint16_t consumer) {
  if (sizeof(Key) != impl_->drum.state.key_bytes) {
    return fail(Errc::kInvalidArgument, "this DRUM's keys have another length");
  }
  const RawRequest any{operation, consumer, 0, {}, {}};
  const bool needs_value = operation != DrumOperation::kCheck && impl_->drum.state.value_bytes > 0;
  if (needs_value) return fail(Errc::kInvalidArgument, "this DRUM's updates need values");
  Impl* const impl = impl_.get();
  StoreCall call;
  {
    const std::lock_guard lock(impl->mutex);
    CRAWLSTORE_TRY(impl->check_request(any));
  }
  if (impl->drum.state.value_bytes != 0) {
    for (const auto key : keys) {
      const Key16 both{key};
      const RawRequest request{operation, consumer, both.head, {}, {}, both.tail};
      CRAWLSTORE_TRY(impl->submit_many({&request, 1}, call));
    }
    return {};
  }
  return impl->submit_keys(format::make_tag(static_cast<format::Operation>(operation), consumer),
                           keys, call);
}

Result<void> DrumCore::submit_keys(DrumOperation operation, std::span<const std::uint64_t> keys,
                                   std::uint16_t consumer) {
  return submit_any_keys(operation, keys, consumer);
}

Result<void> DrumCore::submit_keys(DrumOperation operation, std::span<const Key16> keys,
                                   std::uint16_t consumer) {
  return submit_any_keys(operation, keys, consumer);
}

Result<MergeReport> DrumCore::merge() {
  const StoreCall call(impl_);
  return impl_->merge(MergeCall::kAll);
}

Result<MergeReport> DrumCore::merge(RawSink sink) {
  const StoreCall call(impl_);
  return impl_->merge_with(std::move(sink));
}

/// A merge that fails leaves no trace: what the function throws is thrown on after it.
Result<std::uint64_t> DrumCore::drop_keys(std::uint64_t first_head, std::uint64_t last_head,
                                          const ShouldDropKey& should_drop) {
  const StoreCall call(impl_);
  const auto called = called_by(*impl_->store, should_drop);
  std::exception_ptr thrown;
  std::uint64_t count = 0;
  const auto keeps = [&](Key16 key, std::span<const std::byte> value) -> Result<bool> {
    try {
      const bool drops = called(key, value);
      count += drops ? 1 : 0;
      return !drops;
    } catch (...) {
      thrown = std::current_exception();
      return fail(Errc::kCancelled, "the function that drops keys failed");
    }
  };
  const drum::KeyFilter filter{first_head, last_head, keeps};
  const auto merged = impl_->merge(MergeCall::kAll, &filter);
  if (thrown) std::rethrow_exception(thrown);
  return merged.map([&](const MergeReport&) { return count; });
}

Result<MergeReport> DrumCore::merge_if_full() {
  bool wants_relief = false;
  {
    const std::lock_guard lock(impl_->mutex);
    CRAWLSTORE_TRY(impl_->check_usable());
    wants_relief = impl_->wants_relief();
    if (!wants_relief && !impl_->has_full_bucket) return MergeReport{};
  }
  const StoreCall call(impl_);
  if (wants_relief) return impl_->relieve();
  const bool only_full = impl_->drum.current_options().merge_scope == MergeScope::kFull;
  return impl_->merge(only_full ? MergeCall::kFullBuckets : MergeCall::kWhenFull);
}

Result<std::uint64_t> DrumCore::take_results(std::uint16_t consumer, const RawSink& sink) {
  const StoreCall call(impl_);
  const auto& store = impl_->store;
  CRAWLSTORE_TRY(store->check_outside("results were asked for inside a transaction"));
  const std::lock_guard lock(store->turn);
  return store->change([&]() -> Result<std::uint64_t> {
    CRAWLSTORE_TRY(store->check_open());
    CRAWLSTORE_TRY(impl_->check_usable());
    return impl_->delivery.take_results(consumer, sink);
  });
}

Result<std::uint16_t> DrumCore::consumer(std::string_view name) {
  CRAWLSTORE_TRY(format::check_name(name));
  if (name == drum::kNobody) return fail(Errc::kInvalidArgument, "inserts have this consumer");
  const std::lock_guard lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  return impl_->delivery.consumer(name);
}

void DrumCore::count_unparsed(std::uint64_t count) {
  const std::lock_guard lock(impl_->mutex);
  impl_->drum.state.unparsed_count += count;
  impl_->drum.dirty = true;
}

DrumStatus DrumCore::status() const {
  const std::lock_guard lock(impl_->mutex);
  DrumStatus status;
  status.key_count = impl_->drum.state.key_count();
  status.pending_count = impl_->drum.state.pending_count();
  status.bucket_count = impl_->drum.state.buckets.size();
  status.merge_count = impl_->drum.state.merge_count;
  status.transfer_count = impl_->transfer_count;
  status.unparsed_count = impl_->drum.state.unparsed_count;
  status.repeat_count = impl_->repeat_count;
  status.dropped_count = impl_->dropped_count;
  status.memory_bytes = impl_->recent.memory_bytes();
  for (const auto* set : {&impl_->arrays, &impl_->tentative_arrays}) {
    for (const auto& columns : *set) {
      status.pending_count += columns.count();
      status.memory_bytes += columns.memory_bytes();
    }
  }
  for (const auto& bucket : impl_->sealed) {
    for (const auto& waiting : bucket) {
      status.pending_count += waiting.columns->count();
      status.memory_bytes += waiting.columns->memory_bytes();
    }
  }
  return status;
}

std::uint16_t DrumCore::key_bytes() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->drum.state.key_bytes;
}

std::string DrumCore::normalizer() const {
  return impl_->drum.state.normalizer;
}

std::uint16_t DrumCore::key_scheme() const {
  const std::lock_guard lock(impl_->mutex);
  return static_cast<std::uint16_t>(impl_->drum.state.key_scheme);
}

Result<void> DrumCore::tune(const DrumOptions& options) {
  CRAWLSTORE_TRY(check_options(options));
  const std::lock_guard lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  impl_->drum.options = options;
  if (impl_->recent.size() != impl_->recent_key_count()) {
    impl_->recent.resize(impl_->recent_key_count());
  }
  impl_->look_for_full_buckets();
  return {};
}

Result<void> DrumCore::close() {
  const StoreCall call(impl_);
  return impl_->leave();
}

}  // namespace crawlstore
