// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Builds the lines of a description: include/crawlstore/tools/inspect.h.

#include <cstdint>
#include <memory>
#include <optional>

#include <crawlstore/tools/inspect.h>

#include "container/kind.h"
#include "container/run_io.h"
#include "format/field.h"
#include "format/origin_block.h"

namespace crawlstore::container {

class Description {
 public:
  explicit Description(const DescribeOptions& options) : options_(options) {}

  /// Opens a struct or list; what is added until it is closed lies inside.
  void open(std::string name, std::string type, Extent place, std::string value = {});
  void close() { --depth_; }

  void add(std::string name, std::string type, Extent place, std::string value);
  /// Fields that were described relative to `base`.
  void add_fields(const format::Fields& fields, std::uint64_t base);

  /// Puts the text on the innermost line that begins at `offset` among those added since `mark`;
  /// without one on the line at `mark`. A line keeps the first problem that it gets.
  void note(std::size_t mark, std::uint64_t offset, const char* text);
  void note_last(const char* text) { note(fields_.size() - 1, Error::kNoOffset, text); }
  /// The number of the next line.
  [[nodiscard]] std::size_t mark() const { return fields_.size(); }

  [[nodiscard]] std::size_t entries_max() const { return options_.entries_max; }
  std::vector<FieldInfo> take() { return std::move(fields_); }

 private:
  const DescribeOptions options_;
  std::vector<FieldInfo> fields_;
  std::uint32_t depth_ = 0;
};

/// Bytes of a run, whole or not.
struct RunBytes {
  std::vector<std::byte> bytes;
  std::optional<Error> problem;  // why they are not to be believed
};

/// One run of a segment, read piece by piece.
class RunSource {
 public:
  /// `storage` outlives it.
  RunSource(Storage& storage, const Uuid& uuid, const format::SegmentEntry& entry,
            const format::RunRef& run);

  /// [offset, offset + length) of the payload, as far as it goes and the file holds it.
  [[nodiscard]] RunBytes read(std::uint64_t offset, std::uint64_t length) const;

  [[nodiscard]] const format::RunRef& run() const { return run_; }
  [[nodiscard]] const format::RunName& name() const { return name_; }
  [[nodiscard]] Storage& storage() const { return storage_; }

 private:
  Storage& storage_;
  format::RunName name_;
  format::RunRef run_;
  std::optional<RunReader> reader_;  // none: the file ends inside the run
};

/// Longer runs and blocks are not read whole just to find broken rules: their first bytes are
/// shown, and that is all. A block of origins with the longest URL is not longer.
inline constexpr std::uint64_t kWholeBytesMax = format::kUrlBytesMax + (std::uint64_t{1} << 20);

/// Notes a problem of `bytes`, which begin at `base` in the file, or one that a parse function
/// found in them.
inline void note_problems(Description& out, std::size_t mark, std::uint64_t base,
                          const RunBytes& bytes, const std::optional<Error>& broken) {
  if (bytes.problem) {
    out.note(mark, bytes.problem->offset, bytes.problem->text);
  } else if (broken) {
    const std::uint64_t relative = broken->offset == Error::kNoOffset ? 0 : broken->offset;
    out.note(mark, base + relative, broken->text);
  }
}

/// Describes a run as its kind does, or a node of tiles as the container does.
void describe_run(Description& out, const RunSource& source, const Kind& kind);

/// The piece of a run's extent that holds `offset` (of the file): which chunk or part of the
/// checksum tree it is and whether it is whole; and what the kind says of the place.
void describe_run_at(Description& out, const RunSource& source, const Kind& kind,
                     std::uint64_t offset);

}  // namespace crawlstore::container
