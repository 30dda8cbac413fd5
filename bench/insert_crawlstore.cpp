// SPDX-License-Identifier: Apache-2.0
//
// Drum::insert on the URL-seen stream, key by key. The clock stops after the last merge, which
// makes everything durable.

#include <cstdio>
#include <utility>

#include <fmt/core.h>

#include <crawlstore/drum.h>

#include "insert_run.h"

namespace crawlstore::bench {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) fail(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

class OwnStore final : public InsertStore {
 public:
  OwnStore(const SeenOptions& seen, const DrumOptions& options, std::uint64_t commit_each)
      : options_(options), commit_each_(commit_each) {
    std::remove(seen.path.c_str());
    store_.emplace(must(Store::create(seen.path)));
    drum_.emplace(must(Drum<std::uint64_t>::open(*store_, "urls", options)));
    drum_->attach(nobody_);
  }

  [[nodiscard]] std::string name() const override { return "crawlstore"; }
  [[nodiscard]] std::string version() const override { return CRAWLSTORE_VERSION; }
  [[nodiscard]] std::string tuning() const override {
    return fmt::format("insert; {} MiB of arrays; checksums, a commit a merge",
                       options_.memory_bytes >> 20);
  }
  void fill(std::span<const std::uint64_t> keys) override { must(drum_->check_update(keys)); }
  bool insert(std::uint64_t key) override {
    if (commit_each_ != 0 && ++count_ % commit_each_ == 0) must(store_->commit());
    return must(drum_->insert(key));
  }
  void end() override { must(drum_->merge()); }
  bool has(std::uint64_t key) override { return must(drum_->lookup(key)).has_value(); }
  void close() override {
    must(drum_->close());
    must(store_->close());
  }
  [[nodiscard]] nlohmann::ordered_json figures() const override {
    const DrumStatus status = drum_->status();
    return {{"merges", status.merge_count}, {"buckets", status.bucket_count}};
  }

 private:
  DrumOptions options_;
  std::uint64_t commit_each_;
  std::uint64_t count_ = 0;
  NullDispatcher nobody_;
  std::optional<Store> store_;
  std::optional<Drum<std::uint64_t>> drum_;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  std::uint64_t memory_mib = 64;
  std::uint64_t commit_each = 0;
  const OwnOption own[] = {{"--memory", &memory_mib}, {"--commit-each", &commit_each}};
  const auto open = [&](const SeenOptions& seen) {
    crawlstore::DrumOptions options;
    options.memory_bytes = memory_mib << 20;
    options.expected_keys = seen.stored + seen.operations / 4;
    return std::make_unique<OwnStore>(seen, options, commit_each);
  };
  return insert_main(argc, argv, open, own);
}
