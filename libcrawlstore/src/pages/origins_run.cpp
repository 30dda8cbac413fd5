// SPDX-License-Identifier: Apache-2.0
//
// Invariants: an OriginsWriter has pages waiting only while it has no compressor; a cursor hands
// out no more pages and no more bytes of URLs than the footer counts; a lookup never reads outside
// the payload, whatever footer and index say.
#include "pages/origins_run.h"

#include <algorithm>

#include "base/assert.h"
#include "container/blocked_run.h"
#include "format/endian.h"

namespace crawlstore::pages {
namespace {

/// A superstep is in a hurry: level 3 takes 2 to 6 % more bytes than level 6, and a third of the
/// time. Level 9 saves 1.5 %, and costs half as much again or more.
constexpr int kLevel = 3;
constexpr int kThoroughLevel = 6;
constexpr std::uint64_t kSampleBytes = std::uint64_t{2} << 20;
/// Bytes of a run's URLs below which a dictionary cannot pay.
constexpr std::uint64_t kDictionaryUrlBytesMin = std::uint64_t{512} << 10;
/// URLs for which a byte of dictionary is spent.
constexpr std::uint64_t kUrlBytesPerDictionaryByte = 256;
/// One block in so many judges the dictionary that the others trained.
constexpr std::size_t kJudgeStride = 4;
/// Gain by which a new dictionary must beat that of other runs, as blocks with a common dictionary
/// are joined as they are.
constexpr double kNewDictionaryGain = 1.03;
constexpr const char* kChangedFooter = "the footer of an origin run has changed";

tl::unexpected<Error> invalid(const char* text, std::uint64_t offset, SegmentId segment) {
  return fail(Errc::kSegmentInvalid, text, offset, segment);
}

/// Bytes of a block's raw section when it is stored.
std::uint64_t stored_bytes(format::FrameCompressor& compressor, std::span<const std::byte> raw) {
  std::vector<std::byte> frame;
  return compressor.compress(raw, frame) ? frame.size() : raw.size();
}

/// A dictionary for a planned run, of which the batches are the first; empty when none pays.
std::vector<std::byte> choose_dictionary(std::span<const format::OriginBatch> batches,
                                         const OriginsPlan& plan, int level) {
  if (plan.url_bytes < kDictionaryUrlBytesMin) return {};
  std::vector<std::byte> samples;
  std::vector<std::size_t> lengths;
  std::vector<std::vector<std::byte>> judges;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    auto raw = batches[i].raw_section();
    if (raw.empty()) continue;  // its pages were all forgotten
    if (i % kJudgeStride == kJudgeStride - 1) {
      judges.push_back(std::move(raw));
    } else {
      samples.insert(samples.end(), raw.begin(), raw.end());
      lengths.push_back(raw.size());
    }
  }
  const auto bytes_max = static_cast<std::size_t>(std::min<std::uint64_t>(
      format::kOriginDictionaryBytesMax, plan.url_bytes / kUrlBytesPerDictionaryByte));
  std::uint64_t raw_bytes = 1;
  for (const auto& raw : judges) raw_bytes += raw.size();
  // Bytes that the run will take with a dictionary, and with it in front.
  const auto run_bytes = [&](std::span<const std::byte> dictionary) {
    format::FrameCompressor compressor(dictionary, level);
    std::uint64_t bytes = 0;
    for (const auto& raw : judges) bytes += stored_bytes(compressor, raw);
    return static_cast<double>(bytes) * static_cast<double>(plan.url_bytes) /
               static_cast<double>(raw_bytes) +
           static_cast<double>(dictionary.size());
  };
  std::vector<std::byte> best;
  double best_bytes = run_bytes({});
  if (plan.source == DictionarySource::kBest && !plan.dictionary.empty()) {
    const double bytes = run_bytes(plan.dictionary) / kNewDictionaryGain;
    if (bytes < best_bytes) {
      best_bytes = bytes;
      best = plan.dictionary;
    }
  }
  auto trained = format::train_dictionary(samples, lengths, bytes_max);
  if (!trained.empty() && run_bytes(trained) < best_bytes) return trained;
  return best;
}

}  // namespace

std::uint64_t origins_bytes_max(const OriginsPlan& plan) {
  // A block that ends early and the one behind it have more than kOriginBlockRawMax together.
  const std::uint64_t raw_bytes = plan.url_bytes + 4 * plan.page_count;
  // And of one that is kept as it is and the one before it, one has kKeptBlockPages at least.
  const std::uint64_t blocks =
      2 * plan.page_count / kKeptBlockPages + 2 * raw_bytes / format::kOriginBlockRawMax + 2;
  constexpr std::uint64_t kColumnBytes = 8 + 4;
  constexpr std::uint64_t kBlockBytes = sizeof(format::OriginBlockHeader) + 2 * 8;
  return format::kOriginDictionaryBytesMax + raw_bytes + plan.page_count * kColumnBytes +
         blocks * kBlockBytes + 8 + sizeof(format::OriginFooter);
}

