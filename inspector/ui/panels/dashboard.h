// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The upper half of the overview: how the crawl is, at a glance.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inspector/ui/ui.h"
#include "model/table_source.h"

namespace crawlstore::inspector {

class Dashboard {
 public:
  void draw(Ui& ui, const model::FileView& view);
  void let_go(Jobs& jobs);

 private:
  /// A host, with how many pages it has.
  struct Host {
    std::string name;
    std::uint64_t page_count = 0;
  };
  /// The findings of a job, shared with it.
  struct Hosts {
    std::string database;
    std::vector<Host> largest;
    std::uint64_t host_count = 0;
    std::optional<Error> problem;
    std::optional<Error> damage;  // that was passed over
  };

  void draw_health(Ui& ui, const model::FileView& view) const;
  void draw_writer(Ui& ui, const model::FileView& view);
  void draw_pages(Ui& ui, const model::FileView& view, float room);
  static void draw_queues(Ui& ui, const model::FileView& view);
  static void draw_waiting(Ui& ui, const model::FileView& view);
  void draw_hosts(Ui& ui, const model::FileView& view);
  void ask_hosts(Ui& ui, const model::FileView& view, std::size_t database);

  std::int64_t asked_writer_us_ = 0;
  std::vector<std::int64_t> writers_;
  std::uint64_t asked_hosts_ = 0;  // number of the view; 0 = not asked
  std::shared_ptr<std::shared_ptr<const Hosts>> hosts_ =
      std::make_shared<std::shared_ptr<const Hosts>>();
};

}  // namespace crawlstore::inspector
