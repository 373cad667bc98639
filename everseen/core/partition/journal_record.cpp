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

}  // namespace

std::size_t record_bytes(const journal_record& r) noexcept {
  return journal_record_head_bytes + group_bytes * r.groups.size() + key_bytes(r.short_keys) * r.keys.size() +
         journal_record_tail_bytes;
}

std::uint64_t append_record(std::string& out, const journal_record& r) {
  EVERSEEN_ASSERT(r.keys.size() <= max_journal_record_keys && r.groups.size() <= r.keys.size());
  const std::size_t begin = out.size();
  const std::size_t bytes = record_bytes(r);
  out.reserve(begin + bytes);
  const auto put = [&](auto value) {
    std::array<char, sizeof value> raw;
    store_le(raw.data(), value);
    out.append(raw.data(), raw.size());
  };
  put(r.short_keys ? short_magic : whole_magic);
  put(static_cast<std::uint32_t>(bytes));
  put(r.previous);
  put(r.newest);
  put(static_cast<std::uint32_t>(r.groups.size()));
  put(static_cast<std::uint32_t>(r.keys.size()));
  for (const journal_record::group& g : r.groups) {
    put(g.slice);
    put(g.keys);
  }
  append_keys(out, r);
  const std::uint64_t sum = sum_of(out.data() + begin, bytes - journal_record_tail_bytes);
  put(sum);
  return sum;
}

std::optional<journal_record> journal_reader::next() {
  if (rest_.size() < journal_record_head_bytes) return std::nullopt;
  const char* cursor = rest_.data();
  const auto take = [&]<typename Integer>(Integer& into) {
    into = load_le<Integer>(cursor);
    cursor += sizeof into;
  };
  std::uint32_t is_magic = 0;
  std::uint32_t bytes = 0;
  std::uint32_t groups = 0;
  std::uint32_t keys = 0;
  journal_record r;
  take(is_magic);
  take(bytes);
  take(r.previous);
  take(r.newest);
  take(groups);
  take(keys);
  if (is_magic != whole_magic && is_magic != short_magic) refuse("it does not begin like one");
  r.short_keys = is_magic == short_magic;
  // Lengths are checked before the checksum, which depends on them, and before memory is allocated from them.
  if (bytes > max_journal_record_bytes || groups > keys || keys > max_journal_record_keys ||
      bytes != journal_record_head_bytes + group_bytes * std::size_t{groups} +
                   key_bytes(r.short_keys) * std::size_t{keys} + journal_record_tail_bytes)
    refuse("its length does not fit its counts");
  // Not damage: the rest may not have been read yet.
  if (rest_.size() < bytes) return std::nullopt;
  const std::uint64_t sum = sum_of(rest_.data(), bytes - journal_record_tail_bytes);
  if (load_le64(rest_.data() + bytes - journal_record_tail_bytes) != sum) refuse("its checksum does not fit");

  std::uint64_t counted = 0;
  r.groups.resize(groups);
  for (std::size_t i = 0; i < groups; ++i) {
    journal_record::group& g = r.groups[i];
    take(g.slice);
    take(g.keys);
    if (g.keys == 0 || g.keys > keys - counted) refuse("its groups do not fit its keys");
    if (g.slice > r.newest || (i > 0 && g.slice <= r.groups[i - 1].slice)) refuse("its slices do not ascend");
    counted += g.keys;
  }
  if (counted != keys) refuse("its groups do not fit its keys");
  r.keys.resize(keys);
  read_keys(r.keys, cursor, r.short_keys);
  rest_.remove_prefix(bytes);
  last_checksum_ = sum;
  return r;
}

}  // namespace everseen
