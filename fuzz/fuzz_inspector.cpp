// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked: with any bytes in the place of a store the inspector
//   - opens it, or says why not, and draws every panel, without touching memory that is not its
//     own and without an end;
//   - lists a problem for each that a deep verification finds.
//
// Input: what damaged() of store_image.h takes.

#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "inspector/shell/headless_shell.h"
#include "require.h"
#include "store_image.h"

namespace {

using namespace crawlstore;

/// A file without a name, which can be opened by a path all the same.
class UnnamedFile {
 public:
  explicit UnnamedFile(const std::vector<std::byte>& bytes)
      : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    fuzz::require(descriptor_ >= 0);
    fuzz::require(::write(descriptor_, bytes.data(), bytes.size()) ==
                  static_cast<ssize_t>(bytes.size()));
  }
  ~UnnamedFile() { ::close(descriptor_); }
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void visit(inspector::HeadlessShell& shell) {
  for (const auto& kind : inspector::panel_kinds()) {
    fuzz::require(shell.run_step({0, "goto", std::string(kind.id)}).empty());
  }
  fuzz::require(shell.run_step({0, "goto", "hex/offset/0x14000"}).empty());
  fuzz::require(shell.run_step({0, "command", "verify_deep"}).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::StoreImage kImage;
  if (size == 0) return 0;
  const auto bytes = fuzz::damaged(kImage, {data, size});

  const UnnamedFile file(bytes);
  inspector::HeadlessShell shell({640, 400, {}});
  (void)shell.app().open_at({file.path(), {}});
  shell.settle();
  if (shell.app().session().view() == nullptr) return 0;
  visit(shell);
  const auto report = verify(file.path(), {.level = VerifyLevel::kDeep, .progress = {}});
  if (!report) return 0;
  const auto& checked = shell.app().session().health.checked();
  fuzz::require(checked.has_value());
  fuzz::require(checked->report.findings.size() == report->findings.size());
  return 0;
}
