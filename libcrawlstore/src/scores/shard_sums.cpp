// SPDX-License-Identifier: Apache-2.0
//
// Invariants, when agree() has returned:
// - elsewhere_[q] of this shard and asked_[p] of shard q, p being this one, are as long, and name
//   the same pages in the same order, that of their keys.
// - A page that is elsewhere is in elsewhere_ or in unknown_, and has no links.
#include "scores/shard_sums.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <xxhash.h>

#include <crawlstore/page_key.h>
#include <crawlstore/shard.h>

#include "base/inside.h"
#include "format/endian.h"
#include "pages/page_view_impl.h"

namespace crawlstore::scores {
namespace {

using Bytes = ShardPeers::Bytes;

template <class Number>
void put(Bytes& bytes, std::span<const Number> numbers) {
  const auto raw = std::as_bytes(numbers);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

template <class Number>
void put(Bytes& bytes, Number number) {
  put(bytes, std::span<const Number>(&number, 1));
}

template <class Number>
Number number_at(const Bytes& bytes, std::size_t offset) {
  return format::load<Number>(bytes.data() + offset);
}

/// Checks that a shard has sent so many bytes.
Result<void> check_length(const Bytes& bytes, std::uint64_t length, std::size_t shard) {
  if (bytes.size() == length) return {};
  return fail(Errc::kInvalidArgument,
              "another shard is elsewhere in the computation: the one that is the offset", shard);
}

}  // namespace

Result<ShardSums> ShardSums::agree(const PageView& pages, ShardPeers& peers, std::string_view asked,
                                   std::span<const double> options) {
  ShardSums sums(peers);
  const Shard& shard = pages.info().shard;
  sums.index_ = shard.index;
  sums.to_.resize(shard.count);
  sums.from_.resize(shard.count);
  CRAWLSTORE_TRY(sums.greet(pages, asked, options));
  CRAWLSTORE_TRY(sums.find_elsewhere(pages));
  CRAWLSTORE_TRY(sums.find_asked(pages));
  CRAWLSTORE_TRY(sums.find_unknown());
  double count = 0;
  for (const float own : sums.own_) count += static_cast<double>(own);
  double elsewhere = static_cast<double>(sums.unknown_.size());
  for (const auto& of_owner : sums.elsewhere_) elsewhere += static_cast<double>(of_owner.size());
  std::array counts{count, elsewhere, static_cast<double>(sums.unknown_.size())};
  CRAWLSTORE_TRY(sums.add_up(counts));
  const auto is_count = [](double number) { return number >= 0 && number < 0x1p53; };
  if (!std::ranges::all_of(counts, is_count) || counts[0] < count || counts[1] < elsewhere) {
    return fail(Errc::kInvalidArgument, "shards sent counts of pages that cannot be");
  }
  if (counts[0] == 0) return fail(Errc::kInvalidArgument, "no shard has a page of its own");
  sums.page_count_ = static_cast<std::uint64_t>(counts[0]);
  sums.elsewhere_count_ = static_cast<std::uint64_t>(counts[1]);
  sums.unknown_count_ = static_cast<std::uint64_t>(counts[2]);
  return sums;
}

/// Sends what was put into to_.
Result<void> ShardSums::exchange() {
  CRAWLSTORE_TRY(peers_->exchange(to_, from_));
  for (std::size_t shard = 0; shard < to_.size(); ++shard) {
    if (shard != index_) sent_bytes_ += to_[shard].size();
  }
  if (from_.size() == to_.size()) return {};
  return fail(Errc::kInvalidArgument, "the crawl has another number of shards than compute");
}

/// Checks that all compute the same, of shards of one crawl, in their order.
Result<void> ShardSums::greet(const PageView& pages, std::string_view asked,
                              std::span<const double> options) {
  // The index and the generation are a shard's own, the rest is the same in all.
  constexpr std::ptrdiff_t kOwnBytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);
  Bytes generations;
  for (Bytes& to : to_) {
    to.clear();
    put(to, index_);
    put(to, Inside::of(pages).snapshot.generation().value);
    put(to, static_cast<std::uint32_t>(to_.size()));
    put(to, Inside::of(pages).snapshot.key_seed());
    put(to, options);
    put(to, std::span<const char>(asked));
    put(to, std::span<const char>(pages.info().normalizer));
  }
  CRAWLSTORE_TRY(exchange());
  for (std::size_t shard = 0; shard < from_.size(); ++shard) {
    const Bytes& from = from_[shard];
    if (from.size() != to_[shard].size() ||
        !std::equal(from.begin() + kOwnBytes, from.end(), to_[shard].begin() + kOwnBytes)) {
      return fail(Errc::kInvalidArgument,
                  "another shard is of another crawl or number of shards, or "
                  "was asked for something else: the one that is the offset",
                  shard);
    }
    if (number_at<std::uint32_t>(from, 0) != shard) {
      return fail(
          Errc::kInvalidArgument,
          "the shards are not in their order: another one is in the place that is the offset",
          shard);
    }
    generations.insert(generations.end(), from.begin() + sizeof(index_), from.begin() + kOwnBytes);
  }
  const std::uint64_t hash = XXH3_64bits(generations.data(), generations.size());
  computation_ = static_cast<double>(hash >> 11U);  // of the bits that a double has
  return {};
}

/// Finds the own pages, and asks the owners of the others for these, by their keys.
Result<void> ShardSums::find_elsewhere(const PageView& pages) {
  const PageView::Impl& inside = Inside::of(pages);
  own_.assign(inside.table.page_count, 0);
  elsewhere_.resize(to_.size());
  for (Bytes& to : to_) to.clear();
  std::uint64_t host = 0;
  std::uint32_t owner = 0;
  Result<void> found;
  const auto visit = [&](Key16 key, std::uint64_t page) -> Result<void> {
    CRAWLSTORE_TRY(const auto record, inside.record(page));
    if (record.state != PageState::kElsewhere) {
      own_[page] = 1;
      return {};
    }
    if (key.head != host) {
      CRAWLSTORE_TRY(const auto url, pages.url(page));
      owner = shard_of(url_host(url), static_cast<std::uint32_t>(to_.size()));
      host = key.head;
    }
    elsewhere_[owner].push_back(page);
    put(to_[owner], key);
    return {};
  };
  if (!inside.keys) {  // without URLs: alone, as all pages of a shard have them
    std::ranges::fill(own_, 1.0F);
    return {};
  }
  CRAWLSTORE_TRY(inside.for_each_key(
      [&](Key16 key, std::uint64_t page) {
        found = visit(key, page);
        return found.has_value();
      },
      {}));
  return found;
}

/// Finds the pages that others ask for, and says which there are.
Result<void> ShardSums::find_asked(const PageView& pages) {
  const PageView::Impl& inside = Inside::of(pages);
  CRAWLSTORE_TRY(exchange());
  asked_.resize(from_.size());
  for (std::size_t shard = 0; shard < from_.size(); ++shard) {
    const Bytes& from = from_[shard];
    std::vector<Key16> keys(from.size() / sizeof(Key16));
    CRAWLSTORE_TRY(check_length(from, keys.size() * sizeof(Key16), shard));
    if (!keys.empty()) std::memcpy(keys.data(), from.data(), from.size());
    if (!std::ranges::is_sorted(keys)) {
      return fail(Errc::kInvalidArgument,
                  "another shard asks for pages out of order: the one that is the offset", shard);
    }
    std::vector<std::uint64_t>& asked = asked_[shard];
    asked.assign(keys.size(), kUnknown);
    const auto take = [&](std::size_t place, std::span<const std::byte> value) -> Result<void> {
      CRAWLSTORE_TRY(const auto page, inside.index_of_key(value));
      if (own_[page] != 0) asked[place] = page;
      return {};
    };
    if (inside.keys) CRAWLSTORE_TRY(inside.keys->find_sorted(keys, take));
    to_[shard].clear();
    for (const std::uint64_t page : asked) put(to_[shard], static_cast<char>(page != kUnknown));
    std::erase(asked, kUnknown);
  }
  return {};
}

/// Hears which pages their owners do not know.
Result<void> ShardSums::find_unknown() {
  CRAWLSTORE_TRY(exchange());
  for (std::size_t shard = 0; shard < from_.size(); ++shard) {
    std::vector<std::uint64_t>& pages = elsewhere_[shard];
    const Bytes& is_known = from_[shard];
    CRAWLSTORE_TRY(check_length(is_known, pages.size(), shard));
    std::size_t known_count = 0;
    for (std::size_t place = 0; place < pages.size(); ++place) {
      if (is_known[place] == std::byte{0}) {
        unknown_.push_back(pages[place]);
      } else {
        pages[known_count++] = pages[place];
      }
    }
    pages.resize(known_count);
  }
  return {};
}

Result<void> ShardSums::add_up(std::span<double> numbers) {
  for (Bytes& to : to_) {
    to.clear();
    put(to, std::span<const double>(numbers));
  }
  CRAWLSTORE_TRY(exchange());
  std::ranges::fill(numbers, 0.0);
  for (std::size_t shard = 0; shard < from_.size(); ++shard) {
    CRAWLSTORE_TRY(check_length(from_[shard], numbers.size_bytes(), shard));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] += number_at<double>(from_[shard], i * sizeof(double));
    }
  }
  return {};
}

