// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a byte is handed out by RunReader, or believed after RunStream::finish(), only when
// its chunk matches the tree and the tree matches the directory. Counts come from the directory
// alone, never from the bytes read.
#include "container/run_io.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "format/endian.h"
#include "format/layout.h"

namespace crawlstore::container {
namespace {

using format::kChunkBytes;
constexpr std::size_t kBufferBytes = 1024 * 1024;
constexpr std::uint64_t kFetchChunks = 64;  // 4 MiB at a time

tl::unexpected<Error> damaged(const format::RunName& name, std::uint64_t offset) {
  return fail(Errc::kChunkDamaged, "the checksum of a chunk does not match", offset, name.segment);
}

/// Compares the tail (all levels) of a run with the directory and with itself. `tail` begins at
/// level 0. errors kChunkDamaged
Result<void> check_tail(const format::RunName& name, const format::RunRef& run,
                        const format::ChecksumTree& tree, std::span<const std::byte> tail) {
  const std::uint64_t tail_start = tree.levels.front().offset_bytes;
  const auto top = tree.top();
  const auto top_bytes = tail.subspan(top.offset_bytes - tail_start, top.length_bytes);
  if (format::checksum(top_bytes, format::chunk_seed(name, tree.levels.size(), 0)) !=
      run.checksum) {
    return damaged(name, run.offset_bytes + top.offset_bytes);
  }
  for (std::size_t level = tree.levels.size() - 1; level > 0; --level) {
    const auto& upper = tree.levels[level];
    const auto& lower = tree.levels[level - 1];
    for (std::uint64_t i = 0; i < upper.entry_count; ++i) {
      const auto begin = lower.offset_bytes + i * kChunkBytes;
      const auto length = std::min(kChunkBytes, lower.offset_bytes + lower.length_bytes() - begin);
      const auto piece = tail.subspan(begin - tail_start, length);
      const auto stored =
          format::load<std::uint64_t>(tail.data() + (upper.offset_bytes - tail_start) + i * 8);
      if (format::checksum(piece, format::chunk_seed(name, level, i)) != stored) {
        return damaged(name, run.offset_bytes + begin);
      }
    }
  }
  return {};
}

}  // namespace

format::RunLabel new_run(SegmentWriter& writer, SegmentId segment, std::uint64_t first) {
  const auto* entry = writer.find(segment);
  CRAWLSTORE_ASSERT(entry != nullptr);
  return label_of(*entry, writer.new_run_ids(1), first);
}

Result<format::RunRef> write_run(SegmentWriter& writer, const format::RunLabel& label,
                                 std::span<const std::byte> payload, std::uint64_t record_count) {
  CRAWLSTORE_ASSERT(!payload.empty());
  CRAWLSTORE_TRY(const auto extent, writer.reserve(format::extent_bytes(payload.size())));
  auto written = write_run_at(writer, label, payload, record_count, extent);
  if (!written) writer.release(extent);
  return written;
}

Result<format::RunRef> write_run_at(SegmentWriter& writer, const format::RunLabel& label,
                                    std::span<const std::byte> payload, std::uint64_t record_count,
                                    Extent place) {
  CRAWLSTORE_ASSERT(!payload.empty() && payload.size() % 8 == 0);
  CRAWLSTORE_ASSERT(place.length_bytes == format::extent_bytes(payload.size()));
  format::ChecksumTreeBuilder tree(run_name(writer.identity(), label.segment, label.run));
  for (std::size_t begin = 0; begin < payload.size(); begin += kChunkBytes) {
    tree.add_chunk(
        payload.subspan(begin, std::min<std::size_t>(kChunkBytes, payload.size() - begin)));
  }
  const auto tail = tree.finish(format::run_end(label, payload.size(), record_count));
  CRAWLSTORE_TRY(writer.write(place.offset_bytes, payload));
  CRAWLSTORE_TRY(writer.write(place.offset_bytes + payload.size(), tail.bytes));
  return format::RunRef{place.offset_bytes, {0},          label.run,
                        payload.size(),     record_count, tail.checksum};
}

RunWriter::RunWriter(SegmentWriter& writer, const format::RunLabel& label, Extent extent)
    : writer_(&writer),
      label_(label),
      extent_(extent),
      tree_(run_name(writer.identity(), label.segment, label.run)) {}

RunWriter::RunWriter(RunWriter&& other) noexcept
    : writer_(std::exchange(other.writer_, nullptr)),
      label_(other.label_),
      extent_(other.extent_),
      tree_(std::move(other.tree_)),
      buffer_(std::move(other.buffer_)),
      payload_bytes_(other.payload_bytes_),
      flushed_bytes_(other.flushed_bytes_),
      used_bytes_(other.used_bytes_) {}

RunWriter::~RunWriter() {
  if (writer_ != nullptr) writer_->release(extent_);
}

Result<RunWriter> RunWriter::start(SegmentWriter& writer, const format::RunLabel& label,
                                   std::uint64_t payload_bytes_max) {
  CRAWLSTORE_TRY(
      const auto extent,
      writer.reserve(format::extent_bytes(std::max<std::uint64_t>(8, payload_bytes_max))));
  return RunWriter(writer, label, extent);
}

/// Room is reserved by counts from the file: one that lies has a longer run than it says.
tl::unexpected<Error> RunWriter::too_long() const {
  return fail(Errc::kTooLarge, "a run grows longer than was reserved", Error::kNoOffset,
              label_.segment);
}

Result<void> RunWriter::flush(bool last) {
  std::size_t length = buffer_.size();
  if (!last) length -= length % kChunkBytes;
  if (length == 0) return {};
  const std::span<const std::byte> bytes(buffer_.data(), length);
  for (std::size_t begin = 0; begin < length; begin += kChunkBytes) {
    tree_.add_chunk(bytes.subspan(begin, std::min<std::size_t>(kChunkBytes, length - begin)));
  }
  if (flushed_bytes_ + length > extent_.length_bytes) return too_long();
  CRAWLSTORE_TRY(writer_->write(extent_.offset_bytes + flushed_bytes_, bytes));
  flushed_bytes_ += length;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<long>(length));
  return {};
}

