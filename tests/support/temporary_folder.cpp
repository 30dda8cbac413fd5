// SPDX-License-Identifier: Apache-2.0

#include "support/temporary_folder.h"

#include <cstdlib>
#include <system_error>

#include <sys/mount.h>
#include <sys/stat.h>

#include "base/assert.h"

namespace crawlstore::testing {

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path() / "crawlstore-test-XXXXXX";
  CRAWLSTORE_ASSERT(::mkdtemp(name.data()) != nullptr);
  path_ = name;
  CRAWLSTORE_ASSERT(::chmod(name.c_str(), 0755) == 0);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

TemporaryMount::TemporaryMount(const std::string& options) : options_(options) {
  is_mounted_ = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, options_.c_str()) == 0;
}

TemporaryMount::~TemporaryMount() {
  if (is_mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
}

bool TemporaryMount::make_read_only() {
  return ::mount("tmpfs", folder_.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY,
                 options_.c_str()) == 0;
}

}  // namespace crawlstore::testing
