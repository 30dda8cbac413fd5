// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The oracle of DRUM: a std::map to which requests are applied one by one, as they arrive.
///
/// The answers do not depend on when merges happen: operations on one key take effect in arrival
/// order. So the model knows each answer when the request is submitted, and keeps it until it is
/// told. In which order answers come does depend on merges: DispatchOrder checks that.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum_core.h>

namespace crawlstore::testing {

inline std::string string_of(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text.push_back(static_cast<char>(byte));
  return text;
}

struct ModelRequest {
  DrumOperation operation{};
  ConsumerId consumer;
  std::uint64_t key = 0;
  std::string value;
  std::string aux;
};

inline RawRequest raw(const ModelRequest& request) {
  return {request.operation, request.consumer, request.key, std::as_bytes(std::span(request.value)),
          std::as_bytes(std::span(request.aux))};
}

struct ModelAnswer {
  ModelRequest request;
  bool duplicate = false;
  std::string value;
  std::uint64_t arrival = 0;
};

class DrumModel {
 public:
  /// Takes a request; its answer is now due.
  void submit(const ModelRequest& request) {
    ModelAnswer answer{request, false, request.value, arrivals_++};
    const auto stored = map_.find(request.key);
    const bool present = stored != map_.end();
    answer.duplicate = present && request.operation != DrumOperation::kUpdate;
    if (request.operation == DrumOperation::kCheck) {
      answer.value = present ? stored->second : std::string{};
    } else {
      map_.insert_or_assign(request.key, request.value);
    }
    due_[{request.consumer, request.key}].push_back(std::move(answer));
    ++due_count_;
  }

  /// Checks an answer against the oldest one that is due for its consumer and key. Returns the
  /// arrival number of the request, or nothing after a failure.
  std::optional<std::uint64_t> told(const RawAnswer& given) {
    auto& due = due_[{given.consumer, given.key}];
    if (due.empty()) {
      ADD_FAILURE() << "an answer that nobody asked for, key " << given.key;
      return {};
    }
    const ModelAnswer wanted = std::move(due.front());
    due.pop_front();
    --due_count_;
    EXPECT_EQ(given.operation, wanted.request.operation) << "key " << given.key;
    EXPECT_EQ(given.duplicate, wanted.duplicate) << "key " << given.key;
    EXPECT_EQ(string_of(given.value), wanted.value) << "key " << given.key;
    EXPECT_EQ(string_of(given.aux), wanted.request.aux) << "key " << given.key;
    return wanted.arrival;
  }

  [[nodiscard]] const std::map<std::uint64_t, std::string>& map() const { return map_; }
  [[nodiscard]] std::uint64_t due_count() const { return due_count_; }
  [[nodiscard]] std::uint64_t arrivals() const { return arrivals_; }

 private:
  std::map<std::uint64_t, std::string> map_;
  std::map<std::pair<ConsumerId, std::uint64_t>, std::deque<ModelAnswer>> due_;
  std::uint64_t arrivals_ = 0;
  std::uint64_t due_count_ = 0;
};

/// The order of the answers of one merge, and the sequence numbers of all merges.
class DispatchOrder {
 public:
  /// A merge begins; buckets begin at these keys, and are gone through from the first to the last.
  /// Where merges from memory were under way: up to `again` times more, and some may split between.
  void begin(std::vector<std::uint64_t> first_keys, std::uint64_t arrivals, std::uint64_t again,
             bool may_split_between) {
    may_split_between_ = may_split_between;
    first_keys_ = std::move(first_keys);
    arrivals_ = arrivals;
    again_ = again;
    last_bucket_ = 0;
    last_.clear();
  }

  void told(const RawAnswer& given, std::uint64_t arrival) {
    const auto after = std::upper_bound(first_keys_.begin(), first_keys_.end(), given.key);
    const auto bucket = static_cast<std::size_t>(after - first_keys_.begin());
    EXPECT_LT(arrival, arrivals_) << "a request of the next batch was answered";
    if (bucket < last_bucket_ && again_ != 0) {
      --again_;
    } else {
      EXPECT_GE(bucket, last_bucket_) << "buckets are not ascending";
    }
    if (const auto last = last_.find(bucket); last != last_.end() && !may_split_between_) {
      EXPECT_LT(last->second.first, arrival) << "not in arrival order inside a bucket";
      EXPECT_LT(last->second.second, given.sequence) << "sequences do not ascend inside a bucket";
    }
    last_bucket_ = bucket;
    last_.insert_or_assign(bucket, std::pair(arrival, given.sequence));
    number(arrival, given.sequence);
  }

  /// A request keeps its sequence for ever, and no other request gets it.
  void number(std::uint64_t arrival, std::uint64_t sequence) {
    const auto [known, is_new] = sequences_.emplace(arrival, sequence);
    EXPECT_EQ(known->second, sequence) << "a request has two sequences";
    EXPECT_TRUE(!is_new || used_.insert(sequence).second) << "a sequence was used again";
  }

 private:
  std::vector<std::uint64_t> first_keys_{0};
  std::uint64_t arrivals_ = ~std::uint64_t{0};
  std::uint64_t again_ = 0;
  bool may_split_between_ = false;
  std::size_t last_bucket_ = 0;
  std::map<std::size_t, std::pair<std::uint64_t, std::uint64_t>> last_;
  std::map<std::uint64_t, std::uint64_t> sequences_;
  std::set<std::uint64_t> used_;
};

}  // namespace crawlstore::testing
