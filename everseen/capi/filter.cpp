#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "everseen/capi/handles.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/open_store.hpp"
#include "everseen/store/port/filter_stream.hpp"
#include "everseen/store/port/store.hpp"

// Filters as a whole: opened, created, described, dropped.
namespace everseen::capi {
namespace {

/// The number of everseen.h for a value.
template <typename Value>
struct numbered {
  std::uint32_t number;
  Value value;
};

constexpr numbered<growth_kind> growths[] = {{EVERSEEN_GROW, growth_kind::grow},
                                             {EVERSEEN_REFUSE, growth_kind::refuse},
                                             {EVERSEEN_OVERFILL, growth_kind::overfill}};
constexpr numbered<hash_kind> hashes[] = {{EVERSEEN_XXH3, hash_kind::xxh3},
                                          {EVERSEEN_SIPHASH, hash_kind::siphash}};
constexpr numbered<judge_kind> judges[] = {{EVERSEEN_JUDGE_SERVER, judge_kind::server},
                                           {EVERSEEN_JUDGE_CLIENT, judge_kind::client}};

static_assert(std::ranges::all_of(all_hashes,
                                  [](const hash_facts& f) {
                                    return !f.may_be_asked() ||
                                           std::ranges::find(hashes, f.kind, &numbered<hash_kind>::value) !=
                                               std::end(hashes);
                                  }),
              "everseen.h has no number for a hash that users may ask for");

/// @param number  0: the default, which asks for nothing
template <typename Value>
std::optional<Value> one_of(std::span<const numbered<Value>> values, std::uint32_t number,
                            const char* subject) {
  if (number == 0) return std::nullopt;
  for (const auto& known : values)
    if (known.number == number) return known.value;
  throw parameter_error(std::string(subject) + " has no value " + std::to_string(number));
}

spec_request request_of(const everseen_options& o) {
  spec_request r;
  if (o.capacity != 0) r.capacity = o.capacity;
  if (o.error_rate != 0) r.error_rate = o.error_rate;
  r.growth = one_of<growth_kind>(growths, o.growth, "growth");
  r.hash = one_of<hash_kind>(hashes, o.hash, "hash");
  r.judge = one_of<judge_kind>(judges, o.judge, "judge");
  if (o.window_ms == 0) {
    if (o.slices != 0) throw parameter_error("slices divide a window; give window_ms as well");
    return r;
  }
  if (o.window_ms > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw parameter_error("window_ms is too large");
  r.window = window_spec{std::chrono::milliseconds(static_cast<std::int64_t>(o.window_ms)), o.slices};
  return r;
}

/// @throws parameter_error  the caller was compiled with a later header and uses what this library lacks
everseen_options known_options(const everseen_options* given) {
  everseen_options known = EVERSEEN_OPTIONS_INIT;
  if (given == nullptr) return known;
  constexpr std::size_t largest = 4096;  // of any later version; a size that was not set may be anything
  if (given->size < sizeof given->size || given->size > largest)
    throw parameter_error("everseen_options.size must be sizeof(everseen_options)");
  std::memcpy(&known, given, std::min(given->size, sizeof known));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  if (given->size > sizeof known &&
      std::any_of(bytes + sizeof known, bytes + given->size, [](unsigned char b) { return b != 0; }))
    throw parameter_error("everseen_options has fields that this version of the library does not know");
  return known;
}

enum class making : std::uint8_t { open, read, create, open_or_create };

std::optional<std::chrono::milliseconds> life_of(const everseen_options& o) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 50;
  if (o.lifetime_ms == 0) return {};
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(o.lifetime_ms, longest)));
}

filter opened(store& in, std::string_view name, const everseen_options& o, making method) {
  if (method == making::open || method == making::read)
    return open(in, name, method == making::read ? access::read : access::write);
  const spec_request request = request_of(o);
  const auto life = life_of(o);
  if (method == making::open_or_create) return open_or_create(in, name, request, life);
  return {std::string(name), in.create(name, in.plan(request), life)};
}

everseen_status make(const char* url, const char* name, const everseen_options* options, making method,
                     everseen_filter** into) noexcept {
  return guarded([&] {
    must_not_be_null(into, "filter");
    *into = nullptr;
    must_not_be_null(url, "url");
    must_not_be_null(name, "name");
    const std::string known_as = typed_name(name);
    const std::shared_ptr<store> place = open_store(url);
    filter f = opened(*place, known_as, known_options(options), method);
    const bool has_window = f.get_spec().window.has_value();
    *into = new everseen_filter{place, std::move(f), has_window,
                                method == making::read ? access::read : access::write};
  });
}

/// The shortest text that reads back as the same number.
std::string json_number(double number) {
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), number).ptr};
}

/// @param text  without control characters
std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json += '"';
}

