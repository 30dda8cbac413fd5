// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The golden files as tests read them. A rejected one is a text, tests/golden/rejected/NAME.patch,
/// that says what is changed in a valid one:
///
///     base: NAME               of the valid file
///     error: CLASS             of spec/format.md#errors
///     rule: WORDS              of spec/reader.py: the rule that the file breaks, and where
///     place: WORDS             of the library: segment and byte
///     text: WORDS              of the library
///     length: BYTES            only where the base is longer or shorter; what is added is zeros
///
///     # WORDS                  the part of the file that changes: it begins at PART, below
///     PART+BYTES OLD -> NEW    bytes in hex, of which the base has the old ones
///     PART+BYTES NEW           the same behind the end of the base
///     PART+BYTES zero COUNT    as many bytes become zeros
///
/// Lines may be empty behind the head, and nothing else is taken. golden.py reads the same.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <crawlstore/error.h>

namespace crawlstore::testing {

struct PatchHead {
  std::string base;
  std::string error;
  std::string rule;
  std::string place;
  std::string text;
};

/// The head of a file that the library rejects with this error.
PatchHead patch_head(const std::string& base, const Error& error, const std::string& rule);

/// The parts of a file: where each begins, and what it is.
using FileParts = std::map<std::uint64_t, std::string>;

/// The patch that makes `base` to `bytes`.
std::string encode_patch(const PatchHead& head, const std::vector<std::byte>& base,
                         const std::vector<std::byte>& bytes, const FileParts& parts);

struct RejectedFile {
  PatchHead head;
  std::vector<std::byte> bytes;
};
/// Throws std::runtime_error with the line where the text is not a patch of that base.
RejectedFile decode_patch(const std::string& text);

/// A golden file, from the folder of sources.
std::string golden_text(const std::string& path);
std::vector<std::byte> valid_file(const std::string& name);
RejectedFile rejected_file(const std::string& name);

/// The names of the golden files of a folder, "valid" or "rejected", sorted.
std::vector<std::string> golden_names(const std::string& folder);

/// The crawl files of a folder. The rejected ones are written once in a process, for all its tests.
std::vector<std::string> golden_paths(const std::string& folder);

}  // namespace crawlstore::testing
