#include "test/support/crash_matrix/crash_matrix_runs.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace everseen::test {

namespace {

using std::chrono::milliseconds;

std::vector<matrix_pair> make_pairs() {
  const std::vector<std::pair<std::string, std::function<matrix_source(matrix_lane&)>>> sources = {
      {"file", [](matrix_lane&) { return from_file(); }},
      {"stdin", [](matrix_lane&) { return from_standard_input(); }},
      {"redis_stream", [](matrix_lane&) { return from_redis_stream(); }},
      {"kafka", [](matrix_lane& lane) { return from_kafka(lane.kafka.value()); }}};
  const std::vector<std::pair<std::string, std::function<matrix_sink(matrix_lane&)>>> sinks = {
      {"counts", [](matrix_lane&) { return to_counts(); }},
      {"file", [](matrix_lane&) { return to_file(); }},
      {"stdout", [](matrix_lane&) { return to_standard_output(); }},
      {"redis_stream", [](matrix_lane&) { return to_redis_stream(); }},
      {"kafka", [](matrix_lane& lane) { return to_kafka_without_transactions(lane.kafka.value()); }}};
  std::vector<matrix_pair> all;
  for (const auto& [from_name, from] : sources)
    for (const auto& [to_name, target] : sinks) all.push_back({from_name, to_name, from, target});
  all.back().to = [](matrix_lane& lane) { return to_kafka(lane.kafka.value()); };
  for (const auto& [from_name, from] : sources)
    if (from_name == "redis_stream" || from_name == "kafka")  // where workers take over lanes
      all.push_back({from_name, "files", from, [](matrix_lane&) { return to_files(); }});
  return all;
}

/// If a job has its lanes in parallel, all events lie within the window, except late ones.
click_shape shape_of(const matrix_run& run) {
  if (!run.in_window) return {};
  return {std::chrono::minutes(run.pair.from_name == "file" || run.pair.from_name == "stdin" ? 40 : 8), true};
}

matrix_outcome run_one(const std::string& program, matrix_lane& lane, const matrix_run& run) {
  matrix_stage stage{program, lane.store, {}, shape_of(run), 1'500, run.settle_every};
  if (lane.kafka) {
    auto& [broker, gate] = *lane.kafka;
    stage.brokers = {[&gate = gate] { gate.cut(); }, [&gate = gate] { gate.mend(); },
                     [&broker = broker] { broker.kill(); }, [&broker = broker] { broker.start(); }};
  }
  stage.last_worker = run.last_worker;
  stage.outlasts_brokers = run.outlasts_brokers;
  // A Redis stream is read a thousand entries at a time. A worker that stops may have read six batches ahead:
  // the other one must have had events on time before the first late one.
  if (run.pair.from_name == "redis_stream") stage.events = run.in_window ? 10'000 : 4'000;
  if (run.in_window) stage.words = {"--window", "10m", "--slices", "10"};
  matrix_outcome outcome;
  try {
    outcome = run_matrix(stage, run.pair.from(lane), run.pair.to(lane), run.disasters, run.seed);
  } catch (const std::exception& e) {
    outcome.fault = e.what();
  }
  if (!outcome.fault.empty())
    outcome.fault = "\nseed " + std::to_string(run.seed) + ", " + run.pair.name() +
                    (run.in_window ? ", window: " : ": ") + outcome.fault;
  return outcome;
}

}  // namespace

const std::vector<matrix_pair>& all_pairs() {
  static const std::vector<matrix_pair> all = make_pairs();
  return all;
}

const matrix_pair& pair_of(const std::string& from, const std::string& target) {
  return *std::ranges::find_if(
      all_pairs(), [&](const matrix_pair& each) { return each.from_name == from && each.to_name == target; });
}

matrix_outcome run_side_by_side(const std::string& program, const std::vector<matrix_run>& runs,
                                std::size_t lanes) {
  matrix_outcome all;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  const auto add = [&](const matrix_outcome& one) {
    const std::lock_guard lock(mutex);
    all += one;
  };
  lanes = std::min(lanes, runs.size());
  std::optional<kafka_broker> killed;  // topics of other runs would prolong its restarts
  kafka_broker* broker = nullptr;
  if (std::ranges::any_of(runs, [](const matrix_run& run) { return run.outlasts_brokers; }))
    broker = &killed.emplace(lanes);
  else if (std::ranges::any_of(runs, [](const matrix_run& run) { return run.pair.has_kafka(); }))
    broker = &kafka_broker::of_all();
  const auto work = [&](std::size_t which) {
    try {
      matrix_lane lane;
      if (broker) lane.kafka.emplace(kafka_way{*broker, broker->gate_at(which)});
      for (std::size_t i = next++; i < runs.size(); i = next++) add(run_one(program, lane, runs[i]));
    } catch (const std::exception& e) {
      add({.fault = std::string("\nno server or brokers for a run: ") + e.what()});
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < lanes; ++i) threads.emplace_back(work, i);
  for (std::thread& each : threads) each.join();
  return all;
}

disaster random_disaster(std::mt19937_64& random, const matrix_pair& pair) {
  // A group takes its time to share out its partitions.
  const bool waits = pair.from_name == "kafka";
  const auto some_time = [&] { return milliseconds(random() % (waits ? 1'500 : 120)); };
  const bool has_its_file = pair.to_name == "file" || pair.to_name == "files";
  disaster d;
  const std::uint64_t kind = random() % (pair.has_kafka() || pair.to_name == "files" ? 8 : 6);
  switch (kind == 6 && !pair.has_kafka() ? 7 : kind) {
    case 0:
      d.die_at = fault_points()[random() % fault_points().size()] + ":" + std::to_string(1 + random() % 20);
      break;
    case 1:
      d.kill_after = some_time();
      break;
    case 2:
      d.kill_store_after = some_time();
      break;
    case 3:
      d.cut_after = random() % 4'000;
      d.kill_after = some_time();
      break;
    case 4:
      d.kill_store_after = some_time();
      d.kill_after = some_time();
      break;
    case 5:
      if (pair.to_name != "file" && pair.from_name != "stdin") {
        const bool is_another = has_its_file || (waits && random() % 2 == 0);
        d.second = is_another ? disaster::beside::a_worker : disaster::beside::the_same;
        if (random() % 2 == 0) d.second_after = some_time();
      }
      d.kill_after = some_time();
      break;
    case 6:
      d.lose_brokers_after = some_time();
      if (random() % 2 == 0) d.kill_after = some_time();
      break;
    default:
      d.second = pair.to_name == "files" || (pair.to_name != "file" && waits) ? disaster::beside::a_worker
                                                                              : disaster::beside::nobody;
      d.stop_after = some_time();
      if (!waits) d.stop_for = milliseconds(700);
  }
  return d;
}

matrix_run random_run(const matrix_pair& pair, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  matrix_run run{pair, {}, seed, random() % 2 == 0};
  for (std::uint64_t left = 1 + random() % 4; left > 0; --left)
    run.disasters.push_back(random_disaster(random, pair));
  return run;
}

std::string to_string(const matrix_outcome& outcome) {
  const auto times = [](int count, const std::string& noun) { return std::to_string(count) + ' ' + noun; };
  return times(outcome.attempts, "attempts, ") + times(outcome.deaths, "jobs and ") +
         times(outcome.store_deaths, "servers killed, ") + times(outcome.cuts, "connections cut, ") +
         times(outcome.broker_losses, "times without brokers, ") + times(outcome.stops, "jobs stopped");
}

}  // namespace everseen::test
