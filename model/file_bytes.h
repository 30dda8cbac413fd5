// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bytes of a file, whatever they are, and what a few of them might mean.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/storage.h>

#include "model/table.h"

namespace crawlstore::model {

/// Reads a file that may be damaged, or be cut while it is read. Nothing is pinned: a writer may
/// change what is free, or becomes it. Threads: any.
class FileBytes {
 public:
  /// errors as open_storage()
  static Result<std::shared_ptr<const FileBytes>> open(const std::string& path);

  /// Length of the file now.
  [[nodiscard]] Result<std::uint64_t> size() const { return storage_->size(); }
  /// Up to `count_max` bytes from `offset`; fewer at the end of the file, none behind it.
  [[nodiscard]] Result<std::vector<std::byte>> read(std::uint64_t offset,
                                                    std::size_t count_max) const;
  /// The offset of the first such bytes that begin in `within`, where they may end behind it;
  /// nullopt = none, or none are wanted. Reads a piece at a time and asks `go_on` in between.
  ///   errors  kCancelled: go_on said no
  [[nodiscard]] Result<std::optional<std::uint64_t>> find(
      std::span<const std::byte> wanted, Extent within,
      const std::function<bool(std::uint64_t at)>& go_on) const;

 private:
  explicit FileBytes(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
  std::unique_ptr<Storage> storage_;
};

/// The fields of what the bytes at a place would be: numbers of each size and both byte orders,
/// floating point, a varint, a time; as many of these as there are bytes for.
std::vector<Field> byte_values(std::span<const std::byte> bytes);

/// Sixteen a line with their offset, as the hex view shows them, for copying.
std::string hex_dump(std::uint64_t offset, std::span<const std::byte> bytes);
/// "crawl", in quotes, as its bytes; else pairs of hexadecimal digits, with or without blanks
/// between. nullopt = neither, or nothing.
std::optional<std::vector<std::byte>> parse_byte_string(std::string_view text);

}  // namespace crawlstore::model
