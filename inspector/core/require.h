// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The inspector's check for bugs of its own. The library's CRAWLSTORE_ASSERT is not public.

namespace crawlstore::inspector {

/// Ends the process when `holds` is false, with the text on standard error. Never on file content.
void require(bool holds, const char* text);

}  // namespace crawlstore::inspector
