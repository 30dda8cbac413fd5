// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The work that cores of URLFrontier services do, below gRPC, and the proof that they did it.
///
/// put(): new URLs, in random order over queues of even size. again(): the same URLs once more.
/// cycle(), until half of them are completed: a round has 16 takes of 10 URLs of 10 queues; what
/// the round before has taken is completed, a fifth gets a time in a month instead, and two URLs
/// are discovered for each that is completed, of which one is known. A round ends with a commit.
///
/// Stores make their changes durable after 10,000 URLs, or 100 ms. Answers are checked: how many
/// URLs were new, and that a URL that is taken was put, has its queue and is taken once. The watch
/// stands while answers are checked and URLs are made.
///
/// Errors: std::runtime_error. Threads: one.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frontier_stream.h"
#include "frontier_work.h"

namespace crawlstore::bench {

struct ServiceUrl {
  std::string queue;
  std::string url;
  std::uint64_t refetch_s = 0;  ///< of an update; 0: it is completed
};

class BenchService {
 public:
  BenchService() = default;
  BenchService(const BenchService&) = delete;
  BenchService& operator=(const BenchService&) = delete;
  virtual ~BenchService() = default;

  [[nodiscard]] virtual std::string name() const = 0;  ///< with its version
  /// Returns how many were new.
  virtual std::size_t discover(std::span<const ServiceUrl> urls) = 0;
  virtual void update(std::span<const ServiceUrl> urls) = 0;
  virtual std::vector<ServiceUrl> take(std::size_t queues_max, std::size_t per_queue) = 0;
  /// All that was done is durable.
  virtual void commit() = 0;
  virtual void close() = 0;
};

inline constexpr std::size_t kQueuesATake = 10;
inline constexpr std::size_t kUrlsAQueue = 10;
inline constexpr std::uint64_t kServiceLeaseS = 30;
inline constexpr std::uint64_t kMonthS = std::uint64_t{30} * 24 * 3600;

struct ServiceOptions {
  std::uint64_t url_count = 0;
  std::uint64_t queue_count = 0;
  std::size_t url_bytes = 0;
};

class ServiceWork {
 public:
  ServiceWork(const ServiceOptions& options, BenchService& service);

  void put() { discover_all(puts_, true); }
  void again() { discover_all(again_, false); }
  void cycle();

  /// With their commits.
  [[nodiscard]] const Calls& puts() const { return puts_; }
  [[nodiscard]] const Calls& again_calls() const { return again_; }
  /// Calls of cycle(), one kind each.
  struct CycleCalls {
    Calls takes;
    Calls updates;
    Calls discovers;
    Calls commits;
  };
  [[nodiscard]] const CycleCalls& cycle_calls() const { return cycle_; }
  [[nodiscard]] std::uint64_t taken_count() const { return taken_count_; }
  [[nodiscard]] std::uint64_t known_count() const { return next_id_; }

 private:
  void discover_all(Calls& calls, bool are_new);
  void make(std::uint64_t id, ServiceUrl& url) const;
  void check(std::span<const ServiceUrl> taken);
  void answer(std::vector<ServiceUrl>& taken);
  void discover_found(std::uint64_t completed_count);

  ServiceOptions options_;
  BenchService& service_;
  FrontierStream stream_;
  Calls puts_;
  Calls again_;
  CycleCalls cycle_;
  std::vector<bool> was_taken_;  ///< by id
  std::uint64_t next_id_ = 0;
  std::uint64_t taken_count_ = 0;
  std::uint64_t completed_count_ = 0;
};

}  // namespace crawlstore::bench
