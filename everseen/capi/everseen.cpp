#include "everseen/capi/everseen.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/filter/claim_scatter.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/filter/open_store.hpp"

struct everseen_filter {
  std::shared_ptr<everseen::store> place;
  everseen::filter filter;
  bool has_window;
};

struct everseen_job {
  everseen::filter filter;  // outlives the ledger
  std::unique_ptr<everseen::ledger> ledger;
  bool has_window;
  std::mutex lock{};  // guards `settled`
  std::map<std::string, std::uint64_t, std::less<>> settled{};
};

namespace everseen {
namespace {

static_assert(static_cast<int>(verdict::fresh) == EVERSEEN_FRESH &&
              static_cast<int>(verdict::seen) == EVERSEEN_SEEN &&
              static_cast<int>(verdict::late) == EVERSEEN_LATE &&
              static_cast<int>(verdict::unknown) == EVERSEEN_UNKNOWN && sizeof(verdict) == 1);

/// Keys of one call of a filter. Large enough that round trips to a server are rare.
constexpr std::size_t keys_at_once = 65'536;
constexpr std::uint32_t usual_slices = 10;
constexpr const char* out_of_memory = "out of memory";

/// The message of this thread's last failure; null: `out_of_memory`, for which no memory may be left.
thread_local std::optional<std::string> last_message{std::in_place};

everseen_status fail(everseen_status status, const char* message) noexcept {
  try {
    last_message = message;
    return status;
  } catch (...) {
    last_message.reset();
    return EVERSEEN_NO_MEMORY;
  }
}

everseen_status status_of_current_exception() noexcept {
  try {
    throw;
  } catch (const no_filter& e) {
    return fail(EVERSEEN_NOT_FOUND, e.what());
  } catch (const name_taken& e) {
    return fail(EVERSEEN_NAME_TAKEN, e.what());
  } catch (const parameter_error& e) {
    return fail(EVERSEEN_INVALID, e.what());
  } catch (const format_error& e) {
    return fail(EVERSEEN_DAMAGED, e.what());
  } catch (const full_error& e) {
    return fail(EVERSEEN_FULL, e.what());
  } catch (const storage_error& e) {
    return fail(EVERSEEN_STORAGE, e.what());
  } catch (const backend_error& e) {
    return fail(EVERSEEN_BACKEND, e.what());
  } catch (const std::bad_alloc&) {
    last_message.reset();
    return EVERSEEN_NO_MEMORY;
  } catch (const std::exception& e) {
    return fail(EVERSEEN_INTERNAL, e.what());
  } catch (...) {
    return fail(EVERSEEN_INTERNAL, "an unknown exception");
  }
}

/// Runs `work` so that no exception leaves the library.
template <typename Work>
everseen_status guarded(Work work) noexcept {
  try {
    work();
    return EVERSEEN_OK;
  } catch (...) {
    return status_of_current_exception();
  }
}

void must_not_be_null(const void* pointer, const char* what) {
  if (pointer == nullptr) throw parameter_error(std::string(what) + " must not be null");
}

/// One of an enumeration's values.
template <typename Value, std::size_t Count>
Value one_of(const Value (&values)[Count], std::uint32_t index, const char* what) {
  if (index >= Count) throw parameter_error(std::string(what) + " has no value " + std::to_string(index));
  return values[index];
}

spec_request request_of(const everseen_options& o) {
  constexpr growth_kind growths[] = {growth_kind::grow, growth_kind::refuse, growth_kind::overfill};
  constexpr hash_kind hashes[] = {hash_kind::xxh3, hash_kind::siphash};
  constexpr std::optional<judge_kind> judges[] = {std::nullopt, judge_kind::server, judge_kind::client};
  spec_request r;
  if (o.capacity != 0) r.capacity = o.capacity;
  if (o.error_rate != 0) r.error_rate = o.error_rate;
  r.growth = one_of(growths, o.growth, "growth");
  r.hash = one_of(hashes, o.hash, "hash");
  r.judge = one_of(judges, o.judge, "judge");
  if (o.window_ms == 0) return r;
  if (o.window_ms > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw parameter_error("window_ms is too large");
  r.window.emplace();
  r.window->width = std::chrono::milliseconds(static_cast<std::int64_t>(o.window_ms));
  r.window->slices = o.slices != 0 ? o.slices : usual_slices;
  return r;
}

/// @throws parameter_error  the caller was compiled with a later header and uses what this library lacks
everseen_options known_options(const everseen_options* given) {
  everseen_options known = EVERSEEN_OPTIONS_INIT;
  if (given == nullptr) return known;
  if (given->size < sizeof given->size)
    throw parameter_error("everseen_options.size must be sizeof(everseen_options)");
  std::memcpy(&known, given, std::min(given->size, sizeof known));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  if (given->size > sizeof known &&
      std::any_of(bytes + sizeof known, bytes + given->size, [](unsigned char b) { return b != 0; }))
    throw parameter_error("everseen_options has fields that this version of the library does not know");
  return known;
}

enum class making : std::uint8_t { open, read, create, open_or_create };

std::shared_ptr<stored_filter> opened(store& in, std::string_view name, const everseen_options& o,
                                      making how) {
  const auto create = [&] {
    const spec s = in.plan(request_of(o));
    if (o.lifetime_ms == 0) return in.create(name, s);
    constexpr std::uint64_t longest = std::uint64_t{1} << 50;
    return in.create_expiring(
        name, s, std::chrono::milliseconds(static_cast<std::int64_t>(std::min(o.lifetime_ms, longest))));
  };
  if (how == making::create) return create();
  if (how != making::open_or_create) return in.open(name, how == making::read ? access::read : access::write);
  // Another process may create or drop it between the two attempts.
  for (int attempt = 0;; ++attempt) try {
      return in.open(name, access::write);
    } catch (const no_filter&) {
      try {
        return create();
      } catch (const name_taken&) {
        if (attempt == 2) throw;
      }
    }
}

everseen_status make(const char* url, const char* name, const everseen_options* options, making how,
                     everseen_filter** into) noexcept {
  return guarded([&] {
    must_not_be_null(into, "filter");
    *into = nullptr;
    must_not_be_null(url, "url");
    must_not_be_null(name, "name");
    const std::shared_ptr<store> place = open_store(url);
    filter f(name, opened(*place, name, known_options(options), how));
    const bool has_window = f.get_spec().window.has_value();
    *into = new everseen_filter{place, std::move(f), has_window};
  });
}

/// Times in ms since 1970.
struct given_times {
  const std::int64_t* ms;
  std::size_t count;
};

/// Nothing without a window; else one time for all keys, which is now if none is given, or one for each.
std::vector<event_time> times_of(bool has_window, given_times given, std::size_t keys) {
  if (given.count > 1 && given.count != keys)
    throw parameter_error("there are " + std::to_string(given.count) + " times for " + std::to_string(keys) +
                          " keys; give none, one for all, or one for each");
  if (given.count > 0) must_not_be_null(given.ms, "times");
  if (!has_window) return {};
  if (given.count == 0)
    return {std::chrono::time_point_cast<event_time::duration>(std::chrono::system_clock::now())};
  std::vector<event_time> times;
  for (const std::int64_t ms : std::span(given.ms, given.count))
    times.emplace_back(std::chrono::milliseconds(ms));
  return times;
}

/// Judges keys, a bounded number at a time.
/// @param key   the i-th key; may throw parameter_error
/// @param call  of the filter: keys, verdicts, times
template <typename Key, typename Call>
everseen_status judge(const everseen_filter* f, std::size_t count, const std::int64_t* times,
                      std::size_t times_count, std::uint8_t* verdicts, Key key, Call call) noexcept {
  if (verdicts != nullptr) std::fill_n(verdicts, count, std::uint8_t{EVERSEEN_UNKNOWN});
  return guarded([&] {
    must_not_be_null(f, "filter");
    if (count == 0) return;
    must_not_be_null(verdicts, "verdicts");
    const std::vector<event_time> all = times_of(f->has_window, {times, times_count}, count);
    const std::span<const event_time> when = all;
    std::vector<std::string_view> keys(std::min(count, keys_at_once));
    std::optional<batch_failure> failure;
    for (std::size_t from = 0; from < count; from += keys.size()) {
      const std::size_t some = std::min(keys.size(), count - from);
      for (std::size_t i = 0; i < some; ++i) keys[i] = key(from + i);
      batch_result judged =
          call(std::span(keys).first(some), std::span(reinterpret_cast<verdict*>(verdicts) + from, some),
               when.size() > 1 ? when.subspan(from, some) : when);
      if (judged) continue;
      const bool ends = judged.error().ends_batch();
      if (!failure || ends) failure = std::move(judged).error();
      if (ends) break;
    }
    if (failure) failure->raise();
  });
}

template <typename Key>
everseen_status add(everseen_filter* f, std::size_t count, const std::int64_t* times, std::size_t times_count,
                    std::uint8_t* verdicts, Key key) noexcept {
  return judge(f, count, times, times_count, verdicts, key,
               [f](auto keys, auto out, auto when) { return f->filter.add(keys, out, when); });
}

template <typename Key>
everseen_status check(const everseen_filter* f, std::size_t count, const std::int64_t* times,
                      std::size_t times_count, std::uint8_t* verdicts, Key key) noexcept {
  return judge(f, count, times, times_count, verdicts, key,
               [f](auto keys, auto out, auto when) { return f->filter.may_contain(keys, out, when); });
}

std::string_view key_in(const void* bytes, std::size_t length) {
  if (length == 0) return {};
  must_not_be_null(bytes, "bytes");
  return {static_cast<const char*>(bytes), length};
}

auto slices(const everseen_slice* keys) {
  return [keys](std::size_t i) {
    must_not_be_null(keys, "keys");
    return key_in(keys[i].bytes, keys[i].length);
  };
}

template <typename Offset>
auto between(const void* bytes, const Offset* offsets) {
  return [bytes, offsets](std::size_t i) {
    must_not_be_null(offsets, "offsets");
    const Offset begin = offsets[i], end = offsets[i + 1];
    if (begin < 0 || end < begin)
      throw parameter_error("the offsets of key " + std::to_string(i) + " are " + std::to_string(begin) +
                            " and " + std::to_string(end) + "; they must ascend");
    if (begin == end) return std::string_view();
    must_not_be_null(bytes, "bytes");
    return std::string_view(static_cast<const char*>(bytes) + begin, static_cast<std::size_t>(end - begin));
  };
}

/// Claims one part of a call's events.
struct claiming {
  everseen_job& job;
  origin from;
  std::span<const std::string_view> keys;
  std::span<const std::uint64_t> positions;
  std::span<const event_time> times;

  [[nodiscard]] batch_result run(std::span<verdict> out, std::span<std::uint8_t> before) const {
    std::vector<digest> digests;
    for (const std::string_view key : keys) digests.push_back(job.filter.hash()(key));
    claim_scatter scatter;
    const auto batches = scatter.sort({digests, positions, times}, job.filter.get_spec().partitions);
    batch_result claimed = job.ledger->claim(from, batches);
    scatter.gather(out, before);
    return claimed;
  }
};

void claim(everseen_job& job, std::string_view source, std::span<const everseen_slice> keys,
           std::span<const std::uint64_t> positions, std::span<const event_time> times, verdict* verdicts,
           std::uint8_t* before) {
  if (!std::ranges::is_sorted(positions, std::ranges::less_equal{}))
    throw parameter_error("the positions of events must ascend");
  std::uint64_t settled = 0;
  {
    const std::scoped_lock alone(job.lock);
    if (const auto found = job.settled.find(source); found != job.settled.end()) settled = found->second;
  }
  std::vector<std::uint8_t> ignored;
  std::vector<std::string_view> views;
  for (std::size_t from = 0; from < keys.size(); from += keys_at_once) {
    const std::size_t some = std::min(keys_at_once, keys.size() - from);
    views.clear();
    for (const everseen_slice& key : keys.subspan(from, some)) views.push_back(key_in(key.bytes, key.length));
    ignored.resize(some);
    const claiming part{job,
                        {source, settled},
                        views,
                        positions.subspan(from, some),
                        times.size() > 1 ? times.subspan(from, some) : times};
    const batch_result claimed = part.run(
        {verdicts + from, some}, before != nullptr ? std::span(before + from, some) : std::span(ignored));
    if (!claimed) claimed.error().raise();
  }
}

auto fixed(const void* bytes, std::size_t width) {
  return [bytes, width](std::size_t i) {
    if (width == 0) return std::string_view();
    must_not_be_null(bytes, "bytes");
    return std::string_view(static_cast<const char*>(bytes) + i * width, width);
  };
}

/// The shortest text that reads back as the same number.
std::string json_number(double number) {
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), number).ptr};
}

