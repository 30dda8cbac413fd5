// SPDX-License-Identifier: Apache-2.0
#pragma once

/// URL keys: from the bytes of a URL to the 8 or 16 bytes by which a store knows it.
///
/// Two steps, both part of the file format and numbered rule by rule in spec/urls.md#url-keys:
///
///     bytes of a URL  --UrlNormalizer-->  normalised bytes  --url_key-->  std::uint64_t
///
/// Two spellings of one URL must get one key for ever, on every machine and with every version of
/// every library, so each rule is written down there, with its reason and its test vectors
/// (spec/url_vectors.json). Nothing here reads a locale, a table of top-level domains, or a file.
///
/// URLs are read as browsers read them, and spellings are merged that the URL Standard or RFC 3986
/// calls equivalent. Nothing is guessed: "index.html", "www.", session ids, the order of query
/// fields and a trailing "/" stay as they are, because merging those loses pages.
///
/// Ownership: as in crawlstore.hpp.
/// Threads: free functions are pure; a UrlNormalizer belongs to one thread at a time.
/// Errors: none. Every byte string has a key, whatever the web wrote. Only memory may run out
/// (std::bad_alloc), or ICU lack its data (std::runtime_error, for a host beyond ASCII); the
/// normalizer stays usable after that.
/// Sources: URL Standard, WHATWG, as of autumn 2025; Berners-Lee, Fielding, Masinter, "Uniform
/// Resource Identifier (URI): Generic Syntax", RFC 3986, January 2005; Lee, Leonard, Wang,
/// Loguinov, "IRLbot", WWW 2008 (URLs as hashes).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

namespace url_text {
struct Parts;  // of a base; not public
}

/// A host that is longer than this many bytes, as written or in its normal form, makes a URL count
/// as unparsed. Part of the format (rule 7). A DNS name has at most 253 bytes.
inline constexpr std::size_t kUrlHostBytesMax = 4096;

/// A URL whose normal form is longer than this many bytes counts as unparsed. Part of the format
/// (rule 2).
inline constexpr std::size_t kUrlTextBytesMax = std::size_t{16} << 20;

/// The reason why a URL is not parsed.
enum class UrlProblem : std::uint8_t {
  kNone,
  kNoScheme,
  kNoHost,
  kBadHost,
  kBadPort,
  kTooLong,
  kOpaqueBase,  ///< a relative reference, and the base is one like "mailto:a"
  kOwnRules,    ///< rules of the user's own refuse it
};
/// A sentence without its subject: "has no scheme ...".
[[nodiscard]] std::string_view to_text(UrlProblem problem);

/// The answer of a UrlNormalizer. A plain view: 24 bytes, copied freely, owns nothing.
struct NormalizedUrl {
  /// The normalised bytes. They lie either in the input (the common case: it was normal already, or
  /// only lost its fragment, or was not parsed) or in the normalizer's buffer. So they live as long
  /// as the shorter of the two: until the input goes, or until the next call.
  /// Printable ASCII if version 2 parsed it, else any bytes. It can be longer than the input, about
  /// three times.
  std::string_view text;

  /// true: the URL Standard takes the input, and `text` is its normal form.
  /// false: it does not (no scheme, a host or port that none can be, a length over the bounds);
  /// `text` is then the input itself, byte for byte. Such URLs are stored and keyed like any other;
  /// callers count them, since spellings of one page are not merged there. The texts of the two
  /// kinds never meet: no unparsed input equals the normal form of a parsed one.
  bool parsed = false;
  UrlProblem problem{};  ///< kNone if and only if `parsed`
};

/// Brings URLs to one form: by default the normal form of version 2.
///
/// A DRUM of URLs and a page database name in the file how their URLs are normalised, and take no
/// URLs by another normalizer. Keeps buffers of its own, at most some times the longest URL that
/// had to be rewritten; once warm, a call allocates nothing, but for hosts with escapes or beyond
/// ASCII. Not thread-safe: one normalizer per thread. Movable and copyable; take no view across a
/// copy or a move.
class UrlNormalizer {
 public:
  /// Writes the normal form of a URL to `out`, which is empty; returns whether it takes the URL. It
  /// must give the same answer for ever, leave its own results as they are, and stay within
  /// kUrlTextBytesMax. Copies of a normalizer call copies of it, each by one thread at a time. For
  /// page databases and UrlSeen it is a callback (store.h); it must not destroy the UrlNormalizer
  /// or UrlSeen that calls it.
  using Rules = std::function<bool(std::string_view url, std::string& out)>;

