// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <crawlstore/url_seen.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/memory_limit.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "model/parse_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kBucketsMax = 65536;

struct Options {
  std::string path;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> expect_keys;
  std::optional<std::uint64_t> buckets;
  std::optional<std::uint64_t> key_seed;
  CreateOptions create;
  bool quiet = false;
};

/// So many buckets that a merge of one, keys and as many requests of 16 bytes, fits the memory; a
/// power of two. They split by themselves where that turns out too few. 0: no plan was asked for.
std::uint32_t bucket_count(const Options& options) {
  if (options.buckets) return static_cast<std::uint32_t>(*options.buckets);
  if (!options.expect_keys) return 0;
  const std::uint64_t least = DrumOptions{}.bucket_count;
  constexpr std::uint64_t kBytesPerKey = 24;
  const std::uint64_t memory = options.memory_bytes.value_or(default_memory_bytes());
  const std::uint64_t keys_per_bucket = std::max<std::uint64_t>(memory / kBytesPerKey, 1);
  const std::uint64_t wanted = std::min(*options.expect_keys / keys_per_bucket + 1, kBucketsMax);
  return static_cast<std::uint32_t>(std::max(least, std::bit_ceil(wanted)));
}

Result<void> make_url_drum(Store& store, std::uint32_t buckets) {
  UrlSeen::Options options;
  options.drum.bucket_count = buckets;
  auto urls = UrlSeen::open(store, "urls", options);
  if (!urls) return tl::unexpected<Error>(urls.error());
  return urls->drum().dispose();
}

int run(Options& options) {
  const auto time_us = source_date_us();
  if (!time_us) return fail_with(options.path, time_us.error());
  options.create.time_us = *time_us;
  options.create.key_seed = options.key_seed;
  auto store = Store::create(options.path, options.create);
  if (!store) return fail_with(options.path, store.error());
  const std::uint32_t buckets = bucket_count(options);
  const Uuid uuid = store->uuid();
  auto made = buckets == 0 ? Result<void>{} : make_url_drum(*store, buckets);
  if (made) made = store->close();
  if (!made) return fail_with(options.path, made.error());
  if (!options.quiet) {
    note(fmt::format("{}: created, uuid {}", options.path, to_string(uuid)));
  }
  return kExitDone;
}

}  // namespace

Action define_create(CLI::App& parser) {
  auto options = std::make_shared<Options>();
  parser.footer(
      "Never overwrites: exit code 1 when FILE exists. The DRUM `urls` is made by the first `seen` "
      "or `import`, or here and now when --expect-keys or --buckets say for how many keys. With "
      "--uuid, --key-seed and SOURCE_DATE_EPOCH the same operations give the same bytes.");
  add_file(parser, options->path);
  add_bytes(parser, "--memory", options->memory_bytes,
            "memory that merges will have; with --expect-keys it decides on the buckets "
            "(default: a quarter of what the cgroup or the machine allows)");
  add_count(parser, "--expect-keys", options->expect_keys, "how many URLs will come, about");
  add_count(parser, "--buckets", options->buckets,
            "buckets of the DRUM `urls` (default: from the two above; 16 without them)",
            {1, kBucketsMax});
  const auto parse_uuid = [options](const std::string& text) {
    options->create.uuid = model::parse_uuid(text);
    if (!options->create.uuid) throw CLI::ValidationError("--uuid", "32 hexadecimal digits");
  };
  parser.add_option_function<std::string>("--uuid", parse_uuid, "default: random")
      ->type_name("UUID");
  add_count(parser, "--key-seed", options->key_seed,
            "seed of the URL keys (default: random; a known seed lets a hostile site aim)");
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
