#include "everseen/serve/registry/filter_registry.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/store/file/file_store.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/support/scratch_directory.hpp"

namespace everseen::serve {
namespace {

using namespace std::chrono_literals;
using test::scratch_directory;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A registry of some store, and the parts of a server that it needs.
class registry_of {
 public:
  explicit registry_of(std::shared_ptr<store> place, options o = {})
      : registry_(std::move(place), o, {workers_, batches_}, stats_) {}
  filter_registry* operator->() { return &registry_; }

 private:
  batch_stats stats_{nullptr};
  filter_registry registry_;
  worker_pool workers_{2};  // their work uses the registry, so they end first
  worker_pool batches_{2};
};

TEST(FilterRegistry, CreatesNothingThatWouldLiveForLessThanASecond) {
  registry_of registry(std::make_shared<memory_store>());
  EXPECT_THROW(registry->create("a", {{}, {}, 999ms}), parameter_error);
  EXPECT_EQ(registry->bytes(), 0U);
  EXPECT_THAT(registry->keys(), IsEmpty());
  EXPECT_EQ(registry->create("a", {{}, {}, 1s})->key, "a");
}

/// A store whose filters must not be listed.
class store_without_listing : public memory_store {
 public:
  [[nodiscard]] std::vector<std::string> list() const override { throw backend_error("asked for all names"); }
};

TEST(FilterRegistry, NamesTheFirstOfTheFiltersThatItHasOpenedWithoutAskingTheStore) {
  registry_of registry(std::make_shared<store_without_listing>());
  for (const char* name : {"b", "c", "a"}) registry->create(name, {});
  EXPECT_THAT(registry->recorded_names(10), ElementsAre("a", "b", "c"));
  EXPECT_THAT(registry->recorded_names(2), ElementsAre("a", "b"));
  EXPECT_TRUE(registry->drop("a"));
  EXPECT_THAT(registry->recorded_names(10), ElementsAre("b", "c"));
}

/// A store on servers that creates a filter and then fails to say anything about it.
class store_that_falls_silent : public memory_store {
 public:
  [[nodiscard]] filter_facts facts(std::string_view name) const override {
    if (is_silent) throw backend_error("no answer");
    filter_facts known = memory_store::facts(name);
    known.identity = "the one";
    return known;
  }
  std::atomic<bool> is_silent = true;
};

TEST(FilterRegistry, ReturnsANewFilterThoughTheStoreFailsAfterItsCreation) {
  const auto place = std::make_shared<store_that_falls_silent>();
  registry_of registry(place);
  const open_filter made = registry->create("a", {{}, {}, 1h});
  EXPECT_NEAR(static_cast<double>(made->expires_at_ms),
              static_cast<double>((wall_clock() + 1h).time_since_epoch().count()), 60'000);
  place->is_silent = false;
  EXPECT_THROW((void)registry->facts_of(*made), storage_error) << "it must be opened again";
}

/// A store in which another client creates the first filter just before, and drops it right after.
class store_with_a_rival : public memory_store {
 public:
  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s,
                                        std::optional<std::chrono::milliseconds> life) override {
    if (!was_beaten_.exchange(true)) throw filter_exists(name);
    return memory_store::create(name, s, life);
  }

 private:
  std::atomic<bool> was_beaten_ = false;
};

TEST(FilterRegistry, CreatesAFilterWhereTheWinnerOfARaceIsGoneAgain) {
  registry_of registry(std::make_shared<store_with_a_rival>());
  EXPECT_EQ(registry->open_or_create("k", {})->key, "k");
}

TEST(FilterRegistry, ReturnsAFilterThoughOthersDropItImmediately) {
  registry_of registry(std::make_shared<memory_store>());
  std::atomic<int> given = 0;
  {
    std::vector<std::jthread> threads;
    for (int n = 0; n < 4; ++n)
      threads.emplace_back([&] {
        for (int i = 0; i < 3'000; ++i) {
          given += registry->open_or_create("k", {})->key == "k" ? 1 : 0;
          (void)registry->drop("k");
        }
      });
  }
  EXPECT_EQ(given, 12'000);
}

TEST(FilterRegistry, DropsAFilterOnceItsLastUserHasReleasedIt) {
  const scratch_directory files;
  registry_of registry(std::make_shared<file_store>(files.path(), sync_policy::never));
  for (int i = 0; i < 200; ++i) {
    std::optional held = registry->open_or_create("k", {}).shared();
    std::jthread user([&] { held.reset(); });
    EXPECT_TRUE(registry->drop("k"));
  }
}

TEST(FilterRegistry, ReopensAFilterThoughTheOldHandleIsStillInUse) {
  const scratch_directory files;
  registry_of registry(std::make_shared<file_store>(files.path(), sync_policy::never));
  for (int i = 0; i < 200; ++i) {
    std::optional held = registry->open_or_create("k", {}).shared();
    registry->forget(*held);
    std::jthread user([&] { held.reset(); });
    EXPECT_NE(registry->open("k"), nullptr);
  }
}

TEST(FilterRegistry, RefreshesAFilterOnceKeysWereAdded) {
  registry_of registry(std::make_shared<memory_store>());
  filter_registry::request small;
  small.spec.capacity = 1'000;
  const open_filter f = registry->create("k", small);
  registry->maintain();
  const std::uint64_t before = registry->bytes();
  const std::vector<std::string> keys = [] {
    std::vector<std::string> all;
    for (int i = 0; i < 50'000; ++i) all.push_back(std::to_string(i));
    return all;
  }();
  const std::vector<std::string_view> seen(keys.begin(), keys.end());
  std::vector<verdict> out(keys.size());
  ASSERT_TRUE(judge(f->counted(), question::add, seen, out, {}));
  registry->maintain();
  EXPECT_GT(registry->bytes(), before) << "it has grown";
}

/// A store on a disk that others use, too.
class store_on_a_disk : public memory_store {
 public:
  [[nodiscard]] store_traits traits() const override {
    store_traits mine;
    mine.room_bytes = free.load();
    return mine;
  }
  std::atomic<std::uint64_t> free = 10'000'000;
};

TEST(FilterRegistry, CountsTheDiskSpaceOfALoadOnce) {
  memory_store place;
  spec_request r;
  r.layout = layout_kind::redisbloom;
  filter source("f", place.create("f", place.plan(r)));
  (void)source.add("x");
  const filter_chunk header = dump_chunk(source, 0);
  const filter_chunk bits = dump_chunk(source, header.iterator);

  const auto disk = std::make_shared<store_on_a_disk>();
  registry_of registry(disk);
  filter_registry::load load = registry->begin_load("k", header.bytes);
  registry->load_chunk(load, bits.iterator, bits.bytes);
  disk->free -= load.loader->bytes_made();
  registry->maintain();
  EXPECT_EQ(registry->max_bytes(), 10'000'000U);
}

/// A store where nothing can be renamed.
class store_without_renaming : public memory_store {
 public:
  void rename(std::string_view from, std::string_view, namesake) override {
    throw storage_error("it cannot be renamed", EIO, std::string(from));
  }
};

TEST(FilterRegistry, CountsAFilterThatCouldNotBeRenamed) {
  registry_of registry(std::make_shared<store_without_renaming>());
  registry->create("a", {});
  const std::uint64_t before = registry->bytes();
  ASSERT_GT(before, 0U);
  EXPECT_THROW(registry->rename("a", "b", store::namesake::replace), storage_error);
  EXPECT_EQ(registry->bytes(), before);
}

TEST(FilterRegistry, CountsARenamedFilterOnce) {
  registry_of registry(std::make_shared<memory_store>());
  registry->create("a", {});
  const std::uint64_t before = registry->bytes();
  registry->rename("a", "b", store::namesake::replace);
  EXPECT_EQ(registry->bytes(), before);
}

/// A store that reports when it was asked to release expired filters.
class expiry_counting_store : public memory_store {
 public:
  using memory_store::memory_store;
  void remove_expired() override {
    ++asked;
    memory_store::remove_expired();
  }
  std::atomic<int> asked = 0;
};

TEST(FilterRegistry, ReleasesTheBitsOfAnEndedFilterWithItsRoom) {
  const auto place = std::make_shared<expiry_counting_store>();
  registry_of registry(place);
  registry->expire_at(*registry->create("k", {}), event_time(1ms));
  EXPECT_EQ(registry->open("k"), nullptr);
  EXPECT_EQ(registry->bytes(), 0U);
  EXPECT_EQ(place->asked, 1);
  EXPECT_EQ(registry->open("another"), nullptr);
  EXPECT_EQ(place->asked, 1) << "for a single name the store need not search all others";
}

}  // namespace
}  // namespace everseen::serve
