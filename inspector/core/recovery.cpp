// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/recovery.h"

#include <filesystem>
#include <utility>

#include "model/format_text.h"

namespace crawlstore::inspector {

std::string recovered_path(const std::string& path) {
  const std::filesystem::path old(path);
  return (old.parent_path() / (old.stem().string() + "-recovered.crawl")).string();
}

Jobs::Work recovery_work(std::string path, std::string new_path,
                         std::function<void(std::shared_ptr<const Recovery>)> done) {
  return [path = std::move(path), new_path = std::move(new_path),
          done = std::move(done)](JobContext& context) -> Jobs::Finish {
    RecoverOptions options;
    options.progress = [&context](std::uint64_t read, std::uint64_t all) {
      return context.progress(read, all);
    };
    auto ended = std::make_shared<const Recovery>(
        Recovery{path, new_path, recover(path, new_path, options)});
    return [done, ended] { done(ended); };
  };
}

std::string describe(const Recovery& recovery) {
  const std::string name = std::filesystem::path(recovery.new_path).filename().string();
  if (!recovery.report) {
    if (recovery.report.error().code == Errc::kCancelled)
      return "there is no " + name + ": stopped";
    return "there is no " + name + ": " + crawlstore::describe(recovery.report.error());
  }
  const RecoverReport& report = *recovery.report;
  std::string text = name + " holds generation " + model::format_count(report.generation.value);
  if (report.generation < report.newest) {
    text += " (the newest was " + model::format_count(report.newest.value) + ")";
  }
  if (report.losses.empty()) return text + "; nothing was lost";
  return text + ", and lacks " + model::format_counted(report.losses.size(), "part");
}

}  // namespace crawlstore::inspector
