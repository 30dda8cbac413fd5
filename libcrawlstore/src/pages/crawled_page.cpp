// SPDX-License-Identifier: Apache-2.0
#include <crawlstore/crawled_page.h>

#include "format/endian.h"

namespace crawlstore {

CrawledPage::CrawledPage(std::string_view url, std::int64_t time_us)
    : url_(url), time_us_(time_us) {}

void CrawledPage::set_content_hash(std::span<const std::byte> hash) {
  content_hash_.assign(hash.begin(), hash.end());
}

void CrawledPage::set_content_hash(std::uint64_t hash) {
  content_hash_.resize(sizeof(hash));
  format::store(content_hash_.data(), hash);
}

void CrawledPage::add_link(std::string_view url, float score) {
  links_.push_back({std::string(url), score});
}

EventLink CrawledPage::link(std::size_t i) const {
  return {links_[i].url, 0, links_[i].score};
}

CrawlEvent CrawledPage::event() const {
  link_views_.clear();
  for (std::size_t i = 0; i < links_.size(); ++i) link_views_.push_back(link(i));
  CrawlEvent event;
  event.kind = CrawlEventKind::kPage;
  event.url = url_;
  event.time_us = time_us_;
  event.score = score_;
  event.http_status = http_status_;
  event.content_hash = content_hash_;
  event.links = link_views_;
  return event;
}

}  // namespace crawlstore
