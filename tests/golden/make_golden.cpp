// SPDX-License-Identifier: Apache-2.0
//
// Writes the golden files anew: make_golden tests/golden. Run it when the format changes, look at
// what changed, and commit both.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "golden/golden_files.h"
#include "golden/golden_json.h"

namespace {

using crawlstore::testing::GoldenFile;

void write_file(const std::filesystem::path& path, const char* bytes, std::size_t length) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes, static_cast<std::streamsize>(length));
}

void write_crawl(const std::filesystem::path& folder, const GoldenFile& file) {
  const void* bytes = file.bytes.data();
  write_file(folder / (file.name + ".crawl"), static_cast<const char*>(bytes), file.bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_golden FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  for (const char* name : {"valid", "rejected"}) {
    std::filesystem::remove_all(folder / name);
    std::filesystem::create_directories(folder / name);
  }
  int failures = 0;
  for (const GoldenFile& file : crawlstore::testing::valid_files()) {
    write_crawl(folder / "valid", file);
    const auto document = crawlstore::testing::read_as_json(file.bytes);
    if (!document) {
      std::cerr << file.name << ": " << crawlstore::describe(document.error()) << '\n';
      ++failures;
      continue;
    }
    const std::string text = document->dump(1) + '\n';
    write_file(folder / "valid" / (file.name + ".json"), text.data(), text.size());
  }
  for (const GoldenFile& file : crawlstore::testing::rejected_files()) {
    write_crawl(folder / "rejected", file);
    const std::string text = file.error + '\n';
    write_file(folder / "rejected" / (file.name + ".error"), text.data(), text.size());
  }
  return failures == 0 ? 0 : 1;
}
