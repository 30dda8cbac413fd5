// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Crawl files for programs in C, and for languages that call C. Compiles as C11 and as C++20.
/// It covers what the C++ headers beside it do; spec/format.md has the bytes of the file.
///
/// Results: a function that returns int gives 0, or the number of an error (spec/registry.md). The
/// last argument, which may be NULL, gets the details of a failure and is left alone otherwise.
/// Nothing is ever thrown: memory that cannot be had is 66, a pointer that must not be NULL 80.
/// An output is not to be read after an error, but for a handle, which is NULL then.
///
/// Ownership: what is passed in is copied. Outputs go to arrays of the caller. A handle is owned by
/// the caller until its `_free`, which takes NULL, too; it keeps what it needs of the handles that
/// it was made from, so that they may be freed in any order. Freeing loses nothing that a later
/// commit of the store could keep; the last handle of a store closes it, as crwl_store_close does.
///
/// Text: names and paths end with NUL. A NULL name is the default one. URLs are bytes and a length,
/// in any encoding; lists of texts are one blob and, for each text, the offset of its end.
///
/// Structs: `struct_size` is sizeof the struct, set by the caller, also where the struct is filled
/// by the call; a smaller one is 80. Later versions may add fields at the end. A field of options
/// that is 0 or NULL has its default, and NULL options have all.
///
/// Threads: any, and several at once, unless a type says otherwise; freeing needs the handle for
/// oneself. Fork: in a child, calls on its parent's handles that touch the file give 44, and
/// freeing does no harm.

#include <crawlstore/c_arrow.h>
#include <crawlstore/c_error.h>
#include <crawlstore/c_frontier.h>
#include <crawlstore/c_pages.h>
#include <crawlstore/c_queue.h>
#include <crawlstore/c_scores.h>
#include <crawlstore/c_seen.h>
#include <crawlstore/c_store.h>
#include <crawlstore/c_upkeep.h>
#include <crawlstore/c_values.h>
#include <crawlstore/c_view.h>
