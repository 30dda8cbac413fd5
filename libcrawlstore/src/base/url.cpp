// SPDX-License-Identifier: Apache-2.0
#include <crawlstore/url.h>

// Normal form of URLs, version 1 (spec/format.md#url-keys).
//
// Invariants:
//   - grammar: an input is parsed if and only if it matches `URI` of RFC 3986, appendix A, and its
//     head is within bounds. liburiparser judges every head that is more than a plain name; the
//     rest of a URI is two byte classes and one escape form, judged here.
//   - fixed point: a text that rewrite() made is normal, so it is returned as a view, never copied.
//   - room: rewriting adds at most one byte, the "/" of an empty path.
//   - linear: every byte is read a bounded number of times; a dot segment steps back only over
//     bytes that it removes.
//
// Why not give whole URLs to the library: it allocates 32 bytes for each "/" of a hostile path, it
// recurses once per byte unless its compiler removed the calls, and it takes 3.5 times as long.
// Why not take component boundaries from it: in a valid head they follow from "@", "]" and ":",
// and it is for us, not for a version of it, to tell an empty component from an absent one.

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include <uriparser/Uri.h>
#include <xxhash.h>

namespace crawlstore {
namespace {

// --- Byte classes (RFC 3986, appendix A) ---

enum ByteClass : std::uint8_t {
  kSchemeByte = 1,  // ALPHA / DIGIT / "+" / "-" / "."
  kNameByte = 2,    // unreserved / sub-delims: a registered name without escapes
  kPathByte = 4,    // pchar / "/", without "%"
  kQueryByte = 8,   // pchar / "/" / "?", without "%"; fragments have the same class
  kHexByte = 16,    // HEXDIG, either case
  kUpperByte = 32,  // "A" to "Z"
  kLowerByte = 64,  // "a" to "z"
};

constexpr std::array<std::uint8_t, 256> make_byte_classes() {
  constexpr std::string_view kUnreservedMarks = "-._~";
  constexpr std::string_view kSubDelims = "!$&'()*+,;=";
  constexpr auto kPchar = static_cast<std::uint8_t>(kPathByte | kQueryByte);
  std::array<std::uint8_t, 256> classes{};
  const auto add = [&classes](char c, unsigned bits) {
    auto& entry = classes[static_cast<unsigned char>(c)];
    entry = static_cast<std::uint8_t>(entry | bits);
  };
  for (char c = '0'; c <= '9'; ++c) add(c, kSchemeByte | kNameByte | kPchar | kHexByte);
  for (char c = 'A'; c <= 'Z'; ++c) add(c, kSchemeByte | kNameByte | kPchar | kUpperByte);
  for (char c = 'a'; c <= 'z'; ++c) add(c, kSchemeByte | kNameByte | kPchar | kLowerByte);
  for (char c = 'A'; c <= 'F'; ++c) add(c, kHexByte);
  for (char c = 'a'; c <= 'f'; ++c) add(c, kHexByte);
  for (const char c : std::string_view("+-.")) add(c, kSchemeByte);
  for (const char c : kUnreservedMarks) add(c, kNameByte | kPchar);
  for (const char c : kSubDelims) add(c, kNameByte | kPchar);
  for (const char c : std::string_view(":@/")) add(c, kPchar);
  add('?', kQueryByte);
  return classes;
}

constexpr std::array<std::uint8_t, 256> kByteClasses = make_byte_classes();

constexpr bool is_in(char c, unsigned classes) {
  return (kByteClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

constexpr char lower(char c) {
  return is_in(c, kUpperByte) ? static_cast<char>(c + 32) : c;
}
constexpr char upper(char c) {
  return is_in(c, kLowerByte) ? static_cast<char>(c - 32) : c;
}

struct DefaultPort {
  std::string_view scheme;
  std::string_view port;
};

// The schemes whose authority is a server, with the port that needs no mention (rules 6 and 9).
constexpr std::array<DefaultPort, 5> kDefaultPorts = {
    {{"http", "80"}, {"https", "443"}, {"ftp", "21"}, {"ws", "80"}, {"wss", "443"}}};

// Null if the (lower-case) scheme is none of them.
const DefaultPort* find_default_port(std::string_view scheme) {
  for (const DefaultPort& entry : kDefaultPorts) {
    if (entry.scheme == scheme) return &entry;
  }
  return nullptr;
}

// --- Reading ---

// Where the parts of a URL end, and whether they are normal as they stand.
struct UrlParts {
  std::size_t scheme_end = 0;  // index of the ":"
  std::size_t head_end = 0;    // first byte of the path
  std::size_t path_end = 0;
  std::size_t query_end = 0;  // the fragment, with its "#", starts here
  bool has_authority = false;
  bool head_is_plain = false;  // the authority is a name: no "@", ":", "[" or "%"
  bool has_upper = false;      // in scheme or host; meaningful in plain heads only
  bool path_has_dot_segment = false;
  bool has_lower_escape = false;  // "%2f" in path or query
};

// Memory for the one small structure (an IP address) that the library allocates while it reads a
// head. It lives on the stack, so nothing has to be freed.
struct HeadArena {
  alignas(std::max_align_t) std::array<std::byte, 256> bytes;
  std::size_t used = 0;
};

void* arena_malloc(UriMemoryManager* manager, std::size_t size_bytes) {
  auto& arena = *static_cast<HeadArena*>(manager->userData);
  constexpr std::size_t kAlign = alignof(std::max_align_t);
  if (size_bytes > arena.bytes.size() - arena.used) return nullptr;
  void* result = arena.bytes.data() + arena.used;
  arena.used = std::min(arena.bytes.size(), (arena.used + size_bytes + kAlign - 1) & ~(kAlign - 1));
  return result;
}

void* arena_calloc(UriMemoryManager* manager, std::size_t count, std::size_t size_bytes) {
  if (size_bytes != 0 && count > sizeof(HeadArena) / size_bytes) return nullptr;
  void* result = arena_malloc(manager, count * size_bytes);
  if (result != nullptr) std::memset(result, 0, count * size_bytes);
  return result;
}

// The library wants these present; parsing calls neither.
void* arena_realloc(UriMemoryManager*, void*, std::size_t) {
  return nullptr;
}
void* arena_reallocarray(UriMemoryManager*, void*, std::size_t, std::size_t) {
  return nullptr;
}
void arena_free(UriMemoryManager*, void*) {}

// The strict grammar of a head that starts with a scheme.
bool is_valid_head(std::string_view head) {
  HeadArena arena;
  UriMemoryManager manager = {.malloc = arena_malloc,
                              .calloc = arena_calloc,
                              .realloc = arena_realloc,
                              .reallocarray = arena_reallocarray,
                              .free = arena_free,
                              .userData = &arena};
  UriUriA uri;
  const char* error_position = nullptr;
  const int status = uriParseSingleUriExMmA(&uri, head.data(), head.data() + head.size(),
                                            &error_position, &manager);
  // Never an answer about the URL: a key must not depend on the memory at hand.
  if (status == URI_ERROR_MALLOC) throw std::bad_alloc();
  return status == URI_SUCCESS;
}

// Scheme and authority. False: the URL is not parsed.
bool read_head(std::string_view url, UrlParts& parts) {
  std::size_t i = 0;
  bool has_upper = false;
  if (url.empty() || !is_in(url[0], kUpperByte | kLowerByte)) return false;
  for (; i < url.size() && is_in(url[i], kSchemeByte); ++i) has_upper |= is_in(url[i], kUpperByte);
  if (i == url.size() || url[i] != ':') return false;
  parts.scheme_end = i;
  parts.has_authority = url.substr(i + 1, 2) == "//";
  i += parts.has_authority ? 3 : 1;
  parts.head_is_plain = true;
  if (parts.has_authority) {
    for (; i < url.size() && is_in(url[i], kNameByte); ++i) has_upper |= is_in(url[i], kUpperByte);
    const std::size_t end = std::min(url.find_first_of("/?#", i), url.size());
    parts.head_is_plain = i == end;
    i = end;
  }
  parts.head_end = i;
  parts.has_upper = has_upper;
  if (i > kUrlHeadBytesMax) return false;
  return parts.head_is_plain || is_valid_head(url.substr(0, i));
}

// Index of the first byte at or after `i` that is neither in the class nor part of an escape.
std::size_t skip_part(std::string_view url, std::size_t i, ByteClass byte_class, UrlParts& parts) {
  while (i < url.size()) {
    if (is_in(url[i], byte_class)) {
      ++i;
    } else if (url[i] == '%' && url.size() - i > 2 && is_in(url[i + 1], kHexByte) &&
               is_in(url[i + 2], kHexByte)) {
      parts.has_lower_escape |= is_in(url[i + 1], kLowerByte) || is_in(url[i + 2], kLowerByte);
      i += 3;
    } else {
      break;
    }
  }
  return i;
}

// True for "." and "..", the segments that are removed from paths.
bool is_dot_segment(std::string_view segment) {
  return segment == "." || segment == "..";
}

bool has_dot_segment(std::string_view path) {
  for (std::size_t i = path.find("/."); i != std::string_view::npos; i = path.find("/.", i + 1)) {
    if (is_dot_segment(path.substr(i + 1, std::min(path.find('/', i + 1), path.size()) - i - 1))) {
      return true;
    }
  }
  return false;
}

// Path, query and fragment. False: the URL is not parsed.
bool read_tail(std::string_view url, UrlParts& parts) {
  std::size_t i = skip_part(url, parts.head_end, kPathByte, parts);
  parts.path_end = i;
  if (i < url.size() && url[i] == '?') i = skip_part(url, i + 1, kQueryByte, parts);
  parts.query_end = i;
  if (i < url.size() && url[i] == '#') {
    UrlParts ignored;  // the fragment goes, whatever its escapes look like
    i = skip_part(url, i + 1, kQueryByte, ignored);
  }
  if (i != url.size()) return false;
  const auto path = url.substr(parts.head_end, parts.path_end - parts.head_end);
  parts.path_has_dot_segment = parts.has_authority && has_dot_segment(path);
  return true;
}

// Rule 9: "http://host" means "http://host/". `scheme` in lower case.
bool needs_slash(std::string_view scheme, const UrlParts& parts) {
  return parts.has_authority && parts.path_end == parts.head_end &&
         find_default_port(scheme) != nullptr;
}

// --- Writing: each function writes at `out`, which has room, and returns the end of what it wrote
// ---

char* write(char* out, std::string_view text) {
  return std::copy(text.begin(), text.end(), out);
}

enum class Letters { kKeep, kLower };

// Escapes get upper-case digits (rule 7); other letters go to lower case in schemes and hosts only.
template <Letters kLetters>
char* write_cased(char* out, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    *out++ = kLetters == Letters::kLower ? lower(text[i]) : text[i];
    if (text[i] != '%') continue;
    *out++ = upper(text[++i]);
    *out++ = upper(text[++i]);
  }
  return out;
}

// Rule 6. `port` is the text after the ":", digits only; `scheme` in lower case.
char* write_port(char* out, std::string_view port, std::string_view scheme) {
  if (port.empty()) return out;
  port.remove_prefix(std::min(port.find_first_not_of('0'), port.size() - 1));
  const DefaultPort* known = find_default_port(scheme);
  if (known != nullptr && known->port == port) return out;
  *out++ = ':';
  return write(out, port);
}

// `authority` is valid, so "@" occurs once at most, and ":" separates the port if it follows the
// host: behind the "]" of an IP literal, anywhere in a name.
char* write_authority(char* out, std::string_view authority, std::string_view scheme) {
  const std::size_t at = authority.find('@');
  const std::size_t host_begin = at == std::string_view::npos ? 0 : at + 1;
  out = write_cased<Letters::kKeep>(out, authority.substr(0, host_begin));
  authority.remove_prefix(host_begin);
  const bool is_literal = !authority.empty() && authority.front() == '[';
  const std::size_t colon = authority.find(':', is_literal ? authority.find(']') : 0);
  out = write_cased<Letters::kLower>(out, authority.substr(0, colon));
  if (colon == std::string_view::npos) return out;
  return write_port(out, authority.substr(colon + 1), scheme);
}

// Everything before the path. Never longer than in `url`.
char* write_head(char* out, std::string_view url, const UrlParts& parts) {
  const char* const begin = out;
  out = write_cased<Letters::kLower>(out, url.substr(0, parts.scheme_end));
  const std::string_view scheme(begin, parts.scheme_end);
  if (!parts.has_authority) return write(out, ":");
  out = write(out, "://");
  const std::size_t authority_begin = parts.scheme_end + 3;
  return write_authority(out, url.substr(authority_begin, parts.head_end - authority_begin),
                         scheme);
}

// Ports, escapes and IP literals have too many normal forms to look for: write one and compare.
bool is_normal_head(std::string_view url, const UrlParts& parts) {
  std::array<char, kUrlHeadBytesMax> buffer;
  const char* const end = write_head(buffer.data(), url, parts);
  const auto size = static_cast<std::size_t>(end - buffer.data());
  return std::string_view(buffer.data(), size) == url.substr(0, parts.head_end);
}

// RFC 3986, 5.2.4, in place: [path, end) starts with "/". Returns the new end.
char* remove_dot_segments(char* path, char* end) {
  char* out = path;
  for (char* in = path; in != end;) {  // `in` stands on the "/" in front of a segment
    char* const segment_end = std::find(in + 1, end, '/');
    const std::string_view segment(in + 1, static_cast<std::size_t>(segment_end - in - 1));
    if (!is_dot_segment(segment)) {
      out = std::copy(in, segment_end, out);
    } else {
      if (segment.size() == 2 && out != path) {
        do --out;
        while (*out != '/');
      }
      if (segment_end == end) *out++ = '/';
    }
    in = segment_end;
  }
  return out;
}

// True: the URL without its fragment is its own normal form.
bool is_normal(std::string_view url, const UrlParts& parts) {
  if (parts.has_lower_escape || parts.path_has_dot_segment) return false;
  if (!(parts.head_is_plain ? !parts.has_upper : is_normal_head(url, parts))) return false;
  return !needs_slash(url.substr(0, parts.scheme_end), parts);
}

// The whole URL but for its fragment. `buffer` has room for url.size() + 1 bytes.
std::string_view rewrite(std::string_view url, const UrlParts& parts, char* buffer) {
  char* const path = write_head(buffer, url, parts);
  char* out = path;
  if (needs_slash({buffer, parts.scheme_end}, parts)) *out++ = '/';
  out =
      write_cased<Letters::kKeep>(out, url.substr(parts.head_end, parts.path_end - parts.head_end));
  if (parts.path_has_dot_segment) out = remove_dot_segments(path, out);
  out = write_cased<Letters::kKeep>(out,
                                    url.substr(parts.path_end, parts.query_end - parts.path_end));
  return {buffer, static_cast<std::size_t>(out - buffer)};
}

// --- Rabin ---

// Entry i is i * t^64 mod P, for P = t^64 + t^4 + t^3 + t + 1: what the eight coefficients that a
// step pushes over the top come back as. i * 0x1B has degree 11 at most, so it needs no reduction.
constexpr std::array<std::uint64_t, 256> make_rabin_table() {
  std::array<std::uint64_t, 256> table{};
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    table[i] = i ^ (i << 1) ^ (i << 3) ^ (i << 4);
  }
  return table;
}

constexpr std::array<std::uint64_t, 256> kRabinTable = make_rabin_table();

}  // namespace

NormalizedUrl UrlNormalizer::normalize(std::string_view url) {
  UrlParts parts;
  if (!read_head(url, parts) || !read_tail(url, parts)) return {url, false};
  if (is_normal(url, parts)) return {url.substr(0, parts.query_end), true};
  if (buffer_.size() <= url.size()) buffer_.resize(url.size() + 1);
  return {rewrite(url, parts, buffer_.data()), true};
}

std::uint64_t url_key(std::string_view normalized, std::uint64_t key_seed) {
  return XXH3_64bits_withSeed(normalized.data(), normalized.size(), key_seed);
}

Key16 url_key16(std::string_view normalized, std::uint64_t key_seed) {
  const auto hash = XXH3_128bits_withSeed(normalized.data(), normalized.size(), key_seed);
  return {hash.high64, hash.low64};
}

std::uint64_t rabin_fingerprint(std::string_view bytes) {
  std::uint64_t fingerprint = 0;
  for (const char c : bytes) {
    // Through unsigned char: a sign-extended byte would flip the 56 bits above it.
    const std::uint64_t byte = static_cast<unsigned char>(c);
    fingerprint = ((fingerprint << 8) | byte) ^ kRabinTable[fingerprint >> 56];
  }
  return fingerprint;
}

}  // namespace crawlstore
