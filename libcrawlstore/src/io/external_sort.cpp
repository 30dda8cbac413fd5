// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - Records of a run were added before those of each later run, so that ties go to the earlier one.
// - What failed is kept and returned by every later call; what throws leaves kPoisoned.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <crawlstore/external_sort.h>

#include "io/record_buffer.h"
#include "io/record_runs.h"

namespace crawlstore {
namespace {

/// Bytes of the file that a run is read by, at least.
constexpr std::size_t kReadBytesMin = 4096;
constexpr std::size_t kWriteBytesMax = std::size_t{1} << 20;
/// Records of a merge between two calls of progress.
constexpr std::uint64_t kRecordsPerCall = 4096;

std::size_t write_bytes_of(std::uint64_t memory_bytes) {
  return std::min<std::uint64_t>(kWriteBytesMax, memory_bytes / 8);
}

}  // namespace

struct ExternalSort::Impl {
  explicit Impl(const ExternalSortOptions& with)
      : options(with),
        write_buffer(write_bytes_of(with.memory_bytes)),
        buffer(with.memory_bytes - write_buffer.size()) {}

  ExternalSortOptions options;
  std::vector<std::byte> write_buffer;
  io::RecordBuffer buffer;
  std::unique_ptr<Storage> file;  // once memory was full
  std::uint64_t file_end = 0;
  std::vector<Extent> runs;  // in the order of adding
  std::optional<io::RecordRunMerge> merge;
  ExternalSortStatus status;
  std::optional<Error> failed;
  bool is_finished = false;
  bool is_at_end = false;
  std::size_t next_in_memory = 0;

  std::uint64_t merged_bytes = 0;
  std::uint64_t merged_bytes_total = 0;

  Result<void> check() const {
    return failed ? Result<void>(tl::unexpected<Error>(*failed)) : Result<void>{};
  }
  /// Runs a call whose failure stays, that by an exception too.
  template <class Call>
  auto keep_failure(Call call) {
    failed = Error{.code = Errc::kPoisoned, .segment = {}, .text = "a sort was left unfinished"};
    auto done = call();
    if (done) {
      failed.reset();
    } else {
      failed = done.error();
    }
    return done;
  }

  template <class Fill>
  Result<Extent> write_run(const Fill& fill);
  Result<void> spill();
  Result<void> add_long(std::string_view record, std::string_view payload);
  [[nodiscard]] std::size_t fan_in();
  Result<Extent> merge_runs(std::span<const Extent> some);
  Result<void> tell(std::uint64_t more_bytes);
  Result<void> merge_level(std::size_t fan);
  Result<void> finish();
  Result<bool> next();
};

/// Writes a run at the end of the file: what `fill` puts into it.
template <class Fill>
Result<Extent> ExternalSort::Impl::write_run(const Fill& fill) {
  if (file == nullptr) {
    CRAWLSTORE_TRY(file, io::open_scratch_file(options.folder));
  }
  io::RecordRunWriter writer(*file, file_end, write_buffer);
  CRAWLSTORE_TRY(fill(writer));
  CRAWLSTORE_TRY(const Extent run, writer.finish());
  file_end = run.end_bytes();
  status.written_bytes += run.length_bytes;
  return run;
}

Result<void> ExternalSort::Impl::spill() {
  if (buffer.size() == 0) return {};
  buffer.sort();
  const auto fill = [this](io::RecordRunWriter& writer) -> Result<void> {
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      CRAWLSTORE_TRY(writer.put(buffer.record(i), buffer.payload(i)));
    }
    return {};
  };
  CRAWLSTORE_TRY(const Extent run, write_run(fill));
  runs.push_back(run);
  ++status.run_count;
  buffer.clear();
  return {};
}

/// Adds a record that memory has no room for: after those that are there, in a run of its own if
/// it is longer than all memory.
Result<void> ExternalSort::Impl::add_long(std::string_view record, std::string_view payload) {
  CRAWLSTORE_TRY(spill());
  if (buffer.add(record, payload)) return {};
  const auto fill = [&](io::RecordRunWriter& writer) { return writer.put(record, payload); };
  CRAWLSTORE_TRY(const Extent run, write_run(fill));
  runs.push_back(run);
  ++status.run_count;
  return {};
}

std::size_t ExternalSort::Impl::fan_in() {
  const std::size_t places = buffer.block().size() / kReadBytesMin;
  return std::clamp<std::size_t>(places, 2, options.fan_in);
}

Result<void> ExternalSort::Impl::tell(std::uint64_t more_bytes) {
  merged_bytes += more_bytes;
  if (!options.progress) return {};
  if (options.progress(std::min(merged_bytes, merged_bytes_total), merged_bytes_total)) return {};
  return fail(Errc::kCancelled, "a sort was cancelled");
}

