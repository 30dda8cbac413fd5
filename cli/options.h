// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Options that several verbs share, worded once.

#include <cstdint>
#include <optional>
#include <string>

#include <crawlstore/drum_core.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>

#include "cli/parser.h"

namespace crawlstore::cli {

void add_file(Parser& parser, std::string& path);
Option add_json(Parser& parser, bool& as_json);
void add_quiet(Parser& parser, bool& quiet);

/// A size such as 256MiB. `low`: the least that is taken.
Option add_bytes(Parser& parser, const std::string& name, std::optional<std::uint64_t>& to,
                 const std::string& help, std::uint64_t low = 0);
/// A number as people write them (model::parse_count()), from `low` to `high`.
struct CountRange {
  std::uint64_t low = 0;
  std::uint64_t high = ~std::uint64_t{0};
};
Option add_count(Parser& parser, const std::string& name, std::optional<std::uint64_t>& to,
                 const std::string& help, CountRange range = {});

/// --repeats answer|drop: what becomes of requests for keys that lately came.
Option add_repeats(Parser& parser, Repeats& to);

/// --memory with its default explained.
Option add_memory(Parser& parser, std::optional<std::uint64_t>& to);

/// --lock-wait SECONDS; what `seconds` is before is the default.
void add_lock_wait(Parser& parser, double& seconds);

/// --no-pin.
void add_no_pin(Parser& parser, bool& no_pin);

/// --no-mmap.
void add_no_mmap(Parser& parser, bool& no_mmap);

/// --drum NAME.
Option add_drum(Parser& parser, std::string& name, const std::string& help);

/// --database NAME, of pages and links; the default is "pages".
Option add_database(Parser& parser, std::string& name, const std::string& help);

/// --name NAME, of a queue.
Option add_queue(Parser& parser, std::string& name, const std::string& help);

/// --frontier NAME.
Option add_frontier(Parser& parser, std::string& name);

/// --frontier [NAME], of one that gets pages: `name` is empty where NAME is left out.
Option add_frontier_filled(Parser& parser, std::optional<std::string>& name);

/// The milliseconds that the word `none` stands for, where it is taken.
struct NoDuration {
  std::optional<std::uint64_t> none;
};
/// A time such as 10min, in milliseconds, at least 1.
Option add_duration(Parser& parser, const std::string& spelling, std::uint64_t& to_ms,
                    const std::string& help, NoDuration word = {});

/// The time that SOURCE_DATE_EPOCH asks for, in microseconds. errors kInvalidArgument
Result<std::optional<std::int64_t>> source_date_us();

/// For writing: lock wait and SOURCE_DATE_EPOCH.
Result<OpenOptions> open_options(double lock_wait_seconds);

/// A store to write to; its commits have the time that SOURCE_DATE_EPOCH asks for.
Result<Store> open_store(const std::string& path, double lock_wait_seconds);
/// The same; made when it is not there.
Result<Store> open_or_create_store(const std::string& path, double lock_wait_seconds);

/// For reading.
Result<Snapshot> open_snapshot(const std::string& path, bool no_pin, bool no_mmap = false);

/// The folder that a path lies in: "." when it names none.
std::string folder_of(const std::string& path);

}  // namespace crawlstore::cli
