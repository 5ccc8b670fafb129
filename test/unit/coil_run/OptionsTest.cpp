//===- OptionsTest.cpp - Tests of coil-run's command line -----------------===//

#include "tools/coil-run/Options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace coil;
using namespace coil::run;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Result<CommandLine> parse(std::vector<const char *> words) {
  words.insert(words.begin(), "coil-run");
  return parseCommandLine(static_cast<int>(words.size()), words.data());
}

Options optionsOf(std::vector<const char *> words) {
  Result<CommandLine> line = parse(std::move(words));
  EXPECT_TRUE(line.isOk()) << line.status().message();
  if (!line.isOk() || !line->options)
    return {};
  return *line->options;
}

std::string errorOf(std::vector<const char *> words) {
  Result<CommandLine> line = parse(std::move(words));
  EXPECT_FALSE(line.isOk());
  return line.status().message();
}

TEST(Options, HasDefaults) {
  Options options = optionsOf({"ring.coil"});
  EXPECT_EQ(options.file, "ring.coil");
  EXPECT_FALSE(options.ranks);
  EXPECT_EQ(options.sizes.size(), 9u);
  EXPECT_THAT(options.types, ElementsAre(DataType::F32));
  EXPECT_TRUE(options.ops.empty());
  EXPECT_THAT(options.memory, ElementsAre(MemoryKind::Registered));
  EXPECT_TRUE(options.outOfPlace && options.inPlace && !options.placeChosen);
  EXPECT_FALSE(options.check);
  EXPECT_EQ(options.data, DataKind::Exact);
  EXPECT_EQ(options.timeoutMs, 30000u);
  EXPECT_TRUE(options.bind);
  EXPECT_EQ(options.iterations, 0u);
  EXPECT_FALSE(options.warmup);
}

TEST(Options, TakesEverything) {
  Options options = optionsOf({"-",           "-n",           "4",           "-b",
                               "1K:4K",       "--type",       "f16,u8",      "--op",
                               "sum,avg,sum", "--root",       "2",           "-i",
                               "7",           "-w",           "0",           "--check",
                               "--data",      "random",       "--memory",    "both",
                               "--in-place",  "--offset",     "3",           "--timeout",
                               "1.5",         "--slot-bytes", "64K",         "--direct-bytes",
                               "0",           "--threads",    "--json",      "x.json",
                               "--quiet",     "--no-bind",    "--algorithm", "ring"});
  EXPECT_EQ(options.file, "-");
  EXPECT_EQ(options.ranks, 4);
  EXPECT_THAT(options.sizes, ElementsAre(1024, 2048, 4096));
  EXPECT_THAT(options.types, ElementsAre(DataType::F16, DataType::U8));
  EXPECT_THAT(options.ops, ElementsAre(ReduceOp::Sum, ReduceOp::Avg));
  EXPECT_EQ(options.root, 2);
  EXPECT_EQ(options.iterations, 7u);
  EXPECT_EQ(options.warmup, 0u);
  EXPECT_TRUE(options.check && options.threads && options.quiet && !options.bind);
  EXPECT_EQ(options.data, DataKind::Random);
  EXPECT_THAT(options.memory, ElementsAre(MemoryKind::Registered, MemoryKind::Plain));
  EXPECT_TRUE(options.inPlace && !options.outOfPlace);
  EXPECT_EQ(options.offset, 3u);
  EXPECT_EQ(options.timeoutMs, 1500u);
  EXPECT_EQ(options.slotBytes, 65536u);
  EXPECT_EQ(options.directBytes, 0u);
  EXPECT_EQ(options.jsonPath, "x.json");
  EXPECT_EQ(options.algorithm, "ring");
}

TEST(Options, TakesAllAndCounts) {
  Options options =
      optionsOf({"x", "--count", "0:2:+1", "--type", "all", "--op", "all", "--root", "all"});
  EXPECT_TRUE(options.sizesAreCounts && options.allRoots);
  EXPECT_THAT(options.sizes, ElementsAre(0, 1, 2));
  EXPECT_EQ(options.types.size(), 12u);
  EXPECT_EQ(options.ops.size(), 6u);
}

TEST(Options, WritesJsonToAFileOrInPlaceOfTheTable) {
  EXPECT_EQ(optionsOf({"x", "--json", "rows.json", "--check"}).jsonPath, "rows.json");
  EXPECT_EQ(optionsOf({"x", "--json", "--check"}).jsonPath, "-");
  EXPECT_EQ(optionsOf({"x", "--check"}).jsonPath, "");
}

TEST(Options, TakesAScalar) {
  EXPECT_EQ(optionsOf({"x", "--op", "premulsum", "--scalar", "-3"}).scalar, -3);
  EXPECT_THAT(errorOf({"x", "--scalar", "3"}), HasSubstr("expected --op premulsum"));
  EXPECT_THAT(errorOf({"x", "--op", "premulsum", "--scalar", "0.5"}),
              HasSubstr("--scalar: expected a whole number from -4 to 4 for f32"));
  EXPECT_THAT(errorOf({"x", "--op", "premulsum", "--scalar", "nan"}),
              HasSubstr("--scalar: expected a number, found 'nan'"));
}

TEST(Options, SaysWhatIsWrong) {
  EXPECT_EQ(errorOf({"x", "--bytes", "1K:64"}),
            "--bytes 1K:64: expected FROM <= TO, found 1024 > 64");
  EXPECT_THAT(errorOf({"x", "--count", "-4"}), HasSubstr("--count"));
  EXPECT_THAT(errorOf({"x", "--type", "f33"}), HasSubstr("found 'f33'"));
  EXPECT_THAT(errorOf({"x", "--type", "f32,"}), HasSubstr("found ''"));
  EXPECT_THAT(errorOf({"x", "--op", "sun"}), HasSubstr("found 'sun'"));
  EXPECT_THAT(errorOf({"x", "--root", "-1"}), HasSubstr("expected all or a rank, found '-1'"));
  EXPECT_THAT(errorOf({"x", "--root", "1x"}), HasSubstr("found '1x'"));
  EXPECT_THAT(errorOf({"x", "--offset", "5000"}), HasSubstr("at most 4096, found 5000"));
  EXPECT_THAT(errorOf({"x", "--timeout", "-2"}), HasSubstr("found -2"));
  EXPECT_THAT(errorOf({"x", "-n", "0"}), HasSubstr("--ranks"));
  EXPECT_THAT(errorOf({"x", "--memory", "gpu"}), HasSubstr("--memory"));
  EXPECT_THAT(errorOf({"x", "-b", "1", "--count", "1"}), HasSubstr("excludes"));
  EXPECT_THAT(errorOf({}), HasSubstr("FILE is required"));
  EXPECT_THAT(errorOf({"x", "--what"}), HasSubstr("--what"));
}

TEST(Options, HelpTeaches) {
  Result<CommandLine> line = parse({"--help"});
  ASSERT_TRUE(line.isOk());
  EXPECT_FALSE(line->options);
  for (const char *text : {"Examples:", "--bytes", "#wrong", "Exit status"})
    EXPECT_THAT(line->text, HasSubstr(text));
  line = parse({"--version"});
  ASSERT_TRUE(line.isOk());
  EXPECT_EQ(line->text, "coil-run 0.1.0\n");
}

} // namespace
