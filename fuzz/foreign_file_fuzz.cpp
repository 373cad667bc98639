// A file of another system that is imported must be exported byte for byte, and its filter must answer for
// any key and accept more. The first byte of an input selects the system (g or r), and whether the rest, the
// file, arrives through a pipe of unknown length (G or R).
//
// Decodes: everseen/foreign/guava_file.cpp, everseen/foreign/redisbloom_file.cpp,
// everseen/core/redisbloom/redisbloom.cpp

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>

#include "everseen/core/base/error.hpp"
#include "everseen/foreign/foreign_file.hpp"
#include "everseen/store/memory/memory_store.hpp"

namespace {

using namespace everseen;
using bytes = std::span<const std::byte>;

/// The size that a pipe announces is trusted up to the available room.
class small_store final : public memory_store {
 public:
  [[nodiscard]] store_traits traits() const override {
    store_traits mine;
    mine.room_bytes = std::uint64_t{1} << 20;
    return mine;
  }
};

foreign_source pipe_of(bytes& rest, std::size_t at_a_time) {
  return {[&rest, at_a_time](std::span<std::byte> into) {
    const std::size_t count = std::min({into.size(), rest.size(), at_a_time});
    std::copy_n(rest.begin(), count, into.begin());
    rest = rest.subspan(count);
    return count;
  }};
}

enum class medium : std::uint8_t { file, pipe };

foreign_source source_of(bytes& rest, medium how) {
  foreign_source source = pipe_of(rest, how == medium::pipe ? 7 : rest.size());
  if (how == medium::file) source.bytes = rest.size();
  return source;
}

image::byte_sink append_to(std::string& text) {
  return [&text](bytes more) { text.append(reinterpret_cast<const char*>(more.data()), more.size()); };
}

void require(bool holds) {
  if (!holds) std::abort();
}

/// A full chain is skipped: it would grow by as much as its numbers say.
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

void import_as_guava(bytes file, medium how) {
  small_store store;
  bytes rest = file;
  import_guava(store, "f", source_of(rest, how), {funnel_kind::int64, std::nullopt});
  const filter f("f", store.open("f", access::write));
  std::string again;
  export_guava(f, append_to(again));
  require(std::ranges::equal(std::as_bytes(std::span(again)), file));
  go_on(f);
}

/// The file determines its chunks and its key, so the export is imported again instead of being compared
/// with the file.
void import_as_redisbloom(bytes file, medium how) {
  small_store store;
  bytes rest = file;
  import_redisbloom(store, "f", source_of(rest, how));
  const filter f("f", store.open("f", access::write));
  std::string once;
  export_redisbloom(f, "key", append_to(once));
  bytes exported = std::as_bytes(std::span(once));
  import_redisbloom(store, "g", source_of(exported, how));
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
    const medium how = data[0] == 'G' || data[0] == 'R' ? medium::pipe : medium::file;
    const bool guava = data[0] == 'g' || data[0] == 'G';
    (guava ? import_as_guava : import_as_redisbloom)(input.subspan(1), how);
  } catch (const format_error&) {
    // refused, as most inputs should be
  } catch (const parameter_error&) {
    // a filter that everseen cannot represent
  }
  return 0;
}
