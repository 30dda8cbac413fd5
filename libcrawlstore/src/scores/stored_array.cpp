// SPDX-License-Identifier: Apache-2.0
#include "scores/stored_array.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <crawlstore/page_view.h>

#include "base/inside.h"
#include "container/run_io.h"
#include "container/store_call.h"
#include "format/name.h"
#include "pages/page_view_impl.h"
#include "scores/pending_arrays.h"

namespace crawlstore::scores {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

/// Writes the payload. The run's extent belongs to the caller.
Result<format::RunRef> write_array(container::Writer& writer, const format::RunLabel& label,
                                   NewArray& array) {
  const auto values =
      std::visit([](const auto& numbers) { return std::as_bytes(numbers); }, array.values);
  const std::uint64_t payload_bytes = format::score_places(array.array).payload_bytes();
  CRAWLSTORE_TRY(auto run, container::RunWriter::start(writer, label, payload_bytes));
  double sum = 0;
  for (std::size_t at = 0; at < values.size(); at += kPieceBytes) {
    const auto piece = values.subspan(at, std::min(kPieceBytes, values.size() - at));
    const auto added = format::add_scores(sum, array.array.codec, piece);
    if (!added) {
      return fail(Errc::kInvalidArgument, "a score is negative, infinite or not a number");
    }
    sum = *added;
    CRAWLSTORE_TRY(run.append(piece));
  }
  array.array.sum = sum;
  std::vector<std::byte> tail;
  format::encode_score_tail(array.array, array.first_pages, array.residuals, tail);
  CRAWLSTORE_TRY(run.append(tail));
  CRAWLSTORE_TRY(const auto ref, run.finish(array.array.entry_count));
  run.give_back();
  return ref;
}

/// Makes changes of `pending` part of the transaction of this thread, or a commit of their own; in
/// case of an error nothing is pending that was not before. The turn is held.
template <class Work>
Result<void> change(PendingArrays& pending, const Work& work) {
  StoreImpl& store = *pending.store;
  PendingArrays::State before = pending.state;
  work(pending.state);
  if (store.in_transaction()) return {};
  const auto committed = store.commit_all(CommitScope::kNothing);
  if (committed) return {};
  pending.state = std::move(before);
  return tl::unexpected<Error>(committed.error());
}

/// errors kUnknownName
Result<SegmentId> find_database(const StoreImpl& store, std::string_view name) {
  const auto* found = store.writer->directory()->find_named(SegmentKind::kPages, name);
  if (found != nullptr) return found->id;
  return fail(Errc::kUnknownName, "the store has no page database of this name");
}

/// Fails if a rollback may have given the indexes of pages that were read to others, or taken back
/// crawls and links that counted. Requires the turn.
Result<void> check_continues(const StoreImpl& store, const NewArray& array) {
  if (store.writer->directory()->continues(array.array.generation)) return {};
  return fail(Errc::kUnknownName,
              "the file was rolled back since the generation that the scores were computed from, "
              "and nothing was stored: compute them again");
}

/// Checks that the pages that were read are there still; pages may have come. The turn is held.
Result<void> check_pages(const Store& store, const NewArray& array) {
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(const auto pages, PageView::open(snapshot, array.database));
  const NewArray now = array_of(pages);
  const bool is_there = now.forgotten_count == array.forgotten_count &&
                        now.array.page_count >= array.array.page_count &&
                        now.array.superstep_count >= array.array.superstep_count;
  if (is_there) return {};
  return fail(Errc::kUnknownName,
              "pages were forgotten since the generation that the scores were computed from, and "
              "nothing was stored: compute them again");
}

/// Arrays that were computed from those before them find these still. The turn is held.
Result<void> check_replaced(const PendingArrays& pending, SegmentId database,
                            std::span<const NewArray> arrays) {
  for (const NewArray& array : arrays) {
    if (!array.replaced || *array.replaced == pending.find(database, array.name)) continue;
    return fail(Errc::kUnknownName,
                "the scores that these were computed from were replaced or removed meanwhile, and "
                "nothing was stored: try again");
  }
  return {};
}

/// In the places of the arrays of their names. The turn is held.
Result<void> publish(StoreImpl& store, std::string_view database,
                     std::span<const WrittenArray> arrays) {
  CRAWLSTORE_TRY(store.check_open());
  const auto owner = find_database(store, database);
  if (!owner || *owner != arrays.front().entry.owner) {
    return fail(Errc::kUnknownName, "the page database went away while its scores were computed");
  }
  return change(PendingArrays::of(store), [&](PendingArrays::State& state) {
    for (const WrittenArray& array : arrays) {
      state.insert_or_assign({*owner, array.entry.name}, array);
    }
  });
}

/// Fills in what follows from the values and residuals of an array.
Result<void> complete(NewArray& array) {
  if (array.name.empty() || !format::is_valid_name(array.name)) {
    return fail(Errc::kInvalidArgument,
                "the name of a score array has 1 to 255 bytes, UTF-8 without control characters");
  }
  std::visit(
      [&](const auto& values) {
        constexpr bool kHasDoubles = sizeof(values[0]) == sizeof(double);
        array.array.codec =
            kHasDoubles ? format::ScoreCodec::kFloat64 : format::ScoreCodec::kFloat32;
        array.array.entry_count = values.size();
      },
      array.values);
  const bool are_residuals_fine =
      array.residuals.size() <= format::kScoreIterationsMax &&
      format::add_scores(0, format::ScoreCodec::kFloat64, std::as_bytes(array.residuals));
  if (!are_residuals_fine) {
    return fail(Errc::kInvalidArgument, "residuals are too many, or are not all finite from 0 on");
  }
  array.array.iteration_count = static_cast<std::uint32_t>(array.residuals.size());
  array.array.residual = array.residuals.empty() ? 0 : array.residuals.back();
  return {};
}

/// The arrays that are stored now.
std::vector<ScoresInfo> infos_of(std::span<const WrittenArray> written,
                                 std::span<const NewArray> arrays) {
  std::vector<ScoresInfo> infos;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    infos.push_back(info_of(written[i].entry, arrays[i].array));
  }
  return infos;
}

