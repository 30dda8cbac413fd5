// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the command says: data to standard output, everything else to standard error.
/// Threads: for the main thread.

#include <string>
#include <string_view>

#include <crawlstore/error.h>

#include "model/table.h"

namespace crawlstore::cli {

/// Writes all of it, also where a descriptor does not block; returns 0, or the errno.
int write_all(int descriptor, std::string_view text);

/// Writes all of it to standard output. errors kNoSpace, kIo and the like
Result<void> write_output(std::string_view text);

/// Where standard output goes on with a file whose last line was torn, by a full disk or a kill:
/// ends that line, so that the first of ours stands alone. Errors are left to those who write.
void end_torn_line();

/// write_output() as the last thing a command does: 0, or a message and its exit code.
int print(std::string_view text);

/// As JSON, or as text: fields a line each, tables with aligned columns, empty tables left out.
int print_document(const model::Document& document, bool as_json);

/// A line on standard error: "crawlstore: ...".
void note(std::string_view text);

/// "crawlstore: SUBJECT: what, where, and what to do"; returns the exit code.
int fail_with(std::string_view subject, const Error& error);

/// "crawlstore: TEXT"; returns `code`.
int fail_with(std::string_view text, int code);

bool is_terminal(int descriptor);
/// A terminal, and neither NO_COLOR nor a dumb one.
bool wants_color(int descriptor);

}  // namespace crawlstore::cli
