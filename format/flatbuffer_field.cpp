// SPDX-License-Identifier: Apache-2.0
//
// The FlatBuffers part of field.h.
#include <algorithm>
#include <array>

#include <crawlstore/types.h>

#include "directory_generated.h"
#include "drum_generated.h"
#include "format/drum_table.h"
#include "format/flatbuffer_input.h"
#include "format/frontier_field.h"
#include "format/layout.h"
#include "frontier_generated.h"
#include "pages_generated.h"

namespace crawlstore::format {

namespace {

/// References of a hostile buffer may share what they point to, and unfold to a lot.
constexpr std::size_t kFieldsMax = 100'000;

constexpr std::array kTableRef{
    Member{"offset_bytes", Form::kHex, 0, 8},
    Member{"born", Form::kUnsigned, 8, 8},
    Member{"checksum", Form::kHex, 16, 8},
    Member{"first_segment_id", Form::kUnsigned, 24, 8},
    Member{"payload_bytes", Form::kUnsigned, 32, 4},
    Member{"segment_count", Form::kUnsigned, 36, 4},
};
constexpr std::array kHeldExtent{
    Member{"offset_bytes", Form::kHex, 0, 8},
    Member{"length_bytes", Form::kUnsigned, 8, 8},
    Member{"born", Form::kUnsigned, 16, 8},
    Member{"retired", Form::kUnsigned, 24, 8},
};
constexpr std::array kHeldTableRef{
    Member{"offset_bytes", Form::kHex, 0, 8},      Member{"born", Form::kUnsigned, 8, 8},
    Member{"checksum", Form::kHex, 16, 8},         Member{"payload_bytes", Form::kUnsigned, 24, 4},
    Member{"entry_count", Form::kUnsigned, 28, 4},
};
constexpr std::array kRun{
    Member{"offset_bytes", Form::kHex, 0, 8},       Member{"born", Form::kUnsigned, 8, 8},
    Member{"run_id", Form::kUnsigned, 16, 8},       Member{"payload_bytes", Form::kUnsigned, 24, 8},
    Member{"record_count", Form::kUnsigned, 32, 8}, Member{"checksum", Form::kHex, 40, 8},
};
constexpr std::array kDrumBucket{
    Member{"first_key", Form::kHex, 0, 8},       Member{"partition", Form::kUnsigned, 8, 8},
    Member{"key_log", Form::kUnsigned, 16, 8},   Member{"aux_log", Form::kUnsigned, 24, 8},
    Member{"key_count", Form::kUnsigned, 32, 8}, Member{"pending_count", Form::kUnsigned, 40, 8},
};
constexpr std::array kItemRunSpan{
    Member{"run_id", Form::kUnsigned, 0, 8},
    Member{"first_step", Form::kUnsigned, 8, 8},
    Member{"last_step", Form::kUnsigned, 16, 8},
};
static_assert(sizeof(fb::TableRef) == 40 && sizeof(fb::HeldExtent) == 32 &&
              sizeof(fb::HeldTableRef) == 32 && sizeof(fb::Run) == 48 &&
              sizeof(fb::DrumBucket) == 48 && sizeof(fb::ItemRunSpan) == 24);

/// Fields of one verified FlatBuffer.
class FieldWriter {
 public:
  FieldWriter(std::span<const std::byte> bytes, std::size_t entries_max)
      : bytes_(bytes), entries_max_(entries_max) {}

  /// A scalar stored at `place`; null = it has its default, which is not stored.
  template <class T>
  void number(const char* name, const std::uint8_t* place, T value) {
    const char* type = std::is_signed_v<T> ? "i" : "u";
    add(name, type + std::to_string(sizeof(T) * 8), place, sizeof(T), std::to_string(value));
  }
  /// A number with a word for it: "1 (drum)".
  template <class T>
  void choice(const char* name, const std::uint8_t* place, T value, std::string_view word) {
    add(name, "u" + std::to_string(sizeof(T) * 8), place, sizeof(T),
        std::to_string(value) + " (" + std::string(word) + ")");
  }
  void text(const char* name, const flatbuffers::String* value) {
    add(name, "string", value == nullptr ? nullptr : value->Data(), size_of(value),
        std::string(view_of(value)));
  }

