//===- CubinBundle.cpp - Kernels compiled ahead of time -------------------===//

#include "runtime/nvrtc/CubinBundle.h"
#include "runtime/nvrtc/Bytes.h"

#include <algorithm>
#include <tuple>

namespace coil::nvrtc {

namespace {

constexpr std::string_view magic = "COILCUBN";
constexpr std::string_view whatItIs = "a bundle of cubins";
constexpr uint64_t largestFile = uint64_t{1} << 30;
/// Of a cubin, at least: bounds the number that a file can claim to have.
constexpr size_t smallestEntry = 5 * sizeof(uint32_t) + 3 * sizeof(uint64_t);

template <typename... Args> Status invalid(fmt::format_string<Args...> format, Args &&...args) {
  return Status::error(StatusCode::InvalidPlan, format, std::forward<Args>(args)...);
}

Result<BundledCubin> readCubin(ByteReader &reader) {
  BundledCubin cubin;
  cubin.variant = reader.number32();
  uint32_t type = reader.number32(), op = reader.number32(), protocol = reader.number32();
  cubin.arch = reader.number32();
  if (type >= numDataTypes)
    return invalid("unknown element type {}", type);
  if (op >= numReduceOps)
    return invalid("unknown operator {}", op);
  if (protocol >= device::numProtocols)
    return invalid("unknown protocol {}", protocol);
  cubin.type = static_cast<DataType>(type);
  cubin.op = static_cast<ReduceOp>(op);
  cubin.protocol = static_cast<device::Protocol>(protocol);
  cubin.source = reader.text();
  cubin.loweredName = reader.text();
  cubin.bytes = reader.block();
  if (!reader.isWhole())
    return invalid("the file ends in it");
  if (cubin.loweredName.empty() || cubin.loweredName.find('\0') != std::string::npos)
    return invalid("expected the name of its kernel, found none");
  if (cubin.bytes.empty())
    return invalid("expected machine code, found none");
  return cubin;
}

/// What no two cubins of a bundle have in common.
auto identity(const BundledCubin &cubin) {
  return std::tuple(cubin.variant, cubin.type, cubin.op, cubin.protocol, cubin.arch);
}

} // namespace

const BundledCubin *CubinBundle::find(uint32_t variant, DataType type, ReduceOp op,
                                      device::Protocol protocol, uint32_t capability) const {
  const BundledCubin *best = nullptr;
  for (const BundledCubin &cubin : cubins)
    if (cubin.variant == variant && cubin.type == type && cubin.op == op &&
        cubin.protocol == protocol && cubin.arch / 10 == capability / 10 &&
        cubin.arch <= capability && (!best || cubin.arch > best->arch))
      best = &cubin;
  return best;
}

std::vector<uint8_t> writeCubinBundle(const CubinBundle &bundle) {
  ByteWriter writer;
  writer.number64(bundle.planDigest);
  writer.number64(bundle.cubins.size());
  for (const BundledCubin &cubin : bundle.cubins) {
    writer.number32(cubin.variant);
    writer.number32(static_cast<uint32_t>(cubin.type));
    writer.number32(static_cast<uint32_t>(cubin.op));
    writer.number32(static_cast<uint32_t>(cubin.protocol));
    writer.number32(cubin.arch);
    writer.text(cubin.source);
    writer.text(cubin.loweredName);
    writer.block(cubin.bytes);
  }
  return writer.wrap(magic, cubinBundleVersion);
}

Result<CubinBundle> readCubinBundle(std::span<const uint8_t> bytes) {
  COIL_ASSIGN_OR_RETURN(ByteReader reader,
                        ByteReader::unwrap(bytes, magic, cubinBundleVersion, whatItIs));
  CubinBundle bundle;
  bundle.planDigest = reader.number64();
  uint64_t count = reader.number64();
  if (!reader.isWhole() || count > reader.remaining() / smallestEntry)
    return invalid("{}: expected {} cubins, found {} bytes for them", whatItIs, count,
                   reader.remaining());
  std::vector<decltype(identity(BundledCubin()))> identities;
  for (uint64_t i = 0; i < count; ++i) {
    Result<BundledCubin> cubin = readCubin(reader);
    if (!cubin.isOk())
      return std::move(cubin).status().withContext(fmt::format("{}, cubin {}", whatItIs, i));
    identities.push_back(identity(*cubin));
    bundle.cubins.push_back(*std::move(cubin));
  }
  if (reader.remaining() != 0)
    return invalid("{}: expected its end after cubin {}, found {} more bytes", whatItIs, count,
                   reader.remaining());
  std::sort(identities.begin(), identities.end());
  if (std::adjacent_find(identities.begin(), identities.end()) != identities.end())
    return invalid("{}: two cubins are for the same calls", whatItIs);
  return bundle;
}

Result<CubinBundle> readCubinBundleFile(const std::string &path) {
  COIL_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, readFileBytes(path, largestFile));
  Result<CubinBundle> bundle = readCubinBundle(bytes);
  if (!bundle.isOk())
    return std::move(bundle).status().withContext(path);
  return bundle;
}

std::string cubinBundlePath(const std::string &planPath) { return planPath + ".cubins"; }

} // namespace coil::nvrtc
