// SPDX-License-Identifier: Apache-2.0

#include <crawlstore/crawl_event.h>

namespace crawlstore {

std::string_view name_of(CrawlEventKind kind) {
  switch (kind) {
    case CrawlEventKind::kPage:
      return "page";
    case CrawlEventKind::kKnown:
      return "known";
    case CrawlEventKind::kGone:
      return "gone";
    case CrawlEventKind::kFailed:
      return "failed";
    case CrawlEventKind::kLinkAdded:
      return "linkAdded";
    case CrawlEventKind::kLinkRemoved:
      return "linkRemoved";
    case CrawlEventKind::kUnchanged:
      return "unchanged";
    case CrawlEventKind::kRedirect:
      return "redirect";
    case CrawlEventKind::kDenied:
      return "denied";
    case CrawlEventKind::kDuplicate:
      return "duplicate";
  }
  return "unknown";
}

}  // namespace crawlstore
