//===- Bytes.cpp - Files of kernels, written and read ---------------------===//

#include "runtime/nvrtc/Bytes.h"
#include "runtime/base/UniqueFd.h"
#include "runtime/plan/PlanFile.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace coil::nvrtc {

namespace {

constexpr size_t magicSize = 8;
constexpr size_t headerSize = 32;

template <typename Number> void append(std::vector<uint8_t> &bytes, Number value) {
  for (size_t i = 0; i < sizeof(Number); ++i)
    bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

template <typename Number> Number parse(std::span<const uint8_t> bytes) {
  Number value = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    value |= static_cast<Number>(bytes[i]) << (8 * i);
  return value;
}

} // namespace

void ByteWriter::number32(uint32_t value) { append(payload, value); }
void ByteWriter::number64(uint64_t value) { append(payload, value); }

void ByteWriter::block(std::span<const uint8_t> bytes) {
  number64(bytes.size());
  payload.insert(payload.end(), bytes.begin(), bytes.end());
}

void ByteWriter::text(std::string_view text) {
  block({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
}

std::vector<uint8_t> ByteWriter::wrap(std::string_view magic, uint32_t version) const {
  std::vector<uint8_t> file(magic.begin(), magic.end());
  file.resize(magicSize);
  append(file, version);
  append(file, uint32_t{0});
  append(file, uint64_t{payload.size()});
  append(file, planChecksum(payload));
  file.insert(file.end(), payload.begin(), payload.end());
  return file;
}

Result<ByteReader> ByteReader::unwrap(std::span<const uint8_t> file, std::string_view magic,
                                      uint32_t version, std::string_view what) {
  auto invalid = [&](std::string message) {
    return Status::error(StatusCode::InvalidPlan, "not {}: {}", what, message);
  };
  if (file.size() < headerSize)
    return invalid(fmt::format("expected at least {} bytes, found {}", headerSize, file.size()));
  std::string_view found(reinterpret_cast<const char *>(file.data()), magicSize);
  if (found != magic)
    return invalid(fmt::format("expected it to begin with {}", magic));
  uint32_t foundVersion = parse<uint32_t>(file.subspan(8, 4));
  if (foundVersion != version)
    return invalid(fmt::format("expected format version {}, found {}", version, foundVersion));
  if (uint32_t reserved = parse<uint32_t>(file.subspan(12, 4)))
    return invalid(fmt::format("expected a reserved word of 0, found {}", reserved));
  std::span<const uint8_t> payload = file.subspan(headerSize);
  uint64_t size = parse<uint64_t>(file.subspan(16, 8));
  if (size != payload.size())
    return invalid(
        fmt::format("expected {} bytes after its header, found {}", size, payload.size()));
  uint64_t checksum = parse<uint64_t>(file.subspan(24, 8));
  if (uint64_t actual = planChecksum(payload); actual != checksum)
    return invalid(fmt::format("expected checksum {:#018x}, found {:#018x}", checksum, actual));
  return ByteReader(payload);
}

std::span<const uint8_t> ByteReader::take(uint64_t size) {
  if (size > rest.size()) {
    whole = false;
    rest = {};
    return {};
  }
  std::span<const uint8_t> taken = rest.first(size);
  rest = rest.subspan(size);
  return taken;
}

uint32_t ByteReader::number32() { return parse<uint32_t>(take(4)); }
uint64_t ByteReader::number64() { return parse<uint64_t>(take(8)); }

std::vector<uint8_t> ByteReader::block() {
  std::span<const uint8_t> bytes = take(number64());
  return {bytes.begin(), bytes.end()};
}

std::string ByteReader::text() {
  std::span<const uint8_t> bytes = take(number64());
  return {bytes.begin(), bytes.end()};
}

Result<std::vector<uint8_t>> readFileBytes(const std::string &path, uint64_t limit,
                                           FileOwner owner) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts{};
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0)
    return Status::system(errno, "cannot open {}", path);
  if (!S_ISREG(facts.st_mode))
    return Status::error(StatusCode::SystemError, "cannot read {}: not a regular file", path);
  if (owner == FileOwner::Trusted && facts.st_uid != ::geteuid() && facts.st_uid != 0)
    return Status::error(StatusCode::SystemError, "cannot trust {}: it is of user {}", path,
                         facts.st_uid);
  if (static_cast<uint64_t>(facts.st_size) > limit)
    return Status::error(StatusCode::SystemError,
                         "cannot read {}: expected at most {} bytes, "
                         "found {}",
                         path, limit, facts.st_size);
  std::vector<uint8_t> bytes(static_cast<size_t>(facts.st_size));
  size_t filled = 0;
  while (filled < bytes.size()) {
    ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return Status::system(errno, "cannot read {}", path);
    if (got == 0)
      break;
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

} // namespace coil::nvrtc
