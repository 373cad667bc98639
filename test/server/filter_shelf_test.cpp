#include "everseen/server/filter_shelf.hpp"

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

#include "everseen/store/file_store.hpp"
#include "everseen/store/manifest_file.hpp"
#include "everseen/store/memory_store.hpp"

#include "test/support/scratch_directory.hpp"

namespace everseen::server {
namespace {

using namespace std::chrono_literals;
using test::scratch_directory;
using ::testing::IsEmpty;

/// A disk on which no filter that is there can be given another end. One that is being made is hidden.
class disk_without_ends : public disk {
 public:
  int rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    const bool is_being_made = to.parent_path().filename().string().starts_with(".new");
    return to.filename() == end_name && !is_being_made ? ENOSPC : disk::rename(from, to);
  }
};

/// A shelf of some store, and what it needs of a server.
class shelf_of {
 public:
  explicit shelf_of(std::shared_ptr<store> place, options o = {})
      : shelf_({std::move(place), false, false}, o, {workers_, batches_}, notes_) {}
  filter_shelf* operator->() { return &shelf_; }

 private:
  batch_notes notes_{nullptr};
  filter_shelf shelf_;
  worker_pool workers_{2};  // their work uses the shelf, so they end first
  worker_pool batches_{2};
};

TEST(FilterShelf, LeavesNothingOfAFilterThatCouldNotBeGivenItsEnd) {
  const scratch_directory files;
  disk_without_ends full;
  shelf_of shelf(std::make_shared<file_store>(files.path(), sync_policy::never, full));
  filter_shelf::request ends_soon{{}, {}, 500ms};
  EXPECT_THROW(shelf->create("a", ends_soon), storage_error);
  EXPECT_EQ(shelf->bytes(), 0U);
  EXPECT_THAT(shelf->keys(), IsEmpty()) << "it would last for ever";
  EXPECT_EQ(shelf->create("a", {})->key, "a");
}

/// A place where somebody else makes the first filter a moment before, and drops it a moment later.
class store_with_a_rival : public memory_store {
 public:
  std::shared_ptr<stored_filter> create(std::string_view name, const spec& s) override {
    if (!was_beaten_.exchange(true)) throw filter_exists(name);
    return memory_store::create(name, s);
  }

