// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The groups of frontiers whose key is the host of a page, and in frontiers of pages its next
/// visit.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inspector/ui/ui.h"
#include "model/crawl_file.h"
#include "model/frontier_due.h"
#include "model/page_visit.h"

namespace crawlstore::inspector {

class PageGroups {
 public:
  struct Page {
    std::string database;
    std::uint64_t index = 0;
    std::string host;
    bool operator==(const Page&) const = default;
  };
  /// Draws nothing where the file has no frontier. A large one would have to be read as a whole:
  /// for it there is a link to the group.
  void draw(Ui& ui, const model::FileView& view, const Page& page);
  /// Ends the job that reads; what is shown stays.
  void let_go(Jobs& jobs);

 private:
  struct Found {
    FrontierInfo frontier;
    std::optional<model::GroupState> state;   // nothing: there is no such group
    std::optional<model::PageVisit> visit{};  // nothing: the group does not hold the page
    std::optional<Error> problem;
  };

  void ask(Ui& ui, const model::FileView& view, const Page& page);
  void draw_found(Ui& ui) const;
  static Found look_up(const Snapshot& snapshot, const FrontierInfo& info, const Page& page);

  std::string asked_;  // page, frontiers, runs of their tables
  Page page_;          // that found_ is of
  std::shared_ptr<std::shared_ptr<const std::vector<Found>>> found_ =
      std::make_shared<std::shared_ptr<const std::vector<Found>>>();
};

}  // namespace crawlstore::inspector
