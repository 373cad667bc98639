#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "test/support/redis_server.hpp"

namespace everseen::redis {

/// Waits until the replica of a cluster's first master has received everything.
inline void wait_for_replica(test::redis_cluster& cluster) {
  test::redis_server& master = cluster.node(0);
  test::wait_until(
      [&] {
        const std::string info = master.run({"INFO", "replication"});
        const std::size_t offset = info.find("master_repl_offset:") + 19;
        return info.find("offset=" + info.substr(offset, info.find('\r', offset) - offset) + ",") !=
               std::string::npos;
      },
      "the replica has heard of everything");
}

/// Cuts off the replica of a cluster's first master, once it has received everything.
inline void cut_replication(test::redis_cluster& cluster) {
  wait_for_replica(cluster);
  test::redis_server &master = cluster.node(0), &replica = cluster.node(test::redis_cluster::masters);
  for (const char* option : {"masteruser", "masterauth"}) replica.run({"CONFIG", "SET", option, "nobody"});
  master.run({"CLIENT", "KILL", "TYPE", "replica"});
  test::wait_until(
      [&] {
        return replica.run({"INFO", "replication"}).find("master_link_status:down") != std::string::npos;
      },
      "the replica is cut off");
}

/// Kills the first master, whose replica takes over, and waits until all others know.
inline void fail_over(test::redis_cluster& cluster) {
  cluster.misses_after(std::chrono::seconds(1));
  cluster.node(0).kill();
  test::wait_until(
      [&] {
        if (!cluster.node(test::redis_cluster::masters).run({"ROLE"}).starts_with("master")) return false;
        for (std::size_t i = 1; i < cluster.size(); ++i)
          if (!cluster.node(i).run({"CLUSTER", "INFO"}).starts_with("cluster_state:ok")) return false;
        return true;
      },
      "the replica takes over");
}

}  // namespace everseen::redis
