#include "everseen/dedup/record/record_ends.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "everseen/core/base/assert.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace everseen {

namespace {

constexpr std::size_t stride = 64;
constexpr char quote = '"';

/// Bit i is 1 if byte i of the 64 at `cursor` equals `wanted`.
std::uint64_t equal_bytes(const char* cursor, char wanted) noexcept {
#if defined(__SSE2__)  // part of every x86-64
  const __m128i pattern = _mm_set1_epi8(wanted);
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(cursor) + i);
    const auto equal = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, pattern)));
    mask |= std::uint64_t{equal} << (16 * i);
  }
  return mask;
#else
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < stride; ++i) mask |= std::uint64_t{cursor[i] == wanted} << i;
  return mask;
#endif
}

/// Bit i is the parity of the bits 0 to i.
std::uint64_t prefix_parity(std::uint64_t bits) noexcept {
  for (unsigned shift = 1; shift < stride; shift *= 2) bits ^= bits << shift;
  return bits;
}

/// What ends records. Quotes cost a comparison more, so they do not count where the text has none.
struct record_marks {
  record_marks(std::string_view text, char ends_record, bool knows_quotes) noexcept
      : separator(ends_record), quoted(knows_quotes && text.find(quote) != std::string_view::npos) {}
  record_marks(std::string_view text, const record_format& format) noexcept
      : record_marks(text, format.separator, format.quoted) {}
  char separator;
  bool quoted;
};

/// The separators in consecutive strides of a text, without those between quotes. A quotation mark that is
/// doubled within quotes ends them and begins them again, which has the same effect.
class separators {
 public:
  separators(record_marks marks, bool in_quotes) noexcept
      : marks_(marks), inside_(in_quotes ? ~std::uint64_t{0} : 0) {}

  std::uint64_t in_next(const char* cursor) noexcept {
    const std::uint64_t found = equal_bytes(cursor, marks_.separator);
    if (!marks_.quoted) return found;
    const std::uint64_t marks = equal_bytes(cursor, quote);
    if (marks == 0) return found & ~inside_;
    const std::uint64_t quoted = prefix_parity(marks) ^ inside_;
    inside_ = quoted >> (stride - 1) != 0 ? ~std::uint64_t{0} : 0;
    return found & ~quoted;
  }
  /// The same for less than a stride. Call it last.
  std::uint64_t in_last(std::string_view rest) noexcept {
    char padded[stride] = {};
    rest.copy(padded, rest.size());
    return in_next(padded) & ((std::uint64_t{1} << rest.size()) - 1);
  }

 private:
  record_marks marks_;
  std::uint64_t inside_;  // all bits if the next byte lies between quotes
};

/// Calls `take(offset, mask)` for each stride of the text, until it returns false.
template <typename Take>
void for_each_stride(std::string_view text, record_marks marks, Take take, bool in_quotes = false) {
  separators all(marks, in_quotes);
  std::size_t position = 0;
  for (; position + stride <= text.size(); position += stride)
    if (!take(position, all.in_next(text.data() + position))) return;
  take(position, all.in_last(text.substr(position)));
}

}  // namespace

void find_record_ends(std::string_view text, const record_format& format, std::vector<std::uint32_t>& ends) {
  EVERSEEN_ASSERT(text.size() <= std::size_t{1} << 32);
  std::array<std::uint32_t, 16 * stride> found;  // a vector would be filled with zeros first
  std::size_t used = 0;
  const auto append = [&] { ends.insert(ends.end(), found.begin(), found.begin() + std::exchange(used, 0)); };
  for_each_stride(text, record_marks(text, format), [&](std::size_t position, std::uint64_t mask) {
    if (used + stride > found.size()) append();
    for (; mask != 0; mask &= mask - 1)
      found[used++] =
          static_cast<std::uint32_t>(position) + static_cast<std::uint32_t>(std::countr_zero(mask));
    return true;
  });
  append();
}

std::size_t end_of_first_record(std::string_view text, const record_format& format) noexcept {
  std::size_t found = std::string_view::npos;
  for_each_stride(text, record_marks(text, format), [&](std::size_t position, std::uint64_t mask) {
    if (mask != 0) found = position + static_cast<std::size_t>(std::countr_zero(mask));
    return mask == 0;
  });
  return found;
}

bool ends_in_quotes(std::string_view text, const record_format& format) noexcept {
  return format.quoted && std::count(text.begin(), text.end(), quote) % 2 != 0;
}

void growing_records::look_at(std::string_view text) noexcept {
  const std::size_t before = std::exchange(looked_at_, text.size());
  const std::string_view part = text.substr(before);
  if (part.empty()) return;  // memrchr takes no null pointer
  const record_marks marks(part, separator_, knows_quotes_);
  if (marks.quoted) {
    for_each_stride(
        part, marks,
        [&](std::size_t position, std::uint64_t mask) {
          if (mask != 0) end_ = before + position + static_cast<std::size_t>(std::bit_width(mask));
          return true;
        },
        in_quotes_);
    in_quotes_ = in_quotes_ != (std::count(part.begin(), part.end(), quote) % 2 != 0);
  } else if (!in_quotes_) {
    const void* const last = memrchr(part.data(), separator_, part.size());
    if (last != nullptr)
      end_ = before + static_cast<std::size_t>(static_cast<const char*>(last) - part.data()) + 1;
  }
}

}  // namespace everseen
