#include "everseen/serve/api/page.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The page itself is tested in a browser: test/web/.

namespace everseen::serve {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Page : public testing::Test {
 protected:
  void SetUp() override {
    if (assets().empty()) GTEST_SKIP() << "built with EVERSEEN_BUILD_PAGE=OFF";
  }
};

TEST_F(Page, IsAtTheRoot) {
  const asset* page = find_asset("/");
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->content_type, "text/html; charset=utf-8");
  EXPECT_THAT(std::string(page->bytes), StartsWith("<!doctype html>"));
}

TEST_F(Page, ReferencesOnlyExistingFiles) {
  const std::string html(find_asset("/")->bytes);
  std::size_t named = 0;
  for (const std::string attribute : {"href=\"", "src=\""})
    for (std::size_t position = html.find(attribute); position != std::string::npos;
         position = html.find(attribute, position + 1)) {
      const std::size_t begin = position + attribute.size();
      const std::string path = html.substr(begin, html.find('"', begin) - begin);
      EXPECT_NE(find_asset(path), nullptr) << path;
      ++named;
    }
  EXPECT_GE(named, 3U);  // style, script, icon
}

TEST_F(Page, MayBeCachedIndefinitelyWhereTheNameHasAHash) {
  EXPECT_EQ(find_asset("/")->cache_control, "no-cache");
  const auto all = assets();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const asset& a) {
    return a.path.ends_with(".js") && a.cache_control.find("immutable") != std::string_view::npos;
  }));
}

TEST_F(Page, HasAnEntityTagForEachFile) {
  std::set<std::string_view> tags;
  for (const asset& a : assets()) {
    EXPECT_THAT(std::string(a.etag), StartsWith("W/\""));
    tags.insert(a.etag);
  }
  EXPECT_EQ(tags.size(), assets().size());
}

TEST_F(Page, CompressesFilesThatGetSmaller) {
  for (const asset& a : assets()) {
    if (a.gzip.empty()) continue;
    EXPECT_LT(a.gzip.size(), a.bytes.size()) << a.path;
    EXPECT_THAT(std::string(a.gzip), StartsWith("\x1f\x8b")) << a.path;
  }
}

TEST_F(Page, IsSmallEnoughForASlowConnection) {
  std::size_t sent = 0;
  for (const asset& a : assets()) sent += a.gzip.empty() ? a.bytes.size() : a.gzip.size();
  EXPECT_LT(sent, 200'000U);
}

TEST(PageAssets, HaveNoOtherPaths) {
  for (const char* path : {"", "index.html", "/index.html", "//", "/../etc/passwd", "/page", "/?x"})
    EXPECT_EQ(find_asset(path), nullptr) << path;
}

}  // namespace
}  // namespace everseen::serve
