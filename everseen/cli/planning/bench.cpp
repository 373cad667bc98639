#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "everseen/cli/planning/samples.hpp"
#include "everseen/cli/planning/store_bench.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/kernel/kernels.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/everseen.hpp"
#include "everseen/store/memory/memory_segments.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

constexpr std::size_t most_keys = std::size_t{1} << 22;  // enough keys to reach all lines of 256 MiB
constexpr std::size_t batch = 4096;

constexpr std::uint64_t usual_store_keys = 1'000'000;

struct bench_arguments {
  std::optional<std::uint64_t> bytes;
  std::optional<std::string> store;
  std::optional<std::uint64_t> keys;
  bool json = false;
};

struct timing {
  double ns_a_key;
  std::size_t keys;  ///< that were processed
};

/// The best of a few runs over this many keys, a batch at a time. If keys are unusually slow (as under a
/// sanitizer), fewer keys suffice.
template <typename Work>
timing time_keys(std::size_t keys, Work work) {
  using seconds = std::chrono::duration<double>;
  constexpr seconds enough{0.5};
  seconds best{1e9};
  for (int run = 0; run < 3; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    seconds spent{0};
    std::size_t done = 0;
    while (done < keys && spent < enough) {
      const std::size_t some = std::min(batch, keys - done);
      work(done, some);
      done += some;
      spent = std::chrono::steady_clock::now() - begin;
    }
    keys = done;
    best = std::min(best, spent);
    if (spent >= enough) break;
  }
  return {best.count() / static_cast<double>(keys) * 1e9, keys};
}

/// The number of keys that fill a segment of this size about halfway.
std::size_t keys_for(std::uint64_t bytes) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(bytes / 2, std::size_t{1} << 16, most_keys));
}

std::vector<digest> sample_digests() {
  std::vector<digest> digests(most_keys);
  sample_random random(1, 0);
  for (digest& d : digests) d = {random.next(), random.next()};
  return digests;
}

/// Times one layout over a segment of this size, and checks the answers.
nlohmann::ordered_json measure(layout_kind layout, std::uint64_t bytes, const std::vector<digest>& digests) {
  const geometry shape = {layout, static_cast<std::uint8_t>(probes_of(layout, 7)),
                          bytes / line_bytes * line_bytes};
  const huge_memory bits(shape.bytes);
  std::memset(bits.data(), 0, shape.bytes);  // otherwise the first run would time page faults
  std::vector<verdict> out(most_keys);
  const timing add = time_keys(keys_for(bytes), [&](std::size_t from, std::size_t count) {
    best_kernel().add(bits.data(), shape, std::span(digests).subspan(from, count), out.data() + from);
  });
  const timing look_up = time_keys(add.keys, [&](std::size_t from, std::size_t count) {
    best_kernel().check(bits.data(), shape, std::span(digests).subspan(from, count), out.data() + from);
  });
  if (!std::all_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(look_up.keys),
                   [](verdict v) { return v == verdict::seen; }))
    throw format_error("a key that was added is not seen: this processor or its memory is broken");
  return {{"layout", to_string(layout)},
          {"bytes", shape.bytes},
          {"look_up_ns", look_up.ns_a_key},
          {"add_ns", add.ns_a_key}};
}

double hash_ns(hash_kind kind) {
  const hasher hash(kind, {});
  std::uint64_t sum = 0;
  const timing t = time_keys(most_keys, [&](std::uint64_t from, std::size_t count) {
    char key[16] = {};
    for (std::uint64_t i = from; i < from + count; ++i) {
      std::memcpy(key, &i, sizeof i);
      sum += hash({key, sizeof key}).low;
    }
  });
  // The sum must be used; otherwise the compiler removes the loop.
  return sum == 0 ? 0 : t.ns_a_key;
}

exit_code bench_machine(const bench_arguments& given, printer& out) {
  std::vector<std::uint64_t> sizes = {std::uint64_t{1} << 20, std::uint64_t{16} << 20,
                                      std::uint64_t{256} << 20};
  if (given.bytes) sizes = {*given.bytes};
  nlohmann::ordered_json result;
  result["kernel"] = best_kernel().name;
  for (const hash_facts& f : all_hashes)
    if (f.may_be_asked()) result["hash_16_bytes_ns"][f.name] = hash_ns(f.kind);
  result["segments"] = nlohmann::ordered_json::array();
  const std::vector<digest> digests = sample_digests();
  for (const std::uint64_t bytes : sizes)
    for (const layout_kind layout : all_layouts)
      result["segments"].push_back(measure(layout, bytes, digests));

  if (given.json) {
    out.write(result.dump(2) + "\n");
    return exit_code::done;
  }
  std::string hashes;
  for (const auto& [name, ns] : result["hash_16_bytes_ns"].items())
    hashes += fmt::format("{}{} {:.1f} ns", hashes.empty() ? "" : ", ", name, ns.get<double>());
  out.print("kernel {}; hashing 16 bytes: {}; one thread, batches of {}\n\n", best_kernel().name, hashes,
            batch);
  out.print("{:16} {:>10} {:>14} {:>14}\n", "layout", "size", "look-up ns", "add ns");
  for (const auto& row : result["segments"])
    out.print("{:16} {:>10} {:>14.1f} {:>14.1f}\n", row["layout"].get<std::string>(),
              format_bytes(row["bytes"].get<double>()), row["look_up_ns"].get<double>(),
              row["add_ns"].get<double>());
  return exit_code::done;
}

