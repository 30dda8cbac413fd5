// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include "call.h"
#include "texts.h"

namespace crawlstore::c {

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
