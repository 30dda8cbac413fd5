// SPDX-License-Identifier: Apache-2.0
//
// The public class: what its calls check, lock and keep alive. The parts do the work.
#include <exception>
#include <utility>

#include "base/inside.h"
#include "container/caller_function.h"
#include "drum/drum_impl.h"
#include "drum/drum_open.h"
#include "format/name.h"

namespace crawlstore {

DrumCore::DrumCore(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

DrumCore::~DrumCore() {
  Participant::let_go(impl_);
}

Result<std::shared_ptr<DrumCore>> DrumCore::open(Store& store, std::string_view name,
                                                 std::int32_t value_bytes,
                                                 const DrumOptions& options) {
  CRAWLSTORE_TRY(drum::check_options(options));
  CRAWLSTORE_TRY(format::check_name(name));
  if (value_bytes < -1 || value_bytes > static_cast<std::int64_t>(format::kValueBytesMax)) {
    return fail(Errc::kInvalidArgument, "values have at most 16 MiB");
  }
  const auto inside = Inside::of(store).shared_from_this();
  CRAWLSTORE_TRY(inside->check_outside("a DRUM cannot be opened inside a transaction"));
  const TurnLock lock(inside->turn);
  CRAWLSTORE_TRY(inside->check_ready());
  if (Participant* const known = inside->find(SegmentKind::kDrum, name)) {
    auto& open = static_cast<Impl&>(*known);
    if (auto core = open.handle.lock()) {
      if (!drum::is_like(open.drum.shape, value_bytes, options)) {
        return fail(Errc::kTypeMismatch, "the DRUM is open with keys or values of another size");
      }
      return core;
    }
    CRAWLSTORE_TRY(open.leave());  // its last handle is going, and waits for our turn to end
  }
  CRAWLSTORE_TRY(auto state, drum::load_or_make(*inside, name, value_bytes, options));
  const bool is_new = inside->writer->directory()->find_named(SegmentKind::kDrum, name) == nullptr;
  auto impl = std::make_shared<Impl>(inside, std::move(state), options);
  {
    const MutexLock own(impl->mutex);
    impl->drum.dirty = is_new;
  }
  std::shared_ptr<DrumCore> core(new DrumCore(impl));
  impl->handle = core;
  impl->admit();
  return core;
}

void DrumCore::attach(ConsumerId consumer, RawSink sink) {
  const TurnLock no_merge(impl_->store->turn);
  impl_->delivery.set_sink(consumer, std::move(sink));
}

Result<void> DrumCore::submit(const RawRequest& request) {
  return submit(std::span(&request, 1));
}

Result<void> DrumCore::submit(std::span<const RawRequest> requests) {
  StoreCall call;
  return impl_->submit(requests, call);
}

template <class Key>
Result<void> DrumCore::submit_any_keys(DrumOperation operation, std::span<const Key> keys,
                                       ConsumerId consumer) {
  if (sizeof(Key) != impl_->drum.shape.key_bytes) {
    return fail(Errc::kInvalidArgument, "this DRUM's keys have another length");
  }
  const RawRequest any{operation, consumer, 0, {}, {}};
  const bool needs_value = operation != DrumOperation::kCheck && impl_->drum.shape.value_bytes > 0;
  if (needs_value) return fail(Errc::kInvalidArgument, "this DRUM's updates need values");
  Impl* const impl = impl_.get();
  StoreCall call;
  {
    const MutexLock lock(impl->mutex);
    CRAWLSTORE_TRY(impl->intake.check(any));
  }
  if (impl->drum.shape.value_bytes != 0) {
    for (const auto key : keys) {
      const Key16 both{key};
      const RawRequest request{operation, consumer, both.head, {}, {}, both.tail};
      CRAWLSTORE_TRY(impl->submit({&request, 1}, call));
    }
    return {};
  }
  return impl->submit_keys(format::make_tag(static_cast<format::Operation>(operation), consumer),
                           keys, call);
}

Result<void> DrumCore::submit_keys(DrumOperation operation, std::span<const std::uint64_t> keys,
                                   ConsumerId consumer) {
  return submit_any_keys(operation, keys, consumer);
}

Result<void> DrumCore::submit_keys(DrumOperation operation, std::span<const Key16> keys,
                                   ConsumerId consumer) {
  return submit_any_keys(operation, keys, consumer);
}

Result<MergeReport> DrumCore::merge() {
  const StoreCall call(impl_);
  return impl_->merge(drum::MergeCall::kAll);
}

Result<MergeReport> DrumCore::merge(RawSink sink) {
  const StoreCall call(impl_);
  Impl& impl = *impl_;  // the sink may let this handle go, and `call` keeps the part
  CRAWLSTORE_TRY(impl.store->check_outside(drum::kMergeInside));
  const TurnLock no_other(impl.store->turn);  // so that no other merge uses the sink
  const drum::Delivery::Once once(impl.delivery, std::move(sink));
  return impl.merge(drum::MergeCall::kAll);
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
  const auto merged = impl_->merge(drum::MergeCall::kAll, &filter);
  if (thrown) std::rethrow_exception(thrown);
  return merged.map([&](const MergeReport&) { return count; });
}

Result<MergeReport> DrumCore::merge_if_full() {
  CRAWLSTORE_TRY(impl_->store->check_outside(drum::kMergeInside));
  bool wants_relief = false;
  {
    const MutexLock lock(impl_->mutex);
    CRAWLSTORE_TRY(impl_->check_usable());
    wants_relief = impl_->logs.wants_relief();
    if (!wants_relief && !impl_->logs.has_full_bucket()) return MergeReport{};
  }
  const StoreCall call(impl_);
  if (wants_relief) return impl_->relieve();
  const bool only_full = impl_->drum.current_options().merge_scope == MergeScope::kFull;
  return impl_->merge(only_full ? drum::MergeCall::kFullBuckets : drum::MergeCall::kWhenFull);
}

Result<std::uint64_t> DrumCore::take_results(ConsumerId consumer, const RawSink& sink) {
  const StoreCall call(impl_);
  return impl_->take_results(consumer, sink);
}

Result<ConsumerId> DrumCore::consumer(std::string_view name) {
  CRAWLSTORE_TRY(format::check_name(name));
  if (name == drum::kNobody) return fail(Errc::kInvalidArgument, "inserts have this consumer");
  const MutexLock lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  return impl_->delivery.consumer(name);
}

Result<std::optional<std::vector<std::byte>>> DrumCore::lookup(Key16 key) const {
  const MutexLock lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  return impl_->lookup(key);
}

Result<bool> DrumCore::contains(Key16 key) const {
  const MutexLock lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  if (key.tail != 0 && !impl_->drum.shape.is_wide()) return false;
  CRAWLSTORE_TRY(const auto stored, impl_->lookup(key));
  return stored.has_value() ? Result<bool>(true) : impl_->is_inserted(key);
}

Result<std::optional<std::vector<std::byte>>> DrumCore::find(Key16 key) const {
  const MutexLock lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  if (key.tail != 0 && !impl_->drum.shape.is_wide()) return std::nullopt;
  return impl_->find(key);
}

Result<bool> DrumCore::insert(Key16 key, std::span<const std::byte> value) {
  StoreCall call;
  return impl_->insert(key, value, call);
}

void DrumCore::count_unparsed(std::uint64_t count) {
  const MutexLock lock(impl_->mutex);
  impl_->drum.state.unparsed_count += count;
  impl_->drum.dirty = true;
}

DrumStatus DrumCore::status() const {
  const MutexLock lock(impl_->mutex);
  const drum::DrumState& state = impl_->drum.state;
  DrumStatus status;
  status.key_count = state.key_count();
  status.pending_count = state.pending_count();
  status.bucket_count = state.buckets.size();
  status.merge_count = state.merge_count;
  status.transfer_count = impl_->logs.transfer_count();
  status.unparsed_count = state.unparsed_count;
  impl_->inbox.add_to(status);
  return status;
}

std::uint16_t DrumCore::key_bytes() const {
  const MutexLock lock(impl_->mutex);
  return impl_->drum.shape.key_bytes;
}

std::string DrumCore::normalizer() const {
  const MutexLock lock(impl_->mutex);
  return impl_->drum.state.normalizer;
}

KeyScheme DrumCore::key_scheme() const {
  const MutexLock lock(impl_->mutex);
  return impl_->drum.state.key_scheme;
}

Result<void> DrumCore::tune(const DrumOptions& options) {
  CRAWLSTORE_TRY(drum::check_options(options));
  const MutexLock lock(impl_->mutex);
  CRAWLSTORE_TRY(impl_->check_usable());
  impl_->drum.options = options;
  impl_->intake.tune();
  return {};
}

Result<void> DrumCore::close() {
  const StoreCall call(impl_);
  return impl_->leave();
}

}  // namespace crawlstore
