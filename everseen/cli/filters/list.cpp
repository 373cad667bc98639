#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/store/port/recovered_keys.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

struct options {
  store_choice store;
  bool json = false;
  bool names = false;
};

struct entry {
  std::string name;
  filter_info info;
  std::string fault;  // why there is no info
};

/// One damaged filter must not hide the others.
std::vector<entry> entries_of(store& place) {
  std::vector<entry> entries;
  for (const std::string& name : place.list()) {
    entry e{name, {}, {}};
    try {
      e.info = filter(name, place.open(name, access::read)).info();
    } catch (const error& fault) {
      e.fault = fault.what();
    }
    entries.push_back(std::move(e));
  }
  return entries;
}

void print_json(const std::vector<entry>& entries, printer& out) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const entry& e : entries)
    if (e.fault.empty())
      all.push_back({{"name", e.name},
                     {"keys", e.info.keys},
                     {"capacity", e.info.spec.capacity},
                     {"error_rate", e.info.spec.error_rate},
                     {"bytes", e.info.bytes}});
    else
      all.push_back({{"name", e.name}, {"fault", e.fault}});
  out.print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_table(const std::vector<entry>& entries, printer& out) {
  std::size_t width = 4;
  for (const entry& e : entries) width = std::max(width, e.name.size());
  out.print("{:<{}}  {:>19}  {:>19}  {:>10}  {:>10}\n", "name", width, "keys", "capacity", "error rate",
            "memory");
  for (const entry& e : entries)
    if (e.fault.empty())
      out.print("{:<{}}  {:>19}  {:>19}  {:>10}  {:>10}\n", e.name, width,
                e.info.keys >= countless_keys ? "full" : format_count(e.info.keys),
                format_count(e.info.spec.capacity), format_rate(e.info.spec.error_rate),
                format_bytes(static_cast<double>(e.info.bytes)));
    else
      out.print("{:<{}}  cannot be read: {}\n", e.name, width, e.fault);
}

exit_code run(const options& o, printer& out) {
  const auto place = chosen_store(o.store);
  if (o.names) {
    for (const std::string& name : place->list()) out.print("{}\n", name);
    return exit_code::done;
  }
  const std::vector<entry> entries = entries_of(*place);
  if (o.json)
    print_json(entries, out);
  else if (!entries.empty())
    print_table(entries, out);
  const bool damaged =
      std::any_of(entries.begin(), entries.end(), [](const entry& e) { return !e.fault.empty(); });
  return damaged ? exit_code::damaged : exit_code::done;
}

}  // namespace

verb list_verb() {
  constexpr std::string_view scene = "everseen create clicks; everseen create urls";
  return {"list",
          "List the filters of a store",
          "Prints nothing where there is none. Ends with 4 when one of them cannot be read; the others are "
          "listed all the same.",
          {{"All filters", "everseen list", scene},
           {"Their names, for a script", "for name in $(everseen list --names); do everseen info $name; done",
            scene}},
          [](option_set& known) -> action {
            auto o = std::make_shared<options>();
            add_switch(known, "--names", o->names, "print the names only");
            add_switch(known, "--json", o->json, "print JSON");
            add_store_option(known, o->store);
            return [o](printer& out) { return run(*o, out); };
          }};
}

}  // namespace everseen::cli
