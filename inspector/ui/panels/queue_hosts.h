// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The hosts of all pages that wait in a queue, counted by a job.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <crawlstore/page_view.h>
#include <crawlstore/queue.h>

#include "inspector/ui/table64.h"
#include "inspector/ui/ui.h"
#include "model/crawl_file.h"

namespace crawlstore::inspector {

class QueueHosts {
 public:
  /// Counts when there is no count of this queue, and anew for each generation of a small one.
  ///   pages       nullptr = there is no page database
  ///   pages_name  as in PageThing
  void draw(Ui& ui, const model::FileView& view, const QueueInfo& queue, const PageView* pages,
            const std::string& pages_name);
  /// The job that counts; what was counted stays.
  void let_go(Jobs& jobs);
  /// " 123" for the title, as soon as it is known.
  [[nodiscard]] std::string count_text() const;
  Table64& table() { return table_; }
  [[nodiscard]] const Table64& table() const { return table_; }

 private:
  struct Found {
    Generation generation;
    std::uint64_t unknown_count = 0;
    std::shared_ptr<const model::TableSource> rows;  // in memory: it holds no pin
    std::optional<Error> problem;
  };

  void start(Ui& ui, const model::FileView& view, const QueueInfo& queue, const PageView& pages);
  void draw_progress(Ui& ui) const;

  std::uint64_t job_ = 0;          // 0 = none
  std::string counted_;            // queue and database
  std::uint64_t view_number_ = 0;  // that was counted
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
  Table64 table_;
};

}  // namespace crawlstore::inspector
