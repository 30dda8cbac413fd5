// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Traits that turn the types of a DRUM into bytes: KeyTraits, ValueTraits, AuxTraits.
///
/// Integers, trivially copyable structs and strings work as they are. Trivially copyable types are
/// copied as they are (little-endian machines only), std::string by its bytes; specialise a traits
/// class for others.
///
/// Ownership: as in crawlstore.hpp, but bytes() returns a span into the object or into the buffer
/// beside it, and std::string_view auxiliaries that load() returns point into the answer.
/// Threads: pure functions. Errors: load() of the wrong length gives a default-constructed object;
/// the store checks lengths of fixed-size values when the DRUM is opened.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The value of a DRUM that only remembers keys, as the URL-seen test does. It takes no bytes. An
/// empty value is not an absent key (spec/features.md, D17).
struct NoValue {
  friend bool operator==(const NoValue&, const NoValue&) = default;
};
/// The auxiliary of requests that carry nothing. It takes no bytes either.
/// Both compare equal to themselves, so that generic code needs no special case.
struct NoAux {
  friend bool operator==(const NoAux&, const NoAux&) = default;
};

/// Maps a key to 64 bits and back, or to the 128 bits of a Key16.
///
/// For a type of your own write
///
///   template <> struct crawlstore::KeyTraits<Site> {
///     static std::uint64_t to_bits(const Site& site) { return site.hash; }
///     static Site from_bits(std::uint64_t bits) { return {bits}; }
///   };
///
/// The bits decide the order of the DRUM, as unsigned numbers: bucket order, dispatch order and
/// iteration order follow it. A specialisation may choose any order, but never by subtraction
/// (spec/features.md, E16): a - b overflows. Keys that are longer, such as URLs, are hashed to 64
/// or 128 bits first: see url.h.
///   to_bits    injective; from_bits(to_bits(k)) == k. Its type decides how long keys are in the
///              file: std::uint64_t or Key16
template <class Key>
struct KeyTraits {
  static_assert(std::is_integral_v<Key>, "specialise KeyTraits for keys that are not integers");

  /// Signed integers have their sign bit flipped, so that negative keys come first.
  static constexpr std::uint64_t to_bits(Key key) {
    if constexpr (std::is_signed_v<Key>) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(key)) ^ kSignBit;
    } else {
      return static_cast<std::uint64_t>(key);
    }
  }
  /// The key that to_bits() made these bits from.
  static constexpr Key from_bits(std::uint64_t bits) {
    if constexpr (std::is_signed_v<Key>) {
      return static_cast<Key>(static_cast<std::int64_t>(bits ^ kSignBit));
    } else {
      return static_cast<Key>(bits);
    }
  }

 private:
  static constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
};

/// Keys of 16 bytes are what they are: hashes of 128 bits for whoever wants no false duplicates, or
/// two numbers of which the first decides on the bucket. A type of your own with more than 64 bits
/// maps to it as types of fewer do to a number:
///
///   template <> struct crawlstore::KeyTraits<Visit> {
///     static Key16 to_bits(const Visit& visit) { return {visit.site, visit.second}; }
///     static Visit from_bits(const Key16& bits) { return {bits.head, bits.tail}; }
///   };
template <>
struct KeyTraits<Key16> {
  static constexpr Key16 to_bits(const Key16& key) { return key; }
  static constexpr Key16 from_bits(const Key16& bits) { return bits; }
};

/// The type of the bits that KeyTraits makes of a key.
template <class Key>
using KeyBits = decltype(KeyTraits<Key>::to_bits(std::declval<const Key&>()));
/// The key of these bits, whose tail is 0 unless keys have 16 bytes.
template <class Key>
constexpr Key key_from(std::uint64_t head, std::uint64_t tail) {
  if constexpr (std::is_same_v<KeyBits<Key>, Key16>) {
    return KeyTraits<Key>::from_bits({head, tail});
  } else {
    return KeyTraits<Key>::from_bits(head);
  }
}

/// Values and auxiliaries of a trivially copyable type: sizeof(T) bytes, padding included, so types
/// without padding give files that depend on nothing but the values. Empty types take no bytes.
///   kBytes  of every object
///   Buffer  room that bytes() may need; none here
template <class T>
struct FixedBytes {
  static_assert(std::is_trivially_copyable_v<T>, "specialise the traits for this type");
  static constexpr std::int32_t kBytes = std::is_empty_v<T> ? 0 : static_cast<int>(sizeof(T));
  struct Buffer {};

  /// A view of the object; valid as long as it.
  static std::span<const std::byte> bytes(const T& object, Buffer&) {
    if constexpr (kBytes == 0) {
      return {};
    } else {
      return std::as_bytes(std::span<const T, 1>(&object, 1));
    }
  }
  /// A copy of the object that these bytes came from; T{} when their number is another one.
  static T load(std::span<const std::byte> bytes) {
    T object{};
    if constexpr (kBytes != 0) {
      // tidy: raw bytes, of a trivially copyable type
      if (bytes.size() == sizeof(T)) std::memcpy(&object, bytes.data(), sizeof(T));
    }
    return object;
  }
};

/// Strings: their bytes, embedded NULs included; the length is stored beside them. String is
/// std::string, or std::string_view for auxiliaries that a dispatcher only looks at: such a view is
/// valid until the dispatcher returns.
///   kBytes  -1: any length, up to 16 MiB as a value, 64 MiB as an auxiliary
template <class String>
struct StringBytes {
  static constexpr std::int32_t kBytes = -1;
  struct Buffer {};

  /// A view of the characters; valid as long as the string.
  static std::span<const std::byte> bytes(const String& text, Buffer&) {
    return std::as_bytes(std::span<const char>(text.data(), text.size()));
  }
  static String load(std::span<const std::byte> bytes) {
    if (bytes.empty()) return {};
    return String(static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size());
  }
};

/// The stored form of a value. kBytes is the size of every value, or -1: any length; it is part of
/// the file, and a DRUM opened with another one is refused (kTypeMismatch). Specialise it for types
/// that are neither trivially copyable nor strings: kBytes, Buffer, bytes() and load() as in
/// FixedBytes.
template <class Value>
struct ValueTraits : FixedBytes<Value> {};
/// Values of any length, as their characters.
template <>
struct ValueTraits<std::string> : StringBytes<std::string> {};

/// The form in which an auxiliary travels. Nothing of it is in the repository: it goes with its own
/// request and comes back byte for byte. Its type may change from run to run; its bytes are the
/// program's affair.
template <class Aux>
struct AuxTraits : FixedBytes<Aux> {};
/// Auxiliaries of any length: URLs, for example.
/// std::string copies them out of the answer, std::string_view does not.
template <>
struct AuxTraits<std::string> : StringBytes<std::string> {};
template <>
struct AuxTraits<std::string_view> : StringBytes<std::string_view> {};

}  // namespace crawlstore
#pragma GCC visibility pop
