//===- TemporaryFolder.h - A folder for one test ----------------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_NVRTC_TEMPORARYFOLDER_H
#define COIL_TEST_UNIT_NVRTC_TEMPORARYFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <string>

namespace coil::nvrtc {

/// A new empty folder, removed at the end with what is in it.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "coil-test-XXXXXX").string();
    if (const char *made = ::mkdtemp(pattern.data()))
      path = made;
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path, ignored);
  }

  std::string path;
};

} // namespace coil::nvrtc

#endif // COIL_TEST_UNIT_NVRTC_TEMPORARYFOLDER_H
