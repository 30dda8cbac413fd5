// SPDX-License-Identifier: Apache-2.0
#include "cli/page_schedule.h"

#include <algorithm>

#include <fmt/format.h>

#include <crawlstore/frontier_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/values.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "model/format_text.h"
#include "service/core/settings.h"

namespace crawlstore::cli {

std::optional<std::string> choose_frontier_of_pages(const Snapshot& snapshot,
                                                    const PageScheduleOptions& options, int& code) {
  const auto values = read_values(snapshot);
  if (!values) {
    code = fail_with(options.source.path, values.error());
    return std::nullopt;
  }
  if (values->contains(service::kPages) && options.database == PageDb::kDefaultName) {
    code = fail_with(fmt::format("{}: these pages are URLs of crawlstored, which says by its own "
                                 "queues what is fetched next",
                                 model::format_printable(options.source.path)),
                     kExitUsage);
    return std::nullopt;
  }
  auto name = choose_frontier(snapshot, options.source, true, code);
  if (!name) return std::nullopt;
  const auto frontiers = FrontierView::list(snapshot);
  if (!frontiers) {
    code = fail_with(options.source.path, frontiers.error());
    return std::nullopt;
  }
  const auto same = std::ranges::find(*frontiers, *name, &FrontierInfo::name);
  if (same == frontiers->end() || same->pages == options.database) return name;
  code = fail_with(
      fmt::format("{}: the items of the frontier `{}` are not the pages of `{}`; "
                  "--frontier NAME makes one whose are",
                  model::format_printable(options.source.path), model::format_printable(*name),
                  model::format_printable(options.database)),
      kExitUsage);
  return std::nullopt;
}

Result<PageScheduleDone> schedule_pages(Store& store, const std::string& name,
                                        const PageScheduleOptions& options) {
  FrontierOptions made;
  made.pages = options.database;
  made.default_rule = options.default_rule;
  CRAWLSTORE_TRY(auto frontier, Frontier::open(store, name, made));
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, options.database));
  if (pages.info().event_count != 0) {
    note(fmt::format("{0}: {1} not merged yet; `crawlstore merge {0}` makes pages of them",
                     model::format_printable(options.source.path),
                     model::format_counted(pages.info().event_count, "edit")));
  }
  PageScheduleDone done{.page_count = pages.info().page_count, .pages = {}, .back = {}};
  if (options.puts_back) {
    const RevisitRule* const rule = options.revisits ? &*options.revisits : nullptr;
    CRAWLSTORE_TRY(done.back, put_back(frontier, snapshot, options.policy, rule));
  } else {
    CRAWLSTORE_TRY(done.pages, put_pages(frontier, pages, options.policy));
  }
  done.waiting_count = frontier.waiting_count();
  done.leased_count = frontier.leased_count();
  CRAWLSTORE_TRY(frontier.close());
  return done;
}

}  // namespace crawlstore::cli
