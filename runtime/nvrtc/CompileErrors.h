//===- CompileErrors.h - NVRTC's messages with their lines ------*- C++ -*-===//

#ifndef COIL_RUNTIME_NVRTC_COMPILEERRORS_H
#define COIL_RUNTIME_NVRTC_COMPILEERRORS_H

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace coil::nvrtc {

/// NVRTC's log with the source around the line of each error: two lines before and
/// after it, numbered. `sourceOf` gives the text of a file that the log names, or
/// nothing. A long log is cut after some errors.
std::string
explainLog(std::string_view log,
           const std::function<std::optional<std::string_view>(std::string_view file)> &sourceOf);

} // namespace coil::nvrtc

#endif // COIL_RUNTIME_NVRTC_COMPILEERRORS_H
