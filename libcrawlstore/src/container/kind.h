// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The functions of a kind of segments for the container. A kind belongs to the folder that gives
/// it meaning, which fills a row in its kinds.cpp; crawl_store/kinds.cpp lists the rows of all.
/// Rows are constants: any thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "container/payload_window.h"
#include "format/directory.h"
#include "format/superblock.h"

namespace crawlstore::container {

class Description;
class RunSource;
class SegmentVerifier;

/// The facts that a check found in a run, for the verification of its owner. A kind that finds more
/// than the count derives its own.
struct RunContent {
  explicit RunContent(std::uint64_t count) : record_count(count) {}
  RunContent(const RunContent&) = delete;
  RunContent& operator=(const RunContent&) = delete;
  virtual ~RunContent() = default;

  std::uint64_t record_count = 0;
};

/// nullptr: a run that is not whole.
using RunContentPtr = std::unique_ptr<const RunContent>;

struct Kind {
  format::KindRule rule;

  /// The rules that the payload of one run must keep by itself. Works on hostile bytes, also while
  /// they change. nullptr: `verify` of the kind reads its runs itself.
  ///   errors  kSegmentInvalid, offset relative to the payload, and those of `payload` and
  ///           `progress`
  Result<RunContentPtr> (*check)(const PayloadSource& payload,
                                 const ContentProgress& progress) = nullptr;

  /// The lines of a run.
  void (*describe)(Description& out, const RunSource& source) = nullptr;
  /// The part of a run that holds `place`, an offset in its extent. nullptr: `describe` says it.
  void (*describe_at)(Description& out, const RunSource& source, std::uint64_t place) = nullptr;

  /// Whether the segment fits what it names, and names it in SegmentVerifier::name(). False: it
  /// could not be read, and it is not known what it names. nullptr: its owner looks at it.
  ///   errors  as SegmentVerifier::verify()
  Result<bool> (*verify)(SegmentVerifier& segments, const format::SegmentEntry& entry) = nullptr;
  /// Called once for each generation, after `verify` of all segments of the kind.
  Result<void> (*verify_rest)(SegmentVerifier& segments) = nullptr;
  /// The finding about a segment that no owner names, for kinds that own others.
  const char* unnamed = nullptr;
  /// Whether Store::drop() takes segments of the kind, with those that they own.
  bool can_be_dropped = false;
  /// Those of this kind may need the one that has their name, which then cannot be dropped.
  std::optional<SegmentKind> needed_by{};
  /// Advice to people about damage in the segment: what is lost with it, and what helps.
  const char* advice = "";
};

/// All that a file may hold. Verified in this order.
class KindSet {
 public:
  explicit KindSet(std::vector<Kind> kinds);

  [[nodiscard]] std::span<const Kind> all() const { return kinds_; }
  [[nodiscard]] std::span<const format::KindRule> rules() const { return rules_; }
  /// The bits of features_incompat that the kinds ask for, and the one of shards.
  [[nodiscard]] std::uint64_t features() const { return features_; }
  /// The row, or nullptr. O(kinds).
  [[nodiscard]] const Kind* find(SegmentKind kind) const;
  /// The row of a segment in a directory that was loaded with this set.
  [[nodiscard]] const Kind& of(const format::SegmentEntry& entry) const;

 private:
  std::vector<Kind> kinds_;
  std::vector<format::KindRule> rules_;  // of kinds_
  std::uint64_t features_ = format::kShardsFeature;
};

/// Those of this library, for whoever is given no others: crawl_store/kinds.cpp.
const KindSet& all_kinds();

/// Kind::check of a kind whose runs are looked at as a whole.
template <Result<RunContentPtr> (*check)(std::span<const std::byte> payload)>
Result<RunContentPtr> check_whole(const PayloadSource& payload, const ContentProgress& progress) {
  PayloadWindow window(payload, {0, payload.length_bytes}, progress);
  CRAWLSTORE_TRY(const auto* start, window.at(0, payload.length_bytes));
  CRAWLSTORE_TRY(progress(payload.length_bytes));
  return check({start, payload.length_bytes});
}

}  // namespace crawlstore::container