/// Writes arrays beside all that others do.
Result<std::vector<WrittenArray>> write_arrays(container::Writer& writer, SegmentId database,
                                               std::span<NewArray> arrays) {
  std::vector<WrittenArray> written;
  for (NewArray& array : arrays) {
    const SegmentId id = writer.new_segment_id();
    format::SegmentEntry entry{
        id, SegmentKind::kScoreArray, StorageClass::kBlob, database, array.name, {}};
    CRAWLSTORE_TRY(const auto ref,
                   write_array(writer, label_of(entry, writer.new_run_ids(1)), array));
    entry.runs = {ref};
    written.push_back({std::move(entry), writer.runs->add(id, ref)});
  }
  return written;
}

}  // namespace

Result<format::ScoreArray> read_footer(const container::RunReader& run, SegmentId segment) {
  const std::uint64_t payload_bytes = run.run().payload_bytes;
  const auto length = std::min<std::uint64_t>(payload_bytes, sizeof(format::ScoreFooter));
  CRAWLSTORE_TRY(const auto bytes, run.bytes(payload_bytes - length, length));
  const auto array = format::parse_score_footer(bytes, payload_bytes);
  if (!array) {
    return fail(array.error().code, array.error().text,
                run.run().offset_bytes + array.error().offset, segment);
  }
  return *array;
}

ScoresInfo info_of(const format::SegmentEntry& entry, const format::ScoreArray& array) {
  ScoresInfo info;
  info.id = entry.id;
  info.name = entry.name;
  info.scorer = array.scorer;
  info.subject = array.subject;
  info.has_doubles = array.codec == format::ScoreCodec::kFloat64;
  info.is_content_weighted = (array.flags & format::kScoresContentWeighted) != 0;
  info.is_personalised = (array.flags & format::kScoresPersonalised) != 0;
  info.page_count = array.page_count;
  info.link_count = array.link_count;
  info.superstep_count = array.superstep_count;
  info.generation = array.generation;
  info.time_us = array.time_us;
  info.damping = array.damping;
  info.precision = array.precision;
  info.residual = array.residual;
  info.sum = array.sum;
  info.iteration_count = array.iteration_count;
  info.allocated_bytes = entry.runs.front().extent().length_bytes;
  return info;
}

NewArray array_of(const PageView& pages) {
  const PagesInfo& info = pages.info();
  const auto& inside = Inside::of(pages);
  NewArray array;
  array.store = inside.snapshot.uuid();
  if (inside.keys) array.forgotten_count = info.page_count - inside.keys->count();
  array.database = info.name;
  array.array.subject = ScoreSubject::kPage;
  array.array.page_count = info.page_count;
  array.array.link_count = info.link_count;
  array.array.superstep_count = info.superstep_count;
  array.array.generation = inside.snapshot.generation();
  return array;
}

