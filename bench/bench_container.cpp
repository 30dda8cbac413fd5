// SPDX-License-Identifier: Apache-2.0
// Commits beside bare fdatasync calls, opening against the number of segments, and what first-touch
// checksums cost. Files lie in $CRAWLSTORE_BENCH_DIR (default: the current folder).

#include <cstdlib>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <crawlstore/store.h>

#include "container/reader.h"  // tidy: inside, parts are measured
#include "container/run_io.h"  // tidy: inside, parts are measured
#include "container/writer.h"  // tidy: inside, parts are measured

namespace crawlstore {
namespace {

std::string bench_path(const char* name) {
  const char* folder = std::getenv("CRAWLSTORE_BENCH_DIR");
  return std::string(folder == nullptr ? "." : folder) + "/" + name;
}

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{}\n", describe(result.error()));
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// The owner of all other segments.
constexpr SegmentId kOwner{1};

std::unique_ptr<container::Writer> fresh_writer(const std::string& path) {
  std::remove(path.c_str());
  must(must(Store::create(path)).close());
  auto writer = must(container::Writer::open(must(open_storage(path, OpenMode::kWrite)), {}));
  const SegmentId id = writer->new_segment_id();
  const std::vector<std::byte> payload(64, std::byte{0});
  const auto run = must(container::write_run(
      *writer, {id, SegmentKind::kDrumPartition, kOwner, writer->new_run_ids(1)}, payload, 1));
  writer->put({id, SegmentKind::kDrum, StorageClass::kBlob, {}, "bench", {run}});
  must(writer->commit());
  return writer;
}

/// Adds `count` blobs of `bytes` each, in commits of 4096.
void add_segments(container::Writer& writer, std::uint64_t count, std::size_t bytes) {
  const std::vector<std::byte> payload(bytes, std::byte{7});
  for (std::uint64_t i = 0; i < count; ++i) {
    const SegmentId id = writer.new_segment_id();
    const auto run = must(container::write_run(
        writer, {id, SegmentKind::kDrumPartition, kOwner, writer.new_run_ids(1)}, payload, 1));
    writer.put({id, SegmentKind::kDrumPartition, StorageClass::kBlob, kOwner, {}, {run}});
    if ((i + 1) % 4096 == 0) must(writer.commit());
  }
  must(writer.commit());
}

/// One segment of 4 KiB rewritten: what a small commit costs.
void commit_4_kib(benchmark::State& state) {
  const auto path = bench_path("commit.crawl");
  auto writer = fresh_writer(path);
  add_segments(*writer, static_cast<std::uint64_t>(state.range(0)), 64);
  const std::vector<std::byte> payload(4000, std::byte{1});
  const SegmentId id = writer->new_segment_id();
  for (auto _ : state) {
    const auto run = must(container::write_run(
        *writer, {id, SegmentKind::kDrumPartition, kOwner, writer->new_run_ids(1)}, payload, 1));
    writer->put({id, SegmentKind::kDrumPartition, StorageClass::kBlob, kOwner, {}, {run}});
    must(writer->commit());
  }
  std::remove(path.c_str());
}
BENCHMARK(commit_4_kib)->Arg(10)->Arg(1000)->Arg(100000)->UseRealTime();

/// The yardstick: write 4 KiB over used space and fdatasync, twice.
void two_bare_fdatasyncs(benchmark::State& state) {
  const auto path = bench_path("fdatasync.bin");
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const std::vector<char> bytes(4096, 'x');
  for (int i = 0; i < 64; ++i) {
    if (::pwrite(file, bytes.data(), bytes.size(), i * 4096) != 4096) state.SkipWithError("pwrite");
  }
  ::fsync(file);
  int place = 0;
  for (auto _ : state) {
    for (int i = 0; i < 2; ++i) {
      if (::pwrite(file, bytes.data(), bytes.size(), (place++ % 64) * 4096) != 4096 ||
          ::fdatasync(file) != 0) {
        state.SkipWithError("fdatasync");
      }
    }
  }
  ::close(file);
  std::remove(path.c_str());
}
BENCHMARK(two_bare_fdatasyncs)->UseRealTime();

/// Opening for reading, pin included, in a warm cache.
void open_snapshot(benchmark::State& state) {
  const auto path = bench_path("open.crawl");
  {
    auto writer = fresh_writer(path);
    add_segments(*writer, static_cast<std::uint64_t>(state.range(0)), 64);
  }
  for (auto _ : state) benchmark::DoNotOptimize(must(Snapshot::open(path)));
  std::remove(path.c_str());
}
BENCHMARK(open_snapshot)->Arg(10)->Arg(1000)->Arg(10000)->Arg(100000)->UseRealTime();

/// Reads every word of a mapped 64 MiB blob. 0: no checksums; 1: verified at the first touch;
/// 2: touched before, the checksums are known.
void scan_blob(benchmark::State& state) {
  const auto path = bench_path("scan.crawl");
  constexpr std::size_t kBytes = 64 << 20;
  format::RunRef run;
  SegmentId id;
  {
    auto writer = fresh_writer(path);
    id = writer->new_segment_id();
    const std::vector<std::byte> payload(kBytes, std::byte{3});
    run = must(container::write_run(
        *writer, {id, SegmentKind::kDrumPartition, kOwner, writer->new_run_ids(1)}, payload, 1));
    writer->put({id, SegmentKind::kDrumPartition, StorageClass::kBlob, kOwner, {}, {run}});
    must(writer->commit());
  }
  std::shared_ptr<Storage> storage = must(open_storage(path, OpenMode::kRead));
  const auto identity = must(container::read_identity(*storage));
  const auto name = container::run_name(identity, id, run.run_id);
  const auto* words = reinterpret_cast<const std::uint64_t*>(  // tidy: raw bytes, a plain scan
      must(storage->view({run.offset_bytes, kBytes})));
  container::RunReader known(storage, name, run);
  must(known.verify_all());
  for (auto _ : state) {
    state.PauseTiming();
    container::RunReader fresh(storage, name, run);
    state.ResumeTiming();
    std::uint64_t sum = 0;
    for (std::uint64_t offset = 0; offset < kBytes; offset += format::kChunkBytes) {
      if (state.range(0) == 1) must(fresh.bytes(offset, format::kChunkBytes));
      if (state.range(0) == 2) must(known.bytes(offset, format::kChunkBytes));
      for (std::uint64_t i = 0; i < format::kChunkBytes / 8; ++i) sum += words[offset / 8 + i];
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(state.iterations() * std::int64_t{kBytes});
  std::remove(path.c_str());
}
BENCHMARK(scan_blob)->Arg(0)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
}  // namespace crawlstore

BENCHMARK_MAIN();
