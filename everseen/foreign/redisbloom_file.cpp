#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/redisbloom/redisbloom.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/filter/filter_chunks.hpp"
#include "everseen/foreign/foreign_file.hpp"
#include "everseen/foreign/redisbloom/load_commands.hpp"

namespace everseen {

namespace {

[[noreturn]] void refuse_redisbloom(const std::string& why) {
  throw format_error("not a RedisBloom filter that everseen can continue: " + why);
}

constexpr std::size_t longest_header_bytes = redisbloom::header_bytes(growth::max_layers);

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
      reverse_bits_of_bytes(part, part);
    }
  }
  order.must_be_complete();
  loader.commit();
}

namespace {

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
      reverse_bits_of_bytes(bits.first(into.size()), into);
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

void export_redisbloom(const filter& f, std::string_view key, const image::byte_sink& output) {
  const redisbloom_announcement announced = announce_redisbloom(f);
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
