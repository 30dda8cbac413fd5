// SPDX-License-Identifier: Apache-2.0
#include "model/pages_diff_view.h"

#include <algorithm>
#include <vector>

#include <crawlstore/page_key.h>

#include "model/page_fields.h"

namespace crawlstore::model {
namespace {

std::string presence(const PagesDiff& found) {
  if (found.in_old != found.in_new) {
    return std::string(name_of(found.in_new ? Change::kAdded : Change::kGone));
  }
  if (found.kind_differs) return "other_kind";
  return found.differs() ? std::string(name_of(Change::kChanged)) : "equal";
}

Table databases_table(const std::vector<PagesDiff>& databases) {
  Table table{"page_databases",
              {{"name", Unit::kText},
               {"change", Unit::kText},
               {"is_by_url", Unit::kFlag},
               {"old_page_count", Unit::kCount},
               {"new_page_count", Unit::kCount},
               {"added_page_count", Unit::kCount},
               {"gone_page_count", Unit::kCount},
               {"forgotten_page_count", Unit::kCount},
               {"changed_page_count", Unit::kCount},
               {"fetched_page_count", Unit::kCount},
               {"failed_page_count", Unit::kCount},
               {"old_link_count", Unit::kCount},
               {"new_link_count", Unit::kCount},
               {"added_link_count", Unit::kCount},
               {"gone_link_count", Unit::kCount},
               {"old_edit_count", Unit::kCount},
               {"new_edit_count", Unit::kCount},
               {"added_edit_count", Unit::kCount},
               {"gone_edit_count", Unit::kCount}},
              {}};
  for (const PagesDiff& found : databases) {
    table.rows.push_back({found.name, presence(found), found.by_url, found.old_page_count,
                          found.new_page_count, found.added_page_count, found.gone_page_count,
                          found.forgotten_page_count, found.changed_page_count,
                          found.fetched_page_count, found.failed_page_count, found.old_link_count,
                          found.new_link_count, found.added_link_count, found.gone_link_count,
                          found.old_edit_count, found.new_edit_count, found.added_edit_count,
                          found.gone_edit_count});
  }
  return table;
}

Cell count_cell(const std::optional<PageInfo>& page, std::uint32_t PageInfo::*field) {
  return page ? Cell{std::uint64_t{(*page).*field}} : Cell{};
}

/// A page that was never crawled has no time.
Cell time_cell(const std::optional<PageInfo>& page) {
  return page && page->crawl_count != 0 ? Cell{page->last_crawl_us} : Cell{};
}

Cell state_cell(const std::optional<PageInfo>& page) {
  return page ? Cell{std::string(name_of(page->state))} : Cell{};
}

Cell score_cell(const std::optional<PageInfo>& page) {
  return page ? Cell{score_value(page->score)} : Cell{};
}

std::string index_name(std::uint64_t index) {
  return "#" + std::to_string(index);
}

}  // namespace

PagesDiffView::PagesDiffView(const Snapshot& older, const Snapshot& newer,
                             const DiffViewOptions& options)
    : older_(older),
      newer_(newer),
      options_(options),
      pages_{"pages",
             {{"database", Unit::kText},
              {"change", Unit::kText},
              {"old_state", Unit::kText},
              {"new_state", Unit::kText},
              {"old_crawl_count", Unit::kCount},
              {"new_crawl_count", Unit::kCount},
              {"old_change_count", Unit::kCount},
              {"new_change_count", Unit::kCount},
              {"old_last_crawl_us", Unit::kTimeUs},
              {"new_last_crawl_us", Unit::kTimeUs},
              {"old_score", Unit::kScore},
              {"new_score", Unit::kScore},
              {"fields", Unit::kText},
              {"page", Unit::kText}},
             {}},
      page_links_{"page_links",
                  {{"database", Unit::kText},
                   {"added_link_count", Unit::kCount},
                   {"gone_link_count", Unit::kCount},
                   {"page", Unit::kText}},
                  {}},
      edits_{"edits",
             {{"database", Unit::kText},
              {"change", Unit::kText},
              {"kind", Unit::kText},
              {"time_us", Unit::kTimeUs},
              {"link_count", Unit::kCount},
              {"page", Unit::kText}},
             {}},
      links_{"links",
             {{"database", Unit::kText},
              {"change", Unit::kText},
              {"from", Unit::kText},
              {"to", Unit::kText}},
             {}} {}

std::string PagesDiffView::page_name(std::string_view database, bool in_new, std::uint64_t index) {
  const std::pair<std::string, bool> key(database, in_new);
  auto place = views_.find(key);
  if (place == views_.end()) {
    const Snapshot& state = in_new ? newer_ : older_;
    auto view = options_.gaps != nullptr ? open_past_damage(state, database)
                                         : PageView::open(state, database);
    if (!view) {
      if (!problem_) problem_ = view.error();
      return {};
    }
    place = views_.emplace(key, std::move(*view)).first;
  }
  if (!place->second.info().has_urls) return index_name(index);
  const auto url = place->second.url(index);
  if (url && url->empty() && options_.gaps != nullptr) {
    options_.gaps->add_pages(in_new, key.first, gaps_of(place->second));
  }
  if (url) return *url;
  if (!problem_) problem_ = url.error();
  return {};
}

std::string PagesDiffView::name_or_index(std::string_view database, bool in_new,
                                         std::uint64_t index) {
  const std::string name = page_name(database, in_new, index);
  return name.empty() && options_.gaps != nullptr ? index_name(index) : name;
}

void PagesDiffView::add_page(const PageDiff& page) {
  const PageInfo& any = page.newer ? *page.newer : *page.older;
  if (!any.url.empty()) {
    HostChanges& host = hosts_[{std::string(page.database), url_host(any.url)}];
    if (page.change == Change::kAdded) ++host.added;
    if (page.change == Change::kGone) ++host.gone;
    if (!page.newer) ++host.forgotten;
    if (page.change == Change::kChanged) ++host.changed;
  }
  if (!has_room(pages_)) return;
  const std::string name = any.url.empty() ? index_name(any.index) : any.url;
  pages_.rows.push_back({std::string(page.database), std::string(name_of(page.change)),
                         state_cell(page.older), state_cell(page.newer),
                         count_cell(page.older, &PageInfo::crawl_count),
                         count_cell(page.newer, &PageInfo::crawl_count),
                         count_cell(page.older, &PageInfo::change_count),
                         count_cell(page.newer, &PageInfo::change_count), time_cell(page.older),
                         time_cell(page.newer), score_cell(page.older), score_cell(page.newer),
                         page.fields.text(), name});
}

void PagesDiffView::add_links(const PageLinksDiff& links) {
  if (has_room(page_links_)) {
    // A page that was forgotten since is named by the state that still has its URL.
    const std::string name =
        links.old_index ? page_name(links.database, false, *links.old_index) : std::string();
    const bool takes_new = name.empty() && links.new_index;
    page_links_.rows.push_back(
        {std::string(links.database), std::uint64_t{links.added.size()},
         std::uint64_t{links.gone.size()},
         takes_new ? name_or_index(links.database, true, *links.new_index) : name});
  }
  if (!options_.with_keys) return;
  add_link_rows(links, false);
  add_link_rows(links, true);
}

void PagesDiffView::add_link_rows(const PageLinksDiff& links, bool in_new) {
  for (const std::uint64_t target : in_new ? links.added : links.gone) {
    if (!has_room(links_)) return;
    const auto& from = in_new ? links.new_index : links.old_index;
    links_.rows.push_back({std::string(links.database),
                           std::string(name_of(in_new ? Change::kAdded : Change::kGone)),
                           from ? name_or_index(links.database, in_new, *from) : std::string(),
                           name_or_index(links.database, in_new, target)});
  }
}

PagesDiffSink PagesDiffView::sink() {
  PagesDiffSink sink;
  sink.page = [this](const PageDiff& page) { add_page(page); };
  sink.links = [this](const PageLinksDiff& links) { add_links(links); };
  sink.edit = [this](const EditDiff& edit) {
    if (!has_room(edits_)) return;
    const CrawlEvent& event = edit.event;
    edits_.rows.push_back({std::string(edit.database), std::string(name_of(edit.change)),
                           std::string(name_of(event.kind)),
                           event.time_us == 0 ? Cell{} : Cell{event.time_us},
                           std::uint64_t{event.links.size()},
                           event.url.empty() ? index_name(event.index) : std::string(event.url)});
  };
  return sink;
}

Table PagesDiffView::hosts_table() const {
  Table table{"hosts",
              {{"database", Unit::kText},
               {"host", Unit::kText},
               {"page_delta", Unit::kCount},
               {"added_page_count", Unit::kCount},
               {"gone_page_count", Unit::kCount},
               {"forgotten_page_count", Unit::kCount},
               {"changed_page_count", Unit::kCount}},
              {}};
  std::vector<decltype(hosts_)::const_iterator> order;
  for (auto host = hosts_.begin(); host != hosts_.end(); ++host) order.push_back(host);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    const std::int64_t left = a->second.growth();
    const std::int64_t right = b->second.growth();
    if (left != right) return left > right;
    return a->second.gone + a->second.changed > b->second.gone + b->second.changed;
  });
  for (const auto& host : order) {
    if (!has_room(table)) break;
    const auto& [name, changes] = *host;
    table.rows.push_back({name.first, name.second.empty() ? "(no host)" : name.second,
                          changes.growth(), changes.added, changes.gone, changes.forgotten,
                          changes.changed});
  }
  return table;
}

Result<void> PagesDiffView::add_to(Document& document,
                                   const std::vector<PagesDiff>& databases) const {
  if (problem_) return tl::unexpected<Error>(*problem_);
  for (const PagesDiff& found : databases) {
    if (found.differs()) document.fields.front().value = true;  // `is_different`
  }
  document.tables.push_back(databases_table(databases));
  document.tables.push_back(pages_);
  document.tables.push_back(hosts_table());
  document.tables.push_back(page_links_);
  document.tables.push_back(edits_);
  document.tables.push_back(links_);
  return {};
}

}  // namespace crawlstore::model
