// SPDX-License-Identifier: Apache-2.0
#include "golden/golden_json.h"

#include <bit>

#include <crawlstore/drum_view.h>
#include <crawlstore/frontier_view.h>
#include <crawlstore/page_view.h>
#include <crawlstore/queue.h>
#include <crawlstore/tools/verify.h>
#include <crawlstore/values.h>

#include "base/inside.h"
#include "container/reader.h"
#include "drum/key_source.h"
#include "drum/result_columns.h"
#include "format/drum_table.h"
#include "format/endian.h"
#include "format/frontier_table.h"
#include "format/queue_run.h"
#include "format/queue_table.h"
#include "format/score_array.h"
#include "format/step_run.h"
#include "pages/content_index.h"
#include "pages/fresh_keys.h"

namespace crawlstore::testing {
namespace {

using nlohmann::json;

std::string hex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

const char* name_of(DrumOperation operation) {
  if (operation == DrumOperation::kCheck) return "check";
  return operation == DrumOperation::kUpdate ? "update" : "check_update";
}

json segments_of(const Snapshot& snapshot) {
  json all = json::array();
  for (const SegmentInfo& segment : snapshot.segments()) {
    json runs = json::array();
    for (const RunInfo& run : segment.runs) {
      runs.push_back({{"run_id", run.run_id.value},
                      {"born", run.born.value},
                      {"offset_bytes", run.extent.offset_bytes},
                      {"payload_bytes", run.payload_bytes},
                      {"record_count", run.record_count}});
    }
    all.push_back({{"id", segment.id.value},
                   {"kind", crawlstore::name_of(segment.kind)},
                   {"storage_class", crawlstore::name_of(segment.storage_class)},
                   {"owner", segment.owner.value},
                   {"name", segment.name},
                   {"runs", runs}});
  }
  return all;
}

json held_of(const Snapshot& snapshot) {
  auto held = snapshot.held();
  std::sort(held.begin(), held.end(),
            [](const auto& a, const auto& b) { return a.extent < b.extent; });
  json all = json::array();
  for (const HeldInfo& entry : held) {
    all.push_back({{"offset_bytes", entry.extent.offset_bytes},
                   {"length_bytes", entry.extent.length_bytes},
                   {"born", entry.born.value},
                   {"retired", entry.retired.value}});
  }
  return all;
}

/// A key of 8 bytes is a number, one of 16 a list of two.
json json_of(Key16 key, const DrumInfo& info) {
  return info.key_bytes == 8 ? json(key.head) : json::array({key.head, key.tail});
}

Result<json> buckets_of(const DrumView& view) {
  json all = json::array();
  for (const auto& bucket : view.buckets()) {
    all.push_back(
        {{"first_key", bucket.first_key}, {"keys", json::array()}, {"pending", json::array()}});
    if (view.info().value_bytes != 0) all.back()["values"] = json::array();
  }
  std::size_t number = 0;
  CRAWLSTORE_TRY(view.for_each_key([&](Key16 key, std::span<const std::byte> value) {
    while (number + 1 < view.buckets().size() && view.buckets()[number + 1].first_key <= key.head)
      ++number;
    all[number]["keys"].push_back(json_of(key, view.info()));
    if (view.info().value_bytes != 0) all[number]["values"].push_back(hex(value));
    return true;
  }));
  CRAWLSTORE_TRY(view.for_each_pending(
      [&](std::uint64_t bucket, const RawRequest& request, std::uint64_t sequence) {
        all[bucket]["pending"].push_back(
            {{"key", json_of({request.key, request.key_tail}, view.info())},
             {"operation", name_of(request.operation)},
             {"consumer", request.consumer.value},
             {"sequence", sequence},
             {"value", hex(request.value)},
             {"aux", hex(request.aux)}});
        return true;
      }));
  return all;
}

Result<json> consumers_of(const Snapshot& snapshot, const DrumInfo& info) {
  const auto* entry = Inside::of(snapshot).directory().find(info.id);
  const auto payload = snapshot.read_run(info.id, entry->runs.front().run_id);
  if (!payload) return tl::unexpected<Error>(payload.error());
  const auto table = format::parse_drum_table(*payload);
  if (!table) return tl::unexpected<Error>(table.error());
  json all = json::array();
  for (const auto& consumer : table->consumers) {
    json results = json::array();
    const auto* log = Inside::of(snapshot).directory().find(consumer.results);
    for (std::size_t i = 0; log != nullptr && i < log->runs.size(); ++i) {
      const auto run = snapshot.read_run(log->id, log->runs[i].run_id);
      if (!run) return tl::unexpected<Error>(run.error());
      CRAWLSTORE_TRY(drum::for_each_answer(*run, [&](auto answers) -> Result<void> {
        for (const RawAnswer& answer : answers) {
          results.push_back({{"key", json_of({answer.key, answer.key_tail}, info)},
                             {"operation", name_of(answer.operation)},
                             {"sequence", answer.sequence},
                             {"duplicate", answer.duplicate},
                             {"value", hex(answer.value)},
                             {"aux", hex(answer.aux)}});
        }
        return {};
      }));
    }
    all.push_back({{"id", consumer.id.value}, {"name", consumer.name}, {"results", results}});
  }
  return all;
}

Result<json> drums_of(const Snapshot& snapshot) {
  json all = json::array();
  const auto drums = list_drums(snapshot);
  if (!drums) return tl::unexpected<Error>(drums.error());
  for (const DrumInfo& info : *drums) {
    const auto view = DrumView::open(snapshot, info.name);
    if (!view) return tl::unexpected<Error>(view.error());
    auto buckets = buckets_of(*view);
    if (!buckets) return buckets;
    auto consumers = consumers_of(snapshot, info);
    if (!consumers) return consumers;
    all.push_back({{"id", info.id.value},
                   {"name", info.name},
                   {"key_bytes", info.key_bytes},
                   {"key_scheme", info.key_scheme},
                   {"value_bytes", info.value_bytes},
                   {"next_sequence", info.next_sequence},
                   {"merge_count", info.merge_count},
                   {"unparsed_count", info.unparsed_count},
                   {"merge_bytes", info.merge_bytes},
                   {"merge_requests", info.merge_requests},
                   {"normalizer", info.normalizer},
                   {"partition_keys_max", info.partition_keys_max},
                   {"buckets", *buckets},
                   {"consumers", *consumers}});
  }
  return all;
}

std::string hex(std::string_view text) {
  return hex(std::as_bytes(std::span(text)));
}

json json_of(const PageInfo& page) {
  return {{"index", page.index},
          {"url", hex(page.url)},
          {"linked_from", page.linked_from ? json(*page.linked_from) : json()},
          {"by_redirect", page.by_redirect},
          {"depth", page.depth},
          {"state", crawlstore::name_of(page.state)},
          {"crawl_count", page.crawl_count},
          {"change_count", page.change_count},
          {"first_crawl_us", page.first_crawl_us},
          {"last_crawl_us", page.last_crawl_us},
          {"score", page.score},
          {"content_hash", hex(page.content_hash)},
          {"http_status", page.http_status},
          {"failure_count", page.failure_count}};
}

json json_of(const CrawlEvent& event) {
  json links = json::array();
  for (const EventLink& link : event.links) {
    links.push_back({{"url", hex(link.url)}, {"index", link.index}, {"score", link.score}});
  }
  return {{"kind", crawlstore::name_of(event.kind)},
          {"url", hex(event.url)},
          {"index", event.index},
          {"time_us", event.time_us},
          {"score", event.score},
          {"content_hash", hex(event.content_hash)},
          {"http_status", event.http_status},
          {"links", links}};
}

/// Rows of pages that have links.
Result<json> links_of(const PageView& view, bool incoming) {
  LinkStreamOptions options;
  options.incoming = incoming;
  auto stream = view.links(options);
  if (!stream) return tl::unexpected<Error>(stream.error());
  json all = json::array();
  for (;;) {
    const auto more = stream->next();
    if (!more) return tl::unexpected<Error>(more.error());
    if (!*more) return all;
    all.push_back({{"page", stream->page()}, {"links", stream->links()}});
  }
}

/// The keys of such logs of a page database, and their values, run by run.
Result<json> keys_of(const Snapshot& snapshot, SegmentId pages, SegmentKind kind,
                     drum::Shape shape) {
  json all = json::array();
  container::Reader& reader = Inside::of(snapshot);
  std::vector<format::SegmentEntry> logs;
  reader.directory().for_each_segment([&](const format::SegmentEntry& entry) {
    if (entry.kind == kind && entry.owner == pages) logs.push_back(entry);
  });
  for (const auto& log : logs) {
    for (const auto& run : log.runs) {
      auto keys = drum::PartitionKeys::open(
          *reader.storage(), container::run_name(reader.identity(), log.id, run.run_id), run,
          shape);
      if (!keys) return tl::unexpected<Error>(keys.error());
      all.push_back({{"keys", json::array()}, {"values", json::array()}});
      for (; !(*keys)->at_end();) {
        all.back()["keys"].push_back(json::array({(*keys)->key().head, (*keys)->key().tail}));
        all.back()["values"].push_back(hex((*keys)->edit().value));
        CRAWLSTORE_TRY((*keys)->advance());
      }
    }
  }
  return all;
}

Result<json> fresh_keys_of(const Snapshot& snapshot, SegmentId pages) {
  return keys_of(snapshot, pages, SegmentKind::kFreshKeys, crawlstore::pages::kPageKeyShape);
}

Result<json> contents_of(const Snapshot& snapshot, SegmentId pages) {
  CRAWLSTORE_TRY(const auto runs, keys_of(snapshot, pages, SegmentKind::kPageContents,
                                          crawlstore::pages::kContentKeyShape));
  json all = json::array();
  for (const json& run : runs) all.push_back(run["keys"]);
  return all;
}

/// `count` numbers that stand one behind another.
template <class Number, class Bits>
json numbers_of(std::span<const std::byte> bytes, std::uint64_t count) {
  json numbers = json::array();
  for (std::uint64_t i = 0; i < count; ++i) {
    numbers.push_back(std::bit_cast<Number>(format::load<Bits>(bytes.data() + i * sizeof(Bits))));
  }
  return numbers;
}

std::string_view name_of(ScoreSubject subject) {
  if (subject == ScoreSubject::kPage) return "page";
  return subject == ScoreSubject::kHost ? "host" : "domain";
}

/// The scores of a page database, by segment.
Result<json> scores_of(const Snapshot& snapshot, SegmentId pages) {
  json all = json::array();
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.kind != SegmentKind::kScoreArray || segment.owner != pages) continue;
    CRAWLSTORE_TRY(const auto payload, snapshot.read_run(segment.id, segment.runs.front().run_id));
    const std::span bytes(payload);
    CRAWLSTORE_TRY(
        const auto array,
        format::parse_score_footer(bytes.last(std::min(bytes.size(), sizeof(format::ScoreFooter))),
                                   bytes.size()));
    const format::ScorePlaces places = format::score_places(array);
    const auto first_pages = bytes.subspan(places.first_pages.offset_bytes);
    all.push_back(
        {{"name", segment.name},
         {"scorer", static_cast<std::uint16_t>(array.scorer)},
         {"subject", name_of(array.subject)},
         {"page_count", array.page_count},
         {"link_count", array.link_count},
         {"superstep_count", array.superstep_count},
         {"generation", array.generation.value},
         {"time_us", array.time_us},
         {"damping", array.damping},
         {"precision", array.precision},
         {"residual", array.residual},
         {"sum", array.sum},
         {"flags", array.flags},
         {"values", array.codec == format::ScoreCodec::kFloat32
                        ? numbers_of<float, std::uint32_t>(bytes, array.entry_count)
                        : numbers_of<double, std::uint64_t>(bytes, array.entry_count)},
         {"first_pages", numbers_of<std::uint64_t, std::uint64_t>(
                             first_pages, places.first_pages.length_bytes / 8)},
         {"residuals", numbers_of<double, std::uint64_t>(
                           bytes.subspan(places.residuals.offset_bytes), array.iteration_count)}});
  }
  return all;
}

