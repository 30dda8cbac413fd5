// SPDX-License-Identifier: Apache-2.0
//
// Windows are counted in answers, not in requests: a store that collects requests has done nothing
// for them yet. So the rate of a window is that of finished work, for batches of any size.
#include "seen_run.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>

#include "seen_commit_generated.h"

namespace crawlstore::bench {
namespace {

constexpr std::string_view kUsage =
    "PATH OPERATIONS [OPTION]...\n"
    "\n"
    "Answers OPERATIONS requests of the URL-seen stream with a new store at PATH, verifies the\n"
    "answers and prints a line of JSON. The store stays; one that is there already is replaced.\n"
    "\n"
    "  --variant key|aux          8-byte keys; with a value of 8 and 60 bytes of auxiliary\n"
    "  --stream uniform|skewed    how repeats are drawn\n"
    "  --cap SIZE                 tune the store for so much memory (sets no limit)\n"
    "  --window N                 answers between two readings of the clock\n"
    "  --batch N                  requests answered at once, where that can be chosen\n"
    "  --stored N                 keys that are there before, where that can be chosen\n"
    "  --stop SECONDS             no new requests after that time\n";

struct Suffix {
  std::string_view text;
  std::uint64_t factor;
};
constexpr std::uint64_t kThousand = 1000;
constexpr Suffix kSuffixes[] = {
    {"", 1},
    {"k", kThousand},
    {"M", kThousand* kThousand},
    {"G", kThousand* kThousand* kThousand},
    {"KiB", std::uint64_t{1} << 10},
    {"MiB", std::uint64_t{1} << 20},
    {"GiB", std::uint64_t{1} << 30},
};

void set_option(SeenOptions& options, std::string_view name, std::string_view value,
                std::span<const OwnOption> own) {
  if (name == "--variant" && (value == "key" || value == "aux")) {
    options.has_aux = value == "aux";
  } else if (name == "--stream" && (value == "uniform" || value == "skewed")) {
    options.stream = value == "skewed" ? StreamKind::kSkewed : StreamKind::kUniform;
  } else if (name == "--cap") {
    options.cap_bytes = value == "none" ? 0 : parse_number(value);
  } else if (name == "--window") {
    options.window = parse_number(value);
  } else if (name == "--batch") {
    options.batch = parse_number(value);
  } else if (name == "--stored") {
    options.stored = parse_number(value);
  } else if (name == "--stop") {
    options.stop_seconds = static_cast<double>(parse_number(value));
  } else {
    const auto found = std::find_if(own.begin(), own.end(),
                                    [&](const OwnOption& option) { return option.first == name; });
    if (found == own.end()) fail(fmt::format("not understood: {} {} (see --help)", name, value));
    *found->second = parse_number(value);
  }
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

void fail(const std::string& text) {
  throw std::runtime_error(text);
}

int guarded_main(char** argv, const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

std::uint64_t parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  for (const Suffix& suffix : kSuffixes) {
    if (error == std::errc() && unit == suffix.text) return number * suffix.factor;
  }
  fail(fmt::format("not a number: {}", text));
}

ProcessUsage process_usage() {
  ProcessUsage usage;
  std::ifstream file("/proc/self/io");
  std::uint64_t bytes = 0;
  for (std::string name; file >> name >> bytes;) {
    if (name == "read_bytes:") usage.read_bytes = bytes;
    if (name == "write_bytes:") usage.written_bytes = bytes;
  }
  rusage counted{};
  getrusage(RUSAGE_SELF, &counted);
  usage.peak_rss_bytes = static_cast<std::uint64_t>(counted.ru_maxrss) * 1024;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  usage.cpu_seconds = seconds(counted.ru_utime) + seconds(counted.ru_stime);
  return usage;
}

void add_circumstances(nlohmann::ordered_json& line) {
  line["cpu"] = fmt::format("{}, {} threads", cpu_model(), std::thread::hardware_concurrency());
  line["date"] = date_now();
  line["commit"] = kCommit;
}

SeenOptions parse_options(std::span<char*> arguments, std::span<const OwnOption> own) {
  if (arguments.size() == 2 && std::string_view(arguments[1]) == "--help") {
    fmt::print("usage: {} {}", arguments[0], kUsage);
    for (const auto& [name, place] : own) fmt::print("  {} N (default {})\n", name, *place);
    std::exit(0);
  }
  if (arguments.size() < 3) fail("PATH and OPERATIONS are missing (see --help)");
  SeenOptions options;
  options.path = arguments[1];
  options.operations = parse_number(arguments[2]);
  if (options.operations == 0) fail("OPERATIONS is 0");
  for (std::size_t i = 3; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) fail(fmt::format("{} needs a value", arguments[i]));
    set_option(options, arguments[i], arguments[i + 1], own);
  }
  if (options.window == 0) options.window = std::max<std::uint64_t>(options.operations / 20, 1);
  return options;
}

SeenRun::SeenRun(const SeenOptions& options)
    : options_(options), source_(options), next_reading_(options.window) {}

void SeenRun::start() {
  before_ = process_usage();
  start_ = Clock::now();
}

std::uint64_t SeenRun::take(std::uint64_t most) const {
  return is_stopped_ ? 0 : std::min(most, options_.operations - source_.expected().count);
}

void SeenRun::step() {
  const double seconds = seconds_now();
  if (answers_.count >= next_reading_) {
    readings_.push_back({source_.expected().count, answers_.count, seconds});
    next_reading_ = answers_.count - answers_.count % options_.window + options_.window;
  }
  is_stopped_ = options_.stop_seconds > 0 && seconds >= options_.stop_seconds;
}

void SeenRun::finish(std::uint64_t dropped_count) {
  seconds_ = seconds_now();
  used_ = process_usage();
  used_.read_bytes -= before_.read_bytes;
  used_.written_bytes -= before_.written_bytes;
  used_.cpu_seconds -= before_.cpu_seconds;
  answers_.count += dropped_count;
  if (dropped_count != 0) answers_.sum = source_.expected().sum;
  // The rest of a window at the end belongs to the one before it, unless it is most of one.
  const std::uint64_t last = readings_.empty() ? 0 : readings_.back().answered;
  if (last != 0 && answers_.count - last < options_.window / 2) readings_.pop_back();
  readings_.push_back({source_.expected().count, answers_.count, seconds_});
  if (answers_ != source_.expected()) {
    fail(fmt::format("the answers are wrong: {} requests with {} fresh keys, {} answers, {} unique",
                     source_.expected().count, source_.expected().unique, answers_.count,
                     answers_.unique));
  }
}

void SeenRun::verify_lookups(
    const std::function<std::optional<std::uint64_t>(std::uint64_t)>& find) const {
  const std::uint64_t fresh = options_.stored + answers_.unique;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t there = key_of(mix(i) % fresh);
    const auto value = find(there);
    if (!value || (options_.has_aux && *value != value_of(there))) {
      fail(fmt::format("a lookup of key {:016x} is wrong", there));
    }
    if (find(key_of(fresh + i))) fail("a lookup finds a key that was never there");
  }
}

double SeenRun::seconds_now() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

/// The time that making and adding up the requests costs, without a store: subtract it to see the
/// store alone.
double SeenRun::generator_seconds() const {
  SeenSource source(options_);
  const auto start = Clock::now();
  for (std::uint64_t i = 0; i < answers_.count; ++i) {
    if (options_.has_aux) {
      source.next_request();
    } else {
      source.next_key();
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (source.expected() != source_.expected())
    fail("the stream is not the same when it is repeated");
  return seconds;
}

std::vector<double> SeenRun::window_rates() const {
  std::vector<double> rates;
  Reading last;
  for (const Reading& reading : readings_) {
    rates.push_back(static_cast<double>(reading.answered - last.answered) /
                    (reading.seconds - last.seconds));
    last = reading;
  }
  return rates;
}

void SeenRun::print(const SeenStore& store, const nlohmann::ordered_json& own) const {
  const double done = operations();
  auto readings = nlohmann::ordered_json::array();
  for (const Reading& reading : readings_) {
    readings.push_back({reading.submitted, reading.answered, reading.seconds});
  }
  const auto rates = window_rates();
  nlohmann::ordered_json line{
      {"bench", "url_seen"},
      {"store", store.name},
      {"version", store.version},
      {"variant", options_.has_aux ? "aux" : "key"},
      {"stream", options_.stream == StreamKind::kSkewed ? "skewed" : "uniform"},
      {"operations", answers_.count},
      {"operations_asked", options_.operations},
      {"unique", answers_.unique},
      {"seconds", seconds_},
      {"ops_per_s", done / seconds_},
      {"generator_seconds", generator_seconds()},
      {"cpu_seconds", used_.cpu_seconds},
      {"first_window_ops_per_s", rates.front()},
      {"last_window_ops_per_s", rates.back()},
      {"window_ops_per_s", rates},
      {"readings_submitted_answered_seconds", readings},
      {"file_bytes", store.file_bytes},
      {"file_bytes_per_key",
       static_cast<double>(store.file_bytes) / static_cast<double>(answers_.unique)},
      {"read_bytes_per_op", static_cast<double>(used_.read_bytes) / done},
      {"written_bytes_per_op", static_cast<double>(used_.written_bytes) / done},
      {"peak_rss_bytes", used_.peak_rss_bytes},
      {"cap_bytes", options_.cap_bytes},
      {"stop_seconds", options_.stop_seconds},
      {"tuning", store.tuning}};
  line.update(own);
  add_circumstances(line);
  fmt::print("{}\n", line.dump());
}

std::uint64_t allocated_bytes(const std::string& path) {
  const auto of_one = [](const std::filesystem::path& file) {
    struct stat status {};
    if (::lstat(file.c_str(), &status) != 0) return std::uint64_t{0};
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
  };
  if (!std::filesystem::is_directory(path)) return of_one(path);
  std::uint64_t sum = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    sum += of_one(entry.path());
  }
  return sum;
}

}  // namespace crawlstore::bench
