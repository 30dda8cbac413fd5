// SPDX-License-Identifier: Apache-2.0
// Pages as an Arrow C stream: schemas, batches, nulls, and what is released when.
#include <errno.h>

#include "check.h"

static crwl_view* view_of(const char* folder, const char* name) {
  char path[256];
  crwl_view* view = NULL;
  OK(crwl_view_open(path_in(folder, name, path), NULL, &view, &error));
  return view;
}

/// Two pages: one that was fetched, and one that it links to.
static crwl_view* two_pages(const char* folder, const char* name) {
  crwl_store* store = new_store(folder, name);
  crwl_pages* pages = NULL;
  const uint64_t end = 15;
  const crwl_event event = {.struct_size = sizeof event,
                            .url = "http://a.test/",
                            .url_bytes = 14,
                            .time_us = 5000000,
                            .http_status = 200,
                            .score = 0.5,
                            .links = {.bytes = "http://bb.test/", .ends = &end, .count = 1}};
  OK(crwl_pages_open(store, NULL, NULL, &pages, &error));
  OK(crwl_pages_add(pages, &event, &error));
  OK(crwl_pages_merge(pages, NULL, NULL, &error));
  crwl_pages_free(pages);
  crwl_store_free(store);
  return view_of(folder, name);
}

static void expect_field(const struct ArrowSchema* field, const char* name, const char* format,
                         int64_t flags) {
  CHECK(strcmp(field->name, name) == 0 && strcmp(field->format, format) == 0);
  CHECK(field->flags == flags && field->n_children == 0 && field->release != NULL);
  CHECK(field->dictionary == NULL && field->metadata == NULL);
}

static void says_what_columns_it_has(const char* folder) {
  static const struct {
    const char* name;
    const char* format;
    int64_t flags;
  } fields[] = {{"index", "L", 0},
                {"url", "Z", 0},
                {"state", "C", 0},
                {"http_status", "S", 0},
                {"depth", "I", 0},
                {"linked_from", "L", ARROW_FLAG_NULLABLE},
                {"crawl_count", "I", 0},
                {"change_count", "I", 0},
                {"failure_count", "I", 0},
                {"first_crawl", "tsu:UTC", ARROW_FLAG_NULLABLE},
                {"last_crawl", "tsu:UTC", ARROW_FLAG_NULLABLE},
                {"score", "f", 0}};
  enum { kFields = sizeof fields / sizeof fields[0] };
  crwl_view* view = two_pages(folder, "arrow_schema.crawl");
  for (uint32_t columns = 0; columns < 1U << kFields; columns = columns ? columns * 2 : 1) {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    OK(crwl_view_arrow(view, columns, &stream, &error));
    CHECK(stream.get_schema(&stream, &schema) == 0 && stream.get_last_error(&stream) == NULL);
    stream.release(&stream);
    CHECK(stream.release == NULL && strcmp(schema.format, "+s") == 0);
    CHECK(schema.n_children == (columns == 0 ? kFields : 1));
    for (int i = 0, next = 0; i < kFields; ++i) {
      if (columns != 0 && columns >> i != 1) continue;
      expect_field(schema.children[next++], fields[i].name, fields[i].format, fields[i].flags);
    }
    schema.release(&schema);
    CHECK(schema.release == NULL);
  }
  crwl_view_free(view);
}

/// The values of a column, after a check of its shape.
static const void* column_of(const struct ArrowArray* batch, int i, int64_t null_count) {
  const struct ArrowArray* column = batch->children[i];
  CHECK(column->length == batch->length && column->offset == 0 && column->n_buffers == 2);
  CHECK(column->null_count == null_count && (column->buffers[0] != NULL) == (null_count != 0));
  return column->buffers[1];
}

static void gives_the_pages_of_its_generation(const char* folder) {
  crwl_view* view = two_pages(folder, "arrow_pages.crawl");
  struct ArrowArrayStream stream;
  OK(crwl_view_arrow(view, 0, &stream, &error));
  crwl_view_free(view);
  struct ArrowArray batch;
  CHECK(stream.get_next(&stream, &batch) == 0 && batch.release != NULL);
  CHECK(batch.length == 2 && batch.n_buffers == 1 && batch.buffers[0] == NULL);
  CHECK(memcmp(column_of(&batch, 0, 0), (const uint64_t[]){0, 1}, 16) == 0);
  CHECK(memcmp(column_of(&batch, 2, 0), (const uint8_t[]){1, 0}, 2) == 0);
  CHECK(memcmp(column_of(&batch, 3, 0), (const uint16_t[]){200, 0}, 4) == 0);
  CHECK(memcmp(column_of(&batch, 4, 0), (const uint32_t[]){0, 1}, 8) == 0);
  CHECK(((const uint64_t*)column_of(&batch, 5, 1))[1] == 0);
  CHECK(*(const uint8_t*)batch.children[5]->buffers[0] == 2);
  CHECK(memcmp(column_of(&batch, 6, 0), (const uint32_t[]){1, 0}, 8) == 0);
  CHECK(memcmp(column_of(&batch, 7, 0), (const uint32_t[]){0, 0}, 8) == 0);
  CHECK(memcmp(column_of(&batch, 8, 0), (const uint32_t[]){0, 0}, 8) == 0);
  for (int i = 9; i <= 10; ++i) {
    CHECK(*(const int64_t*)column_of(&batch, i, 1) == 5000000);
    CHECK(*(const uint8_t*)batch.children[i]->buffers[0] == 1);
  }
  CHECK(*(const float*)column_of(&batch, 11, 0) == 0.5F);

  // A column that is moved out outlives its batch, and the batch its stream.
  struct ArrowArray urls = *batch.children[1];
  batch.children[1]->release = NULL;
  struct ArrowArray end;
  CHECK(stream.get_next(&stream, &end) == 0 && end.release == NULL);
  CHECK(stream.get_next(&stream, &end) == 0 && end.release == NULL);
  stream.release(&stream);
  batch.release(&batch);
  CHECK(batch.release == NULL && urls.n_buffers == 3 && urls.buffers[0] == NULL);
  CHECK(memcmp(urls.buffers[1], (const int64_t[]){0, 14, 29}, 24) == 0);
  CHECK(memcmp(urls.buffers[2], "http://a.test/http://bb.test/", 29) == 0);
  urls.release(&urls);
}

