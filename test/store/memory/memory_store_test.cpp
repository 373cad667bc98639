#include "everseen/store/memory/memory_store.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/spec/spec.hpp"

namespace everseen {
namespace {

using namespace std::chrono_literals;

spec small() {
  spec_request r;
  r.capacity = 1'000;
  return make_spec(r);
}

TEST(MemoryStore, KnowsWhoAsksAFilterFirst) {
  memory_store place;
  for (const char* name : {"old", "new", "other"}) (void)place.create(name, small());
  place.link("old", "new", std::nullopt);
  EXPECT_THROW(place.drop("old"), parameter_error);
  EXPECT_THROW(place.rename("old", "else", store::namesake::refuse), parameter_error);
  EXPECT_THROW(place.link("old", "other", std::nullopt), parameter_error) << "one alone may ask it";
  place.drop("new");
  place.drop("old");
}

TEST(MemoryStore, ForgetsWhoAskedAFilterWhenTheLinkIsOver) {
  event_time now{1h};
  memory_store place([&] { return now; });
  for (const char* name : {"old", "new", "other"}) (void)place.create(name, small());
  place.link("old", "new", 1min);
  now += 2min;
  place.link("old", "other", std::nullopt);
  place.drop("new");
  EXPECT_THROW(place.drop("old"), parameter_error) << "another asks it now";
  place.unlink("other");
  place.drop("old");
}

TEST(MemoryStore, KnowsWhoAsksAFilterThatEndedAndWasMadeAgain) {
  event_time now{1h};
  memory_store place([&] { return now; });
  (void)place.create_expiring("old", small(), 1min);
  (void)place.create("new", small());
  place.link("old", "new", std::nullopt);
  now += 2min;
  place.remove_expired();
  (void)place.create("old", small());
  EXPECT_THROW(place.drop("old"), parameter_error);
}

}  // namespace
}  // namespace everseen
