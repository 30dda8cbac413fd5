// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <crawlstore/page_key.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/page_source.h"
#include "cli/verb.h"
#include "model/json.h"
#include "model/page_rows.h"

namespace crawlstore::cli {
namespace {

struct Options {
  PageSourceOptions source;
  std::string page;
  bool incoming = false;
  bool only_other_hosts = false;
  bool as_json = false;
};

void append_name(std::string& to, std::uint64_t index, std::string_view url, bool as_json) {
  if (as_json) {
    fmt::format_to(std::back_inserter(to), "\"index\":{},", index);
    model::append_json_bytes(to, "url", url);
  } else {
    fmt::format_to(std::back_inserter(to), "#{}\t{}\n", index, model::shown_url(url));
  }
}

Result<void> print_links(const PageView& view, std::uint64_t page, const Options& options,
                         OutputFile& output) {
  CRAWLSTORE_TRY(const auto links, options.incoming ? view.in_links(page) : view.out_links(page));
  CRAWLSTORE_TRY(const auto page_url, view.url(page));
  std::string& tail = output.tail();
  if (options.as_json) {
    tail += '{';
    append_name(tail, page, page_url, true);
    tail += options.incoming ? ",\"direction\":\"in\",\"links\":["
                             : ",\"direction\":\"out\",\"links\":[";
  }
  bool is_first = true;
  for (const std::uint64_t link : links) {
    CRAWLSTORE_TRY(const auto url, view.url(link));
    if (options.only_other_hosts && url_host(url) == url_host(page_url)) continue;
    if (options.as_json) tail += is_first ? "\n  {" : ",\n  {";
    append_name(tail, link, url, options.as_json);
    if (options.as_json) tail += '}';
    is_first = false;
    CRAWLSTORE_TRY(output.room());
  }
  if (options.as_json) tail += is_first ? "]}\n" : "\n]}\n";
  return output.finish();
}

int run(const Options& options) {
  int code = kExitDone;
  const auto view = open_pages(options.source, code);
  if (!view) return code;
  if (options.only_other_hosts && !check_has_urls(*view, options.source, "--other-hosts")) {
    return kExitUsage;
  }
  const auto page = choose_page(*view, options.source, options.page, code);
  if (!page) return code;
  auto output = OutputFile::open("");
  if (!output) return fail_with("standard output", output.error());
  const auto printed = print_links(*view, *page, options, *output);
  return printed ? kExitDone : fail_with(options.source.path, printed.error());
}

}  // namespace

Action define_links(Parser& parser) {
  auto options = std::make_shared<Options>();
  parser.footer(
      "#INDEX TAB URL a line, ascending. Exit code 1 when there is no such page. A URL with "
      "controls "
      "is escaped; with --json bytes that are no UTF-8 come as hexadecimal digits in `url_hex` "
      "instead of `url`.");
  add_page_source(parser, options->source);
  parser.text("PAGE", options->page, "a URL, or #INDEX (in quotes, for the shell)").required();
  const auto in = parser.flag("--in", options->incoming, "the pages that link to it");
  parser
      .flag(
          "--out", [] {}, "the pages that it links to (default)")
      .excludes(in);
  parser.flag("--other-hosts", options->only_other_hosts, "only links from host to host");
  add_json(parser, options->as_json);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
