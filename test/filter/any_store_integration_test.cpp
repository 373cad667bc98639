// Redis in all its shapes, against real servers. A server serves all tests of its kind in one process, each
// under a prefix of its own.

#include <array>

#include "test/filter/any_store_suite.hpp"
#include "test/filter/foreign_suite.hpp"
#include "test/filter/ledger_suite.hpp"
#include "test/filter/life_suite.hpp"
#include "test/filter/link_suite.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::any_store {
namespace {

/// Started when first asked for.
redis_server& instance(std::size_t number) {
  static std::array<std::unique_ptr<redis_server>, 3> all;
  if (!all[number]) all[number] = std::make_unique<redis_server>();
  return *all[number];
}

redis_cluster& cluster() {
  static redis_cluster one;
  return one;
}

/// A server that runs no scripts.
redis_server& without_scripts() {
  redis_server::options o;
  o.config = {"--rename-command", "EVAL", "", "--rename-command", "EVALSHA", ""};
  static redis_server one(o);
  return one;
}

redis_server& in_server() {
  static redis_server one(test::with_module());
  return one;
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
    {"redis_module", [](const auto&) { return in_server().url("/" + fresh_prefix() + "&gear=module"); }},
    {"redis_merge", [](const auto&) { return instance(0).url("/" + fresh_prefix() + "&gear=merge"); }},
    {"redis_bitfield", [](const auto&) { return without_scripts().url("/" + fresh_prefix()); }},
};

INSTANTIATE_TEST_SUITE_P(Kinds, AnyStore, testing::ValuesIn(kinds), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Kinds, AnyStoreLinks, testing::ValuesIn(kinds), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Kinds, AnyStoreLife, testing::ValuesIn(kinds), name_of_kind);
// Without the module and without scripts there are no jobs.
INSTANTIATE_TEST_SUITE_P(Kinds, AnyLedger, testing::ValuesIn(std::span(kinds).first(5)), name_of_kind);

}  // namespace
}  // namespace everseen::any_store
