//===- UniqueId.cpp - The name under which ranks find each other ----------===//

#include "runtime/bootstrap/UniqueId.h"

#include "runtime/bootstrap/Random.h"

#include <span>

namespace coil {

static constexpr std::string_view prefix = "coil-id-";
static constexpr std::string_view versionAndColon = "1:";

Result<UniqueId> UniqueId::make() {
  UniqueId id;
  COIL_RETURN_IF_ERROR(fillRandom(id.place.data(), id.place.size()));
  COIL_RETURN_IF_ERROR(fillRandom(id.secret.data(), id.secret.size()));
  return id;
}

/// Reads the lower-case hexadecimal digits that text() writes; false for others.
static bool readHex(std::string_view digits, std::span<uint8_t> bytes) {
  auto valueOf = [](char digit) {
    if (digit >= '0' && digit <= '9')
      return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    int high = valueOf(digits[2 * i]), low = valueOf(digits[2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    bytes[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return true;
}

Result<UniqueId> UniqueId::parse(std::string_view text) {
  while (text.ends_with('\0'))
    text.remove_suffix(1);
  if (!text.starts_with(prefix))
    return Status::error(StatusCode::InvalidArgument,
                         "not the id of a communicator: expected it to begin with \"{}\"", prefix);
  text.remove_prefix(prefix.size());
  if (!text.starts_with(versionAndColon))
    return Status::error(StatusCode::InvalidArgument,
                         "the id of a communicator was made by another version of Coil: expected "
                         "\"{}{}\" at its start",
                         prefix, versionAndColon);
  text.remove_prefix(versionAndColon.size());
  UniqueId id;
  size_t digits = 2 * (id.place.size() + id.secret.size());
  if (text.size() != digits)
    return Status::error(StatusCode::InvalidArgument,
                         "the id of a communicator is damaged: expected {} hexadecimal digits, "
                         "found {} characters",
                         digits, text.size());
  if (!readHex(text, id.place) || !readHex(text.substr(2 * id.place.size()), id.secret))
    return Status::error(StatusCode::InvalidArgument,
                         "the id of a communicator is damaged: expected hexadecimal digits only");
  return id;
}

std::string UniqueId::text() const {
  std::string result = fmt::format("{}{}", prefix, versionAndColon);
  for (uint8_t byte : place)
    result += fmt::format("{:02x}", byte);
  for (uint8_t byte : secret)
    result += fmt::format("{:02x}", byte);
  return result;
}

} // namespace coil
