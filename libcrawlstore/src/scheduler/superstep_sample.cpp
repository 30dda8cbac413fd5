// SPDX-License-Identifier: Apache-2.0
#include "scheduler/superstep_sample.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "container/work_steps.h"

namespace crawlstore {
namespace {

using container::WorkSteps;

constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

Result<void> check(const SuperstepCrawl& crawl, std::uint64_t page_count) {
  if (crawl.processor_count == 0 || crawl.processor_count > kProcessorsMax) {
    return fail(Errc::kInvalidArgument, "there may be 1 to 4,096 processors");
  }
  if (crawl.form > SuperstepForm::kAsPrinted) {
    return fail(Errc::kInvalidArgument, "there is no such form of the six steps");
  }
  if (page_count > scheduler::kPlacesMax) {
    return fail(Errc::kTooLarge, "there are too many pages to extract again");
  }
  if (crawl.processors.size() != page_count) {
    return fail(Errc::kInvalidArgument, "each page needs a processor");
  }
  const auto is_none = [&](std::uint16_t processor) { return processor >= crawl.processor_count; };
  if (std::ranges::any_of(crawl.processors, is_none)) {
    return fail(Errc::kInvalidArgument, "a page is of a processor that does not exist");
  }
  return {};
}

/// Returns the place of each page, or kNowhere.
Result<std::vector<std::uint32_t>> places_of(const SuperstepCrawl& crawl) {
  std::vector<std::uint32_t> places(crawl.processors.size(), kNowhere);
  std::uint32_t place = 0;
  for (const std::uint32_t page : crawl.order) {
    if (page >= places.size() || places[page] != kNowhere) {
      return fail(Errc::kInvalidArgument, "the order names a page twice, or one that is not there");
    }
    places[page] = place++;
  }
  return places;
}

/// Returns the beginning of each source's part, by their lengths; the total comes last.
template <class Count>
std::vector<std::uint64_t> begins_of(const std::vector<Count>& counts) {
  std::vector<std::uint64_t> begins(counts.size() + 1);
  for (std::size_t i = 0; i < counts.size(); ++i) begins[i + 1] = begins[i] + counts[i];
  return begins;
}

/// Makes a sample of rows that come twice: once to be counted, once to be placed.
class SampleBuilder {
 public:
  /// `bad_link` is the error of a link to a page that does not exist.
  SampleBuilder(const SuperstepCrawl& crawl, std::vector<std::uint32_t> places, Errc bad_link)
      : crawl_(crawl),
        places_(std::move(places)),
        bad_link_(bad_link),
        is_printed_(crawl.form == SuperstepForm::kAsPrinted),
        stamps_(crawl.processor_count, kNowhere) {
    const std::size_t count = crawl.order.size();
    sample_.processor_count = crawl.processor_count;
    sample_.sources.assign(count, is_printed_ ? 0 : kNowhere);
    sample_.link_counts.resize(count);
    sample_.receiver_counts.resize(count);
    sample_.processors.reserve(count);
    for (const std::uint32_t page : crawl.order) {
      sample_.processors.push_back(crawl.processors[page]);
    }
  }

  Result<void> count(std::uint64_t page, std::span<const std::uint64_t> targets) {
    if (places_[page] == kNowhere) return {};
    const std::uint32_t place = places_[page];
    CRAWLSTORE_TRY(read(place, targets, true));
    sample_.link_counts[place] = static_cast<std::uint32_t>(links_.size());
    sample_.receiver_counts[place] = static_cast<std::uint16_t>(receivers_.size());
    return {};
  }
  void end_counting() {
    link_begins_ = begins_of(sample_.link_counts);
    receiver_begins_ = begins_of(sample_.receiver_counts);
    sample_.links.resize(link_begins_.back());
    sample_.receivers.resize(receiver_begins_.back());
    std::ranges::replace(sample_.sources, kNowhere, 0U);
    std::ranges::fill(stamps_, kNowhere);
  }
  Result<void> place(std::uint64_t page, std::span<const std::uint64_t> targets) {
    if (places_[page] == kNowhere) return {};
    const std::uint32_t place = places_[page];
    CRAWLSTORE_TRY(read(place, targets, false));
    if (links_.size() != sample_.link_counts[place] ||
        receivers_.size() != sample_.receiver_counts[place]) {
      return fail(bad_link_, "the links of a page changed while they were read", page);
    }
    std::ranges::copy(links_, sample_.links.data() + link_begins_[place]);
    std::ranges::copy(receivers_, sample_.receivers.data() + receiver_begins_[place]);
    return {};
  }
  SuperstepSample::Impl finish() {
    const auto most = [this](const std::vector<std::uint16_t>& of) {
      std::vector<std::uint64_t> counts(sample_.processor_count);
      for (const std::uint16_t processor : of) ++counts[processor];
      return *std::ranges::max_element(counts);
    };
    sample_.pages_of_busiest = most(sample_.processors);
    sample_.messages_of_busiest = most(sample_.receivers);
    return std::move(sample_);
  }

