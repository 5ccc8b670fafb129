//===- CubinCache.h - Compiled kernels kept on disk -------------*- C++ -*-===//
//
// Files in one folder, each named by a hash of everything that its contents depend
// on. Any number of processes may use the folder: a file appears whole, by being
// renamed. A damaged file counts as missing and is replaced. The cache helps if it
// can, and is never an error: a folder that cannot be written is a cache without
// memory.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_NVRTC_CUBINCACHE_H
#define COIL_RUNTIME_NVRTC_CUBINCACHE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coil::nvrtc {

/// 128 bits of a hash, as 32 hexadecimal digits: the same on every machine.
std::string contentHash(std::string_view content);

/// One result of a compilation.
struct CachedKernels {
  std::vector<uint8_t> bytes;
  std::vector<std::string> loweredNames;

  bool operator==(const CachedKernels &) const = default;
};

class CubinCache {
public:
  /// Bytes that the folder may hold by default.
  static constexpr uint64_t defaultLimit = 512u << 20;

  /// In the folder that COIL_CACHE_DIR names ("": none), else in coil below
  /// XDG_CACHE_HOME, else in ~/.cache/coil; none if there is no home.
  static CubinCache usual();
  /// In `folder`, which is made when something is stored; empty: keeps nothing.
  /// When the files have more than `limit` bytes, those not read for longest go.
  explicit CubinCache(std::string folder, uint64_t limit = defaultLimit);

  /// What was stored under the key. The key is everything that the result depends
  /// on, in full: it is kept beside the result and compared, so that two keys of
  /// one hash cannot be mixed up.
  std::optional<CachedKernels> find(std::string_view key) const;
  void store(std::string_view key, const CachedKernels &kernels) const;

  const std::string &folder() const { return path; }

private:
  std::string fileOf(std::string_view key) const;
  void evict(const std::string &keep) const;

  std::string path;
  uint64_t limit;
};

} // namespace coil::nvrtc

#endif // COIL_RUNTIME_NVRTC_CUBINCACHE_H
