// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Pages and their outcomes, as answers over HTTP have them.

#include <cstdint>
#include <functional>
#include <string>

#include <crawlstore/crawled_page.h>

#include "html_links.h"
#include "http_request.h"

/// The kind of event that an answer makes.
inline crawlstore::CrawlEventKind kind_of(const HttpAnswer& answer) {
  using crawlstore::CrawlEventKind;
  const long status = answer.status;
  if (answer.has_failed) return CrawlEventKind::kFailed;
  if (status == 404 || status == 410) return CrawlEventKind::kGone;
  const bool is_redirect = status == 307 || status == 308 || (status >= 301 && status <= 303);
  if (is_redirect && !answer.target.empty()) return CrawlEventKind::kRedirect;
  if (status == 304) return CrawlEventKind::kUnchanged;
  return status < 300 ? CrawlEventKind::kPage : CrawlEventKind::kFailed;
}

/// A page as an answer has it, with its links, or the target of its redirect.
inline crawlstore::CrawledPage page_of(const std::string& url, const HttpAnswer& answer) {
  const auto kind = kind_of(answer);
  crawlstore::CrawledPage page(url);
  page.set_http_status(static_cast<std::uint16_t>(answer.status));
  if (kind == crawlstore::CrawlEventKind::kRedirect) page.add_link(answer.target);
  if (kind != crawlstore::CrawlEventKind::kPage) return page;
  page.set_content_hash(std::hash<std::string>()(answer.body));
  if (!answer.type.starts_with("text/html")) return page;
  for_each_link(url, answer.body, [&page](const std::string& link) { page.add_link(link); });
  return page;
}
