// SPDX-License-Identifier: Apache-2.0
#pragma once

/// DRUM, "disk repository with update management": a key -> value store that is asked in bulk.
/// check, update and check_update are collected in buckets and answered through a dispatcher when
/// the buckets are merged with the sorted repository, at sequential I/O, whatever the size.
/// Source: H.-T. Lee, D. Leonard, X. Wang, D. Loguinov, "IRLbot: Scaling to 6 Billion Pages and
/// Beyond", WWW 2008, section 4.
///
///   auto drum = Drum<std::uint64_t, std::uint32_t>::open(store, "visits");
///   drum->attach(dispatcher);
///   CRAWLSTORE_TRY(drum->check_update(key, 1));   // waits; find(key) is 1
///   CRAWLSTORE_TRY(drum->merge());   // dispatcher.unique_key_update(...); then durable
///
/// Order: answers come bucket by bucket (ascending keys), in arrival order inside a bucket; several
/// operations on one key take effect in arrival order. Each request has a 64-bit sequence number,
/// ascending inside a bucket, that never changes and never returns. Automatic merges sweep over the
/// buckets again and again, some at a time, each time when the arrays fill the memory.
/// Safety: a merge commits buckets only after they were dispatched to the end, together with all
/// that the dispatcher submitted to DRUMs of the same store. Effects inside the store happen
/// exactly once. What no merge and no commit has acknowledged is lost in a crash, also when a
/// dispatcher has seen it; with DrumOptions::log_first an external dispatcher sees it again
/// instead, with the same sequence. Ownership: as in crawlstore.hpp.
/// Threads: submissions from any thread, also while another one
/// merges; they wait for commits and for merges that they call for; merges take turns; dispatchers
/// run on the thread whose call merges.

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <crawlstore/drum_core.h>
#include <crawlstore/drum_dispatcher.h>
#include <crawlstore/drum_traits.h>
#include <crawlstore/drum_view.h>

#pragma GCC visibility push(default)
namespace crawlstore {

template <class Key, class Value = NoValue, class Aux = NoAux>
class Drum {
 public:
  using AnswerType = Answer<Key, Value, Aux>;

  /// Opens the DRUM `name` of the store, making it when it does not exist.
  ///   errors  kTypeMismatch (another key or value size), kTooLarge (the name), kInvalidArgument
  ///           (the name is no UTF-8 or holds control characters; an option), those of the store
  [[nodiscard]] static Result<Drum> open(Store& store, std::string_view name,
                                         DrumOptions options = {}) {
    options.key_bytes = sizeof(KeyBits<Key>);
    return DrumCore::open(store, name, ValueTraits<Value>::kBytes, options)
        .map([](std::shared_ptr<DrumCore> core) { return Drum(std::move(core)); });
  }

  /// Sends answers of `consumer` to `dispatcher`, which must outlive the Drum or the next attach.
  /// Waits for a merge of another thread: then nobody uses the dispatcher of before. Without one,
  /// answers wait in the file for take_results().
  template <class Dispatcher>
  void attach(Dispatcher& dispatcher, ConsumerId consumer = {}) {
    core_->attach(consumer, make_sink<Key, Value, Aux>(dispatcher));
  }
  /// Answers of `consumer` wait in the file from now on.
  void detach(ConsumerId consumer = {}) { core_->attach(consumer, {}); }

  /// Asks whether the key is there. The store stays as it is; the answer holds the stored value.
  ///   errors  kTooLarge (auxiliary over 64 MiB), kUnknownName (consumer), kClosed; kNoSpace and
  ///           its like when arrays had to be written first: the request was not taken, try again.
  ///           An automatic merge, or the commit that `durability` asks for, comes after it was
  ///           taken: its error (one of merge()) leaves the request pending; do not submit
  ///           it again
  ///   cost    an append in memory; when an array is full, all are written
  [[nodiscard]] Result<void> check(const Key& key, const Aux& aux = {}, ConsumerId consumer = {}) {
    return submit(DrumOperation::kCheck, key, nullptr, aux, consumer);
  }
  /// Sets the value, whether the key is there or not: inserts, or overwrites the value alone.
  /// Errors and cost as check(), and kInvalidArgument for a value of another size.
  [[nodiscard]] Result<void> update(const Key& key, const Value& value = {}, const Aux& aux = {},
                                    ConsumerId consumer = {}) {
    return submit(DrumOperation::kUpdate, key, &value, aux, consumer);
  }
  /// Asks whether the key is there, then sets its value, in one step: the URL-seen test. The answer
  /// holds the new value. Errors and cost as update().
  [[nodiscard]] Result<void> check_update(const Key& key, const Value& value = {},
                                          const Aux& aux = {}, ConsumerId consumer = {}) {
    return submit(DrumOperation::kCheckUpdate, key, &value, aux, consumer);
  }
  /// One of many requests.
  struct Request {
    Key key{};
    Value value{};
    Aux aux{};
  };
  /// Many requests, as update() of each, with one lock; those before a failure were taken.
  [[nodiscard]] Result<void> check_update(std::span<const Request> requests,
                                          ConsumerId consumer = {}) {
    constexpr std::size_t kBatch = 64;
    std::array<RawRequest, kBatch> raw;
    std::array<typename ValueTraits<Value>::Buffer, kBatch> values;
    std::array<typename AuxTraits<Aux>::Buffer, kBatch> auxes;
    const auto core = core_;  // the Drum may go inside a dispatcher
    while (!requests.empty()) {
      const std::size_t count = std::min(requests.size(), kBatch);
      for (std::size_t i = 0; i < count; ++i) {
        raw[i] = raw_request(DrumOperation::kCheckUpdate, consumer, requests[i].key);
        raw[i].value = ValueTraits<Value>::bytes(requests[i].value, values[i]);
        raw[i].aux = AuxTraits<Aux>::bytes(requests[i].aux, auxes[i]);
      }
      CRAWLSTORE_TRY(core->submit(std::span(raw).first(count)));
      requests = requests.subspan(count);
    }
    return {};
  }
  /// Many keys alone, several times faster than one call a key; those before a failure were taken.
  [[nodiscard]] Result<void> check_update(std::span<const KeyBits<Key>> key_bits,
                                          ConsumerId consumer = {}) {
    return core_->submit_keys(DrumOperation::kCheckUpdate, key_bits, consumer);
  }