Result<json> pages_of(const Snapshot& snapshot) {
  json all = json::array();
  for (const std::string& name : PageView::names(snapshot)) {
    const auto view = PageView::open(snapshot, name);
    if (!view) return tl::unexpected<Error>(view.error());
    json pages = json::array();
    CRAWLSTORE_TRY(view->for_each_page([&pages](const PageInfo& page) {
      const bool says_something =
          !page.url.empty() || page.state != PageState::kKnown || page.score != 0;
      if (says_something) pages.push_back(json_of(page));
      return true;
    }));
    json events = json::array();
    CRAWLSTORE_TRY(view->for_each_event([&events](const CrawlEvent& event) {
      events.push_back(json_of(event));
      return true;
    }));
    auto out = links_of(*view, false);
    if (!out) return out;
    auto in = links_of(*view, true);
    if (!in) return in;
    const PagesInfo& info = view->info();
    auto fresh_keys = fresh_keys_of(snapshot, info.id);
    if (!fresh_keys) return fresh_keys;
    CRAWLSTORE_TRY(const auto scores, scores_of(snapshot, info.id));
    all.push_back({{"id", info.id.value},
                   {"name", info.name},
                   {"has_urls", info.has_urls},
                   {"normalizer", info.normalizer},
                   {"crawled_count", info.crawled_count},
                   {"link_count", info.link_count},
                   {"superstep_count", info.superstep_count},
                   {"collision_count", info.collision_count},
                   {"unparsed_count", info.unparsed_count},
                   {"pages", pages},
                   {"out_links", *out},
                   {"in_links", *in},
                   {"fresh_keys", *fresh_keys},
                   {"scores", scores},
                   {"events", events}});
    if (!info.has_content_index) continue;
    CRAWLSTORE_TRY(all.back()["contents"], contents_of(snapshot, info.id));
  }
  return all;
}

