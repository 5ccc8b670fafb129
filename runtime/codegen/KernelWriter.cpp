//===- KernelWriter.cpp - A kernel's form as text -------------------------===//

#include "runtime/codegen/KernelWriter.h"
#include "runtime/codegen/FunctionWriter.h"
#include "runtime/codegen/KernelGenerator.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace coil::codegen {

namespace {

/// "0-3, 8, 10-11"; the end of a long list is only counted.
std::string rankList(const std::vector<uint32_t> &ranks) {
  constexpr size_t mostShown = 8;
  std::string list;
  size_t shown = 0;
  for (size_t i = 0; i < ranks.size(); ++shown) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
      ++last;
    if (shown == mostShown)
      return list + fmt::format(" and {} more", ranks.size() - i);
    list += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
    if (last > i)
      list += fmt::format("-{}", ranks[last]);
    i = last + 1;
  }
  return list;
}

/// The last part of a path.
std::string_view baseName(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// Locations as comments show them: a file by its name alone if no other file of
/// the plan has the same.
std::vector<std::string> shownLocations(const Plan &plan) {
  std::map<std::string_view, std::string_view> pathOfName;
  for (const PlanLocation &location : plan.locations) {
    auto [entry, isNew] = pathOfName.try_emplace(baseName(location.file), location.file);
    if (!isNew && entry->second != location.file)
      entry->second = {};
  }
  std::vector<std::string> shown;
  for (const PlanLocation &location : plan.locations) {
    std::string_view name = baseName(location.file);
    shown.push_back(fmt::format("{}:{}:{}", pathOfName[name].empty() ? location.file : name,
                                location.line, location.column));
  }
  return shown;
}

std::string describeVariant(const Plan &plan, const PlanVariant &variant,
                            device::Protocol protocol) {
  std::string text = fmt::format(
      "{}: {} over {} {}, {} {} a segment; {}, {}", plan.name, nameOf(plan.collective), plan.ranks,
      plan.ranks == 1 ? "rank" : "ranks", plan.chunks, plan.chunks == 1 ? "chunk" : "chunks",
      variant.inPlace ? "in place" : "out of place", nameOf(variant.transport));
  if (variant.transport == Transport::Staged)
    text += fmt::format(", protocol {}", nameOf(protocol));
  if (hasRoot(plan.collective))
    text += fmt::format(", root {}", variant.root);
  return text;
}

std::string_view protocolEnumerator(device::Protocol protocol) {
  switch (protocol) {
  case device::Protocol::Ll:
    return "Protocol::Ll";
  case device::Protocol::Ll128:
    return "Protocol::Ll128";
  default:
    return "Protocol::Simple";
  }
}

/// Says who is at the other side of a worker's ends.
void describeEnds(TextLines &lines, std::string_view what, std::string_view way,
                  const std::vector<EndForm> &ends) {
  constexpr size_t mostShown = 16;
  const std::vector<std::string> stepName{"end"};
  for (size_t i = 0; i < ends.size(); ++i) {
    if (i == mostShown)
      return lines.add(0, fmt::format("///   and {} more {} ends", ends.size() - i, what));
    const EndForm &end = ends[i];
    if (end.endCount == 0)
      continue;
    std::string line = end.endCount == 1
                           ? fmt::format("///   {} end {}: ", what, end.firstEnd)
                           : fmt::format("///   {} end = 0 ... {}: ", what, end.endCount - 1);
    if (!end.rank || !end.worker) {
      lines.add(0, line + "differs from rank to rank");
      continue;
    }
    line += fmt::format("{} {}{}", way, end.rank->isConstant() ? "rank " : "",
                        toText(*end.rank, stepName));
    if (!end.worker->isConstant() || end.worker->base != 0)
      line += fmt::format(", worker {}", toText(*end.worker, stepName));
    lines.add(0, line);
  }
}

std::string functionName(uint32_t classNumber, size_t worker) {
  return fmt::format("rankClass{}Worker{}", classNumber, worker);
}

/// One function, and how the kernel finds it.
struct Function {
  uint32_t classNumber;
  size_t worker;
};

void addDispatch(TextLines &lines, const std::vector<Function> &functions, size_t workersOfAClass,
                 size_t classCount) {
  if (functions.empty())
    return;
  auto call = [](const Function &function) {
    return functionName(function.classNumber, function.worker) + "(worker);";
  };
  if (workersOfAClass == 1 && classCount == 1)
    return lines.add(2, call(functions.front()));
  std::string selector =
      workersOfAClass == 1 ? "worker.rankClass()"
      : classCount == 1    ? "worker.index()"
                        : fmt::format("worker.rankClass() * {} + worker.index()", workersOfAClass);
  lines.add(2, fmt::format("switch ({}) {{", selector));
  for (const Function &function : functions) {
    std::string value = workersOfAClass == 1 ? std::to_string(function.classNumber)
                        : classCount == 1    ? std::to_string(function.worker)
                                             : fmt::format("{} * {} + {}", function.classNumber,
                                                           workersOfAClass, function.worker);
    lines.add(2, fmt::format("case {}:", value));
    lines.add(4, call(function));
    lines.add(4, "break;");
  }
  lines.add(2, "}");
}

} // namespace

