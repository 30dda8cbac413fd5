// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <crawlstore/page_key.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/page_source.h"
#include "cli/table_form.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/json.h"

namespace crawlstore::cli {
namespace {

struct LinksOptions {
  PageSourceOptions source;
  std::string page;
  bool incoming = false;
  bool only_other_hosts = false;
  std::optional<std::uint64_t> limit;
  TableForm form;
};

void append_json_name(std::string& to, std::uint64_t index, std::string_view url) {
  fmt::format_to(std::back_inserter(to), "\"index\":{},", index);
  model::append_json_bytes(to, "url", url);
}

/// Calls `visit`, which can fail, for each link that is meant.
template <class Visit>
Result<void> for_each_link(const PageView& view, std::uint64_t page, const LinksOptions& options,
                           const Visit& visit) {
  CRAWLSTORE_TRY(const auto links, options.incoming ? view.in_links(page) : view.out_links(page));
  CRAWLSTORE_TRY(const auto page_url, view.url(page));
  std::uint64_t left = options.limit.value_or(links.size());
  for (auto link = links.begin(); link != links.end() && left != 0; ++link) {
    CRAWLSTORE_TRY(const auto url, view.url(*link));
    if (options.only_other_hosts && url_host(url) == url_host(page_url)) continue;
    CRAWLSTORE_TRY(visit(*link, url));
    --left;
  }
  return {};
}

Result<void> print_json(const PageView& view, std::uint64_t page, const LinksOptions& options,
                        OutputFile& output) {
  CRAWLSTORE_TRY(const auto page_url, view.url(page));
  std::string& tail = output.tail();
  tail += '{';
  append_json_name(tail, page, page_url);
  tail +=
      options.incoming ? ",\"direction\":\"in\",\"links\":[" : ",\"direction\":\"out\",\"links\":[";
  bool is_first = true;
  CRAWLSTORE_TRY(
      for_each_link(view, page, options, [&](std::uint64_t link, const std::string& url) {
        tail += is_first ? "\n  {" : ",\n  {";
        append_json_name(tail, link, url);
        tail += '}';
        is_first = false;
        return output.room();
      }));
  tail += is_first ? "]" : "\n]";
  if (options.source.skips_damaged) append_gaps_json(tail, gaps_of(view));
  tail += "}\n";
  return output.finish();
}

Result<void> print_lines(const PageView& view, std::uint64_t page, const LinksOptions& options,
                         const model::TableLines& lines, OutputFile& output) {
  const bool is_table = options.form.is_table_only();
  std::string& tail = output.tail();
  if (is_table) lines.append_header(tail);
  CRAWLSTORE_TRY(
      for_each_link(view, page, options, [&](std::uint64_t link, const std::string& url) {
        if (is_table) {
          lines.append_row(tail, {link, url});
        } else {
          fmt::format_to(std::back_inserter(tail), "#{}\t{}\n", link, model::format_line(url));
        }
        return output.room();
      }));
  return output.finish();
}

int run(const LinksOptions& options) {
  int code = kExitDone;
  const auto view = open_pages(options.source, code);
  if (!view) return code;
  if (options.only_other_hosts && !check_has_urls(*view, options.source, "--other-hosts")) {
    return kExitUsage;
  }
  const auto page = choose_page(*view, options.source, options.page, code);
  if (!page) return code;
  const auto lines =
      choose_lines({{"index", model::Unit::kId}, {"url", model::Unit::kText}}, options.form, code);
  if (!lines) return code;
  auto output = OutputFile::open("");
  if (!output) return fail_with("standard output", output.error());
  const auto printed = options.form.as_json ? print_json(*view, *page, options, *output)
                                            : print_lines(*view, *page, options, *lines, *output);
  if (!printed) return fail_unread(options.source, printed.error());
  return tell_gaps(gaps_of(*view), options.source);
}

}  // namespace

Action define_links(Parser& parser) {
  auto options = std::make_shared<LinksOptions>();
  parser.footer(
      "#INDEX TAB URL a line, ascending. Exit code 1 when there is no such page. A URL with "
      "controls "
      "is escaped; with --json bytes that are no UTF-8 come as hexadecimal digits in `url_hex` "
      "instead of `url`.");
  add_page_source(parser, options->source);
  add_skip_damaged(parser, options->source);
  parser.text("PAGE", options->page, "a URL, or #INDEX (in quotes, for the shell)").required();
  const auto in = parser.flag("--in", options->incoming, "the pages that link to it");
  parser
      .flag(
          "--out", [] {}, "the pages that it links to (default)")
      .excludes(in);
  parser.flag("--other-hosts", options->only_other_hosts, "only links from host to host");
  add_count(parser, "--limit", options->limit, "so many links at most");
  add_table_form(parser, options->form);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
