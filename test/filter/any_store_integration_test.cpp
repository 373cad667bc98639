// All forms of Redis stores, on real servers. One process runs all tests of a kind on one server; each test
// has its own prefix.

#include <array>

#include "test/filter/any_store_suite.hpp"
#include "test/filter/foreign_suite.hpp"
#include "test/filter/ledger_suite.hpp"
#include "test/filter/life_suite.hpp"
#include "test/filter/link_suite.hpp"
#include "test/filter/merge_suite.hpp"
#include "test/serve/serving.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::any_store {
namespace {

/// With the module, started on first use.
redis_server& instance(std::size_t number) {
  static std::array<std::unique_ptr<redis_server>, 3> all;
  if (!all[number]) all[number] = std::make_unique<redis_server>(test::with_module());
  return *all[number];
}

redis_cluster& cluster() {
  static redis_cluster one(redis_cluster::replicas::none, test::with_module());
  return one;
}

redis_server& plain() {
  static redis_server one;
  return one;
}

/// An empty `everseen serve` for each test.
std::string fresh_server(const std::string& store) {
  static std::unique_ptr<serving> one;
  one = std::make_unique<serving>(store);
  return "everseen+unix:" + one->path();
}

std::string fresh_prefix() {
  static int tests = 0;
  return "?prefix=test" + std::to_string(++tests);
}

const kind kinds[] = {
    {"redis_tcp", [](const auto&) { return instance(0).url("/" + fresh_prefix()); }},
    {"redis_unix", [](const auto&) { return instance(0).unix_url(fresh_prefix()); }},
    {"redis_many",
     [](const auto&) {
       return "redis://" + instance(0).address() + "," + instance(1).address() + "," + instance(2).address() +
              "/" + fresh_prefix();
     }},
    {"redis_cluster", [](const auto&) { return cluster().url("/" + fresh_prefix()); }},
};

const kind judged_by_clients[] = {
    {"redis_clients", [](const auto&) { return plain().url("/" + fresh_prefix()); }, judge_kind::client},
    {"redis_clients_many",
     [](const auto&) {
       return "redis://" + instance(0).address() + "," + instance(1).address() + "," + instance(2).address() +
              "/" + fresh_prefix();
     },
     judge_kind::client},
    {"redis_clients_cluster", [](const auto&) { return cluster().url("/" + fresh_prefix()); },
     judge_kind::client},
};

/// A store without links and ledgers.
const kind served[] = {
    {"everseen_memory", [](const auto&) { return fresh_server("mem:"); }},
    {"everseen_files", [](const auto& path) { return fresh_server("file:" + path.string()); }},
};

INSTANTIATE_TEST_SUITE_P(Served, AnyStore, testing::ValuesIn(served), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Served, AnyStoreMerge, testing::ValuesIn(served), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Served, AnyStoreLife, testing::ValuesIn(served), name_of_kind);

INSTANTIATE_TEST_SUITE_P(JudgedByClients, AnyStore, testing::ValuesIn(judged_by_clients), name_of_kind);
INSTANTIATE_TEST_SUITE_P(JudgedByClients, AnyStoreMerge, testing::ValuesIn(judged_by_clients), name_of_kind);
INSTANTIATE_TEST_SUITE_P(JudgedByClients, AnyStoreLinks, testing::ValuesIn(judged_by_clients), name_of_kind);
INSTANTIATE_TEST_SUITE_P(JudgedByClients, AnyStoreLife, testing::ValuesIn(judged_by_clients), name_of_kind);
INSTANTIATE_TEST_SUITE_P(JudgedByClients, AnyLedger, testing::ValuesIn(judged_by_clients), name_of_kind);

INSTANTIATE_TEST_SUITE_P(Kinds, AnyStore, testing::ValuesIn(kinds), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Kinds, AnyStoreLinks, testing::ValuesIn(kinds), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Kinds, AnyStoreLife, testing::ValuesIn(kinds), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Kinds, AnyStoreMerge, testing::ValuesIn(kinds), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Kinds, AnyLedger, testing::ValuesIn(kinds), name_of_kind);

}  // namespace
}  // namespace everseen::any_store
