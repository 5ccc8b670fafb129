//===- EmbeddedHeaders.h - The device library as text -----------*- C++ -*-===//

#ifndef COIL_RUNTIME_NVRTC_EMBEDDEDHEADERS_H
#define COIL_RUNTIME_NVRTC_EMBEDDEDHEADERS_H

#include <span>
#include <string_view>

namespace coil::nvrtc {

struct EmbeddedHeader {
  const char *name; ///< as it is included: "runtime/kernels/device/Worker.h"
  const char *text;
};

/// Every header in runtime/kernels/device, as it was when this library was built.
std::span<const EmbeddedHeader> deviceHeaders();

} // namespace coil::nvrtc

#endif // COIL_RUNTIME_NVRTC_EMBEDDEDHEADERS_H
