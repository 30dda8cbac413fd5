// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The address of each scheme, host and port, kept in the file for an hour: libcurl does not tell
/// for how long a name server lets it be kept.

#include <cstdint>
#include <string>

#include <curl/curl.h>

#include <crawlstore/must.h>
#include <crawlstore/page_key.h>
#include <crawlstore/timed_drum.h>

#include "robots_cache.h"

class DnsCache {
 public:
  explicit DnsCache(crawlstore::Store& store)
      : addresses_(crawlstore::must(crawlstore::TimedDrum::open(store, "dns"))) {}

  /// Returns what CURLOPT_RESOLVE tells a request, for the caller to free after it: the address
  /// that is kept, or to forget what curl itself has kept and to ask DNS.
  curl_slist* find(const std::string& origin, std::uint64_t now_ms) {
    const std::string name = name_of(origin);
    if (name.starts_with('[')) return nullptr;  // an address already
    const auto kept = crawlstore::must(addresses_.get(origin, now_ms));
    return curl_slist_append(nullptr, (kept ? '+' + name + ':' + kept->value : '-' + name).c_str());
  }

  /// Keeps the address that DNS gave a request, and drops one that was kept if it has failed.
  ///   told  what find() returned
  void put(CURL* request, CURLcode code, const curl_slist* told, const std::string& origin,
           std::uint64_t now_ms) {
    const bool was_kept = told != nullptr && told->data[0] == '+';
    if (was_kept && code != CURLE_OK) crawlstore::must(addresses_.put(origin, {}, 0));
    if (was_kept || told == nullptr || code != CURLE_OK) return;
    const char* url = nullptr;
    const char* address = nullptr;
    long port = 0;
    long connection_count = 0;
    curl_easy_getinfo(request, CURLINFO_EFFECTIVE_URL, &url);
    curl_easy_getinfo(request, CURLINFO_PRIMARY_IP, &address);
    curl_easy_getinfo(request, CURLINFO_PRIMARY_PORT, &port);
    curl_easy_getinfo(request, CURLINFO_NUM_CONNECTS, &connection_count);
    // Not that of an older connection, of what a redirect led to, or of a proxy.
    if (connection_count == 0 || origin_of(url) != origin) return;
    if (!name_of(origin).ends_with(':' + std::to_string(port))) return;
    crawlstore::must(addresses_.put(origin, address, now_ms + kHourMs));
  }

 private:
  static constexpr std::uint64_t kHourMs = 3'600'000;

  /// The host and port, as curl names what it keeps.
  static std::string name_of(const std::string& origin) {
    const std::string host = crawlstore::url_host(origin);
    const std::string port = origin.substr(origin.rfind(host) + host.size());
    if (!port.empty()) return host + port;
    return host + (origin.starts_with("https:") ? ":443" : ":80");
  }

  crawlstore::TimedDrum addresses_;
};
