#include "test/support/crash_matrix.hpp"

#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "test/support/cutting_proxy.hpp"

namespace everseen::test {

namespace {

std::string value_of(const std::string& line, const std::string& name) {
  const std::size_t at = line.find("\"" + name + "\":\"") + name.size() + 4;
  return line.substr(at, line.find('"', at) - at);
}

program_setup quiet_setup(const std::string& die_at, std::string input) {
  program_setup setup;
  if (!die_at.empty()) setup.environment["EVERSEEN_DIE_AT"] = die_at;
  setup.input = std::move(input);
  return setup;
}

std::vector<std::string> command_of(const matrix_world& world, const matrix_source& from,
                                    const matrix_sink& to, const std::string& store) {
  std::vector<std::string> words = {
      world.program,  "stream", "--store",        store, "--filter",    "matrix", "--job",       world.job,
      "--error-rate", "1e-12",  "--capacity",     "10k", "--key-json",  "/id",    "--time-json", "/time",
      "--block",      "4096",   "--settle-every", "2ms", "--on-outage", "hold"};
  for (const std::string& word : from.words(world)) words.push_back(word);
  for (const std::string& word : to.words(world)) words.push_back(word);
  return words;
}

/// Kills a server after a while and starts it again.
class store_killer {
 public:
  store_killer(redis_server& store, std::optional<std::chrono::milliseconds> after) {
    if (!after) return;
    thread_ = std::thread([&store, after] {
      std::this_thread::sleep_for(*after);
      store.kill();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      store.start();
    });
  }
  ~store_killer() {
    if (thread_.joinable()) thread_.join();
  }
  store_killer(const store_killer&) = delete;
  store_killer& operator=(const store_killer&) = delete;

