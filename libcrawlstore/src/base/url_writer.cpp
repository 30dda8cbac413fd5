// SPDX-License-Identifier: Apache-2.0
#include "base/url_writer.h"

#include <algorithm>
#include <array>

#include "base/url_bytes.h"
#include "base/url_host.h"

namespace crawlstore::url_text {

void append_component(std::string& out, std::string_view text, ByteSet set) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    while (i < text.size() && text[i] != '%' && !is_in(text[i], set)) ++i;
    out.append(text, begin, i - begin);
    if (i == text.size()) return;
    const int byte = escaped_byte(text, i);
    if (byte < 0) {
      if (text[i] == '%') {
        out += '%';
      } else {
        append_escaped(out, text[i]);
      }
      ++i;
      continue;
    }
    // Complete escapes are three bytes long, so a "%" this near the end begins none.
    const bool follows_bare_percent =
        out.ends_with('%') ||
        (out.size() > 1 && out[out.size() - 2] == '%' && hex_value(out.back()) >= 0);
    const char c = static_cast<char>(byte);
    if (is_in(c, kUnreserved) && !follows_bare_percent) {
      out += c;
    } else {
      append_escaped(out, c);
    }
    i += 3;
  }
}

namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

// The special schemes, with the port that needs no mention. "file" has none.
struct SpecialScheme {
  std::string_view name;
  std::string_view port;
};

constexpr std::array<SpecialScheme, 6> kSpecialSchemes = {
    {{"http", "80"}, {"https", "443"}, {"ws", "80"}, {"wss", "443"}, {"ftp", "21"}, {"file", ""}}};

// Null if the (lower-case) scheme is none of them.
const SpecialScheme* find_special(std::string_view scheme) {
  for (const SpecialScheme& special : kSpecialSchemes) {
    if (special.name == scheme) return &special;
  }
  return nullptr;
}

bool is_drive_letter(std::string_view text) {
  return text.size() == 2 && is_letter(text[0]) && (text[1] == ':' || text[1] == '|');
}

