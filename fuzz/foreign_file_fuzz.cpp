// A file of another system that is imported must be exported byte for byte, and its filter must answer for
// any key and go on. The first byte of an input says of which system, the rest is the file.

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>

#include "everseen/core/error.hpp"
#include "everseen/filter/foreign_file.hpp"
#include "everseen/store/memory_store.hpp"

namespace {

using namespace everseen;
using bytes = std::span<const std::byte>;

foreign_source file_of(bytes& rest) {
  const std::uint64_t length = rest.size();
  return {[&rest](std::span<std::byte> into) {
            const std::size_t count = std::min(into.size(), rest.size());
            std::copy_n(rest.begin(), count, into.begin());
            rest = rest.subspan(count);
            return count;
          },
          length};
}

image::byte_sink append_to(std::string& text) {
  return [&text](bytes more) { text.append(reinterpret_cast<const char*>(more.data()), more.size()); };
}

void require(bool holds) {
  if (!holds) std::abort();
}

/// A chain that is full would grow by as much as its numbers say.
void go_on(filter f) {
  const filter_info info = f.info();
  const auto& slices = info.partitions.front().slices;
  const bool has_room =
      !slices.empty() && slices.back().layers.back().keys < slices.back().layers.back().capacity;
  const bool seen = f.may_contain("7");
  if (!has_room) return;
  require(f.add("7") == (seen ? verdict::seen : verdict::fresh));
  require(f.may_contain("7"));
}

void import_as_guava(bytes file) {
  memory_store store;
  bytes rest = file;
  import_guava(store, "f", file_of(rest), {funnel_kind::int64, std::nullopt});
  const filter f("f", store.open("f", access::write));
  std::string again;
  export_guava(f, append_to(again));
  require(std::ranges::equal(std::as_bytes(std::span(again)), file));
  go_on(f);
}

/// How the chunks are cut, and the key, are the file's own affair: what is exported is read again instead.
void import_as_redisbloom(bytes file) {
  memory_store store;
  bytes rest = file;
  import_redisbloom(store, "f", file_of(rest));
  const filter f("f", store.open("f", access::write));
  std::string once;
  export_redisbloom(f, "key", append_to(once));
  bytes exported = std::as_bytes(std::span(once));
  import_redisbloom(store, "g", file_of(exported));
  std::string twice;
  export_redisbloom({"g", store.open("g", access::read)}, "key", append_to(twice));
  require(once == twice);
  go_on(f);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(data, size));
  try {
    (input[0] == std::byte{'g'} ? import_as_guava : import_as_redisbloom)(input.subspan(1));
  } catch (const format_error&) {
    // refused, as most inputs should be
  } catch (const parameter_error&) {
    // a filter that everseen cannot have
  }
  return 0;
}
