// SPDX-License-Identifier: Apache-2.0
#include "service/server/metrics.h"

#include <future>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

namespace crawlstore::service {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr double kUsPerSecond = 1e6;

class Families {
 public:
  void counter(const char* name, const char* help, std::uint64_t value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = static_cast<double>(value);
    add(name, help, MetricType::Counter, std::move(metric));
  }
  void gauge(const char* name, const char* help, double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = value;
    add(name, help, MetricType::Gauge, std::move(metric));
  }
  void summary(const char* name, const char* help, const Durations& of) {
    ClientMetric metric;
    metric.summary.sample_count = of.count;
    metric.summary.sample_sum = static_cast<double>(of.sum_us) / kUsPerSecond;
    add(name, help, MetricType::Summary, std::move(metric));
  }
  std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  /// Metrics of one name come one behind the other.
  void add(const char* name, const char* help, MetricType type, ClientMetric metric) {
    if (families_.empty() || families_.back().name != name) {
      families_.push_back({name, help, type, {}});
    }
    families_.back().metric.push_back(std::move(metric));
  }

  std::vector<MetricFamily> families_;
};

using StatsById = std::vector<std::pair<std::string, QueueStats>>;

/// Asks the loop what all crawls hold.
class StatsJob final : public Job {
 public:
  explicit StatsJob(std::promise<StatsById> told) : told_(std::move(told)) {}
  Result<std::string> run(Crawls& crawls) override {
    stats_.clear();
    for (Crawl* const crawl : crawls.all()) {
      CRAWLSTORE_TRY(const QueueStats stats, crawl->stats({}));
      stats_.emplace_back(crawl->name(), stats);
    }
    return std::string();
  }
  void done(const Result<void>& /*committed*/) override { told_.set_value(std::move(stats_)); }

 private:
  std::promise<StatsById> told_;
  StatsById stats_;
};

void add_calls(Families& to, const ServiceCounts& of) {
  to.counter("frontier_getURLs_calls_total", "Calls of GetURLs.", of.get_calls);
  to.counter("frontier_getURLs_total", "URLs that were given out.", of.urls_given);
  to.summary("frontier_getURLs_latency_seconds", "Time until GetURLs begins to answer.",
             of.get_time);
  to.counter("frontier_putURLs_calls_total", "Calls of PutURLs.", of.put_calls);
  to.counter("frontier_putDiscovered_calls_total", "Calls of PutDiscovered.", of.batch_calls);
  to.counter("frontier_putURLs_total", "URLs that were sent.", of.put_discovered + of.put_known);
  constexpr const char* kHelp = "URLs that were sent, by whether they were discovered.";
  to.counter("frontier_putURLs_discovered_total", kHelp, of.put_discovered,
             {{"discovered", "true"}});
  to.counter("frontier_putURLs_discovered_total", kHelp, of.put_known, {{"discovered", "false"}});
  to.counter("frontier_putURLs_ignored_total", "Discovered URLs that were known.", of.ignored);
  to.counter("frontier_putURLs_completed_total", "URLs not to be fetched again.", of.completed);
  to.counter("crawlstored_skipped_urls_total", "URLs that can never be kept.", of.skipped);
  to.counter("crawlstored_failed_urls_total", "URLs whose commit failed.", of.failed);
}

void add_commits(Families& to, const LoopCounts& of) {
  to.summary("crawlstored_commit_seconds", "Commits of the file.", of.commits);
  to.gauge("crawlstored_longest_commit_seconds", "The longest commit.",
           static_cast<double>(of.commits.longest_us) / kUsPerSecond);
  to.counter("crawlstored_failed_commits_total", "Commits that failed.", of.failed_commits);
  to.summary("crawlstored_merge_seconds", "Merges of known URLs, between commits.", of.merges);
  to.gauge("crawlstored_longest_merge_seconds", "The longest merge.",
           static_cast<double>(of.merges.longest_us) / kUsPerSecond);
}

void add_crawls(Families& to, const StatsById& crawls) {
  for (const auto& [id, stats] : crawls) {
    const auto urls = [&, name = id](const char* state, std::uint64_t count) {
      to.gauge("crawlstored_urls", "URLs of a crawl.", static_cast<double>(count),
               {{"crawl", name}, {"state", state}});
    };
    urls("waiting", stats.active - stats.leased);
    urls("leased", stats.leased);
    urls("completed", stats.completed);
  }
  for (const auto& [id, stats] : crawls) {
    const auto queues = [&, name = id](const char* state, std::uint64_t count) {
      to.gauge("crawlstored_queues", "Queues of a crawl, by whether any URL is not completed.",
               static_cast<double>(count), {{"crawl", name}, {"state", state}});
    };
    queues("active", stats.active_queues);
    queues("completed", stats.queues - stats.active_queues);
  }
}

}  // namespace

class Metrics::Source final : public prometheus::Collectable {
 public:
  Source(const Store& store, CommitLoop& loop, const ServiceCounts& counts)
      : store_(store), loop_(loop), counts_(counts) {}

  std::vector<MetricFamily> Collect() const override {
    std::promise<StatsById> told;
    auto crawls = told.get_future();
    loop_.add(std::make_unique<StatsJob>(std::move(told)));
    Families families;
    add_calls(families, counts_);
    add_commits(families, loop_.counts());
    families.gauge("crawlstored_file_bytes", "The file's length.",
                   static_cast<double>(store_.file_bytes()));
    add_crawls(families, crawls.get());
    return families.take();
  }

 private:
  const Store& store_;
  CommitLoop& loop_;
  const ServiceCounts& counts_;
};

Metrics::Metrics(const std::string& address, const Store& store, CommitLoop& loop,
                 const ServiceCounts& counts)
    : source_(std::make_shared<Source>(store, loop, counts)),
      exposer_(std::make_unique<prometheus::Exposer>(address)) {
  exposer_->RegisterCollectable(source_);
}

Metrics::~Metrics() = default;

int Metrics::port() const {
  const auto ports = exposer_->GetListeningPorts();
  return ports.empty() ? 0 : ports.front();
}

}  // namespace crawlstore::service
