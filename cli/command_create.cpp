// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <crawlstore/pages.h>
#include <crawlstore/shard.h>
#include <crawlstore/url_seen.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "model/drum_plan.h"
#include "model/parse_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kBucketsMax = 65536;
constexpr std::uint64_t kKeysMax = std::uint64_t{1} << 40;
constexpr std::uint64_t kMemoryMin = 64 * 1024;

struct CreateVerbOptions {
  std::string path;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> expect_keys;
  std::optional<std::uint64_t> buckets;
  std::optional<std::uint64_t> key_seed;
  std::optional<UrlKeyKind> url_key;
  CreateOptions create;
  Shard shard;
  bool content_index = false;
  bool quiet = false;
};

/// Returns the count that `plan` gives; 0, the library's choice, where nothing is known or nothing
/// can be planned.
std::uint32_t planned_buckets(const UrlSeen::Options& made) {
  model::DrumForecast forecast;
  forecast.key_count = made.drum.expected_keys;
  forecast.memory_bytes = made.drum.memory_bytes;
  if (made.key == UrlKeyKind::kXxh3Wide) forecast.key_bytes = 16;
  const auto plan = model::plan_drum(forecast);
  return plan ? plan->bucket_count : 0;
}

/// Made now when somebody said how.
Result<void> make_url_drum(Store& store, const CreateVerbOptions& options) {
  if (!options.buckets && !options.expect_keys && !options.url_key) return {};
  UrlSeen::Options made;
  made.key = options.url_key;
  made.drum.expected_keys = options.expect_keys.value_or(0);
  made.drum.memory_bytes = options.memory_bytes.value_or(default_memory_bytes());
  made.drum.bucket_count =
      options.buckets ? static_cast<std::uint32_t>(*options.buckets) : planned_buckets(made);
  CRAWLSTORE_TRY(auto urls, UrlSeen::open(store, "urls", made));
  return urls.drum().close();
}

Result<void> make_page_database(Store& store, const CreateVerbOptions& options) {
  if (!options.content_index) return {};
  PagesOptions made;
  made.content_index = true;
  CRAWLSTORE_TRY(auto pages, PageDb::open(store, PageDb::kDefaultName, made));
  return pages.close();
}

int run(CreateVerbOptions& options) {
  if (!options.shard.is_alone() && !options.key_seed) {
    return fail_with("create: --shard needs --key-seed, the same for all shards of the crawl",
                     kExitUsage);
  }
  const auto time_us = source_date_us();
  if (!time_us) return fail_with(options.path, time_us.error());
  options.create.time_us = *time_us;
  options.create.key_seed = options.key_seed;
  auto store = create_shard(options.path, options.shard, options.create);
  if (!store) return fail_with(options.path, store.error());
  const Uuid uuid = store->uuid();
  auto made = make_url_drum(*store, options);
  if (made) made = make_page_database(*store, options);
  if (made) made = store->close();
  if (!made) return fail_with(options.path, made.error());
  if (!options.quiet) {
    note(fmt::format("{}: created, uuid {}", options.path, to_string(uuid)));
  }
  return kExitDone;
}

}  // namespace

Action define_create(Parser& parser) {
  auto options = std::make_shared<CreateVerbOptions>();
  parser.footer(
      "Never overwrites: exit code 1 when FILE exists. The DRUM `urls` is made by the first `seen` "
      "or `import`, or here and now when --expect-keys, --buckets or --url-key say how. With "
      "--uuid, --key-seed and SOURCE_DATE_EPOCH the same operations give the same bytes.");
  add_file(parser, options->path);
  add_bytes(
      parser, "--memory", options->memory_bytes,
      "budget that `seen` and `import` will have; with --expect-keys it decides on the buckets "
      "(default: a quarter of what the cgroup, ulimit and the machine allow)",
      kMemoryMin);
  add_count(parser, "--expect-keys", options->expect_keys,
            "how many different URLs will come, about: `plan` says what follows", {1, kKeysMax});
  add_count(
      parser, "--buckets", options->buckets,
      "buckets of the DRUM `urls` (default: from the two above; without --expect-keys from the "
      "memory of the first `seen` or `import`)",
      {1, kBucketsMax});
  const auto parse_uuid = [options](const std::string& text) {
    options->create.uuid = model::parse_uuid(text);
    return std::string(options->create.uuid ? "" : "32 hexadecimal digits");
  };
  parser.parsed("--uuid UUID", parse_uuid, "default: random");
  const auto parse_key = [options](const std::string& text) {
    if (text == "xxh3-64") options->url_key = UrlKeyKind::kXxh3;
    if (text == "xxh3-128") options->url_key = UrlKeyKind::kXxh3Wide;
    if (text == "rabin") options->url_key = UrlKeyKind::kRabin;
    return std::string();
  };
  parser
      .parsed(
          "--url-key KIND", parse_key,
          "what URLs are known by: xxh3-64 (default), 8 bytes; xxh3-128, 16 bytes, for whoever "
          "wants no false duplicate among billions; rabin, 8 bytes without a seed, for exchange "
          "with systems that use it")
      .one_of({"xxh3-64", "xxh3-128", "rabin"});
  add_count(parser, "--key-seed", options->key_seed,
            "seed of the URL keys (default: random; a known seed lets a hostile site aim)");
  const auto parse_shard_of = [options](const std::string& text) {
    const auto shard = parse_shard(text);
    options->shard = shard.value_or(Shard());
    return std::string(shard ? "" : "I/N, as 0/4 for the first of four shards");
  };
  parser.parsed("--shard I/N", parse_shard_of,
                "the file is shard I, from 0 on, of a crawl on N machines: pages of hosts that "
                "other shards have are known there and not crawled; needs --key-seed");
  parser.flag(
      "--content-index", options->content_index,
      "make the page database `pages` now, with an index of contents: `page --content` and "
      "`links --content` find copies without reading all records; up to 15 bytes a page. Its "
      "pages have URLs, normalised by the rules of `import` without --raw");
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
