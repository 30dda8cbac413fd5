// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The output of a command: data to standard output, everything else to standard error. Threads:
/// for the main thread.

#include <cstdint>
#include <string>
#include <string_view>

#include <crawlstore/error.h>

#include "model/table.h"

namespace crawlstore::cli {

/// Writes all of it, also where a descriptor does not block; returns 0, or the errno.
int write_all(int descriptor, std::string_view text);

/// Returns the text to write to a terminal instead of this text, so that it obeys nothing that
/// files or inputs hold (format_for_terminal()); elsewhere the bytes as they are. `kept` has the
/// text.
std::string_view for_descriptor(int descriptor, std::string_view text, std::string& kept);

/// Writes all of it to standard output, as for_descriptor() has it. errors kNoSpace, kIo and so on
Result<void> write_output(std::string_view text);

/// Ends a torn last line of the file that standard output goes on with, after a full disk or a
/// kill, so that the first of our lines stands alone. Errors are left to those who write.
void end_torn_line();

/// write_output() as the last thing a command does: 0, or a message and its exit code.
int print(std::string_view text);

/// Prints the document as JSON, or as text: fields a line each, tables with aligned columns, empty
/// tables left out.
int print_document(const model::Document& document, bool as_json);

/// A line on standard error: "crawlstore: ...".
void note(std::string_view text);

/// "crawlstore: SUBJECT: what, where, and what to do"; returns the exit code.
int fail_with(std::string_view subject, const Error& error);

/// The same of an input, about which the advice for crawl files does not go: where its content is
/// wrong, "crawlstore: INPUT: what", and exit code 1.
int fail_with_input(std::string_view input, const Error& error);

/// "crawlstore: TEXT"; returns `code`.
int fail_with(std::string_view text, int code);

bool is_terminal(int descriptor);
/// Whether escapes are understood there: a terminal, of which TERM does not say that it is dumb.
bool knows_escapes(int descriptor);
/// Columns of a terminal: COLUMNS where that is a number above 0, else what the terminal says, else
/// 80.
std::size_t terminal_width(int descriptor);

/// A word of ours to standard output, in colour on a terminal that wants it.
enum class Color : std::uint8_t { kRed = 31, kGreen = 32, kYellow = 33 };
int print_colored(std::string_view word, Color color);

}  // namespace crawlstore::cli
