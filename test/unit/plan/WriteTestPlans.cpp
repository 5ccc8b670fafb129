//===- WriteTestPlans.cpp - Writes the test plans to files ----------------===//
//
// write-test-plans DIRECTORY: one file <name>.plan for each plan of TestPlans.h.
//
//===----------------------------------------------------------------------===//

#include "compiler/target/plan/PlanWriter.h"
#include "test/unit/plan/TestPlans.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write-test-plans DIRECTORY\n");
    return 2;
  }
  std::filesystem::path directory = argv[1];
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  for (const auto &[name, plan] : coil::allTestPlans()) {
    coil::Result<std::vector<uint8_t>> bytes = coil::writePlan(plan);
    if (!bytes.isOk()) {
      std::fprintf(stderr, "%s: %s\n", name, bytes.status().message().c_str());
      return 1;
    }
    std::ofstream file(directory / (std::string(name) + ".plan"), std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes->data()),
               static_cast<std::streamsize>(bytes->size()));
    if (!file.flush()) {
      std::fprintf(stderr, "cannot write %s.plan to %s\n", name, argv[1]);
      return 1;
    }
  }
  return 0;
}
