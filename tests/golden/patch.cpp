// SPDX-License-Identifier: Apache-2.0
#include "golden/patch.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "support/bytes.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kNearBytes = 4;  ///< changes are one when no more bytes between them stay
constexpr std::size_t kZerosMin = 16;
constexpr std::size_t kLineBytes = 16;

std::filesystem::path folder_of(const std::string& folder) {
  return std::filesystem::path(CRAWLSTORE_SOURCE_DIR) / "tests/golden" / folder;
}

std::string hex(const Bytes& bytes, std::size_t begin, std::size_t end) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    text += kDigits[std::to_integer<unsigned>(bytes[i]) >> 4];
    text += kDigits[std::to_integer<unsigned>(bytes[i]) & 15];
  }
  return text;
}

/// The lines of one part. The bytes of the base are as many as those of the file.
class PartEncoder {
 public:
  PartEncoder(const Bytes& base, std::size_t base_end, const Bytes& bytes)
      : base_(base), base_end_(base_end), bytes_(bytes) {}

  void encode(std::size_t begin, std::size_t end, std::ostringstream& out) const {
    for (std::size_t at = next_change(begin, end); at < end; at = next_change(at, end)) {
      const std::size_t next = end_of_change(at, end);
      const std::size_t zeros_end = end_of_zeros(at, end);
      if (zeros_end - at >= kZerosMin) {
        out << begin << '+' << at - begin << " zero " << zeros_end - at << '\n';
        at = zeros_end;
        continue;
      }
      for (; at < next; at += std::min(kLineBytes, next - at)) {
        const std::size_t line_end = std::min(at + kLineBytes, next);
        out << begin << '+' << at - begin << ' ';
        if (at < base_end_) out << hex(base_, at, line_end) << " -> ";
        out << hex(bytes_, at, line_end) << '\n';
      }
    }
  }

 private:
  [[nodiscard]] bool is_changed(std::size_t at) const { return base_[at] != bytes_[at]; }
  [[nodiscard]] std::size_t next_change(std::size_t begin, std::size_t end) const {
    const std::byte* const from = bytes_.data() + begin;
    const auto place = std::mismatch(from, bytes_.data() + end, base_.data() + begin).first;
    return begin + static_cast<std::size_t>(place - from);
  }
  /// The end of the change that begins here: no further than many zeros, which are a line.
  [[nodiscard]] std::size_t end_of_change(std::size_t begin, std::size_t end) const {
    std::size_t last = begin;
    for (std::size_t at = begin; at < end && at <= last + kNearBytes; ++at) {
      if (!is_changed(at)) continue;
      if (at != begin && end_of_zeros(at, end) - at >= kZerosMin) break;
      last = at + 1;
    }
    return last;
  }
  /// Behind the last byte that becomes zero, of those that are zero from here.
  [[nodiscard]] std::size_t end_of_zeros(std::size_t begin, std::size_t end) const {
    std::size_t last = begin;
    for (std::size_t at = begin; at < end && bytes_[at] == std::byte{0}; ++at) {
      if (is_changed(at)) last = at + 1;
    }
    return last;
  }

  const Bytes& base_;
  const std::size_t base_end_;
  const Bytes& bytes_;
};

/// The rank of a part: one that changes because another one does comes after it.
std::size_t rank_of(const std::string& part) {
  constexpr std::array kSeals{"table", "held table", "root", "superblock"};
  const auto seal = std::find_if(kSeals.begin(), kSeals.end(),
                                 [&](const char* name) { return part.starts_with(name); });
  return seal == kSeals.end() ? 0 : static_cast<std::size_t>(seal - kSeals.begin()) + 1;
}

/// The decoder of a patch gives up by throwing.
class PatchDecoder {
 public:
  explicit PatchDecoder(const std::string& text) : in_(text) {}

  RejectedFile decode() {
    RejectedFile file;
    file.head = {field("base"), field("error"), field("rule"), field("place"), field("text")};
    file.bytes = valid_file(file.head.base);
    base_end_ = file.bytes.size();
    if (std::getline(in_, line_) && line_.starts_with("length: ")) {
      file.bytes.resize(number(line_.substr(8)));
      std::getline(in_, line_);
    }
    for (; in_; std::getline(in_, line_)) {
      if (!line_.empty() && line_.front() != '#') change(file.bytes);
    }
    return file;
  }

