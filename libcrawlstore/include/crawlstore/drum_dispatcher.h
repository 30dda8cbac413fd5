// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Dispatchers, by which a DRUM tells a program its answers. One is any object with some of five
/// members, each taking an Answer. Missing members are skipped, at no cost.
///
///   struct Fetch {
///     void unique_key_update(const crawlstore::Answer<std::uint64_t, NoValue, std::string>& a);
///     void duplicate_key_update(const auto& answer);   // a template will do
///   };
///
///   unique_key_check      check of a key that was not there; value = Value{}
///   duplicate_key_check   check of a key that was there; value = the stored one
///   unique_key_update     check_update of a key that was not there; value = the new one
///   duplicate_key_update  check_update of a key that was there; value = the new one
///   update                update, whether the key was there or not; value = the new one
///
/// An object with none of them does not compile: its member is misspelt, or takes an Answer of
/// other types than the DRUM's. Whoever wants no answers says so with NullDispatcher.
///
/// Order: bucket by bucket, arrival order inside a bucket. A member may submit to any DRUM of the
/// store: that belongs to the transaction which commits the answered bucket. It may throw: the
/// transaction is dropped, its requests are kept. It must not merge or commit (kReentrant). Handles
/// of the store and its parts that go inside are closed when the merge ends.
/// Ownership: as in crawlstore.hpp, but the DRUM refers to its dispatcher until another one is
/// attached. Threads: members are
/// called on the merging thread, one at a time.

#include <cstdint>
#include <span>
#include <type_traits>

#include <crawlstore/drum_core.h>
#include <crawlstore/drum_traits.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// One answer. References and views in it live until the member returns.
template <class Key, class Value, class Aux>
struct Answer {
  Key key;
  Value value;
  Aux aux;  ///< what came with the request, byte for byte
  /// Number of the request: ascends inside a bucket, is the same when a crash makes it come again.
  std::uint64_t sequence = 0;
};

/// Looks at nothing: for merges whose answers nobody needs.
struct NullDispatcher {};

/// A request without value and auxiliary, which the caller sets: their bytes must live until it is
/// submitted.
///   key  as KeyTraits makes it: 8 bytes, or 16, of which the last 8 are the tail
///   cost constant
template <class Key>
RawRequest raw_request(DrumOperation operation, ConsumerId consumer, const Key& key) {
  const Key16 bits = KeyTraits<Key>::to_bits(key);
  return {operation, consumer, bits.head, {}, {}, bits.tail};
}

/// Calls the member of `to` that this answer is for, if it has it.
///   raw  one answer of a DRUM of these types, as the merge has it
template <class Key, class Value, class Aux, class Dispatcher>
void dispatch_answer(Dispatcher& to, const RawAnswer& raw) {
  using Told = Answer<Key, Value, Aux>;
  static_assert(std::is_same_v<Dispatcher, NullDispatcher> ||
                    (requires(Told a) { to.unique_key_check(a); }) ||
                    (requires(Told a) { to.duplicate_key_check(a); }) ||
                    (requires(Told a) { to.unique_key_update(a); }) ||
                    (requires(Told a) { to.duplicate_key_update(a); }) ||
                    (requires(Told a) { to.update(a); }),
                "a dispatcher has one of the five members at least, for an Answer of this DRUM");
  const auto told = [&raw] {
    return Told{key_from<Key>(raw.key, raw.key_tail), ValueTraits<Value>::load(raw.value),
                AuxTraits<Aux>::load(raw.aux), raw.sequence};
  };
  if (raw.operation == DrumOperation::kUpdate) {
    if constexpr (requires(Told a) { to.update(a); }) to.update(told());
  } else if (raw.operation == DrumOperation::kCheck && raw.duplicate) {
    if constexpr (requires(Told a) { to.duplicate_key_check(a); }) to.duplicate_key_check(told());
  } else if (raw.operation == DrumOperation::kCheck) {
    if constexpr (requires(Told a) { to.unique_key_check(a); }) to.unique_key_check(told());
  } else if (raw.duplicate) {
    if constexpr (requires(Told a) { to.duplicate_key_update(a); }) to.duplicate_key_update(told());
  } else {
    if constexpr (requires(Told a) { to.unique_key_update(a); }) to.unique_key_update(told());
  }
}

/// The sink that calls `dispatcher`, which must outlive it, for each answer in order. What a member
/// throws goes through.
template <class Key, class Value, class Aux, class Dispatcher>
RawSink make_sink(Dispatcher& dispatcher) {
  return [&dispatcher](std::span<const RawAnswer> answers) {
    for (const RawAnswer& raw : answers) dispatch_answer<Key, Value, Aux>(dispatcher, raw);
  };
}

}  // namespace crawlstore
#pragma GCC visibility pop