  /// A vector of structs of fixed layout.
  template <class T, std::size_t kCount>
  void structs(const char* name, const flatbuffers::Vector<const T*>* vector,
               const std::array<Member, kCount>& members) {
    const auto* data = vector == nullptr ? nullptr : vector->Data();
    const std::size_t count = size_of(vector);
    add(name, "list", data, count * sizeof(T), std::to_string(count));
    for (std::size_t i = 0; i < std::min(count, entries_max_); ++i) {
      const auto* place = data + i * sizeof(T);
      open_entry(name, i, place, sizeof(T));
      const std::uint64_t offset = fields_.back().offset_bytes;
      for (Field& field : describe_members(members, bytes_.subspan(offset, sizeof(T)))) {
        field.offset_bytes += offset;
        field.depth = depth_;
        if (fields_.size() < kFieldsMax) fields_.push_back(std::move(field));
      }
      close_entry();
    }
  }

  /// A vector of numbers of 8 bytes, at any address.
  void numbers(const char* name, const flatbuffers::Vector<std::uint64_t>* vector) {
    const auto* data = vector == nullptr ? nullptr : vector->Data();
    const std::size_t count = size_of(vector);
    add(name, "list", data, count * 8, std::to_string(count));
    if (count == 0) return;
    const std::uint64_t base = fields_.back().offset_bytes;
    const auto shown = bytes_.subspan(base, std::min(count, entries_max_) * 8);
    for (Field& field : describe_numbers({.name = name}, shown)) {
      field.offset_bytes += base;
      field.depth = depth_ + 1;
      fields_.push_back(std::move(field));
    }
  }

  /// A vector of tables; `entry` describes one.
  template <class T, class Entry>
  void tables(const char* name, const flatbuffers::Vector<flatbuffers::Offset<T>>* vector,
              Entry entry) {
    const std::size_t count = size_of(vector);
    add(name, "list", vector == nullptr ? nullptr : vector->Data(), count * 4,
        std::to_string(count));
    for (std::size_t i = 0; i < std::min(count, entries_max_); ++i) {
      const T* element = vector->Get(static_cast<flatbuffers::uoffset_t>(i));
      open_entry(name, i, vector->Data() + i * 4, 4);
      entry(*this, *element);
      close_entry();
    }
  }

  Fields take() { return std::move(fields_); }

 private:
  void open_entry(const char* list, std::size_t index, const std::uint8_t* place,
                  std::size_t length_bytes) {
    ++depth_;
    add(std::string(list) + "[" + std::to_string(index) + "]", "struct", place, length_bytes, {});
    ++depth_;
  }
  void close_entry() { depth_ -= 2; }

  void add(std::string name, std::string type, const std::uint8_t* place,
           std::uint64_t length_bytes, std::string value) {
    if (fields_.size() >= kFieldsMax) return;
    Field field{std::move(name), std::move(type), 0, 0, std::move(value), {}, depth_};
    if (place != nullptr) {
      field.offset_bytes =
          reinterpret_cast<std::uintptr_t>(place) - reinterpret_cast<std::uintptr_t>(bytes_.data());
      field.length_bytes = length_bytes;
    }
    fields_.push_back(std::move(field));
  }

