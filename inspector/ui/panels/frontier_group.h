// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A group of a frontier: why it is not due, its rule, the items that leave first, its leases.

#include <cstdint>
#include <memory>
#include <string>

#include "inspector/ui/panels/frontier_load.h"
#include "inspector/ui/table64.h"
#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

class FrontierGroupPart {
 public:
  /// Draws the group of this key, which may be none of the frontier. Returns whether it goes on
  /// being shown.
  [[nodiscard]] bool draw(Ui& ui, const LoadedFrontier& loaded, const std::string& key,
                          std::uint64_t now_ms);
  /// Ends the job that reads its items; what is shown stays.
  void let_go(Jobs& jobs);

 private:
  struct Found {
    std::shared_ptr<const model::TableSource> waiting;
    std::shared_ptr<const model::TableSource> leases;
    std::optional<Error> problem{};
  };

  void ask(Ui& ui, const LoadedFrontier& loaded, const std::string& key);
  void draw_items(Ui& ui, const Found& found, std::uint64_t now_ms);

  bool shows_leases_ = false;
  std::string key_;
  std::shared_ptr<const model::FrontierLook> look_;  // that state_ is in, and items_ is of
  const model::GroupState* state_ = nullptr;         // nullptr = there is no such group
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
  std::shared_ptr<const Found> shown_;  // that rows_ is of
  std::uint64_t shown_ms_ = 0;
  std::shared_ptr<const model::TableSource> waiting_rows_;
  std::shared_ptr<const model::TableSource> lease_rows_;
  Table64 waiting_table_;
  Table64 leases_table_;
};

}  // namespace crawlstore::inspector
