// SPDX-License-Identifier: Apache-2.0
#include "callbacks/callback_world.h"

#include <gtest/gtest.h>

#include <crawlstore/scores.h>

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kPages = 40;

std::string url_of(std::uint64_t i) {
  return "http://host" + std::to_string(i % 4) + ".test/" + std::to_string(i);
}

Result<void> add_pages(PageDb& pages, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t i = first; i < end; ++i) {
    CrawledPage page(url_of(i), static_cast<std::int64_t>(1 + i));
    for (std::uint64_t j = 1; j <= 5; ++j) page.add_link(url_of(i * j % kPages));
    CRAWLSTORE_TRY(pages.add(page));
  }
  return {};
}

Result<void> update_keys(Keys& keys, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t key = first; key < end; ++key) CRAWLSTORE_TRY(keys.check_update(key << 40));
  return {};
}

/// Rules that take URLs as they are, but for those with a blank.
UrlNormalizer rules_that_call(std::function<void()> function) {
  return {"test", [function = std::move(function)](std::string_view url, std::string& out) {
            function();
            out = url;
            return url.find(' ') == std::string_view::npos;
          }};
}

/// Small, without threads, so that equal calls give equal bytes. Functions call `function` with
/// their names.
struct WorldOptions {
  explicit WorldOptions(const std::function<void(const std::string&)>& function) {
    const auto rules = rules_that_call([function] { function("rules"); });
    pages.memory_bytes = 1 << 20;
    pages.bucket_count = 1;
    pages.parallel = false;
    pages.normalizer = rules;
    pages.unparsed = [function](std::string_view, UrlProblem) { function("unparsed"); };
    pages.progress = [function](std::uint64_t, std::uint64_t) {
      function("progress");
      return true;
    };
    keys.bucket_count = 4;
    keys.memory_bytes = 1 << 16;
    keys.parallel = false;
    seen.drum = keys;
    seen.normalizer = rules_that_call([function] { function("rules of UrlSeen"); });
    seen.with_pages = false;
  }
  PagesOptions pages;
  DrumOptions keys;
  UrlSeen::Options seen;
};

/// Some generations, so that the file has gaps and runs to join; then what waits.
std::vector<std::byte> make_first_image() {
  MemoryStore store;
  const WorldOptions options([](const std::string&) {});
  {
    auto keys = must(Keys::open(*store, "keys", options.keys));
    auto pages = must(PageDb::open(*store, "pages", options.pages));
    auto queue = must(Queue::open(*store));
    auto seen = must(UrlSeen::open(*store, "seen", options.seen));
    NullDispatcher nobody;
    keys.attach(nobody);
    seen.drum().attach(nobody);
    for (std::uint64_t part = 0; part < 4; ++part) {
      must(update_keys(keys, part * 5000, part * 5000 + 5000));
      must(keys.merge());
      must(add_pages(pages, part * kPages / 4, (part + 1) * kPages / 4));
      must(pages.merge());
      must(seen.update(url_of(part)));
      must(queue.insert(std::vector<QueuedPage>{{part, 1.0 + static_cast<double>(part)}}));
      must(store->commit());
    }
    must(opic(*store));
    keys.detach();
    must(update_keys(keys, 90'000, 90'010));
    must(keys.merge());  // results wait
    must(update_keys(keys, 90'010, 90'020));
    must(add_pages(pages, 3, 9));
  }
  must(store->close());
  return store.image();
}

const std::vector<std::byte>& first_image() {
  static const std::vector<std::byte> kImage = make_first_image();
  return kImage;
}

bool is_of_host_3(std::string_view url) {
  return url.starts_with("http://host3.");
}

template <class T>
Result<void> without_value(const Result<T>& result) {
  return result ? Result<void>{} : tl::unexpected<Error>(result.error());
}

/// Progress, of what kind is asked for.
auto asking(World& world) {
  return [&world](auto, auto) {
    world.call_back();
    return true;
  };
}

struct CallsBack {
  World& world;
  void unique_key_update(const Keys::AnswerType&) const { world.call_back(); }
  void duplicate_key_update(const Keys::AnswerType&) const { world.call_back(); }
};

Result<void> forget(World& world, bool in_progress) {
  ForgetOptions options;
  options.seen.emplace();
  if (in_progress) options.progress = asking(world);
  return without_value(world.pages->forget(
      [&world, in_progress](std::string_view url) {
        if (!in_progress) world.call_back();
        return is_of_host_3(url);
      },
      options));
}

Result<void> roll_back(World& world) {
  for (const auto& closed : {world.keys->close(), world.pages->close(), world.queue->close(),
                             world.seen->drum().close()}) {
    CRAWLSTORE_TRY(closed);
  }
  return without_value(world.store->rollback(asking(world)));
}

/// Adds pages until a superstep is called for.
Result<void> fill_memory(World& world) {
  world.calling = "progress";
  while (world.callback_count == 0 && world.next_page < 100'000) {
    CRAWLSTORE_TRY(add_pages(*world.pages, world.next_page, world.next_page + 1));
    ++world.next_page;
  }
  return {};
}

