// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The picture that stands for the window in a task bar.

#include "inspector/core/picture.h"

namespace crawlstore::inspector {

/// Draws desktop/crawlstore-inspector.svg, `size` pixels square. Unlike other pictures it is
/// transparent around its shapes: alpha is the part of a pixel that they cover.
Picture draw_icon(int size);

}  // namespace crawlstore::inspector
