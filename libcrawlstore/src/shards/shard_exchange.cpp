// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <compare>
#include <functional>
#include <span>
#include <vector>

#include <crawlstore/page_key.h>
#include <crawlstore/page_view.h>
#include <crawlstore/shard_exchange.h>
#include <crawlstore/values.h>

#include "base/inside.h"
#include "pages/page_db_impl.h"
#include "pages/page_view_impl.h"
#include "pages/superstep.h"
#include "shards/outbox.h"
#include "values/exchange_record.h"
#include "values/pending_values.h"

namespace crawlstore {
namespace {

using values::ExchangeRecord;

/// The level of zstd: higher ones save some percent, and take several times the time.
constexpr int kLevel = 3;

static_assert(16 + 8 * values::kStepEndsMax + kShardsMax / 8 <= kSmallValueBytesMax);
static_assert(values::kStepEndsMax == kStepsKept && format::kOutboxShardsMax == kShardsMax);

Result<void> check_several(const Shard& shard) {
  if (!shard.is_alone()) return {};
  return fail(Errc::kInvalidArgument, "the file is no shard: `create --shard I/N` makes one");
}

Result<ExchangeRecord> record_in(const SmallValues& values, const Shard& shard,
                                 std::string_view database) {
  const auto found = values.find(values::exchange_value_name(database));
  if (found != values.end()) return values::parse_exchange(found->second, shard.count);
  ExchangeRecord record;
  record.received.resize(shard.count);
  return record;
}

ExchangeState state_of(const ExchangeRecord& record, const Shard& shard) {
  ExchangeState state{shard, record.step, record.has_ended, record.received[shard.index], {}};
  for (std::uint32_t other = 0; other < shard.count; ++other) {
    if (other != shard.index && !record.received[other]) state.missing.push_back(other);
  }
  return state;
}

/// Notes the outbox of a shard. With the last one of the step the next step begins.
void note(std::uint32_t from, ExchangeRecord& record) {
  record.received[from] = true;
  if (!record.has_ended || !std::ranges::all_of(record.received, std::identity())) return;
  ++record.step;
  record.has_ended = false;
  record.received.assign(record.received.size(), false);
}

/// The key of the page of a URL, which has this place in its block.
struct KeyedUrl {
  PageKey key;
  std::size_t place = 0;
  auto operator<=>(const KeyedUrl&) const = default;
};

/// An exchange of an open page database.
class Exchange {
 public:
  static Result<Exchange> open(Store& store, PageDb& pages) {
    const PageDb::Impl& inside = Inside::of(pages);
    CRAWLSTORE_TRY(inside.check_usable());
    if (inside.store != Inside::of(store).shared_from_this()) {
      return fail(Errc::kInvalidArgument, "the pages are of another store");
    }
    CRAWLSTORE_TRY(check_several(inside.state.shard));
    return Exchange(store, pages, inside.state.shard);
  }

  [[nodiscard]] Result<ExchangeRecord> load() const {
    CRAWLSTORE_TRY(const auto bytes, store_.get(name_));
    SmallValues values;
    if (bytes) values.emplace(name_, *bytes);
    return record_in(values, shard_, Inside::of(pages_).name());
  }
  Result<void> keep(const ExchangeRecord& record) {
    return values::set_reserved(Inside::of(store_).shared_from_this(), name_,
                                values::encode_exchange(record));
  }

  Result<ExchangeState> end(const Progress& progress) {
    CRAWLSTORE_TRY(pages_.merge(progress));
    CRAWLSTORE_TRY(auto record, load());
    if (!record.has_ended) {
      record.has_ended = true;
      record.ends.push_back(pages_.status().page_count);
      if (record.ends.size() > values::kStepEndsMax) record.ends.erase(record.ends.begin());
      CRAWLSTORE_TRY(keep(record));
      CRAWLSTORE_TRY(store_.commit());
    }
    return state_of(record, shard_);
  }

  Result<ExchangeState> note_own() {
    CRAWLSTORE_TRY(auto record, load());
    if (!record.has_ended) {
      return fail(Errc::kInvalidArgument, "the step has not ended: there is no outbox of it");
    }
    if (!record.received[shard_.index]) {
      note(shard_.index, record);
      CRAWLSTORE_TRY(keep(record));
      CRAWLSTORE_TRY(store_.commit());
    }
    return state_of(record, shard_);
  }

