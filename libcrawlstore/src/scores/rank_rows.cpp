// SPDX-License-Identifier: Apache-2.0
#include "scores/rank_rows.h"

#include <utility>

namespace crawlstore::scores {
namespace {

class StreamRows final : public Rows {
 public:
  explicit StreamRows(links::CombinedRows stream) : stream_(std::move(stream)) {}

  Result<bool> next() override {
    CRAWLSTORE_TRY(const bool has_row, stream_.next());
    if (has_row) {
      page_ = stream_.page();
      links_ = stream_.links();
    }
    return has_row;
  }

 private:
  links::CombinedRows stream_;
};

}  // namespace

Result<std::unique_ptr<Rows>> OutRows::open(std::uint64_t first_page) const {
  CRAWLSTORE_TRY(auto stream, view_.out_rows(first_page));
  return std::make_unique<StreamRows>(std::move(stream));
}

Result<std::unique_ptr<Rows>> InRows::open(std::uint64_t first_page) const {
  CRAWLSTORE_TRY(auto stream, view_.in_rows(first_page));
  return std::make_unique<StreamRows>(std::move(stream));
}

}  // namespace crawlstore::scores
