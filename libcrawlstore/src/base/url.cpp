// SPDX-License-Identifier: Apache-2.0
#include <crawlstore/url.h>

// Normal form of URLs, version 2 (spec/urls.md#url-keys).
//
// Invariants:
//   - fixed point: what write_normal() makes is normal; a normal input is returned as a view of
//   itself.
//   - aliasing: an input may lie in the buffer of the answer before, so another one is written,
//     and the two are exchanged when that is done.
//   - linear: every byte is read a bounded number of times; a dot segment steps back only over
//     bytes that it removes.
//
// Nearly all links are normal, and of http or https: normal_size() finds that out with one look at
// each byte. Everything else is written anew, and compared.

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/url_bytes.h"
#include "base/url_parts.h"
#include "base/url_writer.h"

namespace crawlstore {
namespace url_text {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// --- URLs that are normal already ---

bool is_normal_escape(std::string_view text, std::size_t i) {
  const int byte = escaped_byte(text, i);
  const auto is_small = [](char c) { return c >= 'a'; };
  return byte >= 0 && !is_in(static_cast<char>(byte), kUnreserved) && !is_small(text[i + 1]) &&
         !is_small(text[i + 2]);
}

// Whether a dot at `i` begins the segment "." or "..".
bool begins_dot_segment(std::string_view url, std::size_t i) {
  if (url[i - 1] != '/') return false;
  if (i + 1 < url.size() && url[i + 1] == '.') ++i;
  return i + 1 == url.size() || std::string_view("/?#").find(url[i + 1]) != kNone;
}

// The end of what may stand as it is from `i` on, which is not 0.
std::size_t skip_path(std::string_view url, std::size_t i) {
  for (; i < url.size(); ++i) {
    if (!is_in(url[i], kPath | kBackslash | kLooked)) continue;
    if (url[i] == '.') {
      if (begins_dot_segment(url, i)) return i;
    } else if (url[i] == '%' && is_normal_escape(url, i)) {
      i += 2;
    } else {
      return i;
    }
  }
  return i;
}

std::size_t skip_query(std::string_view url, std::size_t i) {
  for (; i < url.size(); ++i) {
    if (!is_in(url[i], kSpecialQuery) && url[i] != '%') continue;
    if (url[i] != '%' || !is_normal_escape(url, i)) return i;
    i += 2;
  }
  return i;
}

// The end of a normal name of ASCII that is no address; kNone if there is none.
std::size_t skip_name(std::string_view url, const std::size_t begin) {
  std::size_t label = begin;
  std::size_t last_label = begin;
  std::size_t i = begin;
  for (; i < url.size(); ++i) {
    const char c = url[i];
    if (c == '.') {
      last_label = label;
      label = i + 1;
    } else if (!is_in(c, kUnreserved) || is_upper(c)) {
      break;
    }
  }
  if (label != i) last_label = label;
  const bool is_name = i != begin && i - begin <= kUrlHostBytesMax && !is_digit(url[last_label]);
  return is_name ? i : kNone;
}

// The length of the normal text, if a URL of http or https is normal but for its fragment; kNone:
// it is not, or would take a longer look.
std::size_t normal_size(std::string_view url) {
  if (!url.starts_with("http")) return kNone;
  const std::string_view rest = url.substr(4);
  const std::size_t host = rest.starts_with("://") ? 7 : rest.starts_with("s://") ? 8 : kNone;
  if (host == kNone) return kNone;
  const std::size_t path = skip_name(url, host);
  if (path >= url.size() || url[path] != '/') return kNone;
  std::size_t end = skip_path(url, path);
  if (end < url.size() && url[end] == '?') end = skip_query(url, end + 1);
  const bool is_whole = end == url.size() || url[end] == '#';
  return is_whole && end <= kUrlTextBytesMax ? end : kNone;
}

// Whether rule 1 removes the character inside of a URL.
bool is_removed(char c) {
  return c == '\t' || c == '\n' || c == '\r';
}

std::string_view trimmed(std::string_view url) {
  const auto is_kept = [](char c) { return static_cast<unsigned char>(c) > 0x20; };
  const auto begin = std::find_if(url.begin(), url.end(), is_kept);
  const auto end = std::find_if(url.rbegin(), std::make_reverse_iterator(begin), is_kept).base();
  return {begin, end};
}

}  // namespace
}  // namespace url_text

std::string_view to_text(UrlProblem problem) {
  switch (problem) {
    case UrlProblem::kNone:
      return "is a URL";
    case UrlProblem::kNoScheme:
      return "has no scheme, such as http:";
    case UrlProblem::kNoHost:
      return "has no host";
    case UrlProblem::kBadHost:
      return "has a host that no name and no address can be";
    case UrlProblem::kBadPort:
      return "has a port that is no number up to 65535";
    case UrlProblem::kTooLong:
      return "is too long, or its host is";
    case UrlProblem::kOpaqueBase:
      return "is relative to a URL that nothing can be relative to";
    case UrlProblem::kOwnRules:
      return "is refused by the rules of the store";
  }
  return "";
}

NormalizedUrl UrlNormalizer::normalize(std::string_view url) {
  if (!name_.empty()) return by_own_rules(url);
  const std::size_t size = url_text::normal_size(url);
  if (size != url_text::kNone) return {url.substr(0, size), true};
  return write(url, nullptr);
}

NormalizedUrl UrlNormalizer::resolve(std::string_view reference, std::string_view base) {
  NormalizedUrl resolved;
  if (const std::size_t size = url_text::normal_size(reference); size != url_text::kNone) {
    resolved = {reference.substr(0, size), true};
  } else {
    const url_text::Parts parts = url_text::split(base);
    resolved = write(reference, &parts);
  }
  return name_.empty() || !resolved.parsed ? resolved : by_own_rules(resolved.text);
}

NormalizedUrl UrlNormalizer::by_own_rules(std::string_view url) {
  if (!rules_) return {url, true};
  spare_.clear();
  if (!rules_(url, spare_)) return {url, false, UrlProblem::kOwnRules};
  if (spare_.size() > kUrlTextBytesMax) return {url, false, UrlProblem::kTooLong};
  if (spare_ == url) return {url, true};
  std::swap(buffer_, spare_);
  return {buffer_, true};
}

NormalizedUrl UrlNormalizer::write(std::string_view url, const url_text::Parts* base) {
  std::string_view clean = url_text::trimmed(url);
  if (std::any_of(clean.begin(), clean.end(), url_text::is_removed)) {
    clean_.clear();
    std::remove_copy_if(clean.begin(), clean.end(), std::back_inserter(clean_),
                        url_text::is_removed);
    clean = clean_;
  }
  const UrlProblem problem = url_text::write_normal(spare_, clean, base);
  if (problem != UrlProblem::kNone) return {url, false, problem};
  if (spare_.size() > kUrlTextBytesMax) return {url, false, UrlProblem::kTooLong};
  if (url.starts_with(spare_)) return {url.substr(0, spare_.size()), true};
  std::swap(buffer_, spare_);
  return {buffer_, true};
}

}  // namespace crawlstore
