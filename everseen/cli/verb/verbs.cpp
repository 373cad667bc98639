#include "everseen/cli/verb/verbs.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "everseen/cli/verb/foreign_words.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"

namespace everseen::cli {

std::string manual_entry::heading() const {
  std::string heading = fmt::format("{}", fmt::join(flags, ", "));
  const bool attached = value.starts_with("[=");
  if (!value.empty()) heading += (heading.empty() || attached ? "" : " ") + value;
  return many ? heading + "..." : heading;
}

std::string manual_entry::body() const {
  return standard.empty() ? text : fmt::format("{} (default: {})", text, standard);
}

std::vector<std::string> manual_entry::choices() const {
  std::vector<std::string> found;
  if (value.empty() || !std::islower(static_cast<unsigned char>(value.front()))) return found;
  for (std::size_t from = 0; from <= value.size();) {
    const std::size_t end = std::min(value.find('|', from), value.size());
    found.push_back(value.substr(from, end - from));
    from = end + 1;
  }
  return found;
}

std::string manual_entry::name() const {
  const auto flag = std::ranges::find_if(flags, [](const std::string& f) { return f.starts_with("--"); });
  return flag == flags.end() ? "" : flag->substr(2);
}

const std::vector<verb>& all_verbs() {
  static const std::vector<verb> verbs = {
      dedup_verb(),  stream_verb(), counts_verb(),     jobs_verb(),   create_verb(),  add_verb(),
      check_verb(),  info_verb(),   list_verb(),       top_verb(),    explain_verb(), rebuild_verb(),
      reset_verb(),  rename_verb(), drop_verb(),       export_verb(), import_verb(),  migrate_verb(),
      attach_verb(), link_verb(),   merge_verb(),      serve_verb(),  plan_verb(),    hash_verb(),
      gen_verb(),    bench_verb(),  completion_verb(), man_verb(),
  };
  return verbs;
}

const verb* find_verb(std::string_view name) {
  const auto& verbs = all_verbs();
  const auto found = std::find_if(verbs.begin(), verbs.end(), [&](const verb& v) { return v.name == name; });
  return found == verbs.end() ? nullptr : &*found;
}

namespace {

/// What to do instead of a verb that does not exist.
std::string instead_of(std::string_view name) {
  if (const std::string_view sentence = about_foreign_verb(name); !sentence.empty())
    return std::string(sentence);
  std::vector<std::string_view> names = {"--help", "--version"};
  for (const verb& v : all_verbs()) names.push_back(v.name);
  if (const std::string_view meant = nearest(verb_spelling(name), names); !meant.empty())
    return fmt::format("did you mean '{}'? See everseen --help", meant);
  return name.starts_with('-') ? "options follow the verb, as in everseen dedup --count; see everseen --help"
                               : "see everseen --help";
}

}  // namespace

const verb& need_verb(std::string_view name) {
  if (const verb* found = find_verb(name)) return *found;
  throw parameter_error(fmt::format("there is no verb '{}'; {}", name, instead_of(name)));
}

}  // namespace everseen::cli
