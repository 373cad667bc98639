#include "everseen/server/commands/bloom_requests.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "everseen/core/layout/sizing.hpp"
#include "everseen/server/base/numbers.hpp"

namespace everseen::server {

namespace {

constexpr std::int64_t most_expansion = 32'768;

std::uint64_t parse_capacity(std::string_view word) {
  const auto capacity = read_integer(word);
  if (!capacity) throw refusal{"ERR bad capacity"};
  if (*capacity < 1 || static_cast<std::uint64_t>(*capacity) > max_capacity)
    throw refusal{"ERR capacity must be in the range [1, " + std::to_string(max_capacity) + "]"};
  return static_cast<std::uint64_t>(*capacity);
}

double parse_error_rate(std::string_view word) {
  if (!read_decimal(word)) throw refusal{"ERR bad error rate"};
  const auto rate = read_error_rate(word);
  if (!rate) throw refusal{"ERR error rate must be in the range (0.000000, 1.000000)"};
  return *rate;
}

/// RedisBloom 8 takes higher rates as this one, so a filter and its chunks are those of a filter of this
/// rate.
constexpr double most_error_rate = 0.25;

/// Whether a word is the beginning of another, with at least this many letters. RedisBloom looks only at the
/// first letters, and accepts any word that begins with them; a misspelt word is refused here.
bool abbreviates(std::string_view word, std::string_view capitals, std::size_t least) noexcept {
  return word.size() >= least && word.size() <= capitals.size() &&
         is_word(word, capitals.substr(0, word.size()));
}

/// EXPANSION 0 requests a filter that does not grow.
void set_expansion(filter_registry::request& r, std::int64_t expansion) {
  if (expansion == 0)
    r.spec.growth = growth_kind::refuse;
  else
    r.requested.expansion = static_cast<std::uint32_t>(expansion);
}

}  // namespace

spec_request default_request() {
  spec_request r;
  r.capacity = 100;
  r.error_rate = 0.01;
  return r;
}

std::optional<double> read_error_rate(std::string_view word) {
  const auto rate = read_decimal(word);
  if (!rate || *rate <= 0 || *rate >= 1) return std::nullopt;
  if (*rate < sizing::min_error_rate)
    throw refusal{
        fmt::format("ERR error rate must be at least {}: no filter errs less", sizing::min_error_rate)};
  return std::min(*rate, most_error_rate);
}

filter_registry::request parse_reserve(word_list w) {
  if (w.size() > 7) throw wrong_arity(w[0]);
  filter_registry::request r{default_request(), {}, {}};
  r.spec.error_rate = parse_error_rate(w[2]);
  r.spec.capacity = parse_capacity(w[3]);
  const word_list options = w.subspan(4);
  const auto find = [&](std::string_view capitals) {
    return std::find_if(options.begin(), options.end(),
                        [&](std::string_view word) { return is_word(word, capitals); });
  };
  if (find("NONSCALING") != options.end()) r.spec.growth = growth_kind::refuse;
  const auto expands = find("EXPANSION");
  if (expands == options.end()) return r;
  if (expands + 1 == options.end()) throw refusal{"ERR no expansion"};
  const auto expansion = read_integer(*(expands + 1));
  if (!expansion) throw refusal{"ERR bad expansion"};
  if (*expansion != 0 && r.spec.growth == growth_kind::refuse)
    throw refusal{"Nonscaling filters cannot expand"};
  if (*expansion < 0 || *expansion > most_expansion)
    throw refusal{"ERR expansion must be in the range [0, " + std::to_string(most_expansion) + "]"};
  set_expansion(r, *expansion);
  return r;
}

insert_request parse_insert(word_list w) {
  insert_request r{{default_request(), {}, {}}, true, {}};
  std::size_t i = 2;
  const auto value = [&]() -> std::string_view {
    if (++i == w.size()) throw wrong_arity(w[0]);
    return w[i];
  };
  for (; i < w.size(); ++i) {
    if (abbreviates(w[i], "ITEMS", 1)) {
      r.keys = w.subspan(i + 1);
      break;
    }
    if (abbreviates(w[i], "NOCREATE", 3)) {
      r.may_create = false;
    } else if (abbreviates(w[i], "NONSCALING", 3)) {
      r.create.spec.growth = growth_kind::refuse;
    } else if (abbreviates(w[i], "CAPACITY", 1)) {
      const auto capacity = read_integer(value());
      if (!capacity || *capacity < 1 || static_cast<std::uint64_t>(*capacity) > max_capacity)
        throw refusal{"Bad capacity"};
      r.create.spec.capacity = static_cast<std::uint64_t>(*capacity);
    } else if (abbreviates(w[i], "ERROR", 2)) {
      const auto rate = read_error_rate(value());
      if (!rate) throw refusal{"Bad error rate"};
      r.create.spec.error_rate = *rate;
    } else if (abbreviates(w[i], "EXPANSION", 2)) {
      const auto expansion = read_integer(value());
      if (!expansion || *expansion < 0 || *expansion > most_expansion) throw refusal{"Bad expansion"};
      set_expansion(r.create, *expansion);
    } else {
      throw refusal{"Unknown argument received"};
    }
  }
  if (r.keys.empty()) throw wrong_arity(w[0]);
  return r;
}

}  // namespace everseen::server
