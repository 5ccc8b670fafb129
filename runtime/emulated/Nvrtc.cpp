//===- Nvrtc.cpp - NVRTC's functions --------------------------------------===//
//
// What is a cubin here is a shared object for the host. There is no PTX.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulated/Faults.h"
#include "runtime/emulated/Handles.h"
#include "runtime/emulated/HostCompiler.h"
#include "runtime/emulated/Machine.h"
#include "runtime/nvrtc/NvrtcAbi.h"

#include <cctype>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <optional>

using namespace coil::emulated;
using coil::nvrtc::NvrtcProgram;
using coil::nvrtc::NvrtcResult;

#define COIL_DECLARE_NVRTC_FUNCTION(name, result, parameters) extern "C" result name parameters;
COIL_NVRTC_FUNCTIONS(COIL_DECLARE_NVRTC_FUNCTION)
#undef COIL_DECLARE_NVRTC_FUNCTION

namespace {

/// The architectures of NVRTC 13.
constexpr int knownArchs[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

struct Program {
  std::mutex mutex;
  HostProgram source;
  std::optional<HostObject> object; ///< once compiled
};

using ProgramTable = HandleTable<Program, NvrtcProgram>;

ProgramTable &programs() {
  static auto *table = new ProgramTable; // outlives main(), as the driver's tables do
  return *table;
}

/// Counts the call, and keeps exceptions inside.
template <typename Body> NvrtcResult enterCompiler(const char *function, Body body) {
  if (const std::string &error = configurationError(); !error.empty()) {
    std::fprintf(stderr, "emulated CUDA: %s\n", error.c_str());
    return NvrtcResult::InternalError;
  }
  if (int fault = countCall(function))
    return static_cast<NvrtcResult>(fault);
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return NvrtcResult::OutOfMemory;
  } catch (...) {
    return NvrtcResult::InternalError;
  }
}

/// Runs body(program) under the program's lock.
template <typename Body>
NvrtcResult enterProgram(const char *function, NvrtcProgram *handle, Body body) {
  return enterCompiler(function, [&] {
    std::shared_ptr<Program> program = programs().find(handle);
    if (!program)
      return NvrtcResult::InvalidProgram;
    std::lock_guard lock(program->mutex);
    return body(*program);
  });
}

/// A symbol that says which kernel it is, and is another for each kernel.
std::string loweredName(const std::string &expression, std::size_t number) {
  std::string name = fmt::format("kernel{}_", number);
  for (char letter : expression)
    name += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  return name;
}

/// Takes over one option; false if NVRTC has none such.
bool readOption(std::string_view option, Program &program, bool &makesPtx) {
  if (option.starts_with("-D") || option.starts_with("-I")) {
    program.source.options.emplace_back(option);
    return true;
  }
  constexpr std::string_view architecture = "--gpu-architecture=";
  if (option.starts_with(architecture)) {
    option.remove_prefix(architecture.size());
    makesPtx = option.starts_with("compute_");
    return makesPtx || option.starts_with("sm_");
  }
  for (std::string_view known :
       {"--std=", "--fmad=", "--ptxas-options=", "--device-debug", "--generate-line-info",
        "--device-as-default-execution-space", "-default-device", "--extra-device-vectorization",
        "--maxrregcount=", "-lineinfo"})
    if (option.starts_with(known))
      return true;
  return false;
}

} // namespace

const char *nvrtcGetErrorString(NvrtcResult result) {
  switch (result) {
  case NvrtcResult::Success:
    return "NVRTC_SUCCESS";
  case NvrtcResult::OutOfMemory:
    return "NVRTC_ERROR_OUT_OF_MEMORY";
  case NvrtcResult::ProgramCreationFailure:
    return "NVRTC_ERROR_PROGRAM_CREATION_FAILURE";
  case NvrtcResult::InvalidInput:
    return "NVRTC_ERROR_INVALID_INPUT";
  case NvrtcResult::InvalidProgram:
    return "NVRTC_ERROR_INVALID_PROGRAM";
  case NvrtcResult::InvalidOption:
    return "NVRTC_ERROR_INVALID_OPTION";
  case NvrtcResult::Compilation:
    return "NVRTC_ERROR_COMPILATION";
  case NvrtcResult::BuiltinOperationFailure:
    return "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE";
  case NvrtcResult::NoNameExpressionsAfterCompilation:
    return "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
  case NvrtcResult::NoLoweredNamesBeforeCompilation:
    return "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
  case NvrtcResult::NameExpressionNotValid:
    return "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
  case NvrtcResult::InternalError:
    return "NVRTC_ERROR_INTERNAL_ERROR";
  }
  return "NVRTC_ERROR unknown";
}

NvrtcResult nvrtcVersion(int *major, int *minor) {
  return enterCompiler("nvrtcVersion", [&] {
    if (!major || !minor)
      return NvrtcResult::InvalidInput;
    *major = 13;
    *minor = 0;
    return NvrtcResult::Success;
  });
}

NvrtcResult nvrtcGetNumSupportedArchs(int *count) {
  return enterCompiler("nvrtcGetNumSupportedArchs", [&] {
    if (!count)
      return NvrtcResult::InvalidInput;
    *count = static_cast<int>(std::size(knownArchs));
    return NvrtcResult::Success;
  });
}

NvrtcResult nvrtcGetSupportedArchs(int *archs) {
  return enterCompiler("nvrtcGetSupportedArchs", [&] {
    if (!archs)
      return NvrtcResult::InvalidInput;
    std::copy(std::begin(knownArchs), std::end(knownArchs), archs);
    return NvrtcResult::Success;
  });
}

