// Question: how do the error rates of other systems' filters compare with the formula (1 - e^(-kn/m))^k?
//
// `rate` is the fraction of keys never added that are called seen, `formula` the rate of a perfect hash,
// `times` the first divided by the second. A million keys are added and `rounds` times five million others
// are looked up, so with one round a rate below 1e-6 is only an order of magnitude. guava64 is the control:
// `times` is 1 if the method is right.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "everseen/foreign/bitmap/family.hpp"
#include "everseen/foreign/bitmap/redisson.hpp"

#include "bench/support.hpp"
#include "test/support/bits.hpp"

namespace everseen::bench {
namespace {

constexpr std::int64_t added = 1'000'000;
constexpr std::int64_t asked = 5'000'000;

/// Random fixed-length keys over an alphabet.
struct key_kind {
  std::string_view name;
  std::string_view alphabet;
  std::size_t length;
};

constexpr key_kind digits = {"11 digits", "0123456789", 11};
constexpr key_kind letters = {"8 letters", "abcdefghijklmnopqrstuvwxyz", 8};
constexpr key_kind hex = {"16 hexadecimal digits", "0123456789abcdef", 16};

std::string key_of(const key_kind& kind, std::uint64_t number) {
  std::string key(kind.length, ' ');
  for (char& each : key) {
    each = kind.alphabet[number % kind.alphabet.size()];
    number /= kind.alphabet.size();
  }
  return key;
}

std::vector<std::string> random_keys(const key_kind& kind, std::int64_t count, std::uint64_t seed) {
  std::vector<std::string> keys;
  for (const digest& each : random_digests(static_cast<std::size_t>(count), seed))
    keys.push_back(key_of(kind, each.low));
  return keys;
}

double measured_rate(const foreign::scheme& s, const key_kind& kind, std::uint64_t rounds) {
  std::vector<std::byte> bits(s.bits / 8 + 1);
  std::vector<std::uint64_t> places(s.probes);
  std::vector<std::string> inside = random_keys(kind, added, 1);
  for (const std::string& key : inside) {
    foreign::positions(s, key, places);
    for (const std::uint64_t p : places) set_bit(bits, p);
  }
  std::ranges::sort(inside);
  std::size_t wrong = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const std::string& key : random_keys(kind, asked, 2 + round)) {
      foreign::positions(s, key, places);
      if (!std::ranges::all_of(places, [&](std::uint64_t p) { return test_bit(bits, p); })) continue;
      wrong += std::ranges::binary_search(inside, key) ? 0U : 1U;  // by chance it may have been added
    }
  }
  return static_cast<double>(wrong) / static_cast<double>(rounds * asked);
}

void foreign_rate(benchmark::State& state, foreign::family which, key_kind kind) {
  const auto probes = static_cast<unsigned>(state.range(0));
  const auto bits = static_cast<std::uint64_t>(state.range(1));
  const auto rounds = static_cast<std::uint64_t>(state.range(2));
  const double formula =
      std::pow(-std::expm1(-double(probes) * added / static_cast<double>(bits)), double(probes));
  double rate = 0;
  for (auto _ : state) rate = measured_rate({which, bits, probes}, kind, rounds);
  state.SetLabel(std::string(kind.name));
  state.counters["rate"] = rate;
  state.counters["formula"] = formula;
  state.counters["times"] = rate / formula;
}

void cases(benchmark::internal::Benchmark* b) {
  b->ArgNames({"probes", "bits", "rounds"});
  b->ArgsProduct({{8, 16}, {1 << 24, 30 * added, 50 * added}, {1}});
  b->Iterations(1)->Unit(benchmark::kSecond);
}

/// More rounds, for bad hashes at low rates: a good hash would need a billion look-ups there.
void cases_and_many_rounds(benchmark::internal::Benchmark* b) {
  cases(b);
  b->Args({16, 50 * added, 10});
}

/// Sizes that tryInit() chooses for a million keys at 1 %, 0.1 %, 1e-6 and 1e-9.
void sizes_of_redisson(benchmark::internal::Benchmark* b) {
  b->ArgNames({"probes", "bits", "rounds"});
  for (const auto& [rate, rounds] :
       {std::pair(1e-2, 1), std::pair(1e-3, 1), std::pair(1e-6, 10), std::pair(1e-9, 100)}) {
    const auto size = foreign::redisson::smallest(added, rate);
    b->Args({size.probes, static_cast<std::int64_t>(size.bits), rounds});
  }
  b->Iterations(1)->Unit(benchmark::kSecond);
}

BENCHMARK_CAPTURE(foreign_rate, guava64_digits, foreign::family::guava64, digits)->Apply(cases);
BENCHMARK_CAPTURE(foreign_rate, redisson_digits, foreign::family::redisson, digits)->Apply(sizes_of_redisson);
BENCHMARK_CAPTURE(foreign_rate, bkdr_digits, foreign::family::bkdr, digits)->Apply(cases);
BENCHMARK_CAPTURE(foreign_rate, bkdr_letters, foreign::family::bkdr, letters)->Apply(cases);
BENCHMARK_CAPTURE(foreign_rate, bkdr_hex, foreign::family::bkdr, hex)->Apply(cases);
BENCHMARK_CAPTURE(foreign_rate, bkdr_php_digits, foreign::family::bkdr_php, digits)
    ->Apply(cases_and_many_rounds);
BENCHMARK_CAPTURE(foreign_rate, bkdr_php_letters, foreign::family::bkdr_php, letters)
    ->Apply(cases_and_many_rounds);
BENCHMARK_CAPTURE(foreign_rate, bkdr_php_hex, foreign::family::bkdr_php, hex)->Apply(cases_and_many_rounds);

}  // namespace
}  // namespace everseen::bench
