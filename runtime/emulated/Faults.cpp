//===- Faults.cpp - Calls that are made to fail ---------------------------===//

#include "runtime/emulated/Faults.h"
#include "runtime/emulated/Errors.h"
#include "runtime/nvrtc/NvrtcAbi.h"

#include <charconv>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace coil::emulated {

namespace {

constexpr int exitProcess = -1;
constexpr int exitStatus = 3;

struct Fault {
  unsigned call; ///< the first is 1
  int result;
};

struct FaultTable {
  std::mutex mutex;
  std::map<std::string, std::vector<Fault>, std::less<>> faults;
  std::map<std::string, unsigned, std::less<>> calls;
};

FaultTable &table() {
  static FaultTable *table = new FaultTable;
  return *table;
}

bool isFunction(std::string_view name) {
#define COIL_IS_DRIVER_FUNCTION(function, parameters)                                              \
  if (name == #function)                                                                           \
    return true;
  COIL_DRIVER_FUNCTIONS(COIL_IS_DRIVER_FUNCTION)
#undef COIL_IS_DRIVER_FUNCTION
#define COIL_IS_NVRTC_FUNCTION(function, result, parameters)                                       \
  if (name == #function)                                                                           \
    return true;
  COIL_NVRTC_FUNCTIONS(COIL_IS_NVRTC_FUNCTION)
#undef COIL_IS_NVRTC_FUNCTION
  return false;
}

/// The number of an error, 0 if there is none of that name.
int resultNamed(std::string_view function, std::string_view name) {
  using nvrtc::NvrtcResult;
  if (name == "exit")
    return exitProcess;
  if (!function.starts_with("nvrtc")) {
    std::optional<DriverResult> result = errorNamed(name);
    return result ? static_cast<int>(*result) : 0;
  }
  constexpr std::pair<std::string_view, NvrtcResult> names[] = {
      {"out_of_memory", NvrtcResult::OutOfMemory},
      {"program_creation_failure", NvrtcResult::ProgramCreationFailure},
      {"invalid_input", NvrtcResult::InvalidInput},
      {"compilation", NvrtcResult::Compilation},
      {"internal_error", NvrtcResult::InternalError},
  };
  for (auto [known, result] : names)
    if (known == name)
      return static_cast<int>(result);
  return 0;
}

} // namespace

std::string readFaults(const std::string &text) {
  std::map<std::string, std::vector<Fault>, std::less<>> faults;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    std::size_t colon = item.find(':'), equals = item.find('=');
    if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon)
      return fmt::format("COIL_EMULATED_FAULTS: expected 'function:call=error', found '{}'", item);
    std::string_view function = item.substr(0, colon), error = item.substr(equals + 1);
    std::string_view number = item.substr(colon + 1, equals - colon - 1);
    if (!isFunction(function))
      return fmt::format("COIL_EMULATED_FAULTS: there is no function '{}'", function);
    Fault fault{};
    auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), fault.call);
    if (failure != std::errc() || end != number.data() + number.size() || fault.call == 0)
      return fmt::format("COIL_EMULATED_FAULTS: expected the number of a call of {}, from 1, found "
                         "'{}'",
                         function, number);
    fault.result = resultNamed(function, error);
    if (fault.result == 0)
      return fmt::format("COIL_EMULATED_FAULTS: {} has no error '{}'", function, error);
    faults[std::string(function)].push_back(fault);
  }
  std::lock_guard lock(table().mutex);
  table().faults = std::move(faults);
  table().calls.clear();
  return {};
}

int countCall(const char *function) {
  FaultTable &all = table();
  std::lock_guard lock(all.mutex);
  auto faults = all.faults.find(std::string_view(function));
  if (faults == all.faults.end())
    return 0;
  unsigned call = ++all.calls[function];
  for (const Fault &fault : faults->second)
    if (fault.call == call) {
      if (fault.result == exitProcess)
        _exit(exitStatus);
      return fault.result;
    }
  return 0;
}

} // namespace coil::emulated
