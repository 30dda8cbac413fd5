// SPDX-License-Identifier: Apache-2.0
//
// Invariants: what is skipped is the same run, or the same tile, in states of one store; pages are
// told before links, and links before edits.
#include <algorithm>
#include <set>

#include <crawlstore/tools/pages_diff.h>

#include "pages/diff_database.h"

namespace crawlstore {
namespace {

using pages::ComparedPages;
using pages::DatabaseDiff;

/// The database of that name; nothing when the state has none.
Result<std::optional<PageView>> open_database(const Snapshot& snapshot, const std::string& name,
                                              bool exists, bool past_damage) {
  if (!exists) return std::optional<PageView>{};
  CRAWLSTORE_TRY(auto view,
                 past_damage ? open_past_damage(snapshot, name) : PageView::open(snapshot, name));
  return std::optional<PageView>(std::move(view));
}

/// Moves an error that the comparison goes past out of the result.
void set_aside(Result<std::optional<PageView>>& view, bool past_damage,
               std::optional<Error>& error) {
  if (view || !past_damage || !pages::is_damage(view.error())) return;
  error = view.error();
  view = std::optional<PageView>{};
}

struct States {
  const Snapshot& older;
  const Snapshot& newer;
};

Result<PagesDiff> diff_database(const States& states, const std::string& name,
                                const PagesDiffSink& sink, bool past_damage,
                                pages::DiffWork& work) {
  const auto& [older, newer] = states;
  const auto has = [&name](const Snapshot& snapshot) {
    const auto names = PageView::names(snapshot);
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  PagesDiff found;
  found.name = name;
  found.in_old = has(older);
  found.in_new = has(newer);
  auto opened_old = open_database(older, name, found.in_old, past_damage);
  auto opened_new = open_database(newer, name, found.in_new, past_damage);
  set_aside(opened_old, past_damage, found.old_error);
  set_aside(opened_new, past_damage, found.new_error);
  CRAWLSTORE_TRY(auto old_view, work.blame(false, std::move(opened_old)));
  CRAWLSTORE_TRY(auto new_view, work.blame(true, std::move(opened_new)));
  if (found.old_error || found.new_error) return found;
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
  DatabaseDiff both(ComparedPages(old_view), ComparedPages(new_view), older.uuid() == newer.uuid(),
                    sink, work);
  CRAWLSTORE_TRY(both.run(found));
  if (old_view) found.old_gaps = gaps_of(*old_view);
  if (new_view) found.new_gaps = gaps_of(*new_view);
  return found;
}

}  // namespace

bool PageFields::any() const {
  return state || crawl_count || change_count || first_crawl || last_crawl || score ||
         content_hash || http_status || failure_count;
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
  add(http_status, "http_status");
  add(failure_count, "failure_count");
  return text;
}

bool PagesDiff::differs() const {
  if (old_error || new_error) return false;
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
    CRAWLSTORE_TRY(auto found,
                   diff_database({older, newer}, name, sink, options.past_damage, work));
    databases.push_back(std::move(found));
  }
  CRAWLSTORE_TRY(work.tell(0, true));
  return databases;
}

}  // namespace crawlstore
