// SPDX-License-Identifier: Apache-2.0
//
// Invariants: what is skipped is the same run, or the same tile, in states of one store; pages are
// told before links, and links before edits.
#include <algorithm>
#include <set>

#include <crawlstore/pages_diff.h>

#include "pages/diff_database.h"

namespace crawlstore {
namespace {

using pages::ComparedPages;
using pages::DatabaseDiff;

/// The database of that name; nothing when the state has none.
Result<std::optional<PageView>> open_database(const Snapshot& snapshot, const std::string& name,
                                              bool exists) {
  if (!exists) return std::optional<PageView>{};
  CRAWLSTORE_TRY(auto view, PageView::open(snapshot, name));
  return std::optional<PageView>(std::move(view));
}

Result<PagesDiff> diff_database(const Snapshot& older, const Snapshot& newer,
                                const std::string& name, const PagesDiffSink& sink,
                                pages::DiffWork& work) {
  const auto has = [&name](const Snapshot& snapshot) {
    const auto names = PageView::names(snapshot);
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  PagesDiff found;
  found.name = name;
  found.in_old = has(older);
  found.in_new = has(newer);
  CRAWLSTORE_TRY(auto old_view, work.blame(false, open_database(older, name, found.in_old)));
  CRAWLSTORE_TRY(auto new_view, work.blame(true, open_database(newer, name, found.in_new)));
  const auto count = [](const std::optional<PageView>& view, auto field) {
    return view ? view->info().*field : 0;
  };
  found.old_page_count = count(old_view, &PagesInfo::page_count);
  found.new_page_count = count(new_view, &PagesInfo::page_count);
  found.old_link_count = count(old_view, &PagesInfo::link_count);
  found.new_link_count = count(new_view, &PagesInfo::link_count);
  found.old_edit_count = count(old_view, &PagesInfo::event_count);
  found.new_edit_count = count(new_view, &PagesInfo::event_count);
  if (old_view && new_view) {
    found.kind_differs = old_view->info().has_urls != new_view->info().has_urls;
  }
  if (found.kind_differs) return found;
  DatabaseDiff both(ComparedPages(std::move(old_view)), ComparedPages(std::move(new_view)),
                    older.uuid() == newer.uuid(), sink, work);
  CRAWLSTORE_TRY(both.run(found));
  return found;
}

}  // namespace

bool PageFields::any() const {
  return state || crawl_count || change_count || first_crawl || last_crawl || score || content_hash;
}

std::string PageFields::text() const {
  std::string text;
  const auto add = [&text](bool differs, std::string_view name) {
    if (!differs) return;
    if (!text.empty()) text += ' ';
    text += name;
  };
  add(state, "state");
  add(crawl_count, "crawl_count");
  add(change_count, "change_count");
  add(first_crawl, "first_crawl_us");
  add(last_crawl, "last_crawl_us");
  add(score, "score");
  add(content_hash, "content_hash");
  return text;
}

bool PagesDiff::differs() const {
  return in_old != in_new || kind_differs || added_page_count != 0 || gone_page_count != 0 ||
         changed_page_count != 0 || added_link_count != 0 || gone_link_count != 0 ||
         added_edit_count != 0 || gone_edit_count != 0;
}

Result<std::vector<PagesDiff>> diff_pages(const Snapshot& older, const Snapshot& newer,
                                          const PagesDiffSink& sink,
                                          const PagesDiffOptions& options) {
  std::set<std::string> names;
  for (std::string& name : PageView::names(older)) names.insert(std::move(name));
  for (std::string& name : PageView::names(newer)) names.insert(std::move(name));
  pages::DiffWork work(sink.failed, options.progress);
  std::vector<PagesDiff> databases;
  for (const std::string& name : names) {
    CRAWLSTORE_TRY(auto found, diff_database(older, newer, name, sink, work));
    databases.push_back(std::move(found));
  }
  CRAWLSTORE_TRY(work.tell(0, true));
  return databases;
}

}  // namespace crawlstore
