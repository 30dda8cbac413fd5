// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions that field.cpp and flatbuffer_field.cpp share. Included by .cpp files only.

#include "format/field.h"

namespace crawlstore::format {

enum class Form : std::uint8_t { kUnsigned, kSigned, kHex, kTime, kUuid, kZeros, kFloat };

/// A member of a struct of fixed layout.
struct Member {
  const char* name;
  Form form;
  std::size_t offset_bytes;
  std::size_t length_bytes;
};

/// The members that lie inside the bytes, at depth 0.
Fields describe_members(std::span<const Member> members, std::span<const std::byte> bytes);

}  // namespace crawlstore::format
