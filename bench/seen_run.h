// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared parts of all URL-seen drivers: the command line, the requests, the clock, the proof
/// that the answers are right, and the one line of JSON.
///
///   SeenRun run(options);                 // the store is open by now
///   run.start();
///   while (const auto count = run.take(4096)) {
///     ... count times run.next_key() or run.next_request(), answers to run.answers() ...
///     run.step();
///   }
///   ... everything answered ...
///   run.finish();                         // stops the clock, verifies
///   run.verify_lookups(...);
///   run.print({...});
///
/// Errors: fail(), which guarded_main() prints. Threads: one.

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "seen_stream.h"

namespace crawlstore::bench {

[[noreturn]] void fail(const std::string& text);

/// Runs `body`; an exception becomes a message that begins with the program's name, and exit
/// code 1.
int guarded_main(char** argv, const std::function<void()>& body);

struct SeenOptions {
  std::string path;
  std::uint64_t operations = 0;
  StreamKind stream = StreamKind::kUniform;
  bool has_aux = false;
  std::uint64_t cap_bytes = 0;  ///< what the store is tuned for; 0 = all the memory it likes
  std::uint64_t window = 0;     ///< answers between two readings of the clock
  std::uint64_t batch = 0;      ///< requests answered at once; 0 = the driver chooses
  std::uint64_t stored = 0;     ///< keys that are there before the first request
  double stop_seconds = 0;      ///< no new requests after that time; 0 = never
};

/// 50000000, 50M or 256MiB.
std::uint64_t parse_number(std::string_view text);

/// The kernel's counts for this process.
struct ProcessUsage {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t peak_rss_bytes = 0;
  double cpu_seconds = 0;
};
ProcessUsage process_usage();

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Adds to a line which processor it was, when, and of which commit.
void add_circumstances(nlohmann::ordered_json& line);

/// An option that only one driver has.
using OwnOption = std::pair<std::string_view, std::uint64_t*>;

/// Reads PATH OPERATIONS and the options; prints the usage and ends the program for --help.
SeenOptions parse_options(std::span<char*> arguments, std::span<const OwnOption> own = {});

struct SeenRequest {
  std::uint64_t key = 0;
  std::uint64_t value = 0;
  AuxText aux{};
  [[nodiscard]] std::string_view aux_text() const { return {aux.data(), aux.size()}; }
};

/// The requests, and the tally that their answers must have.
class SeenSource {
 public:
  explicit SeenSource(const SeenOptions& options) : stream_(options.stream, options.stored) {}

  std::uint64_t next_key() {
    const std::uint64_t key = stream_.next();
    expected_.add(stream_.is_fresh(), fingerprint(key));
    return key;
  }
  const SeenRequest& next_request() {
    request_.key = stream_.next();
    request_.value = value_of(request_.key);
    texts_.write(expected_.count, request_.aux);
    expected_.add(stream_.is_fresh(),
                  fingerprint(request_.key, request_.value, request_.aux_text()));
    return request_;
  }
  [[nodiscard]] const Tally& expected() const { return expected_; }

 private:
  SeenStream stream_;
  AuxTexts texts_;
  SeenRequest request_;
  Tally expected_;
};

/// The store that answered, its mode, and the bytes that it left on the disk.
struct SeenStore {
  std::string name;
  std::string version;
  std::string tuning;
  std::uint64_t file_bytes = 0;  ///< allocated, once the store is closed
};

class SeenRun {
 public:
  explicit SeenRun(const SeenOptions& options);

  void start();
  /// The number of requests that come next: at most `most`; 0 = no more.
  [[nodiscard]] std::uint64_t take(std::uint64_t most) const;
  std::uint64_t next_key() { return source_.next_key(); }
  const SeenRequest& next_request() { return source_.next_request(); }
  Tally& answers() { return answers_; }
  /// After each batch: reads the clock when a window is full, or the time is over.
  void step();

  /// Everything is answered: stops the clock and compares the tallies. A store that drops repeats
  /// says how many; they count as answered, and which they were cannot be checked: the unique
  /// answers are.
  void finish(std::uint64_t dropped_count = 0);
  /// Looks up a thousand keys that must be there, and a thousand that must not. `find` returns the
  /// value; in variant "key" anything.
  void verify_lookups(const std::function<std::optional<std::uint64_t>(std::uint64_t)>& find) const;
  /// Prints the line; `own` are figures that only this driver has.
  void print(const SeenStore& store, const nlohmann::ordered_json& own) const;

  [[nodiscard]] double operations() const { return static_cast<double>(answers_.count); }

 private:
  using Clock = std::chrono::steady_clock;
  /// A reading of the clock.
  struct Reading {
    std::uint64_t submitted = 0;
    std::uint64_t answered = 0;
    double seconds = 0;
  };
  [[nodiscard]] double seconds_now() const;
  [[nodiscard]] double generator_seconds() const;
  [[nodiscard]] std::vector<double> window_rates() const;

  SeenOptions options_;
  SeenSource source_;
  Tally answers_;
  std::vector<Reading> readings_;
  std::uint64_t next_reading_;
  bool is_stopped_ = false;
  Clock::time_point start_;
  double seconds_ = 0;
  ProcessUsage before_;
  ProcessUsage used_;
};

/// Allocated bytes of a file, or of all files in a folder.
std::uint64_t allocated_bytes(const std::string& path);

}  // namespace crawlstore::bench
