// SPDX-License-Identifier: Apache-2.0
//
// A stream of real URLs, a line each on standard input, through UrlSeen: what the recent-keys
// window saves. `url_stream PATH [--memory MIB] [--recent-keys N] [--drop 1] [--keys 1] [--insert
// 1]
// [--commit-each N]` prints one line of JSON. The URL is the auxiliary, unless only keys are
// submitted, or URLs inserted one by one, as python/bench/inserts.py does beside it. The answers
// must be as many as the URLs that were not dropped, and the unique ones as many as there are keys
// in the end. The URLs are read before the clock starts.

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <crawlstore/url_seen.h>

#include "seen_run.h"

namespace crawlstore::bench {
namespace {

constexpr std::size_t kKeysAtOnce = 512;

template <class T>
T must(Result<T> result) {
  if (!result) fail(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

struct Counts {
  std::uint64_t unique = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t url_bytes = 0;
  void unique_key_update(const UrlSeen::Answers::AnswerType& answer) {
    ++unique;
    url_bytes += answer.aux.size();
  }
  void duplicate_key_update(const UrlSeen::Answers::AnswerType& answer) {
    ++duplicate;
    url_bytes += answer.aux.size();
  }
};

std::vector<std::string> read_lines() {
  std::vector<std::string> urls;
  for (std::string line; std::getline(std::cin, line);) {
    if (!line.empty()) urls.push_back(line);
  }
  return urls;
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Ways to ask about URLs.
struct Asking {
  bool keys_only = false;
  bool by_insert = false;
  std::uint64_t commit_each = 0;  ///< of inserts; 0: none but that of the merge
};

void insert_all(Store& store, UrlSeen& seen, const Asking& asking,
                std::span<const std::string> urls, Counts& counts) {
  for (std::size_t i = 0; i < urls.size(); ++i) {
    ++(must(seen.insert(urls[i])) ? counts.unique : counts.duplicate);
    if (asking.commit_each != 0 && (i + 1) % asking.commit_each == 0) must(store.commit());
  }
}

void measure(const std::string& path, const DrumOptions& drum, const Asking& asking,
             std::span<const std::string> urls) {
  std::remove(path.c_str());
  auto store = must(Store::create(path));
  UrlSeen::Options options;
  options.drum = drum;
  auto seen = must(UrlSeen::open(store, "urls", options));
  Counts counts;
  seen.drum().attach(counts);
  const double cpu_before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  if (asking.by_insert) {
    insert_all(store, seen, asking, urls, counts);
  } else if (asking.keys_only) {
    std::vector<std::uint64_t> keys;
    for (std::size_t i = 0; i < urls.size(); ++i) {
      keys.push_back(seen.key_of(urls[i]).head);
      if (keys.size() < kKeysAtOnce && i + 1 < urls.size()) continue;
      must(seen.drum().core().submit_keys(DrumOperation::kCheckUpdate, keys, {}));
      keys.clear();
    }
  } else {
    for (const std::string& url : urls) must(seen.check_update(url));
  }
  must(seen.drum().merge());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const double cpu = cpu_seconds() - cpu_before;
  const DrumStatus status = seen.drum().status();
  const std::uint64_t told = counts.unique + counts.duplicate;
  if (told + status.dropped_count != urls.size() || counts.unique != status.key_count) {
    fail(fmt::format("{} URLs, {} answers, {} unique, {} keys", urls.size(), told, counts.unique,
                     status.key_count));
  }
  const StorageCounters counters = store.counters().storage;
  const nlohmann::ordered_json line{{"bench", "url_stream"},
                                    {"variant", asking.by_insert   ? "insert"
                                                : asking.keys_only ? "key"
                                                                   : "url"},
                                    {"urls", urls.size()},
                                    {"unique", counts.unique},
                                    {"memory_bytes", drum.memory_bytes},
                                    {"recent_keys", drum.recent_keys},
                                    {"repeats", status.repeat_count},
                                    {"dropped", status.dropped_count},
                                    {"told_url_bytes", counts.url_bytes},
                                    {"written_bytes", counters.bytes_written},
                                    {"read_bytes", counters.bytes_read},
                                    {"sweeps", status.merge_count},
                                    {"seconds", took.count()},
                                    {"cpu_seconds", cpu}};
  fmt::print("{}\n", line.dump());
  must(seen.drum().close());
  must(store.close());
}

void run(std::span<char*> arguments) {
  if (arguments.size() < 2 || arguments.size() % 2 != 0) fail("PATH [--OPTION N]...");
  DrumOptions options;
  Asking asking;
  for (std::size_t i = 2; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    const std::uint64_t number = std::stoull(arguments[i + 1]);
    if (name == "--memory") {
      options.memory_bytes = number << 20;
    } else if (name == "--recent-keys") {
      options.recent_keys = static_cast<std::uint32_t>(number);
    } else if (name == "--drop") {
      options.repeats = number != 0 ? Repeats::kDrop : Repeats::kAnswer;
    } else if (name == "--keys") {
      asking.keys_only = number != 0;
    } else if (name == "--insert") {
      asking.by_insert = number != 0;
    } else if (name == "--commit-each") {
      asking.commit_each = number;
    } else {
      fail(fmt::format("not understood: {}", name));
    }
  }
  measure(arguments[1], options, asking, read_lines());
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  return crawlstore::bench::guarded_main(
      argv, [&] { crawlstore::bench::run(std::span(argv, static_cast<std::size_t>(argc))); });
}
