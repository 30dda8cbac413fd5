// SPDX-License-Identifier: Apache-2.0
#include "cli/frontier_source.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <crawlstore/frontier_view.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// Names what there is instead.
std::string missing_frontier(const std::vector<std::string>& names,
                             const FrontierSourceOptions& options) {
  const std::string path = model::format_printable(options.path);
  if (names.empty()) {
    return fmt::format(
        "{0}: the store has no frontier; `crawlstore frontier {0} --put INPUT` makes one, "
        "`crawlstore schedule {0}` one of its pages",
        path);
  }
  std::string text = path + ": ";
  if (!options.name.empty()) {
    text += fmt::format("the store has no frontier `{}`; ", model::format_printable(options.name));
  }
  text += "there are ";
  for (const std::string& name : names) {
    text += fmt::format("{}`{}`", &name == &names.front() ? "" : ", ", name);
  }
  return text + ": --frontier NAME chooses";
}

}  // namespace

void add_frontier_source(Parser& parser, FrontierSourceOptions& options) {
  add_file(parser, options.path);
  add_frontier(parser, options.name);
  add_lock_wait(parser, options.lock_wait_seconds);
}

std::vector<std::string> names_of_frontiers(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.kind == SegmentKind::kFrontier) names.push_back(segment.name);
  }
  std::ranges::sort(names);
  return names;
}

std::optional<std::string> choose_frontier(const Snapshot& snapshot,
                                           const FrontierSourceOptions& options, bool makes,
                                           int& code) {
  const auto names = names_of_frontiers(snapshot);
  std::string name = options.name;
  if (name.empty()) name = names.size() == 1 ? names.front() : std::string(Frontier::kDefaultName);
  const bool is_there = std::ranges::find(names, name) != names.end();
  // A new one beside several others is made only where it is named.
  if (is_there || (makes && (names.empty() || !options.name.empty()))) return name;
  code = fail_with(missing_frontier(names, options), kExitNo);
  return std::nullopt;
}

Result<void> OpenFrontier::close() {
  CRAWLSTORE_TRY(frontier.close());
  return store.close();
}

std::optional<OpenFrontier> open_frontier(const FrontierSourceOptions& options, bool makes,
                                          const FrontierOptions& made, int& code) {
  const auto fail_here = [&](const Error& error) {
    code = fail_with(options.path, error);
    return std::nullopt;
  };
  auto store = makes ? open_or_create_store(options.path, options.lock_wait_seconds)
                     : open_store(options.path, options.lock_wait_seconds);
  if (!store) return fail_here(store.error());
  const auto snapshot = store->snapshot();
  if (!snapshot) return fail_here(snapshot.error());
  auto name = choose_frontier(*snapshot, options, makes, code);
  if (!name) return std::nullopt;
  auto frontier = Frontier::open(*store, *name, made);
  if (!frontier) return fail_here(frontier.error());
  return OpenFrontier{std::move(*store), std::move(*name), std::move(*frontier)};
}

}  // namespace crawlstore::cli
