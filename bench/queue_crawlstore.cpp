// SPDX-License-Identifier: Apache-2.0
//
// crawlstore's queue with all that a user gets: checksums, crash safety, and a commit, with its two
// syncs, at the end and each 2^20 pages that were inserted, or each cycle.

#include "queue_run.h"

namespace crawlstore::bench {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) fail(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

class CrawlstoreQueue final : public BenchQueue {
 public:
  explicit CrawlstoreQueue(const QueueOptions& options)
      : store_(must(Store::create(options.path))), queue_(must(Queue::open(store_))) {}

  [[nodiscard]] std::string name() const override { return "crawlstore " CRAWLSTORE_VERSION; }
  void insert(std::span<const QueuedPage> pages) override { must(queue_.insert(pages)); }
  std::vector<QueuedPage> take(std::size_t count) override { return must(queue_.take(count)); }
  void commit() override { must(store_.commit()); }
  [[nodiscard]] bool is_set() const override { return true; }

 private:
  Store store_;
  Queue queue_;
};

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return queue_main(argc, argv, [](const QueueOptions& options) {
    return std::make_unique<CrawlstoreQueue>(options);
  });
}
