// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the inspector has before it: the open file, what checks of it found, and what happened.
/// Plain data of the drawing thread; panels see it const.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/verify.h>

#include "inspector/core/location.h"
#include "model/crawl_file.h"

namespace crawlstore::inspector {

enum class Severity : std::uint8_t { kNote, kWarning, kBad };

struct LogEntry {
  std::int64_t time_us = 0;
  Severity severity{};
  std::string text;
};

/// What a verification found so far.
struct Checked {
  VerifyReport report;
  VerifyLevel level{};
  bool is_partial = false;  ///< it was cancelled
  std::int64_t time_us = 0;
  std::uint64_t number = 0;  ///< another number, another result
};

/// A commit that was seen while following.
struct SeenCommit {
  Generation generation;
  std::int64_t commit_time_us = 0;
  std::int64_t key_delta = 0;  ///< of all DRUMs, against the one seen before
  std::int64_t pending_delta = 0;
  std::int64_t file_bytes_delta = 0;
  std::int64_t page_delta = 0;  ///< of all page databases
  std::int64_t link_delta = 0;
};

struct Session {
  static constexpr std::size_t kLogMax = 1000;
  static constexpr std::size_t kCommitsMax = 1000;

  std::optional<model::CrawlFile> file;
  std::optional<Checked> checked;
  std::deque<LogEntry> log;        ///< oldest first
  std::deque<SeenCommit> commits;  ///< oldest first
  std::uint64_t log_count = 0;     ///< all entries there ever were
  bool is_following = true;

  /// nullptr = no file is open.
  [[nodiscard]] std::shared_ptr<const model::FileView> view() const {
    return file ? file->view() : nullptr;
  }
  void say(std::int64_t time_us, Severity severity, std::string text) {
    log.push_back({time_us, severity, std::move(text)});
    if (log.size() > kLogMax) log.pop_front();
    ++log_count;
  }
};

}  // namespace crawlstore::inspector