 private:
  std::atomic<bool> was_beaten_ = false;
};

TEST(FilterShelf, MakesAFilterWhereTheOneThatWasFasterIsGoneAgain) {
  shelf_of shelf(std::make_shared<store_with_a_rival>());
  EXPECT_EQ(shelf->open_or_create("k", {})->key, "k");
}

TEST(FilterShelf, GivesAFilterThoughOthersDropItAtOnce) {
  shelf_of shelf(std::make_shared<memory_store>());
  std::atomic<int> given = 0;
  {
    std::vector<std::jthread> threads;
    for (int n = 0; n < 4; ++n)
      threads.emplace_back([&] {
        for (int i = 0; i < 3'000; ++i) {
          given += shelf->open_or_create("k", {})->key == "k" ? 1 : 0;
          (void)shelf->drop("k");
        }
      });
  }
  EXPECT_EQ(given, 12'000);
}

TEST(FilterShelf, DropsAFilterOnceItsLastUserHasClosedIt) {
  const scratch_directory files;
  shelf_of shelf(std::make_shared<file_store>(files.path(), sync_policy::never));
  for (int i = 0; i < 200; ++i) {
    std::optional held = shelf->open_or_create("k", {}).shared();
    std::jthread user([&] { held.reset(); });
    EXPECT_TRUE(shelf->drop("k"));
  }
}

TEST(FilterShelf, OpensAFilterAnewThoughSomebodyHasTheForgottenOneStill) {
  const scratch_directory files;
  shelf_of shelf(std::make_shared<file_store>(files.path(), sync_policy::never));
  for (int i = 0; i < 200; ++i) {
    std::optional held = shelf->open_or_create("k", {}).shared();
    shelf->forget(*held);
    std::jthread user([&] { held.reset(); });
    EXPECT_NE(shelf->open("k"), nullptr);
  }
}

TEST(FilterShelf, LooksAtAFilterAgainOnceKeysWereAdded) {
  shelf_of shelf(std::make_shared<memory_store>());
  filter_shelf::request small;
  small.spec.capacity = 1'000;
  const open_filter f = shelf->create("k", small);
  shelf->tend();
  const std::uint64_t before = shelf->bytes();
  const std::vector<std::string> keys = [] {
    std::vector<std::string> all;
    for (int i = 0; i < 50'000; ++i) all.push_back(std::to_string(i));
    return all;
  }();
  const std::vector<std::string_view> seen(keys.begin(), keys.end());
  std::vector<verdict> out(keys.size());
  ASSERT_TRUE(judge(f->noted(), question::add, seen, out, std::nullopt));
  shelf->tend();
  EXPECT_GT(shelf->bytes(), before) << "it has grown";
}

/// A place on a disk that others use, too.
class store_on_a_disk : public memory_store {
 public:
  [[nodiscard]] std::optional<std::uint64_t> room_bytes() const override { return free; }
  std::atomic<std::uint64_t> free = 10'000'000;
};

TEST(FilterShelf, CountsWhatALoadHasOfTheDiskOnce) {
  memory_store place;
  spec_request r;
  r.layout = layout_kind::redisbloom;
  filter source("f", place.create("f", place.plan(r)));
  (void)source.add("x");
  const redisbloom_chunk header = dump_redisbloom(source, 0);
  const redisbloom_chunk bits = dump_redisbloom(source, header.iterator);

  const auto disk = std::make_shared<store_on_a_disk>();
  shelf_of shelf(disk);
  filter_shelf::load load = shelf->begin_load("k", header.bytes);
  shelf->load_chunk(load, bits.iterator, bits.bytes);
  disk->free -= load.loader->bytes_made();
  shelf->tend();
  EXPECT_EQ(shelf->max_bytes(), 10'000'000U);
}

/// A place where nothing can be renamed.
class store_without_renaming : public memory_store {
 public:
  void rename(std::string_view from, std::string_view, namesake) override {
    throw storage_error("it cannot be renamed", EIO, std::string(from));
  }
};

TEST(FilterShelf, CountsAFilterThatCouldNotBeRenamed) {
  shelf_of shelf(std::make_shared<store_without_renaming>());
  shelf->create("a", {});
  const std::uint64_t before = shelf->bytes();
  ASSERT_GT(before, 0U);
  EXPECT_THROW(shelf->rename("a", "b", store::namesake::replace), storage_error);
  EXPECT_EQ(shelf->bytes(), before);
}

TEST(FilterShelf, CountsARenamedFilterOnce) {
  shelf_of shelf(std::make_shared<memory_store>());
  shelf->create("a", {});
  const std::uint64_t before = shelf->bytes();
  shelf->rename("a", "b", store::namesake::replace);
  EXPECT_EQ(shelf->bytes(), before);
}

/// A place that tells when it was asked to let go of what has ended.
class store_that_is_asked : public memory_store {
 public:
  using memory_store::memory_store;
  void remove_ended() override {
    ++asked;
    memory_store::remove_ended();
  }
  std::atomic<int> asked = 0;
};

TEST(FilterShelf, LetsGoOfTheBitsOfAnEndedFilterWithItsRoom) {
  const auto place = std::make_shared<store_that_is_asked>();
  shelf_of shelf(place);
  shelf->create("k", {})->end_at(event_time(1ms));
  EXPECT_EQ(shelf->open("k"), nullptr);
  EXPECT_EQ(shelf->bytes(), 0U);
  EXPECT_EQ(place->asked, 1);
  EXPECT_EQ(shelf->open("another"), nullptr);
  EXPECT_EQ(place->asked, 1) << "of a name alone the store need not look at all others";
}

}  // namespace
}  // namespace everseen::server