 private:
  std::thread thread_;
};

struct attempt {
  int exit_code = 0;
  std::string out, err;
};

attempt run_attempt(const matrix_world& world, const matrix_source& from, const matrix_sink& to,
                    const disaster& d) {
  std::optional<cutting_proxy> network;
  if (d.cut_after)
    network.emplace(world.store.port()).cut_after(cutting_proxy::direction::to_client, *d.cut_after);
  const std::vector<std::string> command =
      command_of(world, from, to, network ? network->url("?timeout=2s") : world.store.url("?timeout=2s"));
  const std::string input = from.on_standard_input ? world.clicks.text() : std::string();
  running_program job(command, quiet_setup(d.die_at, input));
  std::optional<running_program> second;
  if (d.two_workers) second.emplace(command, quiet_setup({}, input));
  const store_killer killer(world.store, d.kill_store_after);
  if (d.kill_after) {
    std::this_thread::sleep_for(*d.kill_after);
    job.send(SIGKILL);
  }
  const program_result ended = job.wait();
  attempt result{ended.exit_code, ended.out, ended.err};
  if (second) result.out += second->wait().out;
  return result;
}

}  // namespace

std::string click_stream::text() const {
  std::string all;
  for (const std::string& line : lines) (all += line) += '\n';
  return all;
}

click_stream make_clicks(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  click_stream clicks;
  std::vector<std::string> different;
  for (std::size_t i = 0; i < count; ++i) {
    if (!different.empty() && random() % 4 == 0) {
      clicks.lines.push_back(different[random() % different.size()]);
      continue;
    }
    const auto seconds = random() % 3600;
    const auto two = [](std::uint64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    different.push_back("{\"id\":\"" + std::to_string(seed) + "-" + std::to_string(i) +
                        "\",\"time\":\"2025-01-01T00:" + two(seconds / 60) + ":" + two(seconds % 60) +
                        "Z\",\"site\":\"" + (random() % 3 == 0 ? "news" : "shop") + "\"}");
    clicks.lines.push_back(different.back());
  }
  for (const std::string& line : clicks.lines) {
    if (!clicks.first_lines.emplace(value_of(line, "id"), line).second) continue;
    const std::string time = value_of(line, "time");
    ++clicks.by_minute_and_site[time.substr(0, 15) + "0:00Z," + value_of(line, "site")];
  }
  return clicks;
}

matrix_source from_file() {
  return {"file",
          [](matrix_world& world) { std::ofstream(world.path("clicks.jsonl")) << world.clicks.text(); },
          [](const matrix_world& world) {
            return std::vector<std::string>{"--from", world.path("clicks.jsonl")};
          },
          false};
}

matrix_source from_standard_input() {
  return {"stdin", [](matrix_world&) {},
          [](const matrix_world&) {
            return std::vector<std::string>{"--from", "-"};
          },
          true};
}

matrix_sink to_counts() {
  return {"counts",
          [](const matrix_world&) {
            return std::vector<std::string>{"--count", "10m:/time,/site", "--count", ""};
          },
          [](const matrix_world& world, const std::string&) { return fault_of_counts(world); }};
}

matrix_sink to_file() {
  return {"file",
          [](const matrix_world& world) {
            return std::vector<std::string>{"--to", world.path("fresh.jsonl")};
          },
          [](const matrix_world& world, const std::string&) {
            std::ifstream in(world.path("fresh.jsonl"));
            std::ostringstream text;
            text << in.rdbuf();
            return fault_of_lines(world.clicks, text.str(), false);
          }};
}

matrix_sink to_standard_output() {
  return {"stdout",
          [](const matrix_world&) {
            return std::vector<std::string>{"--to", "-"};
          },
          [](const matrix_world& world, const std::string& printed) {
            return fault_of_lines(world.clicks, printed, true);
          }};
}

std::string fault_of_lines(const click_stream& clicks, const std::string& text, bool may_repeat) {
  std::map<std::string, int> times;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) ++times[line];
  std::size_t lost = 0, doubled = 0, known = 0;
  for (const auto& [id, line] : clicks.first_lines) {
    const auto found = times.find(line);
    lost += found == times.end();
    if (found == times.end()) continue;
    ++known;
    doubled += found->second > 1;
  }
  std::string fault;
  if (lost > 0) fault += std::to_string(lost) + " events are lost; ";
  if (doubled > 0 && !may_repeat) fault += std::to_string(doubled) + " events came twice; ";
  // A killed job may have printed half a line; what it prints again is whole.
  if (times.size() > known && !may_repeat)
    fault += std::to_string(times.size() - known) + " lines are none of the events'; ";
  return fault;
}

std::string fault_of_counts(const matrix_world& world) {
  const program_result counted = run_program({world.program, "counts", "matrix", "--store", world.store.url(),
                                              "--job", world.job, "--format", "csv"});
  std::map<std::string, std::int64_t> counts;
  std::istringstream in(counted.out);
  std::string line;
  std::getline(in, line);  // the names of the columns
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

/// With several partitions, so that a death may find a claim in some of them and not in others. There may be
/// one already.
void create_filter(const matrix_stage& on) {
  static_cast<void>(run_program({on.program, "create", "matrix", "--store", on.store.url(), "--error-rate",
                                 "1e-12", "--capacity", "10k", "--partitions", "8"}));
}

matrix_outcome run_matrix(const matrix_stage& on, const matrix_source& from, const matrix_sink& to,
                          const std::vector<disaster>& disasters, std::uint64_t seed) {
  matrix_world world{{}, on.program, on.store, make_clicks(seed, 1500), "job-" + std::to_string(seed)};
  from.prepare(world);
  create_filter(on);
  matrix_outcome outcome;
  std::string printed;
  for (const disaster& d : disasters) {
    const attempt one = run_attempt(world, from, to, d);
    outcome.deaths += one.exit_code == 128 + SIGKILL;
    printed += one.out + '\n';  // which ends a line that was cut
  }
  const attempt last = run_attempt(world, from, to, {});
  if (last.exit_code == 0)
    outcome.fault = to.fault(world, printed + last.out);
  else
    outcome.fault = "the last attempt ended with " + std::to_string(last.exit_code) + ": " + last.err;
  return outcome;
}

const std::vector<std::string>& fault_points() {
  static const std::vector<std::string> all = {"read",      "claimed", "half_put", "put",
                                               "committed", "settled", "accounted"};
  return all;
}

}  // namespace everseen::test
