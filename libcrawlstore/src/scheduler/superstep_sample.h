// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A crawl as runs of supersteps need it: of each page the one link that decides whether it is
/// missed, and the links that may fail.
///
/// A page is in the set W of the paper when it is extracted if one of its *sources*, earlier pages
/// with a link to it, was extracted in this superstep. The page must be new to its processor, too.
/// So all sources must be of other processors, and the first one must be of this superstep; by the
/// letter the last source must be. So a run compares one number a page.
///
/// A link from another processor fails if its page was extracted before the link arrives: always if
/// it leads to an earlier page, and otherwise if the superstep of both pages is the same.

#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/tools/supersteps.h>

namespace crawlstore {

/// Pages by their places in the order of extraction. Threads: any number read it.
struct SuperstepSample::Impl {
  std::vector<std::uint16_t> processors;
  /// The place behind that of the source that decides; 0: none does, the page is never missed.
  std::vector<std::uint32_t> sources;
  /// Links to later pages of other processors, source by source, and how many each source has.
  std::vector<std::uint32_t> links;
  std::vector<std::uint32_t> link_counts;
  /// Processors that get a message, source by source, and how many each source has.
  std::vector<std::uint16_t> receivers;
  std::vector<std::uint16_t> receiver_counts;

  std::uint32_t processor_count = 0;
  std::uint64_t backward_link_count = 0;  ///< to earlier pages of other processors
  std::uint64_t pages_of_busiest = 0;     ///< of the processor that has most
  std::uint64_t messages_of_busiest = 0;  ///< to the processor that gets most

  [[nodiscard]] std::uint64_t page_count() const { return processors.size(); }
};

namespace scheduler {

/// Pages that can have a place.
inline constexpr std::uint64_t kPlacesMax = ~std::uint32_t{0} - std::uint64_t{1};

}  // namespace scheduler
}  // namespace crawlstore
