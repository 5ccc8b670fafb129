//===- UniqueId.h - The name under which ranks find each other --*- C++ -*-===//

#ifndef COIL_RUNTIME_BOOTSTRAP_UNIQUEID_H
#define COIL_RUNTIME_BOOTSTRAP_UNIQUEID_H

#include "runtime/base/Status.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace coil {

/// Names one meeting of ranks. Two random halves: `place` says where the ranks
/// meet and can be seen by every user of the machine; `secret` is what a rank
/// must know to be let in.
///
/// Its one form outside the library is text, "coil-id-1:" (the digit is the
/// version) and 64 hexadecimal digits, which fits an argument, a variable of
/// the environment, or the C API's 128 bytes, filled up with zeros.
struct UniqueId {
  std::array<uint8_t, 16> place{};
  std::array<uint8_t, 16> secret{};

  /// A new id. Errors: SystemError if the system gives no random bytes.
  static Result<UniqueId> make();

  /// Reads text(), which any number of zero bytes may follow. Errors:
  /// InvalidArgument, for text that is no id or is one of another version.
  static Result<UniqueId> parse(std::string_view text);

  /// 74 characters.
  std::string text() const;

  bool operator==(const UniqueId &) const = default;
};

} // namespace coil

#endif // COIL_RUNTIME_BOOTSTRAP_UNIQUEID_H
