// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The output of an export: standard output, or a file that is there as a whole or not at all.
///
/// Until finish() the file is called PATH.part, or PATH.2.part and so on; then it takes the place
/// of PATH, synced. An output that is no regular file (a pipe, a device) is written as it is.
/// Ownership: owns what it has opened; without finish() the part is removed. Threads: one.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <crawlstore/error.h>

namespace crawlstore::cli {

class OutputFile {
 public:
  /// "" or "-": standard output. errors kPermission, kNoSpace, kNotFound and the like
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// The bytes that wait to be written: append, then call room().
  [[nodiscard]] std::string& tail() { return tail_; }
  /// Writes when enough waits. errors kNoSpace and the like
  Result<void> room() { return tail_.size() < kTailBytes ? Result<void>{} : flush(); }
  Result<void> write(std::span<const std::byte> bytes);
  /// Writes the rest, and gives the file its name. Once.
  Result<void> finish();

 private:
  static constexpr std::size_t kTailBytes = std::size_t{1} << 18;
  OutputFile() = default;
  Result<void> open_part();
  Result<void> flush();

  std::string path_;  // empty: standard output
  std::string part_;  // empty: there is none
  std::string tail_;
  int descriptor_ = -1;
};

/// Says why there is no output of that name, and which folder is missing; returns the exit code.
int fail_with_output(const std::string& path, const Error& error);

}  // namespace crawlstore::cli
