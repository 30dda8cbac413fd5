// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The processes that hold the locks of a file, as far as /proc tells. For display only: they come
/// and go while it is read, and those of other users and containers cannot be seen.

#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/storage.h>

namespace crawlstore::io {

/// Every (generation, process) whose pin is visible, ascending, each once. A forked child that
/// inherited a pin is listed beside its parent.
///   cost  one stat for each descriptor of each process of this user
std::vector<PinHolder> find_pin_holders(int data_descriptor);

/// The processes that have locked the writer's byte of the file at `path`, ascending.
std::vector<std::int64_t> find_writers(const std::string& path);

/// Bytes that a descriptor has locked, `last` too; `is_pin` is true for locks as pins are.
struct LockedRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool is_pin = false;
  friend bool operator==(const LockedRange&, const LockedRange&) = default;
};
/// The lock lines of one fdinfo file.
std::vector<LockedRange> parse_lock_lines(std::string_view fdinfo);

}  // namespace crawlstore::io
