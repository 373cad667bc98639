#include "everseen/store/file/file_store.hpp"

#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/format/image.hpp"

#include "test/support/random_digests.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/stored_keys.hpp"
#include "test/support/thrown_message.hpp"

namespace everseen {
namespace {

using namespace test;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// Overwrites some bytes of a file.
void patch(const fs::path& path, std::size_t offset, std::string_view bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset))
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Changes one byte of a file, whatever it was.
void damage(const fs::path& path, std::size_t offset) {
  const char other = static_cast<char>(read_file(path).at(offset) ^ 0x5a);
  patch(path, offset, {&other, 1});
}

image::segment_header header_of(const fs::path& segment) {
  const std::string content = read_file(segment);
  return image::decode_segment_header(std::as_bytes(std::span(content)).first(image::segment_header_bytes));
}

void forge_header(const fs::path& segment, const image::segment_header& header) {
  const auto bytes = image::encode_segment_header(header);
  patch(segment, 0, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void forge_key_count(const fs::path& segment, std::uint64_t keys) {
  const std::uint64_t word = image::encode_key_count(keys);
  patch(segment, image::key_count_offset, {reinterpret_cast<const char*>(&word), sizeof word});
}

image::manifest manifest_of(const fs::path& file) {
  const std::string content = read_file(file);
  return image::decode_manifest(std::as_bytes(std::span(content)));
}

/// The state that a crashed writer leaves.
void mark_unclean(const fs::path& file) {
  image::manifest m = manifest_of(file);
  m.clean = false;
  const auto bytes = image::encode_manifest(m);
  write_file(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

class FileStore : public testing::Test {
 protected:
  FileStore() { make("f"); }

  void make(const std::string& name) {
    const auto filter = store_.create(name, small());
    ASSERT_TRUE(add_keys(*filter, keys_).result);
  }
  static spec small() {
    return make_spec({.capacity = 1000, .error_rate = 1e-9, .seed = hash_seed{}, .partitions = 1});
  }

  [[nodiscard]] fs::path root() const { return scratch_.path(); }
  [[nodiscard]] fs::path manifest() const { return root() / "f/manifest"; }
  [[nodiscard]] fs::path segment() const { return root() / "f/segments/0.0.0"; }

  /// Both ways to open the damaged filter name the file and give advice.
  void expect_damaged(const fs::path& file, const std::string& problem) {
    for (const access mode : {access::read, access::write}) {
      const std::string message = message_of<format_error>([&] { (void)store_.open("f", mode); });
      EXPECT_THAT(message, HasSubstr(file.string()));
      EXPECT_THAT(message, HasSubstr(problem));
      EXPECT_THAT(message, HasSubstr("export"));
    }
    EXPECT_TRUE(store_.exists("f"));
    EXPECT_NO_THROW(store_.drop("f")) << "a damaged filter can be dropped";
    EXPECT_FALSE(store_.exists("f"));
  }

  const std::vector<digest> keys_ = random_digests(1).take(100);
  scratch_directory scratch_;
  file_store store_{scratch_.path(), sync_policy::never};
};

using FileStoreDamage = FileStore;

// Promise: a segment that is missing, too short or too long is refused (files, Damage).
TEST_F(FileStoreDamage, MissingSegmentIsAnErrorAndNotAnEmptyFilter) {
  fs::remove(segment());
  expect_damaged(segment(), "is missing");
}

// Promise: a segment that is missing, too short or too long is refused (files, Damage).
TEST_F(FileStoreDamage, ShortSegmentIsRefused) {
  fs::resize_file(segment(), fs::file_size(segment()) - 1);
  expect_damaged(segment(), "bytes long instead of");
}

TEST_F(FileStoreDamage, EmptySegmentIsRefused) {
  fs::resize_file(segment(), 0);
  expect_damaged(segment(), "is 0 bytes long instead of");
}

// Promise: a segment that is missing, too short or too long is refused (files, Damage).
TEST_F(FileStoreDamage, LongSegmentIsRefused) {
  fs::resize_file(segment(), fs::file_size(segment()) + 64);
  expect_damaged(segment(), "bytes long instead of");
}

// Promise: any changed bit of a segment's header is detected (files, Damage).
TEST_F(FileStoreDamage, DamagedSegmentHeaderIsRefused) {
  damage(segment(), 20);
  expect_damaged(segment(), "checksum");
}

TEST_F(FileStoreDamage, ErasedSegmentHeaderIsRefused) {
  patch(segment(), 0, std::string(4096, '\0'));
  expect_damaged(segment(), "magic");
}

// Promise: up to three changed bits of a key count are detected (files, Damage).
TEST_F(FileStoreDamage, DamagedKeyCountIsRefused) {
  damage(segment(), image::key_count_offset);
  expect_damaged(segment(), "key count");
}

// Promise: a segment of another filter, or under another name, is refused (files, Damage).
TEST_F(FileStoreDamage, SegmentOfAnotherFilterIsRefused) {
  make("g");
  fs::copy_file(root() / "g/segments/0.0.0", segment(), fs::copy_options::overwrite_existing);
  expect_damaged(segment(), "another filter");
}

// Promise: a segment of another filter, or under another name, is refused (files, Damage).
TEST_F(FileStoreDamage, SegmentUnderAnotherNameIsRefused) {
  {
    const auto filter = store_.open("f", access::write);
    ASSERT_TRUE(add_keys(*filter, random_digests(2).take(2000)).result);  // grows
  }
  const fs::path second = root() / "f/segments/0.0.1";
  auto header = header_of(second);
  header.id.layer = 0;
  forge_header(second, header);
  expect_damaged(second, "under this name");
}

TEST_F(FileStoreDamage, SegmentOfAnotherShapeIsRefused) {
  auto header = header_of(segment());
  header.capacity += 1;
  forge_header(segment(), header);
  expect_damaged(segment(), "another shape");
}

TEST_F(FileStoreDamage, CapacityOverThePlanIsRefusedInsteadOfSilentOverfilling) {
  image::manifest m = manifest_of(manifest());
  m.segments.at(0).capacity = std::uint64_t{1} << 63;
  const auto bytes = image::encode_manifest(m);
  write_file(manifest(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  expect_damaged(manifest(), "more than its filter plans");
}

// Promise: a manifest that is missing, cut or changed in any bit is refused (files, Damage).
TEST_F(FileStoreDamage, EveryFlippedBitOfTheManifestIsRefused) {
  const std::string good = read_file(manifest());
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    write_file(manifest(), bad);
    EXPECT_THROW((void)store_.open("f", access::read), format_error) << bit;
  }
  expect_damaged(manifest(), "checksum");
}

// Promise: a manifest that is missing, cut or changed in any bit is refused (files, Damage).
TEST_F(FileStoreDamage, CutManifestIsRefused) {
  const std::string good = read_file(manifest());
  for (std::size_t length = 0; length < good.size(); ++length) {
    write_file(manifest(), good.substr(0, length));
    EXPECT_THROW((void)store_.open("f", access::read), format_error) << length;
  }
}

// Promise: a manifest that is missing, cut or changed in any bit is refused (files, Damage).
TEST_F(FileStoreDamage, MissingManifestIsRefused) {
  fs::remove(manifest());
  expect_damaged(manifest(), "is missing");
}

// Promise: an unknown format version is reported as such (files, Damage).
TEST_F(FileStoreDamage, ManifestOfAnotherVersionIsReportedAsSuch) {
  std::string newer = read_file(manifest());
  newer[8] = 3;
  store_le(newer.data() + newer.size() - 8,
           checksum(std::as_bytes(std::span(newer)).first(newer.size() - 8)));
  write_file(manifest(), newer);
  expect_damaged(manifest(), "version 3");
}

// Promise: an unknown format version is reported as such (files, Damage).
TEST_F(FileStoreDamage, SegmentOfAnotherVersionIsReportedAsSuch) {
  patch(segment(), 8, "\x07");
  expect_damaged(segment(), "version 7");
}

TEST_F(FileStore, SecondWriterIsRefusedUntilTheFirstCloses) {
  auto first = store_.open("f", access::write);
  EXPECT_THAT(message_of<storage_error>([&] { (void)store_.open("f", access::write); }),
              HasSubstr("for reading"));
  EXPECT_NO_THROW((void)store_.open("f", access::read));
  first.reset();
  EXPECT_NO_THROW((void)store_.open("f", access::write));
}

TEST_F(FileStore, FilterThatIsBeingWrittenIsNotDropped) {
  auto writer = store_.open("f", access::write);
  EXPECT_THAT(message_of<storage_error>([&] { store_.drop("f"); }), HasSubstr("is writing"));
  EXPECT_TRUE(store_.exists("f"));
  writer.reset();
  EXPECT_NO_THROW(store_.drop("f"));
}

TEST_F(FileStore, ReaderCannotAdd) {
  const answers got = add_keys(*store_.open("f", access::read), keys_);
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("opened for reading"));
  EXPECT_EQ(got.result.error().done, (tally{.unknown = 100}));
  EXPECT_EQ(got.verdicts[0], verdict::unknown);
}

TEST_F(FileStore, ReaderOfADroppedFilterFailsInsteadOfForgetting) {
  const auto reader = store_.open("f", access::read);
  store_.drop("f");
  const answers got = check_keys(*reader, keys_);
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("dropped"));
  EXPECT_EQ(got.verdicts[0], verdict::unknown);
}

TEST_F(FileStore, ReaderDoesNotMistakeANamesakeForItsFilter) {
  const auto reader = store_.open("f", access::read);
  store_.drop("f");
  make("f");
  const answers got = check_keys(*reader, keys_);
  ASSERT_FALSE(got.result);
  EXPECT_THAT(got.result.error().message, HasSubstr("replaced"));
}

TEST_F(FileStore, ReaderFollowsAWriterThatDropsSlices) {
  using namespace std::chrono_literals;
  const spec s =
      make_spec({.capacity = 100, .error_rate = 1e-9, .window = window_spec{20s, 2}, .partitions = 1});
  const auto writer = store_.create("w", s);
  const auto reader = store_.open("w", access::read);
  for (int step = 0; step < 20; ++step) {
    const event_time time(step * 10s);
    const auto keys = random_digests(static_cast<std::uint64_t>(step)).take(10);
    ASSERT_TRUE(add_keys(*writer, keys, time).result);
    const answers got = check_keys(*reader, keys, time);
    ASSERT_TRUE(got.result) << got.result.error().message;
    EXPECT_EQ(got.result->seen, 10u);
    EXPECT_EQ(reader->state(0), writer->state(0));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(root() / "w/segments"), {}), 3);
}

// Promise: counts are recovered from the bits after a crash (files, Durability).
TEST_F(FileStore, CountsAreRecoveredFromTheBitsAfterACrash) {
  mark_unclean(manifest());
  forge_key_count(segment(), 3);
  EXPECT_EQ(keys_in(*store_.open("f", access::read)), 3u) << "a reader uses the existing counts";
  EXPECT_NEAR(static_cast<double>(keys_in(*store_.open("f", access::write))), 100, 10);
}

TEST_F(FileStore, HigherCountIsKeptAfterACrash) {
  mark_unclean(manifest());
  forge_key_count(segment(), 500);
  EXPECT_EQ(keys_in(*store_.open("f", access::write)), 500u);
}

TEST_F(FileStore, WriterMarksTheManifestUncleanWhileItIsOpen) {
  const auto is_clean = [&] { return manifest_of(manifest()).clean; };
  EXPECT_TRUE(is_clean());
  auto writer = store_.open("f", access::write);
  EXPECT_FALSE(is_clean());
  writer.reset();
  EXPECT_TRUE(is_clean());
}

TEST_F(FileStore, OrphansAreRemovedByTheNextWriterAndForeignFilesAreNot) {
  for (const char* name :
       {"f/manifest.new", "f/segments/0.0.7", "f/segments/12.-5.0", "f/segments/notes.txt", "f/README"})
    write_file(root() / name, "x");
  (void)store_.open("f", access::read);
  EXPECT_TRUE(fs::exists(root() / "f/segments/0.0.7")) << "a reader changes nothing";
  (void)store_.open("f", access::write);
  EXPECT_FALSE(fs::exists(root() / "f/manifest.new"));
  EXPECT_FALSE(fs::exists(root() / "f/segments/0.0.7"));
  EXPECT_FALSE(fs::exists(root() / "f/segments/12.-5.0"));
  EXPECT_TRUE(fs::exists(root() / "f/segments/notes.txt"));
  EXPECT_TRUE(fs::exists(root() / "f/README"));
  EXPECT_TRUE(fs::exists(segment()));
}

TEST_F(FileStore, UnfinishedFiltersAreRemovedByTheNextCreate) {
  const fs::path dead = root() / ".new.0123456789abcdef0123456789abcdef";
  const fs::path empty = root() / ".new.00000000000000000000000000000000";
  fs::create_directories(dead / "segments");
  fs::create_directories(empty);
  for (const char* name : {"lock", "manifest", "manifest.new", "segments/0.-3.1"})
    write_file(dead / name, "");
  const auto unfinished = store_.begin_restore("r", small());
  make("g");
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_FALSE(fs::exists(empty)) << "crashed before it created its lock";
  EXPECT_NO_THROW(unfinished->commit()) << "a filter under construction stays";
}

TEST_F(FileStore, ForeignDirectoriesWithNamesLikeHiddenOnesAreLeftAlone) {
  const std::string digits = "0123456789abcdef0123456789abcdef";
  const std::vector<std::string> foreign = {".new.", ".new.photos", ".new.0123", ".new.X" + digits.substr(1),
                                            ".new." + digits + "0"};
  for (const std::string& name : foreign) {
    fs::create_directories(root() / name / "segments");
    write_file(root() / name / "lock", "");
  }
  fs::create_directories(root() / (".new." + digits));
  write_file(root() / (".new." + digits) / "notes.txt", "x");
  fs::create_directories(root() / ".new.photos/2026");
  make("g");
  for (const std::string& name : foreign) EXPECT_TRUE(fs::exists(root() / name / "segments")) << name;
  EXPECT_TRUE(fs::exists(root() / ".new.photos/2026"));
  EXPECT_TRUE(fs::exists(root() / (".new." + digits) / "notes.txt"));
  EXPECT_FALSE(fs::exists(root() / (".new." + digits) / "lock")) << "a look-up creates no file";
}

TEST_F(FileStore, DropLeavesForeignFilesAndReportsTheirPlace) {
  write_file(root() / "f/README", "mine");
  EXPECT_THAT(message_of<storage_error>([&] { store_.drop("f"); }), HasSubstr(".new."));
  EXPECT_FALSE(store_.exists("f"));
  make("g");
  std::vector<fs::path> left;
  for (const auto& entry : fs::recursive_directory_iterator(root()))
    if (entry.path().native().find(".new.") != std::string::npos && entry.is_regular_file())
      left.push_back(entry.path().filename());
  EXPECT_EQ(left, std::vector<fs::path>{"README"});
}

TEST_F(FileStore, ListSkipsOtherFiles) {
  fs::create_directories(root() / "folder/inside");
  write_file(root() / "file", "x");
  write_file(root() / "-manifest", "x");
  EXPECT_EQ(store_.list(), std::vector<std::string>{"f"});
}

TEST_F(FileStore, CreateDoesNotTouchOtherFiles) {
  fs::create_directories(root() / "folder/inside");
  write_file(root() / "file", "x");
  for (const char* name : {"folder", "file"})
    EXPECT_THAT(message_of<storage_error>([&] { (void)store_.create(name, small()); }),
                HasSubstr("not a filter"));
  EXPECT_TRUE(fs::exists(root() / "folder/inside"));
  EXPECT_EQ(read_file(root() / "file"), "x");
}

TEST_F(FileStore, PathOfAFileIsReported) {
  write_file(root() / "file", "x");
  for (const char* path : {"file", "file/below"})
    EXPECT_THAT(message_of<storage_error>([&] { (void)file_store(root() / path).create("f", small()); }),
                HasSubstr("choose another directory"));
}

// Promise: others cannot read the secret seed (files, Permissions).
TEST_F(FileStore, SecretSeedIsNotReadableByOthers) {
  EXPECT_EQ(fs::status(root() / "f").permissions(), fs::perms::owner_all);
}

TEST_F(FileStore, CreatesMissingDirectories) {
  EXPECT_NO_THROW((void)file_store(root() / "x/y/z").create("f", small()));
  EXPECT_TRUE(fs::is_directory(root() / "x/y/z/f"));
}

// Promise: a rebuilt filter takes the place of the old one in one step (files, Durability).
TEST_F(FileStore, RebuiltFilterReplacesTheOldOneInOneStep) {
  const auto given = random_digests(31).take(300);
  ASSERT_TRUE(add_keys(*store_.open("f", access::write), random_digests(32).take(300)).result);
  const auto reader = store_.open("f", access::read);
  spec s = small();
  s.capacity *= 10;
  {
    const auto rebuild = store_.begin_rebuild("f", s, {});
    ASSERT_TRUE(add_keys(*rebuild->target(), given).result);
    EXPECT_THROW(store_.open("f", access::write), storage_error) << "no writer adds meanwhile";
    EXPECT_EQ(tally_of(check_keys(*reader, random_digests(32).take(300))).seen, 300u) << "readers continue";
    rebuild->commit();
  }
  const auto opened = store_.open("f", access::write);
  EXPECT_EQ(opened->get_spec(), s);
  EXPECT_EQ(tally_of(check_keys(*opened, given)).seen, 300u);
  EXPECT_EQ(keys_in(*opened), 300u);
  EXPECT_FALSE(check_keys(*reader, given).result) << "an error that says to reopen it";
  EXPECT_EQ(store_.list(), std::vector<std::string>{"f"});
}

TEST_F(FileStore, AbandonedRebuildLeavesTheFilterUnchanged) {
  const auto keys = random_digests(33).take(300);
  ASSERT_TRUE(add_keys(*store_.open("f", access::write), keys).result);
  {
    const auto rebuild = store_.begin_rebuild("f", small(), {});
    ASSERT_TRUE(add_keys(*rebuild->target(), random_digests(34).take(300)).result);
  }
  EXPECT_EQ(tally_of(check_keys(*store_.open("f", access::write), keys)).seen, 300u);
  EXPECT_EQ(std::distance(fs::directory_iterator(root()), fs::directory_iterator()), 2) << "and its lock";
}

TEST_F(FileStore, LookingForFiltersCreatesNoDirectory) {
  const file_store nowhere(root() / "x");
  EXPECT_TRUE(nowhere.list().empty());
  EXPECT_FALSE(nowhere.exists("f"));
  EXPECT_FALSE(fs::exists(root() / "x"));
}

TEST_F(FileStore, MissingPermissionIsReportedWithAdvice) {
  const uid_t me = ::geteuid();
  fs::permissions(root() / "f", fs::perms::none);
  fs::permissions(root(), me == 0 ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_exec);
  constexpr uid_t nobody = 65534;  // root has all permissions, so it drops them
  if (me == 0) {
    ASSERT_EQ(::seteuid(nobody), 0);
  }
  const std::string create = message_of<storage_error>([&] { (void)store_.create("g", small()); });
  const std::string open = message_of<storage_error>([&] { (void)store_.open("f", access::read); });
  if (me == 0) {
    ASSERT_EQ(::seteuid(me), 0);
  }
  fs::permissions(root(), fs::perms::owner_all);
  fs::permissions(root() / "f", fs::perms::owner_all);
  EXPECT_THAT(create, HasSubstr("mode"));
  EXPECT_THAT(open, HasSubstr("mode"));
}

// Promise: list leaves out filters of other users (files, Permissions).
TEST_F(FileStore, ListLeavesOutAFilterThatOnlyAnotherUserMayRead) {
  make("g");
  fs::permissions(root() / "f", fs::perms::none);
  fs::permissions(root() / "g", fs::perms(0755));
  fs::permissions(root(), fs::perms(0755));
  const uid_t me = ::geteuid();
  constexpr uid_t nobody = 65534;  // root has all permissions, so it drops them
  if (me == 0) {
    ASSERT_EQ(::seteuid(nobody), 0);
  }
  std::vector<std::string> names;
  std::string why;
  try {
    store_.remove_expired();
    names = store_.list();
  } catch (const error& e) {
    why = e.what();
  }
  if (me == 0) {
    ASSERT_EQ(::seteuid(me), 0);
  }
  fs::permissions(root() / "f", fs::perms::owner_all);
  EXPECT_EQ(why, "");
  EXPECT_THAT(names, testing::ElementsAre("g"));
}

TEST_F(FileStore, FileSizeLimitIsAnErrorAndLeavesNothingBehind) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small_files{64 * 1024, old.rlim_max};
  auto filter = store_.open("f", access::write);
  ::setrlimit(RLIMIT_FSIZE, &small_files);
  random_digests source(5);
  batch_result result = tally{};
  while (result) result = add_keys(*filter, source.take(1000)).result;  // grows until a layer is too long
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(result.error().why, batch_failure::cause::storage);
  EXPECT_THAT(result.error().message, HasSubstr("ulimit -f"));
  const auto layers = static_cast<std::ptrdiff_t>(filter->state(0).slices.at(0).layers.size());
  EXPECT_EQ(std::distance(fs::directory_iterator(root() / "f/segments"), {}), layers);
  EXPECT_TRUE(add_keys(*filter, source.take(1000)).result) << "continues once it may";
}

// Promise: space is reserved before it is used (files, Disk full and disk errors).
TEST_F(FileStore, SpaceIsReservedBeforeItIsUsed) {
  struct stat status {};
  ASSERT_EQ(::stat(segment().c_str(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, status.st_size);
}

}  // namespace
}  // namespace everseen