std::string json_of(const filter_info& info) {
  const std::uint64_t window =
      info.spec.window ? static_cast<std::uint64_t>(info.spec.window->width.count()) : 0;
  // A filter's name has no character that JSON escapes.
  return "{\"name\":\"" + info.name + "\",\"capacity\":" + std::to_string(info.spec.capacity) +
         ",\"error_rate\":" + json_number(info.spec.error_rate) + ",\"keys\":" + std::to_string(info.keys) +
         ",\"bytes\":" + std::to_string(info.bytes) +
         ",\"error_rate_now\":" + json_number(info.error_rate_now) +
         ",\"layers\":" + std::to_string(info.max_layers) + ",\"window_ms\":" + std::to_string(window) + "}";
}

}  // namespace
}  // namespace everseen

using everseen::making;

const char* everseen_last_error(void) {
  return everseen::last_message ? everseen::last_message->c_str() : everseen::out_of_memory;
}

const char* everseen_version(void) {
  return EVERSEEN_VERSION;
}

everseen_status everseen_open(const char* url, const char* name, everseen_filter** filter) {
  return everseen::make(url, name, nullptr, making::open, filter);
}

everseen_status everseen_open_to_read(const char* url, const char* name, everseen_filter** filter) {
  return everseen::make(url, name, nullptr, making::read, filter);
}

