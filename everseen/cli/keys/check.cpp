#include <memory>

#include "everseen/cli/keys/keys.hpp"
#include "everseen/cli/verb/attached_text.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"

namespace everseen::cli {

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