Result<OriginsWriter> OriginsWriter::start(container::SegmentWriter& writer,
                                           const format::RunLabel& label, const OriginsPlan& plan) {
  const std::uint64_t reserved = std::min(plan.reserve_bytes, origins_bytes_max(plan));
  CRAWLSTORE_TRY(auto out, container::RunWriter::start(writer, label, reserved));
  OriginsWriter writing(std::move(out), plan);
  if (plan.source == DictionarySource::kGiven) CRAWLSTORE_TRY(writing.begin_with(plan.dictionary));
  return writing;
}

Result<void> OriginsWriter::append(const format::Origin& origin) {
  if (origin.url.size() > format::kUrlBytesMax) {
    return fail(Errc::kTooLarge, "a URL has more than 16 MiB");
  }
  if (origin.linked_from && *origin.linked_from >= plan_.first_page + page_count()) {
    return fail(Errc::kInvalidArgument, "a page is linked from one that is not below it");
  }
  if (page_count() >= plan_.page_count || origin.url.size() > plan_.url_bytes - url_bytes_) {
    return fail(Errc::kSegmentInvalid, "there are more origins than were counted");
  }
  if (!batch_.has_room(origin.url.size())) CRAWLSTORE_TRY(close_batch());
  if (plan_.unlearned != nullptr && !compressor_) learn(origin.url);
  batch_.add(origin);
  url_bytes_ += origin.url.size();
  return {};
}

/// Keeps the URL of the next page for the dictionary, unless it is one to forget.
void OriginsWriter::learn(std::string_view url) {
  const std::uint64_t page = plan_.first_page + page_count();
  if (page < plan_.unlearned->size() && (*plan_.unlearned)[page]) return;
  if (learned_.empty() || !learned_.back().has_room(url.size())) learned_.emplace_back(page);
  learned_.back().add({url, {}, 0});
}

Result<void> OriginsWriter::close_batch() {
  const std::uint64_t next_page = batch_.first_page() + batch_.page_count();
  closed_page_count_ += batch_.page_count();
  const auto batch = std::exchange(batch_, format::OriginBatch(next_page));
  if (compressor_) return write(batch);
  waiting_bytes_ = url_bytes_;
  waiting_.push_back(batch);
  return waiting_bytes_ < kSampleBytes ? Result<void>{} : settle();
}

/// Writes the dictionary, if there is to be one, and what waited for it.
Result<void> OriginsWriter::settle() {
  const auto& learned = plan_.unlearned != nullptr ? learned_ : waiting_;
  CRAWLSTORE_TRY(
      begin_with(choose_dictionary(learned, plan_, plan_.is_thorough ? kThoroughLevel : kLevel)));
  learned_ = {};
  for (const auto& batch : waiting_) CRAWLSTORE_TRY(write(batch));
  waiting_ = {};
  return {};
}

Result<void> OriginsWriter::begin_with(std::span<const std::byte> dictionary) {
  compressor_.emplace(dictionary, plan_.is_thorough ? kThoroughLevel : kLevel);
  dictionary_.assign(dictionary.begin(), dictionary.end());
  return dictionary.empty() ? Result<void>{} : run_.append(dictionary);
}

Result<void> OriginsWriter::append_block(const format::OriginBlockDecoder& block) {
  CRAWLSTORE_ASSERT(plan_.source == DictionarySource::kGiven);
  CRAWLSTORE_ASSERT(block.first_page() == plan_.first_page + page_count());
  if (batch_.page_count() != 0) CRAWLSTORE_TRY(close_batch());
  entries_.push_back({block.first_page() - plan_.first_page, run_.payload_bytes()});
  CRAWLSTORE_TRY(run_.append(block.block()));
  closed_page_count_ += block.page_count();
  url_bytes_ += block.url_bytes();
  batch_ = format::OriginBatch(block.first_page() + block.page_count());
  return {};
}

Result<void> OriginsWriter::write(const format::OriginBatch& batch) {
  entries_.push_back({batch.first_page() - plan_.first_page, run_.payload_bytes()});
  encoded_.clear();
  batch.encode(&*compressor_, encoded_);
  return run_.append(encoded_);
}