Result<json> queues_of(const Snapshot& snapshot) {
  json all = json::array();
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.kind != SegmentKind::kQueue) continue;
    CRAWLSTORE_TRY(const auto view, QueueView::open(snapshot, segment.name));
    CRAWLSTORE_TRY(const auto pages, view.peek(view.info().page_count));
    json first = json::array();
    std::uint64_t order_sum = 0;
    std::uint64_t page_sum = 0;
    for (const QueuedPage& page : pages) {
      const std::uint64_t order = format::queue_order(page.priority);
      if (first.size() < 100) first.push_back({order, page.page});
      order_sum += order;
      page_sum += page.page;
    }
    CRAWLSTORE_TRY(const auto payload, snapshot.read_run(segment.id, segment.runs.front().run_id));
    CRAWLSTORE_TRY(const auto table, format::parse_queue_table(payload));
    json runs = json::array();
    for (const format::QueueRunState& run : table.runs) {
      runs.push_back({run.run.value, run.cut.order, run.cut.page});
    }
    json changes = json::array();
    for (const RunId run : table.changes) changes.push_back(run.value);
    all.push_back({{"id", segment.id.value},
                   {"name", segment.name},
                   {"changes", changes},
                   {"entry_count", table.entry_count},
                   {"page_count", pages.size()},
                   {"first", first},
                   {"order_sum", order_sum},
                   {"page_sum", page_sum},
                   {"runs", runs}});
  }
  return all;
}

