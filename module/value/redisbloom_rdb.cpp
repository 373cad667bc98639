#include "module/value/redisbloom_rdb.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "everseen/core/base/bit_order.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/redisbloom/redisbloom_dump.hpp"
#include "everseen/core/spec/growth.hpp"

#include "module/server/free_memory.hpp"
#include "module/value/loaded_bytes.hpp"

namespace everseen::redis_module {

namespace {

constexpr int oldest_encoding = 2;
constexpr int first_with_expansion = 4;

std::uint64_t load_number(api::rdb* from) {
  const std::uint64_t number = api::load_unsigned(from);
  if (api::is_rdb_damaged(from) != 0) throw format_error("the data of a filter is cut off");
  return number;
}

/// A number of a smaller type.
template <typename Small>
Small load_small(api::rdb* from) {
  const std::uint64_t number = load_number(from);
  if (number > std::numeric_limits<Small>::max()) throw format_error("a number of a filter is out of bounds");
  return static_cast<Small>(number);
}

double load_decimal(api::rdb* from) {
  const double number = api::load_double(from);
  if (api::is_rdb_damaged(from) != 0) throw format_error("the data of a filter is cut off");
  return number;
}

}  // namespace

std::unique_ptr<filter_value> load_redisbloom(api::rdb* from, int encoding) {
  if (encoding < oldest_encoding || encoding > redisbloom_encoding)
    throw format_error("encoding " + std::to_string(encoding) + " of RedisBloom's filters is not known");
  redisbloom::announced_chain chain;
  chain.shape.keys = load_number(from);
  const std::uint64_t layers = load_number(from);
  if (layers == 0 || layers > growth::max_layers)
    throw format_error("a filter with an impossible number of layers");
  chain.shape.flags = load_small<std::uint32_t>(from);
  chain.shape.expansion = encoding >= first_with_expansion ? load_small<std::uint32_t>(from) : 2;
  std::vector<server_memory> bits;
  bits.reserve(layers);
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < layers; ++i) {
    redisbloom::layer_shape l;
    l.capacity = load_number(from);
    l.error_rate = load_decimal(from);
    l.probes = load_small<std::uint32_t>(from);
    l.bits_per_key = load_decimal(from);
    (void)load_number(from);  // the number of bits, which follows from the bytes
    l.log2_bits = load_small<std::uint8_t>(from);
    loaded_bytes loaded(from);
    bytes += loaded.get().size();
    must_fit(nullptr, bytes, 0);
    chain.lengths.push_back(loaded.get().size());
    bits.emplace_back(loaded.release());
    l.keys = load_number(from);
    chain.shape.layers.push_back(l);
  }
  // The header of a dump has the same fields, so one decoder checks both.
  const announced_filter announced =
      redisbloom::filter_of(redisbloom::decode_header(redisbloom::encode_header(chain)));
  // The strings of the RDB become the layers: a filter is never in memory twice.
  auto made = std::make_unique<filter_value>(announced, std::move(bits));
  for (std::size_t i = 0; i < announced.segments.size(); ++i)
    reverse_bits_of_bytes(made->bits(i), made->bits(i));
  return made;
}

void save_redisbloom(api::rdb* file, const filter_value& filter) {
  const redisbloom::announced_chain chain = redisbloom::chain_of(filter.get_spec(), filter.state());
  api::save_unsigned(file, chain.shape.keys);
  api::save_unsigned(file, chain.shape.layers.size());
  api::save_unsigned(file, chain.shape.flags);
  api::save_unsigned(file, chain.shape.expansion);
  for (std::size_t i = 0; i < chain.shape.layers.size(); ++i) {
    const redisbloom::layer_shape& l = chain.shape.layers[i];
    api::save_unsigned(file, l.capacity);
    api::save_double(file, l.error_rate);
    api::save_unsigned(file, l.probes);
    api::save_double(file, l.bits_per_key);
    api::save_unsigned(file, 8 * chain.lengths[i]);
    api::save_unsigned(file, l.log2_bits);
    std::vector<std::byte> bits(chain.lengths[i]);
    reverse_bits_of_bytes(filter.bits(i), bits);
    api::save_bytes(file, reinterpret_cast<const char*>(bits.data()), bits.size());
    api::save_unsigned(file, l.keys);
  }
}

}  // namespace everseen::redis_module
