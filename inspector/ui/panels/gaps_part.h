// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The gaps between the keys of a bucket as a histogram, and the keys of the gaps that are chosen.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <crawlstore/tools/drum_statistics.h>

#include "inspector/ui/plot.h"
#include "inspector/ui/table64.h"
#include "inspector/ui/ui.h"
#include "model/gap_keys.h"

namespace crawlstore::inspector {

class GapsPart {
 public:
  /// Draws them, counted by a job when the bucket or the file's view is another than before.
  ///   number  of the view of the file
  void draw(Ui& ui, const DrumView& drum, std::uint64_t bucket, std::uint64_t number);
  /// Stops its jobs, and forgets what they found.
  void let_go(Jobs& jobs);
  /// Whether a key is selected, of which the details tell.
  [[nodiscard]] bool has_details() const { return range_ && table_.selected().has_value(); }
  /// The keys of the chosen gaps; nullptr = none are chosen.
  [[nodiscard]] const Table64* table() const { return range_ ? &table_ : nullptr; }

 private:
  /// The findings of a job, shared with it; a newer question gets a box of its own.
  struct Gaps {
    std::optional<GapHistogram> histogram;
    std::optional<Error> problem;
  };
  struct Keys {
    std::shared_ptr<const model::TableSource> rows;
    std::optional<Error> problem;
  };
  void count(Ui& ui, const DrumView& drum);
  void list_keys(Ui& ui, const DrumView& drum, model::GapRange range);
  void draw_keys(Ui& ui, const DrumView& drum);

  std::shared_ptr<Gaps> gaps_;
  std::shared_ptr<Keys> keys_;
  std::optional<model::GapRange> range_;
  std::uint64_t bucket_ = 0;
  std::uint64_t number_ = 0;
  Table64 table_;
};

}  // namespace crawlstore::inspector