template <class T>
std::optional<Errc> code_of(const Result<T>& result) {
  return result ? std::optional<Errc>() : result.error().code;
}

}  // namespace

World::World() : file(make_memory_file(first_image(), std::uint64_t{1} << 28)) {
  const WorldOptions options([this](const std::string& name) { call_back_of(name); });
  OpenOptions open;
  open.time_us = kFixedTimeUs;
  open.report = [this](const Report&) { call_back_of("report"); };
  store.emplace(must(Store::open(open_memory_storage(file, OpenMode::kWrite), open)));
  view = view_of(*store);
  keys.emplace(must(Keys::open(*store, "keys", options.keys)));
  pages.emplace(must(PageDb::open(*store, "pages", options.pages)));
  queue.emplace(must(Queue::open(*store)));
  seen.emplace(must(UrlSeen::open(*store, "seen", options.seen)));
  submit(1'000);
}

void World::submit(std::uint64_t number) {
  must(update_keys(*keys, number, number + 1));
  must(pages->add(CrawledPage(url_of(number), 1)));
  must(queue->insert(std::vector{QueuedPage{number, 0.5}}));
  must(seen->update(url_of(number)));
}

void World::close() {
  inside = {};
  seen.reset();
  queue.reset();
  pages.reset();
  keys.reset();
  store.reset();
  view.reset();
}

Content whole_content(const std::shared_ptr<MemoryFile>& file) {
  VerifyOptions deep;
  deep.level = VerifyLevel::kDeep;
  const auto report = must(verify(*open_memory_storage(file, OpenMode::kRead), deep));
  for (const Finding& finding : report.findings) ADD_FAILURE() << describe(finding.error);
  const auto store = must(Store::open(open_memory_storage(file, OpenMode::kWrite)));
  const auto snapshot = must(store.snapshot());
  Content content;
  const auto keys = must(DrumView::open(snapshot, "keys"));
  must(keys.for_each_key([&content](Key16 key, std::span<const std::byte>) {
    return content.keys.insert(key.head).second;
  }));
  must(keys.for_each_pending([&content](std::uint64_t, const RawRequest& request, std::uint64_t) {
    content.keys.insert(request.key);
    return true;
  }));
  const DrumInfo seen = drum_info(store, "seen");
  content.seen_count = seen.key_count + seen.pending_count;
  const auto pages = must(PageView::open(snapshot));
  content.page_count = pages.info().page_count;
  content.link_count = pages.info().link_count;
  content.edit_count = pages.info().event_count;
  for (const QueuedPage& page : must(must(QueueView::open(snapshot)).peek(100))) {
    content.priorities.push_back(page.priority);
  }
  for (const ScoresInfo& scores : must(ScoreView::list(pages)))
    content.scores.push_back(scores.name);
  return content;
}

std::vector<Context> contexts() {
  std::vector<Context> all;
  const auto add = [&all](std::string name, std::function<Result<void>(World&)> run) {
    all.push_back({std::move(name), std::move(run)});
  };
  add("progress of PageDb::merge",
      [](World& world) { return without_value(world.pages->merge(asking(world))); });
  add("progress of merge_with_opic",
      [](World& world) { return without_value(merge_with_opic(*world.pages, asking(world))); });
  add("progress of PageDb::compact",
      [](World& world) { return without_value(world.pages->compact(asking(world))); });
  add("progress of PageDb::forget", [](World& world) { return forget(world, true); });
  add("is_meant of PageDb::forget", [](World& world) { return forget(world, false); });
  add("PagesOptions::progress", fill_memory);
  add("PagesOptions::unparsed", [](World& world) {
    world.calling = "unparsed";
    return world.pages->add(CrawledPage("no url", 1));
  });
  add("rules of a page database", [](World& world) {
    world.calling = "rules";
    return world.pages->add(CrawledPage(url_of(1), 1));
  });
  add("rules of UrlSeen", [](World& world) {
    world.calling = "rules of UrlSeen";
    return world.seen->check_update(url_of(77));
  });
  add("progress of Store::compact",
      [](World& world) { return without_value(world.store->compact(asking(world))); });
  add("progress of Store::rollback", roll_back);
  add("progress of rank_pages", [](World& world) {
    RankOptions options;
    options.thread_count = 1;
    options.progress = asking(world);
    return without_value(rank_pages(*world.store, options));
  });
  add("progress of hits", [](World& world) {
    HitsOptions options;
    options.thread_count = 1;
    options.progress = asking(world);
    return without_value(hits(*world.store, options));
  });
  add("progress of opic", [](World& world) {
    OpicOptions options;
    options.progress = asking(world);
    return without_value(opic(*world.store, options));
  });
  for (std::size_t i = all.size() - 3; i < all.size(); ++i) all[i].needs_the_store = true;
  add("report of a commit", [](World& world) -> Result<void> {
    CRAWLSTORE_TRY(world.keys->update(5));
    world.calling = "report";
    return without_value(world.store->commit());
  });
  add("report of a merge", [](World& world) {
    world.calling = "report";
    NullDispatcher nobody;
    return without_value(world.keys->merge(nobody));
  });
  for (std::size_t i = all.size() - 2; i < all.size(); ++i) all[i].rethrows = false;
  return all;
}

std::vector<Context> dispatchers() {
  return {{"dispatcher of merge()",
           [](World& world) {
             CallsBack dispatcher{world};
             return without_value(world.keys->merge(dispatcher));
           },
           false},
          {"dispatcher of an automatic merge",
           [](World& world) {
             CallsBack dispatcher{world};
             world.keys->attach(dispatcher);
             Result<void> done;
             for (std::uint64_t i = 0; done && world.callback_count == 0 && i < 1'000'000; ++i) {
               done = update_keys(*world.keys, i, i + 1);
             }
             return done;
           },
           false},
          {"dispatcher of take_results()",
           [](World& world) {
             CallsBack dispatcher{world};
             return without_value(world.keys->take_results(dispatcher));
           },
           false}};
}

namespace {

void add_store_calls(std::vector<Call>& all) {
  const auto add = [&all](std::string name, auto run) {
    all.push_back({std::move(name), [run](World& world) { return code_of(run(world)); }});
  };
  add("Store::commit", [](World& world) { return world.store->commit(); });
  add("Store::drop", [](World& world) { return world.store->drop({}); });
  add("Store::rollback", [](World& world) { return world.store->rollback(); });
  add("Store::compact", [](World& world) { return world.store->compact(); });
  add("Store::close", [](World& world) { return world.store->close(); });
  add("Transaction::begin", [](World& world) { return Transaction::begin(*world.store); });
  add("Keys::open", [](World& world) { return Keys::open(*world.store, "new"); });
  add("PageDb::open", [](World& world) { return PageDb::open(*world.store, "new"); });
  add("Queue::open", [](World& world) { return Queue::open(*world.store, "new"); });
  add("UrlSeen::open", [](World& world) { return UrlSeen::open(*world.store, "new"); });
  add("Keys::merge", [](World& world) { return world.keys->merge(); });
  add("Keys::take_results", [](World& world) {
    NullDispatcher nobody;
    return world.keys->take_results(nobody);
  });
  add("Keys::close", [](World& world) { return world.keys->close(); });
  add("PageDb::merge", [](World& world) { return world.pages->merge(); });
  add("PageDb::compact", [](World& world) { return world.pages->compact(); });
  add("PageDb::forget", [](World& world) { return world.pages->forget(is_of_host_3); });
  add("PageDb::close", [](World& world) { return world.pages->close(); });
  add("Queue::close", [](World& world) { return world.queue->close(); });
}

void add_submissions(std::vector<Call>& all) {
  const auto add = [&all](std::string name, auto run) {
    all.push_back({std::move(name), [run](World& world) { return code_of(run(world)); }, true});
  };
  add("Keys::update", [](World& world) { return world.keys->update(1); });
  add("Keys::check_update", [](World& world) {
    const std::vector<Keys::Request> many(100, Keys::Request{2, {}, {}});
    return world.keys->check_update(many);
  });
  add("Keys::insert", [](World& world) { return world.keys->insert(3); });
  add("Keys::lookup", [](World& world) { return world.keys->lookup(3); });
  add("Keys::contains", [](World& world) { return world.keys->contains(3); });
  add("Keys::consumer", [](World& world) { return world.keys->consumer("someone"); });
  add("Keys::tune", [](World& world) { return world.keys->tune(WorldOptions({}).keys); });
  add("PageDb::add", [](World& world) { return world.pages->add(CrawledPage(url_of(1), 5)); });
  add("UrlSeen::update", [](World& world) { return world.seen->update(url_of(2)); });
  add("UrlSeen::contains", [](World& world) { return world.seen->contains(url_of(3)); });
  add("UrlSeen::insert", [](World& world) { return world.seen->insert(url_of(3)); });
  add("Queue::insert", [](World& world) {
    return world.queue->insert(std::vector{QueuedPage{9, 1}});
  });
  add("Queue::update", [](World& world) {
    return world.queue->update(std::vector{QueuedPage{1, 2}});
  });
  add("Queue::remove",
      [](World& world) { return world.queue->remove(std::vector<std::uint64_t>{2}); });
  add("Queue::trim", [](World& world) { return world.queue->trim(3); });
  add("Queue::take", [](World& world) { return world.queue->take(1); });
  add("Queue::clear", [](World& world) { return world.queue->clear(); });
  add("store_scores", [](World& world) {
    const std::vector<float> worth(world.view->info().page_count, 1.0F);
    return store_scores(*world.store, "own", *world.view, worth);
  });
  add("remove_scores", [](World& world) { return remove_scores(*world.store, "own"); });
  add("rank_pages", [](World& world) { return rank_pages(*world.store); });
}

}  // namespace

std::vector<Call> calls() {
  std::vector<Call> all;
  add_store_calls(all);
  add_submissions(all);
  return all;
}

}  // namespace crawlstore::testing
