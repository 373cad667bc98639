// The stores that need no server.

#include "test/filter/any_store_suite.hpp"
#include "test/filter/foreign_suite.hpp"
#include "test/filter/ledger_suite.hpp"
#include "test/filter/life_suite.hpp"
#include "test/filter/link_suite.hpp"
#include "test/filter/merge_suite.hpp"

namespace everseen::any_store {
namespace {

const kind kinds[] = {
    {"memory", [](const auto&) { return "mem:"; }},
    {"file_never", [](const auto& path) { return "file:" + path.string() + "?sync=never"; }},
    {"file_interval", [](const auto& path) { return "file:" + path.string(); }},
    {"file_always", [](const auto& path) { return "file:" + path.string() + "?sync=always"; }},
};

INSTANTIATE_TEST_SUITE_P(Kinds, AnyStore, testing::ValuesIn(kinds), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Kinds, AnyStoreLinks, testing::ValuesIn(kinds), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Kinds, AnyStoreLife, testing::ValuesIn(kinds), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Kinds, AnyStoreMerge, testing::ValuesIn(kinds), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Kinds, AnyLedger, testing::ValuesIn(kinds), name_of_kind);

}  // namespace
}  // namespace everseen::any_store
