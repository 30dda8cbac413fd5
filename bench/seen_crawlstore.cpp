// SPDX-License-Identifier: Apache-2.0
//
// crawlstore's DRUM on the URL-seen stream, with all that a user gets: checksums, a commit a merge,
// crash safety at any point. 512 requests are submitted a call. Beside the common options:
// --memory MIB, of all arrays (0: five eighths of the cap, or 256), --buckets N, --recent-keys N,
// --key-bytes 16: the stream's keys with 8 more bytes, which depend on the first; and --drop 1,
// under the name "crawlstore repeats=drop": then repeats that the window knows are not answered,
// and the unique answers must be exactly those of the stream all the same.

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <crawlstore/drum.h>
#include <crawlstore/drum_view.h>

#include "seen_run.h"

namespace crawlstore::bench {
namespace {

constexpr std::uint64_t kSubmitted = 512;

template <class T>
T must(Result<T> result) {
  if (!result) fail(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

using KeyDrum = Drum<std::uint64_t>;
using WideDrum = Drum<Key16>;
using AuxDrum = Drum<std::uint64_t, std::uint64_t, std::string_view>;

std::uint64_t print_of(const KeyDrum::AnswerType& answer) {
  return fingerprint(answer.key);
}
/// The stream's key, made longer.
Key16 widened(std::uint64_t key) {
  return {key, ~key * 0x9E3779B97F4A7C15};
}
std::uint64_t print_of(const WideDrum::AnswerType& answer) {
  return fingerprint(answer.key == widened(answer.key.head) ? answer.key.head : ~answer.key.head);
}
std::uint64_t print_of(const AuxDrum::AnswerType& answer) {
  return fingerprint(answer.key, answer.value, answer.aux);
}

struct Listener {
  Tally& answers;
  void unique_key_update(const auto& answer) { answers.add(true, print_of(answer)); }
  void duplicate_key_update(const auto& answer) { answers.add(false, print_of(answer)); }
};

void submit(KeyDrum& drum, SeenRun& run, std::uint64_t count) {
  std::array<std::uint64_t, kSubmitted> keys{};
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = run.next_key();
  must(drum.check_update(std::span(keys).first(count)));
}

void submit(WideDrum& drum, SeenRun& run, std::uint64_t count) {
  std::array<Key16, kSubmitted> keys{};
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = widened(run.next_key());
  must(drum.check_update(std::span<const Key16>(keys).first(count)));
}

void submit(AuxDrum& drum, SeenRun& run, std::uint64_t count) {
  std::array<SeenRequest, kSubmitted> made;
  std::array<AuxDrum::Request, kSubmitted> requests;
  for (std::uint64_t i = 0; i < count; ++i) {
    made[i] = run.next_request();
    requests[i] = {made[i].key, made[i].value, made[i].aux_text()};
  }
  must(drum.check_update(std::span<const AuxDrum::Request>(requests).first(count)));
}

std::optional<std::uint64_t> find(const KeyDrum& drum, std::uint64_t key) {
  return must(drum.lookup(key)) ? std::optional<std::uint64_t>(0) : std::nullopt;
}
std::optional<std::uint64_t> find(const WideDrum& drum, std::uint64_t key) {
  return must(drum.lookup(widened(key))) ? std::optional<std::uint64_t>(0) : std::nullopt;
}
std::optional<std::uint64_t> find(const AuxDrum& drum, std::uint64_t key) {
  return must(drum.lookup(key));
}

nlohmann::ordered_json own_figures(const Store& store, const DrumStatus& status,
                                   const SeenRun& run) {
  const StorageCounters counters = store.counters().storage;
  const DrumInfo info = must(list_drums(must(store.snapshot()))).front();
  const auto per_op = [&](std::uint64_t count) {
    return static_cast<double>(count) / run.operations();
  };
  return {{"repository_bytes_per_key", info.bytes_per_key()},
          {"storage_read_bytes_per_op", per_op(counters.bytes_read)},
          {"storage_written_bytes_per_op", per_op(counters.bytes_written)},
          {"seeks_per_op", per_op(counters.read_seek_count + counters.write_seek_count)},
          {"syncs", counters.sync_count},
          {"merges", info.merge_count},
          {"buckets", info.bucket_count},
          {"repeats_per_op", per_op(status.repeat_count)},
          {"dropped_per_op", per_op(status.dropped_count)}};
}

template <class SeenDrum>
void measure(const SeenOptions& seen, const DrumOptions& options) {
  std::remove(seen.path.c_str());
  auto store = must(Store::create(seen.path));
  auto drum = must(SeenDrum::open(store, "urls", options));
  SeenRun run(seen);
  Listener listener{run.answers()};
  drum.attach(listener);

  run.start();
  while (const std::uint64_t count = run.take(kSubmitted)) {
    submit(drum, run, count);
    run.step();
  }
  must(drum.merge());
  const DrumStatus status = drum.status();
  run.finish(status.dropped_count);
  const auto own = own_figures(store, status, run);

  run.verify_lookups([&](std::uint64_t key) { return find(drum, key); });
  must(drum.close());
  must(store.close());
  constexpr bool kIsWide = std::is_same_v<SeenDrum, WideDrum>;
  const bool drops = options.repeats == Repeats::kDrop;
  run.print({drops     ? "crawlstore repeats=drop"
             : kIsWide ? "crawlstore, 16-byte keys"
                       : "crawlstore",
             CRAWLSTORE_VERSION,
             fmt::format("{} MiB of arrays, {} buckets to begin with; checksums, a commit a merge",
                         options.memory_bytes >> 20, options.bucket_count),
             allocated_bytes(seen.path)},
            own);
}

void run_driver(std::span<char*> arguments) {
  std::uint64_t memory_mib = 0;
  std::uint64_t buckets = 256;
  std::uint64_t key_bytes = 8;
  DrumOptions options;
  std::uint64_t recent_keys = options.recent_keys;
  std::uint64_t drop = 0;
  const OwnOption own[] = {{"--memory", &memory_mib},
                           {"--buckets", &buckets},
                           {"--key-bytes", &key_bytes},
                           {"--recent-keys", &recent_keys},
                           {"--drop", &drop}};
  const SeenOptions seen = parse_options(arguments, own);
  options.recent_keys = static_cast<std::uint32_t>(recent_keys);
  options.repeats = drop != 0 ? Repeats::kDrop : Repeats::kAnswer;
  if (memory_mib != 0) {
    options.memory_bytes = memory_mib << 20;
  } else if (seen.cap_bytes != 0) {
    options.memory_bytes = seen.cap_bytes / 8 * 5;  // the rest: merges, and the page cache
  } else {
    options.memory_bytes = std::uint64_t{256} << 20;
  }
  options.bucket_count = static_cast<std::uint32_t>(buckets);
  if (seen.has_aux && key_bytes != 8) fail("auxiliaries are measured with 8-byte keys only");
  if (seen.has_aux) {
    measure<AuxDrum>(seen, options);
  } else if (key_bytes == 16) {
    measure<WideDrum>(seen, options);
  } else {
    measure<KeyDrum>(seen, options);
  }
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  return crawlstore::bench::guarded_main(argv, [&] {
    crawlstore::bench::run_driver(std::span(argv, static_cast<std::size_t>(argc)));
  });
}
