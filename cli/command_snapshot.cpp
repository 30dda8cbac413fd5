// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <crawlstore/tools/inspect.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

struct SnapshotVerbOptions {
  std::string path;
  std::string out;
  bool replaces = false;
  bool previous = false;
  bool no_pin = false;
  bool quiet = false;
};

/// Whether both are one file, by whatever names and links.
bool is_source(const SnapshotVerbOptions& options) {
  std::error_code ignored;
  return std::filesystem::equivalent(options.path, options.out, ignored);
}

/// Says why the file that is there cannot be replaced; kExitDone: it can.
int check_replaceable(const SnapshotVerbOptions& options, const std::string& target) {
  const std::string out = model::format_printable(options.out);
  if (is_source(options)) {
    return fail_with(fmt::format("{}: it is the source itself, and stays", out), kExitUsage);
  }
  struct stat status = {};
  if (::stat(target.c_str(), &status) != 0) {
    return fail_with(options.out, fail_errno(errno, "the copy").value());
  }
  if (S_ISDIR(status.st_mode)) {
    return fail_with(options.out, fail_errno(EISDIR, "the copy").value());
  }
  if (!S_ISREG(status.st_mode)) {
    return fail_with(fmt::format("{}: it is no regular file, and stays", out), kExitUsage);
  }
  const auto writers = writer_processes(target);
  if (writers.empty()) return kExitDone;
  return fail_with(fmt::format("{}: process {} writes it, and would go on in a file without a name",
                               out, writers.front()),
                   kExitSystem);
}

/// Copies to a name beside `target` that nobody has. Parts that killed processes left count, too.
Result<std::string> copy_beside(const Snapshot& snapshot, const std::string& target) {
  constexpr int kPartsMax = 1000;
  for (int number = 1;; ++number) {
    std::string part = target + (number == 1 ? ".part" : fmt::format(".{}.part", number));
    const auto copied = copy_snapshot(snapshot, part);
    if (copied) return part;
    if (copied.error().code != Errc::kExists || number == kPartsMax) {
      return tl::unexpected<Error>(copied.error());
    }
  }
}

Result<void> sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return fail_errno(errno, "cannot open the folder to sync it");
  const int failure = ::fsync(descriptor) == 0 ? 0 : errno;
  (void)::close(descriptor);
  // Some network file systems do not sync folders and say so with EINVAL: nothing to be done.
  if (failure != 0 && failure != EINVAL) return fail_errno(failure, "cannot sync the folder");
  return {};
}

/// Gives `part`, which is synced, the name of the file that is there, and its mode.
Result<void> put_in_place(const std::string& part, const std::string& target) {
  struct stat status = {};
  if (::stat(target.c_str(), &status) != 0 ||
      ::chmod(part.c_str(), status.st_mode & ALLPERMS) != 0 ||
      ::rename(part.c_str(), target.c_str()) != 0) {
    return fail_errno(errno, "cannot replace the copy");
  }
  return sync_folder_of(target);
}

int fail_with_copy(const SnapshotVerbOptions& options, const Error& error) {
  const bool is_damage = category(error.code) == ErrorCategory::kDamage;
  return fail_with(is_damage ? options.path : options.out, error);
}

int replace(const Snapshot& snapshot, const SnapshotVerbOptions& options,
            const std::string& target) {
  if (const int code = check_replaceable(options, target); code != kExitDone) return code;
  const auto part = copy_beside(snapshot, target);
  if (!part) return fail_with_copy(options, part.error());
  // Again, for copies take long.
  const int code = check_replaceable(options, target);
  const auto replaced = code == kExitDone ? put_in_place(*part, target) : Result<void>{};
  if (code != kExitDone || !replaced) (void)::unlink(part->c_str());
  return replaced ? code : fail_with(options.out, replaced.error());
}

int run(const SnapshotVerbOptions& options) {
  SnapshotOptions which;
  which.pin = !options.no_pin;
  which.previous = options.previous;
  const auto snapshot = Snapshot::open(options.path, which);
  if (!snapshot) return fail_with(options.path, snapshot.error());
  std::error_code is_absent;
  // Through links, so that they stay.
  const auto target = std::filesystem::canonical(options.out, is_absent);
  if (options.replaces && !is_absent) {
    const int code = replace(*snapshot, options, target.string());
    if (code != kExitDone) return code;
  } else if (const auto copied = copy_snapshot(*snapshot, options.out); !copied) {
    return fail_with_copy(options, copied.error());
  }
  if (!options.quiet) {
    note(fmt::format("generation {} copied to {}", snapshot->generation().value, options.out));
  }
  return kExitDone;
}

}  // namespace

Action define_snapshot(Parser& parser) {
  auto options = std::make_shared<SnapshotVerbOptions>();
  parser.footer(
      "OUT is there as a whole or not at all, under this name and on the disk. With --replace "
      "the new copy is written and synced as OUT.part beside the old one, then takes its name "
      "and its mode in one step: when anything fails before, the old copy is as it was. So "
      "--replace needs room for both copies. FILE itself, by whatever name or link, and a file "
      "that a process writes are never replaced.");
  add_file(parser, options->path);
  parser.text("OUT", options->out, "the copy; a file that is there stays without --replace")
      .required();
  parser.flag("--replace", options->replaces, "put the copy in the place of OUT, for nightly ones");
  parser.flag("--previous", options->previous, "the generation before the newest one");
  add_no_pin(parser, options->no_pin);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
