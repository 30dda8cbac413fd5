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
std::optional<LockedRange> parse_lock_line(std::string_view line) {
  std::array<std::string_view, 9> words;
  for (std::string_view& word : words) word = take_word(line);
  const auto& [label, number, kind, mode, type, pid, place, first, last] = words;
  if (label != "lock:") return std::nullopt;
  const auto begin = parse_number(first);
  const auto end = last == "EOF" ? UINT64_MAX : parse_number(last);
  if (!begin || !end || *end < *begin) return std::nullopt;
  return LockedRange{*begin, *end, kind == "OFDLCK" && type == "READ"};
}

/// Calls `visit(pid, range)` for all locks of the file that are visible.
template <class Visit>
void for_each_lock(const struct stat& file, const Visit& visit) {
  for (const std::string& process : numbered_names("/proc")) {
    const std::string folder = "/proc/" + process;
    const auto pid = static_cast<std::int64_t>(parse_number(process).value_or(0));
    for (const std::string& descriptor : numbered_names(folder + "/fd")) {
      struct stat theirs = {};
      if (::stat((folder + "/fd/" + descriptor).c_str(), &theirs) != 0) continue;
      if (theirs.st_dev != file.st_dev || theirs.st_ino != file.st_ino) continue;
      const auto info = read_small_file(folder + "/fdinfo/" + descriptor);
      for (const LockedRange& range : parse_lock_lines(info)) visit(pid, range);
    }
  }
}

}  // namespace

std::vector<LockedRange> parse_lock_lines(std::string_view fdinfo) {
  std::vector<LockedRange> found;
  while (!fdinfo.empty()) {
    const auto length = std::min(fdinfo.find('\n'), fdinfo.size());
    if (const auto range = parse_lock_line(fdinfo.substr(0, length))) found.push_back(*range);
    fdinfo.remove_prefix(std::min(length + 1, fdinfo.size()));
  }
  return found;
}

std::vector<PinHolder> find_pin_holders(int data_descriptor) {
  std::vector<PinHolder> holders;
  struct stat ours = {};
  if (::fstat(data_descriptor, &ours) != 0) return holders;
  for_each_lock(ours, [&holders](std::int64_t pid, const LockedRange& range) {
    if (!range.is_pin || range.first < kPinLockBase) return;
    if (range.last - range.first >= kPinnedCountMax) return;
    for (std::uint64_t byte = range.first; byte <= range.last; ++byte) {
      holders.push_back({{byte - kPinLockBase}, pid});
    }
  });
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

std::vector<std::int64_t> find_writers(const std::string& path) {
  std::vector<std::int64_t> processes;
  struct stat file = {};
  if (::stat(path.c_str(), &file) != 0) return processes;
  for_each_lock(file, [&processes](std::int64_t pid, const LockedRange& range) {
    if (range.first <= kWriterLockByte && kWriterLockByte <= range.last) {
      processes.push_back(pid);
    }
  });
  std::sort(processes.begin(), processes.end());
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  return processes;
}

}  // namespace crawlstore::io
