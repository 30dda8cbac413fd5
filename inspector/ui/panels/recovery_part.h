// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The offer to make a new file of a damaged one, and what the new one lacks.

#include <memory>

#include "inspector/core/recovery.h"
#include "inspector/ui/table64.h"
#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

class RecoveryPart {
 public:
  /// Whether the last recovery was one of the session's file.
  static bool has_result(const Ui& ui);
  /// A button, and how the last recovery of this file ended.
  void draw(Ui& ui);

  /// The table of losses.
  [[nodiscard]] const Table64* table() const { return &table_; }

 private:
  void draw_losses(Ui& ui);

  std::shared_ptr<const Recovery> shown_;
  std::shared_ptr<const model::TableSource> losses_;
  Table64 table_;
};

}  // namespace crawlstore::inspector
