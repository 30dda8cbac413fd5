// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The URL-seen stream that all drivers answer: the same requests in the same order, everywhere.
///
/// A request is one check_update. With probability 1/4 its key is fresh, otherwise it repeats one
/// of the keys before it. Keys are numbered as they appear; the key itself is a bijection of its
/// number, so distinct numbers are distinct keys, and the exact number of unique answers is known.
///
///   uniform  a repeat is drawn uniformly over all keys so far
///   skewed   half of the repeats are drawn by age (1 = the newest key), half by popularity (1 =
///   the
///            oldest key). Either way a level is drawn uniformly from the bit lengths of the number
///            of keys so far, and a rank uniformly from 2^level to 2^(level + 1) - 1; one beyond
///            the last key is halved. So the probability of rank r falls as 1 / r, in steps of
///            powers of two: Zipf's law with exponent 1. Among 10 million keys a quarter of all
///            repeats go to the newest 4,000, a quarter to the oldest 4,000.
///
/// Variant "key": the key alone. Variant "aux": beside it a value of 8 bytes, a second hash of the
/// key as a guard against collisions would be (so a repeat never changes it: a store that looks
/// before it writes need not write), and 60 bytes of auxiliary, which come back with the answer.
///
/// Threads: none of this is shared.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace crawlstore::bench {

/// Stafford's mix 13: a bijection.
inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// The key of the id-th fresh request, from 0.
inline std::uint64_t key_of(std::uint64_t id) {
  return mix(id + 0x5851F42D4C957F2DU);
}

/// The value that goes with a key in variant "aux".
inline std::uint64_t value_of(std::uint64_t key) {
  return mix(key + 0x2545F4914F6CDD1DU);
}

enum class StreamKind { kUniform, kSkewed };

class SeenStream {
 public:
  /// `stored` keys have come before.
  explicit SeenStream(StreamKind kind, std::uint64_t stored = 0)
      : is_skewed_(kind == StreamKind::kSkewed), fresh_(stored) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    const std::uint64_t random = mix(state_);
    is_fresh_ = fresh_ == 0 || (random & 3) == 0;
    if (is_fresh_) return key_of(fresh_++);
    return key_of(is_skewed_ ? skewed_id(random) : scaled(random, fresh_));
  }
  /// Whether the key of the last next() was a fresh one.
  [[nodiscard]] bool is_fresh() const { return is_fresh_; }
  /// Fresh keys so far.
  [[nodiscard]] std::uint64_t fresh() const { return fresh_; }

 private:
  /// A number below `bound`, from the high bits of `random`.
  static std::uint64_t scaled(std::uint64_t random, std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(random) * bound) >> 64);
  }
  /// Bit 2 chooses age or popularity, the 24 highest bits the level, those between the rank.
  [[nodiscard]] std::uint64_t skewed_id(std::uint64_t random) const {
    const auto level =
        static_cast<int>(scaled(random, static_cast<std::uint64_t>(std::bit_width(fresh_))));
    const std::uint64_t below = std::uint64_t{1} << level;
    std::uint64_t rank = below + ((random >> 3) & (below - 1));
    if (rank > fresh_) rank >>= 1;
    return (random & 4) != 0 ? fresh_ - rank : rank - 1;
  }

  bool is_skewed_;
  bool is_fresh_ = false;
  std::uint64_t state_ = 1;
  std::uint64_t fresh_ = 0;
};

inline constexpr std::size_t kAuxBytes = 60;
using AuxText = std::array<char, kAuxBytes>;

/// The auxiliaries: a made-up URL a request, which ends in the request's number. 32 requests in a
/// row are the links of one page: three in four stay on its host. Hosts and words are skewed.
///
/// In blocks of 64 KiB they shrink, with zstd -1 and lz4 -1, by 3.9 and 2.4 in the order of the
/// stream, by 3.0 and 2.0 when every 64th is taken, by 2.6 and 1.7 in random order. The real URLs
/// of 45 to 75 bytes in a crawl of reddit.com shrink by 4.6 and 3.4, 3.1 and 2.2, 2.7 and 2.0.
class AuxTexts {
 public:
  AuxTexts();
  void write(std::uint64_t operation, AuxText& text) const;

 private:
  using Word = std::array<char, 8>;
  std::vector<Word> words_;
};

/// The number of a request that is added up: the key, or a hash of all its bytes. It is not linear,
/// so bytes that are swapped between requests show.
inline std::uint64_t fingerprint(std::uint64_t key) {
  return key;
}
inline std::uint64_t fingerprint(std::uint64_t key, std::uint64_t value, std::string_view aux) {
  if (aux.size() != kAuxBytes) return 0;
  std::uint64_t sum = key + value * 0x9E3779B97F4A7C15U;
  std::uint64_t factor = 0xD6E8FEB86659FD93U;
  for (std::size_t i = 0; i < 8; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, aux.data() + (i == 7 ? kAuxBytes - 8 : 8 * i), sizeof(word));
    sum += word * factor;
    factor *= 0xBF58476D1CE4E5B9U;
  }
  return mix(sum);
}

/// Counts requests or answers. A run is right when the tally of its answers is that of the stream:
/// then each request was answered once, with its own bytes, and the unique answers went to exactly
/// the fresh requests (in variant "key": to requests with exactly their keys).
struct Tally {
  std::uint64_t count = 0;
  std::uint64_t unique = 0;
  std::uint64_t sum = 0;
  std::uint64_t unique_sum = 0;

  void add(bool is_unique, std::uint64_t print) {
    const std::uint64_t one = is_unique ? 1 : 0;
    ++count;
    unique += one;
    sum += print;
    unique_sum += print & (std::uint64_t{0} - one);
  }
  friend bool operator==(const Tally&, const Tally&) = default;
};

}  // namespace crawlstore::bench
