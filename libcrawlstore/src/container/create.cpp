// SPDX-License-Identifier: Apache-2.0
#include "container/create.h"

#include <cerrno>

#include <sys/random.h>

#include "base/clock.h"
#include "container/superblocks.h"
#include "format/directory.h"
#include "format/endian.h"
#include "format/layout.h"
#include "format/root_extent.h"

namespace crawlstore::container {

Result<format::Identity> make_identity(std::int64_t time_us) {
  std::array<std::byte, 24> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return fail_errno(errno, "the system gave no random bytes");
  }
  format::Identity identity{};
  std::copy_n(random.begin(), identity.uuid.size(), identity.uuid.begin());
  identity.uuid[6] = (identity.uuid[6] & std::byte{0x0F}) | std::byte{0x40};
  identity.uuid[8] = (identity.uuid[8] & std::byte{0x3F}) | std::byte{0x80};
  identity.key_seed = format::load<std::uint64_t>(random.data() + 16);
  identity.created_us = time_us;
  return format::seal_identity(identity);
}

Result<void> write_empty_store(Storage& storage, const format::Identity& identity,
                               std::int64_t time_us, std::uint64_t features) {
  const format::Identity sealed = format::seal_identity(identity);
  format::DirectoryRoot root;
  root.generation = {1};
  const auto payload = format::encode_root(root);

  format::Superblock superblock{};
  superblock.generation = 1;
  superblock.features_incompat = features;
  superblock.commit_time_us = time_us;
  superblock.high_water_bytes = format::kDataStart + format::root_extent_bytes(payload.size());
  superblock.root_offset_bytes = format::kDataStart;
  const auto bytes = format::seal_root(payload, sealed, superblock);

  CRAWLSTORE_TRY(storage.allocate({0, superblock.high_water_bytes}));
  CRAWLSTORE_TRY(storage.write(0, std::as_bytes(std::span<const format::Identity, 1>(&sealed, 1))));
  CRAWLSTORE_TRY(storage.write(format::kDataStart, bytes));
  for (std::uint32_t copy = 0; copy < 2; ++copy) {
    CRAWLSTORE_TRY(write_superblock(storage, superblock, sealed.uuid, slot_of(1), copy));
  }
  return {};
}

Result<void> write_new_store(Storage& storage, const CreateOptions& options,
                             std::uint64_t features) {
  const std::int64_t time_us = options.time_us.value_or(now_us());
  CRAWLSTORE_TRY(auto identity, make_identity(time_us));
  if (options.uuid) identity.uuid = *options.uuid;
  if (options.key_seed) identity.key_seed = *options.key_seed;
  return write_empty_store(storage, identity, time_us, features);
}

}  // namespace crawlstore::container
