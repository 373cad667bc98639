#include "everseen/core/partition/journal_record.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <span>

#include "everseen/core/base/assert.hpp"
#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/base/error.hpp"

namespace everseen {

namespace {

constexpr std::uint32_t whole_magic = 0x4A535645;  // "EVSJ"
constexpr std::uint32_t short_magic = 0x6A535645;  // "EVSj"
constexpr std::uint32_t merge_magic = 0x4D535645;  // "EVSM"
constexpr std::size_t group_bytes = 16;

constexpr std::size_t key_bytes(bool short_keys) noexcept {
  return short_keys ? sizeof(std::uint64_t) : sizeof(digest);
}

std::uint64_t sum_of(const char* from, std::size_t bytes) noexcept {
  return checksum(std::as_bytes(std::span(from, bytes)));
}

[[noreturn]] void refuse(const char* problem) {
  throw format_error(std::string("a record of the journal is damaged: ") + problem);
}

void append_keys(std::string& out, const journal_record& r) {
  if (r.keys.empty()) return;
  if (!r.short_keys) {
    out.append(reinterpret_cast<const char*>(r.keys.data()), sizeof(digest) * r.keys.size());
    return;
  }
  std::size_t position = out.size();
  out.resize(position + sizeof(std::uint64_t) * r.keys.size());
  for (const digest& key : r.keys) {
    store_le(out.data() + position, key.low);
    position += sizeof key.low;
  }
}

/// @pre  there are as many keys at `from` as `into` has elements
void read_keys(std::vector<digest>& into, const char* from, bool short_keys) {
  if (into.empty()) return;
  if (!short_keys) {
    std::memcpy(into.data(), from, sizeof(digest) * into.size());
    return;
  }
  for (digest& key : into) {
    key = lengthened(load_le64(from));
    from += sizeof key.low;
  }
}

std::size_t bytes_of(std::span<const journal_record::piece> pieces) noexcept {
  std::size_t bytes = 0;
  for (const journal_record::piece& p : pieces) bytes += p.bits.size();
  return bytes;
}

/// Of the fields before a record's groups or pieces.
struct record_head {
  std::uint32_t magic = 0;
  std::uint32_t bytes = 0;
  std::uint64_t previous = 0;
  window::slice_index newest = 0;
  std::uint32_t parts = 0;  // groups or pieces
  std::uint32_t keys = 0;   // in a merge, bytes of all pieces

