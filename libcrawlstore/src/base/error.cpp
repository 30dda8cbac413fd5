// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/describe.h"

namespace crawlstore {
namespace {

/// One row per Errc, ascending. `advice` says what a person can do about it.
struct Row {
  Errc code;
  std::string_view name;
  std::string_view title;
  std::string_view advice;
};

constexpr std::array kRows = {
    Row{Errc::kNotACrawlFile, "not_a_crawl_file", "not a crawlstore file",
        "check the path; `crawlstore create` makes a new store"},
    Row{Errc::kNewerVersion, "newer_version", "written by a newer format version",
        "use a newer release of crawlstore to open this file; nothing is wrong with it"},
    Row{Errc::kOlderVersion, "older_version", "written by a format version that is no longer read",
        "open it with an older release of crawlstore and export it there"},
    Row{Errc::kUnknownFeature, "unknown_feature", "uses a feature that this version does not know",
        "use a newer release of crawlstore; nothing is wrong with the file"},
    Row{Errc::kReadOnlyFeature, "read_only_feature",
        "uses a feature that this version can read but not write",
        "open it for reading, or use a newer release to write"},
    Row{Errc::kIdentityDamaged, "identity_damaged", "identity page damaged",
        "`crawlstore recover FILE NEW` finds the identity in the directory; or restore a backup"},
    Row{Errc::kSuperblockDamaged, "superblock_damaged", "superblock damaged",
        "`crawlstore verify --deep` tells what is whole; `crawlstore rollback --forward` publishes "
        "a "
        "newer generation that is, `crawlstore rollback` goes on without it"},
    Row{Errc::kDirectoryDamaged, "directory_damaged", "directory damaged",
        "run `crawlstore rollback`, which returns to the previous generation where that is whole; "
        "else `crawlstore recover FILE NEW`, or restore a backup"},
    Row{Errc::kDirectoryInvalid, "directory_invalid", "directory contradicts itself",
        "do not trust this file; `crawlstore recover FILE NEW` takes what keeps the rules; or "
        "restore a backup"},
    Row{Errc::kChunkDamaged, "chunk_damaged", "chunk damaged",
        "run `crawlstore verify` to see all that is affected; `crawlstore recover FILE NEW` makes "
        "a file of all that can be read; or restore a backup"},
    Row{Errc::kSegmentInvalid, "segment_invalid", "segment contradicts its format",
        "do not trust this segment; run `crawlstore verify --deep` to see what is affected; "
        "`crawlstore recover FILE NEW` leaves it out"},
    Row{Errc::kTruncated, "truncated", "file ends too early",
        "it was cut or copied in part: copy it again; `crawlstore recover FILE NEW` makes a file "
        "of what is left; or restore a backup"},
    Row{Errc::kLocked, "locked", "another writer has the store open",
        "wait for that process to finish, or open the store for reading"},
    Row{Errc::kBusyPinned, "busy_pinned", "a reader pins a generation that stands in the way",
        "let the reader close or reopen its snapshot (`crawlstore pins` names it), then try again"},
    Row{Errc::kNoLocks, "no_locks", "the file system has no open-file-description locks",
        "move the store to a local file system, or read it without pins (`--no-pin`)"},
    Row{Errc::kReplaced, "replaced", "the path or the file holds other content than was opened",
        "it was moved, deleted, or written to by another program: look that only one writes to it, "
        "then reopen the store"},
    Row{Errc::kForked, "forked", "a forked child used its parent's store",
        "open the store anew in the child"},
    Row{Errc::kReadOnly, "read_only", "the store is open for reading only", "open it for writing"},
    Row{Errc::kNoSpace, "no_space", "no space left",
        "free some space or raise the quota and try again; what was committed is safe"},
    Row{Errc::kIo, "io", "input or output failed",
        "check the drive and the system log; reopen the store: what was acknowledged is safe"},
    Row{Errc::kPermission, "permission", "permission denied",
        "check owner and mode of the file and its folder, and whether it is mounted read-only"},
    Row{Errc::kNotFound, "not_found", "no such file or folder",
        "check the path; `crawlstore create` makes a new store"},
    Row{Errc::kExists, "exists", "the file exists already",
        "choose another path, or delete the file first; nothing was replaced"},
    Row{Errc::kFileSizeLimit, "file_size_limit", "a limit on the size of files was reached",
        "raise `ulimit -f`, or move the store to a file system with larger files"},
    Row{Errc::kOutOfMemory, "out_of_memory", "out of memory or address space",
        "raise the memory limit (`ulimit -v`) or lower the store's memory budget"},
    Row{Errc::kUnsupported, "unsupported", "the file system cannot do what is needed",
        "move the store to another file system"},
    Row{Errc::kInvalidArgument, "invalid_argument", "invalid argument",
        "correct the call; the limits are in the header of the function"},
    Row{Errc::kClosed, "closed", "used after it was closed", "open it again first"},
    Row{Errc::kPoisoned, "poisoned",
        "an earlier write or allocation failed, so nothing more is written",
        "reopen the store; what was acknowledged is safe"},
    Row{Errc::kReentrant, "reentrant", "called inside a transaction or a callback",
        "end the transaction, or let the dispatcher or callback return, first"},
    Row{Errc::kDispatcherFailed, "dispatcher_failed", "the dispatcher threw an exception",
        "correct the dispatcher and merge again: the requests are kept"},
    Row{Errc::kTooLarge, "too_large", "larger than its limit",
        "make the value smaller; the limits are in the header of the function"},
    Row{Errc::kNoPreviousGeneration, "no_previous_generation", "nothing to roll back or forward to",
        "`crawlstore rollback --forward` looks for a newer generation in free space; if there is "
        "none that is whole, `crawlstore recover FILE NEW`, or restore a backup"},
    Row{Errc::kUnknownName, "unknown_name", "no DRUM, segment or consumer of that name",
        "`crawlstore segments` lists what the file holds"},
    Row{Errc::kTypeMismatch, "type_mismatch", "opened with other types than it was created with",
        "open it as `crawlstore segments` and `crawlstore info` show it"},
    Row{Errc::kCancelled, "cancelled", "cancelled", "nothing is wrong: the caller asked to stop"},
};

constexpr Row kUnknownRow = {Errc{}, "unknown", "unknown error",
                             "this version does not know the error's number"};

const Row& row_of(Errc code) {
  for (const Row& row : kRows) {
    if (row.code == code) return row;
  }
  return kUnknownRow;
}

Errc code_of_errno(int system_errno) {
  switch (system_errno) {
    case ENOSPC:
    case EDQUOT:
      return Errc::kNoSpace;
    case EFBIG:
      return Errc::kFileSizeLimit;
    case EACCES:
    case EPERM:
    case EROFS:
    case ETXTBSY:
      return Errc::kPermission;
    case ENOENT:
    case ENOTDIR:
      return Errc::kNotFound;
    case EEXIST:
      return Errc::kExists;
    case EISDIR:
    case ENXIO:
      return Errc::kNotACrawlFile;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return Errc::kOutOfMemory;
    case ENOLCK:
      return Errc::kNoLocks;
    case EOPNOTSUPP:
    case ENOSYS:
    case ENODEV:
      return Errc::kUnsupported;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return Errc::kInvalidArgument;
    default:
      return Errc::kIo;
  }
}

}  // namespace

tl::unexpected<Error> fail_errno(int system_errno, const char* text, std::uint64_t offset) {
  return tl::unexpected<Error>(Error{code_of_errno(system_errno), system_errno, {}, offset, text});
}

std::string_view to_string(Errc code) {
  return row_of(code).title;
}

std::string_view name_of(Errc code) {
  return row_of(code).name;
}

ErrorCategory category(Errc code) {
  const auto number = static_cast<std::uint16_t>(code);
  if (number < 20) return ErrorCategory::kFormat;
  if (number < 40) return ErrorCategory::kDamage;
  if (number < 60) return ErrorCategory::kConflict;
  if (number < 80) return ErrorCategory::kSystem;
  return ErrorCategory::kCaller;
}

std::string describe(const Error& error) {
  return describe(error, row_of(error.code).advice);
}

std::string describe(const Error& error, std::string_view advice) {
  const Row& row = row_of(error.code);
  std::string prose(row.title);
  if (error.text != nullptr && *error.text != '\0' && row.title != error.text) {
    prose.append(": ").append(error.text);
  }
  if (error.needed_bytes != 0) {
    prose.append(", ").append(std::to_string((error.needed_bytes >> 10) + 1));
    prose.append(" KiB are needed");
  }
  if (error.segment) prose.append(", segment ").append(std::to_string(error.segment.value));
  if (error.offset != Error::kNoOffset) {
    char hexadecimal[24];
    std::snprintf(hexadecimal, sizeof hexadecimal, "0x%llx",
                  static_cast<unsigned long long>(error.offset));
    prose.append(", at offset ").append(hexadecimal);
  }
  if (error.system_errno != 0) {
    // strerror is not thread-safe by its contract; strerrordesc_np is, and needs no buffer.
    const char* reason = ::strerrordesc_np(error.system_errno);
    prose.append(" (").append(reason != nullptr ? reason : "unknown errno").append(")");
  }
  prose.append(". What to do: ").append(advice).append(".");
  return prose;
}

}  // namespace crawlstore
