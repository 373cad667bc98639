#include "everseen/cli/filters/list.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/layout/set_bits.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

struct list_arguments {
  store_choice store;
  bool json = false;
  bool names = false;
};

}  // namespace

std::vector<listed_filter> filters_of(store& place) {
  std::vector<listed_filter> all;
  for (const std::string& name : place.list()) {
    listed_filter each{shown_name(name), {}, {}};
    try {
      each.info = filter(name, place.open(name, access::read)).info();
    } catch (const no_filter&) {
      continue;  // dropped meanwhile
    } catch (const error& fault) {
      each.fault = without_controls(fault.what());
    }
    all.push_back(std::move(each));
  }
  return all;
}

std::string condition_of(const filter_info& info) {
  const bool is_full = info.keys >= info.spec.capacity;
  switch (info.spec.growth) {
    case growth_kind::grow:
      return info.max_layers > 1 ? fmt::format("grown, {} layers", info.max_layers) : "";
    case growth_kind::refuse:
      return is_full ? "full, refuses keys" : "";
    case growth_kind::overfill:
      return info.keys > info.spec.capacity
                 ? fmt::format("overfull, error rate {} now", format_rate(info.error_rate_now))
                 : "";
  }
  return "";
}

std::size_t most_columns(std::string_view name) {
  const auto columns_of = [](std::size_t sum, char c) {
    const auto byte = static_cast<unsigned char>(c);
    return sum + (byte < 0x80 ? 1 : byte >= 0xC0 ? 2 : 0);
  };
  return std::accumulate(name.begin(), name.end(), std::size_t{0}, columns_of);
}

namespace {

void print_json(const std::vector<listed_filter>& entries, const std::string& store, printer& out) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const listed_filter& e : entries)
    if (e.fault.empty())
      all.push_back({{"name", e.name},
                     {"store", store},
                     {"keys", e.info.keys},
                     {"capacity", e.info.spec.capacity},
                     {"error_rate", e.info.spec.error_rate},
                     {"bytes", e.info.bytes},
                     {"layers", e.info.max_layers},
                     {"error_rate_now", e.info.error_rate_now}});
    else
      all.push_back({{"name", e.name}, {"store", store}, {"fault", e.fault}});
  out.print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_table(const std::vector<listed_filter>& entries, const std::string& store, printer& out) {
  std::size_t width = 4;
  out.print("filters in {}:\n\n", store);
  for (const listed_filter& e : entries) width = std::max(width, most_columns(e.name));
  out.print("{:<{}}  {:>19}  {:>19}  {:>10}  {:>10}\n", "name", width, "keys", "capacity", "error rate",
            "memory");
  for (const listed_filter& e : entries) {
    const std::string condition = e.fault.empty() ? condition_of(e.info) : "";
    if (e.fault.empty())
      out.print("{:<{}}  {:>19}  {:>19}  {:>10}  {:>10}{}\n", e.name, width,
                e.info.keys >= countless_keys ? "full" : format_count(e.info.keys),
                format_count(e.info.spec.capacity), format_rate(e.info.spec.error_rate),
                format_bytes(static_cast<double>(e.info.bytes)), condition.empty() ? "" : "  " + condition);
    else
      out.print("{:<{}}  cannot be read: {}\n", e.name, width, e.fault);
  }
}

/// A directory that the user named must exist: its name may be mistyped. The default one may be missing, as
/// the first create makes it.    @throws storage_error
void must_exist(const store& place, const store_choice& choice) {
  const std::filesystem::path path = place.traits().directory;
  const char* const named = std::getenv("EVERSEEN_STORE");
  if (path.empty() || (!choice.url && (named == nullptr || *named == '\0'))) return;
  std::error_code unknown;
  if (std::filesystem::status(path, unknown).type() != std::filesystem::file_type::not_found) return;
  throw storage_error(
      "cannot list " + path.string() +
          ": No such file or directory; is the name right? The first everseen create makes it",
      ENOENT, path.string());
}

exit_code run_list(const list_arguments& o, printer& out) {
  const auto place = chosen_store(o.store);
  must_exist(*place, o.store);
  if (o.names) {
    for (const std::string& name : place->list()) out.print("{}\n", shown_name(name));
    return exit_code::done;
  }
  const std::vector<listed_filter> entries = filters_of(*place);
  if (o.json)
    print_json(entries, shown_store(o.store), out);
  else if (!entries.empty())
    print_table(entries, shown_store(o.store), out);
  else if (::isatty(STDOUT_FILENO) !=
           0)  // a script reads nothing; a person may be looking into the wrong store
    fmt::print(stderr, "everseen: there are no filters in {}\n", shown_store(o.store));
  const bool damaged =
      std::any_of(entries.begin(), entries.end(), [](const listed_filter& e) { return !e.fault.empty(); });
  return damaged ? exit_code::damaged : exit_code::done;
}

}  // namespace

verb list_verb() {
  constexpr std::string_view scene = "everseen create clicks; everseen create urls";
  return {"list",
          "List the filters of a store",
          "Prints nothing if there is none, except at a terminal. The table says where a filter is full or "
          "overfull, or has grown. A name that a terminal would not show unchanged is in double "
          "quotes, "
          "with \\n or \\xHH for such bytes, and every verb takes it in this form. If a filter is "
          "unreadable, lists the others and exits with 4. "
          "Exits with 3 if the directory given by --store or $EVERSEEN_STORE does not exist, or the servers "
          "do not answer.",
          {{"All filters", "everseen list", scene},
           {"Their names, for a script",
            "everseen list --names | while read -r name; do everseen info \"$name\"; done", scene}},
          [](option_set& known) -> action {
            auto o = std::make_shared<list_arguments>();
            add_switch(known, "--names", o->names, "print the names only");
            add_json(known, o->json);
            add_store_options(known, o->store);
            return [o](printer& out) { return run_list(*o, out); };
          }};
}

}  // namespace everseen::cli
