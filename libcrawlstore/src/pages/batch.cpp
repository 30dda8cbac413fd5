// SPDX-License-Identifier: Apache-2.0
//
// Invariant: every page of the batch has exactly one slot; at most half of the slots are taken.
#include "pages/batch.h"

#include <bit>
#include <new>

#include <crawlstore/page_key.h>

#include "base/parsed_page_key.h"

namespace crawlstore::pages {
namespace {

constexpr std::size_t kSlotsMin = 1024;
constexpr std::size_t kPagesMax = kNoLocal.value / 2;

/// Bytes that a superstep keeps beside the batch for each page, link and edit.
constexpr std::uint64_t kStepPageBytes = 96;
constexpr std::uint64_t kStepLinkBytes = 12;
constexpr std::uint64_t kStepEditBytes = 16;

/// Slots that a new batch has when it has taken so many pages.
std::size_t slots_for(std::size_t page_count) {
  return std::max(kSlotsMin, std::bit_ceil(2 * page_count - 1));
}

}  // namespace

Batch::Name Batch::name_of(std::string_view url, std::uint64_t index, bool is_parsed) const {
  if (!has_urls_) return {Key16{0, index}, 0, {}, 0};
  const PageKey made = is_parsed ? parsed_page_key(url, key_seed_) : page_key(url, key_seed_);
  return {made.key, made.witness, url, 0};
}

void Batch::rebuild() {
  std::uint32_t number = 0;
  for (const Key16 key : keys_) {
    std::size_t slot = slot_of(key);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = ++number;
  }
}

void Batch::grow() {
  const std::size_t count = std::max(kSlotsMin, slots_.size() * 2);
  slots_.assign(count, 0);
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(count));
  rebuild();
}

LocalId Batch::intern(const Name& name, const Linker& linker) {
  if (keys_.size() * 2 >= slots_.size()) grow();
  std::size_t slot = slot_of(name.key);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const LocalId page{slots_[slot] - 1};
    if (keys_[page] != name.key) continue;
    if (!has_urls_ || url(page) == name.url) return page;
    ++collision_count_;
    return kNoLocal;
  }
  if (keys_.size() >= kPagesMax) throw std::bad_alloc();
  keys_.push_back(name.key);
  witnesses_.push_back(name.witness);
  url_bytes_.insert(url_bytes_.end(), name.url.begin(), name.url.end());
  url_ends_.push_back(url_bytes_.size());
  linkers_.push_back(linker);
  first_scores_.push_back(name.score);
  slots_[slot] = static_cast<std::uint32_t>(keys_.size());
  return {slots_[slot] - 1};
}

void Batch::add(const CrawlEvent& event, bool all_parsed) {
  const LocalId page = intern(name_of(event.url, event.index, all_parsed), {});
  if (page == kNoLocal) return;
  BatchEdit edit;
  edit.kind = event.kind;
  edit.http_status = event.http_status;
  edit.page = page;
  edit.score = event.score;
  edit.time_us = event.time_us;
  edit.first_link = links_.size();
  edit.first_hash_byte = hash_bytes_.size();
  edit.hash_bytes = static_cast<std::uint8_t>(event.content_hash.size());
  hash_bytes_.insert(hash_bytes_.end(), event.content_hash.begin(), event.content_hash.end());

  // All slots are fetched before the first is looked at: the table is larger than the caches.
  names_.clear();
  for (const EventLink& link : event.links) {
    names_.push_back(name_of(link.url, link.index, all_parsed));
    names_.back().score = link.score;
    __builtin_prefetch(&slots_[slot_of(names_.back().key)]);
  }
  for (const Name& name : names_) {
    const std::uint32_t taken = slots_[slot_of(name.key)];
    if (taken != 0) __builtin_prefetch(&keys_[LocalId{taken - 1}]);
  }
  const Linker linker{page, event.kind == CrawlEventKind::kRedirect};
  for (const Name& name : names_) {
    const LocalId target = intern(name, linker);
    if (target != kNoLocal) links_.push_back(target);
  }
  edit.link_count = static_cast<std::uint32_t>(links_.size() - edit.first_link);
  edits_.push_back(edit);
}

bool Batch::ends_with(const CrawlEvent& event) const {
  if (edits_.empty()) return false;
  const LocalId page = edits_.back().page;
  return has_urls_ ? url(page) == event.url : keys_[page].tail == event.index;
}

void Batch::append(const Batch& from) {
  CrawlEvent event;
  std::vector<EventLink> links;
  for (std::size_t edit = 0; edit < from.edits_.size(); ++edit) {
    from.describe(edit, event, links);
    add(event);
  }
}

std::uint64_t Batch::step_bytes() const {
  return keys_.size() * kStepPageBytes + links_.size() * kStepLinkBytes +
         edits_.size() * kStepEditBytes;
}

/// Whatever slots it kept from edits before: equal edits fill equal memory.
std::uint64_t Batch::memory_bytes() const {
  constexpr std::uint64_t kPageBytes =
      sizeof(Key16) + sizeof(std::uint32_t) + sizeof(std::size_t) + sizeof(Linker) + sizeof(float);
  const std::size_t slot_count = keys_.empty() ? 0 : slots_for(keys_.size());
  return step_bytes() + keys_.size() * kPageBytes + slot_count * sizeof(std::uint32_t) +
         url_bytes_.size() + links_.size() * sizeof(LocalId) + edits_.size() * sizeof(BatchEdit) +
         hash_bytes_.size();
}

Batch::Mark Batch::mark() const {
  return {keys_.size(), edits_.size(), links_.size(), hash_bytes_.size(), collision_count_};
}

void Batch::cut_back(const Mark& mark) {
  keys_.resize(mark.pages);
  witnesses_.resize(mark.pages);
  url_ends_.resize(mark.pages);
  url_bytes_.resize(mark.pages == 0 ? 0 : url_ends_.back());
  linkers_.resize(mark.pages);
  first_scores_.resize(mark.pages);
  edits_.resize(mark.edits);
  links_.resize(mark.links);
  hash_bytes_.resize(mark.hash_bytes);
  collision_count_ = mark.collision_count;
  std::fill(slots_.begin(), slots_.end(), 0);
  rebuild();
}

void Batch::clear() {
  cut_back({});
}

void Batch::describe(std::size_t edit_number, CrawlEvent& event,
                     std::vector<EventLink>& event_links) const {
  const BatchEdit& edit = edits_[edit_number];
  const auto index_of = [this](LocalId page) { return has_urls_ ? 0 : keys_[page].tail; };
  event_links.clear();
  for (const LocalId target : links(edit)) {
    event_links.push_back({url(target), index_of(target), first_scores_[target]});
  }
  event = {};
  event.kind = edit.kind;
  event.url = url(edit.page);
  event.index = index_of(edit.page);
  event.time_us = edit.time_us;
  event.score = edit.score;
  event.http_status = edit.http_status;
  event.content_hash = content_hash(edit);
  event.links = event_links;
}

}  // namespace crawlstore::pages
