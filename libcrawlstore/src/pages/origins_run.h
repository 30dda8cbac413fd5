// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writing, reading and joining the runs of a page_origins log: spec/pages.md#origin-runs. The
/// runs of a log cover ascending pages without gaps, from page 0 on.
///
/// A dictionary holds pieces of URLs: of pages of its run, or of runs below, but of none above. So
/// nothing is left of a page that is forgotten when its run and all above it are written anew.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "container/run_io.h"
#include "container/work_steps.h"
#include "format/origin_block.h"
#include "format/origin_index.h"

namespace crawlstore::pages {

/// The source of a run's dictionary.
enum class DictionarySource : std::uint8_t {
  kTrained,  ///< from the first URLs
  kBest,     ///< from the first URLs, unless the one of the plan is about as good
  kGiven,    ///< it is the one of the plan
};

/// A block with fewer pages is not kept as it is when runs are joined.
inline constexpr std::size_t kKeptBlockPages = format::kOriginBlockPagesMax / 2;

/// The content of a run to be written. The counts are the most that it may hold. They should not be
/// much more than it will, as space is reserved, and a dictionary chosen, by them.
struct OriginsPlan {
  std::uint64_t first_page = 0;
  std::uint64_t page_count = 0;
  std::uint64_t url_bytes = 0;  ///< of all URLs
  bool is_thorough = false;     ///< takes more time for fewer bytes
  DictionarySource source = DictionarySource::kTrained;
  std::vector<std::byte> dictionary{};  ///< of other runs of the log; empty: they have none
  /// Bytes that are reserved at most; a run that grows longer ends with kTooLarge.
  std::uint64_t reserve_bytes = ~std::uint64_t{0};
  /// Pages of whose URLs the dictionary holds nothing, as they will be forgotten: it outlives the
  /// writer. nullptr: none.
  const std::vector<bool>* unlearned = nullptr;
};

/// Bytes that the payload needs at most.
std::uint64_t origins_bytes_max(const OriginsPlan& plan);

/// Takes pages in the order of their indexes, writes a run. Memory: the first 2 MiB of URLs, twice
/// if some are not learned from, until it has settled on a dictionary; then some blocks, and 16
/// bytes for each 64 pages.
/// Threads: one.
class OriginsWriter {
 public:
  ///   errors  those of RunWriter::start()
  static Result<OriginsWriter> start(container::SegmentWriter& writer,
                                     const format::RunLabel& label, const OriginsPlan& plan);

  /// The next page; the plan must have said so.
  ///   errors  kTooLarge: a URL of more than 16 MiB; kInvalidArgument: it is linked from a page
  ///           that is not below it; nothing is added then. Those of storage
  ///   cost    about a microsecond for a URL of ordinary length
  Result<void> append(const format::Origin& origin);
  /// The next pages, as they are stored in a run with the same dictionary. The source of ours is
  /// kGiven. errors of storage
  Result<void> append_block(const format::OriginBlockDecoder& block);
  [[nodiscard]] std::uint64_t page_count() const {
    return closed_page_count_ + batch_.page_count();
  }

  /// Needs a page.
  Result<format::RunRef> finish();
  /// After finish(): the one that the run has.
  [[nodiscard]] const std::vector<std::byte>& dictionary() const { return dictionary_; }
  /// Caller's thread: see RunWriter::give_back().
  void give_back() { run_.give_back(); }

 private:
  OriginsWriter(container::RunWriter run, const OriginsPlan& plan)
      : run_(std::move(run)), plan_(plan), batch_(plan.first_page) {}
  void learn(std::string_view url);
  Result<void> close_batch();
  Result<void> settle();
  Result<void> begin_with(std::span<const std::byte> dictionary);
  Result<void> write(const format::OriginBatch& batch);

  container::RunWriter run_;
  OriginsPlan plan_;
  format::OriginBatch batch_;
  std::vector<format::OriginBatch> waiting_;  // until compressor_ is there
  std::uint64_t waiting_bytes_ = 0;           // of their URLs
  std::vector<format::OriginBatch> learned_;  // of them, if not all
  std::optional<format::FrameCompressor> compressor_;
  std::vector<std::byte> dictionary_;
  std::uint64_t closed_page_count_ = 0;
  std::uint64_t url_bytes_ = 0;
  std::vector<format::OriginEntry> entries_;
  std::vector<std::byte> encoded_;
};

/// Walks a run from its first page to the last, with one sequential read. Bytes that break a rule
/// are kSegmentInvalid only if their checksums are right; else they have rotted, and the error is
/// that of the chunk. Not checked: the index. Threads: one.
class OriginsCursor {
 public:
  /// Before anything else. `storage` outlives it.
  static Result<std::unique_ptr<OriginsCursor>> open(Storage& storage, const format::RunName& name,
                                                     const format::RunRef& run);

