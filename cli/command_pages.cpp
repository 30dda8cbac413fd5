// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/page_selection.h"
#include "cli/page_source.h"
#include "cli/verb.h"
#include "model/page_rows.h"

namespace crawlstore::cli {
namespace {

struct Options {
  PageSourceOptions source;
  PageSelection selection;
  bool as_json = false;
};

Result<void> print_pages(const PageView& view, const Options& options, OutputFile& output) {
  std::string& tail = output.tail();
  bool is_first = true;
  tail += options.as_json ? "{\n  \"pages\": [" : model::page_line_header();
  CRAWLSTORE_TRY(for_each_selected(view, options.selection, [&](const PageInfo& page) {
    if (options.as_json) {
      tail += is_first ? "\n    " : ",\n    ";
      model::append_page_json(tail, page);
    } else {
      model::append_page_line(tail, page);
    }
    is_first = false;
    return output.room();
  }));
  if (options.as_json) tail += is_first ? "]\n}\n" : "\n  ]\n}\n";
  return output.finish();
}

int run(const Options& options) {
  int code = kExitDone;
  const auto view = open_pages(options.source, code);
  if (!view) return code;
  const PageSelection& selection = options.selection;
  if (selection.pattern && !check_has_urls(*view, options.source, "--match")) return kExitUsage;
  if (selection.host && !check_has_urls(*view, options.source, "--host")) return kExitUsage;
  auto output = OutputFile::open("");
  if (!output) return fail_with("standard output", output.error());
  const auto printed = print_pages(*view, options, *output);
  return printed ? kExitDone : fail_with(options.source.path, printed.error());
}

void add_selection(CLI::App& parser, PageSelection& selection) {
  const auto parse_pattern = [&selection](const std::string& text) {
    std::string problem;
    selection.pattern = UrlPattern::parse(text, problem);
    if (!selection.pattern) throw CLI::ValidationError("--match", problem);
  };
  parser
      .add_option_function<std::string>("--match", parse_pattern,
                                        "a regular expression (RE2) that finds something in the "
                                        "URL, in bytes; cases differ")
      ->type_name("REGEX");
  const auto parse_host = [&selection](const std::string& text) {
    selection.host = normalised_host(text);
    if (!selection.host) {
      throw CLI::ValidationError("--host", "a host, without a port: " + text);
    }
  };
  parser
      .add_option_function<std::string>("--host", parse_host,
                                        "only pages of this host; reads these alone")
      ->type_name("H");
  const auto parse_column = [&selection](const std::string& text) {
    const auto column = model::find_page_column(text);
    if (!column) throw CLI::ValidationError("--sort", "one of " + model::page_column_names());
    selection.column = *column;
  };
  parser
      .add_option_function<std::string>(
          "--sort", parse_column,
          "smallest first by " + model::page_column_names() + " (default: index); ties by index")
      ->type_name("COLUMN");
  parser.add_flag("--reverse", selection.descending, "largest first");
  add_count(parser, "--limit", selection.limit, "so many pages at most");
}

}  // namespace

Action define_pages(CLI::App& parser) {
  auto options = std::make_shared<Options>();
  parser.footer(
      "A line a page. Takes memory only to sort: a key for each page that matches, with --limit N "
      "for N of them. Controls in a URL are shown as \\xNN; with --json bytes that are no UTF-8 "
      "come "
      "as hexadecimal digits in `url_hex` instead of `url`.");
  add_page_source(parser, options->source);
  add_selection(parser, options->selection);
  add_json(parser, options->as_json);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
