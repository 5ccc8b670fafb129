//===- UniqueIdTest.cpp - Ids are random and read back --------------------===//

#include "runtime/bootstrap/UniqueId.h"

#include <gmock/gmock.h>
#include <set>

using namespace coil;
using testing::HasSubstr;

namespace {

TEST(UniqueId, TextReadsBack) {
  auto id = UniqueId::make();
  ASSERT_TRUE(id.isOk());
  std::string text = id->text();
  EXPECT_EQ(text.size(), 74u);
  EXPECT_THAT(text, testing::StartsWith("coil-id-1:"));
  ASSERT_TRUE(UniqueId::parse(text).isOk());
  EXPECT_EQ(*UniqueId::parse(text), *id);
  text.resize(128);
  EXPECT_EQ(*UniqueId::parse(text), *id);
}

TEST(UniqueId, NoTwoAreEqual) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i)
    EXPECT_TRUE(seen.insert(UniqueId::make()->text()).second);
}

TEST(UniqueId, RefusesOtherText) {
  std::string text = UniqueId::make()->text();
  auto expectRefused = [](const std::string &text, const char *why) {
    auto id = UniqueId::parse(text);
    ASSERT_FALSE(id.isOk()) << text;
    EXPECT_EQ(id.status().code(), StatusCode::InvalidArgument);
    EXPECT_THAT(id.status().message(), HasSubstr(why));
  };
  expectRefused("", "not the id");
  expectRefused(std::string(128, '\0'), "not the id");
  expectRefused(std::string(128, 'x'), "not the id");
  expectRefused("coil-id-2" + text.substr(9), "another version");
  expectRefused("coil-id-", "another version");
  expectRefused(text.substr(0, 73), "found 63 characters");
  expectRefused(text + "0", "found 65 characters");
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = '~';
    EXPECT_FALSE(UniqueId::parse(damaged).isOk());
    damaged[i] = '\0';
    EXPECT_FALSE(UniqueId::parse(damaged).isOk());
  }
}

} // namespace
