//===- CubinBundleFuzzer.cpp - Feeds anything to the reader of bundles ----===//
//
// Input is tried as a file, and what follows the place of a header as the payload
// of one with a right checksum, which random changes would never hit.
//
//===----------------------------------------------------------------------===//

#include "runtime/nvrtc/CubinBundle.h"
#include "runtime/plan/PlanFile.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "cubin_bundle_fuzzer: %s\n", what);
  std::abort();
}

/// What the reader accepts must be written as it was read.
void exercise(std::span<const uint8_t> bytes) {
  coil::Result<coil::nvrtc::CubinBundle> bundle = coil::nvrtc::readCubinBundle(bytes);
  if (!bundle.isOk()) {
    require(bundle.status().code() == coil::StatusCode::InvalidPlan, "expected an invalid plan");
    return;
  }
  std::vector<uint8_t> again = coil::nvrtc::writeCubinBundle(*bundle);
  require(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()),
          "expected the same file again");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  exercise(bytes);
  // The header: magic, version, reserved, size, checksum.
  constexpr size_t headerSize = 32;
  if (size < headerSize)
    return 0;
  std::span<const uint8_t> payload = std::span<const uint8_t>(bytes).subspan(headerSize);
  const uint64_t payloadSize = payload.size(), checksum = coil::planChecksum(payload);
  const uint32_t version = coil::nvrtc::cubinBundleVersion, reserved = 0;
  std::memcpy(bytes.data(), "COILCUBN", 8);
  std::memcpy(bytes.data() + 8, &version, sizeof(version));
  std::memcpy(bytes.data() + 12, &reserved, sizeof(reserved));
  std::memcpy(bytes.data() + 16, &payloadSize, sizeof(payloadSize));
  std::memcpy(bytes.data() + 24, &checksum, sizeof(checksum));
  exercise(bytes);
  return 0;
}