Result<format::RunRef> OriginsWriter::finish() {
  CRAWLSTORE_ASSERT(page_count() != 0);
  if (batch_.page_count() != 0) CRAWLSTORE_TRY(close_batch());
  plan_.url_bytes = url_bytes_;
  if (!compressor_) CRAWLSTORE_TRY(settle());
  format::OriginFooter footer{};
  footer.first_page = plan_.first_page;
  footer.page_count = closed_page_count_;
  footer.url_bytes = url_bytes_;
  footer.dictionary_bytes = static_cast<std::uint32_t>(dictionary_.size());
  footer.codec = static_cast<std::uint16_t>(format::OriginCodec::kZstd);
  encoded_.clear();
  format::encode_origin_tail(entries_, footer, run_.payload_bytes(), encoded_);
  CRAWLSTORE_TRY(run_.append(encoded_));
  return run_.finish(closed_page_count_);
}

Result<std::unique_ptr<OriginsCursor>> OriginsCursor::open(Storage& storage,
                                                           const format::RunName& name,
                                                           const format::RunRef& run) {
  std::unique_ptr<OriginsCursor> cursor(new OriginsCursor(storage, name, run));
  CRAWLSTORE_TRY(cursor->read_footer(storage));
  CRAWLSTORE_TRY(cursor->load_dictionary());
  CRAWLSTORE_TRY(cursor->load_block());
  return cursor;
}

/// A rule is broken, or what was read has rotted.
Result<void> OriginsCursor::broken(const char* text, std::uint64_t offset) const {
  CRAWLSTORE_TRY(stream_.check_loaded());
  return invalid(text, run_.offset_bytes + offset, segment_);
}

/// It stands behind all that is streamed, and is compared with it in the end.
Result<void> OriginsCursor::read_footer(Storage& storage) {
  std::vector<std::byte> bytes(
      std::min<std::uint64_t>(run_.payload_bytes, sizeof(format::OriginFooter)));
  const std::uint64_t offset = run_.payload_bytes - bytes.size();
  CRAWLSTORE_TRY(const auto got, storage.read(run_.offset_bytes + offset, bytes));
  if (got < bytes.size()) {
    return fail(Errc::kTruncated, "the file ends inside a segment", run_.offset_bytes + offset,
                segment_);
  }
  const auto footer = format::parse_origin_footer(bytes, run_.payload_bytes);
  const bool is_counted = footer && footer->page_count == run_.record_count;
  if (!is_counted) {
    CRAWLSTORE_TRY(stream_.finish());
    return invalid(footer ? "an origin run has another number of pages than the directory says"
                          : footer.error().text,
                   run_.offset_bytes + offset, segment_);
  }
  footer_ = *footer;
  pages_left_ = footer_.page_count;
  blocks_left_ = footer_.block_count;
  return {};
}

Result<void> OriginsCursor::load_dictionary() {
  CRAWLSTORE_TRY(const auto bytes, stream_.peek(footer_.dictionary_bytes));
  const auto dictionary = bytes.first(footer_.dictionary_bytes);
  dictionary_.assign(dictionary.begin(), dictionary.end());
  auto decoder = format::OriginBlockDecoder::make(codec_of(footer_), dictionary_);
  if (!decoder) return broken(decoder.error().text, 0);
  decoder_.emplace(std::move(*decoder));
  stream_.advance(footer_.dictionary_bytes);
  consumed_bytes_ = footer_.dictionary_bytes;
  return {};
}

Result<void> OriginsCursor::load_block() {
  position_ = 0;
  const std::uint64_t rest = footer_.index_offset_bytes - consumed_bytes_;
  constexpr std::uint64_t kBlockGuessBytes = 64 * 1024;
  Result<void> decoded;
  // Most blocks are short: whether this one is not, it says itself.
  for (std::uint64_t want = std::min(rest, kBlockGuessBytes);; want = rest) {
    CRAWLSTORE_TRY(const auto bytes, stream_.peek(want));
    decoded = decoder_->decode(bytes.first(std::min<std::size_t>(bytes.size(), rest)), page());
    if (decoded || want == rest) break;
  }
  if (!decoded) return broken(decoded.error().text, consumed_bytes_);
  url_bytes_ += decoder_->url_bytes();
  --blocks_left_;
  const bool is_last = blocks_left_ == 0;
  const bool has_all = decoder_->page_count() == pages_left_ && url_bytes_ == footer_.url_bytes &&
                       decoder_->block_bytes() == rest;
  if (decoder_->page_count() > pages_left_ || url_bytes_ > footer_.url_bytes ||
      (is_last ? !has_all : decoder_->page_count() == pages_left_)) {
    return broken("the blocks of an origin run are not those that its footer counts",
                  consumed_bytes_);
  }
  stream_.advance(decoder_->block_bytes());
  consumed_bytes_ += decoder_->block_bytes();
  return {};
}

