// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "inspector/core/session.h"

namespace crawlstore::inspector {

/// The open file in Markdown: identity, health, where the bytes are, DRUMs, problems. No keys and
/// no URLs: it may be published.
std::string make_report(const Session& session);

}  // namespace crawlstore::inspector
