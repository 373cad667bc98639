#pragma once

#include <vector>

#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// Sends the requests of all tasks together and passes on the answers, until all tasks are done. Every batch
/// reaches its servers this way, for filters of our own (partition_task) and of others (attached_task).
///
/// Cost: one exchange for each step of the longest task. Threads: one per vector of tasks.
template <typename Task>
void drive(session& with, std::vector<Task>& tasks) {
  std::vector<Task*> waiting;
  std::vector<request> requests;
  for (;;) {
    waiting.clear();
    requests.clear();
    for (Task& task : tasks) {
      if (task.done()) continue;
      const bool adds = task.adds_next();
      waiting.push_back(&task);
      requests.push_back(task.next());
      requests.back().on_replicas = adds;
    }
    if (waiting.empty()) return;
    const std::vector<answer> answers = with.exchange(requests);
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->take(answers[i]);
  }
}

}  // namespace everseen::redis
