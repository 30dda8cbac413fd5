// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A frontier that jobs read, and read again when it has changed: one at a time, for the whole of
/// it is read. The time between two reads of a large one is as long as the last one took.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include <crawlstore/frontier_view.h>

#include "inspector/ui/ui.h"
#include "model/crawl_file.h"
#include "model/frontier_look.h"

namespace crawlstore::inspector {

/// The answer of a job.
struct LoadedFrontier {
  Generation generation;
  std::shared_ptr<const model::FrontierLook> look;  ///< nullptr where there is a problem
  bool has_url_records = false;      ///< in the bodies of items, as crawlstored has them
  std::optional<FrontierView> view;  ///< pins its generation; gone when the next one is read
  std::shared_ptr<const model::TableSource> leases;
  std::shared_ptr<const model::TableSource> later;
  std::optional<Error> problem;
};

class FrontierLoad {
 public:
  /// Rows of a table of items.
  static constexpr std::size_t kItemsMax = 1000;

  /// Reads what has changed. The answer before stays meanwhile, unless it is of another frontier.
  void ask(Ui& ui, const model::FileView& view, const FrontierInfo& info);
  /// Ends the job, and frees the items; what is shown stays.
  void let_go(Jobs& jobs);
  /// nullptr: nothing was read so far
  [[nodiscard]] const std::shared_ptr<const LoadedFrontier>& loaded() const { return box_->loaded; }
  /// Says that it is being read, or was not to the end.
  void draw_state(Ui& ui);

 private:
  /// The place where a job leaves its answer, on the thread that draws.
  struct Box {
    std::shared_ptr<const LoadedFrontier> loaded;
    std::uint64_t answer_count = 0;
  };
  /// Name of the frontier, its segment, the run of its table.
  using Asked = std::tuple<std::string, std::uint64_t, std::uint64_t>;

  [[nodiscard]] bool is_reading(Ui& ui);
  void start(Ui& ui, const model::FileView& view, const FrontierInfo& info);
  void free_items();

  std::shared_ptr<Box> box_ = std::make_shared<Box>();
  std::optional<Asked> asked_;
  std::uint64_t job_ = 0;  // 0 = none
  std::uint64_t answers_wanted_ = 0;
  std::int64_t started_us_ = 0;
  std::int64_t rest_until_us_ = 0;
};

}  // namespace crawlstore::inspector
