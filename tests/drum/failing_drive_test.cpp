// SPDX-License-Identifier: Apache-2.0
//
// A drive that delivers zeros in the place of what the file holds: bytes whose checksum was right
// once are not looked at again, so nothing that was copied since may be published.
#include <gtest/gtest.h>

#include "drum/memory_store.h"
#include "support/lockless_storage.h"

namespace crawlstore::testing {
namespace {

class FailingDrive final : public LocklessStorage {
 public:
  FailingDrive(std::unique_ptr<Storage> inner, const std::optional<std::uint64_t>& fault)
      : LocklessStorage(std::move(inner)), fault_(fault) {}
  std::optional<std::uint64_t> first_fault() override { return fault_; }

 private:
  const std::optional<std::uint64_t>& fault_;
};

TEST(FailingDrive, EndsWhatIsWritten) {
  MemoryStore whole;
  must(whole->close());
  std::optional<std::uint64_t> fault;
  auto store = must(Store::open(
      std::make_unique<FailingDrive>(open_memory_storage(whole.file(), OpenMode::kWrite), fault)));
  auto drum = must(Drum<std::uint64_t>::open(store, "urls"));
  const Generation before = must(store.commit());
  fault = 12'288;
  must(drum.check(7));
  const auto failed = store.commit();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kIo);
  EXPECT_EQ(failed.error().offset, 12'288U);
  EXPECT_EQ(store.generation(), before);
  fault.reset();
  EXPECT_GT(must(store.commit()), before);
}

}  // namespace
}  // namespace crawlstore::testing
