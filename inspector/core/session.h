// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The state of the inspector: the open file, what is wrong with it, and what happened.
/// Plain data of the drawing thread; panels see it const.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inspector/core/health.h"
#include "inspector/core/location.h"
#include "inspector/core/queue_trend.h"
#include "inspector/core/recovery.h"
#include "model/crawl_file.h"

namespace crawlstore::inspector {

enum class Severity : std::uint8_t { kNote, kWarning, kBad };

struct LogEntry {
  std::int64_t time_us = 0;
  Severity severity{};
  std::string text;
};

/// A commit that was seen while following.
struct SeenCommit {
  Generation generation;
  std::int64_t commit_time_us = 0;
  std::int64_t before_us = 0;  ///< when the one seen before was made
  std::int64_t key_delta = 0;  ///< of all DRUMs, against the one seen before
  std::int64_t pending_delta = 0;
  std::int64_t file_bytes_delta = 0;
  std::int64_t page_delta = 0;  ///< of all page databases
  std::int64_t crawled_delta = 0;
  std::int64_t link_delta = 0;
};

struct Session {
  static constexpr std::size_t kLogMax = 1000;
  static constexpr std::size_t kCommitsMax = 1000;

  std::optional<model::CrawlFile> file;
  /// Files that were opened together as the shards of a crawl, `file` among them; empty: one file.
  std::vector<std::string> shard_paths;
  Health health;
  std::deque<LogEntry> log;        ///< oldest first
  std::deque<SeenCommit> commits;  ///< oldest first
  QueueTrends queue_trends;
  std::uint64_t log_count = 0;  ///< all entries there ever were
  bool is_following = true;     ///< of this file
  std::string news;             ///< what is newer than what is shown, where nobody follows
  bool is_leaving = false;      ///< the pin goes when this is drawn
  std::string refused_path;     ///< path of a file without an identity page
  std::shared_ptr<const Recovery> recovery;  ///< the last one that ended
  std::int64_t page_delta = 0;               ///< of the commits since the last input
  std::int64_t key_delta = 0;

  /// The path of the file of which a new one can be made; empty = there is none.
  [[nodiscard]] std::string recoverable_path() const {
    const auto shown = view();
    return shown ? shown->path : refused_path;
  }

  /// nullptr = no file is open.
  [[nodiscard]] std::shared_ptr<const model::FileView> view() const {
    return file ? file->view() : nullptr;
  }
  void say(std::int64_t time_us, Severity severity, std::string text) {
    log.push_back({time_us, severity, std::move(text)});
    if (log.size() > kLogMax) log.pop_front();
    ++log_count;
  }
  /// Another file comes: what was seen of this one is not of it.
  void forget_seen() {
    health = {};
    commits.clear();
    queue_trends.clear();
    page_delta = key_delta = 0;
  }
};

}  // namespace crawlstore::inspector