json entry_of(const FrontierEntry& entry) {
  return {{"id", entry.id},
          {"order", format::queue_order(entry.priority)},
          {"time", entry.not_before_ms},
          {"attempt", entry.attempt},
          {"body", hex(std::as_bytes(std::span(entry.body)))}};
}

json group_of(const FrontierGroup& group) {
  json rule;
  if (const auto& own = group.rule) {
    rule = {{"soft_ms", own->delay_ms},
            {"hard_ms", own->hard_ms},
            {"burst", own->burst},
            {"in_flight_max", own->in_flight_max},
            {"blocked_until", own->blocked_until_ms},
            {"is_active", own->is_active ? 1 : 0}};
  }
  return {{"key", hex(std::as_bytes(std::span(group.key)))},
          {"soft_time", group.soft_time_ms},
          {"hard_time", group.hard_time_ms},
          {"failures", group.failure_count},
          {"leased_count", group.leased_count},
          {"rule", rule}};
}

/// The state of a frontier: groups, items that wait, and leases.
Result<json> frontier_state_of(const Snapshot& snapshot, const std::string& name) {
  CRAWLSTORE_TRY(const auto view, FrontierView::open(snapshot, name));
  std::vector<FrontierGroup> found;
  view.for_each_group([&found](const FrontierGroup& group) {
    found.push_back(group);
    return true;
  });
  json groups = json::array();
  for (const FrontierGroup& group : found) {
    json waiting = json::array();
    CRAWLSTORE_TRY(view.for_each_waiting(group.key, [&waiting](const FrontierEntry& entry) {
      waiting.push_back(entry_of(entry));
      return true;
    }));
    groups.push_back(group_of(group));
    groups.back()["waiting"] = waiting;
  }
  json leases = json::array();
  CRAWLSTORE_TRY(view.for_each_lease([&leases](const FrontierEntry& entry) {
    leases.push_back(entry_of(entry));
    leases.back()["until"] = *entry.until_ms;
    leases.back()["group"] = hex(std::as_bytes(std::span(entry.group)));
    return true;
  }));
  return json{{"groups", groups}, {"leases", leases}};
}

