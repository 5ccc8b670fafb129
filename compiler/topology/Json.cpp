//===- Json.cpp - Values to be written as JSON ----------------------------===//

#include "compiler/topology/Json.h"

#include "compiler/frontend/Diagnostics.h"

#include <cassert>
#include <cmath>
#include <fmt/format.h>

namespace coil::topology {

Json &Json::push(Json element) { return std::get<Array>(value).emplace_back(std::move(element)); }

Json &Json::set(std::string name, Json member) {
  assert(!find(name) && "a member is set once");
  return std::get<Object>(value).emplace_back(std::move(name), std::move(member)).second;
}

const Json *Json::find(std::string_view name) const {
  if (const Object *object = asObject())
    for (const auto &[key, member] : *object)
      if (key == name)
        return &member;
  return nullptr;
}

std::string Json::text(int linesTo) const {
  std::string out;
  print(out, 0, linesTo);
  return out;
}

void Json::print(std::string &out, int level, int linesTo) const {
  // Between members: a line of its own each, or a blank.
  bool isTall = level < linesTo;
  auto separate = [&](bool isFirst, int indent) {
    if (!isFirst)
      out += ',';
    if (isTall)
      out += '\n' + std::string(size_t(indent) * 2, ' ');
    else if (!isFirst)
      out += ' ';
  };
  if (std::holds_alternative<std::nullptr_t>(value)) {
    out += "null";
  } else if (const bool *truth = std::get_if<bool>(&value)) {
    out += *truth ? "true" : "false";
  } else if (const int64_t *integer = std::get_if<int64_t>(&value)) {
    out += fmt::format("{}", *integer);
  } else if (const double *number = std::get_if<double>(&value)) {
    out += std::isfinite(*number) ? fmt::format("{}", *number) : "null";
  } else if (const std::string *text = std::get_if<std::string>(&value)) {
    out += jsonString(*text);
  } else if (const Array *array = std::get_if<Array>(&value)) {
    out += '[';
    for (const Json &element : *array) {
      separate(&element == array->data(), level + 1);
      element.print(out, level + 1, linesTo);
    }
    if (isTall && !array->empty())
      separate(true, level);
    out += ']';
  } else if (const Object *object = asObject()) {
    out += '{';
    for (const auto &[name, member] : *object) {
      separate(&member == &object->front().second, level + 1);
      out += jsonString(name) + ": ";
      member.print(out, level + 1, linesTo);
    }
    if (isTall && !object->empty())
      separate(true, level);
    out += '}';
  }
}

} // namespace coil::topology