everseen_status everseen_create(const char* url, const char* name, const everseen_options* options,
                                everseen_filter** filter) {
  return everseen::make(url, name, options, making::create, filter);
}

everseen_status everseen_open_or_create(const char* url, const char* name, const everseen_options* options,
                                        everseen_filter** filter) {
  return everseen::make(url, name, options, making::open_or_create, filter);
}

void everseen_close(everseen_filter* filter) {
  delete filter;
}

everseen_status everseen_drop(const char* url, const char* name) {
  return everseen::guarded([&] {
    everseen::must_not_be_null(url, "url");
    everseen::must_not_be_null(name, "name");
    everseen::open_store(url)->drop(name);
  });
}

everseen_status everseen_sync(everseen_filter* filter) {
  return everseen::guarded([&] {
    everseen::must_not_be_null(filter, "filter");
    filter->filter.sync();
  });
}

everseen_status everseen_info(const everseen_filter* filter, char** json) {
  return everseen::guarded([&] {
    everseen::must_not_be_null(json, "json");
    *json = nullptr;
    everseen::must_not_be_null(filter, "filter");
    const std::string text = everseen::json_of(filter->filter.info());
    *json = static_cast<char*>(std::malloc(text.size() + 1));
    if (*json == nullptr) throw std::bad_alloc();
    std::memcpy(*json, text.c_str(), text.size() + 1);
  });
}

