//===- KernelGenerator.cpp - CUDA C++ text from a plan --------------------===//

#include "runtime/codegen/KernelGenerator.h"
#include "runtime/codegen/Expansion.h"
#include "runtime/codegen/KernelForm.h"
#include "runtime/codegen/KernelWriter.h"
#include "runtime/codegen/RankClasses.h"

#include <algorithm>
#include <array>

namespace coil {

using namespace codegen;

namespace {

Status checkRequest(const Plan &plan, size_t variant, const GenerateOptions &options) {
  if (variant >= plan.variants.size())
    return Status::error(StatusCode::InvalidArgument, "expected a variant below {}, found {}",
                         plan.variants.size(), variant);
  if (static_cast<uint32_t>(options.protocol) >= device::numProtocols)
    return Status::error(StatusCode::InvalidArgument, "unknown protocol {}",
                         static_cast<uint32_t>(options.protocol));
  if (plan.variants[variant].transport == Transport::P2P &&
      options.protocol != device::Protocol::Simple)
    return Status::error(StatusCode::InvalidArgument,
                         "variant {} is p2p and sends no messages: expected protocol simple, "
                         "found {}",
                         variant, nameOf(options.protocol));
  for (uint32_t rank : options.ranks)
    if (rank >= plan.ranks)
      return Status::error(StatusCode::InvalidArgument, "expected a rank below {}, found {}",
                           plan.ranks, rank);
  if (!plan.variants[variant].digits.empty())
    return Status::error(StatusCode::InvalidArgument,
                         "kernels are made from the programs of all ranks: variant {} has those of "
                         "representatives",
                         variant);
  return Status::ok();
}

/// The classes of some ranks, or all, ascending.
std::vector<uint32_t> classesOf(const RankClasses &classes, const std::vector<uint32_t> &ranks) {
  std::vector<uint32_t> numbers;
  if (ranks.empty())
    for (uint32_t i = 0; i < classes.ranksOfClass.size(); ++i)
      numbers.push_back(i);
  for (uint32_t rank : ranks)
    numbers.push_back(classes.classOfRank[rank]);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

} // namespace

Result<GeneratedKernel> generateKernel(const Plan &plan, size_t variantNumber,
                                       const GenerateOptions &options) {
  COIL_RETURN_IF_ERROR(checkRequest(plan, variantNumber, options));
  const PlanVariant &variant = plan.variants[variantNumber];
  RankClasses classes = classifyRanks(plan, variant);
  std::vector<ClassForm> forms = buildForms(plan, variant, classes);

  GeneratedKernel kernel;
  kernel.name = kernelName(plan, variant);
  kernel.transport = variant.transport;
  kernel.protocol = options.protocol;
  kernel.ranks.resize(plan.ranks);
  for (uint32_t number = 0; number < forms.size(); ++number) {
    ClassForm &form = forms[number];
    for (size_t i = 0; i < form.ranks.size(); ++i) {
      GeneratedKernel::RankFacts &facts = kernel.ranks[form.ranks[i]];
      facts.rankClass = number;
      facts.constants = std::move(form.constants[i]);
      for (FlatWorker &worker : classes.programs[form.ranks[i]]) {
        kernel.sendEnds =
            std::max(kernel.sendEnds, static_cast<uint32_t>(worker.ends.sends.size()));
        kernel.receiveEnds =
            std::max(kernel.receiveEnds, static_cast<uint32_t>(worker.ends.receives.size()));
        kernel.peerSlots = std::max(kernel.peerSlots, worker.peerSlots);
        facts.workers.push_back(std::move(worker.ends));
      }
      COIL_RETURN_IF_ERROR(checkExpansion(plan, variant, form, i, facts));
    }
  }
  COIL_ASSIGN_OR_RETURN(kernel.text, writeKernel(plan, variant, options.protocol, forms,
                                                 classesOf(classes, options.ranks)));
  return kernel;
}

std::string kernelExpression(std::string_view kernelName, DataType type, ReduceOp op) {
  constexpr std::array<std::string_view, numDataTypes> elements{"coil::device::i8",
                                                                "coil::device::u8",
                                                                "coil::device::i32",
                                                                "coil::device::u32",
                                                                "coil::device::i64",
                                                                "coil::device::u64",
                                                                "coil::device::Half",
                                                                "float",
                                                                "double",
                                                                "coil::device::BFloat16",
                                                                "coil::device::Float8E4M3",
                                                                "coil::device::Float8E5M2"};
  constexpr std::array<std::string_view, numReduceOps> operators{"Sum", "Prod", "Max",
                                                                 "Min", "Avg",  "PreMulSum"};
  return fmt::format("coil::generated::{}<{}, coil::device::{}>", kernelName,
                     elements[static_cast<size_t>(type)], operators[static_cast<size_t>(op)]);
}

KernelInstance kernelInstance(Collective collective, DataType type, ReduceOp op) {
  if (combines(collective))
    return {type, op};
  switch (sizeOf(type)) {
  case 1:
    return {DataType::U8, ReduceOp::Sum};
  case 2:
    return {DataType::F16, ReduceOp::Sum};
  case 4:
    return {DataType::U32, ReduceOp::Sum};
  default:
    return {DataType::U64, ReduceOp::Sum};
  }
}

static_assert(deviceProtocol(MessageProtocol::Simple) == device::Protocol::Simple &&
              deviceProtocol(MessageProtocol::Ll) == device::Protocol::Ll &&
              deviceProtocol(MessageProtocol::Ll128) == device::Protocol::Ll128 &&
              numMessageProtocols == device::numProtocols);

std::string_view nameOf(device::Protocol protocol) {
  return nameOf(static_cast<MessageProtocol>(protocol));
}

} // namespace coil
