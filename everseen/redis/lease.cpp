#include "everseen/redis/lease.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <thread>

#include "everseen/redis/url_text.hpp"

namespace everseen::redis {

namespace {

std::int64_t number_of(std::string_view text) noexcept {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string new_owner() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string name;
  for (const auto byte : image::random_filter_id()) {
    const auto value = static_cast<unsigned>(byte);
    name += digits[value >> 4 & 15];
    name += digits[value & 15];
  }
  return name;
}

std::optional<std::chrono::milliseconds> lease_left(const reply& lease, const reply& time) {
  const std::size_t colon = lease.text().find(':');
  if (colon == std::string_view::npos || time.size() != 2) return {};
  const std::int64_t now = number_of(time[0].text()) * 1000 + number_of(time[1].text()) / 1000;
  const std::int64_t left = number_of(lease.text().substr(colon + 1)) - now;
  if (left <= 0) return {};
  return std::chrono::milliseconds(left);
}

std::optional<std::chrono::milliseconds> held_for(std::string_view said) {
  constexpr std::uint64_t longest = 1'000'000'000;  // nobody means more
  if (!said.starts_with('L')) return {};
  const auto left = url_text::read_number(said.substr(1));
  if (!left) return {};
  return std::chrono::milliseconds(std::clamp<std::uint64_t>(*left, 1, longest));
}

std::string held_message(const remote_filter& f, std::uint32_t partition, std::chrono::milliseconds left) {
  return "the partition " + f.keys.state(f.generation, partition) +
         " is held by another client that loads it in bulk (gear=merge), for " +
         std::to_string(left.count()) + " ms more unless it goes on; try again when it is done";
}

bool lease_wait::is_over() const noexcept {
  return begin_ ? std::chrono::steady_clock::now() - *begin_ >= patience_ : patience_.count() == 0;
}

void lease_wait::pause() {
  if (!begin_) begin_ = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(pauses_.next());
}

}  // namespace everseen::redis
