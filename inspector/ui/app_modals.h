// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inspector/ui/app.h"
#include "inspector/ui/modals.h"

namespace crawlstore::inspector {

struct App::Modals {
  CommandPalette palette;
  Question question;
  HelpBox help;
};

}  // namespace crawlstore::inspector
