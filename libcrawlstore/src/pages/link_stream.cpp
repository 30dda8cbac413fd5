// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/inside.h"
#include "pages/page_view_impl.h"

namespace crawlstore {

struct LinkStream::Impl {
  std::shared_ptr<PageView::Impl> view;
  LinkStreamOptions options;
  std::vector<std::uint64_t> hosts;  // by page; empty: links inside a host come along
  std::optional<links::CombinedRows> rows;
  std::optional<links::LinkView> lookup;  // instead of rows, past damage
  std::uint64_t next_page = 0;            // of which nothing was returned yet
  std::uint64_t page = 0;
  std::vector<std::uint64_t> row;  // that was looked up
  std::vector<std::uint64_t> kept;
  std::span<const std::uint64_t> links;

  [[nodiscard]] PagePart part() const {
    return options.incoming ? PagePart::kInLinks : PagePart::kOutLinks;
  }

  Result<void> start() {
    rows.reset();
    lookup.reset();
    next_page = options.first_page;
    if (!view->links) return {};
    if (const auto walking = walk_from(next_page); !walking) return look_up(walking.error());
    return {};
  }
  /// Walks the rows from this page on.
  Result<void> walk_from(std::uint64_t first_page) {
    CRAWLSTORE_TRY(auto opened, options.incoming ? view->links->in_rows(first_page)
                                                 : view->links->out_rows(first_page));
    rows.emplace(std::move(opened));
    return {};
  }
  /// Goes on past damage by looking up rows one by one, which finds those that can be read. Returns
  /// the error where the view does not go on.
  Result<void> look_up(const Error& error) {
    rows.reset();
    if (!view->goes_on_past(error)) return tl::unexpected<Error>(error);
    if (!view->records) {  // nothing proves how many pages there are
      return view->note_gap(part(), next_page, view->table.page_count, error);
    }
    lookup = view->links;
    return {};
  }

  /// Goes to the next row, which may have no links.
  Result<bool> next_row() {
    if (rows) {
      const auto more = rows->next();
      if (more && !*more) rows.reset();
      if (more && *more) take_row();
      if (more) return more;
      CRAWLSTORE_TRY(look_up(more.error()));
    }
    return lookup ? next_lookup() : Result<bool>{false};
  }
  void take_row() {
    page = rows->page();
    links = rows->links();
    next_page = page + 1;
  }
  Result<bool> next_lookup() {
    for (; next_page < view->table.page_count; ++next_page) {
      const auto read = options.incoming ? lookup->in(next_page, row) : lookup->out(next_page, row);
      if (!read) CRAWLSTORE_TRY(view->note_gap(part(), next_page, next_page + 1, read.error()));
      if (!read || row.empty()) continue;
      if (walks_again()) {
        lookup.reset();
        take_row();
        return true;
      }
      page = next_page++;
      links = row;
      return true;
    }
    lookup.reset();
    return false;
  }

  /// Walks the rows again from the page that was looked up, unless an older run is damaged here.
  bool walks_again() {
    if (walk_from(next_page)) {
      const auto more = rows->next();
      if (more && *more && rows->page() == next_page) return true;
    }
    rows.reset();
    return false;
  }

  /// Drops the links inside a host.
  Result<void> filter() {
    if (hosts.empty()) return {};
    kept.clear();
    for (const std::uint64_t link : links) {
      if (page >= hosts.size() || link >= hosts.size()) {
        return fail(Errc::kSegmentInvalid, "a link leads to a page that does not exist");
      }
      if (hosts[page] != hosts[link]) kept.push_back(link);
    }
    links = kept;
    return {};
  }
};

Result<LinkStream> PageView::links(const LinkStreamOptions& options) const {
  auto impl = std::make_shared<LinkStream::Impl>();
  impl->view = impl_;
  impl->options = options;
  if (options.only_other_hosts && impl_->keys) {
    CRAWLSTORE_TRY(auto hosts, impl_->hosts());
    impl->hosts = std::move(hosts);
  }
  CRAWLSTORE_TRY(impl->start());
  return LinkStream(std::move(impl));
}

LinkStream::LinkStream(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<bool> LinkStream::next() {
  while (true) {
    const auto more = impl_->next_row();
    if (!more || !*more) {
      impl_->rows.reset();
      return more;
    }
    CRAWLSTORE_TRY(impl_->filter());
    if (!impl_->links.empty()) return true;
  }
}

std::uint64_t LinkStream::page() const {
  return impl_->page;
}

std::span<const std::uint64_t> LinkStream::links() const {
  return impl_->links;
}

Result<void> LinkStream::reset() {
  return impl_->start();
}

}  // namespace crawlstore