static void gives_batches_of_a_fixed_length(const char* folder) {
  enum { kPages = CRWL_ARROW_ROW_COUNT + 9 };
  crwl_store* store = new_store(folder, "arrow_batches.crawl");
  const crwl_pages_options options = {.struct_size = sizeof options, .without_urls = 1};
  const crwl_event last = {.struct_size = sizeof last, .index = kPages - 1, .time_us = 1};
  crwl_pages* pages = NULL;
  OK(crwl_pages_open(store, NULL, &options, &pages, &error));
  OK(crwl_pages_add(pages, &last, &error));
  OK(crwl_pages_merge(pages, NULL, NULL, &error));
  crwl_pages_free(pages);
  crwl_store_free(store);
  crwl_view* view = view_of(folder, "arrow_batches.crawl");
  struct ArrowArrayStream stream;
  const uint32_t columns = CRWL_COLUMN_INDEX | CRWL_COLUMN_URL | CRWL_COLUMN_LAST_CRAWL;
  OK(crwl_view_arrow(view, columns, &stream, &error));
  crwl_view_free(view);
  const int64_t lengths[] = {CRWL_ARROW_ROW_COUNT, 9};
  for (int i = 0; i < 2; ++i) {
    struct ArrowArray batch;
    CHECK(stream.get_next(&stream, &batch) == 0 && batch.length == lengths[i]);
    const uint64_t* indexes = column_of(&batch, 0, 0);
    const uint64_t first = i == 0 ? 0 : CRWL_ARROW_ROW_COUNT;
    CHECK(indexes[0] == first && indexes[lengths[i] - 1] == first + (uint64_t)lengths[i] - 1);
    CHECK(((const int64_t*)batch.children[1]->buffers[1])[lengths[i]] == 0);
    CHECK(batch.children[1]->buffers[2] != NULL);
    const uint8_t* is_crawled = batch.children[2]->buffers[0];
    CHECK(batch.children[2]->null_count == (i == 0 ? CRWL_ARROW_ROW_COUNT : 8));
    CHECK(is_crawled[0] == 0 && (i == 0 || is_crawled[1] == 1));
    batch.release(&batch);
  }
  stream.release(&stream);
}

static void says_what_is_damaged(const char* folder) {
  char path[256];
  crwl_view* view = two_pages(folder, "arrow_damage.crawl");
  struct ArrowArrayStream stream;
  OK(crwl_view_arrow(view, 0, &stream, &error));
  crwl_view_free(view);
  FILE* file = fopen(path_in(folder, "arrow_damage.crawl", path), "r+b");
  CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
  const long size = ftell(file);
  CHECK(size > 8192 && fseek(file, 8192, SEEK_SET) == 0);
  for (long i = 8192; i < size; ++i) fputc(0xAA, file);
  CHECK(fclose(file) == 0);
  struct ArrowArray batch;
  CHECK(stream.get_next(&stream, &batch) == EIO);
  CHECK(strlen(stream.get_last_error(&stream)) > 10);
  stream.release(&stream);
}

static void refuses_columns_that_there_are_not(const char* folder) {
  crwl_view* view = two_pages(folder, "arrow_refusals.crawl");
  struct ArrowArrayStream stream;
  memset(&stream, 7, sizeof stream);
  REFUSES(crwl_view_arrow(view, 4096 | CRWL_COLUMN_URL, &stream, NULL));
  CHECK(stream.release == NULL);
  REFUSES(crwl_view_arrow(NULL, 0, &stream, NULL));
  REFUSES(crwl_view_arrow(view, 0, NULL, NULL));
  crwl_view_free(view);
}

void test_arrow(const char* folder) {
  says_what_columns_it_has(folder);
  gives_the_pages_of_its_generation(folder);
  gives_batches_of_a_fixed_length(folder);
  says_what_is_damaged(folder);
  refuses_columns_that_there_are_not(folder);
}
