//===- KernelGenerator.h - CUDA C++ text from a plan ------------*- C++ -*-===//
//
// Writes the kernel that runs a variant of a plan on GPUs: readable CUDA C++ that
// calls the device library (runtime/kernels/device) and nothing else. Kernels are
// templates over element type and operator; transport and protocol are fixed.
//
// The text's form is found, not given: ranks whose programs are equal up to
// numbers share a function, repeated operations become loops, and numbers become
// expressions of the rank and the loops' steps. Before a text is returned, its form
// is expanded again for every rank and compared with the plan.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CODEGEN_KERNELGENERATOR_H
#define COIL_RUNTIME_CODEGEN_KERNELGENERATOR_H

#include "runtime/base/Status.h"
#include "runtime/kernels/device/Launch.h"
#include "runtime/plan/Plan.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coil {

/// Bytes that a kernel's text may have; about a hundred characters an operation.
inline constexpr size_t maxKernelText = 1u << 20;

struct GenerateOptions {
  /// How messages lie in slots. A p2p variant has no messages: Simple.
  device::Protocol protocol = device::Protocol::Simple;
  /// The text has the programs of these ranks; empty: of all. Ranks with equal
  /// programs get the same text, so what is compiled can be shared.
  std::vector<uint32_t> ranks;
};

/// A kernel's text, and what the host must know to launch it.
struct GeneratedKernel {
  /// The channels at a worker's ends (PlanVariant::channels), in the order in which
  /// the text counts its send ends and its receive ends.
  struct WorkerEnds {
    std::vector<uint32_t> sends, receives;

    bool operator==(const WorkerEnds &) const = default;
  };
  struct RankFacts {
    uint32_t rankClass = 0;
    /// What Worker::constant(i) gives.
    std::vector<uint32_t> constants;
    std::vector<WorkerEnds> workers;

    bool operator==(const RankFacts &) const = default;
  };

  /// The same for the same plan, variant and options.
  std::string text;
  /// Of the kernel's template in namespace coil::generated: an identifier.
  std::string name;
  Transport transport = Transport::P2P;
  device::Protocol protocol = device::Protocol::Simple;
  /// For every rank of the plan, also those that the text leaves out.
  std::vector<RankFacts> ranks;
  /// Most of any worker.
  uint32_t sendEnds = 0, receiveEnds = 0, peerSlots = 0;
};

/// Generates the kernel for `plan.variants[variant]`; the plan must be valid and, by
/// withAllRanks, without symmetry.
/// Takes time in proportion to the plan's size.
///
/// Errors: InvalidArgument for a variant, rank or protocol that the plan does not
/// have, and for a variant with symmetry; Unsupported if the text would be longer than
/// maxKernelText; InternalError if the text's form does not expand to the plan's operations.
Result<GeneratedKernel> generateKernel(const Plan &plan, size_t variant,
                                       const GenerateOptions &options = {});

/// The name of an instance as C++ writes it, for NVRTC's name expressions:
/// "coil::generated::ring_out_of_place_p2p<float, coil::device::Sum>".
std::string kernelExpression(std::string_view kernelName, DataType type, ReduceOp op);

/// The element type and operator whose instance serves a call: what combines
/// nothing only moves bytes, so one instance serves all types of a size.
struct KernelInstance {
  DataType type = DataType::F32;
  ReduceOp op = ReduceOp::Sum;

  auto operator<=>(const KernelInstance &) const = default;
};
KernelInstance kernelInstance(Collective collective, DataType type, ReduceOp op);

/// The device library's word for a plan's protocol.
constexpr device::Protocol deviceProtocol(MessageProtocol protocol) {
  return static_cast<device::Protocol>(protocol);
}

/// "simple", "ll" and "ll128".
std::string_view nameOf(device::Protocol protocol);

} // namespace coil

#endif // COIL_RUNTIME_CODEGEN_KERNELGENERATOR_H
