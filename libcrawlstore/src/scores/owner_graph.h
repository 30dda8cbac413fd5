// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The graph of the hosts, or of the registered domains, of a page database: one of them links to
/// another one when a page of the first links to a page of the second. However many pages do, that
/// is one link, so that a host is not worth more for saying a thing often; links inside are none.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/store.h>
#include <crawlstore/types.h>

#include "scores/rank_rows.h"

namespace crawlstore::scores {

/// The owners of pages, numbered by their first pages. Threads: any number read it.
class OwnerGraph final : public TableSource {
 public:
  /// The owner of a page that was forgotten, or whose URL names no host.
  static constexpr std::uint32_t kNoOwner = ~std::uint32_t{0};

  /// `subject` is kHost or kDomain.
  ///   errors  kInvalidArgument (pages without URLs), kTooLarge (2^32 - 1 owners or more),
  ///           kCancelled, of damage
  ///   cost    reads all keys and links and a URL of each host; memory: 12 bytes a page while it
  ///           is built, then 4, and up to 16 a pair of owners
  static Result<std::unique_ptr<const OwnerGraph>> build(const PageView& pages,
                                                         ScoreSubject subject,
                                                         const Progress& progress = {});

  /// The lowest page of each owner; ascending.
  [[nodiscard]] std::span<const std::uint64_t> first_pages() const { return first_pages_; }
  /// By page; kNoOwner for some.
  [[nodiscard]] std::span<const std::uint32_t> owners() const { return owners_; }
  [[nodiscard]] std::uint64_t link_count() const { return targets_.size(); }
  /// By owner, the weights of its pages added up.
  [[nodiscard]] std::vector<float> sums(std::span<const float> by_page) const;

  /// A row is an owner.
  [[nodiscard]] Result<std::unique_ptr<Rows>> open(std::uint64_t first_owner) const override;

 private:
  OwnerGraph() = default;
  Result<void> find_owners(const PageView& pages, ScoreSubject subject);
  Result<void> find_links(const PageView& pages, const Progress& progress);

  std::vector<std::uint64_t> first_pages_;
  std::vector<std::uint32_t> owners_;
  std::vector<std::uint64_t> row_ends_;  // by owner, in targets_
  std::vector<std::uint64_t> targets_;
};

}  // namespace crawlstore::scores
