// SPDX-License-Identifier: Apache-2.0
#include "service_work.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <stdexcept>

#include "seen_stream.h"

namespace crawlstore::bench {
namespace {

constexpr std::size_t kUrlsAtOnce = 100;
constexpr std::uint64_t kUrlsACommit = 10'000;
constexpr double kSecondsACommit = 0.1;
constexpr int kTakesARound = 16;
constexpr std::size_t kIdDigits = 9;

[[noreturn]] void refuse(const std::string& text) {
  throw std::runtime_error(text);
}

std::uint64_t id_of(const std::string& url) {
  if (url.size() < kIdDigits) refuse("a URL is too short");
  return std::stoull(url.substr(url.size() - kIdDigits));
}

/// Whether a URL gets a time in a month.
bool is_fetched_again(std::uint64_t id) {
  return mix(id + 1) % 5 == 0;
}

}  // namespace

ServiceWork::ServiceWork(const ServiceOptions& options, BenchService& service)
    : options_(options),
      service_(service),
      stream_(options.queue_count, options.url_bytes, GroupSizes::kEven) {}

void ServiceWork::make(std::uint64_t id, ServiceUrl& url) const {
  url.queue = FrontierStream::group_key(stream_.group(id));
  stream_.write_body(id, url.url);
}

void ServiceWork::discover_all(Calls& calls, bool are_new) {
  std::vector<ServiceUrl> urls;
  std::uint64_t since_commit = 0;
  double seconds = 0;
  for (std::uint64_t first = 0; first < options_.url_count; first += urls.size()) {
    urls.resize(std::min<std::uint64_t>(kUrlsAtOnce, options_.url_count - first));
    for (std::size_t i = 0; i < urls.size(); ++i) make(first + i, urls[i]);
    const std::size_t new_count = timed(calls, [&] { return service_.discover(urls); });
    if (new_count != (are_new ? urls.size() : 0)) refuse("URLs are new that are not, or known");
    since_commit += urls.size();
    seconds += calls.seconds.back();
    if (since_commit < kUrlsACommit && seconds < kSecondsACommit) continue;
    timed(calls, [&] { service_.commit(); });
    since_commit = 0;
    seconds = 0;
  }
  timed(calls, [&] { service_.commit(); });
  next_id_ = options_.url_count;
}

void ServiceWork::cycle() {
  std::vector<ServiceUrl> taken_before;
  while (completed_count_ < options_.url_count / 2) {
    std::vector<ServiceUrl> taken;
    for (int i = 0; i < kTakesARound; ++i) {
      auto urls = timed(cycle_.takes, [&] { return service_.take(kQueuesATake, kUrlsAQueue); });
      check(urls);
      std::move(urls.begin(), urls.end(), std::back_inserter(taken));
    }
    if (taken.empty() && taken_before.empty()) refuse("there is nothing to take");
    answer(taken_before);
    timed(cycle_.commits, [&] { service_.commit(); });
    taken_before = std::move(taken);
  }
}

void ServiceWork::check(std::span<const ServiceUrl> taken) {
  was_taken_.resize(next_id_);
  ServiceUrl expected;
  for (const ServiceUrl& url : taken) {
    const std::uint64_t id = id_of(url.url);
    if (id >= next_id_ || was_taken_[id]) refuse("a URL was taken twice");
    was_taken_[id] = true;
    make(id, expected);
    if (url.queue != expected.queue || url.url != expected.url) refuse("a taken URL was not put");
  }
  taken_count_ += taken.size();
}

void ServiceWork::answer(std::vector<ServiceUrl>& taken) {
  const auto month = static_cast<std::uint64_t>(std::time(nullptr)) + kMonthS;
  std::uint64_t completed_count = 0;
  for (ServiceUrl& url : taken) {
    url.refetch_s = is_fetched_again(id_of(url.url)) ? month : 0;
    if (url.refetch_s == 0) ++completed_count;
  }
  timed(cycle_.updates, [&] { service_.update(taken); });
  discover_found(completed_count);
  completed_count_ += completed_count;
}

void ServiceWork::discover_found(std::uint64_t completed_count) {
  std::vector<ServiceUrl> urls;
  const std::uint64_t known_count = next_id_;
  for (std::uint64_t left = completed_count; left != 0; left -= urls.size() / 2) {
    urls.resize(2 * std::min<std::uint64_t>(kUrlsAtOnce / 2, left));
    for (std::size_t i = 0; i < urls.size(); i += 2) {
      make(mix(next_id_) % known_count, urls[i]);
      make(next_id_++, urls[i + 1]);
    }
    const std::size_t new_count = timed(cycle_.discovers, [&] { return service_.discover(urls); });
    if (new_count != urls.size() / 2) refuse("not every second URL was new");
  }
}

}  // namespace crawlstore::bench
