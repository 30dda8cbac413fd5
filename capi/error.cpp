// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "call.h"

namespace crawlstore::c {
namespace {

/// Copies text to an array of the caller, cut where it is longer, with NUL after it.
template <std::size_t kBytes>
void copy_text(std::string_view text, char (&out)[kBytes]) {
  text = text.substr(0, kBytes - 1);
  std::fill(std::copy(text.begin(), text.end(), out), out + kBytes, '\0');
}

}  // namespace

int tell(const Error& failure, crwl_error* error) noexcept {
  const int code = static_cast<int>(failure.code);
  if (error == nullptr || !check_size(error)) return code;
  crwl_error told{};
  told.code = code;
  told.category = static_cast<int>(category(failure.code));
  told.system_errno = failure.system_errno;
  told.segment = failure.segment.value;
  told.offset = failure.offset;
  told.needed_bytes = failure.needed_bytes;
  copy_text(name_of(failure.code), told.name);
  try {
    copy_text(describe(failure), told.message);
  } catch (const std::exception&) {
    copy_text(failure.text, told.message);
  }
  give(error, told);
  return code;
}

extern "C" {

const char* crwl_version() {
  return CRAWLSTORE_C_VERSION;
}

}  // extern "C"

}  // namespace crawlstore::c
