// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Messages of the protocol, and the calls of a crawl that they are.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <grpcpp/support/status.h>

#include "service/core/crawls.h"
#include "urlfrontier.pb.h"

namespace crawlstore::service {

using AckStatus = ::urlfrontier::AckMessage::Status;

/// The key of a URL's queue: as given, or its host.
///   nothing  it has none, or its key is longer than 255 bytes
std::optional<std::string> queue_of(const ::urlfrontier::URLInfo& info);

/// The metadata of a URL as a record has them.
std::string metadata_of(const ::urlfrontier::URLInfo& info);

/// The other way round. Metadata of another form are left out.
::urlfrontier::URLInfo info_of(const UrlRecord& record, std::string_view queue,
                               std::string_view crawl);

/// A URL as the calls tell that look at it.
::urlfrontier::URLItem item_of(const KnownUrl& url, std::string_view queue, std::string_view crawl);

/// A text of a request; nothing: it is empty.
inline std::optional<std::string_view> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}
/// The size of a list of which a request says 0.
inline constexpr std::uint32_t kListedByDefault = 100;
/// Seconds since 1970, by the clock of a crawl.
inline std::uint64_t now_s(const Crawl& crawl) {
  return crawl.now_ms() / 1000;
}

/// The status of a call that failed.
grpc::Status status_of(const Error& error);

/// Adds a URL to a crawl. A missing crawl is told by kUnknownName.
///   returns  SKIPPED: it is known, or can never be kept
Result<AckStatus> put_discovered(Crawls& crawls, const ::urlfrontier::URLInfo& info);
Result<AckStatus> put(Crawls& crawls, const ::urlfrontier::URLItem& item);

}  // namespace crawlstore::service
