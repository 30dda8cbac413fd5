// SPDX-License-Identifier: Apache-2.0
#include "frontier_run.h"

#include <ctime>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace crawlstore::bench {
namespace {

/// Bytes of this process that are in memory: all, and those that are no file's.
struct Resident {
  std::uint64_t bytes = 0;
  std::uint64_t own_bytes = 0;
};

Resident resident_now() {
  Resident resident;
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    const std::string name = line.substr(0, colon);
    if (name == "VmRSS") resident.bytes = std::stoull(line.substr(colon + 1)) * 1024;
    if (name == "RssAnon") resident.own_bytes = std::stoull(line.substr(colon + 1)) * 1024;
  }
  return resident;
}

/// Bytes that this process has given to calls that write. The kernel's count of dirty bytes takes a
/// block of 4 KiB in a large folio for all of the folio, a dozen times what ours writes in a cycle.
std::uint64_t written_now() {
  std::ifstream file("/proc/self/io");
  std::uint64_t bytes = 0;
  for (std::string name; file >> name >> bytes;) {
    if (name == "wchar:") return bytes;
  }
  fail("/proc/self/io does not say what was written");
}

nlohmann::ordered_json calls_json(const Calls& calls) {
  return {{"seconds", calls.total()},           {"cpu_seconds", calls.cpu_total()},
          {"p50_seconds", calls.quantile(0.5)}, {"p99_seconds", calls.quantile(0.99)},
          {"worst_seconds", calls.quantile(1)}, {"worst_cpu_seconds", calls.worst_cpu()}};
}

double per_second(std::uint64_t count, double seconds) {
  return seconds == 0 ? 0 : static_cast<double>(count) / seconds;
}

/// Figures of a run in addition to the times of its calls.
struct Measured {
  std::uint64_t load_written_bytes = 0;
  std::uint64_t load_file_bytes = 0;
  std::uint64_t cycle_written_bytes = 0;
  Resident before{};
  Resident after{};
};

void add_rates(nlohmann::ordered_json& line, const FrontierWork& work, const WorkOptions& options) {
  const std::uint64_t taken = options.cycle_count * options.take_count;
  const double seconds = work.takes().total() + work.finishes().total() + work.puts().total();
  const double cpu =
      work.takes().cpu_total() + work.finishes().cpu_total() + work.puts().cpu_total();
  line["load_per_s"] = per_second(options.item_count, work.loads().total());
  line["load_per_cpu_s"] = per_second(options.item_count, work.loads().cpu_total());
  line["cycle_items_per_s"] = per_second(taken, seconds);
  line["cycle_items_per_cpu_s"] = per_second(taken, cpu);
  line["take_per_cpu_s"] = per_second(taken, work.takes().cpu_total());
  line["load"] = calls_json(work.loads());
  line["take"] = calls_json(work.takes());
  line["finish"] = calls_json(work.finishes());
  line["put"] = calls_json(work.puts());
}

void run(const WorkOptions& options, const std::string& path, const OpenFrontier& open) {
  if (std::filesystem::exists(path)) fail("there is something at PATH already");
  const std::unique_ptr<BenchFrontier> frontier = open(path);
  FrontierWork work(options, *frontier);
  Measured measured{.before = resident_now()};
  std::uint64_t written = written_now();
  work.load();
  measured.load_written_bytes = written_now() - written;
  measured.load_file_bytes = allocated_bytes(path);
  written = written_now();
  work.run_cycles();
  measured.cycle_written_bytes = written_now() - written;
  measured.after = resident_now();
  frontier->close();
  nlohmann::ordered_json line = {{"bench", "frontier"},
                                 {"store", frontier->name()},
                                 {"items", options.item_count},
                                 {"groups", options.group_count},
                                 {"body_bytes", options.body_bytes},
                                 {"cycles", options.cycle_count},
                                 {"take_count", options.take_count}};
  add_rates(line, work, options);
  line["load_written_bytes"] = measured.load_written_bytes;
  line["load_file_bytes"] = measured.load_file_bytes;
  line["cycle_written_bytes"] = measured.cycle_written_bytes;
  line["file_bytes"] = allocated_bytes(path);
  line["kept_items"] = work.kept_count();
  line["resident_bytes"] = measured.after.bytes - measured.before.bytes;
  line["own_bytes"] = measured.after.own_bytes - measured.before.own_bytes;
  line["cpu_seconds"] = process_usage().cpu_seconds;
  line["sum"] = fmt::format("{:016x}", work.sum());
  add_circumstances(line);
  fmt::print("{}\n", line.dump());
}

/// Opens what a run has left, and takes an item.
void reopen(const std::string& path, std::uint64_t cycle_count, const OpenFrontier& open) {
  const Resident before = resident_now();
  const std::clock_t cpu = std::clock();
  const Stopwatch watch;
  const std::unique_ptr<BenchFrontier> frontier = open(path);
  const double opened = watch.seconds();
  const auto taken = frontier->take(1, FrontierWork::clock_after(cycle_count) + kDelayMs);
  const double seconds = watch.seconds();
  if (taken.size() != 1) fail("there is nothing to take");
  const Resident after = resident_now();
  const nlohmann::ordered_json line = {
      {"open_seconds", opened},
      {"first_item_seconds", seconds},
      {"first_item_cpu_seconds", static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC},
      {"open_own_bytes", after.own_bytes - before.own_bytes}};
  frontier->close();
  fmt::print("{}\n", line.dump());
}

}  // namespace

int frontier_main(int argc, char** argv, const OpenFrontier& open) {
  return guarded_main(argv, [&] {
    const std::span<char*> words(argv, static_cast<std::size_t>(argc));
    if (words.size() == 4 && std::string_view(words[2]) == "--open") {
      reopen(words[1], parse_number(words[3]), open);
      return;
    }
    if (words.size() != 7)
      fail("usage: PATH ITEMS GROUPS BODY_BYTES CYCLES TAKE, PATH --open CYCLES");
    const WorkOptions options{.item_count = parse_number(words[2]),
                              .group_count = parse_number(words[3]),
                              .body_bytes = parse_number(words[4]),
                              .cycle_count = parse_number(words[5]),
                              .take_count = parse_number(words[6])};
    if (options.item_count == 0 || options.group_count == 0 || options.cycle_count == 0 ||
        options.take_count == 0) {
      fail("ITEMS, GROUPS, CYCLES and TAKE begin at 1");
    }
    run(options, words[1], open);
  });
}

}  // namespace crawlstore::bench
