// SPDX-License-Identifier: Apache-2.0
#include "service_run.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace crawlstore::bench {
namespace {

constexpr std::size_t kIdleTakes = 1000;
constexpr double kIdleSeconds = 3;  // no take begins after that
constexpr std::size_t kIdleAtOnce = 10'000;

/// Times of calls, also for each of `count` things that they did.
nlohmann::ordered_json calls_json(const Calls& calls, std::uint64_t count) {
  const double each_us = 1e6 / static_cast<double>(std::max<std::uint64_t>(count, 1));
  return {{"us", calls.total() * each_us},
          {"cpu_us", calls.cpu_total() * each_us},
          {"p50_seconds", calls.quantile(0.5)},
          {"p99_seconds", calls.quantile(0.99)},
          {"worst_seconds", calls.quantile(1)}};
}

void print(const nlohmann::ordered_json& line) {
  fmt::print("{}\n", line.dump());
}

void run(const ServiceOptions& options, const std::string& path, const OpenService& open) {
  if (std::filesystem::exists(path)) fail("there is something at PATH already");
  const std::unique_ptr<BenchService> service = open(path);
  ServiceWork work(options, *service);
  work.put();
  const std::uint64_t put_bytes = allocated_bytes(path);
  work.again();
  work.cycle();
  Calls closes;
  timed(closes, [&] { service->close(); });
  const auto& cycle = work.cycle_calls();
  const std::uint64_t taken = work.taken_count();
  nlohmann::ordered_json line = {{"bench", "service"},
                                 {"store", service->name()},
                                 {"urls", options.url_count},
                                 {"queues", options.queue_count},
                                 {"url_bytes", options.url_bytes},
                                 {"taken", taken},
                                 {"known", work.known_count()}};
  line["put"] = calls_json(work.puts(), options.url_count);
  line["again"] = calls_json(work.again_calls(), options.url_count);
  line["take"] = calls_json(cycle.takes, taken);
  line["update"] = calls_json(cycle.updates, taken);
  line["discover"] = calls_json(cycle.discovers, taken);
  line["commits"] = calls_json(cycle.commits, taken);
  double us = 0;
  double cpu_us = 0;
  for (const char* part : {"take", "update", "discover", "commits"}) {
    us += line[part]["us"].get<double>();
    cpu_us += line[part]["cpu_us"].get<double>();
  }
  line["cycle"] = {{"us", us}, {"cpu_us", cpu_us}};
  line["close_seconds"] = closes.total();
  line["close_cpu_seconds"] = closes.cpu_total();
  line["put_file_bytes"] = put_bytes;
  line["file_bytes"] = allocated_bytes(path);
  const ProcessUsage used = process_usage();
  line["peak_rss_bytes"] = used.peak_rss_bytes;
  line["cpu_seconds"] = used.cpu_seconds;
  add_circumstances(line);
  print(line);
}

/// Opens what a run has left, takes, and ends as if it was killed.
void reopen(const std::string& path, const OpenService& open) {
  std::unique_ptr<BenchService> service;
  Calls opens;
  const auto taken = timed(opens, [&] {
    service = open(path);
    auto urls = service->take(kQueuesATake, kUrlsAQueue);
    service->commit();
    return urls;
  });
  if (taken.empty()) fail("there is nothing to take");
  print({{"open_seconds", opens.total()}, {"open_cpu_seconds", opens.cpu_total()}});
  std::fflush(stdout);
  std::_Exit(0);
}

void idle(const std::string& path, std::uint64_t queue_count, const OpenService& open) {
  if (std::filesystem::exists(path)) fail("there is something at PATH already");
  const std::unique_ptr<BenchService> service = open(path);
  const auto month = static_cast<std::uint64_t>(std::time(nullptr)) + kMonthS;
  Calls updates;
  std::vector<ServiceUrl> urls;
  for (std::uint64_t first = 0; first < queue_count; first += urls.size()) {
    urls.resize(std::min<std::uint64_t>(kIdleAtOnce, queue_count - first));
    for (std::size_t i = 0; i < urls.size(); ++i) {
      const std::string host = FrontierStream::group_key(static_cast<std::uint32_t>(first + i));
      urls[i] = {host, "https://" + host + "/", month};
    }
    timed(updates, [&] { service->update(urls); });
    timed(updates, [&] { service->commit(); });
  }
  Calls takes;
  const Stopwatch watch;
  while (takes.seconds.size() < kIdleTakes && watch.seconds() < kIdleSeconds) {
    const auto taken = timed(takes, [&] { return service->take(kQueuesATake, kUrlsAQueue); });
    if (!taken.empty()) fail("a URL was taken whose time has not come");
  }
  service->close();
  nlohmann::ordered_json line = {{"idle_queues", queue_count},
                                 {"idle_bytes", allocated_bytes(path)}};
  line["idle_update"] = calls_json(updates, queue_count);
  line["idle_take"] = calls_json(takes, takes.seconds.size());
  print(line);
}

}  // namespace

int service_main(int argc, char** argv, const OpenService& open) {
  return guarded_main(argv, [&] {
    const std::span<char*> words(argv, static_cast<std::size_t>(argc));
    const std::string_view second = words.size() > 2 ? words[2] : "";
    if (words.size() == 3 && second == "--open") {
      reopen(words[1], open);
    } else if (words.size() == 4 && second == "--idle") {
      idle(words[1], parse_number(words[3]), open);
    } else if (words.size() == 5) {
      const ServiceOptions options{.url_count = parse_number(words[2]),
                                   .queue_count = parse_number(words[3]),
                                   .url_bytes = parse_number(words[4])};
      if (options.url_count == 0 || options.queue_count == 0) fail("URLS and QUEUES begin at 1");
      run(options, words[1], open);
    } else {
      fail("usage: PATH URLS QUEUES URL_BYTES, PATH --open, PATH --idle QUEUES");
    }
  });
}

}  // namespace crawlstore::bench
