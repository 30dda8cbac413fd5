// SPDX-License-Identifier: Apache-2.0
#include "service/core/url_record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include <crawlstore/url.h>

#include "service/core/numbers.h"

namespace crawlstore::service {
namespace {

/// The forms in which a record has its URL: whole, or without these texts before the queue's key,
/// and without the key.
constexpr std::array<std::string_view, 3> kSchemes{"", "http://", "https://"};

/// A record with a time behind the number of its form has this in that number.
constexpr std::uint64_t kHasTime = std::uint64_t{1} << 18;

/// The form of a URL, and what of it a record has.
std::pair<std::size_t, std::string_view> form_of(std::string_view url, std::string_view queue) {
  for (std::size_t form = 1; form < kSchemes.size(); ++form) {
    const std::string_view scheme = kSchemes[form];
    if (url.starts_with(scheme) && url.substr(scheme.size()).starts_with(queue)) {
      return {form, url.substr(scheme.size() + queue.size())};
    }
  }
  return {0, url};
}

}  // namespace

Key16 queue_key(std::string_view queue, std::uint64_t seed) {
  return {std::max<std::uint64_t>(1, url_key(queue, seed)), 0};
}

Key16 known_key(const UrlInQueue& url, std::uint64_t seed) {
  return {queue_key(url.queue, seed).head, std::max<std::uint64_t>(1, url_key(url.url, seed))};
}

std::uint64_t item_id(Key16 key) {
  std::uint64_t mixed = (key.head ^ key.tail * 0xBF58'476D'1CE4'E5B9U) * 0x94D0'49BB'1331'11EBU;
  mixed ^= mixed >> 32;
  return mixed >> 1;
}

std::optional<std::string> host_of(std::string_view url) {
  if (const auto scheme = url.find("://"); scheme != url.npos) url.remove_prefix(scheme + 3);
  std::string_view authority = url.substr(0, url.find_first_of("/?#&\\"));
  if (const auto user = authority.rfind('@'); user != authority.npos) {
    authority.remove_prefix(user + 1);
  }
  const bool is_ipv6 = authority.starts_with('[') && authority.find(']') != authority.npos;
  std::string host(authority.substr(0, is_ipv6 ? authority.find(']') + 1 : authority.find(':')));
  for (char& c : host) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return host.empty() ? std::nullopt : std::optional(std::move(host));
}

std::string encode(const UrlRecord& record, std::string_view queue) {
  const auto [form, rest] = form_of(record.url, queue);
  std::string bytes;
  bytes.reserve(rest.size() + record.metadata.size() + 12);
  put_number(bytes, record.created_s);
  const std::uint64_t form_and_size = rest.size() * kSchemes.size() + form;
  put_number(bytes, form_and_size + (record.refetch_s ? kHasTime : 0));
  if (record.refetch_s) put_number(bytes, *record.refetch_s);
  bytes += rest;
  bytes += record.metadata;
  return bytes;
}

std::optional<UrlRecord> decode(std::string_view bytes, std::string_view queue) {
  const auto created = take_number(bytes);
  auto form_and_size = created ? take_number(bytes) : std::nullopt;
  if (!form_and_size) return std::nullopt;
  UrlRecord record;
  if (*form_and_size >= kHasTime) {
    *form_and_size -= kHasTime;
    record.refetch_s = take_number(bytes);
    if (!record.refetch_s) return std::nullopt;
  }
  const std::size_t form = *form_and_size % kSchemes.size();
  const std::size_t size = *form_and_size / kSchemes.size();
  if (size > bytes.size()) return std::nullopt;
  record.created_s = *created;
  record.url = kSchemes[form];
  if (form != 0) record.url += queue;
  record.url += bytes.substr(0, size);
  record.metadata = bytes.substr(size);
  return record;
}

std::optional<std::uint64_t> created_of(std::string_view bytes) {
  return take_number(bytes);
}

double priority_of(std::uint64_t refetch_s) {
  return -static_cast<double>(refetch_s);
}

double priority_of(std::string_view text) {
  double priority = 0;
  const auto* const end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, priority);
  return failure == std::errc() && stopped == end && std::isfinite(priority) ? priority : 0;
}

std::uint64_t refetch_of(const UrlRecord& record, double priority) {
  constexpr double kMost = 9'007'199'254'740'992;  // 2^53
  return record.refetch_s.value_or(
      priority <= 0 && priority >= -kMost ? static_cast<std::uint64_t>(-priority) : 0);
}

std::string encode(const Counts& counts) {
  std::string bytes;
  for (const std::uint64_t number :
       {counts.completed, counts.limit, counts.queues, counts.active, counts.purges}) {
    put_number(bytes, number);
  }
  return bytes;
}

std::optional<Counts> decode_counts(std::string_view bytes) {
  std::array<std::uint64_t, 5> numbers{};
  for (std::uint64_t& number : numbers) {
    const auto taken = take_number(bytes);
    if (!taken) return std::nullopt;
    number = *taken;
  }
  return Counts{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
}

}  // namespace crawlstore::service
