#include <memory>
#include <optional>
#include <string>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/attached_text.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/foreign/attached/attaching.hpp"
#include "everseen/foreign/bitmap/redisson.hpp"
#include "everseen/foreign/guava/guava.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

using foreign::attachment;
using foreign::family;

/// Whose filter it is: a family of bitmaps, or nothing for a key of the module.
using owner = std::optional<family>;

std::optional<owner> parse_owner(std::string_view word) {
  if (word == "module") return owner();
  const std::optional<family> known = foreign::parse_family(word);
  return known ? std::optional<owner>(known) : std::nullopt;
}

struct attach_arguments {
  std::string name;
  std::optional<owner> kept_by;
  std::optional<std::string> key;
  std::optional<std::uint64_t> bits, probes, insertions;
  std::optional<double> rate;
  std::optional<funnel_kind> funnel;
  std::optional<std::string> cursor;
  bool growing = false;
  bool sharded = false;
  bool create = false;
  bool quiet = false;
  store_choice store;
};

/// The family, of an owner that is one.
family family_of(const attach_arguments& o) {
  return **o.kept_by;
}

bool is_guava(family which) {
  return which == family::guava32 || which == family::guava64;
}

/// Users of Guava know what they passed to create(), and seldom the resulting size.
foreign::scheme guava_scheme(const attach_arguments& o) {
  if (o.bits || o.probes)
    throw parameter_error(
        "--insertions and --rate say how many bits and probes; leave out --bits and --probes");
  const auto strategy =
      family_of(o) == family::guava32 ? foreign::guava::strategy::mitz_32 : foreign::guava::strategy::mitz_64;
  constexpr double standard_rate = 0.03;
  const auto shape =
      foreign::guava::smallest(strategy, o.insertions.value_or(0), o.rate.value_or(standard_rate));
  return {family_of(o), shape.bits(), shape.probes};
}

/// Redisson stores the sizes next to the filter. Sizes that the user gives are compared with those; 0 bits:
/// none given.
foreign::scheme redisson_scheme(const attach_arguments& o) {
  if (o.bits.has_value() != o.probes.has_value() || o.insertions.has_value() != o.rate.has_value() ||
      (o.bits && o.insertions))
    throw parameter_error(
        "Redisson stores the sizes next to the filter; leave them out, or have them compared with --bits and "
        "--probes, or with --insertions and --rate");
  if (!o.insertions) return {family_of(o), o.bits.value_or(0), static_cast<unsigned>(o.probes.value_or(0))};
  const auto shape = foreign::redisson::smallest(*o.insertions, *o.rate);
  return {family_of(o), shape.bits, shape.probes};
}

foreign::scheme scheme_of(const attach_arguments& o) {
  if (family_of(o) == family::redisson) return redisson_scheme(o);
  if (o.insertions && is_guava(family_of(o))) return guava_scheme(o);
  if (o.insertions || o.rate)
    throw parameter_error("--insertions and --rate belong together, and to Guava and Redisson");
  const foreign::family_facts& facts = foreign::facts(family_of(o));
  if (!o.bits && facts.fixed_bits == 0 && family_of(o) != family::redisbloom)
    throw parameter_error("attach needs --bits: the size of the filter, which is stored nowhere");
  return {family_of(o), o.bits.value_or(facts.fixed_bits),
          static_cast<unsigned>(o.probes.value_or(facts.standard_probes))};
}

attachment attachment_of(const attach_arguments& o) {
  if (o.growing && o.sharded) throw parameter_error("a filter is either --growing or --sharded");
  if (o.cursor && !o.growing) throw parameter_error("--cursor is for --growing");
  if (o.create && family_of(o) == family::redisson)
    throw parameter_error(
        "a filter of Redisson exists when its sizes are stored, and the first key makes its bits; leave out "
        "--create");
  attachment a{scheme_of(o)};
  a.key = *o.key;
  a.funnel = o.funnel.value_or(a.funnel);
  if (o.growing) a.shape = attachment::form::growing;
  if (o.growing) a.cursor = o.cursor.value_or(std::string(foreign::guava::redis_strings::cursor_key));
  if (o.sharded) a.shape = attachment::form::sharded;
  return a;
}

void attach_key_of_module(const attach_arguments& o, const redis::fleet_servers& servers, printer& out) {
  if (o.bits || o.probes || o.insertions || o.rate || o.funnel || o.cursor || o.growing || o.sharded ||
      o.create)
    throw parameter_error("a filter of the module knows its properties, and exists; give --key alone");
  foreign::attach_value(servers, o.name, *o.key);
  const filter_info info = chosen_filter(o.store, o.name, access::read).info();
  if (!o.quiet)
    out.print("attached {}: the key {} of the module, {} keys of {}, error rate {} now\n", shown_name(o.name),
              shown_name(*o.key), format_count(info.keys), format_count(info.spec.capacity),
              format_rate(info.error_rate_now));
}

exit_code run_attach(const attach_arguments& o, printer& out) {
  if (!o.kept_by) throw parameter_error("attach needs --as; say whose filter it is");
  if (!o.key) throw parameter_error("attach needs --key: the name of the filter in Redis");
  const auto servers = chosen_redis(o.store);
  if (servers == nullptr)
    throw parameter_error(
        "attach is for filters in Redis; give --store redis://HOST:PORT. Files of other "
        "systems are read by everseen import");
  if (!*o.kept_by) {
    attach_key_of_module(o, *servers, out);
    warn_of(*chosen_store(o.store));
    return exit_code::done;
  }
  const attachment a = attachment_of(o);
  const auto all = foreign::attach(*servers, o.name, a,
                                   o.create ? foreign::missing_key::create : foreign::missing_key::refuse);
  const auto place = chosen_store(o.store);
  const filter attached(o.name, place->open(o.name, access::read));
  const foreign::attached_filter& behind = *foreign::as_attached(attached.stored());
  if (!o.quiet)
    out.print("attached {}: {}, error rate {} now\n", shown_name(o.name), to_string(behind.what()),
              format_rate(behind.error_rate_now(all)));
  out.flush();
  const bool may_miss = o.create || family_of(o) == family::redisson;  // where tryInit() makes no string
  warn_of_attached(behind, all, may_miss ? may_be_missing::yes : may_be_missing::no);
  warn_of(*place);
  return exit_code::done;
}

