//===- CombinationOrder.cpp - Where results get the same bits -------------===//

#include "compiler/semantics/CombinationOrder.h"

#include "compiler/semantics/ExecRun.h"
#include "compiler/semantics/ExecSymmetry.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <unordered_map>

namespace coil {

namespace {

/// Numbers expressions so that two values with one number are the same bits, if their inputs are:
/// inputs by rank and segment, and combinations of numbered values. The first two operands may
/// change places, as in the arithmetic of all types. Number 0 is no expression.
class Expressions {
public:
  Expressions() : nodes(1) {}

  uint32_t input(int64_t rank, int64_t segment) {
    return number({-1 - rank, segment}, Node{rank, {}});
  }

  uint32_t combination(std::vector<uint32_t> operands) {
    if (operands.size() == 1)
      return operands[0];
    // Shown in the order with fewer parentheses.
    if (operands.size() == 2 && !isCombination(operands[0]) && isCombination(operands[1]))
      std::swap(operands[0], operands[1]);
    std::vector<int64_t> key(operands.begin(), operands.end());
    if (key[0] > key[1])
      std::swap(key[0], key[1]);
    return number(std::move(key), Node{-1, std::move(operands)});
  }

  bool isCombination(uint32_t expression) const { return !nodes[expression].operands.empty(); }

  std::string describe(uint32_t expression) const {
    std::string text;
    describe(expression, text);
    if (text.size() > mostText)
      text = text.substr(0, mostText) + "...";
    return text;
  }

private:
  static constexpr size_t mostText = 60;

  struct Node {
    int64_t rank = -1;
    std::vector<uint32_t> operands;
  };
  struct Hash {
    size_t operator()(const std::vector<int64_t> &key) const {
      uint64_t hash = key.size();
      for (int64_t each : key)
        hash = (hash ^ static_cast<uint64_t>(each)) * 0x9e3779b97f4a7c15 + (hash >> 29);
      return hash;
    }
  };

  uint32_t number(std::vector<int64_t> key, Node node) {
    auto [it, isNew] = numbers.try_emplace(std::move(key), static_cast<uint32_t>(nodes.size()));
    if (isNew)
      nodes.push_back(std::move(node));
    return it->second;
  }

  void describe(uint32_t expression, std::string &text) const {
    // A chain of sums to the left is as deep as it is long: go down it without recursion.
    std::vector<uint32_t> chain{expression};
    while (nodes[chain.back()].operands.size() == 2)
      chain.push_back(nodes[chain.back()].operands[0]);
    describeTerm(chain.back(), text);
    for (size_t i = chain.size() - 1; i > 0 && text.size() <= mostText; --i) {
      text += " + ";
      describeTerm(nodes[chain[i - 1]].operands[1], text);
    }
  }

  void describeTerm(uint32_t expression, std::string &text) const {
    const Node &node = nodes[expression];
    if (text.size() > mostText)
      return;
    if (node.operands.empty()) {
      text += node.rank < 0 ? "nothing" : fmt::format("{}", node.rank);
      return;
    }
    bool isSum = node.operands.size() == 2;
    text += isSum ? "(" : "[";
    if (isSum) {
      describe(expression, text);
    } else {
      for (size_t i = 0; i < node.operands.size(); ++i) {
        text += i ? " + " : "";
        describeTerm(node.operands[i], text);
      }
    }
    text += isSum ? ")" : "]";
  }

  std::unordered_map<std::vector<int64_t>, uint32_t, Hash> numbers;
  std::vector<Node> nodes;
};

/// Follows a variant's first tile from inputs to outputs.
class Follower {
public:
  Follower(const ExecModel &model, Expressions &expressions)
      : model(model), expressions(expressions), memory(model.locations()),
        messages(model.variant.channels.size()) {
    for (int64_t rank = 0; rank < model.shape.ranks; ++rank)
      for (int64_t index = 0; index < model.shape.inputChunks() && model.shape.hasInput(rank);
           ++index)
        at({ExecBuffer::Input, static_cast<int32_t>(rank), index}) =
            expressions.input(rank, index / model.shape.chunks);
    ExecRun run(model);
    for (ExecStep step : run.steps())
      if (model.tileOf(step) == 0 && movesData(model.op(step).kind))
        execute(model.op(step));
  }

