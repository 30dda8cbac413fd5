// SPDX-License-Identifier: Apache-2.0
//
// A table of the places where the library calls a function of the program, by what that function
// may try there.
#include <stdexcept>

#include <gtest/gtest.h>

#include "callbacks/callback_world.h"

namespace crawlstore::testing {
namespace {

/// A file after the work of a context without anything inside, or after more.
std::shared_ptr<MemoryFile> file_after(const Context& context,
                                       const std::function<void(World&)>& inside = {}) {
  World world;
  if (inside) world.inside = [&] { inside(world); };
  must(context.run(world));
  EXPECT_GT(world.callback_count, 0) << context.name;
  world.close();
  return world.file;
}

TEST(Callbacks, RefuseEveryCallThatChangesTheStore) {
  for (const Context& context : contexts()) {
    SCOPED_TRACE(context.name);
    const auto without = file_after(context);
    const auto with = file_after(context, [](World& world) {
      for (const Call& call : calls()) {
        EXPECT_EQ(call.run(world), Errc::kReentrant) << call.name;
      }
    });
    EXPECT_EQ(contents(*with), contents(*without));
    whole_content(with);
  }
}

TEST(Callbacks, AreTheOnlyPlacesThatRefuseThem) {
  for (const Call& call : calls()) {
    World world;
    EXPECT_NE(call.run(world), Errc::kReentrant) << call.name;
    world.close();
    whole_content(world.file);
  }
}

TEST(Callbacks, MaySubmitInDispatchersAlone) {
  for (const Context& context : dispatchers()) {
    SCOPED_TRACE(context.name);
    const auto without = file_after(context);
    const auto with = file_after(context, [](World& world) {
      for (const Call& call : calls()) {
        if (call.submits) continue;
        EXPECT_EQ(call.run(world), Errc::kReentrant) << call.name;
      }
    });
    EXPECT_EQ(contents(*with), contents(*without));
    for (const Call& call : calls()) {
      if (!call.submits) continue;
      whole_content(file_after(context, [&](World& world) {
        if (world.callback_count > 1) return;
        EXPECT_NE(call.run(world), Errc::kReentrant) << call.name;
      }));
    }
  }
}

/// Throws in a context at one call of its function after another, until none is left, and returns
/// what the file holds when the work has been done nevertheless.
Content content_after_throwing(const Context& context) {
  World world;
  int throwing = 1;
  for (bool has_thrown = true; has_thrown; throwing += throwing) {
    has_thrown = false;
    world.callback_count = 0;
    world.inside = [&] {
      if (world.callback_count != throwing) return;
      has_thrown = true;
      throw std::runtime_error("no");
    };
    try {
      const auto done = context.run(world);
      EXPECT_TRUE(!has_thrown || !context.rethrows) << "not rethrown";
      if (!has_thrown) must(done);
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(has_thrown && context.rethrows);
    }
  }
  EXPECT_GT(throwing, 1);
  world.close();
  return whole_content(world.file);
}

TEST(Callbacks, ThrowAndLeaveTheStoreUsable) {
  for (const Context& context : contexts()) {
    SCOPED_TRACE(context.name);
    EXPECT_EQ(content_after_throwing(context), whole_content(file_after(context)));
  }
}

struct Handle {
  std::string name;
  std::function<void(World&)> destroy;
};

std::vector<Handle> handles() {
  return {{"Store", [](World& world) { world.store.reset(); }},
          {"Keys", [](World& world) { world.keys.reset(); }},
          {"PageDb", [](World& world) { world.pages.reset(); }},
          {"Queue", [](World& world) { world.queue.reset(); }},
          {"all but UrlSeen",
           [](World& world) {
             world.queue.reset();
             world.pages.reset();
             world.keys.reset();
             world.store.reset();
           }},
          {"all", [](World& world) {
             world.seen.reset();
             world.store.reset();
             world.queue.reset();
             world.pages.reset();
             world.keys.reset();
           }}};
}

TEST(Callbacks, MayDestroyTheHandlesThatTheirWorkUses) {
  auto all = contexts();
  std::ranges::move(dispatchers(), std::back_inserter(all));
  for (const Context& context : all) {
    const Content without = whole_content(file_after(context));
    for (const Handle& handle : handles()) {
      SCOPED_TRACE(context.name + ", " + handle.name);
      const bool needs_store =
          handle.name != "Keys" && handle.name != "PageDb" && handle.name != "Queue";
      if (context.needs_the_store && needs_store) continue;
      if (context.name == "rules of UrlSeen" && handle.name == "all") continue;  // see url.h
      EXPECT_EQ(whole_content(file_after(context, handle.destroy)), without);
    }
  }
}

TEST(Callbacks, KeepWhatADispatcherSubmitsThatDestroysAllHandles) {
  for (const Context& context : dispatchers()) {
    const auto content = [&context](const std::function<void(World&)>& then) {
      return whole_content(file_after(context, [&then](World& world) {
        if (world.callback_count != 1) return;
        world.submit(2'000);
        then(world);
      }));
    };
    const Content without = content([](World&) {});
    for (const Handle& handle : handles()) {
      SCOPED_TRACE(context.name + ", " + handle.name);
      EXPECT_EQ(content(handle.destroy), without);
    }
  }
}

}  // namespace
}  // namespace crawlstore::testing
