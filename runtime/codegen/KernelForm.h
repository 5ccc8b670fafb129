//===- KernelForm.h - A kernel's text before it is text ---------*- C++ -*-===//
//
// What a generated kernel says: for each rank class and worker, calls and loops
// whose numbers are expressions. The writer prints it, and the expansion gives back
// every rank's operations from it.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CODEGEN_KERNELFORM_H
#define COIL_RUNTIME_CODEGEN_KERNELFORM_H

#include "runtime/codegen/Calls.h"
#include "runtime/codegen/Expressions.h"
#include "runtime/codegen/RankClasses.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace coil::codegen {

/// A reduction of more operands goes through them in a loop, for which they are
/// found one by one: code for many at once needs more registers than there are.
inline constexpr uint32_t mostListedOperands = 4;

struct PlaceForm {
  PlaceKind kind = PlaceKind::Input;
  std::vector<Number> numbers; ///< as PlaceKind says
};

/// A loop over `body`, or what `Leaf` is.
template <typename Leaf> struct FormNode {
  uint32_t trip = 1; ///< above 1: a loop
  std::vector<FormNode> body;
  Leaf leaf;
};

using OperandForm = FormNode<PlaceForm>;

struct CallForm {
  CallKind kind = CallKind::Barrier;
  bool complete = false;
  uint32_t location = 0;
  std::vector<Number> numbers; ///< as CallKind says
  std::optional<PlaceForm> destination;
  /// In order; steps of loops among them are counted inside of the loops around
  /// the call.
  std::vector<OperandForm> operands;
  uint32_t operandCount = 0;
};

using CallNode = FormNode<CallForm>;

/// Who is at the other side of an end; the step of a loop counts ends.
struct EndForm {
  uint32_t firstEnd = 0;
  uint32_t endCount = 1;
  std::optional<Number> rank, worker; ///< nothing: of no rule
};

struct WorkerForm {
  std::array<std::vector<CallNode>, numSections> sections;
  std::vector<EndForm> sends, receives;
};

struct ClassForm {
  std::vector<uint32_t> ranks;
  std::vector<WorkerForm> workers;
  /// What Worker::constant(i) gives: a row for each of `ranks`.
  std::vector<std::vector<uint32_t>> constants;
};

/// The forms of all classes.
std::vector<ClassForm> buildForms(const Plan &plan, const PlanVariant &variant,
                                  const RankClasses &classes);

} // namespace coil::codegen

#endif // COIL_RUNTIME_CODEGEN_KERNELFORM_H