Result<double> ShardSums::add_up(double number) {
  CRAWLSTORE_TRY(add_up(std::span<double>(&number, 1)));
  return number;
}

Result<bool> ShardSums::is_same(double number) {
  for (Bytes& to : to_) {
    to.clear();
    put(to, number);
  }
  CRAWLSTORE_TRY(exchange());
  bool is_same = true;
  for (std::size_t shard = 0; shard < from_.size(); ++shard) {
    CRAWLSTORE_TRY(check_length(from_[shard], sizeof(number), shard));
    is_same = is_same && number_at<double>(from_[shard], 0) == number;
  }
  return is_same;
}

template <class Real>
Result<double> ShardSums::bring(std::span<Real> sums, double beside) {
  for (const std::uint64_t page : unknown_) {
    beside += static_cast<double>(sums[page]);
    sums[page] = 0;
  }
  for (std::size_t shard = 0; shard < to_.size(); ++shard) {
    Bytes& to = to_[shard];
    to.resize(sizeof(double) + elsewhere_[shard].size() * sizeof(Real));
    format::store(to.data(), beside);
    std::byte* next = to.data() + sizeof(double);
    for (const std::uint64_t page : elsewhere_[shard]) {
      format::store(next, sums[page]);
      next += sizeof(Real);
      sums[page] = 0;
    }
  }
  CRAWLSTORE_TRY(exchange());
  double all = 0;
  for (std::size_t shard = 0; shard < from_.size(); ++shard) {
    const Bytes& from = from_[shard];
    const std::vector<std::uint64_t>& asked = asked_[shard];
    CRAWLSTORE_TRY(check_length(from, sizeof(double) + asked.size() * sizeof(Real), shard));
    all += number_at<double>(from, 0);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      sums[asked[i]] += number_at<Real>(from, sizeof(double) + i * sizeof(Real));
    }
  }
  return all;
}