/// Merges runs that are neighbours into one at the end of the file, and gives their space back.
Result<Extent> ExternalSort::Impl::merge_runs(std::span<const Extent> some) {
  io::RecordRunMerge merging(*file, some, buffer.block());
  std::uint64_t told_bytes = 0;
  const auto fill = [&](io::RecordRunWriter& writer) -> Result<void> {
    for (std::uint64_t count = 1;; ++count) {
      CRAWLSTORE_TRY(const bool is_there, merging.next());
      if (!is_there) return {};
      CRAWLSTORE_TRY(writer.put(merging.record(), merging.payload()));
      if (count % kRecordsPerCall != 0) continue;
      CRAWLSTORE_TRY(tell(writer.written_bytes() - told_bytes));
      told_bytes = writer.written_bytes();
    }
  };
  CRAWLSTORE_TRY(const Extent run, write_run(fill));
  for (const Extent& read : some) (void)file->punch(read);
  ++status.merge_count;
  CRAWLSTORE_TRY(tell(run.length_bytes - told_bytes));
  return run;
}

/// Merges groups of neighbours from the first run on, until `fan` runs are left, or all are merged.
Result<void> ExternalSort::Impl::merge_level(std::size_t fan) {
  std::vector<Extent> longer;
  std::size_t first = 0;
  while (runs.size() - first > 1 && longer.size() + runs.size() - first > fan) {
    const std::size_t left = runs.size() - first;
    const std::size_t too_many = longer.size() + left - fan;
    const std::size_t count = std::min({fan, left, too_many + 1});
    CRAWLSTORE_TRY(longer.emplace_back(), merge_runs(std::span(runs).subspan(first, count)));
    first += count;
  }
  longer.insert(longer.end(), runs.begin() + static_cast<std::ptrdiff_t>(first), runs.end());
  runs = std::move(longer);
  ++status.level_count;
  return {};
}

Result<void> ExternalSort::Impl::finish() {
  if (runs.empty()) {
    buffer.sort();
    return {};
  }
  CRAWLSTORE_TRY(spill());
  const std::size_t fan = fan_in();
  for (std::size_t left = runs.size(); left > fan; left = (left + fan - 1) / fan) {
    merged_bytes_total += status.written_bytes;
  }
  while (runs.size() > fan) CRAWLSTORE_TRY(merge_level(fan));
  merge.emplace(*file, runs, buffer.block());
  ++status.level_count;
  return {};
}

Result<bool> ExternalSort::Impl::next() {
  if (merge) return merge->next();
  return next_in_memory++ < buffer.size();
}

Result<ExternalSort> ExternalSort::make(const ExternalSortOptions& options) {
  if (options.memory_bytes < kMemoryBytesMin) {
    return fail(Errc::kInvalidArgument, "a sort needs 16 KiB of memory");
  }
  if (options.fan_in < 2 || options.fan_in > kFanInMax) {
    return fail(Errc::kInvalidArgument, "a sort merges 2 to 4096 runs at a time");
  }
  return ExternalSort(std::make_unique<Impl>(options));
}

ExternalSort::ExternalSort(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ExternalSort::ExternalSort(ExternalSort&&) noexcept = default;
ExternalSort& ExternalSort::operator=(ExternalSort&&) noexcept = default;
ExternalSort::~ExternalSort() = default;

Result<void> ExternalSort::add(std::string_view record, std::string_view payload) {
  CRAWLSTORE_TRY(impl_->check());
  if (impl_->is_finished) return fail(Errc::kInvalidArgument, "a sort has ended adding");
  if (record.size() > kRecordBytesMax || payload.size() > kRecordBytesMax) {
    return fail(Errc::kTooLarge, "a record to be sorted is longer than 2^30 bytes");
  }
  if (!impl_->buffer.add(record, payload)) {
    CRAWLSTORE_TRY(impl_->keep_failure([&] { return impl_->add_long(record, payload); }));
  }
  ++impl_->status.record_count;
  impl_->status.record_bytes += record.size() + payload.size();
  return {};
}

Result<void> ExternalSort::finish() {
  CRAWLSTORE_TRY(impl_->check());
  if (impl_->is_finished) return {};
  CRAWLSTORE_TRY(impl_->keep_failure([this] { return impl_->finish(); }));
  impl_->is_finished = true;
  return {};
}

Result<bool> ExternalSort::next() {
  CRAWLSTORE_TRY(impl_->check());
  if (!impl_->is_finished) return fail(Errc::kInvalidArgument, "a sort has not ended adding");
  if (impl_->is_at_end) return false;
  CRAWLSTORE_TRY(const bool is_there, impl_->keep_failure([this] { return impl_->next(); }));
  impl_->is_at_end = !is_there;
  return is_there;
}

std::string_view ExternalSort::record() const {
  if (impl_->merge) return impl_->merge->record();
  return impl_->buffer.record(impl_->next_in_memory - 1);
}

std::string_view ExternalSort::payload() const {
  if (impl_->merge) return impl_->merge->payload();
  return impl_->buffer.payload(impl_->next_in_memory - 1);
}

ExternalSortStatus ExternalSort::status() const {
  return impl_->status;
}

}  // namespace crawlstore
