// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Prose of errors, for places that know better what to do than the code alone says.

#include <string>
#include <string_view>

#include <crawlstore/error.h>

namespace crawlstore {

/// describe(error), with `advice`, a clause without a full stop, in place of the code's own.
std::string describe(const Error& error, std::string_view advice);

}  // namespace crawlstore
