// SPDX-License-Identifier: Apache-2.0
#include "bench/service_work.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "bench/service_own.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using bench::OwnService;
using bench::ServiceOptions;
using bench::ServiceUrl;
using bench::ServiceWork;

constexpr ServiceOptions kSmall{.url_count = 8000, .queue_count = 400, .url_bytes = 80};

/// Gives out again what it has given out.
class Forgetful final : public OwnService {
 public:
  using OwnService::OwnService;
  std::vector<ServiceUrl> take(std::size_t queues_max, std::size_t per_queue) override {
    if (first_.empty()) first_ = OwnService::take(queues_max, per_queue);
    return first_;
  }

 private:
  std::vector<ServiceUrl> first_;
};

TEST(ServiceWork, CompletesHalfOfTheUrlsOfACrawl) {
  const TemporaryFolder folder;
  OwnService service(folder / "a.crawl", "ours");
  ServiceWork work(kSmall, service);
  work.put();
  work.again();
  work.cycle();
  EXPECT_GT(work.taken_count(), kSmall.url_count / 2);
  EXPECT_GT(work.known_count(), kSmall.url_count + kSmall.url_count / 3);
  service.close();
}

TEST(ServiceWork, SeesAUrlThatIsTakenTwice) {
  const TemporaryFolder folder;
  Forgetful service(folder / "a.crawl", "forgetful");
  ServiceWork work(kSmall, service);
  work.put();
  EXPECT_THROW(work.cycle(), std::runtime_error);
}

TEST(ServiceWork, SeesAUrlThatIsNotNew) {
  const TemporaryFolder folder;
  OwnService service(folder / "a.crawl", "ours");
  ServiceWork work(kSmall, service);
  work.put();
  EXPECT_THROW(work.put(), std::runtime_error);
}

}  // namespace
}  // namespace crawlstore::testing
