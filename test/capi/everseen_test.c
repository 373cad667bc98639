/* Uses the C interface like a C program. usage: everseen_c_test [REDIS-URL] */
#include "everseen.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                                   \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      fprintf(stderr, "%s:%d: not true: %s (last error: %s)\n", __FILE__, __LINE__, #condition,            \
              everseen_last_error());                                                                      \
      ++failures;                                                                                          \
    }                                                                                                      \
  } while (0)

enum { many = 200000 };

static void adds_and_checks_in_every_layout(const char* url) {
  everseen_filter* f = NULL;
  everseen_options options = EVERSEEN_OPTIONS_INIT;
  options.capacity = many;
  CHECK(everseen_open_or_create(url, "layouts", &options, &f) == EVERSEEN_OK);
  if (f == NULL) return;

  const everseen_slice keys[3] = {{"a", 1}, {NULL, 0}, {"a", 1}};
  uint8_t verdicts[3];
  CHECK(everseen_check_slices(f, keys, 3, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_FRESH && verdicts[2] == EVERSEEN_FRESH);
  CHECK(everseen_add_slices(f, keys, 3, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_FRESH && verdicts[1] == EVERSEEN_FRESH && verdicts[2] == EVERSEEN_SEEN);

  const int32_t offsets32[4] = {0, 1, 1, 3};
  CHECK(everseen_check_offsets32(f, "abc", offsets32, 3, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_SEEN && verdicts[1] == EVERSEEN_SEEN && verdicts[2] == EVERSEEN_FRESH);
  CHECK(everseen_add_offsets32(f, "abc", offsets32, 3, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[2] == EVERSEEN_FRESH);
  const int64_t offsets64[3] = {1, 3, 4};
  CHECK(everseen_add_offsets64(f, "abcd", offsets64, 2, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_SEEN && verdicts[1] == EVERSEEN_FRESH);
  CHECK(everseen_check_offsets64(f, "abcd", offsets64, 2, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_SEEN && verdicts[1] == EVERSEEN_SEEN);
  CHECK(everseen_check_fixed(f, "bcda", 2, 2, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_SEEN && verdicts[1] == EVERSEEN_FRESH);

  uint32_t* numbers = malloc(many * sizeof *numbers);
  uint8_t* all = malloc(many);
  size_t seen = 0;
  for (uint32_t i = 0; i < many; ++i) numbers[i] = i;
  CHECK(everseen_add_fixed(f, numbers, sizeof *numbers, many, NULL, 0, all) == EVERSEEN_OK);
  for (size_t i = 0; i < many; ++i) seen += all[i] == EVERSEEN_SEEN;
  CHECK(seen <= 10);
  CHECK(everseen_check_fixed(f, numbers, sizeof *numbers, many, NULL, 0, all) == EVERSEEN_OK);
  for (size_t i = 0; i < many; ++i)
    if (all[i] != EVERSEEN_SEEN) {
      CHECK(!"an added key is seen");
      break;
    }
  free(numbers);
  free(all);

  char* json = NULL;
  CHECK(everseen_info(f, &json) == EVERSEEN_OK);
  CHECK(json != NULL && strstr(json, "\"name\":\"layouts\"") && strstr(json, "\"error_rate\":1e-06"));
  everseen_free(json);
  CHECK(everseen_sync(f) == EVERSEEN_OK);
  everseen_close(f);
}

static void keeps_filters_by_name(const char* url) {
  everseen_filter *f = NULL, *again = NULL;
  uint8_t verdict;
  const everseen_slice key = {"key", 3};
  CHECK(everseen_open(url, "named", &f) == EVERSEEN_NOT_FOUND && f == NULL);
  CHECK(strstr(everseen_last_error(), "named") != NULL);
  CHECK(everseen_create(url, "named", NULL, &f) == EVERSEEN_OK);
  CHECK(everseen_add_slices(f, &key, 1, NULL, 0, &verdict) == EVERSEEN_OK && verdict == EVERSEEN_FRESH);
  everseen_close(f);
  CHECK(everseen_create(url, "named", NULL, &again) == EVERSEEN_NAME_TAKEN && again == NULL);
  CHECK(everseen_open_to_read(url, "named", &again) == EVERSEEN_OK);
  CHECK(everseen_check_slices(again, &key, 1, NULL, 0, &verdict) == EVERSEEN_OK && verdict == EVERSEEN_SEEN);
  everseen_close(again);
  CHECK(everseen_open_or_create(url, "named", NULL, &again) == EVERSEEN_OK);
  CHECK(everseen_add_slices(again, &key, 1, NULL, 0, &verdict) == EVERSEEN_OK && verdict == EVERSEEN_SEEN);
  everseen_close(again);

  everseen_options options = EVERSEEN_OPTIONS_INIT;
  options.error_rate = 1e-6; /* as it was created; zero fields are not compared */
  CHECK(everseen_open_or_create(url, "named", &options, &again) == EVERSEEN_OK);
  everseen_close(again);
  options.capacity = 77;
  options.growth = EVERSEEN_REFUSE;
  CHECK(everseen_open_or_create(url, "named", &options, &again) == EVERSEEN_INVALID && again == NULL);
  CHECK(strstr(everseen_last_error(), "capacity 1000000 instead of 77") != NULL);
  CHECK(strstr(everseen_last_error(), "growth grow instead of refuse") != NULL);
  CHECK(everseen_drop(url, "named") == EVERSEEN_OK);
  CHECK(everseen_drop(url, "named") == EVERSEEN_NOT_FOUND);
  CHECK(strstr(everseen_last_error(), "everseen list") != NULL || strstr(everseen_last_error(), "did you mean") != NULL);
}

static void compares_what_is_asked_for_alone(const char* url) {
  const everseen_options has = {sizeof has, 0, 0, 24000, 24, EVERSEEN_REFUSE, EVERSEEN_SIPHASH, 0, 0};
  const everseen_options some = {sizeof some, 0, 0, 24000, 0, 0, 0, 0, 0};
  const everseen_options others = {sizeof others, 0, 0, 24000, 10, EVERSEEN_GROW, EVERSEEN_XXH3, 0, 0};
  everseen_filter* f = NULL;
  CHECK(everseen_create(url, "asked", &has, &f) == EVERSEEN_OK);
  everseen_close(f);
  CHECK(everseen_open_or_create(url, "asked", &some, &f) == EVERSEEN_OK);
  everseen_close(f);
  CHECK(everseen_open_or_create(url, "asked", &others, &f) == EVERSEEN_INVALID && f == NULL);
  CHECK(strstr(everseen_last_error(), "hash siphash instead of xxh3, growth refuse instead of grow, "
                                      "window 24000 ms in 24 slices instead of 24000 ms in 10 slices"));
}

static void integers_are_their_decimal_digits(const char* url) {
  everseen_filter* f = NULL;
  uint8_t verdicts[3];
  CHECK(everseen_create(url, "integers", NULL, &f) == EVERSEEN_OK);
  if (f == NULL) return;
  const int64_t signed_keys[3] = {INT64_MIN, -1, INT64_MAX};
  const uint64_t unsigned_keys[3] = {0, INT64_MAX, UINT64_MAX};
  const everseen_slice texts[5] = {
      {"-9223372036854775808", 20}, {"-1", 2}, {"9223372036854775807", 19}, {"0", 1}, {"18446744073709551615", 20}};
  CHECK(everseen_add_int64(f, signed_keys, 3, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_FRESH && verdicts[1] == EVERSEEN_FRESH && verdicts[2] == EVERSEEN_FRESH);
  CHECK(everseen_check_uint64(f, unsigned_keys, 3, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_FRESH && verdicts[1] == EVERSEEN_SEEN && verdicts[2] == EVERSEEN_FRESH);
  CHECK(everseen_add_uint64(f, unsigned_keys, 3, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_FRESH && verdicts[1] == EVERSEEN_SEEN && verdicts[2] == EVERSEEN_FRESH);
  uint8_t all[5];
  CHECK(everseen_check_slices(f, texts, 5, NULL, 0, all) == EVERSEEN_OK);
  for (int i = 0; i < 5; ++i) CHECK(all[i] == EVERSEEN_SEEN);
  CHECK(everseen_check_int64(f, NULL, 1, NULL, 0, verdicts) == EVERSEEN_INVALID);
  CHECK(everseen_add_uint64(f, NULL, 0, NULL, 0, NULL) == EVERSEEN_OK);

  int64_t* numbers = malloc(many * sizeof *numbers); /* more than are judged at a time */
  uint8_t* of_numbers = malloc(many);
  size_t seen = 0;
  for (int64_t i = 0; i < many; ++i) numbers[i] = 1000 + i % (many / 2);
  CHECK(everseen_add_int64(f, numbers, many, NULL, 0, of_numbers) == EVERSEEN_OK);
  for (size_t i = 0; i < many; ++i) seen += of_numbers[i] == EVERSEEN_SEEN;
  CHECK(seen >= many / 2 && seen <= many / 2 + 10);
  const everseen_slice both[2] = {{"1000", 4}, {"100999", 6}};
  CHECK(everseen_check_slices(f, both, 2, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_SEEN && verdicts[1] == EVERSEEN_SEEN);
  free(of_numbers);
  free(numbers);
  everseen_close(f);
}

typedef struct {
  char bytes[1 << 20];
  size_t length, read;
} memory_file;

static int write_to(void* context, const void* bytes, size_t length) {
  memory_file* file = context;
  if (length > sizeof file->bytes - file->length) return 1;
  memcpy(file->bytes + file->length, bytes, length);
  file->length += length;
  return 0;
}

static int64_t read_from(void* context, void* bytes, size_t length) {
  memory_file* file = context;
  const size_t rest = file->length - file->read, some = rest < length ? rest : length;
  memcpy(bytes, file->bytes + file->read, some);
  file->read += some;
  return (int64_t)some;
}

static int64_t read_fails(void* context, void* bytes, size_t length) {
  (void)context, (void)bytes;
  return length > 0 ? -1 : 0;
}

static void siblings_are_merged(const char* url) {
  everseen_filter *f = NULL, *part = NULL, *other = NULL;
  everseen_options options = EVERSEEN_OPTIONS_INIT;
  options.capacity = 1000;
  CHECK(everseen_create(url, "whole", &options, &f) == EVERSEEN_OK);
  CHECK(everseen_create_sibling(f, "mem:", "part", &part) == EVERSEEN_OK);
  CHECK(everseen_create("mem:", "other", &options, &other) == EVERSEEN_OK);
  if (f == NULL || part == NULL || other == NULL) return;
  const int64_t keys[2] = {1, 2};
  uint8_t verdicts[2];
  CHECK(everseen_add_int64(part, keys, 2, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(everseen_merge(f, part) == EVERSEEN_OK);
  CHECK(everseen_check_int64(f, keys, 2, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[1] == EVERSEEN_SEEN);
  CHECK(everseen_merge(part, f) == EVERSEEN_OK);
  CHECK(everseen_merge(part, other) == EVERSEEN_INVALID && strstr(everseen_last_error(), "secret seed") != NULL);
  CHECK(everseen_merge(part, NULL) == EVERSEEN_INVALID);
  everseen_close(other);
  CHECK(everseen_create_sibling(f, "mem:", NULL, &other) == EVERSEEN_INVALID && other == NULL);
  everseen_close(f);
  everseen_close(part);
}

static void filters_travel_as_bytes(const char* url) {
  everseen_filter *f = NULL, *copy = NULL;
  everseen_options options = EVERSEEN_OPTIONS_INIT;
  options.capacity = 1000;
  CHECK(everseen_create(url, "original", &options, &f) == EVERSEEN_OK);
  if (f == NULL) return;
  const int64_t keys[2] = {1, 2};
  uint8_t verdicts[2];
  CHECK(everseen_add_int64(f, keys, 2, NULL, 0, verdicts) == EVERSEEN_OK);
  memory_file* file = calloc(1, sizeof *file);
  CHECK(everseen_export(f, write_to, file) == EVERSEEN_OK && file->length > 0);
  everseen_close(f);

  const int is_shared = strncmp(url, "mem:", 4) != 0;
  file->bytes[file->length / 2] ^= 1;
  CHECK(everseen_import(url, "copy", read_from, file) == EVERSEEN_DAMAGED);
  file->bytes[file->length / 2] ^= 1;
  file->read = 0;
  file->length -= 1;
  CHECK(everseen_import(url, "copy", read_from, file) == EVERSEEN_DAMAGED);
  file->read = 0;
  file->length += 2;
  CHECK(everseen_import(url, "copy", read_from, file) == EVERSEEN_DAMAGED);
  file->read = 0;
  file->length -= 1;
  CHECK(everseen_import(url, "copy", read_fails, file) == EVERSEEN_STORAGE);
  if (is_shared) CHECK(everseen_open(url, "copy", &copy) == EVERSEEN_NOT_FOUND);
  CHECK(everseen_import(url, "copy", read_from, file) == EVERSEEN_OK);
  if (is_shared) {
    file->read = 0;
    CHECK(everseen_import(url, "copy", read_from, file) == EVERSEEN_NAME_TAKEN);
    CHECK(everseen_open(url, "copy", &copy) == EVERSEEN_OK);
    CHECK(everseen_check_int64(copy, keys, 2, NULL, 0, verdicts) == EVERSEEN_OK);
    CHECK(verdicts[0] == EVERSEEN_SEEN && verdicts[1] == EVERSEEN_SEEN);
    file->length = sizeof file->bytes;
    CHECK(everseen_export(copy, write_to, file) == EVERSEEN_STORAGE);
    everseen_close(copy);
  }
  CHECK(everseen_export(NULL, write_to, file) == EVERSEEN_INVALID);
  CHECK(everseen_import(url, "copy", NULL, file) == EVERSEEN_INVALID);
  free(file);
}

/* The offsets are invalid far after the first keys, none of which may be added then. */
static void checks_all_offsets_before_the_first_key(const char* url) {
  everseen_filter* f = NULL;
  int32_t* offsets = calloc(many + 1, sizeof *offsets);
  uint8_t* verdicts = malloc(many);
  CHECK(everseen_create(url, "offsets", NULL, &f) == EVERSEEN_OK);
  offsets[many - 1] = 1;
  CHECK(everseen_add_offsets32(f, "a", offsets, many, NULL, 0, verdicts) == EVERSEEN_INVALID);
  CHECK(strstr(everseen_last_error(), "the offsets of key 199999 are 1 and 0") != NULL);
  CHECK(verdicts[0] == EVERSEEN_UNKNOWN && verdicts[many - 1] == EVERSEEN_UNKNOWN);
  const everseen_slice empty = {NULL, 0};
  CHECK(everseen_add_slices(f, &empty, 1, NULL, 0, verdicts) == EVERSEEN_OK && verdicts[0] == EVERSEEN_FRESH);
  free(offsets);
  free(verdicts);
  everseen_close(f);
}

static void takes_names_of_any_bytes(const char* url) {
  const char* const name = "\"a\\\"\\x00\\n\"";
  everseen_filter* f = NULL;
  char* json = NULL;
  CHECK(everseen_create(url, name, NULL, &f) == EVERSEEN_OK);
  CHECK(everseen_info(f, &json) == EVERSEEN_OK);
  CHECK(json != NULL && strstr(json, "\"name\":\"\\\"a\\\\\\\"\\\\x00\\\\n\\\"\",") != NULL);
  everseen_free(json);
  everseen_close(f);
  CHECK(everseen_drop(url, name) == EVERSEEN_OK);
  CHECK(everseen_open(url, "\"a", &f) == EVERSEEN_INVALID);
  CHECK(everseen_create(url, "", NULL, &f) == EVERSEEN_INVALID);
}

static void forgets_keys_with_a_window(const char* url) {
  everseen_filter* f = NULL;
  everseen_options options = EVERSEEN_OPTIONS_INIT;
  options.window_ms = 60000;
  CHECK(everseen_create(url, "windowed", &options, &f) == EVERSEEN_OK);
  const everseen_slice keys[2] = {{"a", 1}, {"b", 1}};
  const int64_t now = 1700000000000, later = now + 120000, times[2] = {later, now};
  uint8_t verdicts[2];
  CHECK(everseen_add_slices(f, keys, 2, &now, 1, verdicts) == EVERSEEN_OK && verdicts[0] == EVERSEEN_FRESH);
  CHECK(everseen_check_slices(f, keys, 2, &now, 1, verdicts) == EVERSEEN_OK && verdicts[1] == EVERSEEN_SEEN);
  CHECK(everseen_add_slices(f, keys, 2, times, 2, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_FRESH && verdicts[1] == EVERSEEN_LATE);
  CHECK(everseen_add_slices(f, keys, 2, NULL, 0, verdicts) == EVERSEEN_OK && verdicts[0] == EVERSEEN_FRESH);
  everseen_close(f);
}

/* One wrong time, such as seconds * 1000 * 1000, must not close the window for everybody. */
static void refuses_times_far_ahead(const char* url) {
  everseen_filter* f = NULL;
  everseen_job* job = NULL;
  everseen_options options = EVERSEEN_OPTIONS_INIT;
  options.window_ms = 60000;
  CHECK(everseen_create(url, "ahead", &options, &f) == EVERSEEN_OK);
  const everseen_slice keys[2] = {{"a", 1}, {"b", 1}};
  const int64_t ahead[2] = {0, 1700000000000000};
  const uint64_t positions[2] = {1, 2};
  uint8_t verdicts[2];
  CHECK(everseen_add_slices(f, keys, 2, ahead, 2, verdicts) == EVERSEEN_INVALID);
  CHECK(strstr(everseen_last_error(), "1700000000000000 ms is too far ahead of the clock") != NULL);
  CHECK(verdicts[0] == EVERSEEN_UNKNOWN && verdicts[1] == EVERSEEN_UNKNOWN);
  CHECK(everseen_check_slices(f, keys, 2, ahead + 1, 1, verdicts) == EVERSEEN_INVALID);
  CHECK(everseen_open_job(f, "count", "", &job) == EVERSEEN_OK);
  CHECK(everseen_claim(job, "clicks/0", keys, positions, 2, ahead, 2, verdicts, NULL) == EVERSEEN_INVALID);
  CHECK(verdicts[0] == EVERSEEN_UNKNOWN);
  everseen_close_job(job);
  CHECK(everseen_add_slices(f, keys, 2, NULL, 0, verdicts) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_FRESH && verdicts[1] == EVERSEEN_FRESH);
  everseen_close(f);
}

static void says_what_is_wrong(const char* url) {
  everseen_filter* f = (everseen_filter*)&failures;
  everseen_options options = EVERSEEN_OPTIONS_INIT;
  CHECK(everseen_open("nowhere:", "f", &f) == EVERSEEN_INVALID && f == NULL);
  CHECK(everseen_open(NULL, "f", &f) == EVERSEEN_INVALID);
  CHECK(strcmp(everseen_last_error(), "url must not be null") == 0);
  CHECK(everseen_open(url, "f", NULL) == EVERSEEN_INVALID);
  options.error_rate = 2;
  CHECK(everseen_create(url, "f", &options, &f) == EVERSEEN_INVALID && strstr(everseen_last_error(), "rate"));
  options.error_rate = 0;
  options.growth = 7;
  CHECK(everseen_create(url, "f", &options, &f) == EVERSEEN_INVALID);
  options.growth = EVERSEEN_REFUSE;
  options.slices = 24;
  CHECK(everseen_create(url, "f", &options, &f) == EVERSEEN_INVALID && strstr(everseen_last_error(), "window"));
  options.slices = 0;
  options.size = 1;
  CHECK(everseen_create(url, "f", &options, &f) == EVERSEEN_INVALID);
  options.size = (size_t)-1;
  CHECK(everseen_create(url, "f", &options, &f) == EVERSEEN_INVALID);
  options.size = sizeof options;
  options.capacity = 100;
  CHECK(everseen_create(url, "small", &options, &f) == EVERSEEN_OK);

  uint32_t numbers[1000];
  uint8_t verdicts[1000];
  for (uint32_t i = 0; i < 1000; ++i) numbers[i] = i;
  CHECK(everseen_add_fixed(f, numbers, 4, 1000, NULL, 0, verdicts) == EVERSEEN_FULL);
  CHECK(verdicts[0] == EVERSEEN_FRESH && verdicts[999] == EVERSEEN_UNKNOWN);
  const int32_t descending[3] = {0, 2, 1};
  CHECK(everseen_check_offsets32(f, "ab", descending, 2, NULL, 0, verdicts) == EVERSEEN_INVALID);
  CHECK(verdicts[0] == EVERSEEN_UNKNOWN);
  const int64_t negative[2] = {-1, 1};
  CHECK(everseen_check_offsets64(f, "ab", negative, 1, NULL, 0, verdicts) == EVERSEEN_INVALID);
  const int64_t times[2] = {1, 2};
  CHECK(everseen_check_fixed(f, "abc", 1, 3, times, 2, verdicts) == EVERSEEN_INVALID);
  CHECK(everseen_add_slices(f, NULL, 1, NULL, 0, verdicts) == EVERSEEN_INVALID);
  CHECK(everseen_add_slices(f, NULL, 0, NULL, 0, NULL) == EVERSEEN_OK);
  CHECK(everseen_add_slices(NULL, NULL, 0, NULL, 0, NULL) == EVERSEEN_INVALID);
  everseen_close(f);
  everseen_close(NULL);
  everseen_free(NULL);
}

struct part {
  everseen_filter* filter;
  size_t fresh;
};

static void* add_all(void* argument) {
  struct part* mine = argument;
  for (uint32_t block = 0; block < 20; ++block) {
    uint32_t numbers[1000];
    uint8_t verdicts[1000];
    for (uint32_t i = 0; i < 1000; ++i) numbers[i] = block * 1000 + i;
    if (everseen_add_fixed(mine->filter, numbers, 4, 1000, NULL, 0, verdicts) != EVERSEEN_OK) return NULL;
    for (size_t i = 0; i < 1000; ++i) mine->fresh += verdicts[i] == EVERSEEN_FRESH;
  }
  return NULL;
}

static void gives_each_key_to_one_of_many_threads(const char* url) {
  struct part parts[4] = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
  everseen_filter* f = NULL;
  pthread_t threads[4];
  size_t fresh = 0;
  CHECK(everseen_create(url, "shared", NULL, &f) == EVERSEEN_OK);
  for (int i = 0; i < 4; ++i) {
    parts[i].filter = f;
    pthread_create(&threads[i], NULL, add_all, &parts[i]);
  }
  for (int i = 0; i < 4; ++i) {
    pthread_join(threads[i], NULL);
    fresh += parts[i].fresh;
  }
  CHECK(fresh <= 20000 && fresh >= 19990);
  everseen_close(f);
}

static void gives_events_of_a_job_their_verdicts_until_it_settles(const char* url) {
  everseen_filter* f = NULL;
  everseen_job *job = NULL, *again = NULL;
  const everseen_slice events[3] = {{"a", 1}, {"b", 1}, {"a", 1}};
  const uint64_t positions[3] = {1, 5, 6}, descending[3] = {6, 5, 1};
  const uint64_t last[1] = {UINT64_MAX - 1};
  uint8_t verdicts[3], before[3];
  uint64_t position = 1;
  CHECK(everseen_open_or_create(url, "jobs", NULL, &f) == EVERSEEN_OK);
  CHECK(everseen_open_job(f, "count", "counts clicks", &job) == EVERSEEN_OK);
  if (job == NULL) return;
  CHECK(everseen_settled(job, "clicks/0", &position) == EVERSEEN_OK && position == 0);
  CHECK(everseen_claim(job, "clicks/0", events, descending, 3, NULL, 0, verdicts, NULL) == EVERSEEN_INVALID);
  CHECK(everseen_claim(job, "clicks/0", events, last, 1, NULL, 0, verdicts, NULL) == EVERSEEN_INVALID);
  CHECK(everseen_claim(job, "clicks/0", events, positions, 3, NULL, 0, verdicts, before) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_FRESH && verdicts[1] == EVERSEEN_FRESH && verdicts[2] == EVERSEEN_SEEN);
  CHECK(before[0] == 0 && before[2] == 0);
  everseen_close_job(job); /* as if the process had crashed */

  CHECK(everseen_open_job(f, "count", NULL, &again) == EVERSEEN_OK);
  CHECK(everseen_claim(again, "clicks/0", events, positions, 3, NULL, 0, verdicts, before) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_FRESH && verdicts[1] == EVERSEEN_FRESH && verdicts[2] == EVERSEEN_SEEN);
  CHECK(before[0] == 1 && before[2] == 1);
  CHECK(everseen_settle(again, "clicks/0", UINT64_MAX) == EVERSEEN_INVALID);
  CHECK(everseen_settle(again, "clicks/0", 7) == EVERSEEN_OK);
  CHECK(everseen_settled(again, "clicks/0", &position) == EVERSEEN_OK && position == 7);
  const uint64_t later[3] = {7, 8, 9};
  CHECK(everseen_claim(again, "clicks/0", events, later, 3, NULL, 0, verdicts, before) == EVERSEEN_OK);
  CHECK(verdicts[0] == EVERSEEN_SEEN && before[0] == 0);
  CHECK(everseen_claim(again, "clicks/1", events, positions, 3, NULL, 0, verdicts, NULL) == EVERSEEN_OK);
  CHECK(verdicts[1] == EVERSEEN_SEEN);
  everseen_close_job(again);
  if (strcmp(url, "mem:") != 0) {
    everseen_filter* reader = NULL;
    CHECK(everseen_open_to_read(url, "jobs", &reader) == EVERSEEN_OK);
    CHECK(everseen_end_job(reader, "count") == EVERSEEN_INVALID);
    everseen_close(reader);
  }
  CHECK(everseen_end_job(f, "count") == EVERSEEN_OK);
  CHECK(everseen_end_job(f, "count") == EVERSEEN_INVALID);
  everseen_close_job(NULL);
  everseen_close(f);
}

int main(int count, char** words) {
  const char* url = count > 1 ? words[1] : "mem:";
  CHECK(strlen(everseen_version()) >= 5);
  CHECK(strcmp(everseen_last_error(), "") == 0);
  adds_and_checks_in_every_layout(url);
  if (strcmp(url, "mem:") != 0) keeps_filters_by_name(url);
  integers_are_their_decimal_digits(url);
  filters_travel_as_bytes(url);
  siblings_are_merged(url);
  checks_all_offsets_before_the_first_key(url);
  if (strcmp(url, "mem:") != 0) takes_names_of_any_bytes(url);
  if (strcmp(url, "mem:") != 0) compares_what_is_asked_for_alone(url);
  forgets_keys_with_a_window(url);
  refuses_times_far_ahead(url);
  says_what_is_wrong(url);
  gives_each_key_to_one_of_many_threads(url);
  gives_events_of_a_job_their_verdicts_until_it_settles(url);
  if (failures == 0) printf("all is as it should be, on %s\n", url);
  return failures == 0 ? 0 : 1;
}
