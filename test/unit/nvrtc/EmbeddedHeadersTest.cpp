//===- EmbeddedHeadersTest.cpp - The device library as text ---------------===//

#include "runtime/nvrtc/EmbeddedHeaders.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <string>

namespace coil::nvrtc {
namespace {

TEST(EmbeddedHeaders, AreTheFiles) {
  std::set<std::string> embedded;
  for (const EmbeddedHeader &header : deviceHeaders()) {
    std::ifstream file(std::string(COIL_SOURCE_FOLDER "/") + header.name);
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_TRUE(file.good()) << header.name;
    EXPECT_TRUE(text.str() == header.text) << header.name << " differs from what was built in";
    EXPECT_TRUE(embedded.insert(header.name).second) << header.name;
  }
  for (const auto &entry :
       std::filesystem::directory_iterator(COIL_SOURCE_FOLDER "/runtime/kernels/device")) {
    if (entry.path().extension() != ".h")
      continue;
    EXPECT_TRUE(embedded.contains("runtime/kernels/device/" + entry.path().filename().string()))
        << entry.path();
  }
}

} // namespace
} // namespace coil::nvrtc
