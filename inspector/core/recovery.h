// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A new file of what can be read of a damaged one, made by a job.

#include <functional>
#include <memory>
#include <string>

#include <crawlstore/tools/recover.h>

#include "inspector/core/jobs.h"

namespace crawlstore::inspector {

/// One that has ended, well or not.
struct Recovery {
  std::string path;      ///< the damaged file
  std::string new_path;  ///< there is a file only if there is a report
  Result<RecoverReport> report;
};

/// The path that is proposed: crawl.crawl gives crawl-recovered.crawl.
std::string recovered_path(const std::string& path);

/// Work for Jobs::start(). `done` is called on the drawing thread, also of a cancelled one.
Jobs::Work recovery_work(std::string path, std::string new_path,
                         std::function<void(std::shared_ptr<const Recovery>)> done);

/// Says in a sentence how it ended.
std::string describe(const Recovery& recovery);

}  // namespace crawlstore::inspector
