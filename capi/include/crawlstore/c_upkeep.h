// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Compaction and verification of files; part of crawlstore.h, which has the rules of all.

#include <stddef.h>
#include <stdint.h>

#include <crawlstore/c_store.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// The file before and after a compaction.
typedef struct crwl_compact_report {
  uint32_t struct_size;
  uint64_t bytes_before;
  uint64_t bytes_after;
  uint64_t moved_bytes;
  uint64_t commit_count;
} crwl_compact_report;

/// Moves everything to the front of the file and gives the rest back, in steps that are commits;
/// other threads go on. Here the progress is told without locks.
///   report  may be NULL
///   errors  89: the steps until then stand; 83; 80 another thread is compacting
int crwl_store_compact(crwl_store* store, crwl_progress progress, void* context,
                       crwl_compact_report* report, crwl_error* error);

/// Levels by what they read: every checksum; superblocks and directories; every rule of the format.
enum { CRWL_VERIFY_NORMAL = 0, CRWL_VERIFY_QUICK = 1, CRWL_VERIFY_DEEP = 2 };
/// Kinds of findings: the file is not whole; a spare copy is not, as a crash may leave it; nothing
/// is wrong, but a commit did not end.
enum { CRWL_DAMAGED = 0, CRWL_REDUCED_REDUNDANCY = 1, CRWL_UNFINISHED = 2 };

/// One thing that is not as it must be. It may grow: a list of them says how large each is.
///   kind        CRWL_DAMAGED ...
///   code        the number of an error
///   generation  0: the file as a whole
///   offset      bytes from the start of the file; UINT64_MAX = does not apply
///   message     a sentence for people, with advice, cut where it is longer
typedef struct crwl_finding {
  uint32_t kind;
  int32_t code;
  uint64_t generation;
  uint64_t segment;
  uint64_t offset;
  char message[480];
} crwl_finding;

///   level         CRWL_VERIFY_NORMAL ...
///   progress      NULL: nobody is told; told of bytes
///   findings      gets the first ones; NULL: none is wanted
///   capacity      findings that there is room for
///   stride_bytes  sizeof(crwl_finding), as the caller has it
typedef struct crwl_verify_options {
  uint32_t struct_size;
  uint32_t level;
  crwl_progress progress;
  void* context;
  crwl_finding* findings;
  uint64_t capacity;
  uint64_t stride_bytes;
} crwl_verify_options;

/// The result of a verification.
typedef struct crwl_verify_report {
  uint32_t struct_size;
  uint32_t is_damaged;     ///< 1: there is a finding of CRWL_DAMAGED
  uint64_t finding_count;  ///< also of those for which there was no room
  uint64_t checked_bytes;
} crwl_verify_report;

/// Proves a file whole, or says what is not and where. Reads only, beside a writer, too.
///   errors  10, 63 and the like, 89; damage is a finding, not an error
///   cost    one pass over the bytes of two generations, or with CRWL_VERIFY_DEEP over the file
int crwl_verify(const char* path, const crwl_verify_options* options, crwl_verify_report* report,
                crwl_error* error);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
