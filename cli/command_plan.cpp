// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "cli/page_source.h"
#include "cli/verb.h"
#include "model/drum_plan.h"
#include "model/pages_plan.h"
#include "model/plan_view.h"

namespace crawlstore::cli {
namespace {

struct PlanOptions {
  std::optional<std::uint64_t> pages;
  std::optional<std::uint64_t> links;
  PageSourceOptions like;  // no path: the usual figures
  std::optional<std::uint64_t> keys;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> requests;
  std::optional<std::uint64_t> buckets;
  std::optional<std::uint64_t> aux_bytes;
  std::optional<std::uint64_t> value_bytes;
  std::optional<std::uint64_t> key_bytes;
  std::optional<std::uint64_t> disk_read;
  std::optional<std::uint64_t> disk_write;
  bool as_json = false;
};

int plan_pages(const PlanOptions& options) {
  const std::uint64_t pages = options.pages.value_or(0);
  const std::uint64_t links = options.links.value_or(0);
  if (options.like.path.empty()) {
    return print_document(model::pages_plan_view(pages, links, model::usual_figures()),
                          options.as_json);
  }
  int code = kExitDone;
  const auto view = open_pages(options.like, code);
  if (!view) return code;
  if (view->info().page_count == 0) {
    return fail_with("plan: --like names a crawl that has no pages", kExitUsage);
  }
  const auto figures = model::figures_of(*view);
  if (!figures) return fail_with(options.like.path, figures.error());
  return print_document(model::pages_plan_view(pages, links, *figures), options.as_json);
}

int run(const PlanOptions& options) {
  if (options.pages) return plan_pages(options);
  if (!options.keys) {
    return fail_with("plan: --keys N plans a DRUM, --pages N --links M a page database",
                     kExitUsage);
  }
  model::DrumForecast forecast;
  forecast.key_count = *options.keys;
  forecast.memory_bytes = options.memory_bytes.value_or(default_memory_bytes());
  forecast.request_count = options.requests.value_or(0);
  forecast.bucket_count = static_cast<std::uint32_t>(options.buckets.value_or(0));
  forecast.aux_bytes = options.aux_bytes.value_or(0);
  forecast.value_bytes = options.value_bytes.value_or(0);
  forecast.key_bytes = static_cast<std::uint32_t>(options.key_bytes.value_or(8));
  forecast.disk_read_bytes_per_second =
      options.disk_read.value_or(forecast.disk_read_bytes_per_second);
  forecast.disk_write_bytes_per_second =
      options.disk_write.value_or(forecast.disk_write_bytes_per_second);
  const auto plan = model::plan_drum(forecast);
  if (!plan) return fail_with("plan", plan.error());
  return print_document(model::plan_view(forecast, *plan), options.as_json);
}

}  // namespace

Action define_plan(Parser& parser) {
  auto options = std::make_shared<PlanOptions>();
  constexpr std::uint64_t kBucketsMax = 65536;
  constexpr std::uint64_t kPagesOrLinksMax = std::uint64_t{1} << 40;
  parser.footer(
      "With --pages: the sizes of keys, origins (URLs and first linkers), records and links of "
      "so many pages, before and after `compact`. They follow the figures of a crawl of "
      "documentation, or those of a crawl of your own with --like FILE. Until `compact` the file "
      "has free space in addition; while `compact` runs, it holds both. Scores take 4 bytes a "
      "page and array more, a queue about 5 a page.\n"
      "With --keys: follows the merges of such a DRUM with amounts in place of keys. Bytes and "
      "passes are good to a tenth when keys are hashed and the share of new ones stays the same. "
      "Times are good to a factor of two, and seconds are those of two cores. `create "
      "--expect-keys` makes what is planned here.");
  const auto pages = add_count(parser, "--pages", options->pages,
                               "how many pages will come, up to 2^40, as many as there can be",
                               {1, kPagesOrLinksMax});
  add_count(parser, "--links", options->links, "how many links between them, up to 2^40",
            {0, kPagesOrLinksMax})
      .needs(pages);
  const auto like =
      parser
          .text(
              "--like FILE", options->like.path,
              "sizes of pages and links as in this crawl file (default: a crawl of documentation)")
          .needs(pages);
  add_database(parser, options->like.database, "the page database of --like").needs(like);
  const auto keys =
      add_count(parser, "--keys", options->keys, "how many different keys will come", {1})
          .excludes(pages);
  add_memory(parser, options->memory_bytes).needs(keys);
  add_count(parser, "--requests", options->requests,
            "how many requests, repeats included (default: four times the keys)", {1})
      .needs(keys);
  add_count(parser, "--buckets", options->buckets, "plan for this many instead of choosing",
            {1, kBucketsMax})
      .needs(keys);
  add_bytes(parser, "--aux", options->aux_bytes, "bytes of a request's auxiliary (default: none)")
      .needs(keys);
  add_bytes(parser, "--value", options->value_bytes, "bytes of a key's value (default: none)")
      .needs(keys);
  add_count(parser, "--key-bytes", options->key_bytes, "length of keys: 8 (default) or 16", {8, 16})
      .needs(keys);
  add_bytes(parser, "--disk-read", options->disk_read,
            "what the disk reads a second (default: 500MB)", 1)
      .needs(keys);
  add_bytes(parser, "--disk-write", options->disk_write,
            "what the disk writes a second (default: 200MB)", 1)
      .needs(keys);
  add_json(parser, options->as_json);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
