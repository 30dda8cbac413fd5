// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include <crawlstore/values.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/table_form.h"
#include "cli/verb.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

struct ValuesOptions {
  std::string path;
  std::string name;
  std::optional<std::string> text;  // to be set
  bool removes = false;
  double lock_wait_seconds = 0;
  TableForm form;
};

int fail_without_value(const ValuesOptions& options) {
  return fail_with(
      fmt::format("{}: there is no small value `{}`", model::format_printable(options.path),
                  model::format_printable(options.name)),
      kExitNo);
}

/// Prints the value of the name, or all if it is empty.
int show(const ValuesOptions& options, const std::string& wanted) {
  const auto snapshot = open_snapshot(options.path, false);
  if (!snapshot) return fail_with(options.path, snapshot.error());
  const auto values = read_values(*snapshot);
  if (!values) return fail_with(options.path, values.error());
  model::Table table{"values",
                     {{"name", model::Unit::kText},
                      {"value_bytes", model::Unit::kBytes},
                      {"text", model::Unit::kText}},
                     {}};
  for (const auto& [name, bytes] : *values) {
    if (!wanted.empty() && name != wanted) continue;
    std::string text;
    for (const std::byte byte : bytes) text += static_cast<char>(byte);
    table.rows.push_back({name, std::uint64_t{bytes.size()}, std::move(text)});
  }
  if (!wanted.empty() && table.rows.empty()) return fail_without_value(options);
  return print_document({{}, {std::move(table)}}, options.form);
}

/// Sets a value or removes it.
int change(const ValuesOptions& options) {
  auto store = open_store(options.path, options.lock_wait_seconds);
  if (!store) return fail_with(options.path, store.error());
  if (options.removes) {
    const auto removed = store->remove(options.name);
    if (!removed) return fail_with(options.path, removed.error());
    if (!*removed) return fail_without_value(options);
  } else if (const auto set = store->set(options.name, std::as_bytes(std::span(*options.text)));
             !set) {
    return fail_with(options.path, set.error());
  }
  const auto closed = store->close();
  return closed ? kExitDone : fail_with(options.path, closed.error());
}

int run(const ValuesOptions& options) {
  if (!options.removes && !options.text) return show(options, options.name);
  const int changed = change(options);
  return changed == kExitDone ? show(options, {}) : changed;
}

}  // namespace

Action define_values(Parser& parser) {
  auto options = std::make_shared<ValuesOptions>();
  parser.footer(
      "Small values are counters and states that a program keeps in the file under names, with "
      "what it crawls: at most 1,024 of at most 4 KiB. After a change all are printed. Exit code 1 "
      "when there is none of the name.");
  add_file(parser, options->path);
  const auto name = parser.text("NAME", options->name, "the name of one value");
  const auto keep = [options = options.get()](const std::string& text) {
    options->text = text;
    return std::string();
  };
  const auto set = parser.parsed("--set TEXT", keep, "set the value to TEXT").needs(name);
  parser.flag("--remove", options->removes, "remove the value").needs(name).excludes(set);
  add_lock_wait(parser, options->lock_wait_seconds);
  add_table_form(parser, options->form);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
