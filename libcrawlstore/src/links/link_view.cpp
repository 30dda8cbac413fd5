// SPDX-License-Identifier: Apache-2.0
#include "links/link_view.h"

#include <algorithm>

namespace crawlstore::links {
namespace {

Result<void> add_runs(SegmentId segment, bool is_gone, const LinkView::Find& find,
                      const LinkView::OpenRun& open_run, std::vector<LogRun>& runs) {
  if (!segment) return {};
  const format::SegmentEntry* entry = find(segment);
  if (entry == nullptr) return fail(Errc::kUnknownName, "there is no such segment of links");
  for (const format::RunRef& run : entry->runs) {
    CRAWLSTORE_TRY(auto lookup, LinksLookup::open(open_run(entry->id, run), entry->id));
    runs.push_back({std::move(lookup), is_gone});
  }
  std::sort(runs.begin(), runs.end(), [](const LogRun& a, const LogRun& b) {
    return a.run.run().run_id < b.run.run().run_id;
  });
  return {};
}

}  // namespace

Result<LinkView> LinkView::open(const Find& find, const OpenRun& open_run,
                                const LinkSegments& segments) {
  LinkView view;
  CRAWLSTORE_TRY(add_runs(segments.out, false, find, open_run, view.out_));
  CRAWLSTORE_TRY(add_runs(segments.in, false, find, open_run, view.in_));
  CRAWLSTORE_TRY(add_runs(segments.gone, true, find, open_run, view.in_));
  return view;
}

Result<LinkView> LinkView::open(container::Reader& reader, const LinkSegments& segments) {
  return open([&reader](SegmentId segment) { return reader.directory().find(segment); },
              [&reader](SegmentId segment, const format::RunRef& run) {
                return reader.run_reader(segment, run);
              },
              segments);
}

Result<LinkView> LinkView::open(container::SegmentWriter& writer, const LinkSegments& segments) {
  // The storage lives as long as the writer, and views end before.
  const std::shared_ptr<Storage> storage(std::shared_ptr<void>(), &writer.storage());
  return open([&writer](SegmentId segment) { return writer.find(segment); },
              [&](SegmentId segment, const format::RunRef& run) {
                return std::make_shared<const container::RunReader>(
                    storage, container::run_name(writer.identity(), segment, run.run_id), run);
              },
              segments);
}

Result<void> LinkView::check_pages(std::uint64_t page_count) const {
  for (const auto* runs : {&out_, &in_}) {
    for (const LogRun& run : *runs) {
      const format::LinkRunFooter& footer = run.run.footer();
      if (footer.last_page < page_count && footer.target_max < page_count) continue;
      return run.run.broken("a row or a link is of a page that does not exist", 0);
    }
  }
  return {};
}

Result<void> LinkView::out(std::uint64_t page, std::vector<std::uint64_t>& links) {
  links.clear();
  for (auto run = out_.rbegin(); run != out_.rend(); ++run) {
    std::size_t row = 0;
    CRAWLSTORE_TRY(const auto found, run->run.find(page, rows_, row));
    if (!found) continue;
    links.assign(rows_.links(row).begin(), rows_.links(row).end());
    return {};
  }
  return {};
}

Result<void> LinkView::in(std::uint64_t page, std::vector<std::uint64_t>& links) {
  edits_.clear();
  for (const LogRun& run : in_) {
    std::size_t row = 0;
    CRAWLSTORE_TRY(const auto found, run.run.find(page, rows_, row));
    if (found) edits_.take(rows_.links(row), run.is_gone);
  }
  links.swap(edits_.added());
  return {};
}

Result<CombinedRows> LinkView::out_rows(std::uint64_t first_page) const {
  return CombinedRows::open(out_, Combination::kReplace, first_page);
}

Result<CombinedRows> LinkView::in_rows(std::uint64_t first_page) const {
  return CombinedRows::open(in_, Combination::kEdit, first_page);
}

}  // namespace crawlstore::links
