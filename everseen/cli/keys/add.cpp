#include <algorithm>
#include <exception>
#include <memory>

#include <fmt/format.h>

#include "everseen/cli/keys/keys.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/attached_text.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/text/numbers.hpp"

/// The verbs add and check.
namespace everseen::cli {

namespace {

struct addition_arguments {
  key_options keys;
  store_choice store;
  bool verdicts = false;
};

void print_tally(const tally& all, printer& out) {
  out.print("{} fresh, {} seen", format_count(all.fresh), format_count(all.seen));
  if (all.late > 0) out.print(", {} late", format_count(all.late));
  out.write("\n");
}

/// Keys for which a full filter has no room. The others get their verdicts, and the command ends with an
/// error.
class refused_keys {
 public:
  void note(const key_source& from, std::span<const std::string_view> keys, std::span<const verdict> verdicts,
            const batch_failure& full) {
    const auto found =
        static_cast<std::size_t>(std::ranges::find(verdicts, verdict::unknown) - verdicts.begin());
    if (count_ == 0 && found < keys.size())
      message_ = fmt::format("{}; the first key without room was '{}' ({})", full.message, keys[found],
                             from.place_of(found));
    count_ += full.done.unknown;
  }

  void raise_if_any() const {
    if (count_ == 0) return;
    throw full_error(
        count_ == 1 ? message_ : fmt::format("{}, and {} more had none", message_, format_count(count_ - 1)));
  }

 private:
  std::string message_;
  std::uint64_t count_ = 0;
};

exit_code run_add(const addition_arguments& o, printer& out) {
  note_signals();
  const auto place = chosen_store(o.store);
  filter target = open(*place, o.keys.name);
  warn_of_lost_strings(target);
  key_source source(o.keys.keys, o.keys.records);
  std::vector<std::string_view> keys;
  std::vector<verdict> verdicts;
  unfit_keys unfit;
  refused_keys refused;
  tally all;
  std::exception_ptr fault;  // ends the command; the keys before it are in the filter, and are counted
  try {
    while (source.next(keys)) {
      verdicts.resize(keys.size());
      const batch_result done = target.add(keys, verdicts, o.keys.times_for(target.get_spec()));
      if (o.verdicts) {
        print_verdicts(keys, verdicts, o.keys.separator(), out);
        out.flush();  // a reader of the output must not wait for the next keys
      }
      all += done ? *done : done.error().done;
      if (!done && done.error().why == batch_failure::cause::full)
        refused.note(source, keys, verdicts, done.error());
      else
        unfit.note(target, keys, done, [&](std::size_t i) { return source.place_of(i); });
    }
    sync_as_it_ends(*place, target);
  } catch (const error&) {
    fault = std::current_exception();
  }
  if (!o.verdicts && !o.keys.quiet) print_tally(all, out);
  if (all.late > 0 && !o.keys.quiet)
    if (const auto why = future_warning(target.info())) print_warnings({*why});
  if (!o.keys.quiet) source.note_dropped();
  out.flush();
  if (fault) std::rethrow_exception(fault);
  refused.raise_if_any();
  unfit.raise_if_any();
  return exit_code::done;
}

}  // namespace

verb add_verb() {
  constexpr std::string_view scene = "everseen create clicks; seq 1000 > ids.txt";
  return {
      "add",
      "Add keys to a filter and say how many were fresh",
      "A fresh key was certainly not added before. A seen one probably was; this is wrong for at most the "
      "filter's error rate of new keys. In a filter with a window, a key older than the window is late: "
      "neither judged nor added.\n\n"
      "Write -- before keys that begin with a dash.",
      {{"Add two keys", "everseen add clicks alice bob", scene},
       {"Add every line of a file", "everseen add clicks < ids.txt", scene},
       {"Pass on only the lines that are new",
        "everseen add clicks --verdicts < ids.txt | grep ^fresh | cut -f2-", scene},
       {"File names, whatever is in them", "find . -print0 | everseen add clicks -z", scene},
       {"A key of a known time, in a filter with a window",
        "everseen add recent --time 2025-01-01T12:00:00Z event-17", "everseen create recent --window 10m"}},
      [](option_set& known) -> action {
        auto o = std::make_shared<addition_arguments>();
        add_key_options(known, o->keys, "do not print how many were fresh");
        add_switch(known, "-v,--verbose,--verdicts", o->verdicts,
                   "print fresh, seen or late, a tab and the key, for each");
        declare_line_keys(known, o->keys.records);
        add_store_options(known, o->store, access::write);
        return [o](printer& out) { return run_add(*o, out); };
      }};
}

namespace {

struct check_arguments {
  key_options keys;
  store_choice store;
};

exit_code run_check(const check_arguments& o, printer& out) {
  const filter asked = chosen_filter(o.store, o.keys.name, access::read);
  warn_of_lost_strings(asked);
  key_source source(o.keys.keys, o.keys.records);
  std::vector<std::string_view> keys;
  std::vector<verdict> verdicts;
  unfit_keys unfit;
  exit_code answer = exit_code::done;
  while (source.next(keys)) {
    verdicts.resize(keys.size());
    const batch_result done = asked.may_contain(keys, verdicts, o.keys.times_for(asked.get_spec()));
    if (!o.keys.quiet) {
      print_verdicts(keys, verdicts, o.keys.separator(), out);
      out.flush();  // a reader of the output must not wait for the next keys
    }
    unfit.note(asked, keys, done, [&](std::size_t i) { return source.place_of(i); });
    const tally& all = done ? *done : done.error().done;
    if (all.fresh + all.late > 0) answer = exit_code::negative;
    if (o.keys.quiet && answer == exit_code::negative) break;
  }
  if (!o.keys.quiet) source.note_dropped();
  unfit.raise_if_any();
  return answer;
}

}  // namespace

verb check_verb() {
  constexpr std::string_view scene =
      "everseen create clicks; everseen add clicks alice; echo alice > ids.txt";
  return {
      "check",
      "Ask whether keys were added before, and change nothing",
      "Prints fresh, seen or late, a tab and the key. Exits with 0 if all keys are seen, and with 1 if not.",
      {{"Ask for two keys", "everseen check clicks alice bob", scene, exit_code::negative},
       {"Every line of a file", "everseen check clicks < ids.txt", scene},
       {"In a condition", "if everseen check --quiet clicks alice; then echo 'was here'; fi", scene}},
      [](option_set& known) -> action {
        auto o = std::make_shared<check_arguments>();
        add_key_options(known, o->keys, "print nothing; stop at the first key that is not seen");
        declare_line_keys(known, o->keys.records);
        add_store_options(known, o->store);
        return [o](printer& out) { return run_check(*o, out); };
      }};
}

}  // namespace everseen::cli
