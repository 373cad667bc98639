// Files, standard streams and counters as sources and sinks of the crash matrix.

#include <algorithm>
#include <fstream>
#include <sstream>

#include "test/support/crash_matrix/crash_matrix.hpp"

namespace everseen::test {

namespace {

using words = std::vector<std::string>;

/// Counters beside the filter, compared with the exact ones.
std::string fault_of_counts(const matrix_world& world) {
  const program_result counted = run_program({world.on.program, "counts", world.filter, "--store",
                                              world.store_url(), "--job", world.job, "--format", "csv"});
  std::map<std::string, std::int64_t> counts;
  std::istringstream in(counted.out);
  std::string line;
  std::getline(in, line);  // the header line
  while (std::getline(in, line)) {
    const std::size_t comma = line.rfind(',');
    counts[line.substr(0, comma)] = std::stoll(line.substr(comma + 1));
  }
  if (counts == world.clicks.by_minute_and_site) return {};
  std::string fault = "counts differ: ";
  for (const auto& [name, exact] : world.clicks.by_minute_and_site)
    if (counts[name] != exact)
      fault += name + " is " + std::to_string(counts[name]) + " and not " + std::to_string(exact) + "; ";
  return fault + counted.err;
}

std::string content_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

matrix_source from_file() {
  return {"file",
          [](const matrix_world& world) { std::ofstream(world.path("clicks.jsonl")) << world.clicks.text(); },
          [](const matrix_world& world, int) {
            return words{"--from", world.path("clicks.jsonl")};
          },
          false};
}

matrix_source from_standard_input() {
  return {"stdin", [](const matrix_world&) {},
          [](const matrix_world&, int) {
            return words{"--from", "-"};
          },
          true};
}

matrix_sink to_counts() {
  return {"counts",
          [](const matrix_world&, int) {
            return words{"--count", "10m:/time,/site", "--count", ""};
          },
          [](const matrix_world& world, const std::string&) { return fault_of_counts(world); }};
}

matrix_sink to_file() {
  return {"file",
          [](const matrix_world& world, int) {
            return words{"--to", world.path("fresh.jsonl")};
          },
          [](const matrix_world& world, const std::string&) {
            return fault_of_lines(world.clicks, content_of(world.path("fresh.jsonl")), false);
          },
          {"half_put", "half_shown"}};
}

namespace {

std::string union_of_files(const matrix_world& world) {
  std::string text = content_of(world.path("fresh-0.jsonl"));
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text + content_of(world.path("fresh-1.jsonl"));
}

/// A killed job may have left half a line, which it will complete.
std::string fault_of_duplicates(const std::string& text) {
  std::map<std::string, int> times;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) ++times[line];
  const auto doubled = std::ranges::count_if(times, [](const auto& each) { return each.second > 1; });
  return doubled == 0 ? "" : std::to_string(doubled) + " events are there twice after an attempt; ";
}

}  // namespace

matrix_sink to_files() {
  return {"files",
          [](const matrix_world& world, int worker) {
            const std::string number = std::to_string(worker);
            return words{"--to", world.path("fresh-" + number + ".jsonl"), "--worker", "w-" + number};
          },
          [](const matrix_world& world, const std::string&) {
            return fault_of_lines(world.clicks, union_of_files(world), false);
          },
          {"half_put", "half_shown"},
          [](const matrix_world& world) { return fault_of_duplicates(union_of_files(world)); }};
}

matrix_sink to_standard_output() {
  return {"stdout",
          [](const matrix_world&, int) {
            return words{"--to", "-"};
          },
          [](const matrix_world& world, const std::string& printed) {
            return fault_of_lines(world.clicks, printed, true);
          }};
}

}  // namespace everseen::test
