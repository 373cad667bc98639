#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "everseen/cli/keys/keys.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/hash/funnel.hpp"
#include "everseen/foreign/bitmap/family.hpp"

namespace everseen::cli {

namespace {

constexpr std::uint64_t max_hash_bits = std::uint64_t{1} << 62;
constexpr std::uint64_t most_probes = 1075;  // of any family; each has its own bound

struct hash_arguments {
  std::optional<foreign::family> family;
  std::optional<std::uint64_t> bits;
  std::optional<std::uint64_t> probes;
  std::optional<funnel_kind> funnel;
  std::vector<std::string> keys;
  bool zero = false;
};

std::string names_of_families() {
  std::string names;
  for (const foreign::family_facts& each : foreign::all_families()) {
    if (!names.empty()) names += '|';
    names += each.name;
  }
  return names;
}

/// The options, checked against each other and against the family. 0 bits stand for the hash itself, without
/// a filter.
foreign::scheme chosen_scheme(const hash_arguments& o) {
  if (!o.family) throw parameter_error("hash needs --as; say whose hash, one of " + names_of_families());
  const foreign::family_facts& family = foreign::facts(*o.family);
  const bool guava = *o.family == foreign::family::guava32 || *o.family == foreign::family::guava64;
  if (o.funnel && !guava) throw parameter_error("--funnel applies only to guava32 and guava64");
  foreign::scheme s = {*o.family, o.bits.value_or(family.fixed_bits),
                       static_cast<unsigned>(o.probes.value_or(family.standard_probes))};
  const bool digest_only = s.bits == 0;
  if (digest_only) s.bits = 1;  // to check the probes
  foreign::validate(s);
  if (digest_only) s.bits = 0;
  return s;
}

void print_positions(std::span<const std::uint64_t> positions, printer& out) {
  for (std::size_t i = 0; i < positions.size(); ++i) out.print("{}{}", i > 0 ? " " : "", positions[i]);
}

exit_code run_hash(const hash_arguments& o, printer& out) {
  note_signals();
  const foreign::scheme s = chosen_scheme(o);
  const auto funnel = o.funnel.value_or(funnel_kind::bytes);
  key_source source(o.keys, {.zero = o.zero});
  std::vector<std::string_view> keys;
  std::vector<std::uint64_t> positions(s.probes);
  std::string element;
  while (source.next(keys)) {
    for (const std::string_view key : keys) {
      apply_funnel(funnel, key, element);
      if (s.bits == 0) {
        out.write(foreign::digest_text(s.which, s.probes, element));
      } else {
        foreign::positions(s, element, positions);
        print_positions(positions, out);
      }
      out.write("\n");
    }
    out.flush();  // a reader of the output must not wait for the next keys
  }
  return exit_code::done;
}

action declare_hash(option_set& known) {
  auto o = std::make_shared<hash_arguments>();
  add_arguments(known, o->keys, {"KEY", "the keys; none: each line of standard input is one"});
  add_choice(known, "--as", o->family, {names_of_families(), "whose hash and positions"},
             foreign::parse_family);
  add_count(known, "--bits", o->bits, {1, max_hash_bits},
            {"BITS", "size of the bit array; without it the hash is printed", "64Mi for uid-php"});
  add_count(known, "--probes", o->probes, {1, most_probes}, {"COUNT", "bits a key", "as that system"});
  add_choice(known, "--funnel", o->funnel,
             {"bytes|chars|int|long", "Guava: what a key is; bytes is also stringFunnel(UTF_8)", "bytes"},
             parse_funnel_kind);
  add_null(known, o->zero, "keys");
  return [o](printer& out) { return run_hash(*o, out); };
}

}  // namespace

verb hash_verb() {
  return {
      "hash",
      "Print the bits that other systems set for a key",
      "Prints one line per key: the positions of its bits in the order of the probes, separated by spaces "
      "and numbered as that system does. Without --bits, prints the hash from which positions are computed: "
      "a number for each probe (gozero, bkdr, bkdr-php), 16 bytes (guava32, guava64) or two words "
      "(redisbloom, redisson).\n\ngozero is go-zero's Redis filter, always 14 probes. bkdr and bkdr-php are "
      "the BKDR hashes of C and of PHP programs, which differ from the seventh probe on. uid-php is a PHP "
      "filter for user ids, always 7 probes and 64 Mi bits. guava32 and guava64 are Guava's two strategies. "
      "redisson is Redisson's RBloomFilter: a key is the bytes that its codec makes of an object, with "
      "StringCodec the text itself. Most systems number bits as Redis does; redisbloom counts from the low "
      "end of each byte, so that its bit p is Redis's p ^ 7.",
      {{"The bits of go-zero, to be looked at with GETBIT",
        "everseen hash --as gozero --bits 20971520 user:42"},
       {"Guava's filter of longs", "seq 3 | everseen hash --as guava64 --bits 3712 --probes 5 --funnel long"},
       {"The hash that Guava prints", "everseen hash --as guava64 'hello world'"}},
      declare_hash};
}

}  // namespace everseen::cli
