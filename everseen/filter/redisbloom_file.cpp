#include "everseen/compat/redisbloom/redisbloom_file.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "everseen/compat/bitmap/bit_order.hpp"
#include "everseen/compat/redisbloom/redisbloom_dump.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/layout/foreign.hpp"
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

spec spec_of(const redisbloom::chain& from) {
  const redisbloom::layer& first = from.layers.front();
  must_be_settable(first.probes);
  spec s;
  s.layout = layout_kind::redisbloom;
  s.hash = foreign::hash_of(s.layout);
  s.growth = from.grows() ? growth_kind::grow : growth_kind::refuse;
  s.capacity = first.capacity;
  s.error_rate = from.grows() ? 2 * first.error_rate : first.error_rate;
  s.probes = static_cast<std::uint8_t>(first.probes);
  s.foreign.powers_of_two = (from.flags & redisbloom::flags::exact_size) == 0;
  s.foreign.expansion = from.expansion;
  return s;
}

/// Each layer must be the one that RedisBloom would have created there, since the chain continues to grow
/// from it.
void must_be_planned(const spec& s, unsigned index, const redisbloom::layer& l, std::uint64_t bytes) {
  const std::string name = "layer " + std::to_string(index);
  const std::uint64_t used = l.log2_bits > 0 ? std::uint64_t{1} << l.log2_bits : 8 * bytes;
  if (bytes % 8 != 0 || used != 8 * bytes || (l.log2_bits > 0) != s.foreign.powers_of_two)
    refuse_redisbloom(name + " uses " + std::to_string(used) + " bits of " + std::to_string(bytes) +
                      " bytes");
  growth::layer_plan plan;
  try {
    plan = growth::plan_layer(s, index);
  } catch (const full_error&) {
    refuse_redisbloom(name + " is more than it could have grown to");
  }
  if (l.capacity != plan.capacity)
    refuse_redisbloom(name + " is for " + std::to_string(l.capacity) + " keys, where its expansion of " +
                      std::to_string(s.foreign.expansion) + " gives " + std::to_string(plan.capacity));
  if (!(std::abs(l.error_rate - plan.error_rate) <= 1e-9 * plan.error_rate) || l.probes != plan.shape.probes)
    refuse_redisbloom(name + " does not have half of the previous layer's error rate");
  if (s.foreign.powers_of_two) return;  // the rounded size says nothing about the requested one
  // Another library's logarithm may differ in the last digit, which can change the size by one word.
  const double words = foreign::redisbloom_size({l.capacity, l.error_rate}, false).size.words;
  if (std::abs(static_cast<double>(bytes / 8) - words) > 1)
    refuse_redisbloom(name + " has " + std::to_string(bytes / 8) +
                      " words, where its capacity and rate need " +
                      std::to_string(static_cast<std::uint64_t>(words)));
}

spec checked_spec(const redisbloom::announced_chain& from) {
  spec s = spec_of(from.of);
  s.foreign.first_bytes = from.lengths.front();
  must_be_possible(s.error_rate);
  validate(s);
  if (from.lengths.size() > 1 && s.growth != growth_kind::grow)
    refuse_redisbloom("it has several layers and must not grow");
  for (unsigned i = 0; i < from.lengths.size(); ++i)
    must_be_planned(s, i, from.of.layers[i], from.lengths[i]);
  return s;
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
  const redisbloom::announced_chain from = redisbloom::decode_header(header);
  announced_filter f{checked_spec(from)};
  f.is_redisbloom = true;
  for (std::uint32_t i = 0; i < from.lengths.size(); ++i) {
    const redisbloom::layer& l = from.of.layers[i];
    const geometry shape = {layout_kind::redisbloom, static_cast<std::uint16_t>(l.probes), from.lengths[i]};
    f.segments.push_back({{0, window::timeless, i}, {shape, l.capacity, l.keys}});
  }
  return f;
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
