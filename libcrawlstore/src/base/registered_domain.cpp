// SPDX-License-Identifier: Apache-2.0
#include <libpsl.h>

#include <crawlstore/registered_domain.h>

namespace crawlstore {
namespace {

/// DNS has no longer names; nobody else's parser need see what the web makes up.
constexpr std::size_t kNameBytesMax = 253;

const psl_ctx_t* list() {
  static const psl_ctx_t* const kList = psl_latest(nullptr);  // never freed: threads may use it
  return kList;
}

/// Its last label begins with a digit: no top-level domain does, so it is an address, if a bad one.
bool is_address(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return last.empty() || (last.front() >= '0' && last.front() <= '9');
}

}  // namespace

std::string registered_domain(std::string_view host) {
  std::string name(host.substr(0, host.size() - (host.ends_with('.') ? 1 : 0)));
  const bool is_name = !name.empty() && name.size() <= kNameBytesMax && name.front() != '[' &&
                       name.front() != '.' && name.find("..") == std::string::npos &&
                       name.find('\0') == std::string::npos && !is_address(name);
  if (!is_name) return std::string(host);
  const char* domain = list() == nullptr ? nullptr : psl_registrable_domain(list(), name.c_str());
  return domain == nullptr ? name : domain;
}

}  // namespace crawlstore