  uint32_t output(int64_t rank, int64_t chunk) {
    return at({ExecBuffer::Output, static_cast<int32_t>(rank), chunk});
  }

private:
  uint32_t &at(const ExecPlace &place) { return memory[model.locationOf(place)]; }

  void execute(const ExecOp &op) {
    std::vector<uint32_t> operands;
    for (const ExecOperand &operand : op.operands) {
      if (operand.isHead) {
        operands.push_back(messages[operand.channel].front());
        messages[operand.channel].pop_front();
      } else {
        operands.push_back(at(operand.place));
      }
    }
    uint32_t result = expressions.combination(std::move(operands));
    if (writesMemory(op.kind))
      at(op.destination) = result;
    else
      messages[op.channel].push_back(result);
  }

  const ExecModel &model;
  Expressions &expressions;
  std::vector<uint32_t> memory;
  std::vector<std::deque<uint32_t>> messages;
};

class Comparison {
public:
  Comparison(const ExecPlan &plan, int64_t root) : plan(plan) {
    for (const ExecVariant &variant : plan.variants)
      if (variant.root == root)
        add(variant);
  }

  CombinationOrder order;

private:
  /// The expressions of a variant's outputs, rank by rank.
  struct Outputs {
    const ExecVariant *variant;
    std::vector<uint32_t> expressions;
  };

  void add(const ExecVariant &variant) {
    // Expressions name ranks, so each needs its own program.
    ExecVariant all = withAllRanks(plan, variant);
    ExecModel model(plan, all, all.inPlace);
    Follower follower(model, expressions);
    chunks = model.shape.outputChunks();
    Outputs outputs{&variant, {}};
    for (int64_t rank = 0; rank < model.shape.ranks; ++rank)
      for (int64_t chunk = 0; chunk < chunks; ++chunk)
        outputs.expressions.push_back(
            model.shape.promise(rank, chunk) ? follower.output(rank, chunk) : 0);
    for (size_t i = 0; i < outputs.expressions.size(); ++i) {
      order.combines |= expressions.isCombination(outputs.expressions[i]);
      size_t row = i / static_cast<size_t>(chunks), column = i % static_cast<size_t>(chunks);
      // In an all-reduce all ranks' outputs are to be the same.
      if (plan.collective == Collective::AllReduce)
        compare(outputs, column, outputs, i, order.betweenRanks);
      size_t segment = column - column % static_cast<size_t>(plan.chunks);
      compare(outputs, row * static_cast<size_t>(chunks) + segment, outputs, i,
              order.betweenChunks);
      compare(first.variant ? first : outputs, i, outputs, i, order.betweenVariants);
    }
    if (!first.variant)
      first = std::move(outputs);
  }

  void compare(const Outputs &left, size_t leftIndex, const Outputs &right, size_t rightIndex,
               std::optional<OrderDifference> &difference) const {
    if (!difference && left.expressions[leftIndex] != right.expressions[rightIndex])
      difference = OrderDifference{describe(left, leftIndex), describe(right, rightIndex)};
  }

  OrderDifference::Side describe(const Outputs &outputs, size_t index) const {
    auto number = static_cast<int64_t>(index);
    return {outputs.variant->name, number / chunks, number % chunks,
            expressions.describe(outputs.expressions[index])};
  }

  const ExecPlan &plan;
  Expressions expressions;
  int64_t chunks = 1;
  /// Of the first variant.
  Outputs first{nullptr, {}};
};

} // namespace

CombinationOrder combinationOrder(const ExecPlan &plan, int64_t root) {
  return Comparison(plan, root).order;
}

} // namespace coil
