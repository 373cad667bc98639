#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/checksum.hpp"
#include "everseen/core/image.hpp"
#include "everseen/core/partition.hpp"

/// A whole filter as one stream of bytes: what `everseen export` writes and `everseen import` reads.
///
/// doc/format.md, "Export stream". The two classes see bytes through callbacks, so a pipe, a file or a socket
/// will do, and neither ever holds more than a chunk.
namespace everseen::image {

/// Takes the next bytes of a stream.
using byte_sink = std::function<void(std::span<const std::byte>)>;
/// Fills some of the span, at least one byte, and says how many; 0 at the end of the input.
using byte_source = std::function<std::size_t(std::span<std::byte>)>;

/// Writes a stream: construct, segment() for each segment in ascending order of id, finish().
///
/// What a throwing sink throws passes through; the stream is useless then.
class stream_writer {
 public:
  /// @param id  ties the segments to this stream; a fixed one makes the bytes reproducible
  stream_writer(byte_sink to, std::string_view name, const spec& s, const filter_id& id = random_filter_id());

  /// The bits may change meanwhile (another process may be adding keys): a chunk is copied before it is both
  /// summed and written, so that the checksum always fits what was written.
  /// @pre bits.size() == layer.shape.bytes
  void segment(const segment_id& id, const layer_state& layer, std::span<const std::byte> bits);

  /// Writes the end record, without which a stream counts as cut off.
  void finish();

 private:
  void write(std::span<const std::byte> bytes);

  byte_sink to_;
  filter_id id_;
  running_checksum whole_;
  running_checksum one_;
  std::vector<std::byte> chunk_;
  std::uint64_t segments_ = 0;
  std::uint64_t bit_bytes_ = 0;
};

/// How much a stream may ask for: what the reader's owner can afford.
struct stream_limits {
  std::uint64_t segment_bytes = std::uint64_t{1} << 40;  ///< longest bit array
  std::uint64_t total_bytes = std::uint64_t{1} << 44;    ///< all of them together
};

/// Reads a stream and believes none of it before it has checked it.
///
///     stream_reader in(from_stdin, limits);
///     auto target = store.begin_restore(in.name(), in.get_spec());
///     while (auto header = in.next()) in.read_bits(into(target->add_segment(header->id, …)));
///     target->commit();
///
/// A stream that is cut off, damaged, from another version, out of order or larger than the limits is a
/// format_error that says which; nothing is allocated from its numbers. Only when next() has returned nothing
/// was the whole stream intact, so commit no earlier. Reads not one byte beyond the stream's end.
class stream_reader {
 public:
  /// Reads up to the first segment.
  /// @throws format_error, parameter_error (the spec or name makes no sense)
  explicit stream_reader(byte_source from, const stream_limits& limits = {});

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const spec& get_spec() const noexcept { return spec_; }
  [[nodiscard]] const filter_id& id() const noexcept { return id_; }

  /// The next segment, its bits still to come (skipped, but checked, when read_bits is not called); nothing
  /// after the end record, whose counts and checksum have then been verified.
  [[nodiscard]] std::optional<segment_header> next();

  /// Hands the bits of the segment over in pieces, header.shape.bytes in all, as they arrive.
  /// @throws format_error  cut off, or damaged: what was handed over must then be thrown away
  void read_bits(const byte_sink& into);

 private:
  void read(std::span<std::byte> to, std::string_view what);
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
