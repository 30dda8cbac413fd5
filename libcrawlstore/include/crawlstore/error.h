// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Errors of crawlstore: small values that say what went wrong and where in the file.
///
/// Every operation that can fail for a reason outside the program (bad bytes, a full disk, another
/// writer) returns Result<T>. Nothing in the library throws for such a reason. Only a failed
/// allocation throws, std::bad_alloc: the call has changed nothing, or nothing is written any more
/// (kPoisoned) and what was acknowledged is there when the store is opened again. Bugs of the
/// library end the process through CRAWLSTORE_ASSERT, which is on in release builds too, and which
/// is never applied to file content.
///
/// Ownership: as in crawlstore.hpp; `text` points at a string literal.
/// Threads: plain values.
/// The numbers are listed in spec/registry.md and never used again for another meaning.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The kind of a failure. Families have gaps; a caller that only wants the family asks category().
enum class Errc : std::uint16_t {
  // The file is not one that this library reads.
  kNotACrawlFile = 10,    ///< the magic is absent: some other file, an empty file, a directory
  kNewerVersion = 11,     ///< written by a newer format version
  kOlderVersion = 12,     ///< written by a format version that is no longer read
  kUnknownFeature = 13,   ///< an `incompat` feature bit is set that this version does not know
  kReadOnlyFeature = 14,  ///< an unknown `ro_compat` bit is set: reading works, writing does not
  // The file is ours, and bytes in it are wrong. `segment` and `offset` say where.
  kIdentityDamaged = 20,
  kSuperblockDamaged = 21,
  kDirectoryDamaged = 22,  ///< checksum of the directory root or of a table
  kDirectoryInvalid = 23,  ///< checksum right, meaning wrong (overlap, range, order ...)
  kChunkDamaged = 24,      ///< checksum of a chunk or of a checksum table
  kSegmentInvalid = 25,    ///< checksum right, content of a segment violates its format
  kTruncated = 26,         ///< the file ends before the bytes it promises
  // Somebody else, or the file system, stands in the way.
  kLocked = 40,      ///< another writer has the store open
  kBusyPinned = 41,  ///< a generation that was lost in a crash is still pinned by a reader
  kNoLocks = 42,     ///< the file system has no open-file-description locks
  kReplaced = 43,    ///< another file is at the path, or another program wrote into it
  kForked = 44,      ///< a forked child used its parent's store
  kReadOnly = 45,    ///< writing was asked of a store that is open for reading
  // The system said no. `system_errno` holds its reason.
  kNoSpace = 60,
  kIo = 61,
  kPermission = 62,
  kNotFound = 63,
  kExists = 64,
  kFileSizeLimit = 65,  ///< RLIMIT_FSIZE or the file system's largest file
  kOutOfMemory = 66,
  kUnsupported = 67,  ///< the file system cannot do what is needed (fallocate, mmap)
  // The caller asked for something that cannot be.
  kInvalidArgument = 80,
  kClosed = 81,  ///< use after close()
  kPoisoned =
      82,  ///< a sync or an allocation failed: reopen the store; what was acknowledged is safe
  kReentrant = 83,         ///< merge(), commit() and the like inside a transaction or callback
  kDispatcherFailed = 84,  ///< the dispatcher threw; the transaction was dropped, requests are kept
  kTooLarge = 85,          ///< a value, an auxiliary or a name over its limit
  kNoPreviousGeneration = 86,  ///< nothing to roll back to
  kUnknownName = 87,           ///< no DRUM, segment or consumer of that name or id
  kTypeMismatch = 88,          ///< a DRUM was opened with other key, value or auxiliary types
  kCancelled = 89,             ///< the caller's progress callback said stop
};

/// Families of Errc, for exit codes and for callers that branch coarsely.
enum class ErrorCategory : std::uint8_t { kFormat, kDamage, kConflict, kSystem, kCaller };

/// One failure.
///   segment       the segment concerned; 0 = none
///   offset        byte offset in the file; kNoOffset = does not apply
///   text          a literal in plain English, without place or errno
///   system_errno  0, or the errno behind it
///   needed_bytes  of kNoSpace and kFileSizeLimit: by how much the file was to grow; 0 = unknown
struct [[nodiscard]] Error {
  static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};

  Errc code{};
  int system_errno = 0;
  SegmentId segment;
  std::uint64_t offset = kNoOffset;
  const char* text = "";
  std::uint64_t needed_bytes = 0;

  friend bool operator==(const Error& a, const Error& b) {
    return a.code == b.code && a.segment == b.segment && a.offset == b.offset;
  }
};

template <class T>
using Result = tl::expected<T, Error>;

/// Makes a failed Result. Cost: none.
inline tl::unexpected<Error> fail(Errc code, const char* text,
                                  std::uint64_t offset = Error::kNoOffset, SegmentId segment = {}) {
  return tl::unexpected<Error>(Error{code, 0, segment, offset, text});
}

/// Makes a failed Result from errno, mapping it to the code a user can act on (ENOSPC and EDQUOT to
/// kNoSpace, EFBIG to kFileSizeLimit, EACCES, EPERM and EROFS to kPermission ...).
tl::unexpected<Error> fail_errno(int system_errno, const char* text,
                                 std::uint64_t offset = Error::kNoOffset);

/// `kChunkDamaged` -> "chunk damaged". Total: unknown numbers give "unknown error".
std::string_view to_string(Errc code);

/// The spelling in spec/registry.md and in JSON: `chunk_damaged`.
std::string_view name_of(Errc code);

ErrorCategory category(Errc code);

/// Prose for people: what, where (segment, offset), the system's reason, and what to do about it.
std::string describe(const Error& error);

}  // namespace crawlstore
#pragma GCC visibility pop

/// CRAWLSTORE_TRY(call()): returns the error of a Result from the current function, or goes on.
/// CRAWLSTORE_TRY(auto x, call()): and declares `x` with the value. More than one statement: behind
/// an `if` it stands in braces.
#define CRAWLSTORE_TRY(first, ...)                                                \
  CRAWLSTORE_TRY_FIRST(__VA_OPT__(CRAWLSTORE_TRY_VALUE, ) CRAWLSTORE_TRY_ALONE, ) \
  (first __VA_OPT__(, ) __VA_ARGS__)
#define CRAWLSTORE_TRY_FIRST(first, ...) first
#define CRAWLSTORE_TRY_ALONE(expression)                                     \
  do {                                                                       \
    if (auto crawlstore_result = (expression); !crawlstore_result)           \
      return tl::unexpected<::crawlstore::Error>(crawlstore_result.error()); \
  } while (false)
#define CRAWLSTORE_TRY_VALUE(...) CRAWLSTORE_TRY_AT(__COUNTER__, __VA_ARGS__)
#define CRAWLSTORE_TRY_AT(number, ...) CRAWLSTORE_TRY_JOINED(number, __VA_ARGS__)
#define CRAWLSTORE_TRY_JOINED(number, declaration, ...)                             \
  auto crawlstore_result_##number = __VA_ARGS__;                                    \
  if (!crawlstore_result_##number)                                                  \
    return tl::unexpected<::crawlstore::Error>(crawlstore_result_##number.error()); \
  declaration = *std::move(crawlstore_result_##number)
