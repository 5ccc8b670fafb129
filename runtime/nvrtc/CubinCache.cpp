//===- CubinCache.cpp - Compiled kernels kept on disk ---------------------===//

#include "runtime/nvrtc/CubinCache.h"
#include "runtime/base/UniqueFd.h"
#include "runtime/nvrtc/Bytes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace coil::nvrtc {

namespace {

constexpr std::string_view magic = "COILKERN";
constexpr uint32_t version = 1;
constexpr std::string_view suffix = ".kernels";
constexpr std::string_view temporarySuffix = ".tmp";
constexpr uint64_t largestEntry = uint64_t{256} << 20;
/// A writer that has not renamed its file after this has died.
constexpr int64_t temporarySeconds = 3600;

uint64_t hashLane(std::string_view content, uint64_t seed, uint64_t multiplier) {
  uint64_t hash = seed ^ content.size();
  for (size_t i = 0; i < content.size(); i += 8) {
    std::array<unsigned char, 8> bytes{};
    std::memcpy(bytes.data(), content.data() + i, std::min<size_t>(8, content.size() - i));
    uint64_t word = 0;
    for (size_t k = 0; k < bytes.size(); ++k)
      word |= uint64_t{bytes[k]} << (8 * k);
    hash = (hash ^ word) * multiplier;
    hash ^= hash >> 29;
  }
  hash *= multiplier;
  return hash ^ (hash >> 32);
}

struct Entry {
  std::string path;
  uint64_t bytes;
  timespec used;
};

} // namespace

std::string contentHash(std::string_view content) {
  return fmt::format("{:016x}{:016x}", hashLane(content, 0x243f6a8885a308d3, 0x9e3779b97f4a7c15),
                     hashLane(content, 0x13198a2e03707344, 0xd6e8feb86659fd93));
}

CubinCache CubinCache::usual() {
  if (const char *folder = std::getenv("COIL_CACHE_DIR"))
    return CubinCache(folder);
  const char *base = std::getenv("XDG_CACHE_HOME");
  if (base && *base)
    return CubinCache(std::string(base) + "/coil");
  const char *home = std::getenv("HOME");
  if (home && *home)
    return CubinCache(std::string(home) + "/.cache/coil");
  return CubinCache("");
}

CubinCache::CubinCache(std::string folder, uint64_t limit)
    : path(std::move(folder)), limit(limit) {}

std::string CubinCache::fileOf(std::string_view key) const {
  return fmt::format("{}/{}{}", path, contentHash(key), suffix);
}

std::optional<CachedKernels> CubinCache::find(std::string_view key) const {
  if (path.empty())
    return std::nullopt;
  const std::string file = fileOf(key);
  // What anybody else may have put there is not run.
  Result<std::vector<uint8_t>> bytes = readFileBytes(file, largestEntry, FileOwner::Trusted);
  if (!bytes.isOk())
    return std::nullopt;
  Result<ByteReader> reader = ByteReader::unwrap(*bytes, magic, version, "cached kernels");
  if (!reader.isOk() || reader->text() != key)
    return std::nullopt;
  CachedKernels kernels;
  uint64_t names = reader->number64();
  for (uint64_t i = 0; i < names && reader->isWhole(); ++i)
    kernels.loweredNames.push_back(reader->text());
  kernels.bytes = reader->block();
  if (!reader->isWhole() || reader->remaining() != 0)
    return std::nullopt;
  // When it was read last, for evict().
  ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
  return kernels;
}

void CubinCache::store(std::string_view key, const CachedKernels &kernels) const {
  if (path.empty())
    return;
  ByteWriter writer;
  writer.text(key);
  writer.number64(kernels.loweredNames.size());
  for (const std::string &name : kernels.loweredNames)
    writer.text(name);
  writer.block(kernels.bytes);
  std::vector<uint8_t> bytes = writer.wrap(magic, version);
  if (bytes.size() > std::min(limit, largestEntry))
    return;

  std::error_code ignored;
  if (std::filesystem::create_directories(path, ignored))
    std::filesystem::permissions(path, std::filesystem::perms::owner_all, ignored);
  const std::string file = fileOf(key);
  // No other writer, of this process or another, has the same name.
  static std::atomic<uint64_t> writers{0};
  const std::string temporary =
      fmt::format("{}.{}-{}{}", file, ::getpid(), writers.fetch_add(1), temporarySuffix);
  UniqueFd output(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (output.get() < 0)
    return;
  size_t written = 0;
  while (written < bytes.size()) {
    ssize_t put = ::write(output.get(), bytes.data() + written, bytes.size() - written);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      break;
    written += static_cast<size_t>(put);
  }
  if (written < bytes.size() || ::rename(temporary.c_str(), file.c_str()) != 0) {
    ::unlink(temporary.c_str());
    return;
  }
  evict(file);
}

/// Removes what was not used for longest while there is too much, `keep` aside.
void CubinCache::evict(const std::string &keep) const {
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator file(path, error), end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().string();
    struct stat facts{};
    if (::lstat(name.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode))
      continue;
    bool isOld = ::time(nullptr) - facts.st_mtim.tv_sec > temporarySeconds;
    if (name.ends_with(temporarySuffix) && name.find(suffix) != std::string::npos && isOld)
      ::unlink(name.c_str());
    if (!name.ends_with(suffix))
      continue;
    total += static_cast<uint64_t>(facts.st_size);
    entries.push_back({name, static_cast<uint64_t>(facts.st_size), facts.st_mtim});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.path) <
           std::tie(b.used.tv_sec, b.used.tv_nsec, b.path);
  });
  for (const Entry &entry : entries) {
    if (total <= limit)
      return;
    if (entry.path == keep)
      continue;
    ::unlink(entry.path.c_str());
    total -= entry.bytes;
  }
}

} // namespace coil::nvrtc
