// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Ascending keys with values, from memory, from partitions, or merged from several of these.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "container/segment_writer.h"
#include "drum/partition.h"
#include "drum/partition_rows.h"

namespace crawlstore::drum {

/// A change of one key. All values have the length that the table says.
struct KeyEdit {
  Key16 key;
  bool removes = false;
  std::span<const std::byte> value;  ///< empty if it removes
};

/// A place in a list of edits: at an edit, or at the end. Threads: one.
class KeySource {
 public:
  KeySource() = default;
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;
  virtual ~KeySource() = default;

  [[nodiscard]] bool at_end() const { return !edit_; }
  /// Returns the edit, whose value is valid until the next advance(). Keys ascend strictly.
  [[nodiscard]] const KeyEdit& edit() const { return *edit_; }
  [[nodiscard]] Key16 key() const { return edit_->key; }
  virtual Result<void> advance() = 0;
  /// Counts the keys from here on whose heads are at most `last_head`.
  virtual Result<std::uint64_t> count_to(std::uint64_t last_head) = 0;

 protected:
  std::optional<KeyEdit> edit_;
};

/// Edits in memory, which outlive this.
class EditKeys : public KeySource {
 public:
  explicit EditKeys(std::span<const KeyEdit> edits) : left_(edits) { settle(); }
  Result<void> advance() override;
  Result<std::uint64_t> count_to(std::uint64_t last_head) override;

 private:
  void settle();

  std::span<const KeyEdit> left_;  // edit_ first
};

/// All keys of a partition, read forwards; advance() compares its checksums at the end.
class PartitionKeys : public KeySource {
 public:
  /// Opens a partition. The storage outlives it.
  static Result<std::unique_ptr<PartitionKeys>> open(Storage& storage, const format::RunName& name,
                                                     const format::RunRef& run, Shape shape);
  Result<void> advance() override;
  Result<std::uint64_t> count_to(std::uint64_t last_head) override;

 private:
  PartitionKeys(Storage& storage, const format::RunName& name, const format::RunRef& run,
                Shape shape);
  Result<void> settle();

  std::shared_ptr<Storage> storage_;  // borrowed
  format::RunName name_;
  format::RunRef run_;
  Shape shape_;
  PartitionCursor cursor_;
  std::shared_ptr<const PartitionRows> rows_;  // nullptr before the first count_to()
  std::uint64_t passed_count_ = 0;
};

/// Several sources as one. An edit that removes a key wins over one that adds it; two that add a
/// key are kSegmentInvalid.
class MergedKeys : public KeySource {
 public:
  static Result<std::unique_ptr<MergedKeys>> open(std::vector<std::unique_ptr<KeySource>> sources);
  Result<void> advance() override;
  Result<std::uint64_t> count_to(std::uint64_t last_head) override;

 private:
  explicit MergedKeys(std::vector<std::unique_ptr<KeySource>> sources)
      : sources_(std::move(sources)) {}
  Result<void> settle();

  std::vector<std::unique_ptr<KeySource>> sources_;
  KeySource* first_ = nullptr;  // the one with edit_
};

}  // namespace crawlstore::drum
