//===- PlanWriter.cpp - Writing plan files --------------------------------===//

#include "compiler/target/plan/PlanWriter.h"

#include "runtime/plan/PlanFile.h"
#include "runtime/plan/plan_generated.h"

#include <map>

namespace coil {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <typename T> using VectorOffset = Offset<flatbuffers::Vector<T>>;

/// Bytes that no plan's FlatBuffer exceeds: the builder asserts where it should
/// fail, so what does not fit must be refused before.
class SizeBound {
public:
  explicit SizeBound(const Plan &plan) {
    addTable();
    addVector(plan.name);
    addVector(plan.producer);
    addTables(plan.variants, [this](const PlanVariant &variant) {
      addVector(variant.channels, sizeof(planfb::Channel));
      addVector(variant.programOfKind, sizeof(uint32_t));
      addVector(variant.scratchChunks, sizeof(uint32_t));
      addVector(variant.digits, sizeof(planfb::Digit));
      addTables(variant.programs, [this](const PlanProgram &program) {
        addTables(program.workers, [this](const PlanWorker &worker) {
          addVector(worker.prologue, sizeof(planfb::Op));
          addVector(worker.body, sizeof(planfb::Op));
          addVector(worker.epilogue, sizeof(planfb::Op));
          addVector(worker.operands, sizeof(planfb::Operand));
        });
      });
    });
    addTables(plan.locations, [this](const PlanLocation &location) { addVector(location.file); });
    addTable();
    addVector(plan.contract.promises, sizeof(planfb::ContractPromise));
    addVector(plan.contract.sources, sizeof(planfb::ContractSource));
  }

  uint64_t bytes = 0;

private:
  /// A table of at most 8 fields with a vtable of its own.
  void addTable() { bytes += 64; }
  template <typename Sequence> void addVector(const Sequence &elements, size_t elementSize = 1) {
    constexpr size_t lengthEndAndPadding = 16;
    bytes += lengthEndAndPadding + elements.size() * elementSize;
  }
  template <typename T, typename AddFields>
  void addTables(const std::vector<T> &tables, AddFields addFields) {
    addVector(tables, sizeof(flatbuffers::uoffset_t));
    for (const T &table : tables) {
      addTable();
      addFields(table);
    }
  }
};

/// Puts a plan's parts into a FlatBuffer, inner parts first. Empty vectors are
/// left out.
class PlanBuilder {
public:
  explicit PlanBuilder(FlatBufferBuilder &builder) : builder(builder) {}

  void build(const Plan &plan) {
    auto name = builder.CreateString(plan.name);
    auto producer = builder.CreateString(plan.producer);
    auto variants =
        tables<planfb::Variant>(plan.variants, [this](const auto &from) { return add(from); });
    auto locations =
        tables<planfb::Location>(plan.locations, [this](const auto &from) { return add(from); });
    Offset<planfb::Contract> contract;
    if (plan.collective == Collective::Custom)
      contract = add(plan.contract);
    auto protocol = planfb::Protocol::Any;
    if (plan.protocol)
      protocol = static_cast<planfb::Protocol>(static_cast<uint8_t>(*plan.protocol) + 1);
    planfb::FinishPlanBuffer(builder, planfb::CreatePlan(builder, name,
                                                         static_cast<uint8_t>(plan.collective),
                                                         plan.ranks, plan.chunks, producer,
                                                         variants, locations, contract, protocol));
  }

private:
  Offset<planfb::Contract> add(const OwnContract &from) {
    auto promises = structs<planfb::ContractPromise>(from.promises);
    auto sources = structs<planfb::ContractSource>(from.sources);
    return planfb::CreateContract(builder, from.inputSegments, from.outputSegments, promises,
                                  sources);
  }

  Offset<planfb::Location> add(const PlanLocation &from) {
    auto file = builder.CreateString(from.file);
    return planfb::CreateLocation(builder, file, from.line, from.column);
  }

  Offset<planfb::Variant> add(const PlanVariant &from) {
    auto channels = structs<planfb::Channel>(from.channels);
    auto programs = tables<planfb::Program>(from.programs,
                                            [this](const auto &program) { return add(program); });
    auto programOfKind = builder.CreateVector(from.programOfKind);
    auto scratchChunks = builder.CreateVector(from.scratchChunks);
    auto digits = structs<planfb::Digit>(from.digits);
    return planfb::CreateVariant(builder, from.root, from.inPlace,
                                 static_cast<planfb::Transport>(from.transport), channels, programs,
                                 programOfKind, scratchChunks, digits);
  }

