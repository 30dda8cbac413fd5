// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The URL-seen stream, one key at a time: is it new? The next request comes when the answer is
/// there. The shared parts of all drivers of `bench/compare insert`.
///
/// With --stored N the store has N keys before the clock starts; repeats are drawn over all.
/// Threads: one.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "seen_run.h"

namespace crawlstore::bench {

inline constexpr std::uint64_t kRequestsPerStep = 4096;

/// A store that answers at once.
class InsertStore {
 public:
  InsertStore() = default;
  InsertStore(const InsertStore&) = delete;
  InsertStore& operator=(const InsertStore&) = delete;
  virtual ~InsertStore() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string version() const = 0;
  [[nodiscard]] virtual std::string tuning() const = 0;
  /// Before the clock starts: different keys, in any order.
  virtual void fill(std::span<const std::uint64_t> keys) {
    for (const std::uint64_t key : keys) insert(key);
  }
  /// Returns whether the key was not there; it is from now on.
  virtual bool insert(std::uint64_t key) = 0;
  /// Ends the work that is under way; the clock still runs.
  virtual void end() {}
  [[nodiscard]] virtual bool has(std::uint64_t key) = 0;
  virtual void close() = 0;
  /// Figures that only this store has.
  [[nodiscard]] virtual nlohmann::ordered_json figures() const {
    return nlohmann::ordered_json::object();
  }
};

using OpenInsertStore = std::function<std::unique_ptr<InsertStore>(const SeenOptions&)>;

/// The whole of a driver's main().
inline int insert_main(int argc, char** argv, const OpenInsertStore& open,
                       std::span<const OwnOption> own = {}) {
  return guarded_main(argv, [&] {
    const SeenOptions options = parse_options({argv, static_cast<std::size_t>(argc)}, own);
    const auto store = open(options);
    for (std::uint64_t id = 0; id < options.stored;) {
      std::vector<std::uint64_t> keys;
      keys.reserve(kRequestsPerStep);
      while (id < options.stored && keys.size() < kRequestsPerStep) keys.push_back(key_of(id++));
      store->fill(keys);
    }
    if (options.stored != 0) store->end();
    SeenRun run(options);
    run.start();
    while (const std::uint64_t count = run.take(kRequestsPerStep)) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t key = run.next_key();
        run.answers().add(store->insert(key), fingerprint(key));
      }
      run.step();
    }
    store->end();
    run.finish();
    run.verify_lookups([&](std::uint64_t key) {
      return store->has(key) ? std::optional<std::uint64_t>(0) : std::nullopt;
    });
    auto own_figures = store->figures();
    own_figures["stored"] = options.stored;
    store->close();
    run.print({store->name(), store->version(), store->tuning(), allocated_bytes(options.path)},
              own_figures);
  });
}

}  // namespace crawlstore::bench
