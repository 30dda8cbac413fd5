// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/next_action.h"

#include <algorithm>

#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

/// In quotes that a shell takes as they are.
std::string quoted(const std::string& path) {
  std::string text = "'";
  for (const char letter : path)
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

/// A command line that somebody pastes into a shell.
NextAction in_shell(std::string why, const std::string& verb, const model::FileView& view,
                    const std::string& options = {}) {
  return {std::move(why), "Copy `crawlstore " + verb + "`", "",
          "crawlstore " + verb + " " + quoted(view.path) + options};
}

bool is_due(const DrumInfo& drum) {
  return (drum.merge_requests != 0 && drum.pending_count >= drum.merge_requests) ||
         (drum.merge_bytes != 0 && drum.pending_bytes >= drum.merge_bytes);
}

/// The first one; nullptr = none.
const ScoresInfo* find_pagerank(const model::FileView& view) {
  for (const auto& arrays : view.scores) {
    const auto found = std::ranges::find(arrays, ScoreView::kDefaultName, &ScoresInfo::name);
    if (found != arrays.end()) return &*found;
  }
  return nullptr;
}

/// More than half of a file that is worth the work.
bool is_wasteful(const StoreInfo& info) {
  constexpr std::uint64_t kWorthIt = std::uint64_t{64} << 20;
  return info.free_bytes > kWorthIt && info.free_bytes > info.file_bytes / 2;
}

}  // namespace

NextAction next_action(const model::FileView& view, const Health& health) {
  if (health.is_lost()) {
    return {"What is shown was read before.", "See the problem", "show_problems", ""};
  }
  if (health.is_damaged()) {
    return {"Something is damaged.", "See the problems", "show_problems", ""};
  }
  if (!health.is_whole() && health.problems().empty()) {
    return {"Not all checksums were looked at yet.", "Check all checksums", "verify", ""};
  }
  const auto due = std::ranges::find_if(view.drums, is_due);
  if (due != view.drums.end()) {
    return in_shell(model::format_count(due->pending_count) + " requests wait in " + due->name +
                        ", which are enough for a merge.",
                    "merge", view);
  }
  const auto edited = std::ranges::find_if(
      view.pages, [](const PagesInfo& pages) { return pages.event_count > 0; });
  if (edited != view.pages.end()) {
    return in_shell(model::format_counted(edited->event_count, "edit") + " of " + edited->name +
                        " wait for a superstep.",
                    "merge", view);
  }
  const bool has_links =
      std::ranges::any_of(view.pages, [](const PagesInfo& pages) { return pages.link_count > 0; });
  const ScoresInfo* ranked = find_pagerank(view);
  if (has_links && ranked == nullptr && !view.scores_problem) {
    return in_shell("There are links, and no PageRank of them.", "rank", view);
  }
  if (ranked != nullptr && ranked->is_stale) {
    return in_shell("Pages or links have changed since PageRank was computed.", "rank", view);
  }
  if (is_wasteful(view.info)) {
    return in_shell(model::format_bytes(view.info.free_bytes) + " of the file are free.", "compact",
                    view);
  }
  return {"Nothing is due.", "See what the last commit changed", "show_diff", ""};
}

}  // namespace crawlstore::inspector