Result<void> RunWriter::append(std::span<const std::byte> bytes) {
  payload_bytes_ += bytes.size();
  // Not before it is used: many writers may wait for their turn.
  if (buffer_.capacity() == 0) {
    buffer_.reserve(std::min(kBufferBytes + kChunkBytes, extent_.length_bytes));
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return buffer_.size() >= kBufferBytes ? flush(false) : Result<void>{};
}

Result<format::RunRef> RunWriter::finish(std::uint64_t record_count) {
  buffer_.resize(format::round_up(buffer_.size(), 8));
  CRAWLSTORE_TRY(flush(true));
  buffer_ = {};  // the run may wait long for its commit
  used_bytes_ = format::extent_bytes(payload_bytes_);
  if (used_bytes_ > extent_.length_bytes) return too_long();
  const auto tail = tree_.finish(format::run_end(label_, payload_bytes_, record_count));
  CRAWLSTORE_TRY(writer_->write(extent_.offset_bytes + flushed_bytes_, tail.bytes));
  return format::RunRef{extent_.offset_bytes, {0},          label_.run,
                        payload_bytes_,       record_count, tail.checksum};
}

void RunWriter::give_back() {
  CRAWLSTORE_ASSERT(writer_ != nullptr && used_bytes_ != 0);
  writer_->release({extent_.offset_bytes + used_bytes_, extent_.length_bytes - used_bytes_});
  writer_ = nullptr;
}

Result<void> read_run(Storage& storage, const format::RunName& name, const format::RunRef& run,
                      std::vector<std::byte>& out) {
  const auto tree = format::checksum_tree(run.payload_bytes);
  CRAWLSTORE_TRY(const auto size, storage.size());
  const auto truncated =
      fail(Errc::kTruncated, "the file ends inside a segment", run.offset_bytes, name.segment);
  if (run.extent().end_bytes() > size) return truncated;
  out.resize(tree.extent_bytes);
  CRAWLSTORE_TRY(const auto got, storage.read(run.offset_bytes, out));
  if (got < out.size()) return truncated;
  const std::span<const std::byte> bytes(out);
  const auto levels_start = tree.levels.front().offset_bytes;
  CRAWLSTORE_TRY(check_tail(name, run, tree, bytes.subspan(levels_start)));
  for (std::uint64_t i = 0; i < tree.chunk_count(); ++i) {
    const auto begin = i * kChunkBytes;
    const auto chunk =
        bytes.subspan(begin, std::min(kChunkBytes, tree.padded_payload_bytes - begin));
    if (format::checksum(chunk, format::chunk_seed(name, 0, i)) !=
        format::load<std::uint64_t>(out.data() + levels_start + i * 8)) {
      return damaged(name, run.offset_bytes + begin);
    }
  }
  out.resize(run.payload_bytes);
  return {};
}

RunStream::RunStream(Storage& storage, const format::RunName& name, const format::RunRef& run)
    : storage_(&storage), name_(name), run_(run), tree_(format::checksum_tree(run.payload_bytes)) {
  buffer_.reserve(std::min<std::uint64_t>(kBufferBytes + kChunkBytes, tree_.padded_payload_bytes));
  checksums_.reserve(tree_.chunk_count());
}

Result<void> RunStream::fill(std::size_t want) {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<long>(begin_));
  begin_ = 0;
  while (buffer_.size() < want && loaded_bytes_ < tree_.padded_payload_bytes) {
    const auto length = static_cast<std::size_t>(
        std::min<std::uint64_t>(kBufferBytes, tree_.padded_payload_bytes - loaded_bytes_));
    const auto old_size = buffer_.size();
    buffer_.resize(old_size + length);
    const std::span<std::byte> into(buffer_.data() + old_size, length);
    CRAWLSTORE_TRY(const auto got, storage_->read(run_.offset_bytes + loaded_bytes_, into));
    if (got < length) {
      return fail(Errc::kTruncated, "the file ends inside a segment",
                  run_.offset_bytes + loaded_bytes_, name_.segment);
    }
    for (std::size_t begin = 0; begin < length; begin += kChunkBytes) {
      const auto chunk = into.subspan(begin, std::min<std::size_t>(kChunkBytes, length - begin));
      checksums_.push_back(
          format::checksum(chunk, format::chunk_seed(name_, 0, checksums_.size())));
    }
    loaded_bytes_ += length;
  }
  return {};
}