std::string kernelName(const Plan &plan, const PlanVariant &variant) {
  constexpr size_t longestName = 64;
  std::string name;
  for (char c : plan.name.substr(0, longestName)) {
    bool isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool isDigit = c >= '0' && c <= '9';
    // A name that begins with a digit is none, and "__" is the compiler's.
    bool isUsual = isLetter || (isDigit && !name.empty());
    if (isUsual || name.empty() || name.back() != '_')
      name += isUsual ? c : '_';
  }
  if (name.empty() || name.front() == '_')
    name.insert(0, "kernel");
  if (name.back() != '_')
    name += '_';
  name += fmt::format("{}_{}", variant.inPlace ? "in_place" : "out_of_place",
                      nameOf(variant.transport));
  if (hasRoot(plan.collective))
    name += fmt::format("_root{}", variant.root);
  return name;
}

Result<std::string> writeKernel(const Plan &plan, const PlanVariant &variant,
                                device::Protocol protocol, std::span<const ClassForm> forms,
                                std::span<const uint32_t> classNumbers) {
  const std::vector<std::string> locations = shownLocations(plan);
  const std::string workerType =
      fmt::format("Worker<Element, Operator, {}>", protocolEnumerator(protocol));
  TextLines lines(maxKernelText);
  lines.add(0, "// " + describeVariant(plan, variant, protocol));
  lines.add(0, "//");
  lines.add(
      0, "// Generated by Coil from the algorithm's plan. The comments name the source's lines,");
  lines.add(0,
            "// and so do the last arguments of what may wait: numbers of the plan's locations.");
  lines.add(0, "#include \"runtime/kernels/device/Worker.h\"");
  lines.add(0, "");
  lines.add(0, "namespace coil::generated {");
  lines.add(0, "");
  lines.add(0, "using namespace coil::device;");
  lines.add(0, "");

  std::vector<Function> functions;
  size_t workersOfAClass = 1;
  for (uint32_t classNumber : classNumbers) {
    const ClassForm &form = forms[classNumber];
    workersOfAClass = std::max(workersOfAClass, form.workers.size());
    for (size_t w = 0; w < form.workers.size() && !lines.isFull(); ++w) {
      const WorkerForm &worker = form.workers[w];
      TextLines statements = FunctionWriter(locations).write(worker);
      if (statements.size() == 0)
        continue;
      functions.push_back({classNumber, w});
      lines.add(0, fmt::format("/// {} {}, worker {}.", form.ranks.size() == 1 ? "Rank" : "Ranks",
                               rankList(form.ranks), w));
      describeEnds(lines, "send", "to", worker.sends);
      describeEnds(lines, "receive", "from", worker.receives);
      lines.add(0, "template <typename Element, typename Operator>");
      lines.add(0, fmt::format("COIL_DEVICE inline void {}({} &worker) {{",
                               functionName(classNumber, w), workerType));
      lines.append(2, statements);
      lines.add(0, "}");
      lines.add(0, "");
    }
  }

  lines.add(0, "template <typename Element, typename Operator>");
  lines.add(0, fmt::format("COIL_KERNEL void {}(COIL_GRID_CONSTANT const Launch launch) {{",
                           kernelName(plan, variant)));
  lines.add(2, fmt::format("{} worker(launch, {});", workerType, plan.chunks));
  addDispatch(lines, functions, workersOfAClass, classNumbers.size());
  lines.add(2, "worker.finish();");
  lines.add(0, "}");
  lines.add(0, "");
  lines.add(0, "} // namespace coil::generated");
  if (lines.isFull())
    return Status::error(StatusCode::Unsupported,
                         "{}: its kernel would have more than {} bytes of text; fewer ranks, or a "
                         "more regular algorithm, give a shorter one",
                         describeVariant(plan, variant, protocol), maxKernelText);
  return lines.text();
}

} // namespace coil::codegen