  Result<InboxReport> receive(const EventSource& source, const Progress& progress) {
    CRAWLSTORE_TRY(pages_.merge(progress));
    CRAWLSTORE_TRY(store_.commit());
    CRAWLSTORE_TRY(const auto snapshot, store_.snapshot());
    CRAWLSTORE_TRY(const auto view, PageView::open(snapshot, Inside::of(pages_).name()));
    InboxReport report;
    const auto taken = take_all(source, view, report);
    CRAWLSTORE_TRY(store_.commit());  // what came before a message that is damaged
    CRAWLSTORE_TRY(taken);
    return report;
  }

 private:
  Exchange(Store& store, PageDb& pages, const Shard& shard)
      : store_(store),
        pages_(pages),
        shard_(shard),
        name_(values::exchange_value_name(Inside::of(pages).name())) {}

  /// errors  kInvalidArgument: the message is not for these pages
  [[nodiscard]] Result<bool> is_of_later_step(const format::OutboxHeader& header) const {
    const char* wrong = nullptr;
    const auto key = shards::crawl_key(store_.key_seed(), Inside::of(pages_).name(),
                                       Inside::of(pages_).state.table.normalizer);
    if (header.to != shard_.index) wrong = "a message is to another shard";
    if (header.shard_count != shard_.count) wrong = "a message is of another number of shards";
    if (header.crawl_key != key) {
      wrong = "a message is of another crawl, page database or normaliser";
    }
    if (wrong != nullptr) return fail(Errc::kInvalidArgument, wrong);
    CRAWLSTORE_TRY(const auto record, load());
    return header.step > record.newest_end();
  }

  Result<void> take_all(const EventSource& source, const PageView& view, InboxReport& report) {
    shards::MessageReader messages(source);
    CRAWLSTORE_TRY(auto block, messages.next());
    while (block) {
      CRAWLSTORE_TRY(const bool is_early, is_of_later_step(block->header));
      if (!is_early) {
        CRAWLSTORE_TRY(take(block->urls, view, report));
        if (block->header.is_last) CRAWLSTORE_TRY(finish(block->header, report));
      } else if (block->header.is_last) {
        ++report.message_count;
        ++report.early_count;
      }
      CRAWLSTORE_TRY(block, messages.next());
    }
    return {};
  }

  /// Makes pages of the URLs of a block that the view does not have.
  Result<void> take(std::span<const std::string_view> urls, const PageView& view,
                    InboxReport& report) {
    std::vector<KeyedUrl> keyed;
    keyed.reserve(urls.size());
    for (const std::string_view url : urls) {
      if (!shard_.has(url_host(url))) {
        return fail(Errc::kInvalidArgument, "a message has a page that is not of this shard");
      }
      keyed.push_back({page_key(url, store_.key_seed()), keyed.size()});
    }
    std::ranges::sort(keyed);
    CRAWLSTORE_TRY(const auto is_there, find_those_there(keyed, view));
    report.url_count += urls.size();
    for (std::size_t place = 0; place < urls.size(); ++place) {
      if (is_there[place]) continue;
      ++report.new_count;
      CrawlEvent event;
      event.kind = CrawlEventKind::kKnown;
      event.url = urls[place];
      CRAWLSTORE_TRY(pages_.add(event));
    }
    return {};
  }

  /// Returns, by place, whether the view has a page of the URL: one with its key and witness, as
  /// supersteps have it, so that no URL is unpacked.
  static Result<std::vector<bool>> find_those_there(std::span<const KeyedUrl> urls,
                                                    const PageView& view) {
    std::vector<bool> is_there(urls.size());
    const auto& keys = Inside::of(view).keys;
    if (!keys) return is_there;
    std::vector<Key16> sought;
    std::vector<std::size_t> firsts;  // of those with this key
    for (std::size_t i = 0; i < urls.size(); ++i) {
      if (!sought.empty() && urls[i].key.key == sought.back()) continue;
      sought.push_back(urls[i].key.key);
      firsts.push_back(i);
    }
    firsts.push_back(urls.size());
    const auto found = [&](std::size_t number, std::span<const std::byte> value) -> Result<void> {
      for (std::size_t i = firsts[number]; i < firsts[number + 1]; ++i) {
        if (pages::witness_in(value) == urls[i].key.witness) is_there[urls[i].place] = true;
      }
      return {};
    };
    CRAWLSTORE_TRY(keys->find_sorted(sought, found));
    return is_there;
  }

