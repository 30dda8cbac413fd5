// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Who holds the pins of a file, as far as /proc tells. For display only: processes come and go
/// while it is read, and those of other users and containers cannot be seen.

#include <string_view>
#include <vector>

#include <crawlstore/storage.h>

namespace crawlstore::io {

/// Every (generation, process) whose pin is visible, ascending, each once. A forked child that
/// inherited a pin is listed beside its parent.
///   cost  one stat for each descriptor of each process of this user
std::vector<PinHolder> find_pin_holders(int data_descriptor);

/// The generations that the lock lines of one fdinfo file pin, appended to `found`.
void parse_lock_lines(std::string_view fdinfo, std::vector<Generation>& found);

}  // namespace crawlstore::io
