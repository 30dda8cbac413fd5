// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The groups of frontiers whose key is the host of a page. Frontiers know no pages: nothing else
/// tells that a group is meant for a host.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inspector/ui/ui.h"
#include "model/crawl_file.h"
#include "model/frontier_due.h"

namespace crawlstore::inspector {

class PageGroups {
 public:
  /// Draws nothing where the file has no frontier. A large one would have to be read as a whole:
  /// for it there is a link to the group.
  void draw(Ui& ui, const model::FileView& view, const std::string& host);
  /// Ends the job that reads; what is shown stays.
  void let_go(Jobs& jobs);

 private:
  struct Found {
    FrontierInfo frontier;
    std::optional<model::GroupState> state;  // nothing: there is no such group
    std::optional<Error> problem;
  };

  void ask(Ui& ui, const model::FileView& view, const std::string& host);
  void draw_found(Ui& ui, const std::string& host) const;

  std::string asked_;  // host, frontiers, runs of their tables
  std::string host_;   // that found_ is of
  std::shared_ptr<std::shared_ptr<const std::vector<Found>>> found_ =
      std::make_shared<std::shared_ptr<const std::vector<Found>>>();
};

}  // namespace crawlstore::inspector
