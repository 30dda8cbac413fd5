// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The URL-seen test, ready-made: a DRUM whose keys are hashes of normalised URLs and whose
/// auxiliary is the URL as it was given. Normalisation v1 is part of the format: spec/format.md.
///
/// "Seen" is exact on 64-bit keys: n distinct URLs expect n^2 / 2^65 false duplicates (0.03 for a
/// billion). The key hash is seeded per file, so that a site cannot aim collisions.
/// Ownership and safety: as Drum. Threads: one UrlSeen per thread (it keeps a normaliser's
/// buffers); several may be open on one DRUM.

#include <memory>
#include <string_view>

#include <crawlstore/drum.h>
#include <crawlstore/url.h>

namespace crawlstore {

/// Typical use:
///
///   auto seen = UrlSeen::open(store);
///   seen->drum().attach(dispatcher);     // unique_key_update(answer): answer.aux is the URL
///   for (auto link : links) seen->check_update(link);
///   seen->drum().synchronize();
class UrlSeen {
 public:
  struct Options {
    DrumOptions drum{};  ///< memory, buckets, durability; key_scheme is set here
    /// Key the bytes as they are, without normalising.
    bool raw = false;
  };

  /// A dispatcher is told `answer.aux`, the URL.
  using Answers = Drum<std::uint64_t, NoValue, std::string_view>;

  /// errors as Drum::open
  static Result<UrlSeen> open(Store& store, std::string_view name = "urls") {
    return open(store, name, Options{});
  }
  static Result<UrlSeen> open(Store& store, std::string_view name, const Options& options);

  /// Asks whether the URL was seen, and remembers it. The answer carries the URL.
  ///   errors  kTooLarge (over 64 MiB), those of Drum::check_update
  Result<void> check_update(std::string_view url);
  /// Asks without remembering.
  Result<void> check(std::string_view url);
  /// Remembers without asking.
  Result<void> update(std::string_view url);

  /// Was the URL seen, as of the last merge? Answers at once.
  Result<bool> contains(std::string_view url);

  /// The key of a URL in this store.
  std::uint64_t key_of(std::string_view url);

  /// The DRUM itself: attach dispatchers, synchronize, take results.
  [[nodiscard]] Answers& drum() { return drum_; }
  /// URLs submitted through this object that no parser took, keyed as they are.
  [[nodiscard]] std::uint64_t unparsed_count() const { return unparsed_count_; }

 private:
  UrlSeen(Answers drum, std::uint64_t key_seed, bool raw)
      : drum_(std::move(drum)), key_seed_(key_seed), raw_(raw) {}
  std::uint64_t request_key(std::string_view url);

  Answers drum_;
  UrlNormalizer normalizer_;
  std::uint64_t key_seed_;
  std::uint64_t unparsed_count_ = 0;
  bool raw_;
};

}  // namespace crawlstore
