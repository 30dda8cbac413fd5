// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All that is known to be wrong with the file that is open: what a check found, what the look at
/// it said, and what panels met when they read. One list, for the status bar, the overview, the
/// list of problems, the map and the report. Threads: one.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <crawlstore/tools/verify.h>

#include "model/crawl_file.h"

namespace crawlstore::inspector {

/// The result of a verification, so far.
struct Checked {
  VerifyReport report;
  VerifyLevel level{};
  bool is_partial = false;  ///< it was cancelled
  std::int64_t time_us = 0;
};

class Health {
 public:
  /// A check has ended. Damage that it looked for and did not find is not wrong any more.
  void take(Checked checked);
  /// Another look at the file: what it says replaces what the last one said, and what panels met
  /// in segments that are gone is forgotten, and after two commits what a check found that the
  /// newest generation does not need.
  void look(const model::FileView& view);
  /// A panel could not read something. True: it was not known before. An error that does not speak
  /// of the file's bytes (a lock, a name that is none) is not kept.
  bool meet(const Error& error);

  /// The last check; empty: none has ended yet.
  [[nodiscard]] const std::optional<Checked>& checked() const { return checked_; }
  /// Each once: what the check found, what the look said, what panels met.
  [[nodiscard]] const std::vector<Finding>& problems() const { return problems_; }
  /// Another number, other problems or another check.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] bool is_damaged() const;
  /// The file is not there any more, or something else is: no crawl file, or none to read.
  [[nodiscard]] bool is_lost() const { return lost_.has_value(); }
  /// Every checksum was looked at, and nothing is wrong.
  [[nodiscard]] bool is_whole() const;
  /// "LOST", "DAMAGED", "whole", "reduced redundancy", or what less is known.
  [[nodiscard]] std::string verdict() const;
  /// "no problems, 2.9 % checked", "3 problems": for a line that has little room.
  [[nodiscard]] std::string short_verdict() const;
  /// The share of the file that was checked, and how: "superblocks and directories were
  /// checked, 2.9 % of the bytes in use".
  [[nodiscard]] std::string share_text() const;

 private:
  void collect();
  [[nodiscard]] std::string percent() const;

  std::optional<Checked> checked_;
  Generation checked_generation_;
  std::vector<Error> seen_;    // what the last look said
  std::optional<Error> lost_;  // what it said where it speaks of no bytes
  std::vector<Error> met_;
  std::vector<Finding> problems_;
  /// One for each of problems_: code, segment, offset; where there is no offset, the text.
  std::set<std::tuple<Errc, std::uint64_t, std::uint64_t, std::string>> keys_;
  Generation generation_;  // of the last look
  std::uint64_t bytes_in_use_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace crawlstore::inspector
