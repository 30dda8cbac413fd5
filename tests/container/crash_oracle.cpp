// SPDX-License-Identifier: Apache-2.0
#include "container/crash_oracle.h"

#include <algorithm>
#include <stdexcept>

#include <crawlstore/tools/verify.h>

#include "container/rollback.h"
#include "container/superblocks.h"
#include "container/without_page_rules.h"
#include "drum/memory_store.h"
#include "format/layout.h"
#include "support/bytes.h"
#include "support/crash_images.h"
#include "support/disk_model.h"

namespace crawlstore::testing {
namespace {

using container::Writer;

std::string text_of(const char* what, const Error& error) {
  return std::string(what) + ": " + describe(error);
}

std::string text_of(const StoreState& state) {
  return "generation " + std::to_string(state.generation) + " digest " +
         std::to_string(state.digest);
}

bool has_invalid_copy(Storage& storage, const Uuid& uuid) {
  const auto set = container::read_superblock_set(storage, uuid);
  if (!set) return true;
  for (const auto& slot : set->copies) {
    for (const auto& copy : slot) {
      if (copy.state == container::SuperblockCopy::State::kInvalid) return true;
    }
  }
  return false;
}

}  // namespace

PublishedStates::PublishedStates(const OperationLog& log)
    : file_(make_memory_file({}, kCrashCapacityBytes)) {
  DiskModel model(log.initial);
  observe(model.cache());
  std::size_t acknowledged = 0;
  bool any_acknowledged = !states_.empty();
  windows_.push_back({0, states_.size(), any_acknowledged});
  for (std::size_t index = 0; index < log.operations.size(); ++index) {
    const Operation& operation = log.operations[index];
    model.apply(operation, index);
    const bool is_superblock = operation.kind == OperationKind::kWrite &&
                               operation.extent.offset_bytes < format::kDataStart;
    if (is_superblock || operation.kind == OperationKind::kEvict) observe(model.cache());
    if (operation.kind == OperationKind::kMark && operation.mark == "acknowledged" &&
        !states_.empty()) {
      acknowledged = states_.size() - 1;
      any_acknowledged = true;
    }
    const std::size_t end = states_.size();
    const std::size_t first = std::max(acknowledged, end < 2 ? 0 : end - 2);
    windows_.push_back({first, end, any_acknowledged});
  }
}

void PublishedStates::observe(std::span<const std::byte> cache) {
  must(reset(*file_, cache));
  const auto storage = open_memory_storage(file_, OpenMode::kReadNoPin);
  const auto identity = container::read_identity(*storage);
  if (!identity) return;
  const auto set = container::read_superblock_set(*storage, identity->uuid);
  if (!set || set->winner() == nullptr) return;
  const auto& winner = *set->winner();
  if (!states_.empty() && states_.back().generation == winner.generation &&
      states_.back().root_checksum == winner.root_checksum) {
    return;
  }
  State state{winner.generation, winner.root_checksum, 0, false};
  const auto directory =
      container::load_directory(*storage, identity->uuid, winner, {}, container::all_kinds());
  if (directory) {
    const auto digest = digest_of(*storage, identity->uuid, **directory);
    state.is_whole = digest.has_value();
    state.digest = digest.value_or(0);
  }
  states_.push_back(state);
}

std::span<const PublishedStates::State> PublishedStates::allowed(std::size_t point) const {
  const Window& window = windows_[point];
  return std::span(states_).subspan(window.first, window.end - window.first);
}

bool PublishedStates::may_be_missing(std::size_t point) const {
  return !windows_[point].acknowledged;
}

CrashOracle::CrashOracle(const OperationLog& log, OracleOptions options)
    : options_(std::move(options)),
      has_failed_sync_(std::any_of(log.operations.begin(), log.operations.end(),
                                   [](const Operation& operation) {
                                     return operation.kind == OperationKind::kSync &&
                                            operation.failed;
                                   })),
      states_(log),
      file_(make_memory_file({}, kCrashCapacityBytes)) {}

Fault CrashOracle::check(std::span<const std::byte> image, std::size_t point) {
  ++counts_.images;
  try {
    return check_image(image, point);
  } catch (const std::exception& error) {
    return std::string("after the crash: ") + error.what();
  }
}

bool CrashOracle::is_allowed(const StoreState& state, std::size_t point) const {
  const auto is_this = [&state](const PublishedStates::State& one) {
    return one.is_whole && one.generation == state.generation && one.digest == state.digest;
  };
  const auto allowed = states_.allowed(point);
  if (std::any_of(allowed.begin(), allowed.end(), is_this)) return true;
  return point <= options_.also_until &&
         std::any_of(options_.also_allowed.begin(), options_.also_allowed.end(), is_this);
}

Fault CrashOracle::check_image(std::span<const std::byte> image, std::size_t point) {
  must(reset(*file_, image));
  const auto allowed = states_.allowed(point);
  if (states_.may_be_missing(point)) return check_missing();
  const auto state = read_state(file_);
  if (!state) {
    const bool damage_allowed =
        category(state.error().code) == ErrorCategory::kDamage &&
        std::any_of(allowed.begin(), allowed.end(), [](const auto& one) { return !one.is_whole; });
    if (damage_allowed && options_.damaged_generation != 0) return check_damaged_winner();
    return text_of("cannot be opened", state.error());
  }
  if (!is_allowed(*state, point)) return "another content than was published: " + text_of(*state);
  if (loses_slot()) return check_lost_slot(point);
  if (Fault fault = check_verify()) return fault;
  if (Fault fault = check_next_commit(*state)) return fault;
  if (Fault fault = check_use(image)) return fault;
  return check_double_crash(image, point);
}

/// Before the file has its name: a clean error, or the empty store.
Fault CrashOracle::check_missing() {
  const auto storage = open_memory_storage(file_, OpenMode::kRead);
  const auto identity = container::read_identity(*storage);
  if (!identity) return std::nullopt;
  const auto set = container::read_superblock_set(*storage, identity->uuid);
  if (!set || set->winner() == nullptr) return std::nullopt;
  const auto directory = container::load_directory(*storage, identity->uuid, *set->winner(), {},
                                                   container::all_kinds());
  if (!directory) return std::nullopt;
  if ((*directory)->segment_count() != 0) return "a store that was never filled holds something";
  return std::nullopt;
}

/// Generation N cannot be read, on purpose: the rollback must still be possible.
Fault CrashOracle::check_damaged_winner() {
  container::WriterOptions options;
  options.fixed_time_us = kFixedTimeUs;
  options.policy = options_.policy;
  const auto rolled =
      container::rollback_damaged(open_memory_storage(file_, OpenMode::kWrite), options);
  if (!rolled) return text_of("cannot be rolled back", rolled.error());
  const auto state = read_state(file_);
  if (!state) return text_of("after a rollback", state.error());
  const StoreState expected{options_.damaged_generation + 1, options_.fallback_digest};
  return *state == expected ? std::nullopt
                            : Fault("another content after a rollback: " + text_of(*state));
}

bool CrashOracle::loses_slot() const {
  const auto storage = open_memory_storage(file_, OpenMode::kRead);
  const auto identity = must(container::read_identity(*storage));
  return must(container::read_superblock_set(*storage, identity.uuid)).lost_slot().has_value();
}

/// Only a failed sync whose loss a later writer did not see leaves a slot without a valid copy.
/// The commit that it led to was never acknowledged, and comes back by roll_forward(); or it is
/// given up.
Fault CrashOracle::check_lost_slot(std::size_t point) {
  if (!has_failed_sync_) return "a crash left a slot without a valid copy";
  container::WriterOptions options;
  options.fixed_time_us = kFixedTimeUs;
  options.policy = options_.policy;
  const auto storage = [this] { return open_memory_storage(file_, OpenMode::kWrite); };
  if (Writer::open(storage(), options)) return "a writer does not mind a lost slot";
  const auto forward = container::roll_forward(storage(), 0, {}, without_page_rules());
  if (!forward) {
    const auto given_up = container::rollback_damaged(storage(), options);
    return given_up ? std::nullopt : Fault(text_of("cannot be given up", given_up.error()));
  }
  const auto state = read_state(file_);
  if (!state) return text_of("after roll forward", state.error());
  if (!is_allowed(*state, point)) return "another content after roll forward: " + text_of(*state);
  return check_next_commit(*state);
}

Fault CrashOracle::check_verify() {
  if (options_.verify_every == 0 || counts_.images % options_.verify_every != 0) {
    return std::nullopt;
  }
  const auto storage = open_memory_storage(file_, OpenMode::kRead);
  const auto identity = container::read_identity(*storage);
  if (!identity) return text_of("identity", identity.error());
  // verify() waits 10 ms where a copy is torn: a writer could be at work.
  const bool is_slow = has_invalid_copy(*storage, identity->uuid);
  if (is_slow && counts_.images % (options_.verify_every * 16) != 0) return std::nullopt;
  ++counts_.verified;
  VerifyOptions options;
  options.level = options_.deep ? VerifyLevel::kDeep : VerifyLevel::kNormal;
  const auto report = verify(*storage, options);
  if (!report) return text_of("verify", report.error());
  for (const Finding& finding : report->findings) {
    if (finding.kind == FindingKind::kDamaged) return text_of("damaged", finding.error);
    const bool is_superblock = finding.error.code == Errc::kSuperblockDamaged;
    if (!is_superblock && finding.generation.value != options_.damaged_generation) {
      return text_of("the previous generation", finding.error);
    }
  }
  return std::nullopt;
}

Fault CrashOracle::check_next_commit(const StoreState& state) {
  {
    container::WriterOptions options;
    options.fixed_time_us = kFixedTimeUs;
    options.policy = options_.policy;
    auto writer = Writer::open(open_memory_storage(file_, OpenMode::kWrite), options);
    if (!writer) return text_of("no writer", writer.error());
    must((*writer)->prepare());
    if (const Fault fault = check_space(**writer, {}, options_.damaged_generation)) {
      return "after the crash " + *fault;
    }
    const SegmentId id = (*writer)->new_segment_id();
    put_blob(**writer, id, 5000, 99);
    must((*writer)->commit());
    if (const Fault fault = check_space(**writer, {}, options_.damaged_generation)) {
      return "after the next commit " + *fault;
    }
    const auto digest =
        digest_of((*writer)->storage(), (*writer)->identity().uuid, *(*writer)->directory(), id);
    if (!digest) return text_of("after the next commit", digest.error());
    if (*digest != state.digest) return "the next commit changed what was there";
  }
  const auto next = read_state(file_);
  if (!next) return text_of("after the next commit", next.error());
  return next->generation == state.generation + 1 ? std::nullopt
                                                  : Fault("the next commit is not the newest");
}

Fault CrashOracle::check_use(std::span<const std::byte> image) {
  if (!options_.use || counts_.images % options_.use_every != 0) return std::nullopt;
  ++counts_.continued;
  must(reset(*file_, image));
  options_.use(open_memory_storage(file_, OpenMode::kWrite));
  return check_verify();
}

/// The first commit after the crash crashes as well. Until its step 0 has returned, what the first
/// crash could have left is right still: zeros that are half written over a copy with one torn
/// sector can make that copy valid again.
Fault CrashOracle::check_double_crash(std::span<const std::byte> image, std::size_t point) {
  if (options_.double_crash_every == 0 || counts_.images % options_.double_crash_every != 0) {
    return std::nullopt;
  }
  std::size_t settled = 0;
  Scenario second(options_.policy);
  second.begin_with_bytes({image.begin(), image.end()});
  {
    const auto writer = second.open_writer();
    must(writer->prepare());
    settled = second.recorder().log().operations.size();
    put_blob(*writer, writer->new_segment_id(), 5000, 98);
    must(writer->commit());
    second.acknowledge();
  }
  const OperationLog log = second.recorder().log();
  const auto allowed = states_.allowed(point);
  OracleOptions options = options_;
  options.also_allowed.assign(allowed.begin(), allowed.end());
  options.also_until = settled - 1;  // the last operation of step 0 is its second sync
  options.double_crash_every = 0;
  options.deep = false;  // the segment of the commit that crashes belongs to no DRUM
  options.use = nullptr;
  CrashOracle oracle(log, options);
  CrashBudget budget;
  budget.random_count = 20;
  budget.pairs_max = 10;
  budget.tears_per_write = 4;
  budget.seed = counts_.images;
  Fault fault;
  CrashImages images(log, budget);
  images.enumerate([&](const CrashImage& again) {
    if (again.hash % options_.double_crash_sample != 0) return true;
    ++counts_.double_crashes;
    fault = oracle.check(again.bytes, again.point);
    if (fault) *fault = "second crash: " + *fault + "\n" + again.describe();
    return !fault;
  });
  return fault;
}

}  // namespace crawlstore::testing
