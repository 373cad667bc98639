#include "everseen/server/filter_shelf.hpp"

#include <cerrno>
#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/store/file_store.hpp"
#include "everseen/store/manifest_file.hpp"

#include "test/support/scratch_directory.hpp"

namespace everseen::server {
namespace {

using namespace std::chrono_literals;
using test::scratch_directory;
using ::testing::IsEmpty;

/// A disk on which no filter can be given an end.
class disk_without_ends : public disk {
 public:
  int rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return to.filename() == end_name ? ENOSPC : disk::rename(from, to);
  }
};

/// A shelf of some store, and what it needs of a server.
class shelf_of {
 public:
  explicit shelf_of(std::shared_ptr<store> place, options o = {})
      : shelf_({std::move(place), false, false}, o, workers_, notes_) {}
  filter_shelf* operator->() { return &shelf_; }

 private:
  batch_notes notes_{nullptr};
  worker_pool workers_{2};
  filter_shelf shelf_;
};

TEST(FilterShelf, LeavesNothingOfAFilterThatCouldNotBeGivenItsEnd) {
  const scratch_directory files;
  disk_without_ends full;
  shelf_of shelf(std::make_shared<file_store>(files.path(), sync_policy::never, full));
  filter_shelf::request ends_soon{{}, {}, 500ms};
  EXPECT_THROW(shelf->create("a", ends_soon), storage_error);
  EXPECT_EQ(shelf->bytes(), 0U);
  EXPECT_THAT(shelf->keys(), IsEmpty()) << "it would last for ever";
  EXPECT_NE(shelf->create("a", {}), nullptr);
}

}  // namespace
}  // namespace everseen::server