nlohmann::ordered_json costs_json(const store_costs& costs, const bench_arguments& given,
                                  std::uint64_t keys) {
  nlohmann::ordered_json all = {{"store", url_without_password(*given.store)}, {"keys", keys}};
  if (costs.round_trip_us) all["round_trip_us"] = *costs.round_trip_us;
  all["costs"] = nlohmann::ordered_json::array();
  for (const key_cost& c : costs.rows) {
    nlohmann::ordered_json row = {{"judged", c.judged},
                                  {"keys", c.keys},
                                  {"error_rate", c.error_rate},
                                  {"keys_a_second", c.keys_a_second},
                                  {"own_us", c.own_us}};
    if (c.server_us) row["server_us"] = *c.server_us;
    if (c.in_bytes) row["in_bytes"] = *c.in_bytes;
    if (c.out_bytes) row["out_bytes"] = *c.out_bytes;
    all["costs"].push_back(std::move(row));
  }
  all["constants"] = nlohmann::ordered_json::object();
  for (const measured_constant& c : costs.constants) all["constants"][c.name] = c.value;
  return all;
}

void print_costs(const store_costs& costs, printer& out) {
  if (costs.round_trip_us) out.print("a round trip takes {:.0f} \u00b5s\n\n", *costs.round_trip_us);
  out.print("{:<18} {:<28} {:>7} {:>12} {:>10} {:>12} {:>9} {:>9}\n", "judged by", "keys", "rate", "keys/s",
            "own us/key", "server us", "bytes in", "bytes out");
  const auto shown = [](const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}f}", *value, digits) : std::string();
  };
  for (const key_cost& c : costs.rows)
    out.print("{:<18} {:<28} {:>7} {:>12} {:>10.4f} {:>12} {:>9} {:>9}\n", c.judged, c.keys,
              fmt::format("{:g}", c.error_rate), format_count(static_cast<std::uint64_t>(c.keys_a_second)),
              c.own_us, shown(c.server_us, 4), shown(c.in_bytes, 1), shown(c.out_bytes, 1));
}

exit_code bench_store(const bench_arguments& given, printer& out) {
  if (given.bytes) throw parameter_error("--bytes is only for memory; leave out --store, or give --keys");
  const std::uint64_t keys = given.keys.value_or(usual_store_keys);
  const store_costs costs = measure_store(*given.store, keys);
  if (given.json)
    out.write(costs_json(costs, given, keys).dump(2) + "\n");
  else
    print_costs(costs, out);
  return exit_code::done;
}

exit_code bench(const bench_arguments& given, printer& out) {
  if (given.store) return bench_store(given, out);
  if (given.keys) throw parameter_error("--keys is for a store; give --store URL as well");
  return bench_machine(given, out);
}

action declare_bench(option_set& known) {
  const auto given = std::make_shared<bench_arguments>();
  add_count(known, "--bytes", given->bytes, {line_bytes, std::uint64_t{1} << 40},
            {"BYTES", "measure only segments of this size", "1Mi, 16Mi and 256Mi"});
  add_text(known, "--store", given->store, {"URL", "measure a store and its servers"});
  add_count(known, "--keys", given->keys, {10'000, std::uint64_t{1} << 32},
            {"COUNT", "with --store: keys to add to each filter; on servers at most 100M", "1M"});
  add_switch(known, "--json", given->json, "print JSON");
  return [given](printer& out) { return bench(*given, out); };
}

}  // namespace

verb bench_verb() {
  return {
      .name = "bench",
      .purpose = "Measure what a key costs on this machine",
      .details =
          "Times a look-up and an add of a key whose digest is known, in each layout, for segments of three "
          "sizes: one for a core's own cache, one for the last cache, one for memory (unless the last cache "
          "is larger). And how long hashing takes. Checks the answers, too.\n\n"
          "With --store, bench measures a store instead, with batches of 50,000 digests: CPU of the servers "
          "(by INFO) and of this process for a fresh key and for a repeat, keys a second, a round trip, and "
          "bytes on the wire. On servers it measures filters that clients judge and filters that servers "
          "judge. It makes filters of its own, called everseen-bench- and a random word, and drops them; if "
          "that fails, they end after an hour without use. Work that the servers do for other clients "
          "meanwhile is counted, too. A key costs more in a filter that is larger than the processor's "
          "caches: see --keys. everseen plan --store redis --constants FILE takes the JSON.",
      .examples = {{"All sizes", "everseen bench"},
                   {"One size, for a program", "everseen bench --bytes 64Ki --json"},
                   {"What a key costs in files", "everseen bench --store file:filters --keys 100k"},
                   {"Your own Redis servers, for plan",
                    "everseen bench --store $EVERSEEN_STORE --keys 100k --json > costs.json"}},
      .declare = declare_bench,
  };
}

}  // namespace everseen::cli
