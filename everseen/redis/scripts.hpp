#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace everseen::redis {

/// A Lua script and the name under which a server keeps it.
struct script {
  std::string text;
  std::string sha1;  ///< 40 hexadecimal digits
};

/// The scripts that everseen runs inside Redis. Each is atomic, touches only the keys it is given (all in one
/// slot), and first checks that the partition's epoch is the one the caller planned for; where it is not, it
/// changes nothing and answers `S` (stale).
///
/// Positions travel as decimal strings (positions.hpp): Redis's Lua formats a number with %.17g each time it
/// is passed to a command, which costs more than the command.
namespace scripts {

/// Judges keys and adds the fresh ones.
///
/// Keys of several slices go together: each names the segment that it is written to, and is compared with
/// all others.
///
/// KEYS  state, token, the segments to look up, last those to write
/// ARGV  epoch, sequence, life of the token in ms, `1` to mark keys that find no room and go on instead of
///       stopping, then the keys (script_text::segments)
/// Returns a character a key: 0 fresh, 1 seen, 2 late, 3 no room; fewer than keys where it stopped for want
///         of room.
///         `S` stale, `M` no state, `C` no count, `D<n>` segment n is missing or has another length.
///
/// A batch is remembered with its answer under the token key; the same sequence gets the same answer again,
/// and the token a new life: a write, too, so that a WAIT behind the call waits for what the first attempt
/// wrote.
///
/// A lower sequence than the remembered one comes from a connection that was given up: nobody waits for it,
/// and it must not push out the memory of a later batch: it is answered `O` (old).
[[nodiscard]] const script& add(unsigned probes);

/// Judges keys and changes nothing.
///
/// KEYS  state, the segments    ARGV  epoch, then the keys as above, none of the segments written to
/// Returns as above.
[[nodiscard]] const script& check(unsigned probes);

/// Makes a segment that is not published yet at least so long, filling up with zeros; never writes inside
/// what is there. It is forgotten after its life, unless it is published or lengthened again before.
///
/// KEYS  state, segment    ARGV  epoch, bytes, life in ms    Returns the length; `S` stale, `M` no state.
[[nodiscard]] const script& lengthen();

/// Replaces the list of a partition's segments by the next one.
///
/// KEYS  state, the new segment, the segments to forget
/// ARGV  epoch, next epoch, next manifest, length of the new segment, its count field, the count fields to
/// forget
/// Returns `K` done, `S` stale, `M` no state, `D1` the new segment has another length.
/// The new segment ends when the state's field `ends_at` says, or never.
[[nodiscard]] const script& publish();

/// Gives a partition's state another epoch, one field more, and segments less.
///
/// KEYS  state, the segments to forget
/// ARGV  epoch, next epoch, next manifest, the field (`` for none), its value, the count fields to forget
/// Returns `K` done, `S` stale, `M` no state.
[[nodiscard]] const script& revise();

/// Gives all keys of a partition one moment at which they end, in another epoch of its state.
///
/// KEYS  state, all segments
/// ARGV  epoch, next epoch, next manifest, a field (`` for none), its value, the end in milliseconds since
/// 1970
/// (`` for never), the lengths of the segments (`` for what does not matter)
/// Returns `K` done, `S` stale, `M` no state, `D<n>` segment n has another length.
[[nodiscard]] const script& settle();

/// Adds the bits of a page to a segment.
/// KEYS  segment    ARGV  where the page begins, its bytes    Returns `K` done, `D` it does not reach so far.
[[nodiscard]] const script& merge();

/// Changes fields of a header if others are what they are believed to be; the empty text stands for no field.
/// With the field `ends_at` the header's own end changes.
///
/// KEYS  header    ARGV  number of conditions, field and value of each, then field and value of each change
/// Returns 1 done, 0 a condition does not hold.
[[nodiscard]] const script& change_header();

/// Makes a filter's header, unless there is another one; it ends at its field `ends_at`, if it has one.
/// KEYS  header    ARGV  `id`, the id, then field, value, ...    Returns 1 it is this one, 0 another.
[[nodiscard]] const script& begin();

/// Puts a header out of sight, because its filter is being dropped.
/// KEYS  header    ARGV  its generation
/// Returns 1 done, 0 there is none of this generation, 2 it is being renamed.
[[nodiscard]] const script& hide();

/// Puts a header in place of what has its key, once.
///
/// KEYS  header, token    ARGV  until when, life of the token in ms, number of conditions, field and value of
/// each, as they are now (none: there is no such key), then field, value, ...
/// Returns `K` done, by this call or an earlier copy of it, whatever came after; `T` it is too late, `C` a
/// condition does not hold.
[[nodiscard]] const script& arrive();

/// Unlinks a header.
/// KEYS  header    ARGV  its generation, empty if it has none that can be read    Returns as above.
[[nodiscard]] const script& remove();

/// Unlinks a header if it is what it is believed to be; the empty text stands for no field.
/// KEYS  header    ARGV  field and value of each condition    Returns 1 done, 0 a condition does not hold.
[[nodiscard]] const script& remove_if();

/// The n of an answer `D<n>`, from 1 to as many segments as were named; nothing if the answer is another.
[[nodiscard]] std::optional<std::size_t> damaged_segment(std::string_view said, std::size_t segments);

}  // namespace scripts
}  // namespace everseen::redis
