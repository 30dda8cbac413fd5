// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Byte-exact structs of everything that is not a FlatBuffer. The normative tables are in the
/// pages of spec/format.md; tests/format/spec_offsets_test.cpp compares both. Fields named
/// reserved* are zero on disk and a reader rejects anything else (in superblocks with unknown
/// feature bits it does not look).

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace crawlstore::format {

static_assert(std::endian::native == std::endian::little,
              "structs are copied whole; a big-endian port needs field-wise loads here");

inline constexpr std::uint32_t kFormatVersion = 10;
inline constexpr std::uint32_t kByteOrderMark = 0x01020304;
inline constexpr std::uint64_t kUnitBytes = 4096;
inline constexpr std::uint64_t kChunkBytes = 65536;
inline constexpr std::uint64_t kSuperblockBytes = 4096;
inline constexpr std::uint64_t kDataStart = 80 * 1024;
inline constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 56;
inline constexpr std::array<std::array<std::uint64_t, 2>, 2> kSuperblockOffsets{
    {{16 * 1024, 48 * 1024}, {32 * 1024, 64 * 1024}}};
struct SuperblockPlace {
  std::uint32_t slot;
  std::uint32_t copy;
  std::uint64_t offset_bytes;
};
/// The same in the order of the file.
inline constexpr std::array<SuperblockPlace, 4> kSuperblockPlaces{
    {{0, 0, 16 * 1024}, {1, 0, 32 * 1024}, {0, 1, 48 * 1024}, {1, 1, 64 * 1024}}};
inline constexpr std::uint64_t kPinLockBase = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kGenerationMax = kPinLockBase - 2;  ///< the last with a pin byte
inline constexpr std::uint64_t kWriterLockByte = kPinLockBase - 1;

inline constexpr std::uint64_t kPayloadBytesMax = (std::uint64_t{1} << 48) - 1;
inline constexpr std::uint64_t kRootBytesMax = 64 * 1024 * 1024;
inline constexpr std::uint32_t kTableSegmentsMax = 128;
inline constexpr std::uint32_t kTableBytesMax = 16 * 1024;
inline constexpr std::uint32_t kHeldInlineMax = 128;
inline constexpr std::uint32_t kHeldTableEntriesMax = 384;
inline constexpr std::uint32_t kNameBytesMax = 255;
inline constexpr std::uint32_t kRunsPerLogMax = 256;
inline constexpr std::uint32_t kSmallValuesMax = 1024;      ///< of a file
inline constexpr std::uint32_t kSmallValueBytesMax = 4096;  ///< of each, without its name
inline constexpr std::uint32_t kTileFanOut = 64;            ///< children of a full node
inline constexpr std::uint32_t kTileLevelMax = 4;           ///< of a root: 64^5 tiles
inline constexpr std::uint32_t kTilePagesMax = 8192;        ///< records of a full record tile
inline constexpr std::uint32_t kContentHashBytesMax = 64;

/// 89 'C' 'R' 'W' 'L' 0D 0A 1A, as a little-endian number.
inline constexpr std::uint64_t kIdentityMagic = 0x1A0A0D4C57524389;
inline constexpr std::uint64_t kSuperblockMagic = 0x4B4C425245505553;  // "SUPERBLK"
inline constexpr std::uint64_t kRootEndMagic = 0x444E45544F4F5243;     // "CROOTEND"
inline constexpr std::uint32_t kRunEndMagic = 0x4E555243;              // "CRUN"
inline constexpr std::uint64_t kPartitionMagic = 0x3154524150595243;   // "CRYPART1"
inline constexpr std::uint64_t kKeyRunMagic = 0x314E555259454B43;      // "CKEYRUN1"
inline constexpr std::uint64_t kAuxRunMagic = 0x314E555258554143;      // "CAUXRUN1"
inline constexpr std::uint64_t kResultRunMagic = 0x314E555253455243;   // "CRESRUN1"
inline constexpr std::uint64_t kLinkRunMagic = 0x314E524B4E494C43;     // "CLINKRN1"
inline constexpr std::uint64_t kEventRunMagic = 0x314E52544E564543;    // "CEVNTRN1"
inline constexpr std::uint64_t kOriginRunMagic = 0x314E524749524F43;   // "CORIGRN1"
inline constexpr std::uint64_t kTileNodeMagic = 0x31444F4E4C495443;    // "CTILNOD1"
inline constexpr std::uint64_t kRecordTileMagic = 0x314C495443455243;  // "CRECTIL1"
inline constexpr std::uint64_t kScoreArrayMagic = 0x315345524F435343;  // "CSCORES1"
inline constexpr std::uint64_t kQueueRunMagic = 0x3153455545555143;    // "CQUEUES1"
inline constexpr std::uint64_t kQueueTableMagic = 0x31454C4241545143;  // "CQTABLE1"
inline constexpr std::uint64_t kValuesMagic = 0x315345554C415643;      // "CVALUES1"

/// Offset 0 of the file. Written once, at creation.
struct Identity {
  std::uint64_t magic;
  std::uint32_t byte_order;
  std::uint32_t format_version;
  std::array<std::byte, 16> uuid;
  std::uint64_t key_seed;
  std::uint32_t unit_bytes;
  std::uint32_t chunk_bytes;
  std::int64_t created_us;
  std::array<std::byte, 4032> reserved;
  std::uint64_t checksum;
};
static_assert(sizeof(Identity) == 4096 && offsetof(Identity, checksum) == 4088);

/// One of the four superblock copies.
struct Superblock {
  std::uint64_t magic;
  std::uint32_t slot_index;
  std::uint32_t copy_index;
  std::array<std::byte, 16> uuid;
  std::uint64_t generation;
  std::uint64_t pass;
  std::uint64_t features_compat;
  std::uint64_t features_ro_compat;
  std::uint64_t features_incompat;
  std::int64_t commit_time_us;
  std::uint64_t high_water_bytes;
  std::uint64_t root_offset_bytes;
  std::uint64_t root_payload_bytes;
  std::uint64_t root_checksum;
  std::array<std::byte, 3976> reserved;
  std::uint64_t checksum;
};
static_assert(sizeof(Superblock) == 4096 && offsetof(Superblock, checksum) == 4088);

/// The last bytes of the extent of a directory root: what the identity page and its superblock say,
/// so that a root is known for one when nothing leads to it.
struct RootEnd {
  std::uint64_t magic;
  std::uint32_t format_version;
  std::uint32_t reserved;
  std::array<std::byte, 16> uuid;
  std::uint64_t key_seed;
  std::int64_t created_us;
  std::uint64_t generation;
  std::uint64_t features_compat;
  std::uint64_t features_ro_compat;
  std::uint64_t features_incompat;
  std::int64_t commit_time_us;
  std::uint64_t high_water_bytes;
  std::uint64_t root_offset_bytes;
  std::uint64_t root_payload_bytes;
  std::uint64_t root_checksum;
};
static_assert(sizeof(RootEnd) == 120);

/// The last bytes of the extent of a run: what the directory says of it, so that it is known for
/// one without any directory.
struct RunEnd {
  std::uint32_t magic;
  std::uint16_t kind;
  std::uint16_t reserved;
  std::uint64_t segment_id;
  std::uint64_t run_id;
  std::uint64_t owner;
  std::uint64_t payload_bytes;
  std::uint64_t record_count;
  std::uint64_t first;
  std::uint64_t checksum;
};
static_assert(sizeof(RunEnd) == 64 && offsetof(RunEnd, checksum) == 56);

/// Begins every block of a partition; then upper bits, lower bits, the other halves of 16-byte
/// keys, values.
struct KeyBlockHeader {
  std::uint64_t first_key;
  std::uint16_t key_count;
  std::uint16_t upper_words;
  std::uint8_t low_bits;
  std::uint8_t shares_head;
  std::array<std::uint8_t, 2> reserved;
};
static_assert(sizeof(KeyBlockHeader) == 16);

/// The last bytes of a partition's payload.
struct PartitionFooter {
  std::uint64_t key_count;
  std::uint64_t block_count;
  std::uint64_t index_offset_bytes;
  std::uint64_t first_key;
  std::uint64_t last_key;
  std::uint16_t key_bytes;
  std::uint16_t codec;
  std::int32_t value_bytes;
  std::uint64_t reserved;
  std::uint64_t magic;
};
static_assert(sizeof(PartitionFooter) == 64);

/// The first bytes of a key run's payload; then the columns.
struct KeyRunHeader {
  std::uint64_t magic;
  std::uint64_t record_count;
  std::uint64_t first_sequence;
  std::uint32_t flags;
  std::int32_t value_bytes;
  std::uint16_t uniform_tag;
  std::uint16_t key_bits;
  std::uint16_t key_bytes;
  std::uint16_t reserved;
  std::uint64_t key_base;
};
static_assert(sizeof(KeyRunHeader) == 48);

/// The first bytes of an auxiliary run's payload; then the columns.
struct AuxRunHeader {
  std::uint64_t magic;
  std::uint64_t record_count;
  std::uint32_t flags;
  std::uint32_t uniform_length_bytes;
  std::uint16_t codec;
  std::array<std::uint16_t, 3> reserved;
};
static_assert(sizeof(AuxRunHeader) == 32);

/// The first bytes of a result run's payload; then the columns.
struct ResultRunHeader {
  std::uint64_t magic;
  std::uint64_t record_count;
  std::int32_t value_bytes;
  std::uint16_t key_bytes;
  std::uint16_t reserved;
};
static_assert(sizeof(ResultRunHeader) == 24);

/// Begins every block of a link run; then selectors and data.
struct LinkBlockHeader {
  std::uint64_t first_page;
  std::uint32_t row_count;
  std::uint32_t link_count;
  std::uint32_t data_bytes;
  std::uint16_t codec;
  std::uint16_t flags;
};
static_assert(sizeof(LinkBlockHeader) == 24);

/// One block in the index of a link run.
struct LinkIndexEntry {
  std::uint64_t first_page;
  std::uint64_t offset_bytes;
};
static_assert(sizeof(LinkIndexEntry) == 16);

/// The last bytes of a link run's payload.
struct LinkRunFooter {
  std::uint64_t row_count;
  std::uint64_t link_count;
  std::uint64_t block_count;
  std::uint64_t index_offset_bytes;
  std::uint64_t first_page;
  std::uint64_t last_page;
  std::uint64_t target_max;
  std::uint16_t codec;
  std::array<std::uint16_t, 3> reserved;
  std::uint64_t magic;
};
static_assert(sizeof(LinkRunFooter) == 72);

/// The first bytes of an event run's payload; then messages of crawl_event.capnp.
struct EventRunHeader {
  std::uint64_t magic;
  std::uint64_t record_count;
  std::uint64_t reserved;
};
static_assert(sizeof(EventRunHeader) == 24);

/// Begins every block of an origin run; then distances, depths, and the URLs.
struct OriginBlockHeader {
  std::uint32_t raw_bytes;
  std::uint32_t stored_bytes;
  std::uint16_t page_count;
  std::uint8_t linked_from_bytes;
  std::uint8_t depth_bytes;
  std::uint8_t length_bytes;
  std::array<std::uint8_t, 3> reserved;
};
static_assert(sizeof(OriginBlockHeader) == 16);

/// The last bytes of an origin run's payload.
struct OriginFooter {
  std::uint64_t first_page;
  std::uint64_t page_count;
  std::uint64_t block_count;
  std::uint64_t url_bytes;
  std::uint64_t index_offset_bytes;
  std::uint32_t dictionary_bytes;
  std::uint16_t codec;
  std::uint8_t entry_page_bytes;
  std::uint8_t entry_offset_bytes;
  std::uint64_t reserved;
  std::uint64_t magic;
  bool operator==(const OriginFooter&) const = default;
};
static_assert(sizeof(OriginFooter) == 64);

/// The first bytes of a tile node's payload; then the children.
struct TileNodeHeader {
  std::uint64_t magic;
  std::uint64_t record_count;
  std::uint16_t level;
  std::uint16_t child_count;
  std::array<std::uint8_t, 4> reserved;
};
static_assert(sizeof(TileNodeHeader) == 24);

/// A tile, or a node of the level below: what Run is in a table of the directory.
struct TileChild {
  std::uint64_t offset_bytes;
  std::uint64_t born;
  std::uint64_t run_id;
  std::uint64_t payload_bytes;
  std::uint64_t record_count;
  std::uint64_t checksum;
};
static_assert(sizeof(TileChild) == 48);

/// The form in which a column of a record tile stores its numbers: each is `base` plus
/// `width_bytes` bytes.
struct RecordColumn {
  std::uint64_t base;
  std::uint8_t width_bytes;
  std::array<std::uint8_t, 7> reserved;
};
static_assert(sizeof(RecordColumn) == 16);

/// The first bytes of a record tile's payload; then the columns, then the content hashes.
struct RecordTileHeader {
  std::uint64_t magic;
  std::uint32_t page_count;
  std::uint32_t hash_bytes;
  std::array<RecordColumn, 9> columns;
};
static_assert(sizeof(RecordTileHeader) == 160);

/// The last bytes of a score array's payload. Numbers of IEEE 754 stand here as their bits.
struct ScoreFooter {
  std::uint64_t entry_count;
  std::uint64_t page_count;
  std::uint64_t link_count;
  std::uint64_t superstep_count;
  std::uint64_t generation;
  std::int64_t time_us;
  std::uint64_t damping;
  std::uint64_t precision;
  std::uint64_t residual;
  std::uint64_t sum;
  std::uint32_t iteration_count;
  std::uint16_t scorer;
  std::uint16_t subject;
  std::uint16_t codec;
  std::uint16_t flags;
  std::array<std::uint16_t, 2> reserved;
  std::uint64_t magic;
};
static_assert(sizeof(ScoreFooter) == 104 && offsetof(ScoreFooter, damping) == 48 &&
              offsetof(ScoreFooter, iteration_count) == 80 && offsetof(ScoreFooter, magic) == 96);

/// The first bytes of the table of a queue; then its runs, then the ids of its runs of changes.
struct QueueTableHeader {
  std::uint64_t magic;
  std::uint64_t entries;
  std::uint64_t entry_count;
  std::uint64_t page_count;
  std::uint32_t run_count;
  std::uint32_t change_run_count;
};
static_assert(sizeof(QueueTableHeader) == 40);

/// A run of a queue, and what of it has left.
struct QueueRunCut {
  std::uint64_t run_id;
  std::uint64_t cut_order;
  std::uint64_t cut_page;
};
static_assert(sizeof(QueueRunCut) == 24);

/// A fragment in the index of a queue run.
struct QueueFragment {
  std::uint64_t lowest_order;
  std::uint64_t lowest_page;
  std::uint64_t first_page;
  std::uint32_t entry_count;
  std::uint8_t order_shift;
  std::uint8_t order_bytes;
  std::uint8_t page_bytes;
  std::uint8_t reserved;
};
static_assert(sizeof(QueueFragment) == 32 && offsetof(QueueFragment, entry_count) == 24);

/// The last bytes of a queue run.
struct QueueRunFooter {
  std::uint64_t entry_count;
  std::uint64_t highest_order;
  std::uint64_t highest_page;
  std::uint32_t fragment_count;
  std::uint32_t reserved;
  std::uint64_t magic;
};
static_assert(sizeof(QueueRunFooter) == 40 && offsetof(QueueRunFooter, magic) == 32);

/// The first bytes of values; then the lengths of all, then names and bytes.
struct ValuesHeader {
  std::uint64_t magic;
  std::uint32_t value_count;
  std::uint32_t reserved;
};
static_assert(sizeof(ValuesHeader) == 16);

/// The lengths of a small value.
struct ValueLengths {
  std::uint16_t name_bytes;
  std::uint16_t value_bytes;
};
static_assert(sizeof(ValueLengths) == 4);

template <class... T>
inline constexpr bool kNoPadding = (std::has_unique_object_representations_v<T> && ...);
static_assert(
    kNoPadding<Identity, Superblock, RootEnd, RunEnd, KeyBlockHeader, PartitionFooter, KeyRunHeader,
               AuxRunHeader, ResultRunHeader, LinkBlockHeader, LinkIndexEntry, LinkRunFooter,
               EventRunHeader, OriginBlockHeader, OriginFooter, TileNodeHeader, TileChild,
               RecordColumn, RecordTileHeader, ScoreFooter, QueueTableHeader, QueueRunCut,
               QueueFragment, QueueRunFooter, ValuesHeader, ValueLengths>);

}  // namespace crawlstore::format
