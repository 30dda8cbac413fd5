// SPDX-License-Identifier: Apache-2.0
//
// Invariant: what is in the file is state_.values, unless state_.is_changed; a rollback, which
// changes the file otherwise, makes the part anew.
#include "values/pending_values.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/inside.h"
#include "container/run_io.h"
#include "container/store_call.h"
#include "format/name.h"
#include "format/small_values.h"
#include "values/stored_values.h"

namespace crawlstore {
namespace values {

Result<PendingValues*> PendingValues::of(StoreImpl& store) {
  if (auto* const known = store.find(SegmentKind::kValues, {})) {
    return static_cast<PendingValues*>(known);
  }
  container::Writer& writer = *store.writer;
  CRAWLSTORE_TRY(auto of_file,
                 load(writer.storage(), writer.identity().uuid, find_values(*writer.directory())));
  const auto made = std::make_shared<PendingValues>(store.shared_from_this(), std::move(of_file));
  store.without_handle.push_back(made);
  made->admit();
  return made.get();
}

SmallValues& PendingValues::begin_change() {
  if (store->in_transaction() && !before_) before_ = state_;
  state_.is_changed = true;
  return state_.values;
}

void PendingValues::set(std::string_view name, std::span<const std::byte> bytes) {
  const auto there = state_.values.find(name);
  if (there != state_.values.end() && std::ranges::equal(there->second, bytes)) return;
  begin_change().insert_or_assign(std::string(name),
                                  std::vector<std::byte>(bytes.begin(), bytes.end()));
}

bool PendingValues::remove(std::string_view name) {
  if (!state_.values.contains(name)) return false;
  SmallValues& values = begin_change();
  values.erase(values.find(name));
  return true;
}

Result<void> PendingValues::prepare(CommitScope scope) {
  if (scope == CommitScope::kNothing || !state_.is_changed) return {};
  container::Writer& writer = *store->writer;
  const format::SegmentEntry* const there = find_values(*writer.directory());
  if (state_.values.empty()) {
    if (there != nullptr) writer.remove(there->id);
    is_in_commit_ = true;
    return {};
  }
  std::vector<format::SmallValue> views;
  views.reserve(state_.values.size());
  for (const auto& [name, bytes] : state_.values) views.push_back({name, bytes});
  const SegmentId id = there != nullptr ? there->id : writer.new_segment_id();
  CRAWLSTORE_TRY(const auto run,
                 container::write_run(writer, {id, SegmentKind::kValues, {}, writer.new_run_ids(1)},
                                      format::encode_values(views), views.size()));
  run_ = writer.runs->add(id, run);
  writer.put(
      {id, SegmentKind::kValues, StorageClass::kBlob, {}, std::string(format::kValuesName), {run}});
  is_in_commit_ = true;
  return {};
}

void PendingValues::published() {
  if (std::exchange(is_in_commit_, false)) {
    state_.is_changed = false;
    before_.reset();
  }
  run_.reset();
}

void PendingValues::dropped() {
  is_in_commit_ = false;
  run_.reset();
}

void PendingValues::drop_tentative() {
  if (before_) state_ = *std::exchange(before_, std::nullopt);
}

void PendingValues::close() {
  state_ = {};
  before_.reset();
  run_.reset();
}

namespace {

/// That a caller may set a value of this name, or remove it.
Result<void> check_name(std::string_view name) {
  CRAWLSTORE_TRY(format::check_name(name));
  if (!name.starts_with('.')) return {};
  return fail(Errc::kInvalidArgument, "names of values that begin with a full stop are reserved");
}

/// Calls work(values) with the turn.
template <class Work>
auto with_values(const std::shared_ptr<StoreImpl>& store, const Work& work)
    -> decltype(work(std::declval<PendingValues&>())) {
  CRAWLSTORE_TRY(store->check_outside());
  const StoreCall call(store);
  const std::lock_guard lock(store->turn);
  CRAWLSTORE_TRY(store->check_ready());
  CRAWLSTORE_TRY(store->writer->storage().check_process());
  return store->change([&]() -> decltype(work(std::declval<PendingValues&>())) {
    CRAWLSTORE_TRY(PendingValues* const pending, PendingValues::of(*store));
    return work(*pending);
  });
}

}  // namespace

Result<void> set_reserved(const std::shared_ptr<StoreImpl>& store, std::string_view name,
                          std::span<const std::byte> bytes) {
  return with_values(store, [&](PendingValues& pending) -> Result<void> {
    pending.set(name, bytes);
    return {};
  });
}

}  // namespace values

Result<void> Store::set(std::string_view name, std::span<const std::byte> bytes) {
  CRAWLSTORE_TRY(values::check_name(name));
  if (bytes.size() > kSmallValueBytesMax) {
    return fail(Errc::kTooLarge, "a small value has more than 4096 bytes");
  }
  return values::with_values(impl_, [&](values::PendingValues& pending) -> Result<void> {
    if (pending.all().size() == kSmallValuesMax && !pending.all().contains(name)) {
      return fail(Errc::kTooLarge, "the store has 1024 small values, and takes no more");
    }
    pending.set(name, bytes);
    return {};
  });
}

Result<bool> Store::remove(std::string_view name) {
  CRAWLSTORE_TRY(values::check_name(name));
  return values::with_values(
      impl_, [&](values::PendingValues& pending) -> Result<bool> { return pending.remove(name); });
}

Result<std::optional<std::vector<std::byte>>> Store::get(std::string_view name) const {
  using Found = std::optional<std::vector<std::byte>>;
  return values::with_values(impl_, [&](values::PendingValues& pending) -> Result<Found> {
    const auto found = pending.all().find(name);
    return found == pending.all().end() ? Found() : Found(found->second);
  });
}

Result<std::vector<std::string>> Store::value_names() const {
  using Names = std::vector<std::string>;
  return values::with_values(impl_, [](values::PendingValues& pending) -> Result<Names> {
    Names names;
    for (const auto& [name, bytes] : pending.all()) names.push_back(name);
    return names;
  });
}

}  // namespace crawlstore