NvrtcResult nvrtcCreateProgram(NvrtcProgram **program, const char *source, const char *name,
                               int headerCount, const char *const *headers,
                               const char *const *includeNames) {
  return enterCompiler("nvrtcCreateProgram", [&] {
    if (!program || !source || headerCount < 0 || (headerCount > 0 && (!headers || !includeNames)))
      return NvrtcResult::InvalidInput;
    auto made = std::make_shared<Program>();
    made->source.name = name && *name ? name : "default_program";
    made->source.text = source;
    for (int i = 0; i < headerCount; ++i) {
      if (!headers[i] || !includeNames[i])
        return NvrtcResult::InvalidInput;
      made->source.headers.push_back({includeNames[i], headers[i]});
    }
    *program = programs().add(std::move(made));
    return NvrtcResult::Success;
  });
}

NvrtcResult nvrtcDestroyProgram(NvrtcProgram **program) {
  return enterCompiler("nvrtcDestroyProgram", [&] {
    if (!program || !programs().remove(*program))
      return NvrtcResult::InvalidProgram;
    *program = nullptr;
    return NvrtcResult::Success;
  });
}

NvrtcResult nvrtcAddNameExpression(NvrtcProgram *handle, const char *expression) {
  return enterProgram("nvrtcAddNameExpression", handle, [&](Program &program) {
    if (!expression)
      return NvrtcResult::InvalidInput;
    if (program.object)
      return NvrtcResult::NoNameExpressionsAfterCompilation;
    HostProgram &source = program.source;
    source.kernels.emplace_back(expression);
    source.loweredNames.push_back(loweredName(expression, source.kernels.size() - 1));
    return NvrtcResult::Success;
  });
}

NvrtcResult nvrtcCompileProgram(NvrtcProgram *handle, int optionCount, const char *const *options) {
  return enterProgram("nvrtcCompileProgram", handle, [&](Program &program) {
    if (optionCount < 0 || (optionCount > 0 && !options))
      return NvrtcResult::InvalidInput;
    program.source.options.clear();
    bool makesPtx = false;
    for (int i = 0; i < optionCount; ++i)
      if (!options[i] || !readOption(options[i], program, makesPtx)) {
        program.object = HostObject{
            {}, fmt::format("error: unknown option '{}'\n", options[i] ? options[i] : "")};
        return NvrtcResult::InvalidOption;
      }
    program.object =
        makesPtx ? HostObject{{}, "error: the stand-in for NVRTC makes no PTX; compile for sm_XX\n"}
                 : compileForHost(program.source);
    return program.object->bytes.empty() ? NvrtcResult::Compilation : NvrtcResult::Success;
  });
}

NvrtcResult nvrtcGetLoweredName(NvrtcProgram *handle, const char *expression,
                                const char **loweredName) {
  return enterProgram("nvrtcGetLoweredName", handle, [&](Program &program) {
    if (!expression || !loweredName)
      return NvrtcResult::InvalidInput;
    if (!program.object || program.object->bytes.empty())
      return NvrtcResult::NoLoweredNamesBeforeCompilation;
    const HostProgram &source = program.source;
    for (std::size_t i = 0; i < source.kernels.size(); ++i)
      if (source.kernels[i] == expression) {
        *loweredName = source.loweredNames[i].c_str();
        return NvrtcResult::Success;
      }
    return NvrtcResult::NameExpressionNotValid;
  });
}

NvrtcResult nvrtcGetPTXSize(NvrtcProgram *handle, std::size_t *size) {
  return enterProgram("nvrtcGetPTXSize", handle,
                      [&](Program &) { return NvrtcResult::InvalidInput; });
}

NvrtcResult nvrtcGetPTX(NvrtcProgram *handle, char *ptx) {
  return enterProgram("nvrtcGetPTX", handle, [&](Program &) { return NvrtcResult::InvalidInput; });
}

NvrtcResult nvrtcGetCUBINSize(NvrtcProgram *handle, std::size_t *size) {
  return enterProgram("nvrtcGetCUBINSize", handle, [&](Program &program) {
    if (!size)
      return NvrtcResult::InvalidInput;
    *size = program.object ? program.object->bytes.size() : 0;
    return NvrtcResult::Success;
  });
}

NvrtcResult nvrtcGetCUBIN(NvrtcProgram *handle, char *cubin) {
  return enterProgram("nvrtcGetCUBIN", handle, [&](Program &program) {
    if (!cubin || !program.object || program.object->bytes.empty())
      return NvrtcResult::InvalidInput;
    std::memcpy(cubin, program.object->bytes.data(), program.object->bytes.size());
    return NvrtcResult::Success;
  });
}

NvrtcResult nvrtcGetProgramLogSize(NvrtcProgram *handle, std::size_t *size) {
  return enterProgram("nvrtcGetProgramLogSize", handle, [&](Program &program) {
    if (!size)
      return NvrtcResult::InvalidInput;
    *size = (program.object ? program.object->log.size() : 0) + 1;
    return NvrtcResult::Success;
  });
}

NvrtcResult nvrtcGetProgramLog(NvrtcProgram *handle, char *log) {
  return enterProgram("nvrtcGetProgramLog", handle, [&](Program &program) {
    if (!log)
      return NvrtcResult::InvalidInput;
    const std::string text = program.object ? program.object->log : std::string();
    std::memcpy(log, text.c_str(), text.size() + 1);
    return NvrtcResult::Success;
  });
}
