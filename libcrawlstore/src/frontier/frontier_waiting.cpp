// SPDX-License-Identifier: Apache-2.0
//
// Calls about items that wait.
#include <cmath>
#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <crawlstore/frontier.h>

#include "container/caller_function.h"
#include "format/queue_run.h"
#include "frontier/find_items.h"
#include "frontier/frontier_impl.h"
#include "frontier/visit_items.h"

namespace crawlstore {

Result<std::uint64_t> Frontier::remove(std::span<const FrontierKey> items) {
  return impl_->change_all([&]() -> Result<std::uint64_t> {
    CRAWLSTORE_TRY(const auto found, frontier::find_items(impl_->state, items));
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!found[i] || found[i]->is_again) continue;
      CRAWLSTORE_TRY(impl_->step(frontier::step_of_removal(*found[i], items[i].id)));
      ++count;
    }
    return count;
  });
}

Result<std::uint64_t> Frontier::update(std::span<const FrontierUpdate> items) {
  std::vector<FrontierKey> keys;
  keys.reserve(items.size());
  for (const FrontierUpdate& item : items) {
    CRAWLSTORE_TRY(frontier::check_item(
        {item.item.group, item.priority, item.body.value_or(""), item.not_before_ms}));
    keys.push_back(item.item);
  }
  return impl_->change_all([&]() -> Result<std::uint64_t> {
    CRAWLSTORE_TRY(const auto found, frontier::find_items(impl_->state, keys));
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!found[i]) continue;
      CRAWLSTORE_TRY(frontier::make_update(
          *found[i], items[i], [&](const format::Step& step) { return impl_->step(step); }));
      ++count;
    }
    return count;
  });
}

Result<std::uint64_t> Frontier::drop_group(std::string_view group) {
  return impl_->change([&]() -> Result<std::uint64_t> {
    const auto number = impl_->state.groups().find(group);
    if (!number) return 0;
    const std::uint64_t before = impl_->state.waiting_count();
    CRAWLSTORE_TRY(impl_->step(format::DropStep{*number}));
    return before - impl_->state.waiting_count();
  });
}

/// The runs are written before the commit, which takes them as they are. An exception of the
/// function is thrown on when nothing of it is under way.
Result<FrontierRewrite> Frontier::rewrite(const RewritePriority& priority_of) {
  std::exception_ptr thrown;
  const auto rewritten = impl_->change([&]() -> Result<FrontierRewrite> {
    if (impl_->store->in_transaction()) {
      return fail(Errc::kReentrant, "a frontier was rewritten inside a transaction");
    }
    FrontierRewrite done;
    const auto called = called_by(*impl_->store, priority_of);
    const frontier::RewriteItem rewrite =
        [&](std::uint32_t group, std::uint64_t id,
            std::uint64_t order) -> Result<std::optional<std::uint64_t>> {
      const double before = format::queue_priority(order);
      std::optional<double> after;
      try {
        after = called(impl_->state.groups().key(group), id, before);
      } catch (...) {
        thrown = std::current_exception();
        return fail(Errc::kCancelled, "the function that gives priorities failed");
      }
      if (!after) {
        ++done.removed_count;
        return std::optional<std::uint64_t>();
      }
      if (std::isnan(*after)) return fail(Errc::kInvalidArgument, "a priority is no number");
      done.changed_count += *after == before ? 0 : 1;
      return std::optional(format::queue_order(*after + 0.0));
    };
    frontier::VersionWriter writer(*impl_->store->writer, impl_->id,
                                   impl_->options.checkpoint_bytes, impl_->join);
    CRAWLSTORE_TRY(impl_->in_commit,
                   writer.write(impl_->committed ? *impl_->committed : impl_->empty, impl_->steps,
                                impl_->state, &rewrite));
    const auto committed = impl_->store->commit_all();
    if (committed) return done;
    impl_->in_commit.reset();
    return tl::unexpected<Error>(committed.error());
  });
  if (thrown) std::rethrow_exception(thrown);
  return rewritten;
}

Result<void> Frontier::for_each_item(std::string_view group, const VisitEntry& visit) const {
  return impl_->change([&]() -> Result<void> {
    const auto number = impl_->state.groups().find(group);
    if (!number) return {};
    bool goes_on = true;
    const auto called = called_by(*impl_->store, visit);
    const VisitEntry note = [&](const FrontierEntry& entry) { return goes_on = called(entry); };
    CRAWLSTORE_TRY(frontier::visit_waiting(impl_->state, group, note));
    if (!goes_on || impl_->state.groups()[*number].leased_count == 0) return {};
    return frontier::visit_leases(impl_->state, [&](const FrontierEntry& entry) {
      return entry.group != group || note(entry);
    });
  });
}

Result<std::optional<WaitingItem>> Frontier::find(const FrontierKey& item) {
  return impl_->change([&]() -> Result<std::optional<WaitingItem>> {
    return frontier::find_item(impl_->state, item);
  });
}

}  // namespace crawlstore
