// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Words for people in place of the schema's names. Filters, exports and the command line keep the
/// schema's names.

#include <string>
#include <string_view>

namespace crawlstore::model {

/// Returns what people call a field or column: "pages" for "page_count", "bits a link" for
/// "bits_per_link". A name that holds a blank or a colon, "score:mine", has words of users in it
/// and stays as it is.
std::string label_of(std::string_view name);

}  // namespace crawlstore::model
