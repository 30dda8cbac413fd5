// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked: whatever is done to a page database, in whatever order, with reopening
// between, hosts forgotten, and more URLs than a dictionary begins with,
//   - indexes, URLs and links, both ways, are those of a model that knows nothing of supersteps;
//   - deep verification finds nothing.

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/tools/verify.h>

#include "container/create.h"
#include "require.h"

namespace {
using namespace crawlstore;
using namespace crawlstore::fuzz;

constexpr std::size_t kPaddingBytes = 4000;  // 130 such URLs are more than 512 KiB
const auto kHostRoot = [](unsigned n) { return "http://h" + std::to_string(n % 4) + ".test/"; };

struct World {
  World() {
    must(container::write_empty_store(*open_memory_storage(file, OpenMode::kWrite), {}, 1));
    open();
  }
  void open() {
    pages.reset();
    store.reset();
    store.emplace(must(Store::open(open_memory_storage(file, OpenMode::kWrite))));
    pages.emplace(must(PageDb::open(
        *store, "fuzz", {.memory_bytes = 1 << 20, .bucket_keys_max = 100, .parallel = false})));
  }
  std::uint64_t intern(const std::string& url) {
    const auto place = std::find(urls.begin(), urls.end(), url) - urls.begin();
    if (place == std::ssize(urls)) urls.push_back(url);
    return static_cast<std::uint64_t>(place);
  }
  void crawl(const std::string& url, const std::string& target) {
    const std::uint64_t from = intern(url);
    std::erase_if(links, [from](const auto& link) { return link.first == from; });
    links.emplace(from, intern(target));
    CrawledPage page(url, 1);
    page.add_link(target);
    must(pages->add(page));
  }
  void forget(const std::string& prefix) {
    must(pages->forget([&](std::string_view url) { return url.starts_with(prefix); }));
    const auto is_gone = [&](std::uint64_t index) { return urls[index].starts_with(prefix); };
    std::erase_if(links, [&](const auto& l) { return is_gone(l.first) || is_gone(l.second); });
    for (auto& url : urls) url = url.starts_with(prefix) ? std::string() : url;
  }
  void check() {
    must(pages->merge());
    const PageView view = must(PageView::open(must(store->snapshot()), "fuzz"));
    require(view.info().page_count == urls.size() && view.info().link_count == links.size());
    std::uint64_t both_ways = 0;
    for (std::uint64_t index = 0; index < urls.size(); ++index) {
      require(must(view.url(index)) == urls[index]);
      if (!urls[index].empty()) require(must(view.find_text(urls[index])) == index);
      for (auto target : must(view.out_links(index))) both_ways += links.count({index, target});
      for (auto source : must(view.in_links(index))) both_ways += links.count({source, index});
    }
    require(both_ways == 2 * links.size());
    require(must(verify(*open_memory_storage(file, OpenMode::kRead), {VerifyLevel::kDeep, {}}))
                .findings.empty());
  }
  std::shared_ptr<MemoryFile> file = make_memory_file({}, 1 << 25);
  std::optional<Store> store;
  std::optional<PageDb> pages;
  std::vector<std::string> urls;  // by index; empty: forgotten
  std::set<std::pair<std::uint64_t, std::uint64_t>> links;
};
}  // namespace
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  World world;
  std::size_t filled_count = 0;
  for (const auto* op = data; op + 2 < data + size && op < data + 180; op += 3) {
    const auto [code, a, b] = std::array<unsigned, 3>{op[0], op[1], op[2]};
    const std::string page = kHostRoot(a) + std::to_string(a / 4);
    for (unsigned n = 0; code / 32 == 4 && n < b && filled_count < 600; ++n, ++filled_count) {
      const std::string url = kHostRoot(a) + std::to_string(n) + "/";
      world.crawl(url + std::string(kPaddingBytes, static_cast<char>('a' + n % 26)), page);
    }
    if (code / 32 < 4) world.crawl(page, kHostRoot(b) + std::to_string(b / 4));
    if (code / 32 == 5) must(world.pages->merge());
    if (code / 32 == 6) world.forget(kHostRoot(a));
    if (code / 16 == 14) must(world.pages->compact());
    if (code / 16 == 15) world.open();
  }
  world.check();
  return 0;
}