template <class Real>
Result<void> ShardSums::fetch(std::span<Real> values) {
  for (std::size_t shard = 0; shard < to_.size(); ++shard) {
    to_[shard].clear();
    for (const std::uint64_t page : asked_[shard]) put(to_[shard], values[page]);
  }
  CRAWLSTORE_TRY(exchange());
  for (std::size_t shard = 0; shard < from_.size(); ++shard) {
    const std::vector<std::uint64_t>& pages = elsewhere_[shard];
    CRAWLSTORE_TRY(check_length(from_[shard], pages.size() * sizeof(Real), shard));
    for (std::size_t i = 0; i < pages.size(); ++i) {
      values[pages[i]] = number_at<Real>(from_[shard], i * sizeof(Real));
    }
  }
  return {};
}

template <class Real>
void ShardSums::clear(std::span<Real> values) const {
  for (const auto& pages : elsewhere_) {
    for (const std::uint64_t page : pages) values[page] = 0;
  }
}

template Result<double> ShardSums::bring(std::span<float> sums, double beside);
template Result<double> ShardSums::bring(std::span<double> sums, double beside);
template Result<void> ShardSums::fetch(std::span<float> values);
template Result<void> ShardSums::fetch(std::span<double> values);
template void ShardSums::clear(std::span<float> values) const;
template void ShardSums::clear(std::span<double> values) const;

}  // namespace crawlstore::scores
