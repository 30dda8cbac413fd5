// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <crawlstore/queue.h>

#include "call.h"
#include "handles.h"

struct crwl_queue {
  std::shared_ptr<crawlstore::Store> store;
  crawlstore::Queue queue;
};

namespace crawlstore::c {

extern "C" {

int crwl_queue_open(crwl_store* store, const char* name, const crwl_queue_options* options,
                    crwl_queue** queue, crwl_error* error) {
  if (queue != nullptr) *queue = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(store, queue));
    CRAWLSTORE_TRY(const auto given, options_of(options));
    QueueOptions wanted;
    if (given.memory_bytes != 0) wanted.memory_bytes = given.memory_bytes;
    const auto queue_name = name_or(name, Queue::kDefaultName);
    CRAWLSTORE_TRY(auto opened, Queue::open(*store->store, queue_name, wanted));
    give_handle(queue, crwl_queue{store->store, std::move(opened)});
    return {};
  });
}

int crwl_queue_push(crwl_queue* queue, const std::uint64_t* pages, const double* priorities,
                    std::uint64_t count, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(queue));
    CRAWLSTORE_TRY(need_array(count, pages));
    std::vector<QueuedPage> pushed(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      pushed[i] = {pages[i], priorities == nullptr ? 0 : priorities[i]};
    }
    CRAWLSTORE_TRY(queue->queue.insert(pushed));
    return {};
  });
}

int crwl_queue_pop(crwl_queue* queue, std::uint64_t* pages, double* priorities,
                   std::uint64_t* count, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(queue, count));
    CRAWLSTORE_TRY(need_array(*count, pages));
    CRAWLSTORE_TRY(const auto taken, queue->queue.take(*count));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      pages[i] = taken[i].page;
      if (priorities != nullptr) priorities[i] = taken[i].priority;
    }
    *count = taken.size();
    return {};
  });
}

int crwl_queue_remove(crwl_queue* queue, const std::uint64_t* pages, std::uint64_t count,
                      std::uint64_t* removed, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(queue));
    CRAWLSTORE_TRY(need_array(count, pages));
    CRAWLSTORE_TRY(const auto gone, queue->queue.remove(std::span(pages, count)));
    if (removed != nullptr) *removed = gone;
    return {};
  });
}

int crwl_queue_get_count(const crwl_queue* queue, std::uint64_t* count, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(queue, count));
    CRAWLSTORE_TRY(need_open(queue->store));
    *count = queue->queue.count();
    return {};
  });
}

void crwl_queue_free(crwl_queue* queue) {
  free_handle(queue);
}

}  // extern "C"

}  // namespace crawlstore::c
