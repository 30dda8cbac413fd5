// SPDX-License-Identifier: Apache-2.0
#include "container/reporter.h"

namespace crawlstore {
namespace {

/// One line of fields.
class Line {
 public:
  explicit Line(std::string_view step) : text(step) {}

  void add(std::string_view field, std::uint64_t value) { add_text(field, std::to_string(value)); }
  void add_text(std::string_view field, std::string_view value) {
    text.append(1, ' ').append(field).append(1, '=').append(value);
  }

  std::string text;
};

std::string_view name_of(const CommitReport&) {
  return "commit";
}
std::string_view name_of(const MergeReport&) {
  return "merge";
}
std::string_view name_of(const SuperstepReport&) {
  return "superstep";
}
std::string_view name_of(const CompactReport&) {
  return "compact";
}
std::string_view name_of(const RecoveryReport&) {
  return "recovery";
}

void add_fields(Line& line, const CommitReport& step) {
  line.add("segment_count", step.segment_count);
  line.add("added_bytes", step.added_bytes);
  line.add("directory_bytes", step.directory_bytes);
  line.add("retired_bytes", step.retired_bytes);
  line.add("freed_bytes", step.freed_bytes);
}

void add_fields(Line& line, const MergeReport& step) {
  line.add("request_count", step.request_count);
  line.add("unique_count", step.unique_count);
  line.add("duplicate_count", step.duplicate_count);
  line.add("new_key_count", step.new_key_count);
  line.add("bucket_count", step.bucket_count);
  line.add("split_count", step.split_count);
  line.add("commit_count", step.commit_count);
}

void add_fields(Line& line, const SuperstepReport& step) {
  line.add("edit_count", step.edit_count);
  line.add("new_page_count", step.new_page_count);
  line.add("added_link_count", step.added_link_count);
  line.add("gone_link_count", step.gone_link_count);
  line.add("collision_count", step.collision_count);
}

void add_fields(Line& line, const CompactReport& step) {
  line.add("file_bytes_before", step.file_bytes_before);
  line.add("file_bytes_after", step.file_bytes_after);
  line.add("moved_bytes", step.moved_bytes);
  line.add("commit_count", step.commit_count);
}

void add_fields(Line& line, const RecoveryReport& step) {
  line.add("damaged_copy_count", step.damaged_copy_count);
  line.add("lost_generation_count", step.lost_generation_count);
}

}  // namespace

MergeReport& MergeReport::operator+=(const MergeReport& other) {
  request_count += other.request_count;
  unique_count += other.unique_count;
  duplicate_count += other.duplicate_count;
  new_key_count += other.new_key_count;
  bucket_count += other.bucket_count;
  split_count += other.split_count;
  commit_count += other.commit_count;
  partition_read_seeks += other.partition_read_seeks;
  partition_write_seeks += other.partition_write_seeks;
  return *this;
}

SuperstepReport& SuperstepReport::operator+=(const SuperstepReport& other) {
  edit_count += other.edit_count;
  new_page_count += other.new_page_count;
  added_link_count += other.added_link_count;
  gone_link_count += other.gone_link_count;
  collision_count += other.collision_count;
  return *this;
}

std::string describe(const Report& report) {
  Line line(std::visit([](const auto& step) { return name_of(step); }, report.step));
  if (!report.name.empty()) line.add_text("name", '"' + std::string(report.name) + '"');
  line.add("generation", report.generation.value);
  if (report.error) {
    line.add_text("error", name_of(report.error->code));
  } else {
    std::visit([&line](const auto& step) { add_fields(line, step); }, report.step);
  }
  line.add("duration_us", report.duration_us);
  line.add("bytes_read", report.storage.bytes_read);
  line.add("bytes_written", report.storage.bytes_written);
  line.add("sync_count", report.storage.sync_count);
  return line.text;
}

namespace container {

StepCost StepMeter::cost() const {
  const auto duration = std::chrono::steady_clock::now() - start_;
  const auto duration_us = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  StorageCounters did = storage_.counters();
  did.bytes_read -= before_.bytes_read;
  did.bytes_written -= before_.bytes_written;
  did.read_count -= before_.read_count;
  did.write_count -= before_.write_count;
  did.read_seek_count -= before_.read_seek_count;
  did.write_seek_count -= before_.write_seek_count;
  did.sync_count -= before_.sync_count;
  did.allocated_bytes -= before_.allocated_bytes;
  did.truncate_count -= before_.truncate_count;
  did.punched_bytes -= before_.punched_bytes;
  return {static_cast<std::uint64_t>(duration_us), did};
}

void Reporter::report(const Report& report) noexcept {
  Totals& totals = totals_[report.step.index()];
  totals.count.fetch_add(1, std::memory_order_relaxed);
  if (report.error) totals.failed_count.fetch_add(1, std::memory_order_relaxed);
  totals.duration_us.fetch_add(report.duration_us, std::memory_order_relaxed);
  if (!function_) return;
  try {
    function_(report);
  } catch (...) {  // the step has ended
  }
}

template <class Step>
StepTotals Reporter::totals() const {
  const Totals& totals = totals_[decltype(Report::step)(Step{}).index()];
  return {totals.count.load(std::memory_order_relaxed),
          totals.failed_count.load(std::memory_order_relaxed),
          totals.duration_us.load(std::memory_order_relaxed)};
}

StoreCounters Reporter::counters(const StorageCounters& storage) const {
  return {storage, totals<CommitReport>(), totals<MergeReport>(), totals<SuperstepReport>(),
          totals<CompactReport>()};
}

}  // namespace container
}  // namespace crawlstore
