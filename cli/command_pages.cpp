// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/console.h"
#include "cli/content_groups.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/page_selection.h"
#include "cli/page_source.h"
#include "cli/progress.h"
#include "cli/score_source.h"
#include "cli/table_form.h"
#include "cli/verb.h"
#include "model/domain_rows.h"
#include "model/host_rows.h"
#include "model/json.h"
#include "model/page_fields.h"

namespace crawlstore::cli {
namespace {

struct PagesVerbOptions {
  PageSourceOptions source;
  PageSelection selection;
  std::string scores;    // the array to sort by; empty: a column
  std::string grouping;  // "host", "domain", "content"; empty: a row a page
  TableForm form;
  bool quiet = false;
};

/// The score of a page in the array that pages are sorted by.
Result<std::optional<model::NamedScore>> score_of(const PageSelection& selection,
                                                  std::uint64_t index) {
  if (!selection.scores) return std::nullopt;
  CRAWLSTORE_TRY(const auto value, selection.scores->score(index));
  return model::NamedScore{selection.scores->info().name, value};
}

/// With --json an error ends the document where it comes up.
Result<void> print_pages(const PageView& view, const PagesVerbOptions& options,
                         const model::TableLines& lines, OutputFile& output) {
  std::string& tail = output.tail();
  const bool as_json = options.form.as_json;
  bool is_first = true;
  if (as_json) {
    tail += "{\n  \"pages\": [";
  } else {
    lines.append_header(tail);
  }
  std::optional<ProgressBar> bar(std::in_place, "pages", model::Unit::kCount, "pages",
                                 options.quiet);  // until there are rows
  const auto look = [&bar](std::uint64_t done, std::uint64_t total) {
    if (bar) bar->update_of(done, total);
  };
  const auto shown =
      for_each_selected(view, options.selection, look, [&](const PageInfo& page) -> Result<void> {
        bar.reset();
        CRAWLSTORE_TRY(const auto score, score_of(options.selection, page.index));
        if (as_json) {
          tail += is_first ? "\n    " : ",\n    ";
          model::append_page_json(tail, page, score);
        } else {
          lines.append_row(tail, model::page_cells(page, score));
        }
        is_first = false;
        return output.room();
      });
  if (as_json) {
    std::string damaged;
    if (options.source.skips_damaged) append_gaps_json(damaged, gaps_of(view));
    model::append_json_list_end(tail, is_first, shown, damaged);
  }
  if (!shown && !as_json) return shown;
  const auto written = output.finish();
  return shown ? written : shown;
}

/// Hosts or domains with how much there is of each.
int print_groups(const PageView& view, const PagesVerbOptions& options) {
  const auto hosts = [&] {
    ProgressBar bar("pages", model::Unit::kCount, "steps", options.quiet);
    return model::hosts_table(view, [&bar](std::uint64_t done, std::uint64_t total) {
      bar.update_of(done, total);
      return true;
    });
  }();
  if (!hosts) return fail_with(options.source.path, hosts.error());
  model::Table table = model::with_domains(*hosts);
  if (const auto& domain = options.selection.domain) {
    std::erase_if(table.rows, [&domain](const auto& row) {
      return std::get<std::string>(row[1]) != *domain;  // behind `host`
    });
  }
  if (options.grouping == "domain") table = model::domains_table(table);
  model::sort_by_page_count(table);
  const auto limit = options.selection.limit.value_or(table.rows.size());
  if (limit < table.rows.size()) table.rows.resize(limit);
  return print_document({{}, {std::move(table)}}, options.form);
}

/// Contents with how many pages have each.
int print_contents(const PageView& view, const PagesVerbOptions& options) {
  int code = kExitDone;
  const auto lines = choose_lines(content_groups_columns(), options.form, code);
  if (!lines) return code;
  auto output = OutputFile::open("");
  if (!output) return fail_with("standard output", output.error());
  std::optional<ProgressBar> bar(std::in_place, "contents", model::Unit::kCount, "pages",
                                 options.quiet);
  ContentGroupsOptions groups{options.form, options.selection.limit, {}};
  groups.progress = [&bar](std::uint64_t done, std::uint64_t total) {
    bar->update_of(done, total);
    return true;
  };
  const auto printed = print_content_groups(view, groups, *lines, *output);
  bar.reset();
  return printed ? kExitDone : fail_unread(options.source, printed.error());
}

int run(PagesVerbOptions& options) {
  int code = kExitDone;
  const auto view = open_pages(options.source, code);
  if (!view) return code;
  PageSelection& selection = options.selection;
  if (selection.pattern && !check_has_urls(*view, options.source, "--match")) return kExitUsage;
  if (selection.host && !check_has_urls(*view, options.source, "--host")) return kExitUsage;
  if (selection.domain && !check_has_urls(*view, options.source, "--domain")) return kExitUsage;
  selection.goes_past_damage = options.source.skips_damaged;
  if (selection.goes_past_damage && !options.grouping.empty()) {
    return fail_with("pages: --skip-damaged does not go with --by, whose counts it would falsify",
                     kExitUsage);
  }
  if (options.grouping == "content") {
    if (!selection.domain) return print_contents(*view, options);
    return fail_with("pages: --domain does not go with --by content", kExitUsage);
  }
  if (!options.grouping.empty()) {
    return check_has_urls(*view, options.source, "--by") ? print_groups(*view, options)
                                                         : kExitUsage;
  }
  if (!options.scores.empty()) {
    selection.scores =
        open_scores(*view, options.source, {options.scores, "--sort score:NAME"}, code);
    if (!selection.scores) return code;
  }
  std::optional<model::NamedScore> heading;
  if (selection.scores) heading = model::NamedScore{options.scores, {}};
  const auto lines = choose_lines(model::page_columns(heading), options.form, code);
  if (!lines) return code;
  auto output = OutputFile::open("");
  if (!output) return fail_with("standard output", output.error());
  const auto printed = print_pages(*view, options, *lines, *output);
  if (!printed) return fail_unread(options.source, printed.error());
  return tell_gaps(gaps_of(*view), options.source);
}

Option add_host(Parser& parser, PageSelection& selection) {
  const auto parse = [&selection](const std::string& text) {
    selection.host = normalised_host(text);
    return selection.host ? std::string() : "a host, without a port: " + text;
  };
  return parser.parsed("--host H", parse, "only pages of this host; reads these alone");
}

Option add_domain(Parser& parser, PageSelection& selection) {
  const auto parse = [&selection](const std::string& text) {
    std::string problem;
    selection.domain = parse_domain(text, problem);
    return problem;
  };
  return parser.parsed(
      "--domain D", parse,
      "only pages of all hosts of this registered domain, such as example.co.uk; reads all "
      "keys, and of other hosts one URL");
}

void add_selection(Parser& parser, PagesVerbOptions& options) {
  PageSelection& selection = options.selection;
  const auto parse_pattern = [&selection](const std::string& text) {
    std::string problem;
    selection.pattern = UrlPattern::parse(text, problem);
    return problem;
  };
  const auto match =
      parser.parsed("--match REGEX", parse_pattern,
                    "a regular expression (RE2) that finds something in the URL, in bytes; "
                    "cases differ");
  const auto host = add_host(parser, selection);
  add_domain(parser, selection).excludes(host);
  auto columns = model::page_column_names();
  const std::string listed = fmt::format("{}", fmt::join(columns, ", "));
  columns.emplace_back("score:");
  const auto parse_column = [&options, listed](const std::string& text) {
    constexpr std::string_view kScores = "score:";
    if (text.starts_with(kScores)) {
      options.scores = text.substr(kScores.size());
      return options.scores.empty() ? "score:NAME has a name" : std::string();
    }
    const auto column = model::find_page_column(text);
    if (!column) return "one of " + listed + ", score:NAME";
    options.selection.column = *column;
    return std::string();
  };
  const auto sort =
      parser
          .parsed("--sort COLUMN", parse_column,
                  "smallest first by a column of the page (default: index), or highest first by "
                  "score:NAME, scores that `crawlstore rank` made; ties by index")
          .offers(columns);
  const auto reverse =
      parser.flag("--reverse", selection.descending, "largest first; with score:NAME lowest first");
  add_count(parser, "--limit", selection.limit, "so many rows at most");
  parser
      .text("--by host|domain|content", options.grouping,
            "a row a host, a registered domain, or a content, with counts; most pages first, of as "
            "many the lower hash. Contents go without --domain and --skip-damaged")
      .one_of({"host", "domain", "content"})
      .excludes(match)
      .excludes(host)
      .excludes(sort)
      .excludes(reverse);
}

}  // namespace

Action define_pages(Parser& parser) {
  auto options = std::make_shared<PagesVerbOptions>();
  parser.footer(
      "A line a page, or with --by a line a host, domain or content. Takes memory to sort: a key "
      "for each page that matches, with --limit N for N of them; and 8 bytes for each page of a "
      "host or domain. By score:NAME a column of this name is added, and pages that came since "
      "the scores were computed, which have none (-; null in JSON), are last. Controls in a URL "
      "are shown as \\xNN; with --json bytes that are no UTF-8 come as hexadecimal digits in "
      "`url_hex` instead of `url`. Registered domains are those of the newest list of public "
      "suffixes that the system has.");
  add_page_source(parser, options->source);
  add_skip_damaged(parser, options->source);
  add_selection(parser, *options);
  add_table_form(parser, options->form);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
