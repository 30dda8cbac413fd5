// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include <crawlstore/pages.h>

#include "model/format_text.h"
#include "model/parse_text.h"
#include "model/utf8.h"

namespace crawlstore::cli {
namespace {

constexpr std::int64_t kUsPerSecond = 1'000'000;

/// Names as spec/container.md#names has them: UTF-8, 1 to 255 bytes, no controls.
bool is_name(const std::string& text) {
  if (text.empty() || text.size() > 255 || !model::is_utf8(text)) return false;
  const std::string shown = model::format_printable(text);
  return shown.find("\\x") == std::string::npos;
}

/// Empty: it is one.
std::string check_name(const std::string& text) {
  return is_name(text) ? std::string() : "a name has 1 to 255 bytes of UTF-8 without controls";
}

}  // namespace

void add_file(Parser& parser, std::string& path) {
  parser.text("FILE", path, "the crawl file").required();
}

Option add_json(Parser& parser, bool& as_json) {
  return parser.flag("--json", as_json, "print one JSON document, its keys named as in the spec");
}

void add_quiet(Parser& parser, bool& quiet) {
  parser.flag("-q,--quiet", quiet, "no progress and no notes on standard error");
}

Option add_bytes(Parser& parser, const std::string& name, std::optional<std::uint64_t>& to,
                 const std::string& help, std::uint64_t low) {
  const auto parse = [&to, low](const std::string& text) {
    to = model::parse_bytes(text);
    if (!to) return "a size such as 256MiB or 1,000,000 is expected, not " + text;
    return *to < low ? "at least " + model::format_bytes(low) : std::string();
  };
  return parser.parsed(name + " SIZE", parse, help);
}

Option add_count(Parser& parser, const std::string& name, std::optional<std::uint64_t>& to,
                 const std::string& help, CountRange range) {
  const auto parse = [&to, range](const std::string& text) {
    to = model::parse_count(text);
    if (!to) return "a number such as 1000, 1,000, 1e3 or 1k is expected, not " + text;
    const bool fits = range.low <= *to && *to <= range.high;
    return fits ? std::string() : fmt::format("from {} to {}", range.low, range.high);
  };
  return parser.parsed(name + " N", parse, help);
}

Option add_repeats(Parser& parser, Repeats& to) {
  const auto choose = [&to](const std::string& text) {
    to = text == "drop" ? Repeats::kDrop : Repeats::kAnswer;
    return std::string();
  };
  return parser
      .parsed("--repeats HOW", choose,
              "drop: count most repeats of recent keys, without writing or answering them "
              "(default: answer)")
      .one_of({"answer", "drop"});
}

Option add_memory(Parser& parser, std::optional<std::uint64_t>& to) {
  constexpr std::uint64_t kLow = 64 * 1024;
  return add_bytes(
      parser, "--memory", to,
      "budget for requests that wait, such as 256MiB; a merge needs up to 2.5 times as much "
      "(default: a quarter of what the cgroup, ulimit and the machine allow)",
      kLow);
}

void add_lock_wait(Parser& parser, double& seconds) {
  const std::string usual = seconds == 0 ? "not at all" : fmt::format("{:g}", seconds);
  parser.number("--lock-wait SECONDS", seconds, 4e6,
                fmt::format("how long to wait for another writer (default: {})", usual));
}

void add_no_pin(Parser& parser, bool& no_pin) {
  parser.flag("--no-pin", no_pin,
              "read without a lock, for file systems that have none; a writer may then reuse "
              "what is being read, which checksums notice");
}

void add_no_mmap(Parser& parser, bool& no_mmap) {
  parser.flag("--no-mmap", no_mmap,
              "read without mapping the file, for network file systems and failing disks: what "
              "cannot be read is an error with its offset");
}

Option add_drum(Parser& parser, std::string& name, const std::string& help) {
  return parser.text("--drum NAME", name, help).check(check_name);
}

Option add_database(Parser& parser, std::string& name, const std::string& help) {
  name = PageDb::kDefaultName;
  return parser.text("--database NAME", name, help + " (default: pages)").check(check_name);
}

Option add_queue(Parser& parser, std::string& name, const std::string& help) {
  return parser.text("--name NAME", name, help).check(check_name);
}

Option add_frontier(Parser& parser, std::string& name) {
  return parser.text("--frontier NAME", name, "the frontier (default: the only one, or `frontier`)")
      .check(check_name);
}

Option add_frontier_filled(Parser& parser, std::optional<std::string>& name) {
  const auto keep = [&name](const std::string& text) -> std::string {
    name = text;
    if (text.empty()) return {};
    std::error_code ignored;
    const bool is_input = text == "-" || std::filesystem::exists(text, ignored);
    // Else an input would get lost that stands where a name may stand.
    return is_input ? text + " is an input; --frontier comes after all inputs" : check_name(text);
  };
  return parser
      .parsed("--frontier [NAME]", keep,
              "put the pages that are new into this frontier at the end, as `schedule` does "
              "(default: the only one, or `frontier`)")
      .with_optional_value();
}

Option add_duration(Parser& parser, const std::string& spelling, std::uint64_t& to_ms,
                    const std::string& help, NoDuration word) {
  const auto parse = [&to_ms, word](const std::string& text) -> std::string {
    if (word.none && text == "none") {
      to_ms = *word.none;
      return {};
    }
    const auto time = model::parse_duration(text);
    if (!time) {
      return "a time such as 500ms, 2s, 10min, 3h or 7d, up to 106751d, is expected, not " + text;
    }
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(*time).count();
    to_ms = static_cast<std::uint64_t>(ms);
    return ms == 0 ? "at least 1ms" : "";
  };
  return parser.parsed(spelling, parse, help);
}

Result<std::optional<std::int64_t>> source_date_us() {
  const char* variable = std::getenv("SOURCE_DATE_EPOCH");
  if (variable == nullptr || *variable == '\0') return std::optional<std::int64_t>{};
  const std::string_view text(variable);
  std::int64_t seconds = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  constexpr std::int64_t kSecondsMax = INT64_MAX / kUsPerSecond;
  if (error != std::errc{} || stopped != text.data() + text.size() || seconds < 0 ||
      seconds > kSecondsMax) {
    return fail(Errc::kInvalidArgument, "SOURCE_DATE_EPOCH must be seconds since 1970");
  }
  return std::optional<std::int64_t>(seconds * kUsPerSecond);
}

Result<OpenOptions> open_options(double lock_wait_seconds) {
  CRAWLSTORE_TRY(const auto time_us, source_date_us());
  OpenOptions options;
  options.lock_wait_ms = static_cast<std::uint32_t>(lock_wait_seconds * 1000);
  options.time_us = time_us;
  return options;
}

Result<Store> open_store(const std::string& path, double lock_wait_seconds) {
  CRAWLSTORE_TRY(const auto open, open_options(lock_wait_seconds));
  return Store::open(path, open);
}

Result<Store> open_or_create_store(const std::string& path, double lock_wait_seconds) {
  CRAWLSTORE_TRY(const auto open, open_options(lock_wait_seconds));
  CreateOptions create;
  create.time_us = open.time_us;
  return Store::open_or_create(path, create, open);
}

Result<Snapshot> open_snapshot(const std::string& path, bool no_pin, bool no_mmap) {
  SnapshotOptions options;
  options.pin = !no_pin;
  options.mapped = !no_mmap;
  return Snapshot::open(path, options);
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace crawlstore::cli
