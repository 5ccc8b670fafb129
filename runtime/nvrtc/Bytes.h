//===- Bytes.h - Files of kernels, written and read -------------*- C++ -*-===//
//
// What the cache and bundles have in common: a header that says what a file is,
// with the size and checksum of all that follows; and numbers and texts in it.
// Numbers are little-endian.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_NVRTC_BYTES_H
#define COIL_RUNTIME_NVRTC_BYTES_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coil::nvrtc {

/// Appends to a payload.
class ByteWriter {
public:
  void number32(uint32_t value);
  void number64(uint64_t value);
  /// Its size, then the bytes.
  void block(std::span<const uint8_t> bytes);
  void text(std::string_view text);

  /// The file: an 8-byte magic, version, reserved word, payload size, checksum, and
  /// the payload.
  std::vector<uint8_t> wrap(std::string_view magic, uint32_t version) const;

private:
  std::vector<uint8_t> payload;
};

/// Takes apart what ByteWriter wrote. After the first thing that is not there,
/// everything reads as nothing and isWhole() is false.
class ByteReader {
public:
  explicit ByteReader(std::span<const uint8_t> payload) : rest(payload) {}

  /// Checks a file's header and checksum. Errors: InvalidPlan; `what` is what the
  /// file should be, such as "a bundle of cubins".
  static Result<ByteReader> unwrap(std::span<const uint8_t> file, std::string_view magic,
                                   uint32_t version, std::string_view what);

  uint32_t number32();
  uint64_t number64();
  std::vector<uint8_t> block();
  std::string text();

  /// Bytes that are not read yet.
  size_t remaining() const { return rest.size(); }
  /// False if something was missing.
  bool isWhole() const { return whole; }

private:
  std::span<const uint8_t> take(uint64_t size);

  std::span<const uint8_t> rest;
  bool whole = true;
};

enum class FileOwner {
  Anyone,
  Trusted, ///< this process's user, or root
};

/// Reads a regular file of at most `limit` bytes. Errors: SystemError.
Result<std::vector<uint8_t>> readFileBytes(const std::string &path, uint64_t limit,
                                           FileOwner owner = FileOwner::Anyone);

} // namespace coil::nvrtc

#endif // COIL_RUNTIME_NVRTC_BYTES_H
