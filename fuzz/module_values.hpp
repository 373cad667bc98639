#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/bytes.hpp"

#include "module/server/api.hpp"
#include "module/value/filter_type.hpp"

/// What the data types of the module need of a server, over bytes: an RDB is a string, and memory is limited.
///
/// The module gets the functions of its server as pointers, so a fuzzer sets them to these.
namespace everseen::redis_module::fuzzing {

/// A value that is read, or was written: numbers and doubles of 8 bytes, strings after their length of 4.
struct image {
  std::string bytes{};
  std::size_t at = 0;
  bool is_damaged = false;

  /// The next bytes; fewer if there are no more.
  std::string_view take(std::size_t count) {
    const std::string_view found = std::string_view(bytes).substr(at, count);
    is_damaged = is_damaged || found.size() < count;
    at += found.size();
    return found;
  }
  template <typename Number>
  Number number() {
    std::byte read[sizeof(Number)] = {};
    const std::string_view found = take(sizeof read);
    std::memcpy(read, found.data(), found.size());
    return load_le<Number>(read);
  }
  template <typename Number>
  void put(Number number) {
    std::byte written[sizeof number];
    store_le(written, number);
    bytes.append(reinterpret_cast<const char*>(written), sizeof written);
  }
};

inline image& of(api::rdb* from) noexcept {
  return *reinterpret_cast<image*>(from);
}
inline api::rdb* as_rdb(image& i) noexcept {
  return reinterpret_cast<api::rdb*>(&i);
}

/// What a fuzzer may allocate at a time.
inline std::size_t most_bytes = std::size_t{1} << 20;

/// The callbacks of the types, by their names.
inline std::map<std::string, api::type_methods>& types() {
  static std::map<std::string, api::type_methods> all;
  return all;
}

inline char* load_text(api::rdb* from, std::size_t* size) {
  image& in = of(from);
  const auto wanted = in.number<std::uint32_t>();
  if (in.is_damaged || wanted > in.bytes.size() - in.at) {
    in.is_damaged = true;
    return nullptr;
  }
  const std::string_view found = in.take(wanted);
  char* const copy = static_cast<char*>(std::malloc(found.size() + 1));
  std::memcpy(copy, found.data(), found.size());
  *size = found.size();
  return copy;
}

/// An append-only file holds the iterators and the bytes of the chunks.
inline void emit_chunk(api::rdb* to, const char* /*command*/, const char* format, ...) {
  va_list words;
  va_start(words, format);
  (void)va_arg(words, api::string*);
  of(to).put(static_cast<std::int64_t>(va_arg(words, long long)));
  const char* const bytes = va_arg(words, const char*);
  api::save_bytes(to, bytes, va_arg(words, std::size_t));
  va_end(words);
}

inline void log_nothing(api::rdb* /*from*/, const char* /*level*/, const char* /*format*/, ...) {}

/// Sets the functions, and lets the module declare its types.
inline void begin() {
  api::load_unsigned = [](api::rdb* from) { return of(from).number<std::uint64_t>(); };
  api::load_double = [](api::rdb* from) { return of(from).number<double>(); };
  api::load_bytes = load_text;
  api::is_rdb_damaged = [](api::rdb* from) { return of(from).is_damaged ? 1 : 0; };
  api::save_unsigned = [](api::rdb* to, std::uint64_t number) { of(to).put(number); };
  api::save_double = [](api::rdb* to, double number) { of(to).put(number); };
  api::save_bytes = [](api::rdb* to, const char* bytes, std::size_t size) {
    of(to).put(static_cast<std::uint32_t>(size));
    of(to).bytes.append(bytes, size);
  };
  api::emit_aof = emit_chunk;
  api::digest_add = [](api::digest_state* to, const char* bytes, std::size_t size) {
    reinterpret_cast<std::string*>(to)->append(bytes, size);
  };
  api::digest_end = [](api::digest_state* to) { *reinterpret_cast<std::string*>(to) += '.'; };
  api::set_value = [](api::key*, api::data_type*, void*) { return api::ok; };
  api::key_type = [](api::key*) { return api::type_module; };
  api::type_of_value = [](api::key*) { return reinterpret_cast<api::data_type*>(&types()["everseen1"]); };
  api::log_rdb_error = log_nothing;
  api::try_allocate = [](std::size_t bytes) { return bytes > most_bytes ? nullptr : std::malloc(bytes); };
  api::allocate_zeroed = std::calloc;
  api::free_memory = std::free;
  api::set_module_options = [](api::context*, int) {};
  // A server without maxmemory.
  api::get_context_flags = [](api::context*) { return 0; };
  api::get_server_info = [](api::context*, const char*) -> api::server_info* { return nullptr; };
  api::server_info_field = [](api::server_info*, const char*, int*) -> unsigned long long { return 0; };
  api::free_server_info = [](api::context*, api::server_info*) {};
  api::create_data_type = [](api::context*, const char* name, int, api::type_methods* methods) {
    return reinterpret_cast<api::data_type*>(&(types()[name] = *methods));
  };
  (void)declare_filter_types(nullptr, true);
}

/// Adds keys, as far as that takes little memory, and aborts if one is not found.
inline void use(filter_value& filter) {
  const std::vector<std::string_view> keys = {"any key", "another", ""};
  std::vector<digest> digests(keys.size());
  filter.hash()(keys, digests);
  std::vector<verdict> verdicts(keys.size());
  // Values with a window: of the newest slice, or of the first one that there is.
  const auto& slices = filter.state().slices;
  const window::slice_index slice = slices.empty() ? 0 : slices.back().index;
  const std::vector<std::uint64_t> layers = filter.layers_for({digests, verdicts, slice, {}});
  for (const std::uint64_t bytes : layers)
    if (bytes > most_bytes) return;
  filter.prepare(layers);
  (void)filter.add({digests, verdicts, slice, {}});
  std::vector<verdict> found(keys.size());
  filter.check({digests, found, slice, {}});
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (verdicts[i] != verdict::unknown && found[i] != verdict::seen) std::abort();
}

}  // namespace everseen::redis_module::fuzzing
