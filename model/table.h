// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Views as plain data: named fields and tables of typed cells. The command prints them, as text or
/// JSON, and the inspector draws them; neither computes a number of its own.
///
/// A field or column is named as in spec/format.md, and that name is its JSON key too.
/// Ownership: everything is owned by value. Threads: plain values.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace crawlstore::model {

/// The meaning of a number, and so the way it is shown to people. JSON holds it plain.
enum class Unit : std::uint8_t {
  kText,
  kCount,    ///< decimal with separators
  kId,       ///< decimal without: segments, generations, processes
  kBytes,    ///< a size: "12.0 KiB"
  kOffset,   ///< a place in the file: hexadecimal
  kBits,     ///< hexadecimal: feature bits, keys, checksums
  kTimeUs,   ///< microseconds since the epoch: ISO 8601, UTC
  kRatio,    ///< a quotient: two decimals
  kShare,    ///< a part of a whole, 0 to 1: "5.8 %"
  kScore,    ///< a magnitude of any size: five digits that count
  kSeconds,  ///< a duration: "3.3 s", "1 h 02 min"
  kFromNow,  ///< seconds from now on: "in 3.3 s", "now", "3.3 s ago"
  kFlag,     ///< "yes" or "no"
  kExact,    ///< a number that was chosen: as many digits as give it back
};

/// Nothing (not known, or none), or a value of the kind that the unit calls for.
using Cell = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string>;

struct Field {
  std::string name;
  Unit unit = Unit::kText;
  Cell value;
};

struct Column {
  std::string name;
  Unit unit = Unit::kText;
};

struct Table {
  std::string name;  ///< JSON key of the list; heading of the text
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as long as `columns`
};

/// One answer of the command, one panel of the inspector.
struct Document {
  std::vector<Field> fields;
  std::vector<Table> tables;
};

/// The field of that name, or nullptr.
const Field* find_field(const Document& document, const std::string& name);

}  // namespace crawlstore::model
