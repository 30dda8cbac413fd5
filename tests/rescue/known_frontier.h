// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The content of a frontier, to compare. The frontier is called "f".

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/frontier_view.h>

#include "drum/memory_store.h"

namespace crawlstore::testing {

inline void write_file(const std::string& path, const std::vector<std::byte>& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  // tidy: raw bytes, for a stream
  out.write(reinterpret_cast<const char*>(bytes.data()),  // NOLINT
            static_cast<std::streamsize>(bytes.size()));
}

struct KnownItem {
  std::string group;
  double priority = 0;
  std::uint32_t attempt = 0;
  std::string body;
  std::uint64_t not_before = 0;
  std::optional<std::uint64_t> until;
  friend bool operator==(const KnownItem&, const KnownItem&) = default;
};
struct KnownGroup {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
  std::uint32_t failures = 0;
  std::uint64_t put_count = 0;
  std::uint64_t finished_count = 0;
  std::optional<FrontierRule> rule;
  friend bool operator==(const KnownGroup&, const KnownGroup&) = default;
};

inline KnownGroup known_group(const FrontierGroup& of) {
  return {of.soft_time_ms, of.hard_time_ms,   of.failure_count,
          of.put_count,    of.finished_count, of.rule};
}

/// All that a file has of its frontier.
struct Content {
  Content() = default;
  explicit Content(const std::string& path) {
    const auto snapshot = must(Snapshot::open(path));
    const auto view = must(FrontierView::open(snapshot, "f"));
    clock = view.info().clock_ms;
    const auto note = [this](const FrontierEntry& entry) {
      const KnownItem item{std::string(entry.group), entry.priority,      entry.attempt,
                           std::string(entry.body),  entry.not_before_ms, entry.until_ms};
      EXPECT_TRUE(items.emplace(entry.id, item).second) << entry.id;
      return true;
    };
    view.for_each_group([this](const FrontierGroup& of) {
      groups[of.key] = known_group(of);
      return true;
    });
    for (const auto& [key, of] : groups) must(view.for_each_waiting(key, note));
    must(view.for_each_lease(note));
    EXPECT_EQ(items.size(), view.info().waiting_count + view.info().leased_count);
  }

  std::map<std::uint64_t, KnownItem> items;
  std::map<std::string, KnownGroup> groups;
  std::uint64_t clock = 0;
};

}  // namespace crawlstore::testing
