// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The verbs of the command. Each stands in command_<verb>.cpp and is listed once, in main.cpp;
/// help, man page and completion are made from that table.

#include <functional>
#include <string>

#include <CLI/App.hpp>

namespace crawlstore::cli {

/// What a verb does once its options are parsed; returns the exit code.
using Action = std::function<int()>;

struct Verb {
  const char* name;
  const char* summary;
  /// Adds the verb's options to its parser.
  Action (*define)(CLI::App& parser);
};

Action define_compact(CLI::App& parser);
Action define_create(CLI::App& parser);
Action define_diff(CLI::App& parser);
Action define_dump(CLI::App& parser);
Action define_export(CLI::App& parser);
Action define_forget(CLI::App& parser);
Action define_import(CLI::App& parser);
Action define_info(CLI::App& parser);
Action define_inspect(CLI::App& parser);
Action define_links(CLI::App& parser);
Action define_merge(CLI::App& parser);
Action define_page(CLI::App& parser);
Action define_pages(CLI::App& parser);
Action define_pins(CLI::App& parser);
Action define_plan(CLI::App& parser);
Action define_rollback(CLI::App& parser);
Action define_seen(CLI::App& parser);
Action define_segments(CLI::App& parser);
Action define_snapshot(CLI::App& parser);
Action define_verify(CLI::App& parser);

}  // namespace crawlstore::cli
