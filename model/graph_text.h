// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Text as CSV, DOT and GraphML want it. Threads: pure functions.
///
/// DOT and GraphML hold text, not bytes: of a URL with controls, or that is no UTF-8, the printable
/// form stands there (format_printable()). CSV holds bytes.

#include <string>
#include <string_view>

namespace crawlstore::model {

/// A field of a row (RFC 4180): in quotes where it needs them. `for_spreadsheet`: one that programs
/// would take for a formula, as it begins with = + - @, a TAB or CR, gets a ' in front (OWASP, CSV
/// Injection).
void append_csv_field(std::string& to, std::string_view bytes, bool for_spreadsheet = false);

/// A DOT string in quotes, fit for a label: \ and & mean something there, and are escaped.
void append_dot_label(std::string& to, std::string_view bytes);

/// Character data or the value of an attribute in XML 1.0.
void append_xml_text(std::string& to, std::string_view bytes);

}  // namespace crawlstore::model