// Writes the normal text of one URL. Each function returns false if the URL is refused.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) { out_.clear(); }

  // `base` may be null; its text must not lie in the buffer that is written to.
  bool write(std::string_view url, const Parts* base) {
    // A fragment changes nothing, whatever is in it, but that an opaque base takes no other
    // reference.
    if (url.starts_with('#') && base != nullptr && base->is_opaque) return write_all_of(*base);
    url = url.substr(0, url.find('#'));
    const std::size_t colon = find_scheme_end(url);
    if (colon == kNowhere && base == nullptr) return refuse(UrlProblem::kNoScheme);
    if (colon == kNowhere) return write_reference(url, *base);
    std::transform(url.begin(), url.begin() + static_cast<std::ptrdiff_t>(colon),
                   std::back_inserter(out_), lower);
    set_scheme(out_);
    out_ += ':';
    const std::string_view rest = url.substr(colon + 1);
    if (is_file_)
      return write_file(rest, base != nullptr && base->scheme == "file" ? base : nullptr);
    if (special_ != nullptr) {
      const bool is_relative =
          base != nullptr && special_->name == base->scheme && !rest.starts_with("//");
      if (!is_relative) return write_authority_and_rest(after_slashes(rest));
      out_.clear();
      return write_reference(rest, *base);
    }
    if (rest.starts_with("//")) return write_authority_and_rest(rest.substr(2));
    if (!rest.starts_with('/')) return write_opaque(rest);
    return write_segments(rest, false);
  }

  [[nodiscard]] UrlProblem problem() const { return problem_; }

 private:
  bool refuse(UrlProblem problem) {
    problem_ = problem;
    return false;
  }

  static std::size_t find_scheme_end(std::string_view url) {
    if (url.empty() || !is_letter(url[0])) return kNowhere;
    const auto end =
        std::find_if(url.begin(), url.end(), [](char c) { return !is_in(c, kScheme); });
    return end == url.end() || *end != ':' ? kNowhere : static_cast<std::size_t>(end - url.begin());
  }

  void set_scheme(std::string_view scheme) {
    special_ = find_special(scheme);
    is_file_ = scheme == "file";
  }

  [[nodiscard]] bool is_slash(char c) const {
    return c == '/' || (special_ != nullptr && c == '\\');
  }
  [[nodiscard]] bool begins_with_slash(std::string_view text, std::size_t i = 0) const {
    return i < text.size() && is_slash(text[i]);
  }
  [[nodiscard]] std::string_view after_slashes(std::string_view text) const {
    while (begins_with_slash(text)) text.remove_prefix(1);
    return text;
  }
  // Returns the end of an authority or a segment that begins at `i`.
  [[nodiscard]] std::size_t segment_end(std::string_view text, std::size_t i) const {
    while (i < text.size() && text[i] != '?' && !is_slash(text[i])) ++i;
    return i;
  }

  // --- References (URL Standard, "relative state" and those that follow it) ---

  bool write_reference(std::string_view reference, const Parts& base) {
    if (base.is_opaque) return refuse(UrlProblem::kOpaqueBase);
    set_scheme(base.scheme);
    out_ += base.scheme;
    out_ += ':';
    if (is_file_) return write_file(reference, &base);
    if (begins_with_slash(reference) && begins_with_slash(reference, 1)) {
      reference.remove_prefix(2);
      return write_authority_and_rest(special_ != nullptr ? after_slashes(reference) : reference);
    }
    out_ += base.authority;
    return write_path_beside(reference, base);
  }

  bool write_all_of(const Parts& base) {
    for (const std::string_view part : {base.scheme, {":"}, base.path, base.query}) out_ += part;
    return true;
  }

  // The path of a reference that has no authority of its own.
  bool write_path_beside(std::string_view reference, const Parts& base) {
    const bool has_authority = !base.authority.empty();
    if (begins_with_slash(reference)) return write_segments(reference, has_authority);
    const std::size_t path = out_.size();
    out_ += base.path;
    if (reference.empty()) {
      out_ += base.query;
      return finish_path(path, has_authority);
    }
    if (reference[0] == '?') return write_query(reference) && finish_path(path, has_authority);
    drop_segment(path);
    return write_segments(reference, has_authority, path);
  }

  // --- The parts ---

  // From behind the "//".
  bool write_authority_and_rest(std::string_view text) {
    const std::size_t end = segment_end(text, 0);
    out_ += "//";
    return write_authority(text.substr(0, end)) && write_segments(text.substr(end), true);
  }

  bool write_authority(std::string_view authority) {
    const std::size_t at = authority.rfind('@');
    if (at != kNowhere) {
      write_user_info(authority.substr(0, at));
      authority.remove_prefix(at + 1);
      if (authority.empty()) return refuse(UrlProblem::kNoHost);
    }
    bool is_in_brackets = false;
    std::size_t colon = 0;
    for (; colon < authority.size() && (authority[colon] != ':' || is_in_brackets); ++colon) {
      if (authority[colon] == '[') is_in_brackets = true;
      if (authority[colon] == ']') is_in_brackets = false;
    }
    const std::string_view host = authority.substr(0, colon);
    if (host.empty() && (special_ != nullptr || !authority.empty())) {
      return refuse(UrlProblem::kNoHost);
    }
    if (!host.empty() && !write_host(host)) return false;
    return colon == authority.size() || write_port(authority.substr(colon + 1));
  }

  bool write_host(std::string_view host) {
    const auto scheme = special_ != nullptr ? HostOf::kSpecialScheme : HostOf::kOtherScheme;
    if (append_host(out_, host, scheme)) return true;
    return refuse(host.size() > kUrlHostBytesMax ? UrlProblem::kTooLong : UrlProblem::kBadHost);
  }

  void write_user_info(std::string_view user_info) {
    const std::size_t begin = out_.size();
    const std::size_t colon = std::min(user_info.find(':'), user_info.size());
    append_component(out_, user_info.substr(0, colon), kUserInfo);
    if (colon + 1 < user_info.size()) {
      out_ += ':';
      append_component(out_, user_info.substr(colon + 1), kUserInfo);
    }
    if (out_.size() != begin) out_ += '@';
  }

  bool write_port(std::string_view port) {
    if (port.empty()) return true;
    if (!std::all_of(port.begin(), port.end(), is_digit)) return refuse(UrlProblem::kBadPort);
    port.remove_prefix(std::min(port.find_first_not_of('0'), port.size() - 1));
    constexpr std::string_view kPortMax = "65535";
    if (port.size() > kPortMax.size() || (port.size() == kPortMax.size() && port > kPortMax)) {
      return refuse(UrlProblem::kBadPort);
    }
    if (special_ != nullptr && special_->port == port) return true;
    out_ += ':';
    out_ += port;
    return true;
  }

  bool write_file(std::string_view text, const Parts* base) {
    if (!begins_with_slash(text)) {
      if (base == nullptr) {
        out_ += "//";
        return write_segments(text, true);
      }
      out_ += base->authority;
      if (!starts_with_drive_letter(text)) return write_path_beside(text, *base);
      return write_segments(text, true);
    }
    if (!begins_with_slash(text, 1)) {
      out_ += base == nullptr ? "//" : base->authority;
      const std::size_t path = out_.size();
      if (base != nullptr && !starts_with_drive_letter(text.substr(1))) write_drive_of(*base);
      return write_segments(text, true, path);
    }
    text.remove_prefix(2);
    out_ += "//";
    const std::size_t end = segment_end(text, 0);
    const std::string_view host = text.substr(0, end);
    if (host.empty() || is_drive_letter(host)) return write_segments(text, true);
    const std::size_t begin = out_.size();
    if (!write_host(host)) return false;
    if (std::string_view(out_).substr(begin) == "localhost") out_.resize(begin);
    return write_segments(text.substr(end), true);
  }

  // A drive letter, and then the end of a segment.
  [[nodiscard]] bool starts_with_drive_letter(std::string_view text) const {
    return is_drive_letter(text.substr(0, 2)) &&
           (text.size() == 2 || text[2] == '?' || is_slash(text[2]));
  }

  void write_drive_of(const Parts& base) {
    const std::string_view first = base.path.substr(0, base.path.find('/', 1));
    if (first.size() == 3 && is_drive_letter(first.substr(1))) out_ += first;
  }

  bool write_opaque(std::string_view text) {
    const std::size_t end = std::min(text.find('?'), text.size());
    const bool ends_in_space = end > 0 && text[end - 1] == ' ';
    append_component(out_, text.substr(0, ends_in_space ? end - 1 : end), kC0);
    if (ends_in_space) out_ += "%20";
    return write_query(text.substr(end));
  }

  // Path and query. `path`: where in the output the path began, if some of it is there already.
  bool write_segments(std::string_view text, bool has_authority, std::size_t path = kNowhere) {
    if (path == kNowhere) path = out_.size();
    std::size_t i = 0;
    const bool is_empty = text.empty() || text[0] == '?';
    if (!is_empty || special_ != nullptr) {
      if (begins_with_slash(text)) i = 1;
      for (bool is_last = false; !is_last;) {
        const std::size_t end = segment_end(text, i);
        is_last = end == text.size() || text[end] == '?';
        write_segment(text.substr(i, end - i), path, is_last);
        i = is_last ? end : end + 1;
      }
    }
    return write_query(text.substr(i)) && finish_path(path, has_authority);
  }

  void write_segment(std::string_view text, std::size_t path, bool is_last) {
    const std::size_t begin = out_.size();
    out_ += '/';
    append_component(out_, text, kPath);
    const std::string_view segment = std::string_view(out_).substr(begin + 1);
    if (segment == "." || segment == "..") {
      const bool is_double = segment.size() == 2;
      out_.resize(begin);
      if (is_double) drop_segment(path);
      if (is_last) out_ += '/';
    } else if (is_file_ && begin == path && is_drive_letter(segment)) {
      out_[begin + 2] = ':';
    }
  }

  void drop_segment(std::size_t path) {
    if (out_.size() == path) return;
    const std::size_t slash = out_.rfind('/');
    const bool is_drive = is_file_ && slash == path && out_.size() - slash == 3 &&
                          is_letter(out_[slash + 1]) && out_[slash + 2] == ':';
    if (!is_drive) out_.resize(slash);
  }

  // A path that could be read as an authority does not stay so.
  bool finish_path(std::size_t path, bool has_authority) {
    if (!has_authority && std::string_view(out_).substr(path).starts_with("//")) {
      out_.insert(path, "/.");
    }
    return true;
  }

  bool write_query(std::string_view text) {
    if (text.empty()) return true;
    out_ += '?';
    append_component(out_, text.substr(1), special_ != nullptr ? kSpecialQuery : kQuery);
    return true;
  }

  std::string& out_;
  const SpecialScheme* special_ = nullptr;
  bool is_file_ = false;
  UrlProblem problem_ = UrlProblem::kNone;
};

}  // namespace

