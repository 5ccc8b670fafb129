//===- Wire.h - Values in a message's bytes ---------------------*- C++ -*-===//
//
// Both ends run on one machine: values travel in its byte order.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_BOOTSTRAP_WIRE_H
#define COIL_RUNTIME_BOOTSTRAP_WIRE_H

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace coil {

/// Appends values to a message.
class WireWriter {
public:
  template <typename T> void put(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(&value, sizeof(T));
  }
  /// Length and characters.
  void putText(std::string_view text) {
    put<uint64_t>(text.size());
    append(text.data(), text.size());
  }
  void append(const void *data, size_t size) {
    auto *first = static_cast<const uint8_t *>(data);
    bytes.insert(bytes.end(), first, first + size);
  }

  std::vector<uint8_t> bytes;
};

/// Takes values off a message. Past its end, values are zero and ok() is false.
class WireReader {
public:
  explicit WireReader(std::span<const uint8_t> bytes) : rest(bytes) {}

  template <typename T> T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (auto taken = take(sizeof(T)); !taken.empty())
      std::memcpy(&value, taken.data(), sizeof(T));
    return value;
  }
  std::string_view getText() {
    auto taken = take(get<uint64_t>());
    return {reinterpret_cast<const char *>(taken.data()), taken.size()};
  }
  std::span<const uint8_t> take(size_t size) {
    if (size > rest.size()) {
      complete = false;
      rest = {};
    }
    auto taken = rest.first(complete ? size : 0);
    rest = rest.subspan(taken.size());
    return taken;
  }

  /// Bytes left.
  size_t remaining() const { return rest.size(); }
  /// Whether all values asked for were there.
  bool ok() const { return complete; }
  /// Whether, besides, nothing is left.
  bool finished() const { return complete && rest.empty(); }

private:
  std::span<const uint8_t> rest;
  bool complete = true;
};

} // namespace coil

#endif // COIL_RUNTIME_BOOTSTRAP_WIRE_H
