// SPDX-License-Identifier: Apache-2.0
#include "pages/simulation/model.h"

#include <cstddef>
#include <span>
#include <stdexcept>

#include <crawlstore/drum_view.h>
#include <crawlstore/page_view.h>
#include <crawlstore/scores.h>

#include "drum/memory_store.h"

namespace crawlstore::testing::simulation {
namespace {

template <class Number>
void append(std::string& bytes, const Number& number) {
  const auto view = std::as_bytes(std::span(&number, 1));
  bytes.append(reinterpret_cast<const char*>(view.data()), view.size());
}

void append_text(std::string& bytes, std::string_view text) {
  append(bytes, text.size());
  bytes += text;
}

/// A page as views and the model know it.
template <class Page, class Links>
void append_page(std::string& bytes, const Page& page, const Links& out, const Links& in) {
  append_text(bytes, page.url);
  append(bytes, page.linked_from.value_or(~std::uint64_t{0}));
  for (const std::uint32_t number : {page.depth, page.crawl_count, page.change_count}) {
    append(bytes, number);
  }
  append(bytes, page.state);
  append(bytes, page.http_status);
  append(bytes, page.failure_count);
  append(bytes, page.by_redirect);
  append(bytes, page.score);
  for (const auto* const links : {&out, &in}) {
    append(bytes, links->size());
    for (const std::uint64_t link : *links) append(bytes, link);
  }
}

std::string bytes_of(const PageModel& model) {
  std::string bytes;
  for (const PageModel::Page& page : model.pages()) {
    append_page(bytes, page, page.out, page.in);
    append(bytes, page.first_us);
    append(bytes, page.last_us);
    append_text(bytes, page.content_hash);
  }
  return bytes;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string pages_of(const PageView& view) {
  std::string bytes;
  must(view.for_each_page([&](const PageInfo& page) {
    append_page(bytes, page, must(view.out_links(page.index)), must(view.in_links(page.index)));
    append(bytes, page.first_crawl_us);
    append(bytes, page.last_crawl_us);
    append_text(bytes, text_of(page.content_hash));
    if (!page.url.empty() && must(view.find_text(page.url)) != page.index) {
      throw std::runtime_error("a page is not found by its URL");
    }
    return true;
  }));
  return bytes;
}

void append_event(std::string& bytes, const CrawlEvent& event) {
  append(bytes, event.kind);
  append_text(bytes, event.url);
  append(bytes, event.time_us);
  append(bytes, event.score);
  append(bytes, event.http_status);
  append_text(bytes, text_of(event.content_hash));
  append(bytes, event.links.size());
  // The score of a link counts where it names a page first: it is told by the pages then.
  for (const EventLink& link : event.links) append_text(bytes, link.url);
}

std::string waiting_of(const PageView& view) {
  std::string bytes;
  must(view.for_each_event([&](const CrawlEvent& event) {
    append_event(bytes, event);
    return true;
  }));
  return bytes;
}

std::string bytes_of(const QueuedPages& pages) {
  std::string bytes;
  for (const QueuedPage& page : pages) {
    append(bytes, page.page);
    append(bytes, page.priority);
  }
  return bytes;
}

void append_scores(std::string& bytes, std::string_view name, std::span<const float> values) {
  append_text(bytes, name);
  append_text(bytes, text_of(std::as_bytes(values)));
}

std::string scores_of(const PageView& pages) {
  std::string bytes;
  for (const ScoresInfo& info : must(ScoreView::list(pages))) {
    const ScoreView view = must(ScoreView::open(pages, info.name));
    append_scores(bytes, info.name, must(view.floats()));
  }
  return bytes;
}

bool is_meant(const PageModel::Page& page, const std::string& prefix) {
  return !page.url.empty() && page.url.starts_with(prefix);
}

}  // namespace

Content content_of(const Snapshot& snapshot) {
  const DrumInfo rounds = must(DrumView::open(snapshot, kRounds)).info();
  const PageView pages = must(PageView::open(snapshot));
  const QueueView queue = must(QueueView::open(snapshot));
  const QueuedPages queued = must(queue.peek(kAllPages));
  if (queued.size() != queue.info().page_count) {
    throw std::runtime_error("a queue has another number of pages than it says");
  }
  return {rounds.key_count + rounds.pending_count,
          waiting_of(pages),
          pages_of(pages),
          bytes_of(queued),
          scores_of(pages),
          frontier_of(snapshot)};
}

std::string difference(const Content& found, const Content& expected) {
  std::string words;
  const auto compare = [&words](const char* part, const auto& a, const auto& b) {
    if (a != b) words += std::string(words.empty() ? "" : ", ") + part;
  };
  compare("rounds", found.round_count, expected.round_count);
  compare("waiting edits", found.waiting, expected.waiting);
  compare("pages", found.pages, expected.pages);
  compare("queue", found.queue, expected.queue);
  compare("frontier", found.frontier, expected.frontier);
  compare("scores", found.scores, expected.scores);
  words = words.empty() ? "equal" : "other " + words;
  return words + " (" + std::to_string(found.round_count) + " rounds for " +
         std::to_string(expected.round_count) + ")";
}

Content State::content() const {
  Content content{round_count, {}, merged_pages, bytes_of(queue.all()), {}, bytes_of(frontier)};
  for (const Edit& edit : waiting) {
    edit.as_event([&](const CrawlEvent& event) { append_event(content.waiting, event); });
  }
  for (const auto& [name, values] : scores) append_scores(content.scores, name, values);
  return content;
}

State State::merged() const {
  State state = *this;
  if (waiting.empty()) return state;
  state.waiting.clear();
  state.merged_pages = bytes_of(pages);
  state.merged_count = pages.pages().size();
  return state;
}

State State::without_host(const std::string& prefix) const {
  State state = merged();
  if (!has_pages_of(prefix)) return state;
  state.scores.clear();
  std::uint64_t index = 0;
  for (const PageModel::Page& page : pages.pages()) {
    if (is_meant(page, prefix)) state.queue.remove(index);
    ++index;
  }
  state.pages.forget([&](std::string_view url) { return url.starts_with(prefix); });
  state.merged_pages = bytes_of(state.pages);
  return state;
}

bool State::has_pages_of(const std::string& prefix) const {
  for (const PageModel::Page& page : pages.pages()) {
    if (is_meant(page, prefix)) return true;
  }
  return false;
}

State State::with_rounds(std::uint64_t count) const {
  State state = *this;
  state.round_count = count;
  return state;
}

}  // namespace crawlstore::testing::simulation
