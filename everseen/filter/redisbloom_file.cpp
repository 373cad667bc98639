#include "everseen/compat/redisbloom/redisbloom_file.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "everseen/compat/bitmap/bit_order.hpp"
#include "everseen/compat/redisbloom/chain_spec.hpp"
#include "everseen/compat/redisbloom/redisbloom_dump.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/filter/filter_chunks.hpp"
#include "everseen/filter/foreign_file.hpp"
#include "everseen/filter/foreign_refusals.hpp"
#include "everseen/filter/redisbloom_chunks.hpp"

namespace everseen {

namespace {

namespace redisbloom = compat::redisbloom;

constexpr std::size_t longest_header_bytes = redisbloom::header_bytes(growth::max_layers);

[[noreturn]] void refuse_redisbloom(const std::string& why) {
  throw format_error("not a RedisBloom filter that everseen can continue: " + why);
}

std::vector<std::byte> read_header(redisbloom::file_reader& in) {
  const auto pair = in.next();
  if (!pair || pair->iterator != 1) refuse_redisbloom("it does not begin with the header, chunk 1");
  if (pair->bytes > longest_header_bytes)
    throw parameter_error(
        "the filter has more than " + std::to_string(growth::max_layers) +
        " layers, which is more than RedisBloom's own can have; create a larger one and migrate its keys");
  std::vector<std::byte> header(pair->bytes);
  in.read(header);
  return header;
}

}  // namespace

announced_filter announced_by_redisbloom(std::span<const std::byte> header) {
  return redisbloom::filter_of(redisbloom::decode_header(header));
}

void import_redisbloom(store& into, std::string_view name, const foreign_source& from) {
  redisbloom::file_reader in(from.read);
  const std::vector<std::byte> header = read_header(in);
  const redisbloom::announced_chain announced = redisbloom::decode_header(header);
  const std::uint64_t bytes =
      std::accumulate(announced.lengths.begin(), announced.lengths.end(), std::uint64_t{0});
  if (from.bytes && bytes > *from.bytes)
    refuse_redisbloom("its header promises " + std::to_string(bytes) + " bytes, and the file has " +
                      std::to_string(*from.bytes));
  chunk_loader loader(into, name, header);
  redisbloom::chunk_order order(announced.lengths);  // a file has each chunk once, in order
  while (const auto pair = in.next()) {
    (void)order.take(pair->iterator, pair->bytes);
    for (auto rest = loader.place(pair->iterator, pair->bytes); !rest.empty();
         rest = rest.subspan(std::min(rest.size(), foreign_buffer_bytes))) {
      const auto part = rest.first(std::min(rest.size(), foreign_buffer_bytes));
      in.read(part);
      compat::reverse_bits_of_bytes(part, part);
    }
  }
  order.must_be_complete();
  loader.commit();
}

}  // namespace everseen
