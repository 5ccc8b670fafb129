//===- Status.cpp - The runtime's one way to report an error --------------===//

#include "runtime/base/Status.h"

#include <system_error>

namespace coil {

const char *statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "success";
  case StatusCode::SystemError:
    return "system error";
  case StatusCode::InternalError:
    return "internal error";
  case StatusCode::InvalidArgument:
    return "invalid argument";
  case StatusCode::InvalidUsage:
    return "invalid usage";
  case StatusCode::InvalidPlan:
    return "invalid plan";
  case StatusCode::RemoteError:
    return "remote error";
  case StatusCode::Timeout:
    return "timeout";
  case StatusCode::Aborted:
    return "aborted";
  case StatusCode::Unsupported:
    return "unsupported";
  }
  return "unknown status";
}

const std::string &Status::message() const {
  static const std::string empty;
  return state ? state->message : empty;
}

Status Status::withContext(std::string_view context) && {
  if (state)
    state->message = fmt::format("{}: {}", context, state->message);
  return std::move(*this);
}

Status Status::systemError(int errorNumber, std::string what) {
  return {StatusCode::SystemError,
          fmt::format("{}: {}", what, std::generic_category().message(errorNumber))};
}

} // namespace coil
