// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The URL-seen test, ready-made: a DRUM whose keys are hashes of normalised URLs and whose
/// auxiliary is the URL as it was given.
///
/// One crawl has one memory: pages of the store's page databases count as seen, too, as of the last
/// commit, so that a link to a page is no new URL; only databases with the DRUM's normalizer are
/// asked. What a page has is remembered in the DRUM when it is first submitted. PageDb::forget()
/// takes URLs out of both. In a store with such pages a UrlSeen pins the commit that it looked at
/// last, until it is asked again.
///
/// "Seen" is exact on keys. Of 64 bits n distinct URLs expect n^2 / 2^65 false duplicates (0.03 for
/// a billion), of 128 bits n^2 / 2^129: none. The hash is seeded per file, so that a site cannot
/// aim collisions; Rabin fingerprints have no seed.
/// Ownership: as in crawlstore.hpp. Safety: as Drum. Threads: one UrlSeen per thread (it keeps a
/// normaliser's buffers); several may be open on one DRUM.

#include <memory>
#include <optional>
#include <string_view>

#include <crawlstore/drum.h>
#include <crawlstore/url.h>

#pragma GCC visibility push(default)
namespace crawlstore {

namespace pages {
class SeenPages;  // not public
}

/// The hash of the normalised bytes that is a key.
enum class UrlKeyKind : std::uint8_t {
  kXxh3,      ///< XXH3-64 with the file's seed: 8 bytes a key
  kXxh3Wide,  ///< XXH3-128 with the file's seed: 16 bytes, and no false duplicates
  kRabin,     ///< the Rabin fingerprint: 8 bytes, for exchange with systems that use it
};

/// Makes the keys of one DRUM. Threads: one.
class UrlKeyer {
 public:
  UrlKeyer(UrlKeyKind kind, std::uint64_t key_seed, UrlNormalizer normalizer)
      : normalizer_(std::move(normalizer)), kind_(kind), key_seed_(key_seed) {}

  /// The key of a URL; of 8 bytes it is the head. Counts URLs that no parser takes.
  Key16 operator()(std::string_view url);
  /// URLs that no parser took, keyed as they are.
  [[nodiscard]] std::uint64_t unparsed_count() const { return unparsed_count_; }
  /// The text that the key is made of, valid until the next call. Counts nothing.
  std::string_view text_of(std::string_view url) { return normalizer_.normalize(url).text; }
  /// The problem of the URL whose key was made last.
  [[nodiscard]] UrlProblem problem() const { return problem_; }
  [[nodiscard]] UrlKeyKind kind() const { return kind_; }
  /// One that makes the same keys, for another thread; it has counted none.
  [[nodiscard]] UrlKeyer another() const { return {kind_, key_seed_, normalizer_}; }

 private:
  UrlNormalizer normalizer_;
  std::uint64_t unparsed_count_ = 0;
  UrlProblem problem_{};
  UrlKeyKind kind_;
  std::uint64_t key_seed_;
};

/// Typical use:
///
///   auto seen = UrlSeen::open(store);
///   seen->drum().attach(dispatcher);     // unique_key_update(answer): answer.aux is the URL
///   for (auto link : links) CRAWLSTORE_TRY(seen->check_update(link));
///   CRAWLSTORE_TRY(seen->drum().merge());
class UrlSeen {
 public:
  struct Options {
    /// Memory, buckets, durability; key_scheme, key_bytes and normalizer are set here.
    DrumOptions drum{};
    /// nullopt = as the DRUM has it; version 2 when it is made now.
    std::optional<UrlNormalizer> normalizer{};
    /// nullopt = as the DRUM has it; kXxh3 when it is made now.
    std::optional<UrlKeyKind> key{};
    /// Pages of the store count as seen. False: only what this DRUM was told.
    bool with_pages = true;
  };

  /// A dispatcher is told `answer.aux`, the URL, and its key, of 8 bytes the head.
  using Answers = Drum<Key16, NoValue, std::string_view>;

  /// errors as Drum::open, and kTypeMismatch for a DRUM of other keys or rules
  [[nodiscard]] static Result<UrlSeen> open(Store& store, std::string_view name = "urls") {
    return open(store, name, Options{});
  }
  [[nodiscard]] static Result<UrlSeen> open(Store& store, std::string_view name,
                                            const Options& options);

  /// Asks whether the URL was seen, and remembers it. The answer carries the URL.
  ///   errors  kTooLarge (over 64 MiB), those of Drum::check_update
  [[nodiscard]] Result<void> check_update(std::string_view url);
  /// Asks without remembering, but for what a page has.
  [[nodiscard]] Result<void> check(std::string_view url);
  /// Remembers without asking.
  [[nodiscard]] Result<void> update(std::string_view url);

  /// Whether the URL was seen or asked to be remembered, or a page has it. Exact, at once:
  /// Drum::contains, then PageView::find_text.
  [[nodiscard]] Result<bool> contains(std::string_view url);

  /// Returns whether the URL is new, exact and at once, and remembers it in the same step:
  /// Drum::insert. No dispatcher is told, and the URL itself is not kept.
  ///   errors  those of Drum::insert
  [[nodiscard]] Result<bool> insert(std::string_view url);

  /// Remembers a URL that a page has and the DRUM does not; nobody is told. All that ask do this
  /// first; who submits keys to the DRUM by himself calls it.
  ///   key     key_of(url)
  ///   cost    Drum::contains, and of keys that are not there PageView::find_text
  [[nodiscard]] Result<void> remember_page(std::string_view url, Key16 key);

  /// The key of a URL in this store.
  Key16 key_of(std::string_view url);
  /// A maker of keys for this DRUM, for another thread.
  [[nodiscard]] UrlKeyer keyer() const { return keyer_.another(); }

  /// The DRUM itself: attach dispatchers, merge, take results.
  [[nodiscard]] Answers& drum() { return drum_; }
  /// URLs that this object was asked about or told of and that no parser took: keyed as they are.
  /// Counted when the key is made, so one that is then refused (kTooLarge) counts, too.
  [[nodiscard]] std::uint64_t unparsed_count() const { return keyer_.unparsed_count(); }

 private:
  UrlSeen(Answers drum, UrlKeyer keyer, std::shared_ptr<pages::SeenPages> pages)
      : drum_(std::move(drum)), keyer_(std::move(keyer)), pages_(std::move(pages)) {}
  [[nodiscard]] Result<Key16> request_key(std::string_view url);
  std::string_view text_of(std::string_view url);

  Answers drum_;
  UrlKeyer keyer_;                           // of requests
  std::shared_ptr<pages::SeenPages> pages_;  // null: pages do not count
};

}  // namespace crawlstore
#pragma GCC visibility pop
