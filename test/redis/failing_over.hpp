#pragma once

#include <string>

#include "test/support/redis_server.hpp"

namespace everseen::redis {

/// Cuts off the replica of a cluster's first master, once it has received everything.
inline void cut_replication(test::redis_cluster& cluster) {
  test::redis_server &master = cluster.node(0), &replica = cluster.node(test::redis_cluster::masters);
  test::wait_until(
      [&] {
        const std::string info = master.run({"INFO", "replication"});
        const std::size_t offset = info.find("master_repl_offset:") + 19;
        return info.find("offset=" + info.substr(offset, info.find('\r', offset) - offset) + ",") !=
               std::string::npos;
      },
      "the replica has heard of everything");
  for (const char* option : {"masteruser", "masterauth"}) replica.run({"CONFIG", "SET", option, "nobody"});
  master.run({"CLIENT", "KILL", "TYPE", "replica"});
  test::wait_until(
      [&] {
        return replica.run({"INFO", "replication"}).find("master_link_status:down") != std::string::npos;
      },
      "the replica is cut off");
}

/// Kills the first master, whose replica takes over.
inline void fail_over(test::redis_cluster& cluster) {
  cluster.node(0).kill();
  test::wait_until(
      [&] {
        return cluster.node(test::redis_cluster::masters).run({"ROLE"}).starts_with("master") &&
               cluster.node(1).run({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos;
      },
      "the replica takes over");
}

}  // namespace everseen::redis