  /// Merges and dispatches everything that was submitted before the call. Again: no effect.
  ///   errors  kReentrant inside a transaction; kDispatcherFailed when one threw: what was
  ///           dispatched since the last commit, its bucket and the ones after it are still
  ///           pending, and come again; nothing of the transaction stays
  [[nodiscard]] Result<MergeReport> merge() { return core_->merge(); }
  /// merge() with a dispatcher for this call alone, in the place of that of consumer 0.
  template <class Dispatcher>
  [[nodiscard]] Result<MergeReport> merge(Dispatcher& dispatcher) {
    return core_->merge(make_sink<Key, Value, Aux>(dispatcher));
  }

  /// Sends the answers that waited for `consumer` to `dispatcher` and removes them, in one commit.
  template <class Dispatcher>
  [[nodiscard]] Result<std::uint64_t> take_results(Dispatcher& dispatcher,
                                                   ConsumerId consumer = {}) {
    return core_->take_results(consumer, make_sink<Key, Value, Aux>(dispatcher));
  }

  /// Names a consumer for good. Consumer 0 always exists and has no name.
  ///   errors  kTooLarge (name over 255 bytes, more than 16383 consumers), kInvalidArgument (name)
  [[nodiscard]] Result<ConsumerId> consumer(std::string_view name) { return core_->consumer(name); }

  /// The stored value, as of the last merge. O(1) blocks. nullopt = absent.
  [[nodiscard]] Result<std::optional<Value>> lookup(const Key& key) const {
    return typed_value<Value>(core_->lookup(KeyTraits<Key>::to_bits(key)));
  }
  /// Whether the key is there, or will be once all that was submitted is merged. Exact, at once.
  ///   cost  a lookup, a search among what waits in memory (5 to 11 bytes a key more, once asked),
  ///         and some in what the bucket's log holds (8 or 16 bytes a key)
  [[nodiscard]] Result<bool> contains(const Key& key) const {
    return core_->contains(KeyTraits<Key>::to_bits(key));
  }
  /// The value that the key has, or will have once all that was submitted is merged; nullopt =
  /// absent. Exact, at once; in a transaction of this thread its own requests count.
  ///   cost  microseconds; of a key in a log, its bucket's newest runs are read: 0.5 ms a MB or so
  [[nodiscard]] Result<std::optional<Value>> find(const Key& key) const {
    return typed_value<Value>(core_->find(KeyTraits<Key>::to_bits(key)));
  }
  /// Returns whether the key is new, as contains() finds it, and remembers it in the same step: new
  /// for one of all threads. A key that is there keeps its value. No dispatcher is told. Lasts from
  /// the next merge or commit on, or as `durability` says; in a transaction until that is dropped:
  /// other threads wait for its end before they insert the same.
  ///   errors  as update(), but merges that are called for come first: their errors take no key
  ///   cost    contains(), and an append
  [[nodiscard]] Result<bool> insert(const Key& key, const Value& value = {}) {
    typename ValueTraits<Value>::Buffer buffer;
    return core_->insert(KeyTraits<Key>::to_bits(key), ValueTraits<Value>::bytes(value, buffer));
  }
  [[nodiscard]] DrumStatus status() const { return core_->status(); }
  /// Changes options from now on. errors kInvalidArgument
  [[nodiscard]] Result<void> tune(const DrumOptions& options) { return core_->tune(options); }
  /// Commits what is pending and closes; after an error it stays open with it, try again. The
  /// destructor leaves it to the store's next commit then. Use afterwards gives kClosed.
  [[nodiscard]] Result<void> close() { return core_->close(); }

  /// The DRUM without types.
  [[nodiscard]] DrumCore& core() const { return *core_; }
  /// Types for a DRUM that is open. A Key of 16 bytes fits keys of either length (requests with a
  /// tail are refused where keys have 8), any other Key only keys of 8.
  explicit Drum(std::shared_ptr<DrumCore> core) : core_(std::move(core)) {}

 private:
  [[nodiscard]] Result<void> submit(DrumOperation operation, const Key& key, const Value* value,
                                    const Aux& aux, ConsumerId consumer) {
    typename ValueTraits<Value>::Buffer value_buffer;
    typename AuxTraits<Aux>::Buffer aux_buffer;
    RawRequest request = raw_request(operation, consumer, key);
    if (value != nullptr) request.value = ValueTraits<Value>::bytes(*value, value_buffer);
    request.aux = AuxTraits<Aux>::bytes(aux, aux_buffer);
    return core_->submit(request);
  }

  std::shared_ptr<DrumCore> core_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
