// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writing and reading the runs of segments with their checksum trees.

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <crawlstore/storage.h>

#include "container/segment_writer.h"
#include "format/checksum.h"
#include "format/directory.h"
#include "format/run_end.h"

namespace crawlstore::container {

/// Names the run of a segment in this store.
inline format::RunName run_name(const format::Identity& identity, SegmentId segment, RunId run) {
  return {identity.uuid, segment, run};
}

/// The label of a run to be written, of a segment that was put.
format::RunLabel new_run(SegmentWriter& writer, SegmentId segment, std::uint64_t first = 0);

/// Writes a payload that lies in memory as one run into a fresh extent. The caller owns the extent
/// until it is published. `payload.size()` is a multiple of 8.
Result<format::RunRef> write_run(SegmentWriter& writer, const format::RunLabel& label,
                                 std::span<const std::byte> payload, std::uint64_t record_count);

/// The same into a place that the caller has reserved, as long as the run's extent, and keeps.
Result<format::RunRef> write_run_at(SegmentWriter& writer, const format::RunLabel& label,
                                    std::span<const std::byte> payload, std::uint64_t record_count,
                                    Extent place);

/// Writes a run of unknown length from front to back, in pieces of a megabyte.
class RunWriter {
 public:
  /// Reserves room for `payload_bytes_max`. The allocator is touched only here, in give_back() and
  /// in the destructor: so the caller's thread decides the order, and equal work gives equal files.
  static Result<RunWriter> start(SegmentWriter& writer, const format::RunLabel& label,
                                 std::uint64_t payload_bytes_max);
  RunWriter(RunWriter&& other) noexcept;
  RunWriter& operator=(RunWriter&&) = delete;
  RunWriter(const RunWriter&) = delete;
  ~RunWriter();

  Result<void> append(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t payload_bytes() const { return payload_bytes_; }

  /// Pads, writes the checksum tree and the end record.
  Result<format::RunRef> finish(std::uint64_t record_count);
  /// After finish(): releases what is left over; the caller owns the run's extent from now on.
  void give_back();

 private:
  RunWriter(SegmentWriter& writer, const format::RunLabel& label, Extent extent);
  Result<void> flush(bool last);
  [[nodiscard]] tl::unexpected<Error> too_long() const;

  SegmentWriter* writer_;
  format::RunLabel label_;
  Extent extent_;
  format::ChecksumTreeBuilder tree_;
  std::vector<std::byte> buffer_;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t flushed_bytes_ = 0;
  std::uint64_t used_bytes_ = 0;  // set by finish()
};

/// Reads a whole run into `out` (resized to the payload) with one sequential read, and verifies it.
Result<void> read_run(Storage& storage, const format::RunName& name, const format::RunRef& run,
                      std::vector<std::byte>& out);

/// Reads a run from front to back through a buffer; every chunk is verified when finish() returns.
/// Until then the bytes may be anything: decoders treat them as hostile anyway.
class RunStream {
 public:
  RunStream(Storage& storage, const format::RunName& name, const format::RunRef& run);

  /// At least `want` bytes, or all that is left of the payload. Valid until the next call.
  Result<std::span<const std::byte>> peek(std::size_t want);
  void advance(std::size_t count);

  /// Compares every chunk that was read with the checksum tree. Before bytes are blamed for what
  /// may be rot. Bytes that were peeked stay.
  ///   errors  kChunkDamaged at the chunk, kTruncated
  Result<void> check_loaded() const;

  /// Reads what is left, and does the same.
  Result<void> finish();

 private:
  Result<void> fill(std::size_t want);

  Storage* storage_;
  format::RunName name_;
  format::RunRef run_;
  format::ChecksumTree tree_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;           // consumed of buffer_
  std::uint64_t loaded_bytes_ = 0;  // of the padded payload
  std::vector<std::uint64_t> checksums_;
};

/// Random access to a run through views; a chunk is verified when it is first touched.
/// Threads: any number, but for move_to().
class RunReader {
 public:
  RunReader(std::shared_ptr<Storage> storage, const format::RunName& name,
            const format::RunRef& run);

  /// A view of [offset, offset + length) of the payload; valid as long as the storage.
  ///   errors  kChunkDamaged, kTruncated, kIo, kSegmentInvalid (outside the payload)
  Result<std::span<const std::byte>> bytes(std::uint64_t offset, std::uint64_t length) const;

  /// Verifies everything, in order.
  Result<void> verify_all() const;

  /// Says that these bytes of the payload will be asked for soon.
  void prefetch(Extent place) const {
    storage_->prefetch({run_.offset_bytes + place.offset_bytes, place.length_bytes});
  }

  /// Reads the run at another place from now on, where nothing is verified yet.
  void move_to(const format::RunRef& run);

  [[nodiscard]] const format::RunRef& run() const { return run_; }
  [[nodiscard]] SegmentId segment() const { return name_.segment; }

 private:
  Result<std::span<const std::byte>> view(std::uint64_t offset, std::uint64_t length) const;
  [[nodiscard]] bool is_known(std::uint64_t bit) const {
    return (verified_[bit / 64].load(std::memory_order_acquire) >> (bit % 64) & 1) != 0;
  }
  Result<void> verify_chunks(std::uint64_t first, std::uint64_t end) const;
  Result<void> verify_chunk(std::uint64_t chunk) const;
  Result<void> verify_piece(std::size_t level, std::uint64_t index) const;

  std::shared_ptr<Storage> storage_;
  format::RunName name_;
  format::RunRef run_;
  format::ChecksumTree tree_;
  std::vector<std::uint64_t> first_bit_;  // per level, into verified_
  std::unique_ptr<std::atomic<std::uint64_t>[]> verified_;
};

}  // namespace crawlstore::container