Result<void> OriginsCursor::advance() {
  CRAWLSTORE_ASSERT(!at_end());
  --pages_left_;
  if (++position_ < decoder_->page_count() || pages_left_ == 0) return {};
  return load_block();
}

Result<void> OriginsCursor::skip_block() {
  CRAWLSTORE_ASSERT(begins_block());
  pages_left_ -= decoder_->page_count();
  return pages_left_ == 0 ? Result<void>{} : load_block();
}

Result<void> OriginsCursor::finish() {
  CRAWLSTORE_ASSERT(at_end());
  const std::uint64_t footer_offset = run_.payload_bytes - sizeof footer_;
  while (consumed_bytes_ < footer_offset) {  // the index
    CRAWLSTORE_TRY(const auto bytes, stream_.peek(1));
    const auto step = std::min<std::uint64_t>(bytes.size(), footer_offset - consumed_bytes_);
    stream_.advance(step);
    consumed_bytes_ += step;
  }
  CRAWLSTORE_TRY(const auto bytes, stream_.peek(sizeof footer_));
  const bool is_same = bytes.size() >= sizeof footer_ &&
                       format::load_struct<format::OriginFooter>(bytes.data()) == footer_;
  CRAWLSTORE_TRY(stream_.finish());
  if (is_same) return {};
  return invalid(kChangedFooter, run_.offset_bytes + footer_offset, segment_);
}

Result<std::vector<std::byte>> read_dictionary(const container::RunReader& reader) {
  CRAWLSTORE_TRY(const auto footer, container::read_footer(reader, format::parse_origin_footer));
  CRAWLSTORE_TRY(const auto bytes, reader.bytes(0, footer.dictionary_bytes));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<std::unique_ptr<OriginsLookup>> OriginsLookup::open(
    const std::shared_ptr<const container::RunReader>& reader) {
  CRAWLSTORE_TRY(const auto footer, container::read_footer(*reader, format::parse_origin_footer));
  CRAWLSTORE_TRY(const auto dictionary, reader->bytes(0, footer.dictionary_bytes));
  CRAWLSTORE_TRY(
      auto decoder,
      container::in_file(format::OriginBlockDecoder::make(codec_of(footer), dictionary), *reader));
  std::unique_ptr<OriginsLookup> made(new OriginsLookup(reader, footer, std::move(decoder)));
  return made;
}

Result<format::OriginEntry> OriginsLookup::entry(std::uint64_t i) const {
  const Extent place = format::origin_entry_place(footer_, i);
  CRAWLSTORE_TRY(const auto bytes, reader_->bytes(place.offset_bytes, place.length_bytes));
  return format::load_origin_entry(footer_, bytes.data());
}

/// Decodes the block of a page, counted from the first one of the run.
Result<void> OriginsLookup::load_block(std::uint64_t page) {
  std::uint64_t low = 0;
  std::uint64_t high = footer_.block_count;
  format::OriginEntry begin{0, footer_.dictionary_bytes};
  std::uint64_t end = footer_.index_offset_bytes;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    CRAWLSTORE_TRY(const auto found, entry(middle));
    if (found.page <= page) {
      low = middle;
      begin = found;
    } else {
      high = middle;
      end = found.offset_bytes;
    }
  }
  if (begin.offset_bytes >= end || end > footer_.index_offset_bytes) {
    return invalid("the index of an origin run does not ascend", footer_.index_offset_bytes, {});
  }
  CRAWLSTORE_TRY(const auto bytes, reader_->bytes(begin.offset_bytes, end - begin.offset_bytes));
  auto decoded = decoder_.decode(bytes, footer_.first_page + begin.page);
  if (!decoded) {
    decoded.error().offset += begin.offset_bytes;
    return decoded;
  }
  if (page - begin.page < decoder_.page_count()) return {};
  return invalid("a block of an origin run does not hold the pages that its index says",
                 begin.offset_bytes, {});
}

Result<format::Origin> OriginsLookup::find(std::uint64_t page) {
  if (page < footer_.first_page || page - footer_.first_page >= footer_.page_count) {
    return fail(Errc::kInvalidArgument, "an origin run does not have this page");
  }
  const bool is_kept =
      page >= decoder_.first_page() && page - decoder_.first_page() < decoder_.page_count();
  if (!is_kept) {
    CRAWLSTORE_TRY(container::in_file(load_block(page - footer_.first_page), *reader_));
  }
  return decoder_.origin(page - decoder_.first_page());
}

}  // namespace crawlstore::pages