  /// Its counts are those of the directory; they are believed after finish().
  [[nodiscard]] const format::OriginFooter& footer() const { return footer_; }
  [[nodiscard]] bool at_end() const { return pages_left_ == 0; }
  [[nodiscard]] std::uint64_t page() const {
    return footer_.first_page + footer_.page_count - pages_left_;
  }
  /// Valid until the next advance().
  [[nodiscard]] format::Origin origin() const { return decoder_->origin(position_); }
  Result<void> advance();

  [[nodiscard]] const std::vector<std::byte>& dictionary() const { return dictionary_; }
  /// Whether page() is the first one of its block; that block; and on to the next one.
  [[nodiscard]] bool begins_block() const { return position_ == 0; }
  [[nodiscard]] const format::OriginBlockDecoder& block() const { return *decoder_; }
  Result<void> skip_block();
  /// At the end: compares all checksums, and the walk with the footer. After it succeeded,
  /// everything that was read is believed.
  Result<void> finish();

 private:
  OriginsCursor(Storage& storage, const format::RunName& name, const format::RunRef& run)
      : stream_(storage, name, run), segment_(name.segment), run_(run) {}
  Result<void> read_footer(Storage& storage);
  Result<void> load_dictionary();
  Result<void> load_block();
  [[nodiscard]] Result<void> broken(const char* text, std::uint64_t offset) const;

  container::RunStream stream_;
  SegmentId segment_;
  format::RunRef run_;
  format::OriginFooter footer_{};
  std::vector<std::byte> dictionary_;
  std::optional<format::OriginBlockDecoder> decoder_;
  std::uint64_t consumed_bytes_ = 0;
  std::uint64_t pages_left_ = 0;
  std::uint64_t blocks_left_ = 0;
  std::uint64_t url_bytes_ = 0;
  std::size_t position_ = 0;
};

/// Finds single pages in a run. Keeps the block that it decoded last. Threads: one; any number may
/// share the RunReader.
class OriginsLookup {
 public:
  ///   errors  kSegmentInvalid, and those of RunReader::bytes()
  static Result<std::unique_ptr<OriginsLookup>> open(
      const std::shared_ptr<const container::RunReader>& reader);

  [[nodiscard]] std::uint64_t first_page() const { return footer_.first_page; }
  [[nodiscard]] std::uint64_t page_count() const { return footer_.page_count; }

  /// Returns the origin of a page of this run, valid until the next call.
  ///   errors  kInvalidArgument: the run does not have it; kSegmentInvalid, and those of
  ///           RunReader::bytes()
  ///   cost    a binary search in the index, and one block unless it is the last one's
  Result<format::Origin> find(std::uint64_t page);

 private:
  OriginsLookup(std::shared_ptr<const container::RunReader> reader,
                const format::OriginFooter& footer, format::OriginBlockDecoder decoder)
      : reader_(std::move(reader)), footer_(footer), decoder_(std::move(decoder)) {}
  Result<format::OriginEntry> entry(std::uint64_t i) const;
  Result<void> load_block(std::uint64_t page);

  std::shared_ptr<const container::RunReader> reader_;
  format::OriginFooter footer_;
  format::OriginBlockDecoder decoder_;
};

/// The dictionary of a run. errors kSegmentInvalid, and those of RunReader::bytes()
Result<std::vector<std::byte>> read_dictionary(const container::RunReader& reader);

/// Groups of runs that were written together: those whose ids follow each other.
std::size_t origin_group_count(std::span<const format::RunRef> runs);

/// Returns how many of the newest runs of a log should be joined before it gets another: 0, or at
/// least 2. A log that follows this has at most 32 groups, and at most 128 runs; a page is written
/// again about once each time that the log has grown some hundred times.
std::size_t origin_runs_to_join(std::span<const format::RunRef> runs);

/// Joins the newest `count` runs, at least 2, of a log into as few as origin_piece_bytes() allows,
/// which take their place in `log`; the caller owns their extents until it has put and committed
/// the log.
/// Each page counts as a step of `steps`, which expects them already.
///   errors  kSegmentInvalid, kChunkDamaged and the like: of what is read; those of RunWriter;
///           kCancelled. `log` stays as it is
///   cost    0.1 microseconds for a URL of ordinary length where its run has the dictionary of the
///           largest one, else 1 to 2
Result<void> join_origin_runs(container::SegmentWriter& writer, format::SegmentEntry& log,
                              std::size_t count, container::WorkSteps& steps);

/// The same for all runs of a log, with a new dictionary, and all URLs compressed anew.
///   cost    1 to 2 microseconds for a URL of ordinary length
Result<void> compress_origins_anew(container::SegmentWriter& writer, format::SegmentEntry& log,
                                   container::WorkSteps& steps);

}  // namespace crawlstore::pages
