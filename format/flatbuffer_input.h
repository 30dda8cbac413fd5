// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What directory.cpp and drum_table.cpp share to read FlatBuffers from hostile bytes. Included by
/// .cpp files only, so that FlatBuffers types stay inside format/.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <flatbuffers/flatbuffers.h>

#include "endian.h"

namespace crawlstore::format {

/// A verified FlatBuffer, or nullptr. Copies the bytes when they are not 8-byte aligned in memory.
template <class Root>
class FlatbufferInput {
 public:
  /// tables_max  how many tables, the root among them, a valid buffer can hold
  FlatbufferInput(std::span<const std::byte> bytes, std::uint32_t tables_max) {
    if (bytes.size() % 8 != 0 || bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
      return;
    }
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0) {
      copy_.assign(bytes.begin(), bytes.end());
      bytes = copy_;
    }
    constexpr flatbuffers::uoffset_t kDepthMax = 2;
    const std::uint8_t* data = numbers<std::uint8_t>(bytes).data();
    flatbuffers::Verifier verifier(data, bytes.size(), kDepthMax, tables_max);
    if (verifier.VerifyBuffer<Root>(nullptr)) {
      root_ = flatbuffers::GetRoot<Root>(data);
    }
  }
  FlatbufferInput(const FlatbufferInput&) = delete;
  FlatbufferInput& operator=(const FlatbufferInput&) = delete;

  [[nodiscard]] const Root* root() const { return root_; }

 private:
  std::vector<std::byte> copy_;
  const Root* root_ = nullptr;
};

template <class T>
std::size_t size_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

inline std::string_view view_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

/// The verifier of FlatBuffers 2.0 does not look at the alignment of a vector's elements. An empty
/// vector may lie anywhere.
template <class T>
bool is_aligned(const flatbuffers::Vector<const T*>* vector) {
  return size_of(vector) == 0 || reinterpret_cast<std::uintptr_t>(vector->Data()) % alignof(T) == 0;
}

/// The finished buffer, padded with zeros to a multiple of 8.
inline std::vector<std::byte> padded_bytes(const flatbuffers::FlatBufferBuilder& builder) {
  std::vector<std::byte> bytes(round_up(builder.GetSize(), 8));
  std::memcpy(bytes.data(), builder.GetBufferPointer(), builder.GetSize());
  return bytes;
}

}  // namespace crawlstore::format
