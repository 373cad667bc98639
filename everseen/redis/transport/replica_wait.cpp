#include "everseen/redis/transport/replica_wait.hpp"

#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

std::vector<std::optional<batch_failure>> replica_wait::look_before(session& with,
                                                                    std::span<const route> partitions) {
  std::vector<std::optional<batch_failure>> lacking(partitions.size());
  if (!is_asked_for_) return lacking;
  std::vector<request> requests;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    if (is_known(partitions[i])) continue;
    requests.push_back({partitions[i], encode({"EXISTS", partitions[i].key}), 1, true});
    requests.back().on_replicas = true;
    asked.push_back(i);
  }
  if (requests.empty()) return lacking;
  const std::vector<answer> answers = with.exchange(requests);
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (!answers[i])
      lacking[asked[i]] = {
          batch_failure::cause::backend, answers[i].error().message + "; nothing was added there", {}};
  return lacking;
}

bool replica_wait::is_known(const route& partition) {
  const std::scoped_lock alone(lock_);
  const auto last = acknowledged_.find({partition.key, partition.partition});
  return last != acknowledged_.end() && clock::now() - last->second < std::chrono::seconds(1);
}

void replica_wait::note(const route& partition, const answer& a) {
  if (!is_asked_for_) return;
  const std::scoped_lock alone(lock_);
  if (a && !a->back().is_error())
    acknowledged_[{partition.key, partition.partition}] = clock::now();
  else
    acknowledged_.erase({partition.key, partition.partition});
}

}  // namespace everseen::redis
