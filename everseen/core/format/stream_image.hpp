#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/checksum.hpp"
#include "everseen/core/format/byte_stream.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/core/partition/partition.hpp"

/// A whole filter as one stream of bytes: the format of `everseen export` and `everseen import`.
///
/// doc/format.md, "Export stream". Both classes access bytes through callbacks, so a pipe, a file or a socket
/// will do. Neither buffers more than a chunk.
namespace everseen::image {

/// Writes a stream: construct, segment() for each segment in ascending order of id, finish().
///
/// Exceptions of the sink propagate; the stream is then unusable.
class stream_writer {
 public:
  /// @param id  identifies the segments of this stream; a fixed id makes the bytes reproducible
  stream_writer(byte_sink out, std::string_view name, const spec& s,
                const filter_id& id = random_filter_id());

  /// The bits may change meanwhile, if another process adds keys. Each chunk is copied before it is
  /// checksummed and written, so the checksum always matches.
  /// @pre bits.size() == layer.shape.bytes
  void segment(const segment_id& id, const layer_state& layer, std::span<const std::byte> bits);

  /// Writes the end record; a stream without it counts as truncated.
  void finish();

 private:
  void write(std::span<const std::byte> bytes);

  byte_sink out_;
  filter_id id_;
  running_checksum whole_;
  running_checksum one_;
  std::vector<std::byte> chunk_;
  std::uint64_t segments_ = 0;
  std::uint64_t bit_bytes_ = 0;
};

/// Limits on the size of a stream, chosen by the caller of the reader.
struct stream_limits {
  std::uint64_t segment_bytes = std::uint64_t{1} << 40;  ///< maximum size of one bit array
  std::uint64_t total_bytes = std::uint64_t{1} << 44;    ///< maximum size of all bit arrays together
};

/// Reads a stream and verifies everything before use.
///
///     stream_reader in(from_stdin, limits);
///     auto target = store.begin_restore(in.name(), in.get_spec());
///     while (auto header = in.next()) in.read_bits(into(target->add_segment(header->id, …)));
///     target->commit();
///
/// A stream that is truncated, damaged, of another version, out of order or larger than the limits is a
/// format_error that names the fault; nothing is allocated from its numbers. The stream is verified
/// completely only when next() has returned nothing, so commit no earlier. Never reads past the end of the
/// stream.
class stream_reader {
 public:
  /// Reads up to the first segment.
  /// @throws format_error, parameter_error (the spec or name is invalid)
  explicit stream_reader(byte_source from, const stream_limits& limits = {});

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const spec& get_spec() const noexcept { return spec_; }
  [[nodiscard]] const filter_id& id() const noexcept { return id_; }

  /// The next segment; call read_bits for its bits, or they are skipped and only checked. Nothing after the
  /// end record, whose counts and checksum have then been verified.
  [[nodiscard]] std::optional<segment_header> next();

  /// Passes on the bits of the segment in pieces as they arrive, header.shape.bytes in total.
  /// @throws format_error  truncated or damaged: discard the bits passed on
  void read_bits(const byte_sink& into);

 private:
  void read(std::span<std::byte> out, std::string_view subject);
  void read_head();
  segment_header read_segment_header(std::span<std::byte> bytes);
  void check_end(std::span<std::byte> bytes);

  byte_source from_;
  stream_limits limits_;
  std::string name_;
  spec spec_;
  filter_id id_{};
  running_checksum whole_;
  running_checksum one_;
  std::vector<std::byte> chunk_;
  std::optional<segment_id> last_;
  std::uint64_t pending_ = 0;  // bytes of bits not yet read
  bool in_segment_ = false;
  bool ended_ = false;
  std::uint64_t segments_ = 0;
  std::uint64_t bit_bytes_ = 0;
};

}  // namespace everseen::image
