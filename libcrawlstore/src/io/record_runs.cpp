// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - A reader never reads outside its run; views stay valid until its next record.
// - In a tree of losers each run is at one node, but while it is built.
#include "io/record_runs.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <unistd.h>

#include "format/endian.h"
#include "io/open_descriptor.h"
#include "io/system_storage.h"

namespace crawlstore::io {
namespace {

constexpr std::size_t kLengthsBytes = 8;
constexpr std::size_t kNoRun = std::numeric_limits<std::size_t>::max();

std::string_view characters(std::span<const std::byte> bytes) {
  return {format::numbers<char>(bytes).data(), bytes.size()};
}

std::span<const std::byte> raw_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string scratch_folder(const std::string& folder) {
  if (!folder.empty()) return folder;
  const char* const named = std::getenv("TMPDIR");
  return named == nullptr || *named == '\0' ? "/tmp" : named;
}

/// Opens a file with a name that is gone at once, where there are none without; -1 and errno.
int open_unlinked(const std::string& folder) {
  std::string path = folder + "/.crawlstore-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named == -1) return -1;
  ::unlink(path.c_str());
  if (named > STDERR_FILENO) return named;
  const int moved = ::fcntl(named, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int system_errno = errno;
  ::close(named);
  errno = system_errno;
  return moved;
}

}  // namespace

Result<std::unique_ptr<Storage>> open_scratch_file(const std::string& folder) {
  const std::string place = scratch_folder(folder);
  int descriptor = open_descriptor(place.c_str(), O_TMPFILE | O_RDWR | O_EXCL, 0600);
  if (descriptor == -1 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    descriptor = open_unlinked(place);
  }
  if (descriptor == -1) return fail_errno(errno, "cannot make a file for records to be sorted");
  return std::make_unique<SystemStorage>(descriptor, std::string(), OpenMode::kWrite);
}

Result<void> RecordRunWriter::flush() {
  CRAWLSTORE_TRY(file_.write(at_, buffer_.first(used_)));
  at_ += used_;
  used_ = 0;
  return {};
}

Result<void> RecordRunWriter::put_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() > buffer_.size() - used_) CRAWLSTORE_TRY(flush());
  if (bytes.size() > buffer_.size()) {
    CRAWLSTORE_TRY(file_.write(at_, bytes));
    at_ += bytes.size();
    return {};
  }
  std::copy(bytes.begin(), bytes.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(used_));
  used_ += bytes.size();
  return {};
}

Result<void> RecordRunWriter::put(std::string_view record, std::string_view payload) {
  std::byte lengths[kLengthsBytes];
  format::store(lengths, static_cast<std::uint32_t>(record.size()));
  format::store(lengths + kLengthsBytes / 2, static_cast<std::uint32_t>(payload.size()));
  CRAWLSTORE_TRY(put_bytes(lengths));
  CRAWLSTORE_TRY(put_bytes(raw_bytes(record)));
  return put_bytes(raw_bytes(payload));
}

Result<Extent> RecordRunWriter::finish() {
  if (used_ != 0) CRAWLSTORE_TRY(flush());
  return Extent{begin_, at_ - begin_};
}

Result<void> RecordRunReader::read(std::span<std::byte> into) {
  CRAWLSTORE_TRY(const std::size_t got, file_->read(at_, into));
  if (got != into.size()) return fail(Errc::kIo, "the file of records to be sorted was cut", at_);
  at_ += got;
  return {};
}

Result<void> RecordRunReader::refill() {
  std::memmove(buffer_.data(), buffer_.data() + first_, last_ - first_);
  last_ -= first_;
  first_ = 0;
  const std::size_t wanted = std::min<std::uint64_t>(buffer_.size() - last_, end_ - at_);
  CRAWLSTORE_TRY(read(buffer_.subspan(last_, wanted)));
  last_ += wanted;
  return {};
}

/// Takes the next bytes of the run: where they lie in the buffer, or together in `long_`.
Result<std::string_view> RecordRunReader::take(std::size_t bytes) {
  if (bytes > last_ - first_ + (end_ - at_)) {
    return fail(Errc::kIo, "the file of records to be sorted was changed", at_);
  }
  if (bytes > last_ - first_ && bytes <= buffer_.size()) CRAWLSTORE_TRY(refill());
  const std::size_t near = std::min(bytes, last_ - first_);
  const std::string_view in_buffer = characters(buffer_.subspan(first_, near));
  first_ += near;
  if (near == bytes) return in_buffer;
  long_.resize(bytes);
  std::copy(in_buffer.begin(), in_buffer.end(), long_.begin());
  CRAWLSTORE_TRY(read(std::as_writable_bytes(std::span(long_)).subspan(near)));
  return std::string_view(long_);
}

Result<void> RecordRunReader::next() {
  if (long_.capacity() > buffer_.size()) long_ = {};
  if (first_ == last_ && at_ == end_) {
    at_end_ = true;
    return {};
  }
  CRAWLSTORE_TRY(const auto lengths, take(kLengthsBytes));
  const std::byte* const raw = raw_bytes(lengths).data();
  const std::size_t record_bytes = format::load<std::uint32_t>(raw);
  const std::size_t payload_bytes = format::load<std::uint32_t>(raw + kLengthsBytes / 2);
  CRAWLSTORE_TRY(const auto both, take(record_bytes + payload_bytes));
  record_ = both.substr(0, record_bytes);
  payload_ = both.substr(record_bytes);
  return {};
}

RecordRunMerge::RecordRunMerge(Storage& file, std::span<const Extent> runs,
                               std::span<std::byte> memory)
    : losers_(runs.size(), kNoRun) {
  const std::size_t share = memory.size() / runs.size();
  readers_.reserve(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    readers_.emplace_back(file, runs[i], memory.subspan(i * share, share));
  }
}

bool RecordRunMerge::comes_first(std::size_t a, std::size_t b) const {
  if (readers_[a].at_end() != readers_[b].at_end()) return readers_[b].at_end();
  if (readers_[a].at_end()) return a < b;
  const int order = readers_[a].record().compare(readers_[b].record());
  return order != 0 ? order < 0 : a < b;
}

/// Lets a run play from its leaf up to the first node that nobody has come to, or to the root.
void RecordRunMerge::replay(std::size_t run) {
  for (std::size_t node = (run + readers_.size()) / 2; node != 0; node /= 2) {
    if (losers_[node] == kNoRun) {
      losers_[node] = run;
      return;
    }
    if (comes_first(losers_[node], run)) std::swap(losers_[node], run);
  }
  losers_[0] = run;
}

Result<void> RecordRunMerge::start() {
  for (RecordRunReader& reader : readers_) CRAWLSTORE_TRY(reader.next());
  for (std::size_t run = 0; run < readers_.size(); ++run) replay(run);
  return {};
}

Result<bool> RecordRunMerge::next() {
  if (has_begun_) {
    const std::size_t winner = losers_[0];
    if (readers_[winner].at_end()) return false;
    CRAWLSTORE_TRY(readers_[winner].next());
    replay(winner);
  } else {
    CRAWLSTORE_TRY(start());
    has_begun_ = true;
  }
  return !readers_[losers_[0]].at_end();
}

}  // namespace crawlstore::io