std::string json_of(const filter_info& info) {
  const std::uint64_t window =
      info.spec.window ? static_cast<std::uint64_t>(info.spec.window->width.count()) : 0;
  return "{\"name\":" + json_text(shown_name(info.name)) +
         ",\"capacity\":" + std::to_string(info.spec.capacity) +
         ",\"error_rate\":" + json_number(info.spec.error_rate) + ",\"keys\":" + std::to_string(info.keys) +
         ",\"bytes\":" + std::to_string(info.bytes) +
         ",\"error_rate_now\":" + json_number(info.error_rate_now) +
         ",\"expected_false_seen\":" + json_number(info.expected_false_seen) +
         ",\"layers\":" + std::to_string(info.max_layers) + ",\"segments\":" + std::to_string(info.segments) +
         ",\"partitions\":" + std::to_string(info.spec.partitions) +
         ",\"window_ms\":" + std::to_string(window) + "}";
}

}  // namespace
}  // namespace everseen::capi

namespace capi = everseen::capi;
using capi::making;

everseen_status everseen_open(const char* url, const char* name, everseen_filter** filter) {
  return capi::make(url, name, nullptr, making::open, filter);
}

everseen_status everseen_open_to_read(const char* url, const char* name, everseen_filter** filter) {
  return capi::make(url, name, nullptr, making::read, filter);
}

everseen_status everseen_create(const char* url, const char* name, const everseen_options* options,
                                everseen_filter** filter) {
  return capi::make(url, name, options, making::create, filter);
}

everseen_status everseen_open_or_create(const char* url, const char* name, const everseen_options* options,
                                        everseen_filter** filter) {
  return capi::make(url, name, options, making::open_or_create, filter);
}

everseen_status everseen_create_sibling(const everseen_filter* filter, const char* url, const char* name,
                                        everseen_filter** sibling) {
  return capi::guarded([&] {
    capi::must_not_be_null(sibling, "sibling");
    *sibling = nullptr;
    capi::must_not_be_null(filter, "filter");
    capi::must_not_be_null(url, "url");
    capi::must_not_be_null(name, "name");
    std::string known_as = everseen::typed_name(name);
    const everseen::spec s = filter->filter.sibling_spec();
    const std::shared_ptr<everseen::store> place = everseen::open_store(url);
    everseen::filter made(known_as, place->create(known_as, s));
    *sibling = new everseen_filter{place, std::move(made), s.window.has_value(), everseen::access::write};
  });
}

everseen_status everseen_merge(everseen_filter* filter, const everseen_filter* sibling) {
  return capi::guarded([&] {
    capi::must_not_be_null(filter, "filter");
    capi::must_not_be_null(sibling, "sibling");
    filter->filter.merge(std::span(&sibling->filter, 1));
  });
}

void everseen_close(everseen_filter* filter) {
  delete filter;
}

everseen_status everseen_drop(const char* url, const char* name) {
  return capi::guarded([&] {
    capi::must_not_be_null(url, "url");
    capi::must_not_be_null(name, "name");
    const std::string known_as = everseen::typed_name(name);
    const std::shared_ptr<everseen::store> place = everseen::open_store(url);
    everseen::with_known_filter(*place, known_as, [&] { place->drop(known_as); });
  });
}

everseen_status everseen_sync(everseen_filter* filter) {
  return capi::guarded([&] {
    capi::must_not_be_null(filter, "filter");
    filter->filter.sync();
  });
}

everseen_status everseen_info(const everseen_filter* filter, char** json) {
  return capi::guarded([&] {
    capi::must_not_be_null(json, "json");
    *json = nullptr;
    capi::must_not_be_null(filter, "filter");
    const std::string text = capi::json_of(filter->filter.info());
    *json = static_cast<char*>(std::malloc(text.size() + 1));
    if (*json == nullptr) throw std::bad_alloc();
    std::memcpy(*json, text.c_str(), text.size() + 1);
  });
}

// Filters as streams of bytes.

everseen_status everseen_export(const everseen_filter* filter, everseen_write write, void* context) {
  return capi::guarded([&] {
    capi::must_not_be_null(filter, "filter");
    capi::must_not_be_null(reinterpret_cast<const void*>(write), "write");
    const everseen::stored_filter& from = filter->filter.stored();
    if (from.estimates_keys())
      throw everseen::parameter_error("the filter " + everseen::quoted_name(filter->filter.name()) +
                                      " is attached: its bits fit no other filter; copy them with: everseen "
                                      "export --to raw");
    everseen::write_stream(from, filter->filter.name(), [&](std::span<const std::byte> bytes) {
      if (write(context, bytes.data(), bytes.size()) != 0)
        throw everseen::storage_error("the function that writes the filter failed", 0, "");
    });
  });
}

everseen_status everseen_import(const char* url, const char* name, everseen_read read, void* context) {
  return capi::guarded([&] {
    capi::must_not_be_null(url, "url");
    capi::must_not_be_null(name, "name");
    capi::must_not_be_null(reinterpret_cast<const void*>(read), "read");
    const std::string known_as = everseen::typed_name(name);
    const std::shared_ptr<everseen::store> place = everseen::open_store(url);
    everseen::read_stream(*place, known_as, [&](std::span<std::byte> into) {
      const std::int64_t count = read(context, into.data(), into.size());
      if (count < 0 || static_cast<std::uint64_t>(count) > into.size())
        throw everseen::storage_error("the function that reads the filter failed", 0, "");
      return static_cast<std::size_t>(count);
    });
  });
}

void everseen_free(void* memory) {
  std::free(memory);
}
