// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The changes in page databases between two states, as tables beside those of DiffView. Ownership:
/// documents own all they hold. Threads: as the diff_pages() that fills them.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/tools/pages_diff.h>

#include "model/diff_view.h"

namespace crawlstore::model {

/// Collects what diff_pages() tells; then the whole is added to a document.
class PagesDiffView {
 public:
  /// `rows_max` of each list; `with_keys`: the links that came and went, too.
  PagesDiffView(const Snapshot& older, const Snapshot& newer, const DiffViewOptions& options);

  /// For diff_pages() of the same states; not longer than this view. Names pages only for the rows
  /// that it keeps.
  [[nodiscard]] PagesDiffSink sink();

  /// Adds the tables `page_databases`, `pages`, `hosts` (those that grew most first; `page_delta`
  /// is by how much), `page_links`, `edits` and `links` to the document of a DiffView, and makes
  /// its field `is_different` true where a database differs.
  ///   errors  of damage: a page could not be named
  Result<void> add_to(Document& document, const std::vector<PagesDiff>& databases) const;

 private:
  [[nodiscard]] bool has_room(const Table& table) const {
    return table.rows.size() < options_.rows_max;
  }
  void add_page(const PageDiff& page);
  void add_links(const PageLinksDiff& links);
  [[nodiscard]] Table hosts_table() const;
  void add_link_rows(const PageLinksDiff& links, bool in_new);
  /// The URL, or `#N` where pages have none.
  std::string page_name(std::string_view database, bool in_new, std::uint64_t index);
  /// The same; past damage `#N` instead of nothing.
  std::string name_or_index(std::string_view database, bool in_new, std::uint64_t index);

  Snapshot older_;
  Snapshot newer_;
  DiffViewOptions options_;
  Table pages_;
  Table page_links_;
  Table edits_;
  Table links_;
  /// Pages of a host, of a database.
  struct HostChanges {
    std::uint64_t added = 0;
    std::uint64_t gone = 0;
    std::uint64_t forgotten = 0;  ///< of these
    std::uint64_t changed = 0;
    [[nodiscard]] std::int64_t growth() const {
      return static_cast<std::int64_t>(added) - static_cast<std::int64_t>(forgotten);
    }
  };
  std::map<std::pair<std::string, std::string>, HostChanges> hosts_;
  std::map<std::pair<std::string, bool>, PageView> views_;
  std::optional<Error> problem_;  // the first one
};

}  // namespace crawlstore::model