  /// Whether its length fits its counts. It is checked before the checksum, which depends on it, and before
  /// memory is allocated from the counts.
  [[nodiscard]] bool fits() const noexcept {
    constexpr std::size_t around = journal_record_head_bytes + journal_record_tail_bytes;
    if (bytes > max_journal_record_bytes || bytes < around) return false;
    if (magic == merge_magic)
      return parts > 0 && bytes == around + journal_piece_head_bytes * std::size_t{parts} + keys;
    return parts <= keys && keys <= max_journal_record_keys &&
           bytes == around + group_bytes * std::size_t{parts} +
                        key_bytes(magic == short_magic) * std::size_t{keys};
  }
};

template <typename Integer>
void take(Integer& into, const char*& from) {
  into = load_le<Integer>(from);
  from += sizeof into;
}

void read_groups(journal_record& r, const record_head& head, const char* from) {
  std::uint64_t counted = 0;
  r.groups.resize(head.parts);
  for (std::size_t i = 0; i < head.parts; ++i) {
    journal_record::group& g = r.groups[i];
    take(g.slice, from);
    take(g.keys, from);
    if (g.keys == 0 || g.keys > head.keys - counted) refuse("its groups do not fit its keys");
    if (g.slice > r.newest || (i > 0 && g.slice <= r.groups[i - 1].slice)) refuse("its slices do not ascend");
    counted += g.keys;
  }
  if (counted != head.keys) refuse("its groups do not fit its keys");
  r.keys.resize(head.keys);
  read_keys(r.keys, from, r.short_keys);
}

/// Whether a piece may follow another one.
bool follows(const journal_record::piece& p, const journal_record::piece& before) noexcept {
  if (p.slice != before.slice) return p.slice > before.slice;
  if (p.layer != before.layer) return p.layer > before.layer;
  return p.keys == before.keys && p.offset >= before.offset && p.offset - before.offset >= before.bits.size();
}

/// @param end  of the bytes that pieces may have
void read_pieces(journal_record& r, const record_head& head, const char* from, const char* end) {
  r.pieces.resize(head.parts);
  for (std::size_t i = 0; i < head.parts; ++i) {
    journal_record::piece& p = r.pieces[i];
    if (static_cast<std::size_t>(end - from) < journal_piece_head_bytes) refuse("its pieces are cut off");
    std::uint32_t bytes = 0;
    take(p.slice, from);
    take(p.layer, from);
    take(bytes, from);
    take(p.offset, from);
    take(p.keys, from);
    if (bytes > static_cast<std::size_t>(end - from)) refuse("its pieces are cut off");
    p.bits.assign(from, bytes);
    from += bytes;
    if (p.slice > r.newest || (i > 0 && !follows(p, r.pieces[i - 1]))) refuse("its pieces do not ascend");
  }
  if (from != end) refuse("its length does not fit its pieces");
}

}  // namespace

std::size_t record_bytes(const journal_record& r) noexcept {
  return journal_record_head_bytes + journal_piece_head_bytes * r.pieces.size() + bytes_of(r.pieces) +
         group_bytes * r.groups.size() + key_bytes(r.short_keys) * r.keys.size() + journal_record_tail_bytes;
}

std::uint64_t append_record(std::string& out, const journal_record& r) {
  EVERSEEN_ASSERT(r.keys.size() <= max_journal_record_keys && r.groups.size() <= r.keys.size());
  EVERSEEN_ASSERT(r.pieces.empty() || r.keys.empty());
  const std::size_t begin = out.size();
  const std::size_t bytes = record_bytes(r);
  EVERSEEN_ASSERT(bytes <= max_journal_record_bytes);
  out.reserve(begin + bytes);
  const auto put = [&](auto value) {
    std::array<char, sizeof value> raw;
    store_le(raw.data(), value);
    out.append(raw.data(), raw.size());
  };
  const bool merges = !r.pieces.empty();
  put(merges ? merge_magic : r.short_keys ? short_magic : whole_magic);
  put(static_cast<std::uint32_t>(bytes));
  put(r.previous);
  put(r.newest);
  put(static_cast<std::uint32_t>(merges ? r.pieces.size() : r.groups.size()));
  put(static_cast<std::uint32_t>(merges ? bytes_of(r.pieces) : r.keys.size()));
  for (const journal_record::group& g : r.groups) {
    put(g.slice);
    put(g.keys);
  }
  append_keys(out, r);
  for (const journal_record::piece& p : r.pieces) {
    put(p.slice);
    put(p.layer);
    put(static_cast<std::uint32_t>(p.bits.size()));
    put(p.offset);
    put(p.keys);
    out += p.bits;
  }
  const std::uint64_t sum = sum_of(out.data() + begin, bytes - journal_record_tail_bytes);
  put(sum);
  return sum;
}

std::optional<journal_record> journal_reader::next() {
  if (rest_.size() < journal_record_head_bytes) return std::nullopt;
  const char* cursor = rest_.data();
  record_head head;
  take(head.magic, cursor);
  take(head.bytes, cursor);
  take(head.previous, cursor);
  take(head.newest, cursor);
  take(head.parts, cursor);
  take(head.keys, cursor);
  if (head.magic != whole_magic && head.magic != short_magic && head.magic != merge_magic)
    refuse("it does not begin like one");
  if (!head.fits()) refuse("its length does not fit its counts");
  // Not damage: the rest may not have been read yet.
  if (rest_.size() < head.bytes) return std::nullopt;
  const char* const end = rest_.data() + head.bytes - journal_record_tail_bytes;
  const std::uint64_t sum = sum_of(rest_.data(), head.bytes - journal_record_tail_bytes);
  if (load_le64(end) != sum) refuse("its checksum does not fit");

  journal_record r{.previous = head.previous, .newest = head.newest};
  r.short_keys = head.magic == short_magic;
  if (head.magic == merge_magic)
    read_pieces(r, head, cursor, end);
  else
    read_groups(r, head, cursor);
  rest_.remove_prefix(head.bytes);
  last_checksum_ = sum;
  return r;
}

}  // namespace everseen
