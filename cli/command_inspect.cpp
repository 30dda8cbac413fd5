// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/verb.h"

namespace crawlstore::cli {
namespace {

constexpr const char* kProgram = "crawlstore-inspector";

/// The one that was installed with us, else the first in PATH.
int run(const std::vector<std::string>& files) {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::string beside = (self.parent_path() / kProgram).string();
  // exec wants words that it could change, and does not.
  std::string program = kProgram;
  std::vector<std::string> arguments = files;
  std::vector<char*> words{program.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  ::execv(beside.c_str(), words.data());
  ::execvp(kProgram, words.data());
  return fail_with(
      "crawlstore-inspector is neither beside this program nor in PATH; it comes with "
      "a build that has -DCRAWLSTORE_INSPECTOR=ON",
      kExitSystem);
}

}  // namespace

Action define_inspect(Parser& parser) {
  auto files = std::make_shared<std::vector<std::string>>();
  parser
      .texts("FILE", *files,
             "the crawl file, or FILE#LOCATION: a.crawl#segment/12; or those of all shards")
      .required();
  parser.footer("Opens a window; `crawlstore-inspector --help` tells how to do without one.");
  return [files] { return run(*files); };
}

}  // namespace crawlstore::cli
