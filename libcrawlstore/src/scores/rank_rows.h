// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The source of a graph's links: rows, pages ascending, that can be begun at any page.

#include <cstdint>
#include <memory>
#include <span>

#include <crawlstore/error.h>

#include "links/link_view.h"

namespace crawlstore::scores {

/// A walk over rows. Threads: one.
class Rows {
 public:
  Rows() = default;
  virtual ~Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  /// Goes to the next row, the first one at first; false behind the last. Pages ascend strictly;
  /// those without a row have no links.
  virtual Result<bool> next() = 0;
  [[nodiscard]] std::uint64_t page() const { return page_; }
  /// Valid until the next call.
  [[nodiscard]] std::span<const std::uint64_t> links() const { return links_; }

 protected:
  std::uint64_t page_ = 0;
  std::span<const std::uint64_t> links_;
};

/// Threads: any number call open() at once.
class TableSource {
 public:
  TableSource() = default;
  virtual ~TableSource() = default;
  TableSource(const TableSource&) = delete;
  TableSource& operator=(const TableSource&) = delete;

  /// Begins with the first row at or behind `first_page`. The walk ends before its source does.
  [[nodiscard]] virtual Result<std::unique_ptr<Rows>> open(std::uint64_t first_page) const = 0;
};

/// The out-links of a state of a store.
class OutRows final : public TableSource {
 public:
  explicit OutRows(links::LinkView view) : view_(std::move(view)) {}
  [[nodiscard]] Result<std::unique_ptr<Rows>> open(std::uint64_t first_page) const override;

 private:
  links::LinkView view_;
};

/// The links of a state of a store turned around: of each page, those that link to it.
class InRows final : public TableSource {
 public:
  explicit InRows(links::LinkView view) : view_(std::move(view)) {}
  [[nodiscard]] Result<std::unique_ptr<Rows>> open(std::uint64_t first_page) const override;

 private:
  links::LinkView view_;
};

}  // namespace crawlstore::scores