Result<std::vector<ScoresInfo>> store_arrays(Store& store, std::span<NewArray> arrays) {
  StoreImpl& inside = Inside::of(store);
  CRAWLSTORE_TRY(inside.check_outside());
  const StoreCall call(inside.shared_from_this());
  for (NewArray& array : arrays) CRAWLSTORE_TRY(complete(array));
  const std::string& owner = arrays.front().database;
  container::Writer* writer = nullptr;
  SegmentId database;
  {
    const std::lock_guard lock(inside.turn);
    CRAWLSTORE_TRY(inside.check_open());
    CRAWLSTORE_TRY(inside.finish_lingering());
    if (arrays.front().store != store.uuid()) {
      return fail(Errc::kInvalidArgument, "the scores are of pages of another store");
    }
    CRAWLSTORE_TRY(check_continues(inside, arrays.front()));  // before anything is written
    writer = inside.writer.get();
    CRAWLSTORE_TRY(database, find_database(inside, owner));
    for (NewArray& array : arrays) array.array.time_us = writer->commit_time_us();
  }
  CRAWLSTORE_TRY(const auto written, write_arrays(*writer, database, arrays));
  const std::lock_guard lock(inside.turn);
  const auto stored = inside.change([&]() -> Result<void> {
    CRAWLSTORE_TRY(check_continues(inside, arrays.front()));
    CRAWLSTORE_TRY(check_pages(store, arrays.front()));
    CRAWLSTORE_TRY(check_replaced(PendingArrays::of(inside), database, arrays));
    return publish(inside, owner, written);
  });
  if (!stored) return tl::unexpected<Error>(stored.error());
  return infos_of(written, arrays);
}

Result<std::vector<ScoresInfo>> put_arrays(container::Writer& writer, SegmentId database,
                                           std::span<NewArray> arrays,
                                           std::vector<container::RunPtr>& made) {
  for (NewArray& array : arrays) {
    CRAWLSTORE_TRY(complete(array));
    array.array.time_us = writer.commit_time_us();
  }
  CRAWLSTORE_TRY(const auto written, write_arrays(writer, database, arrays));
  for (const format::SegmentEntry& old : find_arrays(*writer.directory(), database)) {
    if (std::ranges::find(arrays, old.name, &NewArray::name) != arrays.end()) writer.remove(old.id);
  }
  for (const WrittenArray& array : written) {
    writer.put(array.entry);
    made.push_back(array.run);
  }
  return infos_of(written, arrays);
}

}  // namespace crawlstore::scores

namespace crawlstore {

Result<ScoresInfo> store_scores(Store& store, std::string_view name, const PageView& pages,
                                std::span<const float> values, std::span<const double> residuals) {
  if (values.size() != pages.info().page_count) {
    return fail(Errc::kInvalidArgument, "there must be one score for each page");
  }
  auto array = scores::array_of(pages);
  array.name = name;
  array.array.scorer = Scorer::kOwn;
  array.array.damping = 1;
  array.values = values;
  array.residuals = residuals;
  CRAWLSTORE_TRY(const auto infos, scores::store_arrays(store, {&array, 1}));
  return infos.front();
}

Result<void> remove_scores(Store& store, std::string_view name, std::string_view database) {
  StoreImpl& inside = Inside::of(store);
  CRAWLSTORE_TRY(inside.check_outside());
  const StoreCall call(inside.shared_from_this());
  const std::lock_guard lock(inside.turn);
  CRAWLSTORE_TRY(inside.check_open());
  CRAWLSTORE_TRY(inside.finish_lingering());
  CRAWLSTORE_TRY(const auto owner, scores::find_database(inside, database));
  return inside.change([&]() -> Result<void> {
    auto& pending = scores::PendingArrays::of(inside);
    if (!pending.find(owner, std::string(name))) {
      return fail(Errc::kUnknownName, "the page database has no scores of this name");
    }
    return scores::change(pending, [&](scores::PendingArrays::State& state) {
      state.insert_or_assign({owner, std::string(name)}, std::nullopt);
    });
  });
}

}  // namespace crawlstore
