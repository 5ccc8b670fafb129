//===- NvrtcLibrary.cpp - Finding and loading libnvrtc --------------------===//

#include "runtime/nvrtc/NvrtcLibrary.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <glob.h>

namespace coil::nvrtc {

namespace {

constexpr const char *sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The files that match a shell pattern, in ascending order.
std::vector<std::string> matches(const std::string &pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

/// Why a library was not loaded, as the dynamic linker says; it begins with the
/// library's name.
std::string loadError(const std::string &path) {
  const char *error = ::dlerror();
  std::string text = error ? error : "unknown error";
  return text.find(path) == std::string::npos ? path + ": " + text : text;
}

/// Fills the table; gives the name of a function that is missing, or nothing.
std::string findFunctions(void *library, NvrtcFunctions &table) {
  std::string missing;
#define COIL_NVRTC_FIND(name, result, parameters)                                                  \
  table.name = reinterpret_cast<result(*) parameters>(::dlsym(library, #name));                    \
  if (!table.name && missing.empty())                                                              \
    missing = #name;
  COIL_NVRTC_FUNCTIONS(COIL_NVRTC_FIND)
#undef COIL_NVRTC_FIND
  return missing;
}

} // namespace

std::vector<std::string> NvrtcLibrary::usualPlaces() {
  std::vector<std::string> places(std::begin(sonames), std::end(sonames));
  auto add = [&](std::string path) {
    if (std::find(places.begin(), places.end(), path) == places.end())
      places.push_back(std::move(path));
  };
  for (const std::string &root :
       {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda")})
    if (!root.empty())
      for (const char *soname : sonames)
        add(root + "/lib64/" + soname);
  for (const std::string &prefix :
       {environment("VIRTUAL_ENV"), environment("CONDA_PREFIX"), environment("HOME") + "/.local",
        std::string("/usr/local"), std::string("/usr")})
    if (!prefix.empty())
      for (const char *packages : {"site-packages", "dist-packages"})
        for (const std::string &path :
             matches(prefix + "/lib/python3*/" + packages + "/nvidia/*/lib/libnvrtc.so.[0-9]*"))
          add(path);
  return places;
}

Result<std::shared_ptr<const NvrtcLibrary>> NvrtcLibrary::load(const std::string &path) {
  std::string chosen = path.empty() ? environment("COIL_NVRTC_LIBRARY") : path;
  std::vector<std::string> candidates =
      chosen.empty() ? usualPlaces() : std::vector<std::string>{chosen};
  std::string tried;
  for (const std::string &candidate : candidates) {
    void *handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      tried += "\n  " + loadError(candidate);
      continue;
    }
    std::shared_ptr<NvrtcLibrary> library(new NvrtcLibrary());
    if (std::string missing = findFunctions(handle, library->table); !missing.empty()) {
      tried += fmt::format("\n  {}: has no {}", candidate, missing);
      continue;
    }
    if (library->table.nvrtcVersion(&library->major, &library->minor) != NvrtcResult::Success) {
      tried += fmt::format("\n  {}: does not say its version", candidate);
      continue;
    }
    library->loadedPath = candidate;
    // By name it may be any of several: find out which.
    Dl_info facts{};
    if (::dladdr(reinterpret_cast<void *>(library->table.nvrtcVersion), &facts) != 0 &&
        facts.dli_fname)
      library->loadedPath = facts.dli_fname;
    return std::shared_ptr<const NvrtcLibrary>(std::move(library));
  }
  return Status::error(StatusCode::Unsupported,
                       "no NVRTC, which compiles kernels, can be loaded: {}; tried:{}",
                       howToGetNvrtc, tried);
}

} // namespace coil::nvrtc
