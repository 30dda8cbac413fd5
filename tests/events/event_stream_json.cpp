// SPDX-License-Identifier: Apache-2.0
// event_stream_json read  < STREAM          prints the events of a stream
// event_stream_json write FILE SEED         writes a stream of random events, and prints them
// A line of JSON an event, as events.mjs prints it. Exit code 1: an error, which is printed.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <random>
#include <string>

#include <nlohmann/json.hpp>

#include <crawlstore/event_stream.h>

#include "format/crawl_event_samples.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::testing;

std::string digits_of(std::span<const std::byte> bytes) {
  std::string digits = hex_of(bytes);
  std::erase(digits, ' ');
  return digits;
}

std::string digits_of(std::string_view text) {
  return digits_of(std::as_bytes(std::span(text)));
}

void print(const CrawlEvent& event) {
  auto links = nlohmann::json::array();
  for (const EventLink& link : event.links) {
    links.push_back({{"url", digits_of(link.url)},
                     {"index", std::to_string(link.index)},
                     {"score", double{link.score}}});
  }
  const nlohmann::json line{
      {"kind", name_of(event.kind)},          {"url", digits_of(event.url)},
      {"index", std::to_string(event.index)}, {"timeUs", std::to_string(event.time_us)},
      {"score", double{event.score}},         {"contentHash", digits_of(event.content_hash)},
      {"httpStatus", event.http_status},      {"links", links}};
  std::cout << line.dump() << '\n';
}

int say(const Error& error) {
  std::cerr << describe(error) << '\n';
  return 1;
}

int read() {
  EventStreamReader reader(descriptor_source(0));
  auto batch = reader.next();
  for (; batch && *batch; batch = reader.next()) {
    for (const CrawlEvent& event : **batch) print(event);
  }
  return batch ? 0 : say(batch.error());
}

int write(const char* path, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  OwnedEvents events = sample_events();
  for (const OwnedEvent& event : random_events(random, 2000)) events.push_back(event);
  std::ofstream file(path, std::ios::binary);
  EventStreamWriter writer(
      [&file](std::span<const std::byte> bytes) -> Result<void> {
        for (const std::byte byte : bytes) file.put(static_cast<char>(byte));
        return {};
      },
      50'000);
  const EventViews views(events);
  for (const CrawlEvent& event : views.events()) {
    if (const auto added = writer.add(event); !added) return say(added.error());
    print(event);
  }
  const auto flushed = writer.flush();
  return flushed ? 0 : say(flushed.error());
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "read") return read();
  if (mode == "write" && argc == 4) return write(argv[2], std::strtoull(argv[3], nullptr, 10));
  return 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