 private:
  /// Reads a row into links_ and receivers_. The first time it notes sources, too.
  Result<void> read(std::uint32_t place, std::span<const std::uint64_t> targets, bool is_first) {
    links_.clear();
    receivers_.clear();
    const std::uint16_t own = sample_.processors[place];
    for (const std::uint64_t target : targets) {
      if (target >= places_.size()) {
        return fail(bad_link_, "a link leads to a page that does not exist", target);
      }
      __builtin_prefetch(&places_[target]);
      __builtin_prefetch(&crawl_.processors[target]);
    }
    for (const std::uint64_t target : targets) {
      const std::uint32_t to = places_[target];
      if (to == kNowhere) continue;
      const std::uint16_t processor = crawl_.processors[target];
      const bool is_remote = processor != own;
      if ((is_remote || is_printed_) && stamps_[processor] != place) {
        stamps_[processor] = place;
        receivers_.push_back(processor);
      }
      if (to > place) {
        if (is_remote) links_.push_back(to);
        if (is_first) note_source(to, place, is_remote);
      } else if (is_remote && is_first) {
        ++sample_.backward_link_count;
      }
    }
    return {};
  }
  void note_source(std::uint32_t to, std::uint32_t place, bool is_remote) {
    std::uint32_t& source = sample_.sources[to];
    if (is_printed_) {
      source = std::max(source, place + 1);
    } else {
      source = is_remote ? std::min(source, place + 1) : 0;
    }
  }

  const SuperstepCrawl& crawl_;
  std::vector<std::uint32_t> places_;  // of pages; kNowhere: no part of the crawl
  Errc bad_link_;
  bool is_printed_;
  SuperstepSample::Impl sample_;
  std::vector<std::uint32_t> stamps_;  // of processors: the last place that had a message for them
  std::vector<std::uint32_t> links_;   // of the row
  std::vector<std::uint16_t> receivers_;
  std::vector<std::uint64_t> link_begins_;
  std::vector<std::uint64_t> receiver_begins_;
};

/// Builds a sample. `walk` calls a function with each page and its links.
template <class Walk>
Result<std::shared_ptr<const SuperstepSample::Impl>> build_of(SampleBuilder builder,
                                                              const Walk& walk) {
  CRAWLSTORE_TRY(walk([&](std::uint64_t page, std::span<const std::uint64_t> targets) {
    return builder.count(page, targets);
  }));
  builder.end_counting();
  CRAWLSTORE_TRY(walk([&](std::uint64_t page, std::span<const std::uint64_t> targets) {
    return builder.place(page, targets);
  }));
  return std::make_shared<const SuperstepSample::Impl>(builder.finish());
}

}  // namespace

Result<SuperstepSample> SuperstepSample::build(const PageView& pages, const SuperstepCrawl& crawl,
                                               const Progress& progress) {
  CRAWLSTORE_TRY(check(crawl, pages.info().page_count));
  CRAWLSTORE_TRY(auto places, places_of(crawl));
  CRAWLSTORE_TRY(auto impl, container::in_steps(nullptr, progress, [&](WorkSteps& steps) {
                   steps.expect(2 * pages.info().link_count);
                   const auto walk = [&](const auto& of_row) -> Result<void> {
                     CRAWLSTORE_TRY(auto rows, pages.links());
                     while (true) {
                       CRAWLSTORE_TRY(const bool has_row, rows.next());
                       if (!has_row) return {};
                       CRAWLSTORE_TRY(of_row(rows.page(), rows.links()));
                       CRAWLSTORE_TRY(steps.add(rows.links().size()));
                     }
                   };
                   return build_of({crawl, std::move(places), Errc::kSegmentInvalid}, walk);
                 }));
  return SuperstepSample(std::move(impl));
}

Result<SuperstepSample> SuperstepSample::build(std::span<const std::vector<std::uint64_t>> rows,
                                               const SuperstepCrawl& crawl,
                                               const Progress& progress) {
  CRAWLSTORE_TRY(check(crawl, rows.size()));
  CRAWLSTORE_TRY(auto places, places_of(crawl));
  CRAWLSTORE_TRY(auto impl, container::in_steps(nullptr, progress, [&](WorkSteps& steps) {
                   steps.expect(2 * rows.size());
                   const auto walk = [&](const auto& of_row) -> Result<void> {
                     for (std::size_t page = 0; page < rows.size(); ++page) {
                       CRAWLSTORE_TRY(of_row(page, rows[page]));
                       CRAWLSTORE_TRY(steps.add(1));
                     }
                     return {};
                   };
                   return build_of({crawl, std::move(places), Errc::kInvalidArgument}, walk);
                 }));
  return SuperstepSample(std::move(impl));
}

}  // namespace crawlstore
