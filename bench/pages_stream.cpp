// SPDX-License-Identifier: Apache-2.0
#include "pages_stream.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "seen_stream.h"

namespace crawlstore::bench {
namespace {

constexpr std::uint64_t kFirstHosts = 1024;
constexpr std::size_t kWords = 4096;

/// 24-quantiles of the out-degrees of cnr-2000; the last one is what pages that list others have.
constexpr std::array<std::uint8_t, PagesStream::kListPages> kDegrees{
    0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 11, 12, 16, 23, 31, 33, 34};
/// The links that these have beside the pages that they list.
constexpr std::array<std::uint8_t, 16> kMoreLinks{0,  0,  0,  0,  0,  0,  2,  4,
                                                  10, 18, 24, 30, 36, 45, 60, 240};

/// A number for a purpose: the same numbers make another one with another purpose.
std::uint64_t random_of(std::uint64_t purpose, std::uint64_t number) {
  return mix(number * 0x9E3779B97F4A7C15U + purpose * 0xD6E8FEB86659FD93U);
}
std::uint64_t random_of(std::uint64_t purpose, std::uint64_t number, std::uint64_t place) {
  return random_of(purpose, number ^ place << 48);
}

enum Purpose : std::uint64_t {
  kDegree = 1,
  kListDegree,
  kMenu,
  kOwn,
  kNewHosts,
  kHost,
  kFolder,
  kText
};

/// 1 to 2^bits, uniform in its logarithm.
std::uint64_t skewed(std::uint64_t random, unsigned bits) {
  const std::uint64_t below = std::uint64_t{1} << (random >> 32) % bits;
  return below + (random & (below - 1));
}

/// `center` and up to 2^bits before or behind it, below `known`.
std::uint64_t near(std::uint64_t center, std::uint64_t random, unsigned bits, std::uint64_t known) {
  const std::uint64_t distance = skewed(random, bits);
  if ((random & 1U << 31) != 0) return std::min(center + distance, known - 1);
  return center >= distance ? center - distance : distance % known;
}

std::uint64_t popular(std::uint64_t random, std::uint64_t known) {
  return (skewed(random, static_cast<unsigned>(std::bit_width(known))) - 1) % known;
}

std::uint64_t list_of(std::uint64_t page) {
  return (page - 1) / PagesStream::kSiblings;
}

/// The pages that all pages of a list link to. `host`: the first page of theirs.
std::uint64_t menu_link(std::uint64_t list, std::uint64_t place, std::uint64_t host,
                        std::uint64_t known) {
  const std::uint64_t random = random_of(kMenu, list, place);
  const std::uint64_t kind = random >> 58;
  if (kind < 22) {
    return list * PagesStream::kSiblings + 1 + (random >> 8) % PagesStream::kSiblings;
  }
  if (kind < 32) return near(list * PagesStream::kListPages, random, 14, known);
  if (kind < 46) return std::min(host + skewed(random, 5) - 1, known - 1);
  return popular(random, known);
}

std::uint64_t own_link(std::uint64_t page, std::uint64_t place, std::uint64_t known) {
  const std::uint64_t random = random_of(kOwn, page, place);
  return random >> 58 < 44 ? near(page, random, 14, known) : popular(random, known);
}

/// The number of siblings of a list that begin hosts of their own: the last ones.
std::uint64_t new_hosts(std::uint64_t list) {
  const std::uint64_t random = random_of(kNewHosts, list);
  return random % 5 < 2 ? 1 + (random >> 32) % 8 : 0;
}

/// Three in four siblings have about as many links.
std::uint64_t degree_of(std::uint64_t page) {
  const std::uint64_t random = random_of(kDegree, page);
  if (page % PagesStream::kListPages == 0) return kMoreLinks[random % kMoreLinks.size()];
  const std::uint64_t drawn = (random >> 60) < 4 ? random : random_of(kListDegree, list_of(page));
  const std::size_t quantile = drawn % (kDegrees.size() - 1);
  const unsigned span = kDegrees[quantile + 1] - kDegrees[quantile] + 1U;
  return kDegrees[quantile] + (random >> 32) % span;
}

}  // namespace

PagesStream::PagesStream() : words_(kWords), list_hosts_{0} {
  constexpr std::string_view kConsonants = "bcdfglmnprstvwhk";
  constexpr std::string_view kVowels = "aeiouyae";
  for (std::size_t i = 0; i < kWords; ++i) {
    std::uint64_t random = mix(i + 12345);
    const std::uint64_t syllables = 2 + random % 3;
    for (std::uint64_t j = 0; j < syllables; ++j) {
      random >>= 7;
      words_[i] += kConsonants[random & 15];
      words_[i] += kVowels[(random >> 4) & 7];
    }
  }
}

void PagesStream::links_of(std::uint64_t page, std::vector<std::uint64_t>& links) {
  const std::uint64_t known = known_pages(page + 1);
  const std::uint64_t degree = degree_of(page);
  const std::uint64_t menu = page == 0 ? 0 : degree - degree / 4;
  const std::uint64_t host = host_of(page);
  links.clear();
  for (std::uint64_t i = 0; i < degree; ++i) {
    links.push_back(i < menu ? menu_link(list_of(page), i, host, known) : own_link(page, i, known));
  }
  if (page % kListPages == 0) {
    for (std::uint64_t i = known - kSiblings; i < known; ++i) links.push_back(i);
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

std::uint32_t PagesStream::host_of(std::uint64_t page) {
  while (page > 0 && list_hosts_.size() <= list_of(page)) {
    list_hosts_.push_back(host_after_lists(list_hosts_.size() * kListPages));
  }
  return host_after_lists(page);
}

std::uint32_t PagesStream::host_after_lists(std::uint64_t page) const {
  if (page == 0) return 0;
  const std::uint64_t list = list_of(page);
  const std::uint64_t place = (page - 1) % kSiblings;
  if (place >= kSiblings - new_hosts(list)) return static_cast<std::uint32_t>(page);
  if (list < kFirstHosts) return static_cast<std::uint32_t>(list * kSiblings + 1);
  return list_hosts_[list];
}

void PagesStream::append_word(std::uint64_t random, std::string& text) const {
  // The density falls with the power 2/3 of the number of the word.
  const std::uint64_t x = random & 0xFFFF;
  text += words_[static_cast<std::size_t>((x * x * x) >> 36)];
}

void PagesStream::append_url(std::uint64_t page, std::string& text) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  constexpr std::array<std::string_view, 4> kEnds{".com/", ".org/", ".net/", ".co.uk/"};
  const std::uint64_t host = random_of(kHost, host_of(page));
  const std::uint64_t folder = random_of(kFolder, page == 0 ? 0 : list_of(page));
  const std::uint64_t own = random_of(kText, page);
  text += (host & 3) != 0 ? "https://www." : "https://";
  text += words_[(host >> 2) % kWords];
  text += words_[(host >> 20) % kWords];
  text += kEnds[(host >> 40) & 3];
  append_word((host >> 16) + folder % 8 * 7919, text);
  text += '/';
  append_word(folder >> 16, text);
  text += '/';
  for (std::uint64_t i = 0; i < 2 + own % 3; ++i) {
    append_word(own >> (4 + 15 * i), text);
    text += '-';
  }
  for (std::uint64_t rest = page + 36 * 36; rest != 0; rest /= 36) text += kDigits[rest % 36];
  if ((host & 16) != 0) text += ".html";
}

}  // namespace crawlstore::bench
