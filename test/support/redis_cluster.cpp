#include <thread>

#include "test/support/redis_server.hpp"

namespace everseen::test {

redis_cluster::redis_cluster(replicas r, const std::vector<std::string>& config) {
  redis_server::options o;
  o.config = {"--cluster-enabled",
              "yes",
              "--cluster-node-timeout",
              "1000",
              "--cluster-config-file",
              "nodes.conf",
              "--cluster-replica-validity-factor",
              "0",
              "--repl-diskless-sync-delay",
              "0"};
  o.config.insert(o.config.end(), config.begin(), config.end());
  const std::size_t count = r == replicas::none ? masters : 2 * masters;
  for (std::size_t i = 0; i < count; ++i) nodes_.push_back(std::make_unique<redis_server>(o));
  give_slots();
  introduce();
  if (r == replicas::one_each) give_replicas();
  wait_until_ok();
  misses_after(std::chrono::seconds(30));
}

void redis_cluster::misses_after(std::chrono::milliseconds silence) {
  for (const auto& n : nodes_)
    n->run({"CONFIG", "SET", "cluster-node-timeout", std::to_string(silence.count())});
}

std::string redis_cluster::url(std::string_view rest) const {
  std::string text = "redis+cluster://";
  for (const auto& n : nodes_) {
    if (n != nodes_.front()) text += ',';
    text += n->address();
  }
  return text + std::string(rest);
}

void redis_cluster::give_slots() {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    node(i).run({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  for (unsigned slot = 0, first = 0; slot < slots; ++slot) {
    if (slot + 1 < slots && &owner(slot + 1) == &owner(slot)) continue;
    owner(slot).run({"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(slot)});
    first = slot + 1;
  }
}

void redis_cluster::introduce() {
  for (const auto& one : nodes_)
    for (const auto& other : nodes_) {
      const std::string nodes = other->run({"CLUSTER", "NODES"});
      const std::string bus = nodes.substr(nodes.find('@') + 1);
      if (one != other)
        one->run({"CLUSTER", "MEET", "127.0.0.1", std::to_string(other->port()),
                  bus.substr(0, bus.find_first_of(", "))});
    }
  for (const auto& n : nodes_)
    wait_until(
        [&] {
          const std::string info = n->run({"CLUSTER", "INFO"});
          return info.find("cluster_known_nodes:" + std::to_string(size()) + "\r") != std::string::npos &&
                 n->run({"CLUSTER", "NODES"}).find("handshake") == std::string::npos;
        },
        "nodes know each other");
}

void redis_cluster::give_replicas() {
  for (std::size_t i = masters; i < size(); ++i) {
    const std::string master = id(i - masters);
    wait_until(
        [&] {
          return node(i).run({"CLUSTER", "REPLICATE", master}) == "OK";
        },
        "a replica finds its master");
  }
  for (std::size_t i = masters; i < size(); ++i)
    wait_until(
        [&] {
          return node(i).run({"INFO", "replication"}).find("master_link_status:up") != std::string::npos;
        },
        "a replica is in step");
  // Until the masters know a replica, CLUSTER SLOTS does not list it, and it would not be elected.
  const std::string replica = node(masters).address();
  for (std::size_t i = 0; i < size(); ++i)
    wait_until([&] { return node(i).run({"CLUSTER", "NODES"}).find("slave") != std::string::npos; }, replica);
}

void redis_cluster::wait_until_ok() const {
  for (const auto& n : nodes_)
    wait_until(
        [&] {
          return n->run({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos;
        },
        "the cluster is ok");
}

void redis_cluster::begin_to_move(unsigned slot, std::size_t from, std::size_t target) {
  node(target).run({"CLUSTER", "SETSLOT", std::to_string(slot), "IMPORTING", id(from)});
  node(from).run({"CLUSTER", "SETSLOT", std::to_string(slot), "MIGRATING", id(target)});
}

void redis_cluster::move_keys(unsigned slot, std::size_t from, std::size_t target) {
  for (;;) {
    const std::string key = node(from).run({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "1"});
    if (key.empty()) return;
    node(from).run({"MIGRATE", "127.0.0.1", std::to_string(node(target).port()), key, "0", "5000"});
  }
}

void redis_cluster::finish_to_move(unsigned slot, std::size_t target) {
  const std::string owner = id(target);
  node(target).run({"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", owner});
  for (std::size_t i = 0; i < masters; ++i)
    node(i).run({"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", owner});
}

}  // namespace everseen::test
