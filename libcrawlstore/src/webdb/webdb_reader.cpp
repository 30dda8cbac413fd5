// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <crawlstore/tools/page_copies.h>
#include <crawlstore/webdb.h>

namespace crawlstore {
namespace {

/// Targets that are gathered before those that came twice are dropped.
constexpr std::size_t kTargetsMin = 4096;

void drop_repeats(std::vector<std::uint64_t>& targets) {
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
}

/// Hands out what a walk over pages with a callback finds. The first error of a look-up in the
/// callback ends the walk and is returned.
///   walk   Result<void>(const std::function<bool(args)>&)
///   look   Result<bool>(args...): whether to go on
template <class Walk, class Look>
Result<void> walk_until_error(const Walk& walk, const Look& look) {
  Result<void> done;
  const auto visit = [&](const auto&... found) {
    const Result<bool> goes_on = look(found...);
    if (!goes_on) done = tl::unexpected<Error>(goes_on.error());
    return goes_on && *goes_on;
  };
  const Result<void> walked = walk(visit);
  return done ? walked : done;
}

}  // namespace

Result<WebDbReader> WebDbReader::open(const Snapshot& snapshot, std::string_view name) {
  CRAWLSTORE_TRY(auto view, PageView::open(snapshot, name));
  if (view.info().has_urls) return WebDbReader(std::move(view));
  return fail(Errc::kInvalidArgument, "a WebDB needs pages that have URLs");
}

Result<bool> WebDbReader::is_there(std::uint64_t index) const {
  return view_.state(index).map([](PageState state) { return state != PageState::kGone; });
}

Result<std::optional<PageInfo>> WebDbReader::page(std::string_view url) const {
  CRAWLSTORE_TRY(const auto index, view_.find(url));
  if (!index) return std::optional<PageInfo>();
  CRAWLSTORE_TRY(auto found, view_.page(*index));
  if (found.state == PageState::kGone) return std::optional<PageInfo>();
  return std::optional<PageInfo>(std::move(found));
}

Result<bool> WebDbReader::page_exists(std::span<const std::byte> content_hash) const {
  bool exists = false;
  const auto note = [&exists](std::uint64_t /*index*/) {
    exists = true;
    return false;
  };
  CRAWLSTORE_TRY(pages_of(content_hash, note));
  return exists;
}

Result<void> WebDbReader::pages_of(std::span<const std::byte> content_hash,
                                   const VisitPage& visit) const {
  return walk_until_error(
      [&](const VisitPage& found) { return for_each_page_of_content(view_, content_hash, found); },
      [&](std::uint64_t index) -> Result<bool> {
        CRAWLSTORE_TRY(const bool there, is_there(index));
        return !there || visit(index);
      });
}

Result<void> WebDbReader::for_each_page(
    const PageOrderOptions& options,
    const std::function<bool(std::string_view url, std::uint64_t index)>& visit) const {
  return walk_until_error(
      [&](const auto& found) { return for_each_page_by_url(view_, options, found); },
      [&](std::string_view url, std::uint64_t index) -> Result<bool> {
        CRAWLSTORE_TRY(const bool there, is_there(index));
        return !there || visit(url, index);
      });
}

Result<void> WebDbReader::for_each_page_by_content(
    const PageOrderOptions& options,
    const std::function<bool(std::span<const std::byte> content_hash, std::uint64_t index)>& visit)
    const {
  return walk_until_error(
      [&](const auto& found) {
        return crawlstore::for_each_page_by_content(view_, options, found);
      },
      [&](std::span<const std::byte> content_hash, std::uint64_t index) -> Result<bool> {
        CRAWLSTORE_TRY(const bool there, is_there(index));
        return !there || visit(content_hash, index);
      });
}

Result<void> WebDbReader::links_to(std::string_view url, const VisitPage& visit) const {
  CRAWLSTORE_TRY(const auto index, view_.find(url));
  if (!index) return {};
  CRAWLSTORE_TRY(const auto sources, view_.in_links(*index));
  for (const std::uint64_t source : sources) {
    if (!visit(source)) return {};
  }
  return {};
}

Result<void> WebDbReader::links_of(std::span<const std::byte> content_hash,
                                   const VisitPage& visit) const {
  std::vector<std::uint64_t> targets;
  std::size_t full = kTargetsMin;
  Result<void> done;
  const auto gather = [&](std::uint64_t index) {
    const auto links = view_.out_links(index);
    if (!links) done = tl::unexpected<Error>(links.error());
    if (!links) return false;
    targets.insert(targets.end(), links->begin(), links->end());
    if (targets.size() < full) return true;
    drop_repeats(targets);
    full = std::max(kTargetsMin, 2 * targets.size());
    return true;
  };
  CRAWLSTORE_TRY(pages_of(content_hash, gather));
  if (!done) return done;
  drop_repeats(targets);
  for (const std::uint64_t target : targets) {
    if (!visit(target)) return {};
  }
  return {};
}

Result<void> WebDbReader::for_each_link(
    const PageOrderOptions& options,
    const std::function<bool(std::string_view target_url, std::span<const std::uint64_t> sources)>&
        visit) const {
  return walk_until_error(
      [&](const auto& found) { return for_each_page_by_url(view_, options, found); },
      [&](std::string_view url, std::uint64_t index) -> Result<bool> {
        CRAWLSTORE_TRY(const auto sources, view_.in_links(index));
        return sources.empty() || visit(url, sources);
      });
}

Result<WebDbCounts> WebDbReader::counts() const {
  WebDbCounts counts;
  counts.link_count = view_.info().link_count;
  for (std::uint64_t index = 0; index < view_.info().page_count; ++index) {
    CRAWLSTORE_TRY(const bool there, is_there(index));
    if (there) ++counts.page_count;
  }
  return counts;
}

}  // namespace crawlstore
