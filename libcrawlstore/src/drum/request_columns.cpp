// SPDX-License-Identifier: Apache-2.0
//
// Invariants: tails_ is empty or as long as keys_, and in as many slabs; tags_, sequences_ and
// value_lengths_ are empty or as long as keys_, aux_lengths_ is empty or has all requests (while
// appending: one longer step at a time). The first request is no repeat. Where there are sequences
// or values there are no repeats.
#include "drum/request_columns.h"

#include <algorithm>

#include "base/assert.h"

namespace crawlstore::drum {

/// Stores the tag of the next key, unless all tags are equal. Call it before the key is appended.
void RequestColumns::note_tag(std::uint16_t tag) {
  if (keys_.empty()) {
    uniform_tag_ = tag;
  } else if (tag != uniform_tag_ || !tags_.empty()) {
    if (tags_.empty()) {
      tags_.assign(keys_.size(), uniform_tag_);
      other_bytes_ += keys_.size() * 2;
    }
    tags_.push_back(tag);
    other_bytes_ += 2;
  }
}

void RequestColumns::append_aux(std::span<const std::byte> aux) {
  const auto length = static_cast<std::uint32_t>(aux.size());
  if (count() == 1) uniform_aux_bytes_ = length;
  if (aux_lengths_.empty() && length != uniform_aux_bytes_) {
    aux_lengths_.assign(count() - 1, uniform_aux_bytes_);
    aux_lengths_.push_back(length);
    other_bytes_ += count() * 4;
  } else if (!aux_lengths_.empty()) {
    aux_lengths_.push_back(length);
    other_bytes_ += 4;
  }
  auxes_.append(aux);
  other_bytes_ += aux.size();
}

void RequestColumns::append(std::uint16_t tag, Key16 key, Shape shape,
                            std::span<const std::byte> value, std::span<const std::byte> aux) {
  const std::int32_t value_bytes = shape.value_bytes;
  note_tag(tag);
  keys_.push_back(key.head);
  if (shape.is_wide()) tails_.push_back(key.tail);
  append_aux(aux);
  const bool is_plain = tags_.empty() && repeats_.tags().empty() && auxes_.empty();
  plain_tag_ = is_plain && value_bytes == 0 ? tag : kNotPlain;
  if (value_bytes == 0) return;
  values_.insert(values_.end(), value.begin(), value.end());
  if (value_bytes < 0) {
    value_lengths_.push_back(static_cast<std::uint32_t>(value.size()));
    other_bytes_ += 4 + value.size();
  } else {
    values_.resize(keys_.size() * static_cast<std::size_t>(value_bytes));
    other_bytes_ += static_cast<std::uint64_t>(value_bytes);
  }
}

void RequestColumns::append_repeat(std::uint16_t tag, std::uint64_t key_index,
                                   std::span<const std::byte> aux) {
  CRAWLSTORE_ASSERT(key_index < keys_.size() && sequences_.empty() && values_.empty());
  repeats_.append(keys_.size(), key_index, tag, uniform_tag_);
  append_aux(aux);
  if (!auxes_.empty() || !repeats_.tags().empty()) plain_tag_ = kNotPlain;
}

std::uint64_t RequestColumns::memory_bytes() const {
  return keys_.memory_bytes() + tails_.memory_bytes() + repeats_.memory_bytes() +
         tags_.capacity() * 2 + sequences_.capacity() * 8 + value_lengths_.capacity() * 4 +
         values_.capacity() + aux_lengths_.capacity() * 4 + auxes_.memory_bytes() +
         inserts_.memory_bytes() + begins_.memory_bytes();
}

void RequestColumns::index_inserts() const {
  const std::size_t count = keys_.size();
  std::size_t place = inserts_.end();
  if (place == count) return;
  const auto hash_at = [this](std::size_t i) { return InsertIndex::hash_of(key_at(i)); };
  // Room as if all were different, but in no larger steps than there are keys.
  while (place < count) {
    const std::size_t end = std::min(count, place + std::max<std::size_t>(16, inserts_.size()));
    inserts_.reserve(inserts_.size() + end - place, hash_at);
    for (; place < end; ++place) {
      if (!is_insert(place)) continue;
      const Key16 key = key_at(place);
      inserts_.note(InsertIndex::hash_of(key), place,
                    [&](std::size_t i) { return key_at(i) == key; });
    }
    inserts_.set_end(place);
  }
}

std::optional<std::span<const std::byte>> RequestColumns::find(Key16 key,
                                                               std::uint64_t hash) const {
  index_inserts();
  const auto place = inserts_.find(hash, [&](std::size_t i) { return key_at(i) == key; });
  if (!place) return std::nullopt;
  const std::span<const std::byte> all(values_);
  if (!value_lengths_.empty()) {
    return all.subspan(begins_.find(value_lengths_, *place), value_lengths_[*place]);
  }
  const std::size_t value_bytes = all.size() / keys_.size();
  return all.subspan(*place * value_bytes, value_bytes);
}

RequestColumns::View RequestColumns::view() const {
  View view;
  view.key_count = keys_.size();
  view.uniform_tag = uniform_tag_;
  view.keys = keys_.spans();
  view.tails = tails_.spans();
  view.tags = tags_;
  view.repeats = &repeats_;
  view.value_lengths = value_lengths_;
  view.values = values_;
  view.uniform_aux_bytes = uniform_aux_bytes_;
  view.aux_lengths = aux_lengths_;
  view.auxes = auxes_.spans();
  return view;
}

/// Writes the keys of all requests, repeats included.
void RequestColumns::write_keys(std::vector<std::uint64_t>& keys,
                                std::vector<std::uint64_t>& tails) const {
  const auto heads = keys_.spans();
  const auto tail_spans = tails_.spans();
  const auto join = [](const auto& spans, std::vector<std::uint64_t>& out) {
    for (const auto& span : spans) out.insert(out.end(), span.begin(), span.end());
  };
  keys.reserve(count());
  tails.reserve(tails_.empty() ? 0 : count());
  if (repeats_.count() == 0) {
    join(heads, keys);
    join(tail_spans, tails);
    return;
  }
  Arrivals arrivals(heads, tail_spans, &repeats_);
  while (keys.size() < count()) {
    const Key16 key = arrivals.next().key;
    keys.push_back(key.head);
    if (!tails_.empty()) tails.push_back(key.tail);
  }
}

/// Writes a tag for each request, in arrival order; none if all are uniform_tag_.
void RequestColumns::write_tags(std::vector<std::uint16_t>& tags) const {
  if (repeats_.count() == 0) {
    tags = tags_;
  } else if (!tags_.empty() || !repeats_.tags().empty()) {
    const auto keys = keys_.spans();
    Arrivals arrivals(keys, {}, &repeats_);
    tags.reserve(count());
    for (std::uint64_t i = 0; i < count(); ++i) {
      const auto arrival = arrivals.next();
      const std::span<const std::uint16_t> own = arrival.is_repeat ? repeats_.tags() : tags_;
      tags.push_back(own.empty() ? uniform_tag_ : own[arrival.index]);
    }
  }
}

void RequestColumns::encode(std::uint64_t first_sequence, std::int32_t value_bytes,
                            Encoded& to) const {
  format::KeyRun run;
  run.first_sequence = sequences_.empty() ? first_sequence : sequences_.front();
  run.value_bytes = value_bytes;
  run.uniform_tag = uniform_tag_;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> tails;
  write_keys(keys, tails);
  run.keys = keys;
  run.tails = tails;
  std::vector<std::uint16_t> tags;
  write_tags(tags);
  run.tags = tags;
  run.lengths = value_lengths_;
  run.values = values_;
  CRAWLSTORE_ASSERT(sequences_.empty() || can_hold(last_sequence()));
  std::vector<std::uint32_t> offsets;
  offsets.reserve(sequences_.size());
  for (const auto sequence : sequences_) {
    offsets.push_back(static_cast<std::uint32_t>(sequence - run.first_sequence));
  }
  run.sequences = offsets;
  to.count = count();
  to.keys.clear();
  format::encode_key_run(run, to.keys);
  to.auxes.clear();
  if (auxes_.empty()) return;

  format::AuxRun aux;
  aux.record_count = count();
  aux.uniform_length_bytes = aux_lengths_.empty() ? uniform_aux_bytes_ : 0;
  aux.lengths = aux_lengths_;
  std::vector<std::byte> bytes;
  bytes.reserve(auxes_.size());
  for (const auto& span : auxes_.spans()) bytes.insert(bytes.end(), span.begin(), span.end());
  aux.bytes = bytes;
  format::encode_aux_run(aux, to.auxes);
}

Result<RequestColumns::Runs> RequestColumns::write(container::SegmentWriter& writer, Place place,
                                                   const Encoded& encoded) {
  const format::RunLabel keys{place.key_log, SegmentKind::kDrumKeyLog, place.drum, place.id};
  CRAWLSTORE_TRY(auto key_run, container::write_run(writer, keys, encoded.keys, encoded.count));
  Runs runs{key_run, {}};
  if (encoded.auxes.empty()) return runs;
  const format::RunLabel auxes{
      place.aux_log, SegmentKind::kDrumAuxLog, place.drum, {place.id.value + 1}};
  auto aux_run = container::write_run(writer, auxes, encoded.auxes, encoded.count);
  if (!aux_run) {
    writer.release(key_run.extent());
    return tl::unexpected<Error>(aux_run.error());
  }
  runs.auxes = *aux_run;
  return runs;
}

Result<void> for_each_request(std::span<const std::byte> key_payload,
                              std::span<const std::byte> aux_payload,
                              const std::function<void(const RawRequest&, std::uint64_t)>& visit) {
  std::vector<std::uint64_t> keys;
  CRAWLSTORE_TRY(const auto run, format::parse_key_run(key_payload, keys));
  format::AuxRun aux;
  if (!aux_payload.empty()) {
    CRAWLSTORE_TRY(const auto parsed, format::parse_aux_run(aux_payload));
    aux = parsed;
    if (aux.record_count != run.keys.size()) {
      return fail(Errc::kSegmentInvalid, "an auxiliary run has another count than its key run");
    }
  }
  format::AuxReader auxes(aux.bytes, aux.blocks);
  std::size_t value_begin = 0;
  for (std::size_t i = 0; i < run.keys.size(); ++i) {
    const auto tag = run.tags.empty() ? run.uniform_tag : run.tags[i];
    const std::size_t value_length =
        run.value_bytes < 0 ? run.lengths[i] : static_cast<std::size_t>(run.value_bytes);
    const std::size_t aux_length = aux.lengths.empty() ? aux.uniform_length_bytes : aux.lengths[i];
    CRAWLSTORE_TRY(const auto aux_bytes, auxes.next(aux_length));
    const std::uint64_t offset = run.sequences.empty() ? i : run.sequences[i];
    visit({static_cast<DrumOperation>(format::operation_of(tag)), format::consumer_of(tag),
           run.keys[i], run.values.subspan(value_begin, value_length), aux_bytes,
           run.tails.empty() ? 0 : run.tails[i]},
          run.first_sequence + offset);
    value_begin += value_length;
    auxes.forget();
  }
  return {};
}

}  // namespace crawlstore::drum
