// SPDX-License-Identifier: Apache-2.0
#pragma once

/// That the keys of a page database are those of its pages: spec/pages.md#pages, rule 7.

#include <cstdint>
#include <optional>
#include <vector>

#include "container/verify.h"
#include "drum/key_source.h"
#include "format/drum_table.h"

namespace crawlstore::pages {

/// The parts that are compared. Each is whole by itself, and outlives the verifier.
struct PageKeyParts {
  const container::Directory& directory;
  const format::SegmentEntry& drum;
  const format::DrumTable& table;       // of the drum
  const format::SegmentEntry* fresh;    // nullptr: there are none
  const format::SegmentEntry* origins;  // nullptr: there are no pages
  std::uint64_t page_count = 0;
};

/// For one use. Memory: 64 MiB; reads everything once for each 8 million pages.
class PageKeysVerifier {
 public:
  PageKeysVerifier(container::Verification& verification, const PageKeyParts& parts)
      : verification_(verification), parts_(parts) {}
  /// errors  kSegmentInvalid: what is wrong first; of reading
  Result<void> verify();

 private:
  /// The pages [first_, end_).
  Result<void> verify_window();
  Result<void> print_origins();
  Result<std::unique_ptr<drum::MergedKeys>> open_fresh_keys();
  Result<void> pass_fresh_keys(drum::KeySource& keys, std::optional<Key16> limit);
  Result<void> take_key(SegmentId segment, Key16 key, std::span<const std::byte> value);

  container::Verification& verification_;
  PageKeyParts parts_;
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
  // By page of the window:
  std::vector<std::uint64_t> prints_;  // of its key; 0: that was found
  std::vector<bool> keyed_;            // it must have one
};

/// Bits that tell whether two lists hold the same, whatever their order.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

}  // namespace crawlstore::pages
