//===- Status.h - The runtime's one way to report an error ------*- C++ -*-===//
//
// A Status is a code and a message that says where, what was expected and what
// was found. A Result<T> is a Status or a value. Neither throws.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_BASE_STATUS_H
#define COIL_RUNTIME_BASE_STATUS_H

#include <cassert>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace coil {

/// Mirrors coilResult_t of the C API, value for value (runtime/api checks it).
enum class StatusCode : int {
  Ok = 0,
  SystemError = 1,     ///< a call to the operating system failed
  InternalError = 2,   ///< a bug in Coil
  InvalidArgument = 3, ///< an argument that can never be right
  InvalidUsage = 4,    ///< a right argument at a wrong time, or that ranks disagree on
  InvalidPlan = 5,     ///< a plan that is damaged, of another version, or does not fit
  RemoteError = 6,     ///< another rank failed, died or left
  Timeout = 7,         ///< a rank did not come within the time allowed
  Aborted = 8,         ///< the communicator was aborted by the user
  Unsupported = 9,     ///< a right request that this build or machine cannot serve
};

/// The code's name as a user reads it, such as "invalid argument".
const char *statusCodeName(StatusCode code);

class [[nodiscard]] Status {
public:
  /// Success; costs no allocation.
  Status() = default;
  Status(StatusCode code, std::string message)
      : state(std::make_unique<State>(State{code, std::move(message)})) {
    assert(code != StatusCode::Ok && "a success carries no message");
  }

  static Status ok() { return {}; }

  /// An error whose message is formatted as by fmt::format.
  template <typename... Args>
  static Status error(StatusCode code, fmt::format_string<Args...> format, Args &&...args) {
    return {code, fmt::format(format, std::forward<Args>(args)...)};
  }

  /// A SystemError that ends in the text of `errorNumber` (an errno value).
  template <typename... Args>
  static Status system(int errorNumber, fmt::format_string<Args...> format, Args &&...args) {
    return systemError(errorNumber, fmt::format(format, std::forward<Args>(args)...));
  }

  bool isOk() const { return !state; }
  explicit operator bool() const = delete; // say isOk()
  StatusCode code() const { return state ? state->code : StatusCode::Ok; }
  /// Empty for a success.
  const std::string &message() const;

  /// The same error, its message preceded by "<context>: ".
  Status withContext(std::string_view context) &&;

private:
  static Status systemError(int errorNumber, std::string what);

  struct State {
    StatusCode code;
    std::string message;
  };
  std::unique_ptr<State> state;
};

template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Status status) : failure(std::move(status)) {
    assert(!failure.isOk() && "a result without a value needs an error");
  }

  bool isOk() const { return failure.isOk(); }
  const Status &status() const & { return failure; }
  Status status() && { return std::move(failure); }

  T &operator*() & { return *value; }
  const T &operator*() const & { return *value; }
  T &&operator*() && { return std::move(*value); }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

private:
  Status failure;
  std::optional<T> value;
};

} // namespace coil

/// Leaves the enclosing function with the error, if there is one.
#define COIL_RETURN_IF_ERROR(expression)                                                           \
  do {                                                                                             \
    if (::coil::Status coilStatus_ = (expression); !coilStatus_.isOk())                            \
      return coilStatus_;                                                                          \
  } while (false)

#define COIL_CONCAT_IMPL(a, b) a##b
#define COIL_CONCAT(a, b) COIL_CONCAT_IMPL(a, b)

/// Declares `target` from a Result's value, or leaves with its error.
#define COIL_ASSIGN_OR_RETURN(target, expression)                                                  \
  COIL_ASSIGN_OR_RETURN_IMPL(COIL_CONCAT(coilResult_, __LINE__), target, expression)
#define COIL_ASSIGN_OR_RETURN_IMPL(result, target, expression)                                     \
  auto result = (expression);                                                                      \
  if (!result.isOk())                                                                              \
    return std::move(result).status();                                                             \
  target = *std::move(result)

#endif // COIL_RUNTIME_BASE_STATUS_H
