// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The core of crawlstored as its commit loop has it: a transaction for all calls until a commit,
/// and a merge where much waits. Leases, times of queues and counts are in the file.
///
/// Errors: std::runtime_error. Threads: one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <crawlstore/must.h>
#include <crawlstore/transaction.h>

#include "service/core/crawl.h"
#include "service_work.h"

namespace crawlstore::bench {

class OwnService : public BenchService {
 public:
  /// Opens the store at the path, or makes it.
  OwnService(const std::string& path, std::string name)
      : name_(std::move(name)),
        store_(must(Store::open_or_create(path))),
        crawl_(must(service::Crawl::open(store_, "bench", kMemoryBytes))) {
    must(crawl_->set_default_delay(0));
  }

  [[nodiscard]] std::string name() const override { return name_; }
  std::size_t discover(std::span<const ServiceUrl> urls) override {
    begin();
    const std::uint64_t now_s = crawl_->now_ms() / 1000;
    std::size_t new_count = 0;
    for (const ServiceUrl& url : urls) {
      if (must(crawl_->discover({url.queue, url.url}, {}, now_s))) ++new_count;
    }
    return new_count;
  }
  void update(std::span<const ServiceUrl> urls) override {
    begin();
    const std::uint64_t now_s = crawl_->now_ms() / 1000;
    for (const ServiceUrl& url : urls) {
      must(crawl_->update({url.queue, url.url}, {}, url.refetch_s, now_s));
    }
  }
  std::vector<ServiceUrl> take(std::size_t queues_max, std::size_t per_queue) override {
    begin();
    auto given = must(crawl_->take({.per_queue = static_cast<std::uint32_t>(per_queue),
                                    .queues_max = queues_max,
                                    .lease_ms = kServiceLeaseS * 1000}));
    std::vector<ServiceUrl> taken;
    taken.reserve(given.size());
    for (auto& url : given) taken.push_back({std::move(url.queue), std::move(url.record.url)});
    return taken;
  }
  void commit() override {
    if (!transaction_) return;
    must(crawl_->write_counts());
    must(transaction_->commit());
    transaction_.reset();
    must(crawl_->merge_if_full());
  }
  void close() override {
    commit();
    must(crawl_->close());
    must(store_.close());
  }

 private:
  static constexpr std::uint64_t kMemoryBytes = std::uint64_t{64} << 20;

  void begin() {
    if (!transaction_) transaction_ = must(Transaction::begin(store_));
  }

  std::string name_;
  Store store_;
  std::unique_ptr<service::Crawl> crawl_;
  std::optional<Transaction> transaction_;
};

}  // namespace crawlstore::bench
