#include "everseen/core/format/file_names.hpp"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace everseen {
namespace {

using namespace std::string_literals;
TEST(FileNames, AreThePlainNameWhereNoEncodingIsNeeded) {
  for (const char* name : {"clicks", "clicks-2025.01_a", "a..b", "a.newer"}) {
    EXPECT_EQ(file_names::of(name), name);
    EXPECT_EQ(file_names::spelled(name), name);
  }
}

TEST(FileNames, NeverLeadElsewhere) {
  EXPECT_EQ(file_names::of("."), "%2E");
  EXPECT_EQ(file_names::of(".."), "%2E.");
  EXPECT_EQ(file_names::of("../a"), "%2E.%2Fa");
  EXPECT_EQ(file_names::of(".lock"), "%2Elock");
  EXPECT_EQ(file_names::of("-rf"), "%2Drf");
  EXPECT_EQ(file_names::of("\0\n"s), "%00%0A");
  EXPECT_EQ(file_names::of("count.new"), "count%2Enew") << "the next journal of the job 'count'";
  EXPECT_EQ(file_names::of("~a"), "%7Ea") << "a tilde is for hashes";
}

TEST(FileNames, AreHashesOfLongNames) {
  EXPECT_EQ(file_names::of(std::string(128, 'a')), std::string(128, 'a'));
  // printf %129s | tr ' ' a | sha256sum
  EXPECT_EQ(file_names::of(std::string(129, 'a')),
            "~c12cb024a2e5551cca0e08fce8f1c5e314555cc3fef6329ee994a3db752166ae");
  EXPECT_TRUE(file_names::is_hash(file_names::of(std::string(43, '/')))) << "129 bytes when encoded";
  EXPECT_FALSE(file_names::is_hash("~abc"));
  EXPECT_FALSE(file_names::is_hash("~" + std::string(64, 'A')));
  EXPECT_EQ(file_names::spelled(file_names::of(std::string(129, 'a'))), std::nullopt);
}

TEST(FileNames, NoNameMapsToAnInvalidFileName) {
  for (const std::string& other : {""s, "."s, ".."s, ".hidden"s, "a%41"s, "%2e"s, "a b"s, "%"s, "-a"s, "~"s,
                                   "count.new"s, std::string(129, 'a')})
    EXPECT_EQ(file_names::spelled(other), std::nullopt) << other;
}

RC_GTEST_PROP(FileNames, AreDecodedUnlessTheyAreHashes, (const std::string& name)) {
  const std::string file_name = file_names::of(name);
  RC_ASSERT(name.empty() || file_names::is_hash(file_name) || file_names::spelled(file_name) == name);
  RC_ASSERT(file_name.size() <= 128);
}

// Promise: no name leads out of the directory of a store (format, Names of files).
RC_GTEST_PROP(FileNames, ContainNothingThatAFileSystemInterprets, (const std::string& name)) {
  const std::string file_name = file_names::of(name);
  RC_ASSERT(file_name.find_first_of("/\0 *?$`'\"\\\n"s) == std::string::npos);
  RC_ASSERT(!file_name.starts_with('.') && !file_name.starts_with('-') && !file_name.ends_with(".new"));
}

}  // namespace
}  // namespace everseen
