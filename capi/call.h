// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The frame of all calls of the C interface: no exception leaves it, errors become numbers, and
/// pointers and sizes of structs are checked before anything is done.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <crawlstore/crawlstore.h>
#include <crawlstore/error.h>
#include <crawlstore/store.h>

namespace crawlstore::c {

/// Writes the details of a failure, if anybody wants them, and returns its number.
int tell(const Error& failure, crwl_error* error) noexcept;

/// Runs `body`, which returns a Result<void>.
template <class Body>
int call(crwl_error* error, const Body& body) noexcept {
  try {
    const Result<void> done = body();
    return done ? 0 : tell(done.error(), error);
  } catch (const std::bad_alloc&) {
    return tell(fail(Errc::kOutOfMemory, "there is not enough memory").value(), error);
  } catch (const std::length_error&) {
    return tell(fail(Errc::kOutOfMemory, "more was asked for than memory can hold").value(), error);
  } catch (...) {
    // Only callbacks of the caller throw anything else, which C++ allows and C does not.
    return tell(fail(Errc::kCancelled, "a callback threw an exception").value(), error);
  }
}

/// Fails if one of the pointers is NULL.
template <class... Pointers>
Result<void> need(const Pointers*... pointers) {
  const bool is_missing = (... || (pointers == nullptr));
  if (is_missing) return fail(Errc::kInvalidArgument, "an argument is NULL that must not be");
  return {};
}

/// Fails if an array is NULL, unless it has no entries.
template <class... Pointers>
Result<void> need_array(std::uint64_t count, const Pointers*... pointers) {
  return count == 0 ? Result<void>() : need(pointers...);
}

/// Bytes of a text, as the library takes them.
inline constexpr std::size_t kTextBytesMax = std::size_t{64} << 20;

/// Bytes that a struct of any later version has at most; a larger number is no size.
inline constexpr std::uint32_t kStructBytesMax = 4096;

/// The bytes of a caller's struct after the fields that this version knows.
template <class Struct>
std::size_t tail_bytes(const Struct* given) {
  return given->struct_size - sizeof(Struct);
}

/// Fails unless the struct has all fields of this version.
template <class Struct>
Result<void> check_size(const Struct* given) {
  CRAWLSTORE_TRY(need(given));
  if (given->struct_size < sizeof(Struct) || given->struct_size > kStructBytesMax) {
    return fail(Errc::kInvalidArgument, "struct_size is not the size of the struct");
  }
  return {};
}

/// The same of a struct that the call reads: what this version does not know must be unused.
template <class Struct>
Result<void> check_input(const Struct* given) {
  CRAWLSTORE_TRY(check_size(given));
  const auto* tail = static_cast<const std::byte*>(static_cast<const void*>(given + 1));
  if (std::any_of(tail, tail + tail_bytes(given), [](std::byte b) { return b != std::byte{}; })) {
    return fail(Errc::kInvalidArgument, "a struct has fields that this version does not know");
  }
  return {};
}

/// The options, or all defaults for NULL.
template <class Struct>
Result<Struct> options_of(const Struct* given) {
  if (given == nullptr) return Struct{};
  CRAWLSTORE_TRY(check_input(given));
  return *given;
}

/// Fills a struct whose size was checked; fields of later versions become 0.
template <class Struct>
void give(Struct* out, Struct value) {
  value.struct_size = out->struct_size;
  *out = value;
  std::fill_n(static_cast<std::byte*>(static_cast<void*>(out + 1)), tail_bytes(out), std::byte{});
}

/// Hands a new handle to the caller.
template <class Handle>
void give_handle(Handle** out, Handle handle) {
  *out = std::make_unique<Handle>(std::move(handle)).release();
}

/// Frees a handle; NULL is none.
template <class Handle>
void free_handle(Handle* handle) noexcept {
  const std::unique_ptr<Handle> gone(handle);
}

inline std::string_view name_or(const char* name, std::string_view default_name) {
  return name == nullptr ? default_name : name;
}

/// Text as the caller has it. errors kInvalidArgument: NULL, but not empty
inline Result<std::string_view> text_of(const char* text, std::size_t bytes) {
  CRAWLSTORE_TRY(need_array(bytes, text));
  if (bytes > kTextBytesMax) return fail(Errc::kTooLarge, "a text has more than 64 MiB");
  return std::string_view(text, bytes);
}

/// Fails if the store was closed: what only looks at memory would show nothing instead.
inline Result<void> need_open(const std::shared_ptr<Store>& store) {
  if (store->uuid() == Uuid{}) return fail(Errc::kClosed, "the store was closed");
  return {};
}

/// The caller's callback as one of the library's.
inline Progress progress_of(crwl_progress progress, void* context) {
  if (progress == nullptr) return {};
  return [progress, context](std::uint64_t done, std::uint64_t total) {
    return progress(context, done, total) == 0;
  };
}

}  // namespace crawlstore::c
