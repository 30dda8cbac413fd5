// SPDX-License-Identifier: Apache-2.0
#include "store_walk.h"

#include <crawlstore/drum_core.h>
#include <crawlstore/drum_view.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/snapshot.h>
#include <crawlstore/store.h>
#include <crawlstore/tools/diff.h>
#include <crawlstore/tools/drum_cursor.h>
#include <crawlstore/tools/drum_statistics.h>
#include <crawlstore/tools/file_map.h>
#include <crawlstore/tools/generations.h>
#include <crawlstore/tools/inspect.h>
#include <crawlstore/tools/verify.h>

#include "require.h"
#include "store_image.h"

namespace crawlstore::fuzz {
namespace {

/// A tally of results: ok() while none has failed.
class Tally {
 public:
  template <class T>
  bool operator()(const Result<T>& result) {
    ok_ = ok_ && result.has_value();
    return result.has_value();
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  bool ok_ = true;
};

void walk_windows(const DrumView& view, Tally& tally) {
  tally(gap_histogram(view));
  const auto middle = keys_at(view, view.info().key_count / 2, 3);
  if (tally(middle) && !middle->empty()) {
    const auto row = row_of(view, middle->front().key);
    // An index that lies leads elsewhere; deep verification sees that.
    require(!tally(row) || *row <= view.info().key_count);
    tally(find_key(view, middle->front().key));
  }
  for (std::uint64_t b = 0; b < view.buckets().size(); ++b) {
    tally(partition_info(view, b));
    tally(pending_at(view, b, view.buckets()[b].pending_count / 2, 3));
  }
}

void walk_drum(const Snapshot& snapshot, std::string_view name, Tally& tally) {
  const auto view = DrumView::open(snapshot, name);
  if (!tally(view)) return;
  std::uint64_t key_count = 0;
  Key16 last;
  tally(view->for_each_key([&](Key16 key, std::span<const std::byte>) {
    require(key_count == 0 || last < key);
    last = key;
    if (++key_count % 64 == 0) tally(view->lookup(key));
    return key_count < 10'000;
  }));
  tally(
      view->for_each_pending([](std::uint64_t, const RawRequest&, std::uint64_t) { return true; }));
  tally(view->lookup(0));
  tally(view->lookup(~std::uint64_t{0}));
  walk_windows(*view, tally);
}

void walk_links(const PageView& view, const LinkStreamOptions& options, Tally& tally) {
  auto stream = view.links(options);
  if (!tally(stream)) return;
  std::uint64_t next_page = 0;
  for (std::uint64_t rows = 0; rows < 10'000; ++rows) {
    const auto more = stream->next();
    if (!tally(more) || !*more) return;
    require(stream->page() >= next_page && !stream->links().empty());
    next_page = stream->page() + 1;
  }
}

void walk_pages(const Snapshot& snapshot, std::string_view name, Tally& tally) {
  const auto view = PageView::open(snapshot, name);
  if (!tally(view)) return;
  for (std::uint64_t index = 0; index < std::min<std::uint64_t>(view->info().page_count, 300);
       ++index) {
    const auto page = view->page(index);
    tally(view->out_links(index));
    tally(view->in_links(index));
    if (!tally(page)) continue;
    require(!page->linked_from || *page->linked_from < index);
    const auto found = view->find_text(page->url);
    if (tally(found)) require(!*found || **found < view->info().page_count);
  }
  for (const bool incoming : {false, true}) {
    for (const bool only_other_hosts : {false, true}) {
      walk_links(*view, {.incoming = incoming, .only_other_hosts = only_other_hosts}, tally);
    }
  }
  const auto scores = view->scores();
  if (tally(scores)) require(scores->size() == view->info().page_count);
  std::uint64_t key_count = 0;
  tally(view->for_each_key([&](Key16, std::uint64_t) { return ++key_count < 10'000; }));
  tally(view->for_each_page_of("h1.test", [](const PageInfo&) { return true; }));
  tally(view->for_each_event([](const CrawlEvent&) { return true; }));
}

/// Every byte once.
void walk_map(const Snapshot& snapshot, Tally& tally) {
  const auto map = extents(snapshot);
  const auto info = snapshot.info();
  if (!tally(map) || !tally(info)) return;
  std::uint64_t end = 0;
  for (const ExtentInfo& piece : *map) {
    require(piece.extent.offset_bytes == end && piece.extent.length_bytes != 0);
    end = piece.extent.end_bytes();
  }
  require(end == info->file_bytes);
}

void walk_snapshot(const Snapshot& snapshot, Tally& tally) {
  tally(snapshot.info());
  tally(snapshot.free_extents());
  tally(snapshot.pins());
  (void)snapshot.held();
  walk_map(snapshot, tally);
  for (const SegmentInfo& segment : snapshot.segments()) {
    tally(describe(snapshot, segment.id, {.entries_max = 8}));
    for (const auto& run : segment.runs) tally(snapshot.read_run(segment.id, run.run_id));
  }
  const auto itself = diff(snapshot, snapshot);
  if (tally(itself)) require(!itself->differs());
  const auto drums = list_drums(snapshot);
  if (!tally(drums)) return;
  for (const DrumInfo& drum : *drums) walk_drum(snapshot, drum.name, tally);
  for (const std::string& name : PageView::names(snapshot)) walk_pages(snapshot, name, tally);
}

}  // namespace

bool walk(std::shared_ptr<Storage> file) {
  Tally tally;
  const auto copies = generations(*file);
  const auto snapshot = Snapshot::open(std::move(file));
  if (snapshot) require(tally(copies) && copies->size() == 4);
  if (tally(snapshot)) walk_snapshot(*snapshot, tally);
  return tally.ok();
}

bool write(std::unique_ptr<Storage> file) {
  Tally tally;
  auto store = Store::open(std::move(file));
  if (!tally(store)) return false;
  {
    DrumOptions options;
    options.parallel = false;
    options.array_elements = 64;
    const auto drum = DrumCore::open(*store, "fuzz", -1, options);
    if (!tally(drum)) return false;
    (*drum)->attach({}, [](std::span<const RawAnswer>) {});
    for (std::uint64_t key = 1; key < 9; ++key) {
      RawRequest request;
      request.operation = DrumOperation::kCheckUpdate;
      request.key = key << 60;
      tally((*drum)->submit(request));
    }
    tally((*drum)->merge());
    tally((*drum)->take_results({1}, [](std::span<const RawAnswer>) {}));
  }
  tally(store->commit());
  tally(store->close());
  return tally.ok();
}

bool write_pages(std::unique_ptr<Storage> file) {
  Tally tally;
  auto store = Store::open(std::move(file));
  if (!tally(store)) return false;
  {
    auto pages = PageDb::open(*store, "fuzz");
    if (!tally(pages)) return false;
    CrawledPage page("http://h1.test/1", 5);
    page.add_link("http://new.test/");
    page.add_link("http://h2.test/2");
    tally(pages->add(page));
    tally(pages->merge());
    tally(pages->forget([](std::string_view url) { return url.starts_with("http://h2."); }));
    tally(pages->compact());
    tally(pages->close());
  }
  tally(store->close());
  return tally.ok();
}

void check_file(const std::vector<std::byte>& bytes, bool (*write)(std::unique_ptr<Storage> file)) {
  const auto open = [&bytes](OpenMode mode) {
    return open_memory_storage(make_memory_file(bytes, std::uint64_t{1} << 23), mode);
  };
  const std::shared_ptr<Storage> file = open(OpenMode::kRead);
  const auto report = verify(*file, {VerifyLevel::kDeep, {}});
  const bool is_whole = report && report->findings.empty();
  (void)describe_file(*file, {.entries_max = 8});
  for (std::uint64_t offset = 0; offset < bytes.size(); offset += 20'480) {
    (void)describe_at(*file, offset, {.entries_max = 8});
  }
  const bool is_walked = walk(file);
  const bool is_written = write(open(OpenMode::kWrite));
  require(!is_whole || (is_walked && is_written));
}

}  // namespace crawlstore::fuzz
