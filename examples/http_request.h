// SPDX-License-Identifier: Apache-2.0
#pragma once

/// HTTP requests, many at a time in one thread, by libcurl: what every crawler needs of it.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <curl/curl.h>

#include "dns_cache.h"

struct HttpRequest {
  std::string url;
  bool follows_redirects = false;  ///< five of them
  std::size_t cut_bytes = 0;       ///< of a body, the rest is not kept; 0: a long one is a failure
  std::int64_t modified_since_s = 0;  ///< since 1970; 0: it is asked for anyway
};

struct HttpAnswer {
  bool has_failed = true;  ///< no whole answer came in time
  long status = 0;
  std::string body{};
  std::string type{};    ///< Content-Type
  std::string target{};  ///< of a redirect that was not followed, as a URL; empty: none
  std::uint64_t retry_after_ms = 0;
};

class HttpClient {
 public:
  struct Options {
    std::string user_agent{};
    std::string resolve_all{};  ///< ADDRESS:PORT of the server that stands for all; empty: by DNS
    std::uint32_t timeout_ms = 20'000;
  };
  using Done = std::function<void(const HttpAnswer&)>;

  /// Keeps `options`. Addresses are kept in the store, unless one server stands for all.
  HttpClient(crawlstore::Store& store, const Options& options) : options_(options) {
    if (options.resolve_all.empty()) {
      dns_.emplace(store);
    } else {
      connect_to_ = curl_slist_append(nullptr, ("::" + options.resolve_all).c_str());
    }
  }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient() {
    for (auto& [easy, running] : running_) close(easy, running);
    curl_slist_free_all(connect_to_);
    curl_multi_cleanup(multi_);
    curl_global_cleanup();
  }

  /// Requests that run.
  [[nodiscard]] std::size_t count() const { return running_.size(); }

  /// Starts a request. A later wait() calls `done`, which may start others.
  void start(HttpRequest request, Done done) {
    CURL* const easy = curl_easy_init();
    Running& running = running_[easy];
    running.request = std::move(request);
    running.done = std::move(done);
    const HttpRequest& asked = running.request;
    curl_easy_setopt(easy, CURLOPT_URL, asked.url.c_str());
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, asked.follows_redirects ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 5L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_);
    if (dns_) running.address = dns_->find(origin_of(asked.url), now_ms());
    curl_easy_setopt(easy, CURLOPT_RESOLVE, running.address);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, options_.user_agent.c_str());
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout_ms));
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    if (asked.modified_since_s != 0) {
      curl_easy_setopt(easy, CURLOPT_TIMECONDITION, long{CURL_TIMECOND_IFMODSINCE});
      curl_easy_setopt(easy, CURLOPT_TIMEVALUE_LARGE, curl_off_t{asked.modified_since_s});
    }
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &running);
    check(curl_multi_add_handle(multi_, easy));
  }

  /// Lets requests go on until one has ended, something else comes, or the time is over.
  void wait(std::chrono::milliseconds longest) {
    check(curl_multi_poll(multi_, nullptr, 0, static_cast<int>(longest.count()), nullptr));
    int count = 0;
    check(curl_multi_perform(multi_, &count));
    while (const CURLMsg* message = curl_multi_info_read(multi_, &count)) {
      finish(message->easy_handle, message->data.result);
    }
  }

 private:
  struct Running {
    HttpRequest request;
    Done done;
    std::string body{};
    curl_slist* address = nullptr;  ///< by DnsCache
  };

  static constexpr std::size_t kBodyBytes = std::size_t{8} << 20;  // a longer one is a failure

  static void check(CURLMcode code) {
    if (code != CURLM_OK) throw std::runtime_error(curl_multi_strerror(code));
  }

  static CURLM* open() {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    return curl_multi_init();
  }

  static std::uint64_t now_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::duration<std::uint64_t, std::milli>>(now)
        .count();
  }

  /// Called by curl with bytes of a body. Another number than `count` ends the request.
  static std::size_t receive(const char* bytes, std::size_t, std::size_t count, void* to) {
    auto& [request, done, body, address] = *static_cast<Running*>(to);
    const std::size_t room =
        (request.cut_bytes != 0 ? request.cut_bytes : kBodyBytes) - body.size();
    if (count > room && request.cut_bytes == 0) return 0;
    body.append(bytes, std::min(count, room));
    return count;
  }

  void finish(CURL* easy, CURLcode code) {
    Running running = std::move(running_.extract(easy).mapped());
    HttpAnswer answer{.has_failed = code != CURLE_OK && code != CURLE_TOO_MANY_REDIRECTS};
    const char* type = nullptr;
    const char* target = nullptr;
    curl_off_t retry_after_s = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &target);
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    answer.body = std::move(running.body);
    if (type != nullptr) answer.type = type;
    if (target != nullptr) answer.target = target;
    answer.retry_after_ms =
        static_cast<std::uint64_t>(std::clamp<curl_off_t>(retry_after_s, 0, 3600)) * 1000;
    if (dns_) dns_->put(easy, code, running.address, origin_of(running.request.url), now_ms());
    close(easy, running);
    running.done(answer);
  }

  void close(CURL* easy, const Running& running) {
    curl_multi_remove_handle(multi_, easy);
    curl_easy_cleanup(easy);
    curl_slist_free_all(running.address);
  }

  const Options& options_;
  std::optional<DnsCache> dns_{};
  CURLM* multi_ = open();
  curl_slist* connect_to_ = nullptr;
  std::map<CURL*, Running> running_{};
};
