// SPDX-License-Identifier: Apache-2.0
//
// Kills while URLs are forgotten: in each image of the file that a sync leaves, counts and URLs say
// the same, and no URL is known that is neither waiting nor completed.
#include <map>
#include <string>
#include <vector>

#include "service/crawl_world.h"
#include "support/recording_storage.h"

namespace crawlstore::service::testing {
namespace {

using crawlstore::testing::CallKind;
using crawlstore::testing::Recorder;

constexpr std::uint64_t kQueues = 60;
constexpr std::uint64_t kUrls = 40;

class KilledForgetting : public ::testing::Test {
 protected:
  static std::string queue_of(std::uint64_t queue) { return std::to_string(queue) + ".test"; }
  static std::string url_of(std::uint64_t queue, std::uint64_t url) {
    return "http://" + queue_of(queue) + "/" + std::to_string(url);
  }
  template <class Visit>
  static void for_each_url(const Visit& visit) {
    for (std::uint64_t queue = 0; queue < kQueues; ++queue) {
      for (std::uint64_t url = 0; url < kUrls; ++url) {
        const std::string key = queue_of(queue);
        const std::string text = url_of(queue, url);
        visit(UrlInQueue{key, text}, url);
      }
    }
  }
  /// URLs wait or are completed, half of them from time 1 and half of them from time 3.
  static void fill(Crawl& crawl) {
    for_each_url([&crawl](const UrlInQueue& name, std::uint64_t url) {
      must(crawl.discover(name, "m", url % 2 == 0 ? 1 : 3));
      if (url % 3 == 0) must(crawl.update(name, {}, 0, 5));
    });
    must(crawl.write_counts());
  }
  /// Makes a file, and calls `forget`; returns what a kill after each of its syncs leaves.
  template <class Forget>
  std::vector<std::vector<std::byte>> images_of(const Forget& forget) {
    const auto file = crawlstore::testing::make_empty_store_file(std::uint64_t{1} << 28);
    Recorder recorder(file);
    auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
    const auto crawl = must(Crawl::open(store, "c", std::uint64_t{1} << 16));
    fill(*crawl);
    must(store.commit());
    must(crawl->take({.queues_max = 5}));
    must(store.commit());
    std::vector<std::vector<std::byte>> images;
    recorder.set_hook([&](CallKind kind, Extent) {
      if (kind == CallKind::kSync) images.push_back(contents(*file));
    });
    forget(*crawl);
    images.push_back(contents(*file));
    must(crawl->write_counts());
    must(store.commit());
    images.push_back(contents(*file));
    recorder.set_hook({});
    return images;
  }
  static void expect_counts(Crawl& crawl) {
    QueueStats all;
    std::map<std::string, QueueStats> of_queues;
    for_each_url([&](const UrlInQueue& name, std::uint64_t) {
      const auto found = must(crawl.find(name));
      QueueStats& stats = of_queues[std::string(name.queue)];
      if (found) ++(found->refetch_s == 0 ? stats.completed : stats.active);
    });
    for (const auto& [queue, expected] : of_queues) {
      const QueueStats stats = must(crawl.stats(queue));
      EXPECT_EQ(stats.active, expected.active) << queue;
      EXPECT_EQ(stats.completed, expected.completed) << queue;
      all.completed += expected.completed;
      all.active += expected.active;
      all.queues += expected.active + expected.completed != 0 ? 1 : 0;
      all.active_queues += expected.active != 0 ? 1 : 0;
    }
    const QueueStats stats = must(crawl.stats({}));
    EXPECT_EQ(stats.active, all.active);
    EXPECT_EQ(stats.completed, all.completed);
    EXPECT_EQ(stats.queues, all.queues);
    EXPECT_EQ(stats.active_queues, all.active_queues);
  }
  /// All URLs that are known are found, others are new, and both can be forgotten.
  static void expect_sound(const std::vector<std::byte>& image) {
    const auto file = make_memory_file(image, std::uint64_t{1} << 28);
    auto store = must(Store::open(open_memory_storage(file, OpenMode::kWrite)));
    const auto crawl = must(Crawl::open(store, "c", kSmallMemory));
    expect_counts(*crawl);
    for_each_url([&](const UrlInQueue& name, std::uint64_t) {
      const bool is_known = must(crawl->find(name)).has_value();
      EXPECT_NE(must(crawl->discover(name, {}, 3)), is_known) << name.url;
    });
    must(crawl->write_counts());
    must(store.commit());
    must(crawl->forget_before({}, 3));
    expect_counts(*crawl);
    for_each_url([&](const UrlInQueue& name, std::uint64_t) {
      const auto found = must(crawl->find(name));
      if (!found) return;
      EXPECT_EQ(found->record.created_s, 3U) << name.url;
    });
    must(crawl->close());
  }
};

TEST_F(KilledForgetting, PurgesAllQueues) {
  const auto images = images_of([](Crawl& crawl) {
    EXPECT_EQ(must(crawl.forget_before({}, 2)), kQueues * kUrls / 2);
    expect_counts(crawl);
  });
  EXPECT_GT(images.size(), 6U) << "there is more than one commit";
  for (const auto& image : images) expect_sound(image);
}

TEST_F(KilledForgetting, PurgesAQueue) {
  const auto images = images_of(
      [](Crawl& crawl) { EXPECT_EQ(must(crawl.forget_before(queue_of(3), 2)), kUrls / 2); });
  for (const auto& image : images) expect_sound(image);
}

TEST_F(KilledForgetting, DeletesAQueue) {
  const auto images = images_of([](Crawl& crawl) {
    EXPECT_EQ(must(crawl.forget_queue(queue_of(3))), kUrls);
    EXPECT_EQ(must(crawl.forget_queue(queue_of(kQueues))), 0U);
  });
  for (const auto& image : images) expect_sound(image);
}

}  // namespace
}  // namespace crawlstore::service::testing