UrlProblem write_normal(std::string& out, std::string_view url, const Parts* base) {
  Writer writer(out);
  return writer.write(url, base) ? UrlProblem::kNone : writer.problem();
}

Parts split(std::string_view normal) {
  Parts parts;
  const std::size_t colon = normal.find(':');
  parts.scheme = normal.substr(0, colon);
  std::string_view rest = normal.substr(colon + 1);
  const std::size_t query = std::min(rest.find('?'), rest.size());
  parts.query = rest.substr(query);
  rest = rest.substr(0, query);
  if (rest.starts_with("//")) {
    const std::size_t end = std::min(rest.find('/', 2), rest.size());
    parts.authority = rest.substr(0, end);
    rest.remove_prefix(end);
  } else if (!rest.starts_with('/')) {
    parts.is_opaque = true;
  } else if (rest.starts_with("/.//")) {
    rest.remove_prefix(2);
  }
  parts.path = rest;
  return parts;
}

std::string_view host_of(std::string_view normal) {
  std::string_view host = split(normal).authority;
  if (host.empty()) return {};
  host.remove_prefix(std::max<std::size_t>(2, host.find('@') + 1));
  const std::size_t literal_end = host.starts_with('[') ? host.find(']') : 0;
  return host.substr(0, host.find(':', literal_end));
}

}  // namespace crawlstore::url_text
