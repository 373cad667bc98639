#include "everseen/core/redisbloom/bloom_request.hpp"

#include <algorithm>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/layout/sizing.hpp"

namespace everseen::redisbloom {

namespace {

constexpr std::int64_t most_expansion = 32'768;

/// RedisBloom 8 takes higher rates as this one, so a filter and its chunks are those of a filter of this
/// rate.
constexpr double most_error_rate = 0.25;

/// Whether a word is the beginning of another, with at least this many letters. RedisBloom looks only at the
/// first letters, and accepts any word that begins with them; a misspelt word is refused here.
bool abbreviates(std::string_view word, std::string_view capitals, std::size_t least) noexcept {
  return word.size() >= least && word.size() <= capitals.size() &&
         is_word(word, capitals.substr(0, word.size()));
}

std::optional<std::uint64_t> read_capacity(std::string_view word) noexcept {
  const auto capacity = read_number<std::int64_t>(word);
  if (!capacity || *capacity < 1 || static_cast<std::uint64_t>(*capacity) > max_capacity) return std::nullopt;
  return static_cast<std::uint64_t>(*capacity);
}

std::uint64_t capacity_of(std::string_view word) {
  if (!read_number<std::int64_t>(word)) throw bloom_refusal{"ERR bad capacity"};
  const auto capacity = read_capacity(word);
  if (!capacity)
    throw bloom_refusal{"ERR capacity must be in the range [1, " + std::to_string(max_capacity) + "]"};
  return *capacity;
}

double error_rate_of(std::string_view word) {
  if (!read_decimal(word)) throw bloom_refusal{"ERR bad error rate"};
  const auto rate = read_error_rate(word);
  if (!rate) throw bloom_refusal{"ERR error rate must be in the range (0.000000, 1.000000)"};
  return *rate;
}

/// The default that it overrides may be not to grow.
void set_expansion(bloom_request& r, std::int64_t expansion) {
  r.spec.growth = expansion == 0 ? growth_kind::refuse : growth_kind::grow;
  if (expansion != 0) r.expansion = static_cast<std::uint32_t>(expansion);
}

}  // namespace

bloom_request default_bloom_request() {
  bloom_request r;
  r.spec.capacity = 100;
  r.spec.error_rate = 0.01;
  return r;
}

std::optional<double> read_error_rate(std::string_view word) {
  const auto rate = read_decimal(word);
  if (!rate || *rate <= 0 || *rate >= 1) return std::nullopt;
  if (*rate < sizing::min_error_rate)
    throw bloom_refusal{"ERR error rate must be at least 1e-15: no filter errs less"};
  static_assert(sizing::min_error_rate == 1e-15);
  return std::min(*rate, most_error_rate);
}

bloom_request parse_reserve(bloom_words w) {
  if (w.size() < 4 || w.size() > 7) throw bloom_refusal{};
  bloom_request r;
  r.spec.error_rate = error_rate_of(w[2]);
  r.spec.capacity = capacity_of(w[3]);
  const bloom_words options = w.subspan(4);
  const auto find = [&](std::string_view capitals) {
    return std::find_if(options.begin(), options.end(),
                        [&](std::string_view word) { return is_word(word, capitals); });
  };
  if (find("NONSCALING") != options.end()) r.spec.growth = growth_kind::refuse;
  const auto expands = find("EXPANSION");
  if (expands == options.end()) return r;
  if (expands + 1 == options.end()) throw bloom_refusal{"ERR no expansion"};
  const auto expansion = read_number<std::int64_t>(*(expands + 1));
  if (!expansion) throw bloom_refusal{"ERR bad expansion"};
  if (*expansion != 0 && r.spec.growth == growth_kind::refuse)
    throw bloom_refusal{"Nonscaling filters cannot expand"};
  if (*expansion < 0 || *expansion > most_expansion)
    throw bloom_refusal{"ERR expansion must be in the range [0, " + std::to_string(most_expansion) + "]"};
  set_expansion(r, *expansion);
  return r;
}

bloom_insert parse_insert(bloom_words w, const bloom_request& unless_given) {
  bloom_insert r{unless_given};
  bool may_grow = true;
  std::size_t i = 2;
  const auto value = [&]() -> std::string_view {
    if (++i == w.size()) throw bloom_refusal{};
    return w[i];
  };
  for (; i < w.size(); ++i) {
    if (abbreviates(w[i], "ITEMS", 1)) {
      r.first_item = i + 1;
      break;
    }
    if (abbreviates(w[i], "NOCREATE", 3)) {
      r.may_create = false;
    } else if (abbreviates(w[i], "NONSCALING", 3)) {
      may_grow = false;
    } else if (abbreviates(w[i], "CAPACITY", 1)) {
      const auto capacity = read_capacity(value());
      if (!capacity) throw bloom_refusal{"Bad capacity"};
      r.create.spec.capacity = capacity;
    } else if (abbreviates(w[i], "ERROR", 2)) {
      const auto rate = read_error_rate(value());
      if (!rate) throw bloom_refusal{"Bad error rate"};
      r.create.spec.error_rate = *rate;
    } else if (abbreviates(w[i], "EXPANSION", 2)) {
      const auto expansion = read_number<std::int64_t>(value());
      if (!expansion || *expansion < 0 || *expansion > most_expansion) throw bloom_refusal{"Bad expansion"};
      set_expansion(r.create, *expansion);
    } else {
      throw bloom_refusal{"Unknown argument received"};
    }
  }
  if (r.first_item == 0 || r.first_item >= w.size()) throw bloom_refusal{};
  if (!may_grow) r.create.spec.growth = growth_kind::refuse;  // whatever expansion was given
  return r;
}

}  // namespace everseen::redisbloom
