//===- PlanJson.cpp - Plans for programs to read --------------------------===//

#include "tools/coil-plan/PlanJson.h"

#include "runtime/plan/PlanFile.h"

#include <fmt/format.h>
#include <iterator>
#include <string_view>

namespace coil {

namespace {

/// A plan's strings have no control characters, so these two are all to escape.
std::string quoted(std::string_view string) {
  std::string text = "\"";
  for (char c : string) {
    if (c == '"' || c == '\\')
      text += '\\';
    text += c;
  }
  return text + '"';
}

class JsonPrinter {
public:
  JsonPrinter(const Plan &plan, std::string &text) : plan(plan), text(text) {}

  void print(std::optional<size_t> onlyVariant) {
    put("{{\n  \"name\": {},\n  \"collective\": \"{}\",\n  \"ranks\": {},\n  \"chunks\": {},\n",
        quoted(plan.name), nameOf(plan.collective), plan.ranks, plan.chunks);
    put("  \"producer\": {},\n  \"format_version\": {},\n  \"digest\": \"{:016x}\",\n",
        quoted(plan.producer), planFormatVersion, plan.digest);
    if (plan.protocol)
      put("  \"protocol\": \"{}\",\n", nameOf(*plan.protocol));
    if (plan.collective == Collective::Custom)
      putContract(plan.contract);
    put("  \"locations\": ");
    putList(plan.locations, 2, [this](const PlanLocation &location) {
      put("{{\"file\": {}, \"line\": {}, \"column\": {}}}", quoted(location.file), location.line,
          location.column);
    });
    put(",\n  \"variants\": ");
    std::vector<size_t> numbers;
    for (size_t i = 0; i < plan.variants.size(); ++i)
      if (!onlyVariant || *onlyVariant == i)
        numbers.push_back(i);
    putList(numbers, 2, [this](size_t number) { putVariant(number); });
    put("\n}}\n");
  }

private:
  template <typename... Args> void put(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }

  /// An array with one element a line; the array itself is indented by `indent`.
  template <typename T, typename PutElement>
  void putList(const std::vector<T> &elements, size_t indent, PutElement putElement) {
    std::string_view separator = "[";
    for (const T &element : elements) {
      put("{}\n{:{}}", separator, "", indent + 2);
      putElement(element);
      separator = ",";
    }
    if (elements.empty())
      put("[]");
    else
      put("\n{:{}}]", "", indent);
  }

  void putContract(const OwnContract &contract) {
    put("  \"contract\": {{\"input_segments\": {}, \"output_segments\": {},\n   \"promises\": ",
        contract.inputSegments, contract.outputSegments);
    putList(contract.promises, 3, [&](const OwnContract::Promise &promise) {
      put("{{\"rank\": {}, \"segment\": {}, \"sources\": [", promise.rank, promise.segment);
      std::string_view separator = "";
      for (const OwnContract::Source &source : contract.sourcesOf(promise)) {
        put("{}{{\"rank\": {}, \"segment\": {}}}", separator, source.rank, source.segment);
        separator = ", ";
      }
      put("]}}");
    });
    put("}},\n");
  }

  void putNumbers(const std::vector<uint32_t> &numbers) { put("[{}]", fmt::join(numbers, ", ")); }

  void putVariant(size_t number) {
    const PlanVariant &variant = plan.variants[number];
    put("{{\"number\": {}, \"root\": {}, \"in_place\": {}, \"transport\": \"{}\",\n", number,
        variant.root, variant.inPlace, nameOf(variant.transport));
    put("     \"symmetry\": ");
    putList(variant.digits, 5, [this](const SymmetryDigit &digit) {
      put("{{\"weight\": {}, \"radix\": {}, \"chunk_weight\": {}}}", digit.weight, digit.radix,
          digit.chunkWeight);
    });
    put(",\n     \"program_of_kind\": ");
    putNumbers(variant.programOfKind);
    put(",\n     \"scratch_chunks\": ");
    putNumbers(variant.scratchChunks);
    put(",\n     \"channels\": ");
    putList(variant.channels, 5, [this](const PlanChannel &channel) {
      put("{{\"source_rank\": {}, \"source_worker\": {}, \"destination_rank\": {}, "
          "\"destination_worker\": {}, \"transport\": \"{}\", \"slots\": {}}}",
          channel.sourceRank, channel.sourceWorker, channel.destinationRank,
          channel.destinationWorker, nameOf(channel.transport), channel.slots);
    });
    put(",\n     \"programs\": ");
    putList(variant.programs, 5, [this](const PlanProgram &program) {
      put("{{\"workers\": ");
      putList(program.workers, 7, [this](const PlanWorker &worker) { putWorker(worker); });
      put("}}");
    });
    put("}}");
  }

  void putWorker(const PlanWorker &worker) {
    put("{{\"prologue\": ");
    putOps(worker, worker.prologue);
    put(",\n          \"body\": ");
    putOps(worker, worker.body);
    put(",\n          \"epilogue\": ");
    putOps(worker, worker.epilogue);
    put("}}");
  }

  void putOps(const PlanWorker &worker, const std::vector<PlanOp> &ops) {
    putList(ops, 10, [&](const PlanOp &op) { putOp(worker, op); });
  }

  void putOp(const PlanWorker &worker, const PlanOp &op) {
    put("{{\"kind\": \"{}\"", nameOf(op.kind));
    if (op.operandCount > 0) {
      std::string_view separator = "";
      put(", \"operands\": [");
      for (uint32_t i = 0; i < op.operandCount; ++i) {
        put("{}", separator);
        putOperand(worker.operands[op.firstOperand + i]);
        separator = ", ";
      }
      put("]");
    }
    bool waitsOnly = op.kind == OpKind::Signal || op.kind == OpKind::Wait ||
                     op.kind == OpKind::Meet || op.kind == OpKind::Barrier;
    if (!waitsOnly && op.kind != OpKind::Push) {
      put(", \"destination\": ");
      putOperand(op.destination);
    }
    if (op.kind == OpKind::Push || op.kind == OpKind::Signal || op.kind == OpKind::Wait)
      put(", \"channel\": {}", op.channel);
    if (!waitsOnly)
      put(", \"length\": {}", op.length);
    if (op.kind == OpKind::Reduce || op.kind == OpKind::GetReduce || op.kind == OpKind::PopReduce)
      put(", \"complete\": {}", op.complete);
    if (!plan.locations.empty())
      put(", \"location\": {}", op.location);
    put("}}");
  }

  void putOperand(const PlanOperand &operand) {
    put("{{\"kind\": \"{}\", \"rank\": {}, \"index\": {}}}", nameOf(operand.kind), operand.rank,
        operand.index);
  }

  const Plan &plan;
  std::string &text;
};

} // namespace

std::string planJson(const Plan &plan, std::optional<size_t> onlyVariant) {
  std::string text;
  JsonPrinter(plan, text).print(onlyVariant);
  return text;
}

} // namespace coil
