// SPDX-License-Identifier: Apache-2.0
// What a stranger's program does with the installed library: makes a store, asks DRUM about URLs,
// opens the file again. Prints "1 unique, 1 duplicate".

#include <iostream>
#include <string>

#include <crawlstore/drum.h>
#include <crawlstore/store.h>
#include <crawlstore/url.h>

namespace {

struct Verdicts {
  int unique = 0;
  int duplicate = 0;
  void unique_key_update(const auto& /*answer*/) { ++unique; }
  void duplicate_key_update(const auto& /*answer*/) { ++duplicate; }
};

crawlstore::Result<Verdicts> ask_twice(const std::string& path) {
  auto store = crawlstore::Store::create(path);
  if (!store) return tl::unexpected(store.error());
  auto drum = crawlstore::Drum<std::uint64_t>::open(*store, "seen");
  if (!drum) return tl::unexpected(drum.error());
  crawlstore::UrlNormalizer normalizer;
  for (const char* url : {"HTTP://example.org:80/a", "http://EXAMPLE.org/a#b"}) {
    const auto key = crawlstore::url_key(normalizer.normalize(url).text, store->key_seed());
    CRAWLSTORE_TRY(drum->check_update(key));
  }
  Verdicts verdicts;
  CRAWLSTORE_TRY(drum->merge(verdicts));
  return verdicts;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "consumer.crawl";
  const auto verdicts = ask_twice(path);
  if (!verdicts) {
    std::cerr << crawlstore::describe(verdicts.error()) << '\n';
    return 1;
  }
  std::cout << verdicts->unique << " unique, " << verdicts->duplicate << " duplicate\n";
  return crawlstore::Snapshot::open(path) ? 0 : 1;
}
