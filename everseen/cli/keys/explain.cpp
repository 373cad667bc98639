#include <memory>

#include <fmt/format.h>

#include "everseen/cli/keys/keys.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/attached_text.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/spec/time_text.hpp"
#include "everseen/core/spec/window.hpp"
#include "everseen/report/explanation.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

// What there is to say comes from report/explanation.hpp, which reads the key's bits through the store's port
// and is the same for every store. An attached filter has strings of another program instead of layers, and
// text of its own.

namespace everseen::cli {

namespace {

struct explain_arguments {
  key_options key;
  store_choice store;
  bool json = false;
};

/// In the order of the probes, in which the bits of one line follow each other: a heading for each line.
void print_bits(const explained_segment& s, printer& out) {
  constexpr std::size_t a_row = 4;
  std::size_t column = 0;
  std::uint64_t line = ~std::uint64_t{0};
  const bool lines = lines_per_key(s.layer.shape.layout) > 0;
  for (const explained_bit& b : s.bits) {
    if (lines && b.position / line_bits != line) {
      line = b.position / line_bits;
      out.print("{}  line {} of {}\n", column > 0 ? "\n" : "", format_count(line),
                format_count(s.layer.shape.lines()));
      column = 0;
    }
    out.print("{}bit {:<15} {}", column == 0 ? "    " : "   ", b.position, b.set ? "set" : "-  ");
    if (++column == a_row) {
      out.write("\n");
      column = 0;
    }
  }
  if (column > 0) out.write("\n");
}

void print_segment(const explained_segment& s, const spec& properties, printer& out) {
  out.write("\n");
  if (properties.window)
    out.print("slice from {}, ", format_event_time(window::start_of(*properties.window, s.id.slice)));
  out.print("layer {}: {}, {} of {} keys, {} of {} bits set\n", s.id.layer, to_string(s.layer.shape.layout),
            format_count(s.layer.keys), format_count(s.layer.capacity), s.set_bits(), s.bits.size());
  print_bits(s, out);
}

exit_code run_explain(const explain_arguments& o, printer& out) {
  const filter asked = chosen_filter(o.store, o.key.name, access::read);
  if (const auto* const attached = foreign::as_attached(asked.stored())) {
    explain_attached(*attached, o.key.keys.front(), o.json, out);
    return exit_code::done;
  }
  const spec& s = asked.get_spec();
  const explanation e = explain(asked, o.key.keys.front(), o.key.time_for(s));
  if (o.json) {
    out.print("{}\n", json_of(e).dump(2));
    return exit_code::done;
  }
  out.print("{}: {}.\n\n", to_string(e.answer), e.reason);
  out.print("digest     {}\n", hex(e.key_digest));
  out.print("partition  {} of {}\n", e.partition, s.partitions);
  for (const explained_segment& segment : e.segments) print_segment(segment, s, out);
  return exit_code::done;
}

action declare_explain(option_set& known) {
  auto o = std::make_shared<explain_arguments>();
  o->key.keys.resize(1);
  add_name(known, o->key.name, {"NAME", "the filter"});
  add_argument(known, o->key.keys.front(), {"KEY", "the key"});
  add_time(known, "--time", o->key.time,
           {"TIMESTAMP",
            "time of the key, as in 2026-11-25T08:30:00Z or 1764059400, for a filter with a window", "now"});
  add_json(known, o->json);
  add_store_options(known, o->store);
  return [o](printer& out) { return run_explain(*o, out); };
}

}  // namespace

verb explain_verb() {
  constexpr std::string_view scene = "everseen create clicks; everseen add clicks alice";
  return {"explain",
          "Show bit by bit why a key is fresh or seen",
          "Says whether the key is seen, and why; then the key's digest and partition, and in each live "
          "layer where its bits are and whether they are "
          "set. Bits are numbered as Redis does: bit 0 is the highest of byte 0.",
          {{"Why is it seen?", "everseen explain clicks alice", scene},
           {"Why is it fresh?", "everseen explain clicks bob --json", scene}},
          declare_explain};
}

}  // namespace everseen::cli
