// SPDX-License-Identifier: Apache-2.0
#include <crawlstore/shard.h>
#include <crawlstore/url.h>

namespace crawlstore {

std::uint32_t shard_of(std::string_view host, std::uint32_t count) {
  using Wide = unsigned __int128;
  return static_cast<std::uint32_t>((Wide{url_key(host, 0)} * count) >> 64);
}

}  // namespace crawlstore
