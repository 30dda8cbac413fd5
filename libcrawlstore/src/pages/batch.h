// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Edits that wait in memory for the next superstep. Each page that they name stands here once, and
/// they refer to it by a number of its own. So a link takes 4 bytes, however long its URL is.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <crawlstore/crawl_event.h>
#include <crawlstore/types.h>

namespace crawlstore::pages {

/// The number of a page in a batch, in the order in which pages were first named. No index.
struct LocalId {
  std::uint32_t value = 0;
  auto operator<=>(const LocalId&) const = default;
};
inline constexpr LocalId kNoLocal{~std::uint32_t{0}};

/// The page whose link named another one first.
struct Linker {
  LocalId page = kNoLocal;  ///< kNoLocal: an edit did
  bool redirects = false;   ///< the link is a redirect
};

/// A column of a batch: something of each page.
template <class T>
class ByPage : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  decltype(auto) operator[](LocalId page) { return std::vector<T>::operator[](page.value); }
  decltype(auto) operator[](LocalId page) const { return std::vector<T>::operator[](page.value); }
};

/// One edit: links and hash lie in columns of the batch.
struct BatchEdit {
  CrawlEventKind kind{};
  std::uint16_t http_status = 0;
  std::uint8_t hash_bytes = 0;
  LocalId page = kNoLocal;
  float score = 0;
  std::uint32_t link_count = 0;
  std::uint64_t first_link = 0;
  std::uint64_t first_hash_byte = 0;
  std::int64_t time_us = 0;
};

/// Threads: one at a time.
class Batch {
 public:
  /// Sizes of a batch at some time, to cut it back to.
  struct Mark {
    std::size_t pages = 0;
    std::size_t edits = 0;
    std::size_t links = 0;
    std::size_t hash_bytes = 0;
    std::uint64_t collision_count = 0;
  };

  /// `has_urls`: pages are named by URLs, else by indexes.
  Batch(bool has_urls, std::uint64_t key_seed) : has_urls_(has_urls), key_seed_(key_seed) {}

  /// Takes an edit; its URLs are normalised already. An edit of a URL whose key another URL of the
  /// batch has is counted, and left out; so is a link to one. `all_parsed`: the URLs are known to
  /// be parsed, each of them, which makes their keys cheaper.
  void add(const CrawlEvent& event, bool all_parsed = false);

  [[nodiscard]] bool empty() const { return edits_.empty(); }
  /// The last edit is of the page of this event, by the same name.
  [[nodiscard]] bool ends_with(const CrawlEvent& event) const;
  [[nodiscard]] std::size_t page_count() const { return keys_.size(); }
  [[nodiscard]] const std::vector<BatchEdit>& edits() const { return edits_; }
  [[nodiscard]] std::span<const LocalId> links(const BatchEdit& edit) const {
    return std::span(links_).subspan(edit.first_link, edit.link_count);
  }
  [[nodiscard]] std::span<const std::byte> content_hash(const BatchEdit& edit) const {
    return std::span(hash_bytes_).subspan(edit.first_hash_byte, edit.hash_bytes);
  }
  [[nodiscard]] Key16 key(LocalId page) const { return keys_[page]; }
  [[nodiscard]] std::span<const Key16> keys() const { return keys_; }
  [[nodiscard]] std::uint32_t witness(LocalId page) const { return witnesses_[page]; }
  [[nodiscard]] std::string_view url(LocalId page) const {
    const std::size_t begin = page.value == 0 ? 0 : url_ends_[LocalId{page.value - 1}];
    return {url_bytes_.data() + begin, url_ends_[page] - begin};
  }
  [[nodiscard]] const Linker& linker(LocalId page) const { return linkers_[page]; }
  /// The score that this link gave the page; 0 if an edit named it first.
  [[nodiscard]] float first_score(LocalId page) const { return first_scores_[page]; }
  [[nodiscard]] std::uint64_t collision_count() const { return collision_count_; }

  /// Adds the edits of another batch.
  void append(const Batch& from);

  /// Bytes that a superstep over the batch needs at most, with the batch and without it.
  [[nodiscard]] std::uint64_t memory_bytes() const;
  [[nodiscard]] std::uint64_t step_bytes() const;

  [[nodiscard]] Mark mark() const;
  /// Forgets what came after the mark.
  void cut_back(const Mark& mark);
  /// Forgets everything, keeps the memory.
  void clear();

  /// The edits [first, end) as events again, one after another; views into the batch.
  void describe(std::size_t edit, CrawlEvent& event, std::vector<EventLink>& links) const;

 private:
  struct Name {
    Key16 key;
    std::uint32_t witness = 0;
    std::string_view url;
    float score = 0;
  };
  [[nodiscard]] Name name_of(std::string_view url, std::uint64_t index, bool is_parsed) const;
  LocalId intern(const Name& name, const Linker& linker);
  [[nodiscard]] std::size_t slot_of(const Key16& key) const {
    return static_cast<std::size_t>(key.tail * kSpread >> shift_);
  }
  void grow();
  void rebuild();

  static constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio, odd

  bool has_urls_;
  std::uint64_t key_seed_;
  // By page.
  ByPage<Key16> keys_;
  ByPage<std::uint32_t> witnesses_;
  ByPage<std::size_t> url_ends_;
  ByPage<Linker> linkers_;
  ByPage<float> first_scores_;
  std::vector<char> url_bytes_;
  // By edit.
  std::vector<BatchEdit> edits_;
  std::vector<LocalId> links_;
  std::vector<std::byte> hash_bytes_;
  // Open addressing: pages + 1, 0 = free.
  std::vector<std::uint32_t> slots_;
  unsigned shift_ = 64;
  std::vector<Name> names_;  // of the links of the edit being added
  std::uint64_t collision_count_ = 0;
};

}  // namespace crawlstore::pages
