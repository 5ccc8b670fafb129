//===- Utf8.h - Reading UTF-8 ------------------------------------*- C++ -*-===//

#ifndef COIL_COMPILER_FRONTEND_UTF8_H
#define COIL_COMPILER_FRONTEND_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coil {

/// A character at the front of a text: its code point and its length in bytes.
/// `bytes` is 0 if the text is empty or does not begin with well-formed UTF-8
/// (overlong forms, surrogates and values beyond U+10FFFF are not).
struct Utf8Character {
  uint32_t codePoint = 0;
  size_t bytes = 0;
};

Utf8Character decodeUtf8(std::string_view text);

} // namespace coil

#endif // COIL_COMPILER_FRONTEND_UTF8_H