  Offset<planfb::Program> add(const PlanProgram &from) {
    return planfb::CreateProgram(
        builder,
        tables<planfb::Worker>(from.workers, [this](const auto &worker) { return add(worker); }));
  }

  Offset<planfb::Worker> add(const PlanWorker &from) {
    auto prologue = structs<planfb::Op>(from.prologue);
    auto body = structs<planfb::Op>(from.body);
    auto epilogue = structs<planfb::Op>(from.epilogue);
    auto operands = structs<planfb::Operand>(from.operands);
    return planfb::CreateWorker(builder, prologue, body, epilogue, operands);
  }

  static planfb::Operand toStruct(const PlanOperand &from) {
    return {static_cast<planfb::OperandKind>(from.kind), from.rank, from.index};
  }

  static planfb::Op toStruct(const PlanOp &from) {
    return {static_cast<planfb::OpKind>(from.kind),
            from.complete,
            from.length,
            toStruct(from.destination),
            from.firstOperand,
            from.operandCount,
            from.channel,
            from.location};
  }

  static planfb::ContractPromise toStruct(const OwnContract::Promise &from) {
    return {from.rank, from.segment, from.firstSource, from.sourceCount};
  }

  static planfb::ContractSource toStruct(const OwnContract::Source &from) {
    return {from.rank, from.segment};
  }

  // Digits of a valid plan are below its ranks and chunks.
  static planfb::Digit toStruct(const SymmetryDigit &from) {
    return {static_cast<uint32_t>(from.weight), static_cast<uint32_t>(from.radix),
            static_cast<uint32_t>(from.chunkWeight)};
  }

  static planfb::Channel toStruct(const PlanChannel &from) {
    return {from.sourceRank,
            from.sourceWorker,
            from.destinationRank,
            from.destinationWorker,
            static_cast<planfb::Transport>(from.transport),
            from.slots};
  }

  template <typename Struct, typename T>
  VectorOffset<const Struct *> structs(const std::vector<T> &from) {
    if (from.empty())
      return 0;
    return builder.CreateVectorOfStructs<Struct>(
        from.size(), [&](size_t i, Struct *to) { *to = toStruct(from[i]); });
  }

  template <typename Table, typename T, typename Add>
  VectorOffset<Offset<Table>> tables(const std::vector<T> &from, Add add) {
    if (from.empty())
      return 0;
    std::vector<Offset<Table>> offsets;
    offsets.reserve(from.size());
    for (const T &element : from)
      offsets.push_back(add(element));
    return builder.CreateVector(offsets);
  }

  FlatBufferBuilder &builder;
};

} // namespace

Result<std::vector<uint8_t>> writePlan(const Plan &plan) {
  COIL_RETURN_IF_ERROR(validatePlan(plan));
  uint64_t bound = SizeBound(plan).bytes;
  if (bound >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return Status::error(StatusCode::Unsupported,
                         "the plan needs up to {} bytes: the format holds less than {}", bound,
                         FLATBUFFERS_MAX_BUFFER_SIZE);
  FlatBufferBuilder builder;
  PlanBuilder(builder).build(plan);
  return wrapPlan({builder.GetBufferPointer(), builder.GetSize()});
}

void shareEqualPrograms(PlanVariant &variant) {
  auto less = [](const PlanProgram *a, const PlanProgram *b) { return *a < *b; };
  std::map<const PlanProgram *, uint32_t, decltype(less)> numbers(less);
  std::vector<const PlanProgram *> kept;
  for (uint32_t &program : variant.programOfKind) {
    auto [entry, isNew] =
        numbers.try_emplace(&variant.programs[program], static_cast<uint32_t>(kept.size()));
    if (isNew)
      kept.push_back(entry->first);
    program = entry->second;
  }
  std::vector<PlanProgram> shared;
  shared.reserve(kept.size());
  for (const PlanProgram *program : kept)
    shared.push_back(std::move(variant.programs[program - variant.programs.data()]));
  variant.programs = std::move(shared);
}

} // namespace coil
