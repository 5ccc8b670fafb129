//===- CubinCacheTest.cpp - Compiled kernels kept on disk -----------------===//

#include "runtime/nvrtc/CubinCache.h"
#include "test/unit/nvrtc/TemporaryFolder.h"

#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace coil::nvrtc {
namespace {

CachedKernels kernelsOf(size_t bytes, uint8_t fill) {
  return {std::vector<uint8_t>(bytes, fill), {"kernel_a", "kernel_b"}};
}

std::vector<std::filesystem::path> filesIn(const std::string &folder) {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path());
  return files;
}

/// Makes a file as old as a number of seconds.
void age(const std::filesystem::path &file, time_t seconds) {
  timespec then{::time(nullptr) - seconds, 0};
  const timespec times[2] = {then, then};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

TEST(ContentHash, IsFixedAndSpreads) {
  EXPECT_EQ(contentHash("").size(), 32u);
  EXPECT_EQ(contentHash("ring"), contentHash("ring"));
  EXPECT_NE(contentHash("ring"), contentHash("rinh"));
  EXPECT_NE(contentHash("ring"), contentHash(std::string_view("ring\0", 5)));
  EXPECT_NE(contentHash("12345678"), contentHash("87654321"));
}

TEST(CubinCache, KeepsWhatIsStored) {
  TemporaryFolder folder;
  CubinCache cache(folder.path + "/deep/er");
  EXPECT_FALSE(cache.find("key"));
  cache.store("key", kernelsOf(1000, 7));
  EXPECT_EQ(cache.find("key"), kernelsOf(1000, 7));
  EXPECT_FALSE(cache.find("other key"));
  cache.store("key", kernelsOf(10, 8));
  EXPECT_EQ(cache.find("key"), kernelsOf(10, 8));
  EXPECT_EQ(filesIn(cache.folder()).size(), 1u) << "expected no temporary files";
}

TEST(CubinCache, DamagedFilesAreMissingAndReplaced) {
  TemporaryFolder folder;
  CubinCache cache(folder.path);
  cache.store("key", kernelsOf(300, 7));
  const std::filesystem::path file = filesIn(folder.path).front();
  const uintmax_t size = std::filesystem::file_size(file);
  for (uintmax_t place = 0; place < size; place += 13) {
    {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(static_cast<std::streamoff>(place));
      char byte = static_cast<char>(stream.get());
      stream.seekp(static_cast<std::streamoff>(place));
      stream.put(static_cast<char>(byte ^ 0x40));
    }
    EXPECT_FALSE(cache.find("key")) << "byte " << place;
    cache.store("key", kernelsOf(300, 7));
    EXPECT_TRUE(cache.find("key")) << "byte " << place;
  }
  for (uintmax_t left : {uintmax_t{0}, uintmax_t{31}, size - 1}) {
    std::filesystem::resize_file(file, left);
    EXPECT_FALSE(cache.find("key")) << left << " bytes left";
    cache.store("key", kernelsOf(300, 7));
  }
}

TEST(CubinCache, KeysOfOneHashAreToldApart) {
  TemporaryFolder folder;
  CubinCache cache(folder.path);
  cache.store("key", kernelsOf(10, 1));
  // As if another key had the same hash: the file is under its name.
  std::filesystem::rename(filesIn(folder.path).front(),
                          folder.path + "/" + contentHash("other") + ".kernels");
  EXPECT_FALSE(cache.find("other"));
}

TEST(CubinCache, AFolderThatCannotBeWrittenIsNoError) {
  for (const char *path : {"", "/dev/null/coil", "/proc/coil"}) {
    CubinCache cache(path);
    cache.store("key", kernelsOf(10, 1));
    EXPECT_FALSE(cache.find("key")) << path;
  }
}

TEST(CubinCache, WhatWasUsedLongestAgoGoes) {
  TemporaryFolder folder;
  CubinCache cache(folder.path, 5000);
  cache.store("a", kernelsOf(2000, 1));
  age(filesIn(folder.path).front(), 300);
  cache.store("b", kernelsOf(2000, 2));
  for (const std::filesystem::path &file : filesIn(folder.path))
    if (file.string().find(contentHash("b")) != std::string::npos)
      age(file, 200);
  ASSERT_TRUE(cache.find("a")) << "which makes it the one used last";
  cache.store("c", kernelsOf(2000, 3));
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("c"));
  cache.store("larger than the cache", kernelsOf(6000, 4));
  EXPECT_FALSE(cache.find("larger than the cache"));
  EXPECT_TRUE(cache.find("c"));
}

TEST(CubinCache, LeftoversOfDeadWritersGo) {
  TemporaryFolder folder;
  const std::string old = folder.path + "/x.kernels.1-0.tmp", recent = old + "2.kernels.tmp",
                    foreign = folder.path + "/notes.tmp";
  for (const std::string &file : {old, recent, foreign})
    std::ofstream(file) << "text";
  age(old, 7200);
  age(foreign, 7200);
  CubinCache(folder.path).store("key", kernelsOf(10, 1));
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(recent));
  EXPECT_TRUE(std::filesystem::exists(foreign)) << "which the cache did not write";
}

TEST(CubinCache, ManyWritersAndReaders) {
  TemporaryFolder folder;
  constexpr int processes = 4, rounds = 60;
  auto work = [&](uint8_t who) {
    CubinCache cache(folder.path, 60'000);
    bool good = true;
    for (int round = 0; round < rounds; ++round) {
      std::string key = "key " + std::to_string(round % 5);
      cache.store(key, kernelsOf(9000, who));
      if (std::optional<CachedKernels> found = cache.find(key))
        good &= found->bytes.size() == 9000 &&
                *found == kernelsOf(9000, found->bytes.front()); // whoever wrote it, whole
    }
    return good;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    pid_t child = ::fork();
    if (child == 0) {
      bool good = true, other = true;
      std::thread thread([&] { other = work(static_cast<uint8_t>(2 * i + 1)); });
      good = work(static_cast<uint8_t>(2 * i));
      thread.join();
      ::_exit(good && other ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST(CubinCache, UsualFolderFollowsTheEnvironment) {
  auto keep = [](const char *name) {
    const char *value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  auto put = [](const char *name, const std::optional<std::string> &value) {
    value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  };
  const std::optional<std::string> own = keep("COIL_CACHE_DIR"), xdg = keep("XDG_CACHE_HOME"),
                                   home = keep("HOME");
  put("COIL_CACHE_DIR", "/one");
  put("XDG_CACHE_HOME", "/two");
  put("HOME", "/three");
  EXPECT_EQ(CubinCache::usual().folder(), "/one");
  put("COIL_CACHE_DIR", "");
  EXPECT_EQ(CubinCache::usual().folder(), "");
  put("COIL_CACHE_DIR", std::nullopt);
  EXPECT_EQ(CubinCache::usual().folder(), "/two/coil");
  put("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(CubinCache::usual().folder(), "/three/.cache/coil");
  put("HOME", std::nullopt);
  EXPECT_EQ(CubinCache::usual().folder(), "");
  put("COIL_CACHE_DIR", own);
  put("XDG_CACHE_HOME", xdg);
  put("HOME", home);
}

} // namespace
} // namespace coil::nvrtc
