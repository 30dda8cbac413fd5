// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Colours for quantities, such as the scores of pages.

#include <array>

#include "inspector/core/palette.h"

namespace crawlstore::inspector {

using Shades = std::array<Colour, 7>;

/// From little to much, between blue and yellow, which hardly anybody mixes up; each has more
/// contrast on the panel than the one before, for who sees light and dark alone.
const Shades& shades(const Palette& palette);

}  // namespace crawlstore::inspector
