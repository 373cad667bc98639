#include "everseen/filter/redisbloom_file.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "everseen/compat/bitmap/bit_order.hpp"
#include "everseen/compat/redisbloom/chain_spec.hpp"
#include "everseen/compat/redisbloom/redisbloom_dump.hpp"
#include "everseen/compat/redisbloom/redisbloom_file.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/filter/filter_chunks.hpp"
#include "everseen/filter/foreign_file.hpp"

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

namespace {

namespace redisbloom = compat::redisbloom;

/// The header, and whether its layers have bits. Layers of a filter without keys are all zero.
struct announcement {
  redisbloom::announced_chain chain;
  bool has_bits = true;
};

announcement announce(const filter& f) {
  const partition_state state = f.stored().state(0);
  return {redisbloom::chain_of(f.get_spec(), state), state.bytes() > 0};
}

[[noreturn]] void emptied_meanwhile(const filter& f) {
  throw storage_error(quoted_name(f.name()) + " was emptied while it was copied; copy it again", 0, f.name());
}

/// Calls `visit(layer, bits)` for the announced layers, in order.
///
/// Keys added since may be in the bits; layers created since are skipped. If a layer has fewer keys than
/// announced, the filter was emptied since.
/// @throws storage_error  the filter was emptied
template <typename Visit>
void visit_announced(const filter& f, const announcement& a, Visit visit) {
  const auto& layers = a.chain.shape.layers;
  std::size_t next = 0;
  f.stored().visit_segments(
      0, [&](const segment_id& id, const layer_state& layer, std::span<const std::byte> bits) {
        if (id.layer >= layers.size()) return;
        if (id.layer != next || layer.keys < layers[next].keys || bits.size() != a.chain.lengths[next])
          emptied_meanwhile(f);
        visit(next++, bits);
      });
  if (a.has_bits && next < layers.size()) emptied_meanwhile(f);
}

void write_text(const image::byte_sink& out, std::string_view text) {
  out(std::as_bytes(std::span(text)));
}

/// Writes the bits of one layer after another, in pairs as RedisBloom would split them.
class layer_writer {
 public:
  layer_writer(std::string_view key, const image::byte_sink& out)
      : key_(key), out_(out), chunk_(foreign_buffer_bytes) {}

  void write(std::span<const std::byte> bits) {
    write_pairs(bits.size(), [&bits](std::span<std::byte> into) {
      compat::reverse_bits_of_bytes(bits.first(into.size()), into);
      bits = bits.subspan(into.size());
    });
  }
  /// For a layer without keys.
  void write_zeros(std::uint64_t bytes) {
    write_pairs(bytes, [](std::span<std::byte> into) { std::ranges::fill(into, std::byte{0}); });
  }

 private:
  /// @param fill  produces the next bytes in RedisBloom's bit order
  template <typename Fill>
  void write_pairs(std::uint64_t bytes, Fill fill) {
    while (bytes > 0) {
      const std::uint64_t pair = std::min<std::uint64_t>(bytes, redisbloom::max_chunk_bytes);
      iterator_ += static_cast<std::int64_t>(pair);
      write_text(out_, redisbloom::command_before(key_, {iterator_, pair}));
      for (std::uint64_t left = pair; left > 0;) {
        const auto part = std::span(chunk_).first(std::min<std::uint64_t>(left, foreign_buffer_bytes));
        fill(part);
        out_(part);
        left -= part.size();
      }
      write_text(out_, redisbloom::command_after);
      bytes -= pair;
    }
  }

  std::string_view key_;
  const image::byte_sink& out_;
  std::vector<std::byte> chunk_;
  std::int64_t iterator_ = 1;
};

}  // namespace

filter_chunk dump_redisbloom(const filter& f, std::int64_t iterator) {
  if (f.get_spec().layout != layout_kind::redisbloom) throw no_such_export(f, "RedisBloom", "redisbloom");
  const announcement announced = announce(f);
  if (iterator == 0) return {1, redisbloom::encode_header(announced.chain)};
  if (iterator < 0) return {};
  const std::span<const std::uint64_t> lengths = announced.chain.lengths;
  auto found = static_cast<std::uint64_t>(iterator - 1);
  std::size_t wanted = 0;
  while (wanted < lengths.size() && found >= lengths[wanted]) found -= lengths[wanted++];
  if (wanted == lengths.size()) return {};
  const std::uint64_t count = std::min<std::uint64_t>(redisbloom::max_chunk_bytes, lengths[wanted] - found);
  filter_chunk chunk{iterator + static_cast<std::int64_t>(count), std::vector<std::byte>(count)};
  visit_announced(f, announced, [&](std::size_t layer, std::span<const std::byte> bits) {
    if (layer == wanted) compat::reverse_bits_of_bytes(bits.subspan(found, count), chunk.bytes);
  });
  return chunk;
}

void export_redisbloom(const filter& f, std::string_view key, const image::byte_sink& output) {
  if (f.get_spec().layout != layout_kind::redisbloom) throw no_such_export(f, "RedisBloom", "redisbloom");
  const announcement announced = announce(f);
  const std::vector<std::byte> header = redisbloom::encode_header(announced.chain);
  write_text(output, redisbloom::command_before(key, {1, header.size()}));
  output(header);
  write_text(output, redisbloom::command_after);

  layer_writer out(key, output);
  bool has_bits = false;
  visit_announced(f, announced, [&](std::size_t /*layer*/, std::span<const std::byte> bits) {
    has_bits = true;
    out.write(bits);
  });
  if (!has_bits)
    for (const std::uint64_t bytes : announced.chain.lengths) out.write_zeros(bytes);
}

}  // namespace everseen
