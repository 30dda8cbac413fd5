// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Documents as JSON. Keys are the names of fields and tables, in their order, so that the text of
/// one state of a file is always the same.
/// Threads: pure functions.

#include <string>
#include <string_view>

#include <crawlstore/error.h>

#include "model/table.h"

namespace crawlstore::model {

/// One object: the fields, then each table as a list of objects. Indented, with a final newline.
/// Names and values are as spec/json.md says: numbers are plain digits; a time `x_us` comes with
/// `x`, the same in ISO 8601; text `x` that is no UTF-8 is `x_hex`, hexadecimal digits, instead;
/// what is not known, or is not there, is null.
std::string to_json(const Document& document);

/// Appends `"...": ` and the bytes as a JSON string under the name `key`, or, when they are no
/// UTF-8, as hexadecimal digits under the name `key` + "_hex". For lines of JSON, without nlohmann:
/// no allocation but that of `to`.
void append_json_bytes(std::string& to, std::string_view key, std::string_view bytes);

/// Appends a JSON string. `text` is UTF-8.
void append_json_text(std::string& to, std::string_view text);

/// Ends a document that is one list, printed while it was read: with the member `error`, which is
/// null, or why there are no more rows.
void append_json_list_end(std::string& to, bool is_empty, const Result<void>& read,
                          std::string_view members = {});

/// Appends two hexadecimal digits a byte.
void append_hex(std::string& to, std::string_view bytes);

}  // namespace crawlstore::model
