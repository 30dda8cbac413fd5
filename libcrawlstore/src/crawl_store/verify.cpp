// SPDX-License-Identifier: Apache-2.0
#include "container/verify.h"

#include <crawlstore/verify.h>

#include "pages/verify_pages.h"

namespace crawlstore {

Result<VerifyReport> verify(Storage& storage, const VerifyOptions& options) {
  return container::verify_storage(storage, options, pages::verify_pages);
}

Result<VerifyReport> verify(const std::string& path, const VerifyOptions& options) {
  CRAWLSTORE_TRY(auto storage, open_storage(path, OpenMode::kRead));
  if (!options.mapped) storage = unmapped(std::move(storage));
  return verify(*storage, options);
}

}  // namespace crawlstore
