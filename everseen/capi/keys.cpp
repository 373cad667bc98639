#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/capi/handles.hpp"

// Batches of keys, in each layout.
namespace everseen::capi {
namespace {

static_assert(static_cast<int>(verdict::fresh) == EVERSEEN_FRESH &&
              static_cast<int>(verdict::seen) == EVERSEEN_SEEN &&
              static_cast<int>(verdict::late) == EVERSEEN_LATE &&
              static_cast<int>(verdict::unknown) == EVERSEEN_UNKNOWN && sizeof(verdict) == 1);

/// Judges keys, a bounded number at a time.
/// @param key   the i-th key; may throw parameter_error
/// @param call  of the filter: keys, verdicts, times
template <typename Key, typename Call>
everseen_status judge(const everseen_filter* f, std::size_t count, const std::int64_t* times,
                      std::size_t times_count, std::uint8_t* verdicts, Key key, Call call) noexcept {
  if (verdicts != nullptr) std::fill_n(verdicts, count, std::uint8_t{EVERSEEN_UNKNOWN});
  return guarded([&] {
    must_not_be_null(f, "filter");
    if (count == 0) return;
    must_not_be_null(verdicts, "verdicts");
    if constexpr (requires { key.validate(count); }) key.validate(count);
    const std::vector<event_time> all = times_of(f->has_window, {times, times_count}, count);
    const std::span<const event_time> when = all;
    f->filter.must_accept(when);  // before the first of several batches
    std::vector<std::string_view> keys(std::min(count, keys_at_once));
    std::optional<batch_failure> failure;
    for (std::size_t from = 0; from < count; from += keys.size()) {
      const std::size_t some = std::min(keys.size(), count - from);
      for (std::size_t i = 0; i < some; ++i) keys[i] = key(from + i);
      batch_result judged =
          call(std::span(keys).first(some), std::span(reinterpret_cast<verdict*>(verdicts) + from, some),
               when.size() > 1 ? when.subspan(from, some) : when);
      if (judged) continue;
      const bool ends = judged.error().ends_batch();
      if (!failure || ends) failure = std::move(judged).error();
      if (ends) break;
    }
    if (failure) failure->raise();
  });
}

template <typename Key>
everseen_status add(everseen_filter* f, std::size_t count, const std::int64_t* times, std::size_t times_count,
                    std::uint8_t* verdicts, Key key) noexcept {
  return judge(f, count, times, times_count, verdicts, key,
               [f](auto keys, auto out, auto when) { return f->filter.add(keys, out, when); });
}

template <typename Key>
everseen_status check(const everseen_filter* f, std::size_t count, const std::int64_t* times,
                      std::size_t times_count, std::uint8_t* verdicts, Key key) noexcept {
  return judge(f, count, times, times_count, verdicts, key,
               [f](auto keys, auto out, auto when) { return f->filter.may_contain(keys, out, when); });
}

auto slices(const everseen_slice* keys) {
  return [keys](std::size_t i) {
    must_not_be_null(keys, "keys");
    return key_in(keys[i].bytes, keys[i].length);
  };
}

template <typename Offset>
struct between_offsets {
  const void* bytes;
  const Offset* offsets;

