#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "everseen/cli/filters/create.hpp"
#include "everseen/cli/keys/keys.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/terminal/progress.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

struct migrate_arguments {
  std::string old_name, new_name;
  std::optional<std::string> keys, into;
  create_options options;
  std::optional<event_time> time;
  store_choice store;
  record_options records;
  bool strict = false;
  bool quiet = false;
};

std::uint64_t count_keys(key_source& source) {
  std::vector<std::string_view> keys;
  std::uint64_t count = 0;
  while (source.next(keys)) count += keys.size();
  source.rewind();
  return count;
}

/// The old filter's own count, but at most the capacity of each layer: the estimate for a layer far over its
/// capacity is unreliable, and meaningless if all bits are set. The new filter grows if this is too few.
std::uint64_t keys_of(const filter& old) {
  std::uint64_t keys = 0;
  for (const partition_state& partition : old.info().partitions)
    for (const slice_state& slice : partition.slices)
      for (const layer_state& layer : slice.layers) keys += std::min(layer.keys, layer.capacity);
  return keys;
}

/// Keys in a file are counted. A pipe can be read only once, so the old filter's count is used.
std::uint64_t expected_keys(key_source& source, const filter& old) {
  const std::uint64_t keys = source.can_rewind() ? count_keys(source) : keys_of(old);
  return std::clamp<std::uint64_t>(keys, 1, max_capacity);
}

/// Like the old filter, except for the given options. It grows: its capacity is what the keys fill
/// immediately.
spec_request request_for(const migrate_arguments& o, const filter& old, key_source& source) {
  const spec& s = old.get_spec();
  spec_request standard;
  if (!o.options.capacity) standard.capacity = expected_keys(source, old);
  standard.error_rate = std::clamp(s.error_rate, sizing::min_error_rate, sizing::max_error_rate);
  if (is_own(s.hash)) standard.hash = s.hash;
  if (!o.options.as) standard.window = s.window;
  if (o.options.as && o.options.as != layout_kind::redisbloom) standard.funnel = s.foreign.funnel;
  if (s.foreign.expansion > 0) standard.expansion = s.foreign.expansion;
  return request_of(o.options, standard);
}

/// The result after all keys were read.
struct outcome {
  std::uint64_t given = 0;
  std::uint64_t different = 0;
  std::uint64_t unknown_to_old = 0;
};

/// --time is for the filters that have a window.
std::vector<event_time> times_for(const spec& s, const migrate_arguments& o) {
  key_options clock;
  if (s.window) clock.time = o.time;
  return clock.times_for(s);
}

outcome read_keys(const migrate_arguments& o, key_source& source, const filter& old, filter& made) {
  progress_line progress(source.total_bytes(), old.stored().path().text);
  progress_line::position done;
  std::vector<std::string_view> keys;
  std::vector<verdict> verdicts;
  unfit_keys unfit_for_old;  // and so unknown to the old filter
  unfit_keys unfit;
  outcome all;
  const auto place = [&](std::size_t i) { return source.place_of(i); };
  while (source.next(keys)) {
    verdicts.resize(keys.size());
    const batch_result known = old.may_contain(keys, verdicts, times_for(old.get_spec(), o));
    unfit_for_old.note(old, keys, known, place);
    const batch_result added = made.add(keys, verdicts, times_for(made.get_spec(), o));
    unfit.note(made, keys, added, place);
    if (unfit.fault()) throw parameter_error(*unfit.fault() + "; nothing was created");
    all.given += keys.size();
    all.unknown_to_old += keys.size() - (known ? *known : known.error().done).seen;
    all.different += added->fresh;
    done.lines += keys.size();
    for (const std::string_view key : keys) done.bytes += key.size() + 1;
    progress.show(done);
  }
  return all;
}

/// Nothing is visible under the name before all bits are there.
void put_into(store& place, const std::string& name, const filter& made) {
  const auto restored = place.begin_restore(name, made.get_spec());
  for (std::uint32_t p = 0; p < made.get_spec().partitions; ++p)
    made.stored().visit_segments(
        p, [&](const segment_id& id, const layer_state& layer, std::span<const std::byte> bits) {
          stop_if_signalled();
          std::memcpy(restored->add_segment(id, layer).data(), bits.data(), bits.size());
        });
  restored->commit();
}

std::string counted(std::uint64_t keys) {
  return format_count(keys) + (keys == 1 ? " key" : " keys");
}

