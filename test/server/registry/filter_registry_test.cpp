#include "everseen/server/registry/filter_registry.hpp"

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
#include "everseen/store/file/manifest_file.hpp"
#include "everseen/store/memory/memory_store.hpp"

#include "test/support/scratch_directory.hpp"

namespace everseen::server {
namespace {

using namespace std::chrono_literals;
using test::scratch_directory;
using ::testing::IsEmpty;

/// A disk on which no existing filter can be given another end. A filter under construction is hidden.
class disk_without_ends : public disk {
 public:
  int rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    const bool is_being_made = to.parent_path().filename().string().starts_with(".new");
    return to.filename() == end_name && !is_being_made ? ENOSPC : disk::rename(from, to);
  }
};

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

TEST(FilterRegistry, LeavesNothingOfAFilterThatCouldNotGetItsEnd) {
  const scratch_directory files;
  disk_without_ends full;
  registry_of registry(std::make_shared<file_store>(files.path(), sync_policy::never, full));
  filter_registry::request ends_soon{{}, {}, 500ms};
  EXPECT_THROW(registry->create("a", ends_soon), storage_error);
  EXPECT_EQ(registry->bytes(), 0U);
  EXPECT_THAT(registry->keys(), IsEmpty()) << "it would live indefinitely";
  EXPECT_EQ(registry->create("a", {})->key, "a");
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
}  // namespace everseen::server
