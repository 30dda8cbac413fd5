// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions that directory.cpp and drum_table.cpp share to read FlatBuffers from hostile bytes.
/// Included by .cpp files only, so that FlatBuffers types stay inside format/.

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
/// It is as strict as rule 1 of spec/container.md#directory, and so stricter than the verifier of
/// FlatBuffers 2.0. That asks for no shortest vtable and does not look at the size of a table. So
/// it follows an offset of 0 from a vector to a table, too: what stands there has a vtable of no
/// bytes.
template <class Root>
class FlatbufferInput {
 public:
  /// For a root without a vector of tables. (One that has such a vector is accepted when it is
  /// empty only, so this cannot be taken by mistake.)
  explicit FlatbufferInput(std::span<const std::byte> bytes) {
    is_accepted_ = verify(bytes, 1) && is_strict(root_);
  }
  /// For a root with a vector of tables, at most `elements_max`.
  template <class Element>
  FlatbufferInput(std::span<const std::byte> bytes, std::uint32_t elements_max,
                  const flatbuffers::Vector<flatbuffers::Offset<Element>>* (Root::*elements)()
                      const) {
    is_accepted_ =
        verify(bytes, elements_max + 1) && is_strict(root_) && are_strict((root_->*elements)());
  }
  FlatbufferInput(const FlatbufferInput&) = delete;
  FlatbufferInput& operator=(const FlatbufferInput&) = delete;

  [[nodiscard]] const Root* root() const { return is_accepted_ ? root_ : nullptr; }

 private:
  bool verify(std::span<const std::byte> bytes, std::uint32_t tables_max) {
    if (bytes.size() % 8 != 0 || bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
      return false;
    }
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0) {
      copy_.assign(bytes.begin(), bytes.end());
      bytes = copy_;
    }
    bytes_ = bytes;
    constexpr flatbuffers::uoffset_t kDepthMax = 2;
    const std::uint8_t* data = numbers<std::uint8_t>(bytes).data();
    flatbuffers::Verifier verifier(data, bytes.size(), kDepthMax, tables_max);
    if (!verifier.VerifyBuffer<Root>(nullptr)) return false;
    root_ = flatbuffers::GetRoot<Root>(data);
    return true;
  }

  /// Checks the rules of a table that the verifier does not ask for.
  template <class Table>
  [[nodiscard]] bool is_strict(const Table* table) const {
    const auto* begin = static_cast<const std::byte*>(static_cast<const void*>(table));
    const std::byte* vtable = begin - load<flatbuffers::soffset_t>(begin);
    if (load<flatbuffers::voffset_t>(vtable) < kVtableBytesMin) return false;
    const auto table_bytes = load<flatbuffers::voffset_t>(vtable + sizeof(flatbuffers::voffset_t));
    const auto offset = static_cast<std::size_t>(begin - bytes_.data());
    return table_bytes >= sizeof(flatbuffers::soffset_t) && table_bytes <= bytes_.size() - offset;
  }
  template <class Element>
  [[nodiscard]] bool are_strict(
      const flatbuffers::Vector<flatbuffers::Offset<Element>>* elements) const {
    for (flatbuffers::uoffset_t i = 0; elements != nullptr && i < elements->size(); ++i) {
      if (!is_strict(elements->Get(i))) return false;
    }
    return true;
  }

  static constexpr std::size_t kVtableBytesMin = 4;  // its own size and that of its table

  std::vector<std::byte> copy_;
  std::span<const std::byte> bytes_;  // the input, or the copy
  const Root* root_ = nullptr;
  bool is_accepted_ = false;
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

template <class T>
requires std::is_arithmetic_v<T>
bool is_aligned(const flatbuffers::Vector<T>* vector) {
  return size_of(vector) == 0 || reinterpret_cast<std::uintptr_t>(vector->Data()) % sizeof(T) == 0;
}

/// The finished buffer, padded with zeros to a multiple of 8.
inline std::vector<std::byte> padded_bytes(const flatbuffers::FlatBufferBuilder& builder) {
  std::vector<std::byte> bytes(round_up(builder.GetSize(), 8));
  std::memcpy(bytes.data(), builder.GetBufferPointer(), builder.GetSize());
  return bytes;
}

}  // namespace crawlstore::format