void warn_of_unknown(const migrate_arguments& o, const outcome& all) {
  if (all.unknown_to_old == 0) return;
  fmt::print(stderr, "everseen: warning: {} does not know {} of the {}{}\n", shown_name(o.old_name),
             format_count(all.unknown_to_old), counted(all.given),
             2 * all.unknown_to_old > all.given ? "; are these its keys?" : "");
}

exit_code run_migrate(const migrate_arguments& o, printer& out) {
  if (!o.keys)
    throw parameter_error("migrate needs the keys: give --keys FILE, or --keys - for standard input");
  note_signals();
  const auto from = chosen_store(o.store);
  const auto into = o.into ? chosen_store({.url = o.into, .timeout = o.store.timeout}) : from;
  const filter old(o.old_name, from->open(o.old_name, access::read));
  if (into->exists(o.new_name)) throw filter_exists(o.new_name);
  key_source source(*o.keys, o.records);
  const spec s = into->plan(request_for(o, old, source));
  must_have_room(*into, s);

  const auto memory = open_store("mem:");
  must_have_room(*memory, s);
  filter made(o.new_name, memory->create(o.new_name, s));
  const outcome all = read_keys(o, source, old, made);
  if (!o.quiet) source.note_dropped();
  warn_of_unknown(o, all);
  if (o.strict && all.unknown_to_old > 0) return exit_code::negative;
  put_into(*into, o.new_name, made);
  warn_of(*into);
  if (!o.quiet)
    out.print("migrated {} to {}: {} given, {} of them different, {} unknown to {}\n", shown_name(o.old_name),
              shown_name(o.new_name), counted(all.given), format_count(all.different),
              format_count(all.unknown_to_old), o.old_name);
  return exit_code::done;
}

action declare_migrate(option_set& known) {
  auto o = std::make_shared<migrate_arguments>();
  add_name(known, o->old_name, {"OLD", "the existing filter; it does not change"});
  add_name(known, o->new_name, {"NEW", "the filter to create"});
  add_text(known, "--keys", o->keys,
           {"FILE", "all keys that were added to OLD, one a line; -: standard input"});
  declare_line_keys(known, o->records);
  add_text(known, "--into", o->into, {"URL", "the store of NEW", "that of OLD"});
  const std::string as_old = "that of OLD";
  add_create_options(known, o->options,
                     {.capacity = "as many as FILE has lines; through a pipe: as OLD has keys",
                      .error_rate = as_old,
                      .window = as_old,
                      .hash = as_old,
                      .funnel = as_old,
                      .expansion = as_old});
  add_time(known, "--time", o->time, {"TIMESTAMP", "time of the keys, for a filter with a window", "now"});
  add_switch(known, "--strict", o->strict,
             "create nothing, and exit with 1, if OLD does not have all of the keys");
  add_null(known, o->records.zero, "keys");
  add_switch(known, "-q,--quiet", o->quiet, "do not print what was created");
  add_store_options(known, o->store);
  return [o](printer& out) { return run_migrate(*o, out); };
}

}  // namespace

verb migrate_verb() {
  constexpr std::string_view scene =
      "seq 1000 > ids.txt; everseen create old --as guava64 --capacity 1000 --error-rate 0.03; "
      "everseen add old -q < ids.txt; everseen create old2 --capacity 1000; everseen add old2 -q < ids.txt";
  return {"migrate",
          "Create a filter with the keys of another one, also of another system",
          "The keys of a filter cannot be read from its bits. A filter of another kind is therefore made "
          "from the keys themselves, for example from the table or the log that OLD was filled from. Each "
          "key is also looked up in OLD. Keys that OLD does not have suggest a wrong file; they are counted "
          "and reported, and NEW has them, too. Keys that OLD has and FILE lacks cannot be detected.\n\nNEW "
          "is made in memory and then written as a whole: it is not visible before, and an interrupted run "
          "leaves nothing behind. OLD does not change. Keys that are added to OLD meanwhile are not in NEW "
          "unless FILE has them: let the programs add to both filters from the time FILE is written.",
          {{"From Guava's rules to everseen's, at a lower error rate",
            "everseen migrate old new --keys ids.txt --error-rate 1e-6", scene},
           {"A filter that Guava reads",
            "everseen migrate old2 users --keys ids.txt --as guava64 --error-rate 0.03", scene},
           {"To another store, only if the file is the right one",
            "everseen migrate old new --keys ids.txt --strict --into file:./elsewhere", scene}},
          declare_migrate};
}

}  // namespace everseen::cli