Result<std::span<const std::byte>> RunStream::peek(std::size_t want) {
  if (buffer_.size() - begin_ < want) CRAWLSTORE_TRY(fill(want));
  return std::span<const std::byte>(buffer_).subspan(begin_);
}

void RunStream::advance(std::size_t count) {
  CRAWLSTORE_ASSERT(count <= buffer_.size() - begin_);
  begin_ += count;
}

Result<void> RunStream::finish() {
  while (loaded_bytes_ < tree_.padded_payload_bytes) {
    begin_ = buffer_.size();
    CRAWLSTORE_TRY(fill(1));
  }
  return check_loaded();
}

Result<void> RunStream::check_loaded() const {
  const auto start = tree_.levels.front().offset_bytes;
  std::vector<std::byte> tail(tree_.extent_bytes - start);
  CRAWLSTORE_TRY(const auto got, storage_->read(run_.offset_bytes + start, tail));
  if (got < tail.size()) {
    return fail(Errc::kTruncated, "the file ends inside a segment", run_.offset_bytes + start,
                name_.segment);
  }
  CRAWLSTORE_TRY(check_tail(name_, run_, tree_, tail));
  for (std::size_t i = 0; i < checksums_.size(); ++i) {
    if (checksums_[i] != format::load<std::uint64_t>(tail.data() + i * 8)) {
      return damaged(name_, run_.offset_bytes + i * kChunkBytes);
    }
  }
  return {};
}

RunReader::RunReader(std::shared_ptr<Storage> storage, const format::RunName& name,
                     const format::RunRef& run)
    : storage_(std::move(storage)),
      name_(name),
      run_(run),
      tree_(format::checksum_tree(run.payload_bytes)) {
  std::uint64_t bits = 0;
  for (const auto& level : tree_.levels) {
    first_bit_.push_back(bits);
    bits += level.entry_count;
  }
  first_bit_.push_back(bits);  // the top
  verified_ = std::make_unique<std::atomic<std::uint64_t>[]>(bits / 64 + 1);
}

void RunReader::move_to(const format::RunRef& run) {
  run_ = run;
  for (std::uint64_t i = 0; i <= first_bit_.back() / 64; ++i) verified_[i] = 0;
}

