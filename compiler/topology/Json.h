//===- Json.h - Values to be written as JSON --------------------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_JSON_H
#define COIL_COMPILER_TOPOLOGY_JSON_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coil::topology {

/// A JSON value. Members of objects keep the order in which they were set.
class Json {
public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() : value(nullptr) {}
  Json(bool truth) : value(truth) {}
  Json(int64_t number) : value(number) {}
  Json(int number) : value(int64_t(number)) {}
  Json(unsigned number) : value(int64_t(number)) {}
  Json(size_t number) : value(int64_t(number)) {}
  Json(double number) : value(number) {}
  Json(std::string text) : value(std::move(text)) {}
  Json(std::string_view text) : value(std::string(text)) {}
  Json(const char *text) : value(std::string(text)) {}
  Json(Array array) : value(std::move(array)) {}

  static Json array() { return Json(Array()); }
  static Json object() {
    Json json;
    json.value = Object();
    return json;
  }

  /// Appends to an array.
  Json &push(Json element);
  /// Sets a member of an object, after those there; a name is set once.
  Json &set(std::string name, Json member);
  /// A member; null if there is none.
  const Json *find(std::string_view name) const;
  const Object *asObject() const { return std::get_if<Object>(&value); }

  /// Objects take a line a member down to `linesTo` levels, and are on one line below.
  std::string text(int linesTo = 2) const;

private:
  void print(std::string &out, int level, int linesTo) const;

  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array, Object> value;
};

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_JSON_H
