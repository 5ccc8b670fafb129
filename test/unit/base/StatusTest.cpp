//===- StatusTest.cpp - Status, Result and their macros -------------------===//

#include "runtime/base/Status.h"

#include <cerrno>
#include <gmock/gmock.h>
#include <memory>
#include <set>

namespace coil {
namespace {

TEST(StatusTest, SuccessHasNoMessage) {
  Status status;
  EXPECT_TRUE(status.isOk());
  EXPECT_EQ(status.code(), StatusCode::Ok);
  EXPECT_EQ(status.message(), "");
  EXPECT_TRUE(Status::ok().withContext("loading").isOk());
}

TEST(StatusTest, ErrorFormatsItsMessage) {
  Status status = Status::error(StatusCode::InvalidPlan, "expected {}, found {}", 4, "five");
  EXPECT_FALSE(status.isOk());
  EXPECT_EQ(status.code(), StatusCode::InvalidPlan);
  EXPECT_EQ(status.message(), "expected 4, found five");
}

TEST(StatusTest, ContextGoesBeforeTheMessage) {
  Status status = Status::error(StatusCode::Timeout, "rank 3 did not come");
  status = std::move(status).withContext("barrier");
  status = std::move(status).withContext("init");
  EXPECT_EQ(status.code(), StatusCode::Timeout);
  EXPECT_EQ(status.message(), "init: barrier: rank 3 did not come");
}

TEST(StatusTest, SystemErrorSaysWhatTheSystemSays) {
  Status status = Status::system(ENOENT, "cannot open {}", "/plan");
  EXPECT_EQ(status.code(), StatusCode::SystemError);
  EXPECT_EQ(status.message(), "cannot open /plan: No such file or directory");
}

TEST(StatusTest, EveryCodeHasANameOfItsOwn) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(StatusCode::Unsupported); ++code)
    names.insert(statusCodeName(static_cast<StatusCode>(code)));
  EXPECT_EQ(names.size(), static_cast<size_t>(StatusCode::Unsupported) + 1);
  EXPECT_EQ(names.count("unknown status"), 0u);
  EXPECT_STREQ(statusCodeName(static_cast<StatusCode>(1000)), "unknown status");
}

TEST(ResultTest, HoldsAValueOrAnError) {
  Result<std::string> value = std::string("plan");
  ASSERT_TRUE(value.isOk());
  EXPECT_EQ(*value, "plan");
  EXPECT_EQ(value->size(), 4u);
  Result<std::string> failure = Status::error(StatusCode::Aborted, "gone");
  ASSERT_FALSE(failure.isOk());
  EXPECT_EQ(failure.status().message(), "gone");
  EXPECT_EQ(std::move(failure).status().code(), StatusCode::Aborted);
}

TEST(ResultTest, MovesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  std::unique_ptr<int> owned = *std::move(result);
  EXPECT_EQ(*owned, 7);
}

Status failIf(bool fail) {
  return fail ? Status::error(StatusCode::InvalidUsage, "failed") : Status::ok();
}
Status returnIfError(bool fail, bool &reachedEnd) {
  COIL_RETURN_IF_ERROR(failIf(fail));
  reachedEnd = true;
  return Status::ok();
}

TEST(StatusMacrosTest, ReturnIfErrorLeavesOnlyOnError) {
  bool reachedEnd = false;
  EXPECT_EQ(returnIfError(true, reachedEnd).message(), "failed");
  EXPECT_FALSE(reachedEnd);
  EXPECT_TRUE(returnIfError(false, reachedEnd).isOk());
  EXPECT_TRUE(reachedEnd);
}

Result<int> half(int value) {
  if (value % 2 != 0)
    return Status::error(StatusCode::InvalidArgument, "{} is odd", value);
  return value / 2;
}
Result<int> quarter(int value) {
  COIL_ASSIGN_OR_RETURN(int once, half(value));
  COIL_ASSIGN_OR_RETURN(int twice, half(once));
  return twice;
}

TEST(StatusMacrosTest, AssignOrReturn) {
  Result<int> good = quarter(12);
  ASSERT_TRUE(good.isOk());
  EXPECT_EQ(*good, 3);
  EXPECT_EQ(quarter(6).status().message(), "3 is odd");
}

} // namespace
} // namespace coil
