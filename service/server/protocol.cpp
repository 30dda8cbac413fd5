// SPDX-License-Identifier: Apache-2.0
#include "service/server/protocol.h"

namespace crawlstore::service {
namespace {

using ::urlfrontier::AckMessage;
using ::urlfrontier::URLInfo;
using ::urlfrontier::URLItem;

double priority_of(const URLInfo& info) {
  const auto found = info.metadata().find("priority");
  const bool is_said = found != info.metadata().end() && found->second.values_size() != 0;
  return is_said ? service::priority_of(found->second.values(0)) : 0;
}

/// Calls to(Crawl, url, metadata), which tells whether it was new, for a URL that can be kept.
///   if_known  the status of one that was not new
template <class To>
Result<AckStatus> put_url(Crawls& crawls, const URLInfo& info, AckStatus if_known, const To& to) {
  const auto queue = queue_of(info);
  if (!queue || info.url().empty()) return AckMessage::SKIPPED;
  const auto crawl = crawls.find(Crawls::id_of(info.crawlid()));
  if (!crawl && crawls.refusal(Crawls::id_of(info.crawlid())) != nullptr) {
    return AckMessage::SKIPPED;
  }
  if (!crawl) return tl::unexpected<Error>(crawl.error());
  const UrlInQueue url{*queue, info.url(), priority_of(info)};
  const Result<bool> is_new = to(**crawl, url, metadata_of(info));
  if (!is_new && is_new.error().code == Errc::kTooLarge) return AckMessage::SKIPPED;
  if (!is_new) return tl::unexpected<Error>(is_new.error());
  if (!*is_new) return if_known;
  return crawls.add_page(url.url, url.priority).map([] { return AckMessage::OK; });
}

}  // namespace

std::optional<std::string> queue_of(const URLInfo& info) {
  if (info.key().empty()) {
    auto host = host_of(info.url());
    return host && host->size() <= Crawl::kKeyBytesMax ? host : std::nullopt;
  }
  if (info.key().size() > Crawl::kKeyBytesMax) return std::nullopt;
  return info.key();
}

std::string metadata_of(const URLInfo& info) {
  if (info.metadata().empty()) return {};
  URLInfo alone;
  *alone.mutable_metadata() = info.metadata();
  return alone.SerializeAsString();
}

URLInfo info_of(const UrlRecord& record, std::string_view queue, std::string_view crawl) {
  URLInfo info;
  if (!info.ParseFromString(record.metadata)) info.Clear();
  info.set_url(record.url);
  info.set_key(std::string(queue));
  info.set_crawlid(std::string(crawl));
  return info;
}

URLItem item_of(const KnownUrl& url, std::string_view queue, std::string_view crawl) {
  URLItem item;
  *item.mutable_known()->mutable_info() = info_of(url.record, queue, crawl);
  item.mutable_known()->set_refetchable_from_date(url.refetch_s);
  item.set_creation_date(url.record.created_s);
  return item;
}

grpc::Status status_of(const Error& error) {
  using grpc::StatusCode;
  const auto code = [&error] {
    switch (error.code) {
      case Errc::kUnknownName:
        return StatusCode::NOT_FOUND;
      case Errc::kInvalidArgument:
      case Errc::kTooLarge:
        return StatusCode::INVALID_ARGUMENT;
      case Errc::kNoSpace:
      case Errc::kFileSizeLimit:
        return StatusCode::RESOURCE_EXHAUSTED;
      case Errc::kClosed:
        return StatusCode::UNAVAILABLE;
      default:
        return StatusCode::INTERNAL;
    }
  };
  // The library's advice to its caller, a program, is none to a client.
  const bool is_of_caller = category(error.code) == ErrorCategory::kCaller && *error.text != 0;
  return {code(), is_of_caller ? std::string(error.text) : describe(error)};
}

Result<AckStatus> put_discovered(Crawls& crawls, const URLInfo& info) {
  const auto discover = [](Crawl& crawl, const UrlInQueue& url, std::string_view metadata) {
    return crawl.discover(url, metadata, now_s(crawl));
  };
  return put_url(crawls, info, AckMessage::SKIPPED, discover);
}

Result<AckStatus> put(Crawls& crawls, const URLItem& item) {
  if (item.has_discovered()) return put_discovered(crawls, item.discovered().info());
  const std::uint64_t refetch = item.known().refetchable_from_date();
  if (!item.has_known() || refetch > Crawl::kTimeMaxS) return AckMessage::SKIPPED;
  const auto update = [=](Crawl& crawl, const UrlInQueue& url, std::string_view metadata) {
    return crawl.update(url, metadata, refetch, now_s(crawl));
  };
  return put_url(crawls, item.known().info(), AckMessage::OK, update);
}

}  // namespace crawlstore::service
