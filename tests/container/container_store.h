// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A store in memory without anything above the container, and the words in which the tests of
/// container/ speak of it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/error.h>
#include <crawlstore/storage.h>
#include <crawlstore/tools/verify.h>

#include "container/create.h"
#include "container/reader.h"
#include "container/run_io.h"
#include "container/verify.h"
#include "container/without_page_rules.h"
#include "container/writer.h"
#include "format/drum_table.h"
#include "support/bytes.h"

namespace crawlstore::testing {

using Bytes = std::vector<std::byte>;

inline constexpr std::int64_t kTimeUs = 1'700'000'000'000'000;
inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;

/// The value of a result that has to be one; the test fails otherwise.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

inline format::Identity fixed_identity() {
  format::Identity identity{};
  for (std::size_t i = 0; i < identity.uuid.size(); ++i) {
    identity.uuid[i] = static_cast<std::byte>(i + 1);
  }
  identity.key_seed = 0x5EED;
  identity.created_us = kTimeUs;
  return format::seal_identity(identity);
}

inline container::WriterOptions fixed_time() {
  container::WriterOptions options;
  options.fixed_time_us = kTimeUs;
  return options;
}

/// A file in memory with an empty store; writers and readers open it as processes would.
class ContainerStore {
 public:
  explicit ContainerStore(std::uint64_t capacity_bytes = 256 * kMiB)
      : file_(make_memory_file({}, capacity_bytes)) {
    must(container::write_empty_store(*storage(OpenMode::kWrite), fixed_identity(), kTimeUs));
  }
  /// Opens the store that a process finds in these bytes.
  explicit ContainerStore(const Bytes& content) : file_(make_memory_file(content)) {}

  [[nodiscard]] std::unique_ptr<Storage> storage(OpenMode mode) const {
    return open_memory_storage(file_, mode);
  }
  /// Through a storage of one's own, as a Recorder's.
  static std::unique_ptr<container::Writer> writer_on(std::unique_ptr<Storage> storage) {
    return must(container::Writer::open(std::move(storage), fixed_time()));
  }
  [[nodiscard]] std::unique_ptr<container::Writer> writer(
      const container::WriterOptions& options = fixed_time()) const {
    return must(container::Writer::open(storage(OpenMode::kWrite), options));
  }
  [[nodiscard]] Result<std::shared_ptr<container::Reader>> try_reader(
      const container::ReaderOptions& options = {}) const {
    return container::Reader::open(storage(OpenMode::kRead), options);
  }
  [[nodiscard]] std::shared_ptr<container::Reader> reader(
      const container::ReaderOptions& options = {}) const {
    return must(try_reader(options));
  }
  [[nodiscard]] VerifyReport verified(VerifyLevel level = VerifyLevel::kNormal) const {
    VerifyOptions options;
    options.level = level;
    return must(verify(*storage(OpenMode::kRead), options));
  }
  /// Deep, but for what layers above the container check: their segments may hold anything here.
  [[nodiscard]] VerifyReport verified_below_pages() const {
    VerifyOptions options;
    options.level = VerifyLevel::kDeep;
    return must(
        container::verify_storage(*storage(OpenMode::kRead), options, without_page_rules()));
  }
  [[nodiscard]] Bytes bytes() const { return contents(*file_); }
  [[nodiscard]] std::uint64_t size_bytes() const { return must(storage(OpenMode::kRead)->size()); }
  [[nodiscard]] const std::shared_ptr<MemoryFile>& file() const { return file_; }

 private:
  std::shared_ptr<MemoryFile> file_;
};

/// "damaged 4: chunk damaged at 86016, segment 3" for each finding.
inline std::string text_of(const VerifyReport& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += finding.kind == FindingKind::kDamaged      ? "damaged "
            : finding.kind == FindingKind::kUnfinished ? "unfinished "
                                                       : "reduced ";
    text += std::to_string(finding.generation.value) + ": " + describe(finding.error) + "\n";
  }
  return text;
}

/// A drum with one bucket and nothing in it: other segments need one to belong to.
inline SegmentId add_drum(container::Writer& writer, const std::string& name = "drum") {
  format::DrumTable table;
  table.buckets.resize(1);
  table.consumers.resize(1);
  const SegmentId id = writer.new_segment_id();
  const auto run = must(write_run(writer, {id, SegmentKind::kDrum, {}, writer.new_run_ids(1)},
                                  format::encode_drum_table(table), 1));
  writer.put({id, SegmentKind::kDrum, StorageClass::kBlob, {}, name, {run}});
  return id;
}

/// A run of seeded bytes in a fresh extent.
inline format::RunRef write_random(container::Writer& writer, const format::RunLabel& label,
                                   std::size_t length, std::uint64_t seed) {
  return must(write_run(writer, label, random_bytes(length, seed), 1));
}

/// A blob of seeded bytes; its length is a multiple of 8.
inline SegmentId add_blob(container::Writer& writer, SegmentId owner, std::size_t length,
                          std::uint64_t seed) {
  const SegmentId id = writer.new_segment_id();
  const auto run = write_random(
      writer, {id, SegmentKind::kDrumPartition, owner, writer.new_run_ids(1)}, length, seed);
  writer.put({id, SegmentKind::kDrumPartition, StorageClass::kBlob, owner, "", {run}});
  return id;
}

/// Gives a blob other bytes.
inline void replace_blob(container::Writer& writer, SegmentId id, std::size_t length,
                         std::uint64_t seed) {
  auto entry = *writer.find(id);
  entry.runs = {write_random(writer, container::new_run(writer, id), length, seed)};
  writer.put(std::move(entry));
}

inline SegmentId add_log(container::Writer& writer, SegmentId owner) {
  const SegmentId id = writer.new_segment_id();
  writer.put({id, SegmentKind::kDrumKeyLog, StorageClass::kLog, owner, "", {}});
  return id;
}

inline void append(container::Writer& writer, SegmentId log, std::size_t length,
                   std::uint64_t seed) {
  auto entry = *writer.find(log);
  entry.runs.push_back(write_random(writer, container::new_run(writer, log), length, seed));
  writer.put(std::move(entry));
}

/// The verified payload of a run.
inline Bytes payload_of(container::Reader& reader, SegmentId segment, std::size_t run = 0) {
  const auto& ref = reader.directory().find(segment)->runs.at(run);
  Bytes payload;
  must(container::read_run(*reader.storage(),
                           container::run_name(reader.identity(), segment, ref.run_id), ref,
                           payload));
  return payload;
}

}  // namespace crawlstore::testing
