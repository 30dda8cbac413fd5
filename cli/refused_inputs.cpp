// SPDX-License-Identifier: Apache-2.0
#include "cli/refused_inputs.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/input_bytes.h"
#include "cli/input_file.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// The reason that the input is refused; empty: it is not, or that is not known yet. Leaves a
/// descriptor that others go on with, as standard input, where it was.
std::string refusal_of(const std::string& path, const StopSignals& stop) {
  // A named pipe that is opened and closed again has lost its writer.
  struct stat status {};
  const bool is_there =
      (path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status)) == 0;
  if (!is_there || !S_ISREG(status.st_mode)) return {};
  const InputFile file(path);
  const off_t place = file.descriptor() < 0 ? -1 : ::lseek(file.descriptor(), 0, SEEK_CUR);
  if (place < 0) return {};
  InputBytes bytes(file.descriptor(), stop);
  char first = 0;
  (void)bytes.read({&first, 1});  // an error comes again when it is read
  ::lseek(file.descriptor(), place, SEEK_SET);
  return bytes.refusal();
}

}  // namespace

void note_refused_input(const std::string& path, std::string_view why) {
  note(fmt::format("{}: input refused: {}", model::format_printable(path), why));
}

LookedInputs drop_refused_inputs(std::vector<std::string>& inputs, const std::string& file,
                                 const StopSignals& stop) {
  LookedInputs looked;
  looked.refused_count = std::erase_if(inputs, [&stop](const std::string& path) {
    const std::string why = refusal_of(path, stop);
    if (!why.empty()) note_refused_input(path, why);
    return !why.empty();
  });
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) return looked;
  while (!inputs.empty()) {
    auto input = std::make_unique<OpenInput>(inputs.front(), stop);
    if (input->descriptor() >= 0) (void)input->bytes().look();  // an error comes again
    if (input->bytes().refusal().empty()) {
      looked.first = std::move(input);
      break;
    }
    note_refused_input(inputs.front(), input->bytes().refusal());
    ++looked.refused_count;
    inputs.erase(inputs.begin());
  }
  return looked;
}

}  // namespace crawlstore::cli
