// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Errors, lists of texts and callbacks of the C interface: crawlstore.h has the rules of all.

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/// The details of a failure. `code` is what the call returned.
///   category       0 format, 1 damage, 2 conflict, 3 system, 4 caller
///   system_errno   0, or the errno that the system gave
///   segment        the segment of the file that is concerned; 0 = none
///   offset         bytes from the start of the file; UINT64_MAX = does not apply
///   needed_bytes   of 60 and 65: by how much the file was to grow; 0 = not known
///   name           the spelling of the code in spec/registry.md, such as "chunk_damaged"
///   message        a sentence for people, cut where it is longer
typedef struct crwl_error {
  uint32_t struct_size;
  int32_t code;
  int32_t category;
  int32_t system_errno;
  uint64_t segment;
  uint64_t offset;
  uint64_t needed_bytes;
  char name[32];
  char message[480];
} crwl_error;

/// The version of the library, such as "0.1.0". Lives for ever.
const char* crwl_version(void);

/// Told about long work, in the calling thread and with the store locked: the function must not use
/// the store. Returns 0 to go on; any other number stops the work, which then gives 89.
///   total  an estimate, which may grow
typedef int (*crwl_progress)(void* context, uint64_t done, uint64_t total);

/// `count` texts: text i is the bytes from ends[i - 1], or 0, to ends[i].
typedef struct crwl_texts {
  const char* bytes;
  const uint64_t* ends;
  uint64_t count;
} crwl_texts;

/// Entries of verdicts. After an error those that were not reached are CRWL_NOT_ASKED.
enum { CRWL_NO = 0, CRWL_YES = 1, CRWL_NOT_ASKED = 255 };

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