  Result<void> finish(const format::OutboxHeader& header, InboxReport& report) {
    CRAWLSTORE_TRY(auto record, load());
    ++report.message_count;
    if (header.step < record.step || record.received[header.from]) {
      ++report.stale_count;
    } else {
      note(header.from, record);
      CRAWLSTORE_TRY(keep(record));
    }
    return {};
  }

  Store& store_;
  PageDb& pages_;
  Shard shard_;
  std::string name_;
};

}  // namespace

Result<ExchangeState> read_exchange(const Snapshot& snapshot, std::string_view database) {
  CRAWLSTORE_TRY(const Shard shard, read_shard(snapshot));
  CRAWLSTORE_TRY(check_several(shard));
  CRAWLSTORE_TRY(const auto values, read_values(snapshot));
  CRAWLSTORE_TRY(const auto record, record_in(values, shard, database));
  return state_of(record, shard);
}

Result<ExchangeState> end_step(Store& store, PageDb& pages, const Progress& progress) {
  CRAWLSTORE_TRY(auto exchange, Exchange::open(store, pages));
  return exchange.end(progress);
}

Result<ExchangeState> note_sent(Store& store, PageDb& pages) {
  CRAWLSTORE_TRY(auto exchange, Exchange::open(store, pages));
  return exchange.note_own();
}

Result<InboxReport> receive_outbox(Store& store, PageDb& pages, const EventSource& source,
                                   const Progress& progress) {
  CRAWLSTORE_TRY(auto exchange, Exchange::open(store, pages));
  return exchange.receive(source, progress);
}

Result<OutboxReport> write_outbox(const Snapshot& snapshot, std::uint64_t step,
                                  const OutboxSink& sink, std::string_view database) {
  CRAWLSTORE_TRY(const Shard shard, read_shard(snapshot));
  CRAWLSTORE_TRY(check_several(shard));
  CRAWLSTORE_TRY(const auto view, PageView::open(snapshot, database));
  CRAWLSTORE_TRY(const auto values, read_values(snapshot));
  CRAWLSTORE_TRY(const auto record, record_in(values, shard, database));
  const std::uint64_t newest = record.newest_end();
  if (step == 0 || step > newest) {
    return fail(Errc::kInvalidArgument, "the step has not ended: there is no outbox of it");
  }
  if (newest - step >= record.ends.size()) {
    return fail(Errc::kInvalidArgument, "the step is too old: ask for the oldest that is kept");
  }
  const std::size_t place = record.ends.size() - 1 - static_cast<std::size_t>(newest - step);
  const std::uint64_t end = std::min(record.ends[place], view.info().page_count);
  OutboxReport report;
  std::vector<shards::MessageWriter> messages;
  format::OutboxHeader header;
  header.step = step;
  header.crawl_key = shards::crawl_key(snapshot.key_seed(), database, view.info().normalizer);
  header.shard_count = shard.count;
  header.from = shard.index;
  format::FrameCompressor compressor({}, kLevel);
  for (header.to = 0; header.to < shard.count; ++header.to) {
    messages.emplace_back(header, compressor, sink, report);
  }
  for (std::uint64_t page = place == 0 ? 0 : record.ends[place - 1]; page < end; ++page) {
    CRAWLSTORE_TRY(const auto state, view.state(page));
    if (state != PageState::kElsewhere) continue;
    CRAWLSTORE_TRY(const std::string url, view.url(page));
    const std::uint32_t to = shard_of(url_host(url), shard.count);
    if (to != shard.index) CRAWLSTORE_TRY(messages[to].add(url));
  }
  for (std::uint32_t to = 0; to < shard.count; ++to) {
    if (to != shard.index) CRAWLSTORE_TRY(messages[to].finish());
  }
  return report;
}

}  // namespace crawlstore
