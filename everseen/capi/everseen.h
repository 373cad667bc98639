/* everseen for C and for every language that can call C: has this key ever been seen?
 *
 * Compile with -leverseen. A program in ten lines:
 *
 *     everseen_filter* clicks;
 *     everseen_options options = EVERSEEN_OPTIONS_INIT;
 *     options.capacity = 10000000;
 *     if (everseen_open_or_create("redis://localhost", "clicks", &options, &clicks) != EVERSEEN_OK)
 *       return fprintf(stderr, "%s\n", everseen_last_error()), 1;
 *     everseen_slice keys[2] = {{"a", 1}, {"b", 1}};
 *     uint8_t verdicts[2];
 *     everseen_add_slices(clicks, keys, 2, NULL, 0, verdicts);   // EVERSEEN_FRESH, EVERSEEN_FRESH
 *     everseen_close(clicks);
 *
 * A key is any sequence of bytes, of any length, including zero. A pointer may be null if its count is 0.
 *
 * Errors: a function that can fail returns a status; everseen_last_error() has the message of the calling
 * thread's last failure. No C++ exception leaves the library. Running out of memory is EVERSEEN_NO_MEMORY,
 * or EVERSEEN_STORAGE if a filter in memory gets none for its bits.
 *
 * Threads: any number may use one filter concurrently; everseen_close() must come after all of them.
 *
 * fork(): a child must not use or even close its parent's filters; it must open its own. The library installs
 * no signal handlers. It has threads of its own only during calls.
 *
 * Cost: in memory 5 to 30 ns per key in batches of a few thousand keys, and about 100 ns for a single key; on
 * a Redis server, a batch costs at least one round trip, so pass many keys per call.
 *
 * Stability: within a SONAME, functions are only added, and structs only grow at their ends; `size` states
 * how much of a struct the caller knows.
 */
#ifndef EVERSEEN_EVERSEEN_H
#define EVERSEEN_EVERSEEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define EVERSEEN_API __attribute__((visibility("default")))
#else
#define EVERSEEN_API
#endif

/* ---- errors ---- */

typedef enum everseen_status {
  EVERSEEN_OK = 0,
  EVERSEEN_INVALID = 1,     /* a name, number or URL is invalid, or a filter can never take a key */
  EVERSEEN_NOT_FOUND = 2,   /* no filter has this name, or it has expired */
  EVERSEEN_NAME_TAKEN = 3,  /* a filter of this name exists */
  EVERSEEN_FULL = 4,        /* the filter was created without growth, and is full */
  EVERSEEN_STORAGE = 5,     /* a file cannot be read or written, or another process is writing to it */
  EVERSEEN_BACKEND = 6,     /* a server does not answer, or refuses */
  EVERSEEN_DAMAGED = 7,     /* stored or received bytes are damaged */
  EVERSEEN_NO_MEMORY = 8,
  EVERSEEN_INTERNAL = 9     /* a bug in everseen */
} everseen_status;

/* The message of this thread's last failed call: the problem and, in most cases, what to do; "" if no call
 * has failed. Valid until this thread's next call. */
EVERSEEN_API const char* everseen_last_error(void);

/* The version of the library, "1.2.3". */
EVERSEEN_API const char* everseen_version(void);

/* ---- filters ---- */

typedef struct everseen_filter everseen_filter;

/* The properties of a new filter. A field that is 0 has the default in parentheses. */
typedef struct everseen_options {
  size_t size;           /* sizeof(everseen_options) */
  uint64_t capacity;     /* expected number of different keys; with a window, within it (1,000,000) */
  double error_rate;     /* the share of new keys that may be called seen (1e-6) */
  uint64_t window_ms;    /* forget keys after this time; 0: never */
  uint32_t slices;       /* parts of the window; a key is forgotten up to one part later (10); needs a window */
  uint32_t growth;       /* an everseen_growth */
  uint32_t hash;         /* an everseen_hash */
  uint32_t judge;        /* an everseen_judge */
  uint64_t lifetime_ms;  /* the whole filter expires after this time, used or not; 0: never */
} everseen_options;
#define EVERSEEN_OPTIONS_INIT {sizeof(everseen_options), 0, 0.0, 0, 0, 0, 0, 0, 0}

typedef enum everseen_growth {
  EVERSEEN_GROWTH_DEFAULT = 0, /* EVERSEEN_GROW */
  EVERSEEN_GROW = 1,           /* when the capacity is reached, grow and keep the error rate */
  EVERSEEN_REFUSE = 2,         /* refuse further keys: EVERSEEN_FULL */
  EVERSEEN_OVERFILL = 3        /* accept them with more errors */
} everseen_growth;

