// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// Parts that killed processes left count, too.
constexpr int kPartsMax = 1000;
constexpr mode_t kMode = 0666;

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& path) {
  OutputFile file;
  file.descriptor_ = STDOUT_FILENO;
  if (path.empty() || path == "-") return file;
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  file.path_ = path;
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.descriptor_ < 0) return fail_errno(errno, "the output");
    return file;
  }
  // Through a link, so that the link stays.
  const auto target = std::filesystem::canonical(path, ignored);
  if (!ignored) file.path_ = target.string();
  CRAWLSTORE_TRY(file.open_part());
  return file;
}

/// O_EXCL makes the name ours alone, in whatever process.
Result<void> OutputFile::open_part() {
  descriptor_ = -1;
  for (int number = 1; number <= kPartsMax && descriptor_ < 0; ++number) {
    part_ = path_ + (number == 1 ? ".part" : fmt::format(".{}.part", number));
    descriptor_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ >= 0) return {};
  part_.clear();
  return fail_errno(errno, "the output");
}

int fail_with_output(const std::string& path, const Error& error) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  const bool is_missing =
      error.code == Errc::kNotFound && !folder.empty() && !std::filesystem::exists(folder, ignored);
  if (!is_missing) return fail_with(path, error);
  return fail_with(fmt::format("{}: there is no folder {}", model::format_printable(path),
                               model::format_printable(folder.string())),
                   exit_code(error.code));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      part_(std::exchange(other.part_, {})),
      tail_(std::move(other.tail_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  if (!part_.empty()) (void)::unlink(part_.c_str());
}

Result<void> OutputFile::flush() {
  std::string kept;
  const int error = write_all(descriptor_, for_descriptor(descriptor_, tail_, kept));
  tail_.clear();
  if (error != 0) return fail_errno(error, "the output");
  return {};
}

Result<void> OutputFile::write(std::span<const std::byte> bytes) {
  tail_.append(static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size());
  return room();
}

Result<void> OutputFile::finish() {
  CRAWLSTORE_TRY(flush());
  if (part_.empty()) return {};
  if (::fsync(descriptor_) != 0) return fail_errno(errno, "the output");
  if (::rename(part_.c_str(), path_.c_str()) != 0) return fail_errno(errno, "the output");
  part_.clear();
  return {};
}

}  // namespace crawlstore::cli
