//===- Instances.cpp - The instances that pass options name ---------------===//

#include "passes/Instances.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

namespace coil {

/// Reads "name=value" as a value of the algorithm's parameter of that name.
static mlir::LogicalResult readParameter(ir::AlgorithmOp algorithm, llvm::StringRef text,
                                         InstanceRequest &request) {
  auto [name, value] = text.split('=');
  if (!text.contains('=') || name.empty())
    return algorithm.emitError() << "expected a parameter and its value, as in 'radix=4', found '"
                                 << text << "'";
  ir::ParameterOp parameter;
  std::string known;
  for (auto each : algorithm.getOps<ir::ParameterOp>()) {
    known += (known.empty() ? "" : ", ") + each.getName().str();
    if (each.getName() == name)
      parameter = each;
  }
  if (!parameter)
    return algorithm.emitError() << "has no parameter '" << name << "'; "
                                 << (known.empty() ? "it has none" : "it has " + known);
  int64_t number = 0;
  if (parameter.getType().isIndex()) {
    if (value.getAsInteger(10, number))
      return parameter.emitError()
             << "parameter '" << name << "' must be an int, found '" << value << "'";
  } else if (value == "true" || value == "false") {
    number = value == "true";
  } else {
    return parameter.emitError() << "parameter '" << name << "' must be true or false, found '"
                                 << value << "'";
  }
  if (!request.parameters.emplace(name.str(), number).second)
    return algorithm.emitError() << "parameter '" << name << "' is given twice";
  return mlir::success();
}

mlir::FailureOr<std::vector<InstanceRequest>> requestsOf(ir::AlgorithmOp algorithm,
                                                         const InstanceOptions &options) {
  InstanceRequest request;
  request.ranks = options.ranks;
  request.nodes = options.nodes;
  int64_t ranks = options.ranks;
  if (ranks < 1 || ranks > (int64_t(1) << 20))
    return algorithm.emitError() << "expected a number of ranks from 1 to " << (1 << 20)
                                 << ", found " << ranks;
  if (options.nodes < 1 || ranks % options.nodes != 0)
    return algorithm.emitError() << "expected a number of nodes that divides the " << ranks
                                 << " ranks, found " << options.nodes;
  bool rooted = static_cast<bool>(algorithm.getRoot());
  if (options.root < -1 || options.root >= ranks)
    return algorithm.emitError() << "expected a root below " << ranks << ", found " << options.root;
  if (!rooted && options.root > 0)
    return algorithm.emitError() << "has no root, but root " << options.root << " is asked for";
  for (llvm::StringRef parameter : options.parameters)
    if (mlir::failed(readParameter(algorithm, parameter, request)))
      return mlir::failure();
  request.root = std::max<int64_t>(options.root, 0);
  if (!rooted || options.root >= 0)
    return std::vector{request};
  std::vector<InstanceRequest> requests(static_cast<size_t>(ranks), request);
  for (int64_t root = 0; root < ranks; ++root)
    requests[static_cast<size_t>(root)].root = root;
  return requests;
}

/// "radix=4", "fast=true", ... of the parameters that were chosen.
static std::vector<std::string> parameterTexts(ir::AlgorithmOp algorithm,
                                               const InstanceRequest &request) {
  std::vector<std::string> texts;
  for (auto parameter : algorithm.getOps<ir::ParameterOp>()) {
    auto chosen = request.parameters.find(parameter.getName().str());
    if (chosen == request.parameters.end())
      continue;
    std::string value = parameter.getType().isIndex() ? fmt::format("{}", chosen->second)
                                                      : fmt::format("{}", chosen->second != 0);
    texts.push_back(fmt::format("{}={}", chosen->first, value));
  }
  return texts;
}

std::string describeInstance(ir::AlgorithmOp algorithm, const InstanceRequest &request) {
  std::string text = fmt::format("with {} rank{}", request.ranks, request.ranks == 1 ? "" : "s");
  if (request.nodes != 1)
    text += fmt::format(" on {} nodes", request.nodes);
  std::vector<std::string> facts;
  if (algorithm.getRoot())
    facts.push_back(fmt::format("root {}", request.root));
  for (std::string &parameter : parameterTexts(algorithm, request))
    facts.push_back(std::move(parameter));
  for (size_t i = 0; i < facts.size(); ++i)
    text += (i + 1 == facts.size() ? " and " : ", ") + facts[i];
  return text;
}

std::string planName(ir::AlgorithmOp algorithm, const InstanceRequest &request) {
  std::vector<std::string> parameters = parameterTexts(algorithm, request);
  std::string name = algorithm.getSymName().str();
  return parameters.empty() ? name : fmt::format("{}({})", name, fmt::join(parameters, ", "));
}

} // namespace coil
