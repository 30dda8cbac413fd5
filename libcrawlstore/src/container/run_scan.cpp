// SPDX-License-Identifier: Apache-2.0
//
// Invariants: tables_[level] holds piece table_indexes_[level] of that level, and it matched the
// level above, of which the same holds, up to the top, which matched the directory.
#include "container/run_scan.h"

#include <algorithm>
#include <optional>

#include "format/endian.h"
#include "format/layout.h"

namespace crawlstore::container {
namespace {

using format::kChunkBytes;
constexpr std::uint64_t kEntriesPerChunk = kChunkBytes / 8;
constexpr std::uint64_t kBatchChunks = 16;
constexpr std::uint64_t kNone = ~std::uint64_t{0};

class RunScan {
 public:
  RunScan(Storage& storage, const format::RunName& name, const format::RunRef& run,
          const RunPieceVisitor& visit)
      : storage_(storage),
        name_(name),
        run_(run),
        visit_(visit),
        tree_(format::checksum_tree(run.payload_bytes)),
        tables_(tree_.levels.size()),
        table_indexes_(tree_.levels.size(), kNone) {}

  Result<void> scan() {
    std::uint64_t chunk = 0;
    while (chunk < tree_.chunk_count()) {
      CRAWLSTORE_TRY(const auto known, descend(chunk));
      if (known != chunk) {
        chunk = known;
        continue;
      }
      CRAWLSTORE_TRY(visit_chunk(chunk));
      ++chunk;
    }
    return {};
  }

 private:
  /// Loads the tables that lead to payload chunk `chunk`. Returns it, or, when one of them is not
  /// whole, the first chunk that does not hang on that one.
  Result<std::uint64_t> descend(std::uint64_t chunk) {
    for (std::size_t level = tables_.size(); level-- > 0;) {
      const std::uint64_t span = chunks_under(level);
      const std::uint64_t index = chunk / span;
      if (table_indexes_[level] == index) continue;
      table_indexes_[level] = kNone;
      CRAWLSTORE_TRY(const auto whole, load_table(level, index));
      if (!whole) return std::min(tree_.chunk_count(), (index + 1) * span);
      table_indexes_[level] = index;
    }
    return chunk;
  }

  /// Returns the number of payload chunks under one piece of this level.
  [[nodiscard]] std::uint64_t chunks_under(std::size_t level) const {
    if (level + 1 == tables_.size()) return tree_.chunk_count();
    std::uint64_t span = 1;
    for (std::size_t i = 0; i <= level; ++i) span *= kEntriesPerChunk;
    return span;
  }

  /// Returns the checksum, by the tables, of piece `index` that is covered under `level`.
  [[nodiscard]] std::uint64_t expected(std::size_t level, std::uint64_t index) const {
    if (level == tables_.size()) return run_.checksum;
    const bool is_top = level + 1 == tables_.size();
    const std::uint64_t entry = is_top ? index : index % kEntriesPerChunk;
    return format::load<std::uint64_t>(tables_[level].data() + entry * 8);
  }

  Result<bool> load_table(std::size_t level, std::uint64_t index) {
    Extent piece = tree_.top();
    if (level + 1 < tables_.size()) {
      const auto& table = tree_.levels[level];
      piece.offset_bytes = table.offset_bytes + index * kChunkBytes;
      piece.length_bytes =
          std::min(kChunkBytes, table.offset_bytes + table.length_bytes() - piece.offset_bytes);
    }
    piece.offset_bytes += run_.offset_bytes;
    tables_[level].resize(piece.length_bytes);
    const auto got = storage_.read(piece.offset_bytes, tables_[level]);
    if (!got) return visit_broken(piece, got.error());
    if (*got < piece.length_bytes) return visit_broken(piece, truncated());
    return visit_bytes(piece, tables_[level], level + 1, index);
  }

  Result<void> visit_chunk(std::uint64_t chunk) {
    const std::uint64_t start = chunk * kChunkBytes;
    const Extent piece{run_.offset_bytes + start,
                       std::min(kChunkBytes, tree_.padded_payload_bytes - start)};
    std::span<const std::byte> bytes = buffered(piece);
    if (bytes.empty()) {
      read_batch(piece, kBatchChunks);
      bytes = buffered(piece);
    }
    if (bytes.empty()) {
      // Some chunk of the batch cannot be read: is it this one?
      const auto failure = read_batch(piece, 1);
      bytes = buffered(piece);
      if (bytes.empty()) {
        const auto visited = visit_broken(piece, failure.value_or(truncated()));
        return visited ? Result<void>{} : tl::unexpected<Error>(visited.error());
      }
    }
    const auto visited = visit_bytes(piece, bytes, 0, chunk);
    return visited ? Result<void>{} : tl::unexpected<Error>(visited.error());
  }

  [[nodiscard]] std::span<const std::byte> buffered(Extent piece) const {
    const std::span<const std::byte> all(buffer_);
    if (piece.offset_bytes < buffer_start_) return {};
    const std::uint64_t skip = piece.offset_bytes - buffer_start_;
    if (skip > all.size() || piece.length_bytes > all.size() - skip) return {};
    return all.subspan(skip, piece.length_bytes);
  }

  /// Reads `count` chunks from the piece on into the buffer, which is empty after a failure.
  std::optional<Error> read_batch(Extent piece, std::uint64_t count) {
    const std::uint64_t end = run_.offset_bytes + tree_.padded_payload_bytes;
    buffer_start_ = piece.offset_bytes;
    buffer_.resize(std::min(count * kChunkBytes, end - piece.offset_bytes));
    const auto got = storage_.read(buffer_start_, buffer_);
    buffer_.resize(got ? *got : 0);
    return got ? std::nullopt : std::optional<Error>(got.error());
  }

  Result<bool> visit_bytes(Extent piece, std::span<const std::byte> bytes, std::size_t level,
                           std::uint64_t index) {
    if (format::checksum(bytes, format::chunk_seed(name_, level, index)) !=
        expected(level, index)) {
      return visit_broken(piece, {Errc::kChunkDamaged,
                                  0,
                                  {},
                                  0,
                                  level == 0 ? "the checksum of a chunk does not match"
                                             : "the checksum of a checksum table does not match"});
    }
    CRAWLSTORE_TRY(visit_({piece, bytes, {}}));
    return true;
  }

  Result<bool> visit_broken(Extent piece, Error error) {
    error.offset = piece.offset_bytes;
    error.segment = name_.segment;
    CRAWLSTORE_TRY(visit_({piece, {}, error}));
    return false;
  }

  static Error truncated() {
    return {Errc::kTruncated, 0, {}, 0, "the file ends inside a segment"};
  }

  Storage& storage_;
  const format::RunName& name_;
  const format::RunRef& run_;
  const RunPieceVisitor& visit_;
  const format::ChecksumTree tree_;
  std::vector<std::vector<std::byte>> tables_;
  std::vector<std::uint64_t> table_indexes_;
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_start_ = 0;
};

}  // namespace

Result<void> scan_run(Storage& storage, const format::RunName& name, const format::RunRef& run,
                      const RunPieceVisitor& visit) {
  return RunScan(storage, name, run, visit).scan();
}

}  // namespace crawlstore::container