typedef enum everseen_hash {
  EVERSEEN_HASH_DEFAULT = 0, /* EVERSEEN_XXH3; of 64 bits where clients judge */
  EVERSEEN_XXH3 = 1,
  EVERSEEN_SIPHASH = 2       /* for keys from untrusted sources, which may attack the hash */
} everseen_hash;

typedef enum everseen_judge {
  EVERSEEN_JUDGE_DEFAULT = 0, /* on Redis: the servers if all of them have the module, else the clients */
  EVERSEEN_JUDGE_SERVER = 1,  /* with the module alone */
  EVERSEEN_JUDGE_CLIENT = 2   /* each process holds the bits, and the server the order of keys */
} everseen_judge;

/* Opens a filter to add and check keys.
 *
 * url: the store: "mem:" (this process alone, a new store for each call), "file:DIRECTORY",
 * "redis://HOST:PORT", "redis://HOST1:PORT,HOST2:PORT", "redis+cluster://HOST:PORT", "unix:/PATH", TLS as
 * "rediss:", "everseen://HOST:PORT" or "everseen+unix:/PATH" (a running everseen serve), TLS as "everseens:";
 * README, doc/redis.md and doc/operations.md have the options.
 * Errors: EVERSEEN_NOT_FOUND, EVERSEEN_INVALID, EVERSEEN_STORAGE, EVERSEEN_BACKEND, EVERSEEN_DAMAGED. On
 * failure *filter is null.
 *
 * name: 1 to 1024 bytes. If the text begins with a double quote, it must also end with one, and \n, \r, \t,
 * \", \\ and \xHH between them are escapes; in this form a name may contain a zero byte. The same applies to
 * names of jobs. */
EVERSEEN_API everseen_status everseen_open(const char* url, const char* name, everseen_filter** filter);

/* The same, for checks only. A filter in files may have any number of such readers besides its one writer. */
EVERSEEN_API everseen_status everseen_open_to_read(const char* url, const char* name, everseen_filter** filter);

/* Creates a filter. options: null for all defaults.
 * Errors: EVERSEEN_NAME_TAKEN, and as everseen_open(). */
EVERSEEN_API everseen_status everseen_create(const char* url, const char* name, const everseen_options* options,
                                             everseen_filter** filter);

/* Opens the filter of this name, or creates it. Processes that call this concurrently all get the same
 * filter. If it exists, every option that is not 0 must equal the one that it was created with; otherwise the
 * call returns EVERSEEN_INVALID, and the message names each difference. `judge` and `lifetime_ms` apply only
 * to a new filter and are not compared. */
EVERSEEN_API everseen_status everseen_open_or_create(const char* url, const char* name,
                                                     const everseen_options* options, everseen_filter** filter);

/* Creates a sibling of a filter, empty, in any store: it has the same properties and the same secret seed, so
 * the two can be merged. Workers can each fill a sibling in memory, without a network, and export it.
 * Errors: EVERSEEN_INVALID if the filter belongs to another program, or the server of it does not show the
 * seed to this user; and as everseen_create(). */
EVERSEEN_API everseen_status everseen_create_sibling(const everseen_filter* filter, const char* url,
                                                     const char* name, everseen_filter** sibling);

/* Adds all keys of a sibling to a filter: afterwards every key of both is EVERSEEN_SEEN. The sibling does not
 * change. Merging again adds what an interrupted call has left out, and what the sibling has got since.
 * Errors: EVERSEEN_INVALID if they are no siblings, the sibling asks an older filter first, or the filter was
 * opened for reading; EVERSEEN_FULL if together they have more keys than the
 * error rate allows: in these cases nothing was added. EVERSEEN_STORAGE, EVERSEEN_BACKEND. */
EVERSEEN_API everseen_status everseen_merge(everseen_filter* filter, const everseen_filter* sibling);

/* Closes a filter; null: does nothing. The filter stays in its store. */
EVERSEEN_API void everseen_close(everseen_filter* filter);

/* Removes a filter and all its keys. Errors: EVERSEEN_NOT_FOUND, and as everseen_open(). */
EVERSEEN_API everseen_status everseen_drop(const char* url, const char* name);

/* Returns once everything acknowledged so far survives a power loss. Does nothing for a filter on Redis,
 * where the server's configuration decides.
 * Errors: EVERSEEN_STORAGE, EVERSEEN_BACKEND; acknowledged keys may then be lost at a power loss. */
