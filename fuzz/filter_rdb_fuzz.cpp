// A filter of the Redis module that loads from an RDB is saved as one that loads equally, and keeps keys; so
// is one that is rewritten to an append-only file.
//
// An input is a byte that chooses the type and its encoding, and what the module reads: numbers and doubles
// of 8 bytes, strings after their length of 4. If the highest bit of the first byte is set, the checksum of
// the first string is made right, so that inputs get past it.
//
// Decodes: module/value/filter_type.cpp

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "everseen/core/base/checksum.hpp"

#include "fuzz/module_values.hpp"
#include "module/value/filter_chunks.hpp"

namespace {

using namespace everseen;
using namespace everseen::redis_module;

void mend_first_string(std::string& bytes) {
  if (bytes.size() < 12) return;
  auto* const begin = reinterpret_cast<std::byte*>(bytes.data());
  const std::size_t length = std::min<std::size_t>(load_le<std::uint32_t>(begin), bytes.size() - 4);
  if (length < 8) return;
  store_le(begin + 4 + length - 8, checksum(std::span(begin + 4, length - 8)));
}

std::string saved(const api::type_methods& type, void* value) {
  fuzzing::image to;
  type.rdb_save(fuzzing::as_rdb(to), value);
  return to.bytes;
}

std::string digest_of(const api::type_methods& type, void* value) {
  std::string all;
  type.digest(reinterpret_cast<api::digest_state*>(&all), value);
  return all;
}

/// What a server makes of the commands that an append-only file has for a value.
void check_rewriting(const api::type_methods& type, void* value) {
  fuzzing::image file;
  type.aof_rewrite(fuzzing::as_rdb(file), nullptr, value);
  const auto next = [&file] {
    const auto iterator = file.number<std::int64_t>();
    const std::string_view bytes = file.take(file.number<std::uint32_t>());
    return std::pair(iterator, std::as_bytes(std::span(bytes)));
  };
  filter_value copy(announced_by(next().second));
  while (file.at < file.bytes.size()) {
    const auto [iterator, bytes] = next();
    (void)load_chunk(copy, iterator, bytes);
  }
  if (digest_of(type, &copy) != digest_of(type, value)) std::abort();
}

/// A value is found at the key where it was put; one as large as this is freed in another thread.
void check_key() {
  spec s;
  s.capacity = 20'000'000;
  s.error_rate = 0.001;
  s.partitions = 1;
  auto large = std::make_unique<filter_value>(s);
  const std::size_t usual = std::exchange(fuzzing::most_bytes, std::size_t{1} << 30);
  fuzzing::use(*large);
  fuzzing::most_bytes = usual;
  filter_value& placed = put(nullptr, std::move(large));
  static filter_value* there = nullptr;
  there = &placed;
  api::value_of = [](api::key*) -> void* { return there; };
  api::key* const some = reinterpret_cast<api::key*>(&there);
  if (filter_of(some) != there || filter_of(nullptr) != nullptr) std::abort();
  fuzzing::types().at("everseen1").free(&placed);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*words*/) {
  fuzzing::begin();
  check_key();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const api::type_methods& type = fuzzing::types().at((data[0] & 1) != 0 ? "everseen1" : "MBbloom--");
  const int encoding = (data[0] & 1) != 0 ? 1 : (data[0] >> 1 & 7);
  fuzzing::image from{{reinterpret_cast<const char*>(data) + 1, size - 1}};
  if ((data[0] & 128) != 0) mend_first_string(from.bytes);
  void* const value = type.rdb_load(fuzzing::as_rdb(from), encoding);
  if (value == nullptr) return 0;
  const std::string once = saved(type, value);
  fuzzing::image again{once};
  void* const second = type.rdb_load(fuzzing::as_rdb(again), (data[0] & 1) != 0 ? 1 : 4);
  if (second == nullptr || again.at != once.size() || saved(type, second) != once) std::abort();
  type.free(second);
  if (void* const copy = type.copy(nullptr, nullptr, value); copy != nullptr) {
    if (saved(type, copy) != once) std::abort();
    type.free(copy);
  }
  check_rewriting(type, value);
  (void)type.mem_usage(value);
  (void)type.free_effort(nullptr, value);
  try {
    fuzzing::use(*static_cast<filter_value*>(value));
  } catch (const error&) {
    // memory that a fuzzer may not have
  }
  type.free(value);
  return 0;
}