void everseen_free(void* memory) {
  std::free(memory);
}

everseen_status everseen_add_slices(everseen_filter* filter, const everseen_slice* keys, size_t count,
                                    const int64_t* times, size_t times_count, uint8_t* verdicts) {
  return everseen::add(filter, count, times, times_count, verdicts, everseen::slices(keys));
}

everseen_status everseen_check_slices(const everseen_filter* filter, const everseen_slice* keys, size_t count,
                                      const int64_t* times, size_t times_count, uint8_t* verdicts) {
  return everseen::check(filter, count, times, times_count, verdicts, everseen::slices(keys));
}

everseen_status everseen_add_offsets32(everseen_filter* filter, const void* bytes, const int32_t* offsets,
                                       size_t count, const int64_t* times, size_t times_count,
                                       uint8_t* verdicts) {
  return everseen::add(filter, count, times, times_count, verdicts, everseen::between(bytes, offsets));
}

everseen_status everseen_check_offsets32(const everseen_filter* filter, const void* bytes,
                                         const int32_t* offsets, size_t count, const int64_t* times,
                                         size_t times_count, uint8_t* verdicts) {
  return everseen::check(filter, count, times, times_count, verdicts, everseen::between(bytes, offsets));
}

everseen_status everseen_add_offsets64(everseen_filter* filter, const void* bytes, const int64_t* offsets,
                                       size_t count, const int64_t* times, size_t times_count,
                                       uint8_t* verdicts) {
  return everseen::add(filter, count, times, times_count, verdicts, everseen::between(bytes, offsets));
}