EVERSEEN_API everseen_status everseen_sync(everseen_filter* filter);

/* The properties and the fill of a filter as a JSON object: name, capacity, error_rate, keys, bytes,
 * error_rate_now, expected_false_seen, layers, segments, partitions, window_ms (0: none). doc/operations.md,
 * "Figures of a filter", says what they are. Free it with everseen_free(). On servers, this costs one round
 * trip per partition.
 * Errors: EVERSEEN_STORAGE, EVERSEEN_BACKEND, EVERSEEN_DAMAGED; *json is then null. */
EVERSEEN_API everseen_status everseen_info(const everseen_filter* filter, char** json);
EVERSEEN_API void everseen_free(void* memory);

/* Takes the next bytes of a filter. Returns 0, or another number to end the export with EVERSEEN_STORAGE. */
typedef int (*everseen_write)(void* context, const void* bytes, size_t length);
/* Fills a part of the buffer. Returns how many bytes, 0 at the end, or -1 to end the import with
 * EVERSEEN_STORAGE. */
typedef int64_t (*everseen_read)(void* context, void* bytes, size_t length);

/* Writes a filter as a stream of bytes, as `everseen export` does: its properties, its secret seed, and all
 * bits, with checksums. It has every key that was added before the call; keys added meanwhile may be in it.
 * Calls `write` on the calling thread.
 * Errors: EVERSEEN_INVALID if it is another program's filter; EVERSEEN_STORAGE, EVERSEEN_BACKEND. */
EVERSEEN_API everseen_status everseen_export(const everseen_filter* filter, everseen_write write, void* context);

/* Creates a filter from such a stream, read to its end. Nothing is visible under the name before the whole
 * stream has been read and verified.
 * Errors: EVERSEEN_NAME_TAKEN; EVERSEEN_DAMAGED if the stream is damaged or truncated, or has bytes behind its
 * end; and as everseen_create(). */
EVERSEEN_API everseen_status everseen_import(const char* url, const char* name, everseen_read read,
                                             void* context);

/* ---- keys ---- */

/* One byte for each key of a batch. */
enum {
  EVERSEEN_FRESH = 0,   /* certainly not added before */
  EVERSEEN_SEEN = 1,    /* probably added before; wrong for at most the error rate of new keys */
  EVERSEEN_LATE = 2,    /* older than the window: neither judged nor added */
  EVERSEEN_UNKNOWN = 3  /* a failure hid the answer; adding the key again is safe */
};

typedef struct everseen_slice {
  const void* bytes;
  size_t length;
} everseen_slice;

/* Adds keys and writes a verdict for each. If a key occurs twice, its first occurrence is the fresh one.
 *
 * times: the times of the keys, in ms since 1970; times_count is 0, 1 (for all) or count. If it is 0, a
 * filter with a window takes the current time; other filters ignore times. A time more than one slice ahead
 * of the clock is EVERSEEN_INVALID, and no key is judged: it would make the keys of today late, for everybody.
 * Errors: after a failure, keys without an answer are EVERSEEN_UNKNOWN; all other verdicts hold. */
EVERSEEN_API everseen_status everseen_add_slices(everseen_filter* filter, const everseen_slice* keys,
                                                 size_t count, const int64_t* times, size_t times_count,
                                                 uint8_t* verdicts);
/* The same without adding: EVERSEEN_SEEN, EVERSEEN_FRESH or EVERSEEN_LATE. */
EVERSEEN_API everseen_status everseen_check_slices(const everseen_filter* filter, const everseen_slice* keys,
                                                   size_t count, const int64_t* times, size_t times_count,
                                                   uint8_t* verdicts);

/* Keys in one buffer: key i is bytes[offsets[i]] up to bytes[offsets[i + 1]], so there are count + 1 offsets.
 * This is the layout of Arrow's variable-size binary and string arrays (32 bits) and their large forms (64).
 * Offsets must ascend from 0 or more; EVERSEEN_INVALID otherwise. */
EVERSEEN_API everseen_status everseen_add_offsets32(everseen_filter* filter, const void* bytes,
                                                    const int32_t* offsets, size_t count, const int64_t* times,
                                                    size_t times_count, uint8_t* verdicts);
EVERSEEN_API everseen_status everseen_check_offsets32(const everseen_filter* filter, const void* bytes,
                                                      const int32_t* offsets, size_t count,
                                                      const int64_t* times, size_t times_count,
                                                      uint8_t* verdicts);
