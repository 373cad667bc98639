#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "everseen/cli/filters/list.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/terminal/progress.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/layout/set_bits.hpp"
#include "everseen/text/json.hpp"
#include "everseen/text/numbers.hpp"

/// `everseen top`: what the filters and servers of a store do, over and over. Nothing counts for it: a rate
/// is the difference of two looks at what the store keeps anyway, divided by the time between them.
namespace everseen::cli {

namespace {

using clock = std::chrono::steady_clock;

struct top_arguments {
  store_choice store;
  std::optional<std::chrono::milliseconds> interval;
  std::optional<std::uint64_t> count;
  bool json = false;
};

struct look {
  clock::time_point taken;
  std::vector<listed_filter> filters;
  std::vector<server_report> servers;
};

look look_at(store& place) {
  look all{clock::now(), {}, place.reports()};
  all.filters = filters_of(place);
  return all;
}

struct filter_line {
  const listed_filter* filter;
  double keys_per_s;
};

struct server_line {
  const server_report* server;
  double commands_per_s, errors_per_s;
};

/// What changed from one look to the next. Counts that fell, as after a reset or a restart, changed by
/// nothing.
struct change {
  std::vector<server_line> servers;  // in the order of the URL
  std::vector<filter_line> filters;  // the busiest first, then by name
};

/// @pre both outlive the result
change change_of(const look& before, const look& after) {
  const double seconds = std::max(std::chrono::duration<double>(after.taken - before.taken).count(), 1e-3);
  const auto rate = [seconds](std::uint64_t old, std::uint64_t latest) {
    return latest > old ? static_cast<double>(latest - old) / seconds : 0;
  };
  std::map<std::string_view, std::uint64_t> keys;
  for (const listed_filter& each : before.filters)
    if (each.fault.empty()) keys[each.name] = each.info.keys;
  change all;
  for (const listed_filter& each : after.filters) {
    const auto old = keys.find(each.name);  // a new one came with its keys at an unknown time
    all.filters.push_back({&each, old == keys.end() ? 0 : rate(old->second, each.info.keys)});
  }
  std::ranges::stable_sort(all.filters, std::ranges::greater{}, &filter_line::keys_per_s);
  for (const server_report& each : after.servers) {
    const auto old = std::ranges::find(before.servers, each.id, &server_report::id);
    const server_report& then = old == before.servers.end() ? each : *old;
    all.servers.push_back({&each, rate(then.commands, each.commands), rate(then.errors, each.errors)});
  }
  return all;
}

std::string json_of(const change& all, const std::string& store) {
  nlohmann::ordered_json servers = nlohmann::ordered_json::array(), filters = nlohmann::ordered_json::array();
  for (const auto& [server, commands_per_s, errors_per_s] : all.servers)
    servers.push_back({{"server", server->server},
                       {"clients", server->clients},
                       {"commands_per_s", commands_per_s},
                       {"errors_per_s", errors_per_s},
                       {"bytes", server->bytes},
                       {"max_bytes", server->max_bytes}});
  for (const auto& [each, keys_per_s] : all.filters)
    if (each->fault.empty())
      filters.push_back({{"name", each->name},
                         {"keys_per_s", keys_per_s},
                         {"keys", each->info.keys},
                         {"capacity", each->info.spec.capacity},
                         {"error_rate", each->info.spec.error_rate},
                         {"error_rate_now", each->info.error_rate_now},
                         {"bytes", each->info.bytes}});
    else
      filters.push_back({{"name", each->name}, {"fault", each->fault}});
  const nlohmann::ordered_json line = {{"store", store}, {"servers", servers}, {"filters", filters}};
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<std::string> server_lines(const change& all) {
  if (all.servers.empty()) return {};
  std::size_t width = 6;
  for (const server_line& each : all.servers) width = std::max(width, most_columns(each.server->server));
  std::vector<std::string> lines = {
      fmt::format("{:<{}}  {:>8}  {:>11}  {:>9}  memory", "server", width, "clients", "commands", "errors")};
  for (const auto& [server, commands_per_s, errors_per_s] : all.servers)
    lines.push_back(fmt::format(
        "{:<{}}  {:>8}  {:>11}  {:>9}  {}{}", server->server, width, server->clients,
        per_second(commands_per_s), per_second(errors_per_s),
        format_bytes(static_cast<double>(server->bytes)),
        server->max_bytes == 0 ? "" : " of " + format_bytes(static_cast<double>(server->max_bytes))));
  lines.emplace_back();
  return lines;
}

std::vector<std::string> filter_lines(const change& all) {
  if (all.filters.empty()) return {"There are no filters."};
  std::size_t width = 6;
  for (const filter_line& each : all.filters) width = std::max(width, most_columns(each.filter->name));
  std::vector<std::string> lines = {fmt::format("{:<{}}  {:>11}  {:>15}  {:>15}  {:>7}  {:>10}", "filter",
                                                width, "new keys", "keys", "capacity", "rate", "memory")};
  for (const auto& [each, keys_per_s] : all.filters) {
    if (!each->fault.empty()) {
      lines.push_back(fmt::format("{:<{}}  cannot be read: {}", each->name, width, each->fault));
      continue;
    }
    const filter_info& info = each->info;
    const std::string condition = condition_of(info);
    lines.push_back(fmt::format(
        "{:<{}}  {:>11}  {:>15}  {:>15}  {:>7}  {:>10}{}", each->name, width, per_second(keys_per_s),
        info.keys >= countless_keys ? "full" : format_count(info.keys), format_count(info.spec.capacity),
        format_rate(info.error_rate_now), format_bytes(static_cast<double>(info.bytes)),
        condition.empty() ? "" : "  " + condition));
  }
  return lines;
}

/// The rows of the terminal at standard output; nothing: it is none.
std::optional<std::size_t> terminal_rows() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0) return std::nullopt;
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : std::size_t{24};
}

/// One screen: what does not fit on a terminal is counted, with the idlest filters last.
std::string screen(std::vector<std::string> lines, std::optional<std::size_t> rows) {
  std::string text = rows ? "\x1b[H\x1b[2J" : "";
  if (rows && lines.size() + 1 > *rows && *rows > 2) {
    const std::size_t hidden = lines.size() - (*rows - 2);
    lines.resize(*rows - 2);
    lines.push_back(fmt::format("and {} more", hidden));
  }
  for (const std::string& line : lines) text += line + '\n';
  if (!rows) text += '\n';
  return text;
}

std::string title(const std::string& store, std::chrono::milliseconds interval) {
  std::time_t seconds = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:%T}  {}  every {}", local, store, format_duration(interval));
}

