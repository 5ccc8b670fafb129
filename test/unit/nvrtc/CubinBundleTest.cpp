//===- CubinBundleTest.cpp - Kernels compiled ahead of time ---------------===//

#include "runtime/nvrtc/CubinBundle.h"
#include "runtime/nvrtc/Bytes.h"
#include "test/unit/nvrtc/TemporaryFolder.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coil::nvrtc {
namespace {

using testing::HasSubstr;

BundledCubin cubinFor(uint32_t variant, uint32_t arch, DataType type = DataType::F32) {
  BundledCubin cubin;
  cubin.variant = variant;
  cubin.type = type;
  cubin.arch = arch;
  cubin.source = "0123456789abcdef0123456789abcdef";
  cubin.loweredName = "_Z4ring";
  cubin.bytes = {1, 2, 3, static_cast<uint8_t>(arch)};
  return cubin;
}

CubinBundle bundleOf(std::vector<BundledCubin> cubins) {
  CubinBundle bundle;
  bundle.planDigest = 0x1234567890abcdef;
  bundle.cubins = std::move(cubins);
  return bundle;
}

TEST(CubinBundle, ReadsWhatWasWritten) {
  for (const CubinBundle &bundle :
       {bundleOf({}), bundleOf({cubinFor(0, 90)}),
        bundleOf({cubinFor(0, 80), cubinFor(0, 90), cubinFor(1, 90, DataType::BF16)})}) {
    Result<CubinBundle> read = readCubinBundle(writeCubinBundle(bundle));
    ASSERT_TRUE(read.isOk()) << read.status().message();
    EXPECT_EQ(*read, bundle);
  }
}

TEST(CubinBundle, CodeFitsOneMajorNumber) {
  CubinBundle bundle = bundleOf({cubinFor(0, 80), cubinFor(0, 86), cubinFor(0, 90)});
  auto archFor = [&](uint32_t capability) {
    const BundledCubin *found =
        bundle.find(0, DataType::F32, ReduceOp::Sum, device::Protocol::Simple, capability);
    return found ? found->arch : 0;
  };
  EXPECT_EQ(archFor(80), 80u);
  EXPECT_EQ(archFor(87), 86u);
  EXPECT_EQ(archFor(89), 86u);
  EXPECT_EQ(archFor(90), 90u);
  EXPECT_EQ(archFor(75), 0u);
  EXPECT_EQ(archFor(100), 0u);
  EXPECT_FALSE(bundle.find(1, DataType::F32, ReduceOp::Sum, device::Protocol::Simple, 90));
  EXPECT_FALSE(bundle.find(0, DataType::F16, ReduceOp::Sum, device::Protocol::Simple, 90));
  EXPECT_FALSE(bundle.find(0, DataType::F32, ReduceOp::Max, device::Protocol::Simple, 90));
  EXPECT_FALSE(bundle.find(0, DataType::F32, ReduceOp::Sum, device::Protocol::Ll, 90));
}

TEST(CubinBundle, EveryDamagedByteIsFound) {
  const std::vector<uint8_t> bytes = writeCubinBundle(bundleOf({cubinFor(0, 80), cubinFor(1, 90)}));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<uint8_t> damaged = bytes;
    damaged[i] ^= 0x10;
    Result<CubinBundle> read = readCubinBundle(damaged);
    ASSERT_FALSE(read.isOk()) << "byte " << i;
    EXPECT_EQ(read.status().code(), StatusCode::InvalidPlan);
  }
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(readCubinBundle(std::span(bytes).first(size)).isOk()) << size << " bytes";
}

/// A bundle with a right checksum, but with wrong contents.
std::string errorOf(const ByteWriter &writer) {
  Result<CubinBundle> read = readCubinBundle(writer.wrap("COILCUBN", cubinBundleVersion));
  EXPECT_FALSE(read.isOk());
  return read.isOk() ? "" : read.status().message();
}

ByteWriter entryWith(uint64_t count, std::array<uint32_t, 5> numbers, std::string_view name,
                     std::string_view code) {
  ByteWriter writer;
  writer.number64(1);
  writer.number64(count);
  for (uint32_t number : numbers)
    writer.number32(number);
  writer.text("source");
  writer.text(name);
  writer.text(code);
  return writer;
}

