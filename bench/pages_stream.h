// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The made-up crawl that all page databases take in: the same pages and links in the same order,
/// everywhere. Everything is a function of page numbers; only the hosts of lists are kept, 4 bytes
/// for 40 pages.
///
/// Pages are numbered in the order in which they are first named, and crawled in that order, as a
/// breadth-first crawl does. 24 pages that are crawled name 40 new ones (1.67 pages known for one
/// crawled: mscpp has 1.67, reddit-a 1.71), all of them linked from the first of the 24: page 24 g
/// lists the pages 40 g + 1 to 40 g + 40, which are siblings.
///
/// Matched with measurements of the real files in shared/data (cnr-2000 for the graph, reddit-a and
/// mscpp for the URLs); "here" was counted over 1 million crawled pages, 1.67 million known:
///
///   what                                            cnr-2000     reddit-a  mscpp   here
///   links a crawled page, distinct                  9.88                           9.77
///     of pages: without links                       24 %                           23 %
///     of pages: quartiles                           1, 3, 12                       1, 3, 12
///     of pages: 90 %, 99 %                          33, 59                         30, 72
///   links that the page crawled before has too      73 %                           40 %
///   links to the thousandth, hundredth of the
///     pages that are linked most                    39, 56 %                       15, 29 %
///   bytes of a URL, mean                                         72.6      80.0    68.7
///     that it shares with the one before it                      31.6      60.3    40.1
///     of 64 in a row, zstd -3                                    24.6      11.2    16.8
///   pages known of one host, mean and median                     26, 1     122, 1  22, 1
///     on the largest hundredth of hosts                          92 %      92 %    76 %
///   links inside the host                                        59 %      97 %    53 %
///
/// So rows are less alike, and popular pages less popular, than in cnr-2000: links compress worse
/// here. URLs lie between those of the two lists.
///
/// Degrees are quantiles of cnr-2000. Three in four links of a page are those that its siblings
/// have (menus): to siblings, to pages near the one that lists them, to popular pages; the others
/// go near the page (the distance uniform in its logarithm, as in cnr-2000), or are popular: of
/// rank r with probability 1 / r, old pages first.
///
/// Siblings are of the host of the page that lists them, but for 0 to 8 that are the first pages of
/// new hosts; each of the first 1024 lists is of a new host as a whole. So hosts grow as in Simon's
/// model: most have one page, few have most pages.
///
/// Threads: none of this is shared.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace crawlstore::bench {

class PagesStream {
 public:
  /// Crawled pages, and the new pages that they name.
  static constexpr std::uint64_t kListPages = 24;
  static constexpr std::uint64_t kSiblings = 40;

  PagesStream();

  /// The number of pages that are known when so many were crawled.
  static std::uint64_t known_pages(std::uint64_t crawled) {
    return crawled == 0 ? 0 : kSiblings * ((crawled - 1) / kListPages + 1) + 1;
  }
  /// The pages that page `page` links to, ascending, each once: below known_pages(page + 1).
  void links_of(std::uint64_t page, std::vector<std::uint64_t>& links);

  /// Adds the URL of a page, in normal form.
  void append_url(std::uint64_t page, std::string& text);
  /// The first page of the host of a page.
  std::uint32_t host_of(std::uint64_t page);

 private:
  /// The same, when the hosts of the lists up to the page's are in list_hosts_.
  [[nodiscard]] std::uint32_t host_after_lists(std::uint64_t page) const;
  void append_word(std::uint64_t random, std::string& text) const;

  std::vector<std::string> words_;
  std::vector<std::uint32_t> list_hosts_;  // of the page that lists, for each list that was named
};

}  // namespace crawlstore::bench
