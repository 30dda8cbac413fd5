// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>

#include <crawlstore/frontier.h>

#include "base/inside.h"
#include "container/store_call.h"
#include "format/name.h"
#include "format/queue_run.h"
#include "frontier/check_call.h"
#include "frontier/frontier_impl.h"
#include "frontier/snapshot_state.h"
#include "frontier/take_items.h"

namespace crawlstore {

using frontier::ItemRunPtr;
using frontier::State;
using frontier::StepLog;
using frontier::StoredState;
using frontier::TakeCall;
using frontier::Version;

Result<void> Frontier::Impl::load(const format::SegmentEntry& entry) {
  container::Writer& writer = *store->writer;
  id = entry.id;
  std::vector<std::byte> payload;
  CRAWLSTORE_TRY(container::read_run(
      writer.storage(), container::run_name(writer.identity(), id, entry.runs.front().run_id),
      entry.runs.front(), payload));
  CRAWLSTORE_TRY(const auto found, frontier::read_segments(*writer.directory(), entry, payload));
  Version version;
  version.table = found.table;
  const auto add = [&](const format::SegmentEntry& segment, const format::RunRef& run) {
    return writer.runs->add(segment.id, run);
  };
  if (found.groups != nullptr) {
    for (const auto& run : found.groups->runs) version.groups.push_back(add(*found.groups, run));
  }
  if (found.items != nullptr) {
    for (const auto& run : found.items->runs) {
      CRAWLSTORE_TRY(auto opened, frontier::ItemRun::open(add(*found.items, run)));
      version.items.push_back(std::move(opened));
    }
  }
  for (const RunId piece : found.table.pieces) {
    version.pieces.push_back(add(*found.steps, *found.steps->find_run(piece)));
  }
  if (found.steps != nullptr) {
    for (const auto& run : found.steps->runs) {
      if (std::ranges::find(found.table.pieces, run.run_id) == found.table.pieces.end()) {
        version.journals.push_back(add(*found.steps, run));
      }
    }
  }
  committed = std::move(version);
  CRAWLSTORE_TRY(auto stored, read_committed());
  committed->stored_group_count = stored.stored_group_count;
  committed->piece_bytes = stored.piece_bytes;
  committed->journal_bytes = stored.journal_bytes;
  state = std::move(stored.state);
  return {};
}

/// Reads the committed state from the runs, wherever they are now.
Result<StoredState> Frontier::Impl::read_committed() {
  container::Writer& writer = *store->writer;
  const auto* const entry = writer.directory()->find(id);
  if (entry == nullptr)
    return fail(Errc::kSegmentInvalid, "a frontier has gone from its file", 0, id);
  std::vector<std::byte> payload;
  const auto read = [&](const format::SegmentEntry& segment,
                        const format::RunRef& run) -> Result<std::span<const std::byte>> {
    CRAWLSTORE_TRY(container::read_run(
        writer.storage(), container::run_name(writer.identity(), segment.id, run.run_id), run,
        payload));
    return std::span<const std::byte>(payload);
  };
  CRAWLSTORE_TRY(const auto bytes, read(*entry, entry->runs.front()));
  CRAWLSTORE_TRY(const auto found, frontier::read_segments(*writer.directory(), *entry, bytes));
  const auto open_items = [this](const format::SegmentEntry& /*segment*/,
                                 const format::RunRef& run) -> Result<ItemRunPtr> {
    return *std::ranges::find(committed->items, run.run_id, &frontier::ItemRun::id);
  };
  return frontier::read_state(found, read, open_items);
}

/// A step that is possible.
Result<void> Frontier::Impl::step(const format::Step& step) {
  CRAWLSTORE_TRY(state.apply(step));
  steps.append(step);
  return {};
}

/// Goes back to a mark: the state is made anew of what is committed and of the steps before it.
Result<void> Frontier::Impl::undo(StepLog::Mark mark) {
  steps.cut(mark);
  State next(empty.table.default_rule);
  if (committed) {
    CRAWLSTORE_TRY(auto stored, read_committed());
    next = std::move(stored.state);
  }
  CRAWLSTORE_TRY(steps.for_each([&next](const format::Step& step) { return next.apply(step); }));
  state = std::move(next);
  return {};
}

Result<void> Frontier::Impl::set_clock(std::optional<std::uint64_t> now_ms) {
  const std::uint64_t now = clock->time_ms(now_ms);
  return now > state.clock() ? step(format::ClockStep{now}) : Result<void>();
}

/// The number of a group, which is made if there is none.
Result<std::uint32_t> Frontier::Impl::group_of(std::optional<std::uint32_t> known,
                                               std::string_view key) {
  if (known) return *known;
  if (state.groups().count() > format::kGroupMax) {
    return fail(Errc::kTooLarge, "a frontier has at most 2^32 - 1 groups");
  }
  CRAWLSTORE_TRY(step(format::GroupStep{std::as_bytes(std::span(key))}));
  return state.groups().count() - 1;
}

Result<void> Frontier::Impl::prepare(CommitScope scope) {
  if (scope == CommitScope::kNothing) return {};
  if (handle == Handle::kGone && !committed && !in_commit && steps.is_empty()) return {};
  frontier::VersionWriter writer(*store->writer, id, options.checkpoint_bytes, join);
  if (!in_commit) {
    // Time until this commit that is not in the file would be lost to the next process.
    if (clock->is_ahead() && !steps.is_empty()) CRAWLSTORE_TRY(set_clock({}));
    constexpr std::uint64_t kShare = 8;  // of the limit, which the next open() may have to read
    const std::uint64_t step_bytes = last_version().journal_bytes + steps.bytes();
    const bool is_checkpoint =
        handle == Handle::kClosing && step_bytes > options.checkpoint_bytes / kShare;
    if (committed && steps.is_empty() && !is_checkpoint) return {};
    CRAWLSTORE_TRY(in_commit, writer.write(last_version(), steps, state, nullptr, is_checkpoint));
  }
  const auto put = writer.put(*in_commit, own_name);
  if (!put) in_commit.reset();
  return put;
}

void Frontier::Impl::published() {
  before.reset();
  if (!in_commit) return;
  if (in_commit->is_checkpoint) state.rearrange(std::move(in_commit->items));
  committed = std::move(in_commit->version);
  if (in_commit->ends_join) join.reset();
  // No call goes back to before this state, so what leaves the runs from now on has left them.
  std::vector<frontier::WaitingRun> joined;
  for (const auto& run : state.runs().all()) {
    const auto& ids = in_commit->next_join;
    if (std::ranges::find(ids, run.run->id()) != ids.end()) joined.push_back(run);
  }
  if (!joined.empty()) join = std::make_unique<frontier::ItemJoin>(std::move(joined));
  in_commit.reset();
  steps.clear();
}

void Frontier::Impl::dropped() {
  in_commit.reset();
}

/// Poisons the store where the file cannot be read any more: nothing else can be done then.
void Frontier::Impl::drop_tentative() {
  const std::lock_guard lock(mutex);
  if (!before) return;
  if (!undo(*std::exchange(before, std::nullopt))) store->writer->poison();
}

void Frontier::Impl::close() {
  const std::lock_guard lock(mutex);
  closed = true;
  state = State(empty.table.default_rule);
  steps.clear();
  join.reset();
  committed.reset();
  before.reset();
}

Frontier::Frontier(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Frontier::Frontier(Frontier&&) noexcept = default;

Frontier& Frontier::operator=(Frontier&& other) noexcept {
  if (this != &other) {
    Frontier old(std::move(impl_));
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Frontier::~Frontier() {
  if (impl_ == nullptr) return;
  impl_->handle = Impl::Handle::kGone;
  Participant::let_go(impl_);
}

namespace {

Result<void> check_default_rule(const FrontierRule& rule) {
  CRAWLSTORE_TRY(frontier::check_rule(rule));
  if (rule.blocked_until_ms == 0 && rule.is_active && !rule.parent) return {};
  return fail(Errc::kInvalidArgument,
              "the default rule of a frontier blocks every group, or has a parent");
}

}  // namespace

Result<Frontier> Frontier::open(Store& store, std::string_view name,
                                const FrontierOptions& options) {
  CRAWLSTORE_TRY(format::check_name(name));
  CRAWLSTORE_TRY(check_default_rule(options.default_rule));
  const auto inside = Inside::of(store).shared_from_this();
  CRAWLSTORE_TRY(inside->check_outside("a frontier cannot be opened inside a transaction"));
  const std::lock_guard lock(inside->turn);
  CRAWLSTORE_TRY(inside->check_ready());
  if (inside->find(SegmentKind::kFrontier, name) != nullptr) {
    return fail(Errc::kInvalidArgument, "this frontier is open already");
  }
  auto impl = std::make_shared<Impl>(inside, name, options);
  const auto* const entry = inside->writer->directory()->find_named(SegmentKind::kFrontier, name);
  if (entry == nullptr) {
    impl->id = inside->writer->new_segment_id();
  } else {
    CRAWLSTORE_TRY(impl->load(*entry));
    if (options.has_own_ids && !impl->committed->table.has_own_ids) {
      return fail(Errc::kInvalidArgument, "this frontier gives ids itself");
    }
    if (!options.pages.empty() && options.pages != impl->committed->table.pages) {
      return fail(Errc::kInvalidArgument, "this frontier is not of these pages");
    }
  }
  impl->clock.emplace(impl->state.clock(), inside->writer->directory()->superblock.commit_time_us);
  // Time goes on by the wall clock of the next commit, so one is to come.
  if (impl->clock->was_set_back()) {
    CRAWLSTORE_TRY(impl->step(format::ClockStep{impl->state.clock()}));
  }
  impl->admit();
  return Frontier(std::move(impl));
}

Result<FrontierPutDone> Frontier::put(std::span<const FrontierItem> items) {
  for (const FrontierItem& item : items) CRAWLSTORE_TRY(frontier::check_item(item));
  return impl_->change([&]() -> Result<FrontierPutDone> {
    const format::FrontierTable& table = impl_->last_version().table;
    CRAWLSTORE_TRY(frontier::check_ids(items, impl_->state, table.has_own_ids));
    FrontierPutDone done{next_id(), {}};
    std::uint64_t next = done.first_id;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const FrontierItem& item = items[i];
      const auto known = impl_->state.groups().find(item.group);
      if (!impl_->state.groups().takes_put(known)) {
        done.refused.push_back(i);
        continue;
      }
      CRAWLSTORE_TRY(const std::uint32_t group, impl_->group_of(known, item.group));
      if (i == done.refused.size()) done.first_id = item.id.value_or(next);
      CRAWLSTORE_TRY(
          impl_->step(format::PutStep{group, item.id.value_or(next), item.priority + 0.0,
                                      item.not_before_ms, std::as_bytes(std::span(item.body))}));
      ++next;
    }
    return done;
  });
}

namespace {

Result<std::vector<TakenItem>> take_items(Frontier::Impl& impl, const TakeOptions& options) {
  return frontier::take_items(impl.state, options, impl.clock->time_ms(options.now_ms), impl.steps);
}

/// Answers all calls of take() that wait, with one commit.
Result<void> take_for_all(Frontier::Impl& impl) {
  const StepLog::Mark mark = impl.steps.mark();
  const auto calls = impl.take_calls.hand_out();
  const auto go_back_to = [&impl](StepLog::Mark of) {
    if (!impl.undo(of)) impl.store->writer->poison();
  };
  // No call gets its answer before the commit: that may throw, and then nothing was taken.
  std::vector<Result<std::vector<TakenItem>>> answers;
  answers.reserve(calls.size());
  bool has_taken = false;
  for (const TakeCall* const call : calls) {
    const StepLog::Mark before_call = impl.steps.mark();
    const auto& answer = answers.emplace_back(take_items(impl, call->options));
    if (!answer) go_back_to(before_call);
    has_taken = has_taken || (answer && !answer->empty());
  }
  Result<void> committed;
  if (has_taken && impl.options.commits_takes) {
    committed = impl.store->commit_all().map([](Generation) {});
    if (!committed) go_back_to(mark);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool was_undone = !committed && answers[i] && !answers[i]->empty();
    if (was_undone) answers[i] = tl::unexpected<Error>(committed.error());
    calls[i]->taken = std::move(answers[i]);
  }
  return {};
}

}  // namespace

Result<std::vector<TakenItem>> Frontier::take(const TakeOptions& options) {
  if (options.per_group == 0) {
    return fail(Errc::kInvalidArgument, "a take lets nothing be taken of a group");
  }
  if (impl_->store->in_transaction()) {
    return impl_->change_all([&] { return take_items(*impl_, options); });
  }
  CRAWLSTORE_TRY(impl_->store->check_outside());
  TakeCall call{options};
  Result<void> ended;
  impl_->take_calls.wait(call,
                         [&] { ended = impl_->change([&] { return take_for_all(*impl_); }); });
  if (call.taken) return std::move(*call.taken);
  return tl::unexpected<Error>(ended.error());
}

Result<FrontierDone> Frontier::finish(std::span<const std::uint64_t> ids,
                                      std::optional<std::uint64_t> now_ms) {
  return impl_->change([&]() -> Result<FrontierDone> {
    CRAWLSTORE_TRY(impl_->set_clock(now_ms));
    FrontierDone done;
    std::vector<std::uint64_t> ends;
    std::unordered_set<std::uint64_t> seen;
    for (const std::uint64_t id : ids) {
      const bool is_leased = impl_->state.leases().find(id) != nullptr;
      const bool is_late = !is_leased && impl_->state.leases().group_of_again(id).has_value();
      if ((!is_leased && !is_late) || !seen.insert(id).second) {
        ++done.unknown_count;
        continue;
      }
      ++(is_leased ? done.done_count : done.late_count);
      ends.push_back(id);
    }
    for (std::span<const std::uint64_t> rest(ends); !rest.empty();) {
      const auto some = rest.first(std::min(rest.size(), format::kStepListMax));
      CRAWLSTORE_TRY(impl_->step(format::FinishStep{some}));
      rest = rest.subspan(some.size());
    }
    return done;
  });
}

Result<FrontierDone> Frontier::give_back(std::span<const GivenBack> items,
                                         std::optional<std::uint64_t> now_ms) {
  for (const GivenBack& item : items) CRAWLSTORE_TRY(frontier::check_time(item.not_before_ms));
  return impl_->change([&]() -> Result<FrontierDone> {
    CRAWLSTORE_TRY(impl_->set_clock(now_ms));
    FrontierDone done;
    for (const GivenBack& item : items) {
      if (impl_->state.leases().find(item.id) == nullptr) {
        ++(impl_->state.leases().group_of_again(item.id) ? done.late_count : done.unknown_count);
        continue;
      }
      CRAWLSTORE_TRY(impl_->step(format::BackStep{item.id, item.not_before_ms, item.is_failure}));
      ++done.done_count;
    }
    return done;
  });
}

Result<std::uint64_t> Frontier::give_back_all() {
  return impl_->change([&]() -> Result<std::uint64_t> {
    CRAWLSTORE_TRY(impl_->set_clock({}));
    std::vector<std::uint64_t> ids;
    for (const auto& [id, lease] : impl_->state.leases().all()) ids.push_back(id);
    std::ranges::sort(ids);
    for (const std::uint64_t id : ids) CRAWLSTORE_TRY(impl_->step(format::BackStep{id, 0, false}));
    return ids.size();
  });
}

Result<FrontierDone> Frontier::extend(std::span<const std::uint64_t> ids, std::uint64_t until_ms,
                                      std::optional<std::uint64_t> now_ms) {
  CRAWLSTORE_TRY(frontier::check_time(until_ms));
  return impl_->change([&]() -> Result<FrontierDone> {
    CRAWLSTORE_TRY(impl_->set_clock(now_ms));
    FrontierDone done;
    for (const std::uint64_t id : ids) {
      if (impl_->state.leases().find(id) == nullptr) {
        ++(impl_->state.leases().group_of_again(id) ? done.late_count : done.unknown_count);
        continue;
      }
      CRAWLSTORE_TRY(impl_->step(format::ExtendStep{id, until_ms}));
      ++done.done_count;
    }
    return done;
  });
}

Result<void> Frontier::set_rule(std::string_view group, const FrontierRule& rule) {
  CRAWLSTORE_TRY(frontier::check_key(group));
  CRAWLSTORE_TRY(frontier::check_rule(rule));
  return impl_->change([&]() -> Result<void> {
    const auto& groups = impl_->state.groups();
    CRAWLSTORE_TRY(frontier::check_parent(groups, group, rule));
    CRAWLSTORE_TRY(const std::uint32_t number, impl_->group_of(groups.find(group), group));
    std::optional<std::uint32_t> parent;
    if (rule.parent) {
      CRAWLSTORE_TRY(parent, impl_->group_of(groups.find(*rule.parent), *rule.parent));
    }
    return impl_->step(frontier::rule_step(number, rule, parent));
  });
}

/// A checkpoint, because steps made by the old rule must not be made again by the new one; then the
/// state is what a reader makes of it.
Result<void> Frontier::set_default_rule(const FrontierRule& rule) {
  CRAWLSTORE_TRY(check_default_rule(rule));
  CRAWLSTORE_TRY(impl_->store->check_outside("a default rule was set inside a transaction"));
  return impl_->change([&]() -> Result<void> {
    Version version = impl_->last_version();
    version.table.default_rule = frontier::group_rule(rule);
    frontier::VersionWriter writer(*impl_->store->writer, impl_->id,
                                   impl_->options.checkpoint_bytes, impl_->join);
    CRAWLSTORE_TRY(impl_->in_commit,
                   writer.write(version, impl_->steps, impl_->state, nullptr, true));
    if (const auto committed = impl_->store->commit_all(); !committed) {
      impl_->in_commit.reset();
      return tl::unexpected<Error>(committed.error());
    }
    const auto read = impl_->undo(impl_->steps.mark());
    if (!read) impl_->store->writer->poison();
    return read;
  });
}

std::optional<FrontierGroup> Frontier::group(std::string_view key) const {
  const std::lock_guard lock(impl_->mutex);
  const auto number = impl_->state.groups().find(key);
  return number ? std::optional(frontier::group_of(impl_->state, *number)) : std::nullopt;
}

std::vector<FrontierGroup> Frontier::groups(std::size_t first, std::size_t count_max) const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<FrontierGroup> groups;
  for (; first < impl_->state.groups().count() && groups.size() < count_max; ++first) {
    groups.push_back(frontier::group_of(impl_->state, static_cast<std::uint32_t>(first)));
  }
  return groups;
}

std::optional<std::uint64_t> Frontier::next_due_ms() const {
  const std::lock_guard lock(impl_->mutex);
  impl_->state.wake(0);
  return impl_->state.next_due();
}

std::uint64_t Frontier::now_ms() const {
  const std::lock_guard lock(impl_->mutex);
  return std::max(impl_->state.clock(), impl_->clock->now_ms());
}

std::string Frontier::name() const {
  return impl_->own_name;
}

std::string Frontier::pages() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->last_version().table.pages;
}

std::uint64_t Frontier::next_id() const {
  const std::lock_guard lock(impl_->mutex);
  return std::max(impl_->state.next_id(), impl_->last_version().table.next_id);
}

std::uint64_t Frontier::waiting_count() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->state.waiting_count();
}

std::uint64_t Frontier::leased_count() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->state.leases().count();
}

/// With a checkpoint where it saves the next open() many steps, and there is room for it.
Result<void> Frontier::close() {
  const StoreCall call(impl_);
  CRAWLSTORE_TRY(impl_->store->check_outside("a frontier was closed inside a transaction"));
  const std::lock_guard lock(impl_->store->turn);
  impl_->handle = Impl::Handle::kClosing;
  const auto closed = impl_->leave();
  impl_->handle = Impl::Handle::kOpen;
  if (closed || impl_->closed) return closed;
  impl_->in_commit.reset();
  return impl_->leave();
}

}  // namespace crawlstore