  /// Once this has passed, no key reaches further than the last offset.
  void validate(std::size_t count) const {
    must_not_be_null(offsets, "offsets");
    for (std::size_t i = 0; i < count; ++i)
      if (offsets[i] < 0 || offsets[i + 1] < offsets[i])
        throw parameter_error("the offsets of key " + std::to_string(i) + " are " +
                              std::to_string(offsets[i]) + " and " + std::to_string(offsets[i + 1]) +
                              "; they must ascend");
    if (offsets[0] < offsets[count]) must_not_be_null(bytes, "bytes");
  }
  std::string_view operator()(std::size_t i) const {
    if (offsets[i] == offsets[i + 1]) return {};
    return {static_cast<const char*>(bytes) + offsets[i],
            static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

template <typename Offset>
between_offsets<Offset> between(const void* bytes, const Offset* offsets) {
  return {bytes, offsets};
}

auto fixed(const void* bytes, std::size_t width) {
  return [bytes, width](std::size_t i) {
    if (width == 0) return std::string_view();
    must_not_be_null(bytes, "bytes");
    return std::string_view(static_cast<const char*>(bytes) + i * width, width);
  };
}

/// The decimal digits of integers. They are written where those of the key `keys_at_once` before were:
/// judge() asks for no more keys than that before it uses them.
template <typename Integer>
class decimal {
 public:
  explicit decimal(const Integer* keys) noexcept : keys_(keys) {}

  void validate(std::size_t count) {
    must_not_be_null(keys_, "keys");
    keys_written_.resize(std::min(count, keys_at_once));
  }
  std::string_view operator()(std::size_t i) {
    digits& key = keys_written_[i % keys_written_.size()];
    return {key.data(), std::to_chars(key.data(), key.data() + key.size(), keys_[i]).ptr};
  }

 private:
  // The sign, and one digit more than those that the type holds of any number.
  using digits = std::array<char, std::numeric_limits<Integer>::digits10 + 2>;

  const Integer* keys_;
  std::vector<digits> keys_written_;
};

}  // namespace
}  // namespace everseen::capi

namespace capi = everseen::capi;

everseen_status everseen_add_slices(everseen_filter* filter, const everseen_slice* keys, size_t count,
                                    const int64_t* times, size_t times_count, uint8_t* verdicts) {
  return capi::add(filter, count, times, times_count, verdicts, capi::slices(keys));
}

everseen_status everseen_check_slices(const everseen_filter* filter, const everseen_slice* keys, size_t count,
                                      const int64_t* times, size_t times_count, uint8_t* verdicts) {
  return capi::check(filter, count, times, times_count, verdicts, capi::slices(keys));
}

everseen_status everseen_add_offsets32(everseen_filter* filter, const void* bytes, const int32_t* offsets,
                                       size_t count, const int64_t* times, size_t times_count,
                                       uint8_t* verdicts) {
  return capi::add(filter, count, times, times_count, verdicts, capi::between(bytes, offsets));
}

everseen_status everseen_check_offsets32(const everseen_filter* filter, const void* bytes,
                                         const int32_t* offsets, size_t count, const int64_t* times,
                                         size_t times_count, uint8_t* verdicts) {
  return capi::check(filter, count, times, times_count, verdicts, capi::between(bytes, offsets));
}

everseen_status everseen_add_offsets64(everseen_filter* filter, const void* bytes, const int64_t* offsets,
                                       size_t count, const int64_t* times, size_t times_count,
                                       uint8_t* verdicts) {
  return capi::add(filter, count, times, times_count, verdicts, capi::between(bytes, offsets));
}

everseen_status everseen_check_offsets64(const everseen_filter* filter, const void* bytes,
                                         const int64_t* offsets, size_t count, const int64_t* times,
                                         size_t times_count, uint8_t* verdicts) {
  return capi::check(filter, count, times, times_count, verdicts, capi::between(bytes, offsets));
}

everseen_status everseen_add_fixed(everseen_filter* filter, const void* bytes, size_t width, size_t count,
                                   const int64_t* times, size_t times_count, uint8_t* verdicts) {
  return capi::add(filter, count, times, times_count, verdicts, capi::fixed(bytes, width));
}

everseen_status everseen_check_fixed(const everseen_filter* filter, const void* bytes, size_t width,
                                     size_t count, const int64_t* times, size_t times_count,
                                     uint8_t* verdicts) {
  return capi::check(filter, count, times, times_count, verdicts, capi::fixed(bytes, width));
}

everseen_status everseen_add_int64(everseen_filter* filter, const int64_t* keys, size_t count,
                                   const int64_t* times, size_t times_count, uint8_t* verdicts) {
  return capi::add(filter, count, times, times_count, verdicts, capi::decimal<int64_t>(keys));
}

everseen_status everseen_check_int64(const everseen_filter* filter, const int64_t* keys, size_t count,
                                     const int64_t* times, size_t times_count, uint8_t* verdicts) {
  return capi::check(filter, count, times, times_count, verdicts, capi::decimal<int64_t>(keys));
}

everseen_status everseen_add_uint64(everseen_filter* filter, const uint64_t* keys, size_t count,
                                    const int64_t* times, size_t times_count, uint8_t* verdicts) {
  return capi::add(filter, count, times, times_count, verdicts, capi::decimal<uint64_t>(keys));
}

everseen_status everseen_check_uint64(const everseen_filter* filter, const uint64_t* keys, size_t count,
                                      const int64_t* times, size_t times_count, uint8_t* verdicts) {
  return capi::check(filter, count, times, times_count, verdicts, capi::decimal<uint64_t>(keys));
}
