// SPDX-License-Identifier: Apache-2.0
//
// make_golden FOLDER writes the golden files anew, for tests/golden/remake. The rules of rejected
// files are left open: spec/reader.py tells them.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "golden/golden_files.h"
#include "golden/golden_json.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

/// The files of a folder; returns how many are not what they should be.
int write_valid(const std::filesystem::path& folder, const std::vector<GoldenFile>& files) {
  int failures = 0;
  for (const GoldenFile& file : files) {
    put_file(folder / (file.name + ".crawl"), file.bytes);
    const auto document = read_as_json(file.bytes);
    if (!document) {
      std::cerr << file.name << ": " << describe(document.error()) << '\n';
      ++failures;
      continue;
    }
    put_file(folder / (file.name + ".json"), bytes_of(document->dump(1) + '\n'));
  }
  return failures;
}

int write_rejected(const std::filesystem::path& folder, const std::vector<GoldenFile>& valid) {
  int failures = 0;
  for (const GoldenFile& file : rejected_files()) {
    const auto base = std::find_if(valid.begin(), valid.end(),
                                   [&](const GoldenFile& it) { return it.name == file.base; });
    const auto document = read_as_json(file.bytes);
    if (document || name_of(document.error().code) != file.error) {
      std::cerr << file.name << ": not " << file.error << ", but "
                << (document ? "valid" : describe(document.error())) << '\n';
      ++failures;
      continue;
    }
    const PatchHead head = patch_head(file.base, document.error(), "?");
    put_file(folder / (file.name + ".patch"),
             bytes_of(encode_patch(head, base->bytes, file.bytes, file.parts)));
  }
  return failures;
}

}  // namespace
}  // namespace crawlstore::testing

int main(int argc, char** argv) {
  using namespace crawlstore::testing;
  if (argc != 2) {
    std::cerr << "usage: make_golden FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  for (const char* name : {"valid", "rejected"}) {
    std::filesystem::remove_all(folder / name);
    std::filesystem::create_directories(folder / name);
  }
  const auto valid = valid_files();
  const int failures = write_valid(folder / "valid", valid);
  return failures + write_rejected(folder / "rejected", valid) == 0 ? 0 : 1;
}