  std::span<const std::byte> bytes_;
  std::size_t entries_max_;
  std::uint32_t depth_ = 0;
  Fields fields_;
};

/// Verifies a copy of the bytes that lies in memory as FlatBuffers need it, and describes it.
/// `elements`: nothing, or what FlatbufferInput wants to know of a vector of tables.
template <class Root, class Describe, class... Elements>
Fields describe_buffer(std::span<const std::byte> bytes, std::size_t entries_max, Describe describe,
                       Elements... elements) {
  const std::vector<std::byte> copy(bytes.begin(), bytes.end());
  const FlatbufferInput<Root> input(copy, elements...);
  if (input.root() == nullptr) {
    return {{"payload", "bytes", 0, bytes.size(), {}, "not a FlatBuffer of its schema", 0}};
  }
  FieldWriter out(copy, entries_max);
  describe(out, *input.root());
  return out.take();
}

/// The place of a scalar in a table; null = nowhere, it has its default.
template <class T>
const std::uint8_t* place_of(const T& table, flatbuffers::voffset_t field) {
  return static_cast<const flatbuffers::Table*>(static_cast<const void*>(&table))
      ->GetAddressOf(field);
}

void describe_segment(FieldWriter& out, const fb::Segment& segment,
                      std::span<const KindRule> kinds) {
  using S = fb::Segment;
  out.number("id", place_of(segment, S::VT_ID), segment.id());
  const auto rule = std::find_if(kinds.begin(), kinds.end(), [&segment](const KindRule& it) {
    return it.kind == SegmentKind{segment.kind()};
  });
  out.choice("kind", place_of(segment, S::VT_KIND), segment.kind(),
             rule == kinds.end() ? "unknown" : rule->name);
  out.choice("storage_class", place_of(segment, S::VT_STORAGE_CLASS), segment.storage_class(),
             name_of(StorageClass{segment.storage_class()}));
  out.number("owner", place_of(segment, S::VT_OWNER), segment.owner());
  out.text("name", segment.name());
  if (is_aligned(segment.runs())) out.structs("runs", segment.runs(), kRun);
}

void describe_consumer(FieldWriter& out, const fb::DrumConsumer& consumer) {
  using C = fb::DrumConsumer;
  out.number("id", place_of(consumer, C::VT_ID), consumer.id());
  out.text("name", consumer.name());
  out.number("results", place_of(consumer, C::VT_RESULTS), consumer.results());
  out.number("result_count", place_of(consumer, C::VT_RESULT_COUNT), consumer.result_count());
}

std::string_view scheme_name(std::uint16_t scheme) {
  if (scheme == static_cast<std::uint16_t>(KeyScheme::kOpaque)) return "opaque";
  if (scheme == static_cast<std::uint16_t>(KeyScheme::kUrl)) return "url";
  if (scheme == static_cast<std::uint16_t>(KeyScheme::kUrlRabin)) return "url_rabin";
  if (scheme == static_cast<std::uint16_t>(KeyScheme::kPage)) return "page";
  return "unknown";
}

}  // namespace

Fields describe_root(std::span<const std::byte> bytes, std::size_t entries_max) {
  const auto describe = [](FieldWriter& out, const fb::Root& root) {
    using R = fb::Root;
    out.number("generation", place_of(root, R::VT_GENERATION), root.generation());
    out.number("next_segment_id", place_of(root, R::VT_NEXT_SEGMENT_ID), root.next_segment_id());
    out.number("next_run_id", place_of(root, R::VT_NEXT_RUN_ID), root.next_run_id());
    out.structs("tables", root.tables(), kTableRef);
    out.structs("held", root.held(), kHeldExtent);
    out.structs("held_tables", root.held_tables(), kHeldTableRef);
    const std::uint8_t* taken_back = place_of(root, R::VT_TAKEN_BACK);
    if (taken_back != nullptr) out.number("taken_back", taken_back, root.taken_back());
  };
  return describe_buffer<fb::Root>(bytes, entries_max, describe);
}

Fields describe_table(std::span<const std::byte> bytes, std::size_t entries_max,
                      std::span<const KindRule> kinds) {
  const auto describe = [kinds](FieldWriter& out, const fb::SegmentTable& table) {
    out.tables("segments", table.segments(), [kinds](FieldWriter& to, const fb::Segment& segment) {
      describe_segment(to, segment, kinds);
    });
  };
  return describe_buffer<fb::SegmentTable>(bytes, entries_max, describe, kTableSegmentsMax,
                                           &fb::SegmentTable::segments);
}

Fields describe_held_table(std::span<const std::byte> bytes, std::size_t entries_max) {
  const auto describe = [](FieldWriter& out, const fb::HeldTable& table) {
    out.structs("entries", table.entries(), kHeldExtent);
  };
  return describe_buffer<fb::HeldTable>(bytes, entries_max, describe);
}

Fields describe_pages(std::span<const std::byte> bytes) {
  const auto describe = [](FieldWriter& out, const fb::Pages& pages) {
    using P = fb::Pages;
    out.number("flags", place_of(pages, P::VT_FLAGS), pages.flags());
    out.number("page_count", place_of(pages, P::VT_PAGE_COUNT), pages.page_count());
    out.number("crawled_count", place_of(pages, P::VT_CRAWLED_COUNT), pages.crawled_count());
    out.number("link_count", place_of(pages, P::VT_LINK_COUNT), pages.link_count());
    out.number("event_count", place_of(pages, P::VT_EVENT_COUNT), pages.event_count());
    out.number("superstep_count", place_of(pages, P::VT_SUPERSTEP_COUNT), pages.superstep_count());
    out.number("collision_count", place_of(pages, P::VT_COLLISION_COUNT), pages.collision_count());
    out.number("unparsed_count", place_of(pages, P::VT_UNPARSED_COUNT), pages.unparsed_count());
    out.number("keys", place_of(pages, P::VT_KEYS), pages.keys());
    out.number("origins", place_of(pages, P::VT_ORIGINS), pages.origins());
    out.number("records", place_of(pages, P::VT_RECORDS), pages.records());
    out.number("out_links", place_of(pages, P::VT_OUT_LINKS), pages.out_links());
    out.number("in_links", place_of(pages, P::VT_IN_LINKS), pages.in_links());
    out.number("gone_links", place_of(pages, P::VT_GONE_LINKS), pages.gone_links());
    out.number("events", place_of(pages, P::VT_EVENTS), pages.events());
    out.number("fresh_keys", place_of(pages, P::VT_FRESH_KEYS), pages.fresh_keys());
    out.text("normalizer", pages.normalizer());
    out.number("elsewhere_count", place_of(pages, P::VT_ELSEWHERE_COUNT), pages.elsewhere_count());
  };
  return describe_buffer<fb::Pages>(bytes, 0, describe);
}

Fields describe_frontier(std::span<const std::byte> bytes, std::size_t entries_max) {
  const auto describe = [](FieldWriter& out, const fb::Frontier& table) {
    using F = fb::Frontier;
    out.number("flags", place_of(table, F::VT_FLAGS), table.flags());
    out.number("groups", place_of(table, F::VT_GROUPS), table.groups());
    out.number("items", place_of(table, F::VT_ITEMS), table.items());
    out.number("steps", place_of(table, F::VT_STEPS), table.steps());
    out.number("group_count", place_of(table, F::VT_GROUP_COUNT), table.group_count());
    out.number("waiting_count", place_of(table, F::VT_WAITING_COUNT), table.waiting_count());
    out.number("leased_count", place_of(table, F::VT_LEASED_COUNT), table.leased_count());
    out.number("next_id", place_of(table, F::VT_NEXT_ID), table.next_id());
    out.number("step_count", place_of(table, F::VT_STEP_COUNT), table.step_count());
    out.number("clock_ms", place_of(table, F::VT_CLOCK_MS), table.clock_ms());
    out.number("soft_ms", place_of(table, F::VT_SOFT_MS), table.soft_ms());
    out.number("hard_ms", place_of(table, F::VT_HARD_MS), table.hard_ms());
    out.number("burst", place_of(table, F::VT_BURST), table.burst());
    out.number("in_flight_max", place_of(table, F::VT_IN_FLIGHT_MAX), table.in_flight_max());
    out.number("put_max", place_of(table, F::VT_PUT_MAX), table.put_max());
    out.number("finished_max", place_of(table, F::VT_FINISHED_MAX), table.finished_max());
    out.structs("runs", table.runs(), kItemRunSpan);
    out.numbers("pieces", table.pieces());
    out.text("pages", table.pages());
  };
  return describe_buffer<fb::Frontier>(bytes, entries_max, describe);
}

Fields describe_drum(std::span<const std::byte> bytes, std::size_t entries_max) {
  const auto describe = [](FieldWriter& out, const fb::Drum& drum) {
    using D = fb::Drum;
    out.number("key_bytes", place_of(drum, D::VT_KEY_BYTES), drum.key_bytes());
    out.choice("key_scheme", place_of(drum, D::VT_KEY_SCHEME), drum.key_scheme(),
               scheme_name(drum.key_scheme()));
    out.number("value_bytes", place_of(drum, D::VT_VALUE_BYTES), drum.value_bytes());
    out.number("next_sequence", place_of(drum, D::VT_NEXT_SEQUENCE), drum.next_sequence());
    out.number("merge_count", place_of(drum, D::VT_MERGE_COUNT), drum.merge_count());
    out.number("unparsed_count", place_of(drum, D::VT_UNPARSED_COUNT), drum.unparsed_count());
    out.structs("buckets", drum.buckets(), kDrumBucket);
    out.tables("consumers", drum.consumers(), describe_consumer);
    out.number("merge_bytes", place_of(drum, D::VT_MERGE_BYTES), drum.merge_bytes());
    out.number("merge_requests", place_of(drum, D::VT_MERGE_REQUESTS), drum.merge_requests());
    out.number("partition_keys_max", place_of(drum, D::VT_PARTITION_KEYS_MAX),
               drum.partition_keys_max());
    out.text("normalizer", drum.normalizer());
  };
  return describe_buffer<fb::Drum>(bytes, entries_max, describe, std::uint32_t{kConsumersMax} + 1,
                                   &fb::Drum::consumers);
}

}  // namespace crawlstore::format
