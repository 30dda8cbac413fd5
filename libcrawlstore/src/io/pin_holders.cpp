// SPDX-License-Identifier: Apache-2.0

#include "io/pin_holders.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/lock_bytes.h"
#include "io/open_descriptor.h"

namespace crawlstore::io {
namespace {

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

Folder open_folder(const std::string& path) {
  return {::opendir(path.c_str()), ::closedir};
}

std::optional<std::uint64_t> parse_number(std::string_view digits) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, failure] = std::from_chars(digits.data(), end, number);
  if (failure != std::errc{} || rest != end || digits.empty()) return std::nullopt;
  return number;
}

/// The names in a folder that are numbers.
std::vector<std::string> numbered_names(const std::string& path) {
  std::vector<std::string> names;
  const Folder folder = open_folder(path);
  if (folder == nullptr) return names;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (parse_number(entry->d_name)) names.emplace_back(entry->d_name);
  }
  return names;
}

std::string read_small_file(const std::string& path) {
  std::string content;
  const int descriptor = open_descriptor(path.c_str(), O_RDONLY);
  if (descriptor == -1) return content;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got <= 0) break;
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return content;
}

/// Splits off the first word of `line`.
std::string_view take_word(std::string_view& line) {
  const auto begin = std::min(line.find_first_not_of(" \t"), line.size());
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

/// `lock: 1: OFDLCK ADVISORY READ -1 08:02:1234 <first byte> <last byte or EOF>`
void parse_lock_line(std::string_view line, std::vector<Generation>& found) {
  if (take_word(line) != "lock:") return;
  take_word(line);
  if (take_word(line) != "OFDLCK") return;
  take_word(line);
  if (take_word(line) != "READ") return;
  take_word(line);
  take_word(line);
  const auto first = parse_number(take_word(line));
  const auto last = parse_number(take_word(line));
  if (!first || !last || *first < kPinLockBase || *last < *first) return;
  if (*last - *first >= kPinnedCountMax) return;
  for (std::uint64_t byte = *first; byte <= *last; ++byte) found.push_back({byte - kPinLockBase});
}

}  // namespace

void parse_lock_lines(std::string_view fdinfo, std::vector<Generation>& found) {
  while (!fdinfo.empty()) {
    const auto length = std::min(fdinfo.find('\n'), fdinfo.size());
    parse_lock_line(fdinfo.substr(0, length), found);
    fdinfo.remove_prefix(std::min(length + 1, fdinfo.size()));
  }
}

std::vector<PinHolder> find_pin_holders(int data_descriptor) {
  std::vector<PinHolder> holders;
  struct stat ours = {};
  if (::fstat(data_descriptor, &ours) != 0) return holders;
  for (const std::string& process : numbered_names("/proc")) {
    const std::string folder = "/proc/" + process;
    const auto pid = static_cast<std::int64_t>(parse_number(process).value_or(0));
    for (const std::string& descriptor : numbered_names(folder + "/fd")) {
      struct stat theirs = {};
      if (::stat((folder + "/fd/" + descriptor).c_str(), &theirs) != 0) continue;
      if (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino) continue;
      std::vector<Generation> generations;
      parse_lock_lines(read_small_file(folder + "/fdinfo/" + descriptor), generations);
      for (const Generation generation : generations) holders.push_back({generation, pid});
    }
  }
  const auto key = [](const PinHolder& holder) {
    return std::tuple(holder.generation.value, holder.pid);
  };
  std::sort(holders.begin(), holders.end(),
            [&](const PinHolder& a, const PinHolder& b) { return key(a) < key(b); });
  const auto repeated =
      std::unique(holders.begin(), holders.end(),
                  [&](const PinHolder& a, const PinHolder& b) { return key(a) == key(b); });
  holders.erase(repeated, holders.end());
  return holders;
}

}  // namespace crawlstore::io