EVERSEEN_API everseen_status everseen_add_offsets64(everseen_filter* filter, const void* bytes,
                                                    const int64_t* offsets, size_t count, const int64_t* times,
                                                    size_t times_count, uint8_t* verdicts);
EVERSEEN_API everseen_status everseen_check_offsets64(const everseen_filter* filter, const void* bytes,
                                                      const int64_t* offsets, size_t count,
                                                      const int64_t* times, size_t times_count,
                                                      uint8_t* verdicts);

/* Keys of equal width, one after another: count * width bytes. */
EVERSEEN_API everseen_status everseen_add_fixed(everseen_filter* filter, const void* bytes, size_t width,
                                                size_t count, const int64_t* times, size_t times_count,
                                                uint8_t* verdicts);
EVERSEEN_API everseen_status everseen_check_fixed(const everseen_filter* filter, const void* bytes,
                                                  size_t width, size_t count, const int64_t* times,
                                                  size_t times_count, uint8_t* verdicts);

/* Integers. The key is the number's decimal digits, as %lld and %llu of printf write them: 42 and the text "42"
 * are one key, on every store and in every language. */
EVERSEEN_API everseen_status everseen_add_int64(everseen_filter* filter, const int64_t* keys, size_t count,
                                                const int64_t* times, size_t times_count, uint8_t* verdicts);
EVERSEEN_API everseen_status everseen_check_int64(const everseen_filter* filter, const int64_t* keys,
                                                  size_t count, const int64_t* times, size_t times_count,
                                                  uint8_t* verdicts);
EVERSEEN_API everseen_status everseen_add_uint64(everseen_filter* filter, const uint64_t* keys, size_t count,
                                                 const int64_t* times, size_t times_count, uint8_t* verdicts);
EVERSEEN_API everseen_status everseen_check_uint64(const everseen_filter* filter, const uint64_t* keys,
                                                   size_t count, const int64_t* times, size_t times_count,
                                                   uint8_t* verdicts);

/* ---- jobs ---- */

/* A job performs an effect once for each fresh event, even if processes crash: it claims events, performs
 * their effects, and settles them.
 *
 * An event has a source, which is an ordered sequence such as a file or a partition of a topic, and a
 * position in it, which ascends. A claim adds the event's key and remembers the verdict in one step. If the
 * process crashes before it settles, it claims the same events again from the settled position, and gets the
 * same verdicts: an event that was fresh is fresh again. An effect can therefore be repeated, unless the
 * program stores it in one transaction with the position from which it continues: see examples/postgres.
 *
 * A filter with jobs cannot be reset or rebuilt. Filters of other systems have none. doc/streams.md has more. */
typedef struct everseen_job everseen_job;

/* Opens the job of this name; creates it with this description (for people) if it does not exist. The job may
 * outlive the filter's handle. */
EVERSEEN_API everseen_status everseen_open_job(everseen_filter* filter, const char* name,
                                               const char* description, everseen_job** job);
EVERSEEN_API void everseen_close_job(everseen_job* job);

/* Removes a job and everything it remembers; the keys that it added stay. Errors: EVERSEEN_INVALID if there
 * is no such job, or if the filter was opened for checks only. */
EVERSEEN_API everseen_status everseen_end_job(everseen_filter* filter, const char* name);

/* Claims events of one source, in ascending order of position, and writes a verdict for each: perform the
 * effects of those that are EVERSEEN_FRESH.
 *
 * claimed_before: one byte for each event, 1 if an earlier claim had it; may be null. times: as
 * everseen_add_slices(). Threads: one claim of a source at a time.
 * Errors: EVERSEEN_INVALID if a position is more than 2^64 - 3; after a failure, claim the same events again
 * before later ones of the source. */
EVERSEEN_API everseen_status everseen_claim(everseen_job* job, const char* source, const everseen_slice* keys,
                                            const uint64_t* positions, size_t count, const int64_t* times,
                                            size_t times_count, uint8_t* verdicts, uint8_t* claimed_before);

/* Declares that the effects of all events of the source before this position are durable. A source that is
 * settled further stays there.
 * Errors: EVERSEEN_INVALID if the position is more than 2^64 - 2; after EVERSEEN_STORAGE or EVERSEEN_BACKEND,
 * settling again is safe. */
EVERSEEN_API everseen_status everseen_settle(everseen_job* job, const char* source, uint64_t position);

/* The position up to which a source is settled, where the program continues; 0 if nothing is settled yet. */
EVERSEEN_API everseen_status everseen_settled(const everseen_job* job, const char* source, uint64_t* position);

#ifdef __cplusplus
}
#endif

#endif
