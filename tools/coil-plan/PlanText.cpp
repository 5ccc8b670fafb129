//===- PlanText.cpp - Plans for people to read ----------------------------===//

#include "tools/coil-plan/PlanText.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <string_view>

namespace coil {

namespace {

std::string counted(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string describeVariant(const Plan &plan, const PlanVariant &variant) {
  std::string text = fmt::format("{}, {}", variant.inPlace ? "in place" : "out of place",
                                 nameOf(variant.transport));
  if (hasRoot(plan.collective))
    text += fmt::format(", root {}", variant.root);
  return text;
}

/// Ascending ranks with runs drawn together: "rank 3", "ranks 0-3, 7".
std::string describeRanks(const std::vector<uint32_t> &ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
      ++last;
    if (i > 0)
      text += ", ";
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

/// Prints the operations of one worker.
class WorkerPrinter {
public:
  WorkerPrinter(const Plan &plan, const PlanWorker &worker, uint32_t rank, std::string &text)
      : plan(plan), worker(worker), rank(rank), text(text) {}

  void printSection(const char *name, const std::vector<PlanOp> &ops) {
    if (ops.empty())
      return;
    fmt::format_to(std::back_inserter(text), "      {}\n", name);
    for (const PlanOp &op : ops) {
      std::string line = fmt::format("        {}", nameOf(op.kind));
      printFields(op, line);
      if (op.location < plan.locations.size()) {
        const PlanLocation &location = plan.locations[op.location];
        line =
            fmt::format("{:<66}  // {}:{}:{}", line, location.file, location.line, location.column);
      }
      text += line + '\n';
    }
  }

private:
  void printFields(const PlanOp &op, std::string &line) const {
    auto out = std::back_inserter(line);
    switch (op.kind) {
    case OpKind::Signal:
    case OpKind::Wait:
      fmt::format_to(out, " c{}", op.channel);
      return;
    case OpKind::Barrier:
      return;
    case OpKind::Meet:
      line += " [";
      for (uint32_t i = 0; i < op.operandCount; ++i)
        fmt::format_to(out, "{}{}", i == 0 ? "" : ", ", operandOf(op, i).rank);
      line += ']';
      return;
    case OpKind::Pop:
      fmt::format_to(out, " via c{}", operandOf(op, 0).index);
      break;
    default:
      for (uint32_t i = 0; i < op.operandCount; ++i)
        fmt::format_to(out, "{} {}", i == 0 ? "" : ",", describe(operandOf(op, i)));
    }
    if (op.kind == OpKind::Push)
      fmt::format_to(out, " via c{}", op.channel);
    else
      fmt::format_to(out, " to {}", describe(op.destination));
    fmt::format_to(out, " length {}{}", op.length, op.complete ? " complete" : "");
  }

  const PlanOperand &operandOf(const PlanOp &op, uint32_t i) const {
    return worker.operands[op.firstOperand + i];
  }

  std::string describe(const PlanOperand &operand) const {
    if (operand.kind == OperandKind::Slot)
      return fmt::format("head c{}", operand.index);
    std::string place = fmt::format("{}[{}]", nameOf(operand.kind), operand.index);
    if (operand.rank != rank)
      place += fmt::format(" on {}", operand.rank);
    return place;
  }

  const Plan &plan;
  const PlanWorker &worker;
  uint32_t rank;
  std::string &text;
};

void printContract(const OwnContract &contract, std::string &text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "contract: {} of input, {} of output\n",
                 counted(contract.inputSegments, "segment"), contract.outputSegments);
  for (const OwnContract::Promise &promise : contract.promises) {
    fmt::format_to(out, "  output[{}] on {} is", promise.segment, promise.rank);
    std::string_view separator = "";
    for (const OwnContract::Source &source : contract.sourcesOf(promise)) {
      fmt::format_to(out, "{} input[{}] on {}", separator, source.segment, source.rank);
      separator = " +";
    }
    text += '\n';
  }
}

/// For each entry of `numberOfKind`, which is below `numbers`, the ranks of its kinds.
std::vector<std::vector<uint32_t>> ranksByNumber(const Plan &plan, const Symmetry &symmetry,
                                                 const std::vector<uint32_t> &numberOfKind,
                                                 size_t numbers) {
  std::vector<std::vector<uint32_t>> ranks(numbers);
  for (uint32_t rank = 0; rank < plan.ranks; ++rank)
    ranks[numberOfKind[static_cast<size_t>(symmetry.kindOf(rank))]].push_back(rank);
  return ranks;
}

void printVariant(const Plan &plan, size_t number, std::string &text) {
  const PlanVariant &variant = plan.variants[number];
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\nvariant {}: {}\n", number, describeVariant(plan, variant));
  if (!variant.digits.empty()) {
    text += "  symmetry";
    for (const SymmetryDigit &digit : variant.digits)
      fmt::format_to(out, "{} weight {} radix {} chunks {}",
                     &digit == variant.digits.data() ? "" : ",", digit.weight, digit.radix,
                     digit.chunkWeight);
    text += '\n';
  }
  for (size_t i = 0; i < variant.channels.size(); ++i) {
    const PlanChannel &channel = variant.channels[i];
    fmt::format_to(out, "  channel c{} from {} : {} to {} : {}", i, channel.sourceRank,
                   channel.sourceWorker, channel.destinationRank, channel.destinationWorker);
    if (channel.transport == Transport::Staged)
      fmt::format_to(out, " slots {}", channel.slots);
    text += '\n';
  }

  Symmetry symmetry(plan.ranks, variant.digits);
  std::map<uint32_t, std::vector<uint32_t>> ranksByScratch;
  for (uint32_t rank = 0; rank < plan.ranks; ++rank)
    if (uint32_t chunks = variant.scratchChunks[static_cast<size_t>(symmetry.kindOf(rank))])
      ranksByScratch[chunks].push_back(rank);
  for (const auto &[chunks, ranks] : ranksByScratch)
    fmt::format_to(out, "  scratch {} on {}\n", counted(chunks, "chunk"), describeRanks(ranks));

  std::vector<std::vector<uint32_t>> ranksOf =
      ranksByNumber(plan, symmetry, variant.programOfKind, variant.programs.size());
  for (size_t i = 0; i < variant.programs.size(); ++i) {
    fmt::format_to(out, "  program {} of {}", i, describeRanks(ranksOf[i]));
    if (!symmetry.isTrivial())
      fmt::format_to(out, ", as rank {} runs it", ranksOf[i].front());
    text += '\n';
    const std::vector<PlanWorker> &workers = variant.programs[i].workers;
    for (size_t w = 0; w < workers.size(); ++w) {
      fmt::format_to(out, "    worker {}\n", w);
      WorkerPrinter printer(plan, workers[w], ranksOf[i].front(), text);
      printer.printSection("prologue", workers[w].prologue);
      printer.printSection("body", workers[w].body);
      printer.printSection("epilogue", workers[w].epilogue);
    }
  }
}

/// "3 ops", or "0 to 3 ops" if the counts differ.
template <typename Counts> std::string describeRange(const Counts &counts, std::string_view what) {
  auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  std::string range = counted(*most, what);
  return *least == *most ? range : fmt::format("{} to {}", *least, range);
}

uint64_t countOps(const PlanProgram &program) {
  uint64_t ops = 0;
  for (const PlanWorker &worker : program.workers)
    ops += worker.prologue.size() + worker.body.size() + worker.epilogue.size();
  return ops;
}

} // namespace

std::string planText(const Plan &plan, std::optional<size_t> onlyVariant) {
  std::string text = fmt::format("plan \"{}\" implements {} ranks {} chunks {}\n", plan.name,
                                 nameOf(plan.collective), plan.ranks, plan.chunks);
  fmt::format_to(std::back_inserter(text), "digest {:#018x}, written by \"{}\"\n", plan.digest,
                 plan.producer);
  if (plan.protocol)
    fmt::format_to(std::back_inserter(text), "messages on GPUs by protocol {}\n",
                   nameOf(*plan.protocol));
  if (plan.collective == Collective::Custom)
    printContract(plan.contract, text);
  for (size_t i = 0; i < plan.variants.size(); ++i)
    if (!onlyVariant || *onlyVariant == i)
      printVariant(plan, i, text);
  return text;
}

std::string planInfo(const Plan &plan) {
  std::string text = fmt::format("name        {}\n"
                                 "collective  {}\n"
                                 "ranks       {}\n"
                                 "chunks      {}\n"
                                 "producer    {}\n"
                                 "digest      {:#018x}\n"
                                 "variants    {}\n",
                                 plan.name, nameOf(plan.collective), plan.ranks, plan.chunks,
                                 plan.producer, plan.digest, plan.variants.size());
  if (plan.protocol)
    text += fmt::format("protocol    {}\n", nameOf(*plan.protocol));
  if (plan.collective == Collective::Custom)
    text +=
        fmt::format("contract    {} of input, {} of output, {}\n",
                    counted(plan.contract.inputSegments, "segment"), plan.contract.outputSegments,
                    counted(plan.contract.promises.size(), "promise"));
  for (size_t i = 0; i < plan.variants.size(); ++i) {
    const PlanVariant &variant = plan.variants[i];
    std::vector<uint64_t> ops, workers;
    for (const PlanProgram &program : variant.programs) {
      ops.push_back(countOps(program));
      workers.push_back(program.workers.size());
    }
    fmt::format_to(std::back_inserter(text), "  {}: {}\n     {}, {}; a rank: {}, {}, {}\n", i,
                   describeVariant(plan, variant), counted(variant.programs.size(), "program"),
                   counted(variant.channels.size(), "channel"), describeRange(workers, "worker"),
                   describeRange(ops, "op"), describeRange(variant.scratchChunks, "scratch chunk"));
  }
  return text;
}

std::string planSummary(const Plan &plan) {
  return fmt::format("plan \"{}\" for {}: {}, {}, {}, digest {:#018x}", plan.name,
                     nameOf(plan.collective), counted(plan.ranks, "rank"),
                     counted(plan.chunks, "chunk"), counted(plan.variants.size(), "variant"),
                     plan.digest);
}

} // namespace coil
