// SPDX-License-Identifier: Apache-2.0
#include "cli/memory_limit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

/// The number at the start of a text; "max" and anything else is no limit.
std::uint64_t leading_number(const std::string& text) {
  std::uint64_t number = kNoLimit;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::uint64_t limit_in(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) ? leading_number(line) : kNoLimit;
}

/// MemTotal of /proc/meminfo.
std::uint64_t machine_bytes(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string line;
  constexpr std::string_view kName = "MemTotal:";
  while (std::getline(file, line)) {
    if (!line.starts_with(kName)) continue;
    const auto digits = line.find_first_of("0123456789");
    if (digits != std::string::npos) return leading_number(line.substr(digits)) * 1024;
  }
  return kNoLimit;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool lists(const std::string& comma_list, std::string_view name) {
  const auto parts = split(comma_list, ',');
  return std::find(parts.begin(), parts.end(), name) != parts.end();
}

/// A mounted hierarchy: `root` of it is visible at `folder`.
struct Mount {
  std::string root;
  std::string folder;
  bool is_v2 = false;
};

/// /proc/self/mountinfo: "id parent major:minor ROOT FOLDER options ... - TYPE source OPTIONS".
std::vector<Mount> memory_mounts(const std::string& root) {
  std::vector<Mount> mounts;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    const bool is_v2 = after[0] == "cgroup2";
    if (is_v2 || (after[0] == "cgroup" && lists(after[2], "memory"))) {
      mounts.push_back({before[3], before[4], is_v2});
    }
  }
  return mounts;
}

/// /proc/self/cgroup: "id:controllers:PATH"; v2 has no controllers.
std::string group_path(const std::string& root, bool is_v2) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (is_v2 ? controllers.empty() : lists(controllers, "memory")) return line.substr(second + 1);
  }
  return "/";
}

/// The least limit of a group and all groups above it, as far as the mount shows them.
std::uint64_t limit_of(const std::string& root, const Mount& mount) {
  std::string path = group_path(root, mount.is_v2);
  if (mount.root != "/" && path.starts_with(mount.root) &&
      (path.size() == mount.root.size() || path[mount.root.size()] == '/')) {
    path.erase(0, mount.root.size());
  }
  const char* name = mount.is_v2 ? "/memory.max" : "/memory.limit_in_bytes";
  std::uint64_t limit = kNoLimit;
  while (true) {
    if (path == "/") path.clear();
    limit = std::min(limit, limit_in(root + mount.folder + path + name));
    if (path.empty()) return limit;
    path.resize(std::min(path.size() - 1, path.rfind('/')));
  }
}

/// Bytes that a limit of `ulimit` leaves for arrays. It counts memory that nobody touched, too:
/// that of the program and its libraries, and what threads reserve for stacks and heaps.
///   used_bytes  what counts of it now
std::uint64_t left_of(decltype(RLIMIT_AS) resource, std::uint64_t used_bytes) {
  constexpr std::uint64_t kForThreads = std::uint64_t{64} << 20;
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used_bytes + kForThreads);
}

std::uint64_t address_space_bytes() {
  // Pages: all that is mapped, four more numbers, then data and stack.
  std::array<std::uint64_t, 6> pages{};
  std::ifstream file("/proc/self/statm");
  for (std::uint64_t& number : pages) file >> number;
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return std::min(left_of(RLIMIT_AS, pages.front() * page_bytes),
                  left_of(RLIMIT_DATA, pages.back() * page_bytes));
}

}  // namespace

std::uint64_t memory_limit_bytes(const std::string& root) {
  std::uint64_t limit = std::min(machine_bytes(root), address_space_bytes());
  for (const Mount& mount : memory_mounts(root)) limit = std::min(limit, limit_of(root, mount));
  constexpr std::uint64_t kUnknown = std::uint64_t{1} << 30;
  return limit == kNoLimit ? kUnknown : limit;
}

std::uint64_t default_memory_bytes() {
  return std::max(memory_limit_bytes() / 4, std::uint64_t{1} << 20);
}

}  // namespace crawlstore::cli
