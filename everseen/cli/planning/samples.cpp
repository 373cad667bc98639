#include "everseen/cli/planning/samples.hpp"

#include <array>
#include <charconv>
#include <concepts>
#include <cstring>
#include <string_view>

#include "everseen/core/spec/time_text.hpp"

namespace everseen::cli {

namespace {

/// Draws small numbers from the top of one random word. Each uses log2(range) of its 64 bits; as long as
/// some 20 are left, the last has a bias below 2^-20.
class digits_of {
 public:
  explicit digits_of(std::uint64_t random) noexcept : rest_(random) {}
  [[nodiscard]] unsigned below(unsigned range) noexcept {
    const draw::uint128 product = draw::uint128{rest_} * range;
    rest_ = static_cast<std::uint64_t>(product);
    return static_cast<unsigned>(product >> 64);
  }

 private:
  std::uint64_t rest_;
};

char* put(char* out, std::string_view text) noexcept {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

template <std::integral Number>
char* put(char* out, Number number) noexcept {
  return std::to_chars(out, out + 20, number).ptr;
}

char* put_hex(char* out, std::uint64_t word) noexcept {
  for (int shift = 60; shift >= 0; shift -= 4) *out++ = "0123456789abcdef"[word >> shift & 15];
  return out;
}

constexpr std::array<std::string_view, 8> sites = {"news",  "shop",  "maps",  "mail",
                                                   "video", "music", "games", "wiki"};
constexpr std::array<std::string_view, 16> countries = {"AR", "AU", "BR", "CN", "DE", "ES", "FR", "GB",
                                                        "IN", "JP", "KE", "MX", "NG", "PL", "US", "ZA"};

}  // namespace

char* sample_words::write(std::uint64_t record, char* out) const noexcept {
  constexpr unsigned shortest = 4;
  constexpr unsigned from_first_draw = 8;  // letters: 3.2 + 8 * 4.7 bits, which leaves 23
  sample_random random(seed_, record);
  digits_of first(random.next());
  const unsigned length = shortest + first.below(max_chars - shortest + 1);
  for (unsigned i = 0; i < from_first_draw; ++i) out[i] = static_cast<char>('a' + first.below(26));
  if (length > from_first_draw) {
    digits_of second(random.next());
    for (unsigned i = from_first_draw; i < length; ++i) out[i] = static_cast<char>('a' + second.below(26));
  }
  return out + length;
}

char* sample_ids::write(std::uint64_t record, char* out) const noexcept {
  return put(out, first_ + sample_random(seed_, record).below(count_));
}

event_time sample_clicks::time_of(std::uint64_t record, sample_random& random) const noexcept {
  using std::chrono::milliseconds;
  const std::uint64_t second = record / options_.events_a_second;
  const std::uint64_t part = record % options_.events_a_second * 1000 / options_.events_a_second;
  event_time time = options_.start + milliseconds(static_cast<std::int64_t>(second * 1000 + part));
  const auto back = late_(random.next()) ? options_.late_by : options_.disorder;
  return time -
         milliseconds(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(back.count()) + 1)));
}

char* sample_clicks::write(std::uint64_t record, char* out) const noexcept {
  sample_random random(seed_, record);
  const event_time time = time_of(record, random);
  digits_of small(random.next());
  const std::string_view site = sites[small.below(sites.size())];
  const std::string_view country = countries[small.below(countries.size())];
  const std::uint64_t user = random.below(options_.users);

  const bool json = options_.lines == click_options::format::json;
  const bool text_time = options_.times == click_options::time_format::rfc3339;
  const std::string_view quote = json && text_time ? "\"" : "";
  out = put(out, json ? R"({"id":")" : "");
  // A bijection of the record's number, so that ids never collide.
  out = put_hex(out, sample_random::mix(sample_random::mix(seed_) ^ record));
  out = put(put(out, json ? R"(","time":)" : ","), quote);
  out = text_time ? write_event_time(time, out) : put(out, time.time_since_epoch().count());
  out = put(put(put(out, quote), json ? R"(,"site":")" : ","), site);
  out = put(put(out, json ? R"(","country":")" : ","), country);
  out = put(put(out, json ? R"(","user":)" : ","), user);
  return put(out, json ? "}" : "");
}

}  // namespace everseen::cli
