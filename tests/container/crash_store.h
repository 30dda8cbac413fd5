// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A recorded store and what must hold of it: the vocabulary of the crash, mutant and error tests.
///
/// Ownership: a Scenario owns its file and its readers. Threads: one.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "container/reader.h"
#include "container/writer.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {

inline constexpr std::uint64_t kCrashCapacityBytes = std::uint64_t{16} << 20;
/// The owner of all other segments that these tests write.
inline constexpr SegmentId kOwner{1};

/// The contents of a generation: every segment with every verified payload byte, places left out.
struct StoreState {
  std::uint64_t generation = 0;
  std::uint64_t digest = 0;
  friend bool operator==(const StoreState&, const StoreState&) = default;
};

/// Over all segments but `except`. errors of damage
Result<std::uint64_t> digest_of(Storage& storage, const Uuid& uuid,
                                const container::Directory& directory, SegmentId except = {});
/// Returns the state that a reader sees now.
Result<StoreState> read_state(const std::shared_ptr<MemoryFile>& file);

/// Nothing wrong, or what.
using Fault = std::optional<std::string>;

/// Every unit of the file is live, held or free; nothing is free that the current generation, the
/// previous one or `pinned` refer to; the size bound of spec/design.md holds. The writer
/// has nothing in flight.
///   damaged  a generation that is known to be damaged; 0 = none
Fault check_space(container::Writer& writer, const std::vector<const container::Directory*>& pinned,
                  std::uint64_t damaged = 0);

/// Every write behind the superblocks went to bytes that were allocated, and not punched since.
Fault check_allocated(const OperationLog& log);

/// Writes a payload of seeded bytes as the segment's only run. Throws what fails.
void put_blob(container::Writer& writer, SegmentId id, std::size_t payload_bytes,
              std::uint64_t seed);
/// Appends a run of seeded bytes to a log, which is made when it does not exist.
void append_run(container::Writer& writer, SegmentId id, std::size_t payload_bytes,
                std::uint64_t seed);
/// A log without runs.
void put_empty_log(container::Writer& writer, SegmentId id);

/// One recorded file with its writers, one after the other, and its pinned readers.
class Scenario {
 public:
  explicit Scenario(const container::CommitPolicy& policy = {});

  /// Fills the file with a small store, not recorded: `fill` commits what it likes.
  void begin_with(const std::function<void(container::Writer&)>& fill);
  /// Begins with the bytes as they are.
  void begin_with_bytes(std::vector<std::byte> bytes);
  /// Begins with an empty file, which promises nothing yet.
  void begin_with_nothing();

  [[nodiscard]] Recorder& recorder() { return *recorder_; }
  [[nodiscard]] const std::shared_ptr<MemoryFile>& file() const { return file_; }
  [[nodiscard]] const container::CommitPolicy& policy() const { return policy_; }

  Result<std::unique_ptr<container::Writer>> try_open_writer();
  std::unique_ptr<container::Writer> open_writer();
  /// Commits, acknowledges, checks readers and space. Throws what fails.
  void commit(container::Writer& writer);
  /// The file's content now is promised to last.
  void acknowledge();
  /// Readers see what they saw, and space adds up. Throws what does not.
  void check(container::Writer& writer);

  /// Pins the newest, or the previous, generation from now on.
  void pin(bool previous = false);
  void unpin_all() { readers_.clear(); }
  void check_readers();

  /// Starts whenever the record does.
  std::optional<FailurePlan> plan;
  /// A generation that the workload damaged on purpose; 0 = none.
  std::uint64_t damaged_generation = 0;
  /// The contents of the generation before it.
  std::uint64_t fallback_digest = 0;

 private:
  struct PinnedReader {
    std::shared_ptr<container::Reader> reader;
    std::uint64_t digest = 0;
  };

  void start_recording();

  container::CommitPolicy policy_;
  std::shared_ptr<MemoryFile> file_;
  std::unique_ptr<Recorder> recorder_;
  std::vector<PinnedReader> readers_;
};

}  // namespace crawlstore::testing
