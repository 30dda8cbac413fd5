// SPDX-License-Identifier: Apache-2.0
#include "frontier/find_items.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "format/queue_run.h"

namespace crawlstore::frontier {
namespace {

/// Ids that are looked for, each with the place of its answer.
class Wanted {
 public:
  /// Returns the place of the first answer for this id.
  std::size_t add(std::uint64_t id, std::size_t place) {
    lowest_ = std::min(lowest_, id);
    highest_ = std::max(highest_, id);
    return places_.emplace(id, place).first->second;
  }
  [[nodiscard]] bool is_empty() const { return places_.empty(); }
  /// The place of the answer of an id, which is not wanted any more.
  std::optional<std::size_t> take(std::uint64_t id) {
    if (id < lowest_ || id > highest_) return std::nullopt;
    const auto found = places_.find(id);
    if (found == places_.end()) return std::nullopt;
    const std::size_t place = found->second;
    places_.erase(found);
    return place;
  }

 private:
  std::uint64_t lowest_ = ~std::uint64_t{0};
  std::uint64_t highest_ = 0;
  std::unordered_map<std::uint64_t, std::size_t, SeededHash> places_;
};

using ByGroup = std::map<std::uint32_t, Wanted>;
using Answers = std::vector<std::optional<FoundItem>>;

void find_in_memory(const State& state, ByGroup& wanted, Answers& answers) {
  for (auto& [group, ids] : wanted) {
    for (const Item& item : state.groups()[group].items.all()) {
      if (const auto place = ids.take(item.id))
        answers[*place] = FoundItem{group, nullptr, 0, &item, 0, false};
    }
  }
}

/// Looks for what is not to be taken yet: in memory, then in runs.
Result<void> find_later(const State& state, ByGroup& wanted, Answers& answers) {
  const auto may_be_there = [&](const auto& of) {
    return state.groups()[of.first].later_count != 0 && !of.second.is_empty();
  };
  const auto take = [&](std::uint32_t group, std::uint64_t id) {
    const auto ids = wanted.find(group);
    return ids == wanted.end() ? std::nullopt : ids->second.take(id);
  };
  if (std::ranges::none_of(wanted, may_be_there)) return {};
  for (const LaterItem& later : state.later().held()) {
    if (const auto place = take(later.group, later.item.id)) {
      answers[*place] = FoundItem{later.group, nullptr, 0, &later.item, later.time, false};
    }
  }
  if (std::ranges::none_of(wanted, may_be_there)) return {};
  for (const LaterRun& run : state.later().runs()) {
    CRAWLSTORE_TRY(for_each_item(run, [&](std::uint64_t number, const format::Item& item) {
      if (const auto place = take(item.group, item.id)) {
        answers[*place] = FoundItem{item.group, run.run(), number, nullptr, 0, false};
      }
      return true;
    }));
  }
  return {};
}

/// Looks through some items of a run by group.
Result<void> find_in_run(const WaitingRun& of, std::uint32_t group, format::ItemRange items,
                         Wanted& wanted, Answers& answers) {
  std::vector<format::Item> block;
  while (items.begin < items.end && !wanted.is_empty()) {
    const std::size_t number = of.run->block_of(items.begin);
    const std::uint64_t first = of.run->first_item_of(number);
    CRAWLSTORE_TRY(of.run->read_items(number, block));
    const std::uint64_t end = std::min(items.end, first + block.size());
    for (; items.begin < end; ++items.begin) {
      if (of.gone.has(items.begin)) continue;
      if (const auto place = wanted.take(block[items.begin - first].id)) {
        answers[*place] = FoundItem{group, of.run, items.begin, nullptr, 0, false};
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::optional<FoundItem>>> find_items(const State& state,
                                                         std::span<const FrontierKey> items) {
  Answers answers(items.size());
  ByGroup wanted;
  std::vector<std::pair<std::size_t, std::size_t>> again;  // places, and those of the first
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto group = state.groups().find(items[i].group);
    const std::size_t first = group ? wanted[*group].add(items[i].id, i) : i;
    if (first != i) again.emplace_back(i, first);
  }
  find_in_memory(state, wanted, answers);
  CRAWLSTORE_TRY(find_later(state, wanted, answers));
  for (auto& [group, ids] : wanted) {
    std::vector<std::pair<std::size_t, format::ItemRange>> places;
    state.runs().for_each_of(group, [&places](std::size_t run, const format::ItemRange& range) {
      places.emplace_back(run, range);
    });
    for (const auto& [run, range] : places) {
      CRAWLSTORE_TRY(find_in_run(state.runs().all()[run], group, range, ids, answers));
    }
  }
  for (const auto& [place, first] : again) {
    if (answers[first])
      answers[place] = FoundItem{answers[first]->group, nullptr, 0, nullptr, 0, true};
  }
  return answers;
}

namespace {

Result<WaitingItem> waiting_item(const Item& item, std::uint64_t time) {
  CRAWLSTORE_TRY(auto body, item.body.text());
  return WaitingItem{format::queue_priority(item.order), time, item.attempt, {}, std::move(body)};
}

}  // namespace

Result<std::optional<WaitingItem>> find_item(const State& state, const FrontierKey& item) {
  const Lease* const lease = state.leases().find(item.id);
  if (lease != nullptr && state.groups().key(lease->group) == item.group) {
    CRAWLSTORE_TRY(auto leased, waiting_item(lease->item, 0));
    leased.until_ms = lease->until;
    return std::optional(std::move(leased));
  }
  CRAWLSTORE_TRY(const auto found, find_items(state, std::span(&item, 1)));
  if (!found.front()) return std::optional<WaitingItem>();
  const auto& run = found.front()->run;
  const std::uint64_t number = found.front()->number;
  if (run == nullptr) {
    CRAWLSTORE_TRY(auto held, waiting_item(*found.front()->held, found.front()->time));
    return std::optional(std::move(held));
  }
  CRAWLSTORE_TRY(const auto stored, run->item(number));
  CRAWLSTORE_TRY(auto body, run->body(number));
  return std::optional(
      WaitingItem{format::queue_priority(stored.order), stored.time, 0, {}, std::move(body)});
}

format::Step step_of_removal(const FoundItem& found, std::uint64_t id) {
  if (found.run == nullptr) return format::RemoveStep{found.group, id};
  return format::GoneStep{found.group, found.run->id().value, found.number};
}

Result<void> make_update(const FoundItem& found, const FrontierUpdate& to,
                         const std::function<Result<void>(const format::Step&)>& step) {
  const double priority = to.priority + 0.0;  // which is not -0
  const auto given = [&to] { return std::as_bytes(std::span(*to.body)); };
  if (found.run == nullptr) {
    format::UpdateStep update{found.group, to.item.id, priority, to.not_before_ms, {}};
    if (to.body) update.body = given();
    return step(update);
  }
  std::string own;
  if (!to.body) {
    CRAWLSTORE_TRY(own, found.run->body(found.number));
  }
  CRAWLSTORE_TRY(step(step_of_removal(found, to.item.id)));
  return step(format::UpdateStep{found.group, to.item.id, priority, to.not_before_ms,
                                 to.body ? given() : std::as_bytes(std::span(own))});
}

}  // namespace crawlstore::frontier
