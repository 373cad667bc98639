#include "everseen/cli/verb/verbs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "everseen/core/base/error.hpp"
#include "everseen/text/nearest.hpp"

namespace everseen::cli {

const std::vector<verb>& all_verbs() {
  static const std::vector<verb> verbs = {
      dedup_verb(),      stream_verb(), counts_verb(), jobs_verb(),    create_verb(),  add_verb(),
      check_verb(),      info_verb(),   list_verb(),   explain_verb(), rebuild_verb(), reset_verb(),
      rename_verb(),     drop_verb(),   export_verb(), import_verb(),  migrate_verb(), attach_verb(),
      link_verb(),       serve_verb(),  plan_verb(),   hash_verb(),    gen_verb(),     bench_verb(),
      completion_verb(), man_verb(),
  };
  return verbs;
}

const verb* find_verb(std::string_view name) {
  const auto& verbs = all_verbs();
  const auto found = std::find_if(verbs.begin(), verbs.end(), [&](const verb& v) { return v.name == name; });
  return found == verbs.end() ? nullptr : &*found;
}

/// What other programs call a verb; nothing: unknown.
std::string_view verb_called(std::string_view name) {
  struct synonym {
    std::string_view name, verb;
  };
  static constexpr synonym synonyms[] = {
      {"insert", "add"},     {"put", "add"},     {"exists", "check"}, {"contains", "check"},
      {"test", "check"},     {"delete", "drop"}, {"del", "drop"},     {"rm", "drop"},
      {"remove", "drop"},    {"ls", "list"},     {"new", "create"},   {"make", "create"},
      {"reserve", "create"}, {"mv", "rename"},   {"uniq", "dedup"},   {"unique", "dedup"},
      {"show", "info"},      {"stat", "info"},   {"server", "serve"}, {"clear", "reset"},
      {"load", "import"},    {"dump", "export"},
  };
  const auto* const found = std::ranges::find(synonyms, name, &synonym::name);
  return found == std::end(synonyms) ? std::string_view() : found->verb;
}

const verb& need_verb(std::string_view name) {
  if (const verb* found = find_verb(name)) return *found;
  std::vector<std::string_view> names;
  for (const verb& v : all_verbs()) names.push_back(v.name);
  const std::string_view called = verb_called(name);
  const std::string_view meant = called.empty() ? nearest(name, names) : called;
  if (meant.empty()) throw parameter_error(fmt::format("there is no verb '{}'; see everseen --help", name));
  throw parameter_error(
      fmt::format("there is no verb '{}'; did you mean '{}'? See everseen --help", name, meant));
}

}  // namespace everseen::cli
