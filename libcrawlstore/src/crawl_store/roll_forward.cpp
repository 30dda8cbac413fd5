// SPDX-License-Identifier: Apache-2.0
#include <crawlstore/roll_forward.h>

#include "container/rollback.h"
#include "pages/verify_pages.h"

namespace crawlstore {

Result<Generation> roll_forward(const std::string& path, const OpenOptions& options,
                                const Progress& progress) {
  CRAWLSTORE_TRY(auto storage, open_storage(path, OpenMode::kWrite));
  return container::roll_forward(std::move(storage), options.lock_wait_ms, progress,
                                 pages::verify_pages);
}

}  // namespace crawlstore
