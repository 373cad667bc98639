#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "everseen/redis/transport/replica_wait.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// Ends the tasks that would add what cannot be acknowledged.
template <typename Task>
void look_before_adding(session& with, replica_wait& replicas, std::vector<Task>& tasks) {
  if (!replicas.is_asked_for()) return;
  std::vector<Task*> adding;
  std::vector<route> places;
  for (Task& task : tasks)
    if (!task.done() && task.adds_next()) {
      adding.push_back(&task);
      places.push_back(task.place());
    }
  auto lacking = replicas.look_before(with, places);
  for (std::size_t i = 0; i < adding.size(); ++i)
    if (lacking[i]) adding[i]->give_up(*std::move(lacking[i]));
}

/// Sends what tasks want to know, all at once, and hands out the answers, until all are done: the one way of
/// a batch to the servers, for filters of our own (partition_task) and of others (attached_task).
///
/// Cost: an exchange for each step of the longest task. Threads: one a vector of tasks.
template <typename Task>
void drive(session& with, replica_wait& replicas, std::vector<Task>& tasks) {
  std::vector<Task*> waiting;
  std::vector<bool> adding;
  std::vector<request> requests;
  for (;;) {
    waiting.clear();
    adding.clear();
    requests.clear();
    look_before_adding(with, replicas, tasks);
    for (Task& task : tasks) {
      if (task.done()) continue;
      adding.push_back(task.adds_next());
      waiting.push_back(&task);
      requests.push_back(task.next());
      requests.back().on_replicas = adding.back();
    }
    if (waiting.empty()) return;
    const std::vector<answer> answers = with.exchange(requests);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (adding[i]) replicas.note(waiting[i]->place(), answers[i]);
      waiting[i]->take(answers[i]);
    }
  }
}

}  // namespace everseen::redis
