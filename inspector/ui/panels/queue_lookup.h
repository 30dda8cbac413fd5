// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The place of a page in a queue, and the reason that it is not next: a field, and the answer
/// below it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include <crawlstore/page_view.h>
#include <crawlstore/queue.h>

#include "inspector/ui/ui.h"
#include "model/crawl_file.h"

namespace crawlstore::inspector {

class QueueLookup {
 public:
  /// A queue, and the database of its pages.
  struct Place {
    const model::FileView& view;
    const QueueInfo& queue;
    const PageView* pages = nullptr;  ///< nullptr = there is none
    std::string pages_name;           ///< as in PageThing
  };

  void draw(Ui& ui, const Place& place);
  /// Looks for the page of an index when it is drawn next.
  void look_for(std::uint64_t index);
  /// The job that looks; an answer stays.
  void let_go(Jobs& jobs);

  /// The text in the field.
  [[nodiscard]] const std::string& text() const { return entered_; }
  void set_text(const std::string& text);

 private:
  struct Answer {
    Generation generation;
    std::optional<std::uint64_t> page;
    std::string text;
  };
  /// Queue, database and text.
  using Asked = std::tuple<std::uint64_t, std::string, std::string>;

  void ask(Ui& ui, const Place& place);
  static Result<Answer> look(const Snapshot& snapshot, const Place& place, const std::string& text,
                             JobContext& context);

  std::string field_;    // what is being typed
  std::string entered_;  // what is looked for; empty = nothing
  std::optional<Asked> asked_;
  std::uint64_t asked_number_ = 0;  // of the view
  std::shared_ptr<std::shared_ptr<const Answer>> answer_ =
      std::make_shared<std::shared_ptr<const Answer>>();
};

}  // namespace crawlstore::inspector
