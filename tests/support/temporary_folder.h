// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A folder of its own for a test, deleted with all that is in it.

#include <filesystem>
#include <string>

namespace crawlstore::testing {

class TemporaryFolder {
 public:
  /// Under $TMPDIR or /tmp; readable for all, so that a child without rights can look in.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// A tmpfs of its own at a folder; only root may mount.
class TemporaryMount {
 public:
  /// `options` as for mount(8): "size=1m".
  explicit TemporaryMount(const std::string& options);
  ~TemporaryMount();
  TemporaryMount(const TemporaryMount&) = delete;
  TemporaryMount& operator=(const TemporaryMount&) = delete;

  /// Whether this process may mount; if not, skip the test.
  [[nodiscard]] bool is_mounted() const { return is_mounted_; }
  /// From now on nothing there can be written. Needs that nobody has a file open for writing.
  [[nodiscard]] bool make_read_only();
  [[nodiscard]] std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
  std::string options_;
  bool is_mounted_ = false;
};

}  // namespace crawlstore::testing