Result<json> frontiers_of(const Snapshot& snapshot) {
  json all = json::array();
  for (const SegmentInfo& segment : snapshot.segments()) {
    if (segment.kind != SegmentKind::kFrontier) continue;
    CRAWLSTORE_TRY(const auto payload, snapshot.read_run(segment.id, segment.runs.front().run_id));
    CRAWLSTORE_TRY(const auto table, format::parse_frontier_table(payload));
    json pieces = json::array();
    for (const RunId piece : table.pieces) pieces.push_back(piece.value);
    const format::GroupRule& rule = table.default_rule;
    const auto counts_of = [&snapshot](SegmentId id) {
      json counts = json::array();
      for (const SegmentInfo& log : snapshot.segments()) {
        if (log.id != id) continue;
        for (const RunInfo& run : log.runs) counts.push_back(run.record_count);
      }
      return counts;
    };
    json steps = json::array();
    for (const SegmentInfo& log : snapshot.segments()) {
      if (log.id != table.steps) continue;
      for (const RunInfo& run : log.runs) {
        CRAWLSTORE_TRY(const auto bytes, snapshot.read_run(log.id, run.run_id));
        CRAWLSTORE_TRY(const auto reader, format::StepReader::open(bytes));
        steps.push_back({reader.run().is_piece, reader.run().first_step, reader.step_count()});
      }
    }
    CRAWLSTORE_TRY(const auto state, frontier_state_of(snapshot, segment.name));
    all.push_back({{"id", segment.id.value},
                   {"name", segment.name},
                   {"state", state},
                   {"group_count", table.group_count},
                   {"waiting_count", table.waiting_count},
                   {"leased_count", table.leased_count},
                   {"next_id", table.next_id},
                   {"step_count", table.step_count},
                   {"clock_ms", table.clock_ms},
                   {"rule", {rule.soft_ms, rule.hard_ms, rule.burst, rule.in_flight_max}},
                   {"pieces", pieces},
                   {"pages", table.pages},
                   {"groups", counts_of(table.groups)},
                   {"items", counts_of(table.items)},
                   {"steps", steps}});
  }
  return all;
}

}  // namespace

Result<json> read_as_json(std::span<const std::byte> file) {
  const auto memory = make_memory_file(file, file.size() + (1 << 20));
  const auto storage = open_memory_storage(memory, OpenMode::kRead);
  const auto report = verify(*storage, {.level = VerifyLevel::kDeep, .progress = {}});
  if (!report) return tl::unexpected<Error>(report.error());
  json findings = json::array();
  for (const Finding& finding : report->findings) {
    if (finding.kind == FindingKind::kDamaged) return tl::unexpected<Error>(finding.error);
    const bool is_reduced = finding.kind == FindingKind::kReducedRedundancy;
    findings.push_back({{"kind", is_reduced ? "reduced_redundancy" : "unfinished"},
                        {"error", crawlstore::name_of(finding.error.code)}});
  }
  const auto snapshot =
      Snapshot::open(std::shared_ptr<Storage>(open_memory_storage(memory, OpenMode::kRead)));
  if (!snapshot) return tl::unexpected<Error>(snapshot.error());
  const auto info = snapshot->info();
  if (!info) return tl::unexpected<Error>(info.error());
  auto drums = drums_of(*snapshot);
  if (!drums) return drums;
  auto pages = pages_of(*snapshot);
  if (!pages) return pages;
  CRAWLSTORE_TRY(const auto queues, queues_of(*snapshot));
  CRAWLSTORE_TRY(const auto frontiers, frontiers_of(*snapshot));
  json whole{{"format_version", info->format_version},
             {"uuid", to_string(info->uuid)},
             {"key_seed", snapshot->key_seed()},
             {"created_us", info->created_us},
             {"generation", info->generation.value},
             {"has_previous", info->has_previous},
             {"commit_time_us", info->commit_time_us},
             {"features_compat", info->features_compat},
             {"features_ro_compat", info->features_ro_compat},
             {"features_incompat", info->features_incompat},
             {"high_water_bytes", info->high_water_bytes},
             {"segments", segments_of(*snapshot)},
             {"held", held_of(*snapshot)},
             {"drums", *drums},
             {"pages", *pages},
             {"queues", queues},
             {"findings", findings}};
  if (!frontiers.empty()) whole["frontiers"] = frontiers;
  CRAWLSTORE_TRY(const auto values, read_values(*snapshot));
  for (const auto& [name, bytes] : values) whole["values"][name] = hex(bytes);
  return whole;
}

}  // namespace crawlstore::testing