everseen_status everseen_check_offsets64(const everseen_filter* filter, const void* bytes,
                                         const int64_t* offsets, size_t count, const int64_t* times,
                                         size_t times_count, uint8_t* verdicts) {
  return everseen::check(filter, count, times, times_count, verdicts, everseen::between(bytes, offsets));
}

everseen_status everseen_add_fixed(everseen_filter* filter, const void* bytes, size_t width, size_t count,
                                   const int64_t* times, size_t times_count, uint8_t* verdicts) {
  return everseen::add(filter, count, times, times_count, verdicts, everseen::fixed(bytes, width));
}

everseen_status everseen_check_fixed(const everseen_filter* filter, const void* bytes, size_t width,
                                     size_t count, const int64_t* times, size_t times_count,
                                     uint8_t* verdicts) {
  return everseen::check(filter, count, times, times_count, verdicts, everseen::fixed(bytes, width));
}

everseen_status everseen_open_job(everseen_filter* filter, const char* name, const char* description,
                                  everseen_job** job) {
  return everseen::guarded([&] {
    everseen::must_not_be_null(job, "job");
    *job = nullptr;
    everseen::must_not_be_null(filter, "filter");
    everseen::must_not_be_null(name, "name");
    const std::string_view told = description != nullptr ? description : "";
    auto opened = std::make_unique<everseen_job>(
        filter->filter, filter->filter.stored().open_ledger(name, told), filter->has_window);
    for (const auto& [source, reached] : opened->ledger->checkpoints())
      opened->settled.emplace(source, reached.position);
    *job = opened.release();
  });
}

void everseen_close_job(everseen_job* job) {
  delete job;
}

everseen_status everseen_end_job(everseen_filter* filter, const char* name) {
  return everseen::guarded([&] {
    everseen::must_not_be_null(filter, "filter");
    everseen::must_not_be_null(name, "name");
    filter->filter.stored().end_job(name);
  });
}

everseen_status everseen_claim(everseen_job* job, const char* source, const everseen_slice* keys,
                               const uint64_t* positions, size_t count, const int64_t* times,
                               size_t times_count, uint8_t* verdicts, uint8_t* claimed_before) {
  if (verdicts != nullptr) std::fill_n(verdicts, count, std::uint8_t{EVERSEEN_UNKNOWN});
  if (claimed_before != nullptr) std::fill_n(claimed_before, count, std::uint8_t{0});
  return everseen::guarded([&] {
    everseen::must_not_be_null(job, "job");
    everseen::must_not_be_null(source, "source");
    if (count == 0) return;
    everseen::must_not_be_null(keys, "keys");
    everseen::must_not_be_null(positions, "positions");
    everseen::must_not_be_null(verdicts, "verdicts");
    const auto when = everseen::times_of(job->has_window, {times, times_count}, count);
    everseen::claim(*job, source, {keys, count}, {positions, count}, when,
                    reinterpret_cast<everseen::verdict*>(verdicts), claimed_before);
  });
}

everseen_status everseen_settle(everseen_job* job, const char* source, uint64_t position) {
  return everseen::guarded([&] {
    everseen::must_not_be_null(job, "job");
    everseen::must_not_be_null(source, "source");
    const everseen::checkpoint reached{source, position};
    if (!job->ledger->settle({&reached, 1}))
      throw everseen::storage_error("another process has settled more of " + std::string(source), 0, source);
    const std::scoped_lock alone(job->lock);
    job->settled.insert_or_assign(source, position);
  });
}

everseen_status everseen_settled(const everseen_job* job, const char* source, uint64_t* position) {
  return everseen::guarded([&] {
    everseen::must_not_be_null(position, "position");
    *position = 0;
    everseen::must_not_be_null(job, "job");
    everseen::must_not_be_null(source, "source");
    const auto all = job->ledger->checkpoints();
    if (const auto found = all.find(std::string_view(source)); found != all.end())
      *position = found->second.position;
  });
}
