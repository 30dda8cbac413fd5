// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the reader of steps or makes it read outside of the payload;
//   - an error is kSegmentInvalid, with a place in the payload;
//   - bytes of a step lie in the payload;
//   - the steps of an accepted payload, written anew, give the same bytes: there is one payload for
//     one content.
//
// Input: a payload.

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "format/step_run.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

/// The key or the body of a step.
StepBytes bytes_in(const Step& step) {
  return std::visit(
      []<class S>(const S& each) -> StepBytes {
        if constexpr (requires { each.key; }) return each.key;
        if constexpr (std::is_same_v<S, UpdateStep>) {
          return each.body.value_or(StepBytes{});
        } else if constexpr (requires { each.body; }) {
          return each.body;
        }
        return {};
      },
      step);
}

/// Checks a payload, and gives it as it is made again from its steps.
Result<Bytes> made_again(const Bytes& payload) {
  CRAWLSTORE_TRY(auto reader, StepReader::open(payload));
  require(reader.step_count() <= payload.size());
  StepWriter writer(reader.run());
  Step step;
  for (;;) {
    CRAWLSTORE_TRY(const bool is_there, reader.next(step));
    if (!is_there) break;
    const StepBytes bytes = bytes_in(step);
    require(bytes.empty() || (bytes.data() > payload.data() &&
                              bytes.data() + bytes.size() <= payload.data() + payload.size()));
    writer.append(step);
  }
  require(writer.step_count() == reader.step_count());
  return writer.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const Bytes payload(bytes.begin(), bytes.end());
  const auto again = made_again(payload);
  if (again) {
    require(*again == payload);
  } else {
    require(again.error().code == Errc::kSegmentInvalid);
    require(payload.empty() || again.error().offset < payload.size());
  }
  return 0;
}
