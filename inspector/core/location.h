// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Places that the inspector can show: a panel, and the thing in it that is looked at. Every id on
/// the screen is one; each has a text form that the command line takes behind a '#'.
///
///   hex/offset/0x14000+64     64 bytes from there, in the hex view
///   offset/0x14000            the same thing in the panel that is its home
///   segment/12   generation/7   bucket/urls/3   key/urls/9f3c0081aa551100   row/17
///   page/123   host/example.org      of the page database "pages"; page/NAME/123 of another one
///   queue/NAME   scores/NAME     a score array of "pages"; scores/NAME@PAGES of another one
///   frontier/NAME   frontier/NAME/GROUP   a frontier, and a group of it by its key
///   overview                  a panel, nothing chosen
///
/// Names stand percent-encoded. Ids of panels are lower-case letters and '_'; where one is also the
/// word of a thing, that thing has two words, and things in that panel have more. Values; any
/// thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <crawlstore/types.h>

namespace crawlstore::inspector {

struct SegmentThing {
  SegmentId id;
  bool operator==(const SegmentThing&) const = default;
};
struct ExtentThing {
  Extent extent;  ///< length 0 = the byte, or the structure, at that offset
  bool operator==(const ExtentThing&) const = default;
};
struct GenerationThing {
  Generation generation;
  bool operator==(const GenerationThing&) const = default;
};
struct BucketThing {
  std::string drum;
  std::uint64_t bucket = 0;
  bool operator==(const BucketThing&) const = default;
};
struct KeyThing {
  std::string drum;  ///< empty = the one that is shown
  Key16 key;
  bool is_wide = false;  ///< of 16 bytes
  bool operator==(const KeyThing&) const = default;
};
/// The n-th row of the panel's table.
struct RowThing {
  std::uint64_t row = 0;
  bool operator==(const RowThing&) const = default;
};

struct PageThing {
  std::string pages;  ///< name of the page database; empty = "pages", or the only one
  std::uint64_t index = 0;
  bool operator==(const PageThing&) const = default;
};
/// All pages of a host.
struct HostThing {
  std::string pages;  ///< as in PageThing
  std::string host;   ///< normalised, without a port; empty = pages whose URLs have none
  bool operator==(const HostThing&) const = default;
};

struct QueueThing {
  std::string name;
  bool operator==(const QueueThing&) const = default;
};
struct ScoresThing {
  std::string pages;  ///< as in PageThing
  std::string name;   ///< of the score array
  bool operator==(const ScoresThing&) const = default;
};

/// A frontier, or a group of it.
struct FrontierThing {
  std::string name;
  std::optional<std::string> group{};  ///< its key
  bool operator==(const FrontierThing&) const = default;
};

using Thing =
    std::variant<std::monostate, SegmentThing, ExtentThing, GenerationThing, BucketThing, KeyThing,
                 RowThing, PageThing, HostThing, QueueThing, ScoresThing, FrontierThing>;

struct Location {
  std::string panel;  ///< id of a panel; empty = the home of the thing
  Thing thing;
  bool operator==(const Location&) const = default;
};

/// nullopt = no such form. The existence of the panel is not checked.
std::optional<Location> parse_location(std::string_view text);
std::string format_location(const Location& location);
/// "segment 12", for titles.
std::string describe_thing(const Thing& thing);

/// Whether it has a scheme, so that it means a page and no location.
bool is_url(std::string_view text);

/// A command line argument `FILE[#LOCATION]`. A file that is called so is meant, whatever it holds;
/// the caller knows which exist.
struct FileLocation {
  std::string path;
  Location location;
};
/// nullopt = no '#', or no location behind the last one.
std::optional<FileLocation> split_file_location(std::string_view text);

}  // namespace crawlstore::inspector