/// The bytes [offset, offset + length) of the extent, verified or not.
Result<std::span<const std::byte>> RunReader::view(std::uint64_t offset,
                                                   std::uint64_t length) const {
  const auto start = storage_->view({run_.offset_bytes + offset, length});
  if (start) return std::span<const std::byte>(*start, length);
  Error error = start.error();
  if (!error.segment) error.segment = name_.segment;
  return tl::unexpected<Error>(error);
}

/// Piece `index` covered under `level`: level 0 = payload chunks, levels.size() = the top. The
/// levels above have been verified.
Result<void> RunReader::verify_piece(std::size_t level, std::uint64_t index) const {
  Extent piece = tree_.top();
  std::uint64_t expected = run_.checksum;
  if (level < tree_.levels.size()) {
    const std::uint64_t start = level == 0 ? 0 : tree_.levels[level - 1].offset_bytes;
    const std::uint64_t end =
        level == 0 ? tree_.padded_payload_bytes : start + tree_.levels[level - 1].length_bytes();
    piece.offset_bytes = start + index * kChunkBytes;
    piece.length_bytes = std::min(kChunkBytes, end - piece.offset_bytes);
    CRAWLSTORE_TRY(const auto entry, view(tree_.levels[level].offset_bytes + index * 8, 8));
    expected = format::load<std::uint64_t>(entry.data());
  }
  CRAWLSTORE_TRY(const auto bytes, view(piece.offset_bytes, piece.length_bytes));
  if (format::checksum(bytes, format::chunk_seed(name_, level, index)) == expected) return {};
  const auto fault = storage_->first_fault();
  if (fault && *fault < run_.offset_bytes + tree_.extent_bytes) {
    CRAWLSTORE_TRY(const std::uint64_t size, storage_->size());
    return *fault < size ? fail(Errc::kIo, "the drive does not deliver a part of the file", *fault,
                                name_.segment)
                         : fail(Errc::kTruncated, "the file was cut while it was open", *fault,
                                name_.segment);
  }
  return damaged(name_, run_.offset_bytes + piece.offset_bytes);
}

/// Verifies payload chunk `chunk`, from the top of the tree down, as far as it is not yet known.
Result<void> RunReader::verify_chunk(std::uint64_t chunk) const {
  if (is_known(chunk)) return {};
  for (std::size_t level = tree_.levels.size() + 1; level-- > 0;) {
    std::uint64_t index = level == tree_.levels.size() ? 0 : chunk;
    for (std::size_t i = 0; i < level && index != 0; ++i) index /= kChunkBytes / 8;
    const std::uint64_t bit = first_bit_[level] + index;
    if (is_known(bit)) continue;
    CRAWLSTORE_TRY(verify_piece(level, index));
    verified_[bit / 64].fetch_or(std::uint64_t{1} << (bit % 64), std::memory_order_release);
  }
  return {};
}

/// Payload chunks [first, end). A chunk is verified as a whole, so it is fetched as a whole.
Result<void> RunReader::verify_chunks(std::uint64_t first, std::uint64_t end) const {
  std::uint64_t fetched = first;
  for (std::uint64_t chunk = first; chunk < end; ++chunk) {
    if (chunk >= fetched && !is_known(chunk)) {
      fetched = std::min(end, chunk + kFetchChunks);
      const std::uint64_t begin_bytes = chunk * kChunkBytes;
      const std::uint64_t end_bytes = std::min(fetched * kChunkBytes, tree_.padded_payload_bytes);
      storage_->prefetch({run_.offset_bytes + begin_bytes, end_bytes - begin_bytes});
    }
    CRAWLSTORE_TRY(verify_chunk(chunk));
  }
  return {};
}

Result<std::span<const std::byte>> RunReader::bytes(std::uint64_t offset,
                                                    std::uint64_t length) const {
  if (offset > run_.payload_bytes || length > run_.payload_bytes - offset) {
    return fail(Errc::kSegmentInvalid, "a reference leads outside its segment", run_.offset_bytes,
                name_.segment);
  }
  if (length > 0) {
    const std::uint64_t last = (offset + length - 1) / kChunkBytes;
    CRAWLSTORE_TRY(verify_chunks(offset / kChunkBytes, last + 1));
  }
  return view(offset, length);
}

Result<void> RunReader::verify_all() const {
  return verify_chunks(0, tree_.chunk_count());
}

}  // namespace crawlstore::container