 private:
  void demand(bool condition) const {
    if (!condition) throw std::runtime_error("not of a patch: " + line_);
  }
  std::string field(const std::string& name) {
    std::getline(in_, line_);
    demand(in_.good() && line_.starts_with(name + ": "));
    return line_.substr(name.size() + 2);
  }
  [[nodiscard]] std::uint64_t number(const std::string& digits, int base = 10) const {
    std::uint64_t result = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, result, base);
    demand(stop == end && error == std::errc{});
    return result;
  }
  [[nodiscard]] Bytes bytes_of(const std::string& digits) const {
    demand(!digits.empty() && digits.size() % 2 == 0);
    Bytes result;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
      result.push_back(static_cast<std::byte>(number(digits.substr(i, 2), 16)));
    }
    return result;
  }
  void change(Bytes& bytes) const {
    std::istringstream in(line_);
    const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
    demand(words.size() >= 2);
    const std::size_t plus = words[0].find('+');
    demand(plus != std::string::npos);
    const std::uint64_t at = number(words[0].substr(0, plus)) + number(words[0].substr(plus + 1));
    const bool is_zero = words.size() == 3 && words[1] == "zero";
    const Bytes content = is_zero ? Bytes(number(words[2])) : bytes_of(words.back());
    demand(at <= bytes.size() && content.size() <= bytes.size() - at);
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    if (words.size() == 4 && words[2] == "->") {
      const Bytes old = bytes_of(words[1]);
      demand(old.size() == content.size() && std::equal(old.begin(), old.end(), place));
    } else {
      demand(is_zero || (words.size() == 2 && at >= base_end_));
    }
    std::copy(content.begin(), content.end(), place);
  }

  std::istringstream in_;
  std::string line_;
  std::size_t base_end_ = 0;
};

/// The rejected files, for as long as the process lives.
struct RejectedFolder {
  TemporaryFolder folder;
  std::vector<std::string> paths;

  RejectedFolder() {
    for (const std::string& name : golden_names("rejected")) {
      paths.push_back(folder / (name + ".crawl"));
      put_file(paths.back(), rejected_file(name).bytes);
    }
  }
};

}  // namespace

PatchHead patch_head(const std::string& base, const Error& error, const std::string& rule) {
  std::string place = error.segment ? "segment " + std::to_string(error.segment.value) : "";
  if (error.offset != Error::kNoOffset) {
    place += (place.empty() ? "byte " : ", byte ") + std::to_string(error.offset);
  }
  return {base, std::string(name_of(error.code)), rule, place.empty() ? "file" : place, error.text};
}

std::string encode_patch(const PatchHead& head, const Bytes& base, const Bytes& bytes,
                         const FileParts& parts) {
  std::ostringstream out;
  out << "base: " << head.base << "\nerror: " << head.error << "\nrule: " << head.rule
      << "\nplace: " << head.place << "\ntext: " << head.text << '\n';
  if (bytes.size() != base.size()) out << "length: " << bytes.size() << '\n';
  Bytes as_long = base;
  as_long.resize(bytes.size());
  const PartEncoder encoder(as_long, base.size(), bytes);
  std::multimap<std::size_t, std::string> changes;
  for (auto part = parts.begin(); part != parts.lower_bound(bytes.size()); ++part) {
    const auto next = std::next(part);
    const std::size_t end =
        next == parts.end() ? bytes.size() : std::min<std::size_t>(next->first, bytes.size());
    std::ostringstream lines;
    encoder.encode(part->first, end, lines);
    if (lines.str().empty()) continue;
    changes.emplace(rank_of(part->second), "\n# " + part->second + '\n' + lines.str());
  }
  for (const auto& [rank, text] : changes) out << text;
  return out.str();
}

RejectedFile decode_patch(const std::string& text) {
  return PatchDecoder(text).decode();
}

std::string golden_text(const std::string& path) {
  std::ifstream in(folder_of(path), std::ios::binary);
  if (!in) throw std::runtime_error("no golden file " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

Bytes valid_file(const std::string& name) {
  return bytes_of(golden_text("valid/" + name + ".crawl"));
}

RejectedFile rejected_file(const std::string& name) {
  return decode_patch(golden_text("rejected/" + name + ".patch"));
}

std::vector<std::string> golden_names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(folder))) {
    const auto& path = entry.path();
    if (path.extension() != ".json") names.push_back(path.stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> golden_paths(const std::string& folder) {
  if (folder == "rejected") {
    static const RejectedFolder kFolder;
    return kFolder.paths;
  }
  std::vector<std::string> paths;
  for (const std::string& name : golden_names(folder)) {
    paths.push_back((folder_of(folder) / (name + ".crawl")).string());
  }
  return paths;
}

}  // namespace crawlstore::testing