action declare_attach(option_set& known) {
  constexpr std::uint64_t max_bits = std::uint64_t{1} << 62;
  auto o = std::make_shared<attach_arguments>();
  add_name(known, o->name, {"NAME", "its name in everseen"});
  add_choice(known, "--as", o->kept_by,
             {"gozero|bkdr|bkdr-php|uid-php|guava32|guava64|redisson|module",
              "whose filter it is; see everseen hash; module: a key of BF.RESERVE"},
             parse_owner);
  add_text(known, "--key", o->key,
           {"KEY", "its name in Redis; of several strings, what their names begin with"});
  add_count(known, "--bits", o->bits, {1, max_bits},
            {"BITS", "size of the filter, as its program has it", "64Mi for uid-php; redisson: as stored"});
  add_count(known, "--probes", o->probes, {1, max_probes}, {"COUNT", "bits a key", "as that system"});
  add_count(known, "--insertions", o->insertions, {1, max_capacity},
            {"COUNT", "Guava and Redisson, instead of --bits and --probes: expectedInsertions"});
  add_rate(known, "--rate", o->rate, {1e-300, 0.999},
           {"RATE", "with --insertions: fpp, or falseProbability", "0.03 for Guava"});
  add_choice(known, "--funnel", o->funnel,
             {"string|chars|int|long|bytes", "Guava: how a line of input becomes its bytes", "string"},
             parse_funnel_kind);
  add_switch(known, "--growing", o->growing,
             "Guava: strings KEY-0, KEY-1, ... of --bits each, and a cursor says which is the newest");
  add_text(known, "--cursor", o->cursor, {"KEY", "with --growing: the key of the cursor", "cursor"});
  add_switch(known, "--sharded", o->sharded,
             "bkdr-php: strings KEY.0, KEY.1, ... on each server of the URL, in its order");
  add_switch(known, "--create", o->create, "the key does not exist yet; the first key added makes it");
  add_switch(known, "-q,--quiet", o->quiet, "do not print what was attached");
  add_store_options(known, o->store);
  return [o](printer& out) { return run_attach(*o, out); };
}

}  // namespace

verb attach_verb() {
  // Leaves a filter that everseen does not know.
  constexpr std::string_view scene =
      "everseen attach x --as gozero --bits 20971520 --key bloom:uids --create; everseen add x 7; "
      "everseen drop x --yes";
  return {
      "attach",
      "Use a filter that another program keeps in Redis",
      "Gives a name to an existing filter with the hashes and rules of its own program. add, check, dedup, "
      "info and explain then use it beside that program, and each sees the other's keys. Only bits are "
      "written to its keys. If a server forbids scripts, the bits of each key are set by one BITFIELD; "
      "doc/foreign-filters.md describes the weaker guarantees.\n\nMost programs do not store the numbers of "
      "bits and probes. Give those of the other program, or each program will miss the other's keys. For "
      "hashes like go-zero's and Guava's, everseen info detects impossible numbers; it also warns about "
      "hashes that are worse than their formula.\n\nWith --as bkdr, the bytes of a key are unsigned. A C "
      "program that adds them as signed char, which plain char is on x86, sets other bits for keys that are "
      "not ASCII.\n\nRedisson stores them in the hash {KEY}:config. They are "
      "read from there, and compared whenever the filter is used: if Redisson creates the filter again with "
      "other sizes, drop it here and attach it again. A key is the bytes that Redisson's codec makes of an "
      "object: the text itself with StringCodec, the array itself with ByteArrayCodec. Other codecs, "
      "including Redisson's default, add bytes of their own.\n\nWith --as module, KEY is a filter of the "
      "everseen module, as BF.RESERVE makes it. The server judges the keys of "
      "both sides.\n\neverseen drop removes the name and leaves "
      "the filter as it is. reset and rebuild are refused, since the bits belong to the other program. "
      "everseen hash shows the bits that each system sets for a key.\n\nThe examples take EVERSEEN_STORE to "
      "name the Redis server, as in redis://localhost:6379.",
      {{"A filter of go-zero", "everseen attach uids --as gozero --bits 20971520 --key bloom:uids", scene},
       {"Guava's bits in Redis, made for a million strings at 1 %",
        "everseen attach mails --as guava64 --insertions 1M --rate 0.01 --key mails --create"},
       {"A filter of Redisson, which knows its own sizes", "everseen attach mails --as redisson --key mails",
        "redis-cli -u $EVERSEEN_STORE HSET {mails}:config size 9585058 hashIterations 7 expectedInsertions "
        "1000000 falseProbability 0.01"},
       {"The growing version of Guava's, in Java",
        "everseen attach urls --as guava64 --insertions 10k --rate 0.0005 --growing --key urls --create"},
       {"PHP's BKDR hashes, spread over the servers of the URL",
        "everseen attach clicks --as bkdr-php --bits 10Gi --probes 8 --sharded --key clicks --create"},
       {"Drop the lines that go-zero has seen, and let it know the others",
        "everseen attach uids --as gozero --bits 20971520 --key bloom:uids && seq 10 | everseen dedup "
        "--filter uids",
        scene}},
      declare_attach};
}

}  // namespace everseen::cli
