// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "model/dump_view.h"
#include "model/format_text.h"
#include "model/parse_text.h"

namespace crawlstore::cli {
namespace {

struct DumpOptions {
  std::string path;
  std::string place;
  std::optional<std::uint64_t> entries_max;
  bool as_json = false;
  bool no_pin = false;
  bool no_mmap = false;
};

bool is_digits(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

/// The offset that "0x14000" or "80KiB" means.
std::optional<std::uint64_t> offset_of(const std::string& place) {
  return place.starts_with("0x") ? model::parse_count(place) : model::parse_bytes(place);
}

Result<std::vector<FieldInfo>> describe_place(const DumpOptions& options) {
  DescribeOptions describe_options;
  if (options.entries_max) describe_options.entries_max = *options.entries_max;
  if (options.place.empty()) return describe_file(options.path, describe_options);
  if (is_digits(options.place)) {
    const auto id = model::parse_count(options.place);
    if (!id) return fail(Errc::kUnknownName, "no segment has this id");
    CRAWLSTORE_TRY(const auto snapshot,
                   open_snapshot(options.path, options.no_pin, options.no_mmap));
    return describe(snapshot, SegmentId{*id}, describe_options);
  }
  return describe_at(options.path, *offset_of(options.place), describe_options);
}

/// A line a field: where it lies, then what it is, moved in by its depth.
std::string text_of(const std::vector<FieldInfo>& fields) {
  std::size_t width = 0;
  for (const FieldInfo& field : fields) {
    width = std::max(width, 2 * field.depth + field.name.size() + field.type.size() + 1);
  }
  width = std::min<std::size_t>(width, 48);
  std::string text;
  for (const FieldInfo& field : fields) {
    const std::string what = fmt::format("{:{}}{} {}", "", 2 * field.depth, field.name, field.type);
    std::string line =
        fmt::format("{:>12} {:>8}  {:<{}}  {}", model::format_offset(field.offset_bytes),
                    field.length_bytes, what, width, model::format_printable(field.value));
    line.erase(line.find_last_not_of(' ') + 1);
    if (!field.problem.empty()) line += "  ! " + field.problem;
    text += line + '\n';
  }
  return text;
}

int run(const DumpOptions& options) {
  const auto fields = describe_place(options);
  if (!fields) return fail_with(options.path, fields.error());
  return options.as_json ? print_document(model::dump_view(*fields), true)
                         : print(text_of(*fields));
}

}  // namespace

Action define_dump(Parser& parser) {
  auto options = std::make_shared<DumpOptions>();
  parser.footer(
      "Without a place: identity, superblocks and directory. Columns: offset, length, name and "
      "type of the field, value; ! marks what breaks a rule of the format.");
  add_file(parser, options->path);
  const auto check = [](const std::string& text) {
    const bool ok = !text.empty() && (is_digits(text) || offset_of(text));
    return ok ? std::string() : "a segment's number, or an offset such as 0x14000 or 80KiB";
  };
  parser.text("PLACE", options->place, "a segment's number (decimal), or an offset: 0x14000, 80KiB")
      .check(check);
  add_count(parser, "--entries", options->entries_max,
            "how many entries of a list (default: 1000)");
  add_json(parser, options->as_json);
  add_no_pin(parser, options->no_pin);
  add_no_mmap(parser, options->no_mmap);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