  UrlNormalizer() = default;
  /// By rules of your own.
  ///   name   what the file calls them: 1 to 255 bytes of UTF-8 without controls, and not "raw";
  ///          changed rules need another name
  ///   rules  not null; whether both hold is asked when a DRUM or a database is opened
  UrlNormalizer(std::string name, Rules rules) : name_(std::move(name)), rules_(std::move(rules)) {}
  /// Takes URLs as they are. The file calls it "raw".
  [[nodiscard]] static UrlNormalizer raw() { return {"raw", nullptr}; }
  /// Looks for URLs where the file has this name: as they are, if the rules behind it are not known
  /// here.
  [[nodiscard]] static UrlNormalizer to_find(std::string_view name) {
    return name.empty() ? UrlNormalizer() : raw();
  }

  /// Empty: version 2.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Rules have a name of their own, and what has no rules is version 2 or raw. False: whoever
  /// opens a DRUM or a database with it gets kInvalidArgument.
  [[nodiscard]] bool is_well_named() const {
    return (name_.empty() || name_ == "raw") == (rules_ == nullptr);
  }

  /// Normalises one URL.
  ///   url      the bytes as found: any values, any length (2 MiB is fine). A relative reference is
  ///            no URL: resolve() it. May be the whole `text` of the answer before: a normal form
  ///            is never copied
  ///   returns  see NormalizedUrl
  ///   cost     one pass when the URL is normal already, two when not: O(bytes), whatever the bytes
  ///            are, and no recursion over them
  ///   spec     urls.md#url-keys rules 1 to 11
  [[nodiscard]] NormalizedUrl normalize(std::string_view url);

  /// The URL that a reference means in a page, as a browser resolves a link, in its normal form.
  ///   reference  as normalize() takes it; absolute or relative
  ///   base       `text` of an answer with `parsed`: the URL of the page. May be that of the answer
  ///              before, which is overwritten: keep a copy if more links of the page follow
  ///   returns    `parsed` false: there is no such URL, and `text` is the reference itself
  ///   cost       as normalize()
  ///   note       rules of your own are given the normal form of version 2
  [[nodiscard]] NormalizedUrl resolve(std::string_view reference, std::string_view base);

 private:
  NormalizedUrl write(std::string_view url, const url_text::Parts* base);
  NormalizedUrl by_own_rules(std::string_view url);

  // Room for rewritten text: of the last answer, of the next one, and of an input without the
  // bytes that are removed from it.
  std::string buffer_;
  std::string spare_;
  std::string clean_;
  std::string name_;
  Rules rules_;
};

/// The key of a URL: XXH3-64 of its normalised bytes.
///   normalized  `text` of a NormalizedUrl, parsed or not; keys of other bytes find nothing
///   key_seed    the file's own seed, drawn at random when the store was created: keys of different
///               stores cannot be compared, and a hostile site cannot aim collisions at a store
///               whose seed it does not know
///   returns     64 bits that all vary with every byte; no value is reserved, 0 may occur
///   cost        about 6 ns for a URL of ordinary length, 80 bytes
///   note        equal keys of different URLs are possible: n^2 / 2^65 expected pairs among n URLs
///   spec        urls.md#url-keys rule 12
[[nodiscard]] std::uint64_t url_key(std::string_view normalized, std::uint64_t key_seed);

/// The same with 128 bits, for whoever wants no false duplicates: XXH3-128, its high half as the
/// head. 10^12 URLs expect 2 * 10^-15 equal pairs. cost: as url_key()
///   spec        urls.md#url-keys rule 12
[[nodiscard]] Key16 url_key16(std::string_view normalized, std::uint64_t key_seed);

/// The Rabin fingerprint of a byte string, for exchange with systems that use it (Mercator and its
/// descendants). It has no seed: a hostile site can compute URLs that collide, and URLs of up to 8
/// bytes are not spread. UrlKeyKind::kRabin stores it.
///   bytes    read as unsigned values, first byte first. The string is the polynomial over GF(2)
///            whose highest coefficients are the bits of the first byte; no leading 1 is added, so
///            NUL bytes in front do not count, and the empty string gives 0
///   returns  that polynomial mod t^64 + t^4 + t^3 + t + 1; bit i is the coefficient of t^i. Up to
///            8 bytes come back as they are, as a big-endian number
///   cost     one table look-up per byte, one after another
///   source   Rabin, "Fingerprinting by Random Polynomials", TR-15-81, Harvard, 1981; Broder, "Some
///            applications of Rabin's fingerprinting method", Sequences II, 1993, pages 143-152
[[nodiscard]] std::uint64_t rabin_fingerprint(std::string_view bytes);

}  // namespace crawlstore
#pragma GCC visibility pop