TEST(CubinBundle, HostileContentsAreErrors) {
  EXPECT_EQ(errorOf({}), "a bundle of cubins: expected 0 cubins, found 0 bytes for them");
  EXPECT_THAT(errorOf(entryWith(~uint64_t{0}, {}, "k", "x")),
              HasSubstr("expected 18446744073709551615 cubins"));
  EXPECT_THAT(errorOf(entryWith(1, {0, 12, 0, 0, 90}, "k", "x")), HasSubstr("element type 12"));
  EXPECT_THAT(errorOf(entryWith(1, {0, 0, 6, 0, 90}, "k", "x")), HasSubstr("operator 6"));
  EXPECT_THAT(errorOf(entryWith(1, {0, 0, 0, 3, 90}, "k", "x")), HasSubstr("protocol 3"));
  EXPECT_THAT(errorOf(entryWith(1, {0, 0, 0, 0, 90}, "", "x")), HasSubstr("name of its kernel"));
  EXPECT_THAT(errorOf(entryWith(1, {0, 0, 0, 0, 90}, std::string_view("k\0k", 3), "x")),
              HasSubstr("name of its kernel"));
  EXPECT_THAT(errorOf(entryWith(1, {0, 0, 0, 0, 90}, "k", "")), HasSubstr("machine code"));
  EXPECT_THAT(errorOf(entryWith(0, {0, 0, 0, 0, 90}, "k", "x")), HasSubstr("more bytes"));

  ByteWriter endless;
  endless.number64(1);
  endless.number64(1);
  for (int i = 0; i < 5; ++i)
    endless.number32(0);
  endless.number64(~uint64_t{0} - 3); // the size of a text
  for (int i = 0; i < 5; ++i)
    endless.number64(0);
  EXPECT_THAT(errorOf(endless), HasSubstr("the file ends in it"));

  Result<CubinBundle> twice =
      readCubinBundle(writeCubinBundle(bundleOf({cubinFor(0, 90), cubinFor(0, 90)})));
  ASSERT_FALSE(twice.isOk());
  EXPECT_EQ(twice.status().message(), "a bundle of cubins: two cubins are for the same calls");
}

TEST(CubinBundle, OtherFilesAreToldApart) {
  auto errorFor = [](std::vector<uint8_t> bytes) {
    return std::string(readCubinBundle(bytes).status().message());
  };
  std::vector<uint8_t> bytes = writeCubinBundle(bundleOf({cubinFor(0, 90)}));
  std::vector<uint8_t> plan = bytes;
  plan[4] = 'P';
  EXPECT_EQ(errorFor(plan), "not a bundle of cubins: expected it to begin with COILCUBN");
  std::vector<uint8_t> newer = bytes;
  newer[8] = 2;
  EXPECT_EQ(errorFor(newer), "not a bundle of cubins: expected format version 1, found 2");
  EXPECT_EQ(errorFor({}), "not a bundle of cubins: expected at least 32 bytes, found 0");
}

TEST(CubinBundle, FilesAreNamedInErrors) {
  TemporaryFolder folder;
  const std::string path = cubinBundlePath(folder.path + "/ring.plan");
  EXPECT_EQ(path, folder.path + "/ring.plan.cubins");
  Result<CubinBundle> missing = readCubinBundleFile(path);
  ASSERT_FALSE(missing.isOk());
  EXPECT_EQ(missing.status().code(), StatusCode::SystemError);
  EXPECT_THAT(missing.status().message(), HasSubstr(path));
  std::ofstream(path) << "no bundle";
  Result<CubinBundle> wrong = readCubinBundleFile(path);
  ASSERT_FALSE(wrong.isOk());
  EXPECT_EQ(wrong.status().message(),
            path + ": not a bundle of cubins: expected at least 32 bytes, found 9");
  EXPECT_FALSE(readCubinBundleFile(folder.path).isOk());
}

} // namespace
} // namespace coil::nvrtc
