// SPDX-License-Identifier: Apache-2.0
#include "container/choose_join.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"

namespace crawlstore::container {

std::size_t choose_join_to_few(std::span<const std::uint64_t> sizes, std::size_t kept_max) {
  CRAWLSTORE_ASSERT(kept_max > 0 && sizes.size() > kept_max);
  std::vector<double> newer(sizes.size() + 1, 0.0);  // of each run and all newer ones
  for (std::size_t i = sizes.size(); i-- > 0;) {
    newer[i] = newer[i + 1] + static_cast<double>(sizes[i]);
  }
  const auto smallest = static_cast<double>(*std::min_element(sizes.begin(), sizes.end()));
  // At least the ratio of the spec, 2 or a root. Raised to its power here: a root is not the same
  // number on all processors, and equal work gives equal files.
  const auto stands_alone = [&](std::size_t i) {
    const double ratio = static_cast<double>(sizes[i]) / newer[i + 1];
    double power = 1;
    for (std::size_t k = 0; k < kept_max; ++k) power *= ratio;
    return ratio >= 2 && power >= newer[0] / smallest;
  };
  std::size_t first = kept_max;
  while (first > 0 && stands_alone(first)) --first;  // what is newer than a run that stands alone
  while (first > 0 && !stands_alone(first - 1)) --first;
  return first;
}

}  // namespace crawlstore::container
