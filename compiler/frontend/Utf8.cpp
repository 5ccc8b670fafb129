//===- Utf8.cpp - Reading UTF-8 -------------------------------------------===//

#include "compiler/frontend/Utf8.h"

namespace coil {

Utf8Character decodeUtf8(std::string_view text) {
  if (text.empty())
    return {};
  auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80)
    return {lead, 1};
  size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes)
    return {};
  uint32_t codePoint = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80)
      return {};
    codePoint = codePoint << 6 | (next & 0x3f);
  }
  static constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool isSurrogate = codePoint >= 0xd800 && codePoint < 0xe000;
  if (codePoint < smallest[bytes] || codePoint > 0x10ffff || isSurrogate)
    return {};
  return {codePoint, bytes};
}

} // namespace coil