/// In short naps, so that a signal ends it soon.    @throws stopped
void wait_until(clock::time_point when) {
  constexpr std::chrono::milliseconds nap{50};
  while (clock::now() < when) {
    stop_if_signalled();
    std::this_thread::sleep_until(std::min(when, clock::now() + nap));
  }
  stop_if_signalled();
}

exit_code run_top(const top_arguments& o, printer& out) {
  note_signals();
  const auto interval = o.interval.value_or(std::chrono::seconds(2));
  const std::string where = shown_store(o.store);
  const auto place = chosen_store(o.store);
  look before = look_at(*place);
  for (std::uint64_t shown = 0; !o.count || shown < *o.count; ++shown) {
    wait_until(before.taken + interval);
    look after = look_at(*place);
    const change all = change_of(before, after);
    if (o.json) {
      out.write(json_of(all, where));
    } else {
      std::vector<std::string> lines = {title(where, interval), ""};
      std::ranges::move(server_lines(all), std::back_inserter(lines));
      std::ranges::move(filter_lines(all), std::back_inserter(lines));
      out.write(screen(std::move(lines), terminal_rows()));
    }
    out.flush();
    before = std::move(after);
  }
  return exit_code::done;
}

}  // namespace

verb top_verb() {
  constexpr std::string_view scene = "everseen create clicks";
  return {
      "top",
      "Show live what the filters and servers of a store do",
      "Shows for each server its clients, commands per second, and errors per second: replies that are "
      "errors, or of "
      "everseen serve outages of its store. Shows for each filter, the busiest first, new keys per second, "
      "all "
      "keys, and the error rate now. At a terminal the latest table replaces the one before, as far as it "
      "fits.\n\n"
      "Runs until it is stopped, or a server does not answer for longer than --timeout. Each table costs a "
      "server "
      "some commands per filter, and where clients judge, one for each batch that was added since the last "
      "checkpoint: watch large stores with a longer --interval.",
      {{"Until you press Ctrl-C", "timeout 0.3 everseen top --interval 100ms || true", scene},
       {"One table for a script", "everseen top --count 1 --interval 100ms --json", scene}},
      [](option_set& known) -> action {
        auto o = std::make_shared<top_arguments>();
        add_duration(known, "--interval", o->interval, {"TIME", "from one table to the next", "2s"},
                     std::chrono::milliseconds(100));
        add_count(known, "--count", o->count, {1, std::numeric_limits<std::uint64_t>::max()},
                  {"COUNT", "end after so many tables", "none"});
        add_json(known, o->json);
        add_store_options(known, o->store);
        return [o](printer& out) { return run_top(*o, out); };
      }};
}

}  // namespace everseen::cli
