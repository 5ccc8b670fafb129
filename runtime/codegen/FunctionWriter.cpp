//===- FunctionWriter.cpp - The function of one worker --------------------===//

#include "runtime/codegen/FunctionWriter.h"
#include "runtime/codegen/KernelGenerator.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace coil::codegen {

namespace {

constexpr std::array<const char *, 4> stepWords{"step", "inner", "third", "fourth"};

/// The locations of all calls below, each run of one once.
void collectLocations(const std::vector<CallNode> &nodes, std::vector<uint32_t> &locations) {
  for (const CallNode &node : nodes) {
    if (node.trip > 1)
      collectLocations(node.body, locations);
    else if (locations.empty() || locations.back() != node.leaf.location)
      locations.push_back(node.leaf.location);
  }
}

bool usesRankVariable(const Number &number) {
  return number.rankFactor != 0 || number.form == Number::Form::Xor ||
         number.form == Number::Form::Other;
}

/// Calls visit(number, whether it is a chunk) for the numbers of the call and its
/// places, those of loops among the operands aside.
template <typename Visit> void visitNumbers(const CallForm &call, const Visit &visit) {
  auto visitPlace = [&](const PlaceForm &place) {
    for (size_t i = 0; i < place.numbers.size(); ++i) {
      bool isRankOrSlot = i == 0 && numberCount(place.kind) != 1 &&
                          place.kind != PlaceKind::Input && place.kind != PlaceKind::Output;
      visit(place.numbers[i], !isRankOrSlot);
    }
  };
  bool namesLength =
      call.kind == CallKind::Copy || call.kind == CallKind::Reduce || call.kind == CallKind::Push;
  for (size_t i = 0; i < call.numbers.size(); ++i)
    visit(call.numbers[i], namesLength && i + 1 == call.numbers.size());
  if (call.destination)
    visitPlace(*call.destination);
  for (const OperandForm &operand : call.operands)
    if (operand.trip == 1)
      visitPlace(operand.leaf);
}

} // namespace

TextLines FunctionWriter::write(const WorkerForm &worker) {
  TextLines lines(maxKernelText);
  writeNodes(lines, worker.sections[prologueSection], 0);
  if (!worker.sections[bodySection].empty()) {
    lines.add(0, "while (worker.nextTile()) {");
    size_t outerNames = names.size();
    shownLocation.reset();
    writeNodes(lines, worker.sections[bodySection], 2);
    names.resize(outerNames);
    shownLocation.reset();
    lines.add(0, "}");
  }
  writeNodes(lines, worker.sections[epilogueSection], 0);
  if (!usesRank)
    return lines;
  TextLines all(maxKernelText);
  all.add(0, "const u32 rank = worker.rank();");
  all.append(0, lines);
  return all;
}

void FunctionWriter::writeNodes(TextLines &lines, const std::vector<CallNode> &nodes,
                                size_t indent) {
  for (const CallNode &node : nodes)
    if (node.trip > 1)
      writeLoop(lines, node, indent);
    else
      writeCall(lines, node.leaf, indent);
}

void FunctionWriter::writeLoop(TextLines &lines, const CallNode &loop, size_t indent) {
  std::vector<uint32_t> within;
  collectLocations(loop.body, within);
  if (within.size() == 1)
    writeComment(lines, within.front(), indent);
  else if (!within.empty())
    shownLocation.reset();

  const std::string step = stepWords[std::min(stepNames.size(), stepWords.size() - 1)];
  stepNames.push_back(step);
  size_t outerNames = names.size();
  ++callLoops;
  TextLines body(maxKernelText);
  writeNodes(body, loop.body, 0);
  --callLoops;
  names.resize(outerNames);
  stepNames.pop_back();

  bool isShort = body.size() == 1;
  lines.add(indent, fmt::format("for (u32 {0} = 0; {0} < {1}; ++{0}){2}", step, loop.trip,
                                isShort ? "" : " {"));
  lines.append(indent + 2, body);
  if (!isShort)
    lines.add(indent, "}");
}

void FunctionWriter::writeComment(TextLines &lines, uint32_t location, size_t indent) {
  if (shownLocation == location || location >= locations.size())
    return;
  shownLocation = location;
  lines.add(indent, "// " + locations[location]);
}

/// Gives names to expressions that a call would repeat.
void FunctionWriter::nameRepeated(TextLines &lines, const CallForm &call, size_t indent) {
  struct Use {
    int count = 0;
    bool isChunk = false;
  };
  std::map<std::string, Use> uses;
  std::vector<std::string> order;
  visitNumbers(call, [&](const Number &number, bool isChunk) {
    std::string expression = text(number);
    if (expression.find_first_of(" (") == std::string::npos)
      return;
    Use &use = uses[expression];
    if (use.count++ == 0)
      order.push_back(expression);
    use.isChunk |= isChunk;
  });
  for (const std::string &expression : order) {
    const Use &use = uses[expression];
    if (use.count < 2)
      continue;
    std::string base = use.isChunk ? "chunk" : "peer", name = base;
    auto isTaken = [&] {
      return std::any_of(names.begin(), names.end(),
                         [&](const auto &known) { return known.second == name; });
    };
    for (size_t number = 2; isTaken(); ++number)
      name = fmt::format("{}{}", base, number);
    lines.add(indent, fmt::format("const u32 {} = {};", name, expression));
    names.emplace_back(expression, name);
  }
}

std::string FunctionWriter::text(const Number &number) {
  std::string expression = toText(number, stepNames);
  for (const auto &[known, name] : names)
    if (known == expression)
      return name;
  usesRank |= usesRankVariable(number);
  return expression;
}

std::string FunctionWriter::placeText(const PlaceForm &place) {
  constexpr std::array<const char *, 7> names{"input",      "output",      "scratch", "peerInput",
                                              "peerOutput", "peerScratch", "head"};
  std::string arguments;
  bool hasSegment = place.kind != PlaceKind::Scratch && place.kind != PlaceKind::PeerScratch &&
                    place.kind != PlaceKind::Head;
  for (size_t i = 0; i < place.numbers.size(); ++i) {
    // The first segment goes without saying.
    if (hasSegment && i + 1 == place.numbers.size() && place.numbers[i].isConstant() &&
        place.numbers[i].base == 0)
      continue;
    arguments += (i == 0 ? "" : ", ") + text(place.numbers[i]);
  }
  return fmt::format("worker.{}({})", names[static_cast<size_t>(place.kind)], arguments);
}

std::vector<std::string> FunctionWriter::operandTexts(const std::vector<OperandForm> &operands) {
  std::vector<std::string> texts;
  for (const OperandForm &operand : operands)
    texts.push_back(placeText(operand.leaf));
  return texts;
}

void FunctionWriter::writeCall(TextLines &lines, const CallForm &call, size_t indent) {
  writeComment(lines, call.location, indent);
  nameRepeated(lines, call, indent);
  const std::string location = std::to_string(call.location);
  auto add = [&](std::string_view head, const std::vector<std::string> &arguments) {
    lines.addCall(indent, head, arguments, ");");
  };
  switch (call.kind) {
  case CallKind::Meet:
    return add("worker.meet(", {text(call.numbers[0]), location});
  case CallKind::Bind:
    return add("worker.bind(", {text(call.numbers[0]), text(call.numbers[1]), text(call.numbers[2]),
                                text(call.numbers[3]), location});
  case CallKind::Signal:
    return add("worker.signal(", {text(call.numbers[0])});
  case CallKind::Wait:
    return add("worker.wait(", {text(call.numbers[0]), location});
  case CallKind::Barrier:
    return add("worker.barrier(", {location});
  case CallKind::Push:
    return add("worker.push(", {text(call.numbers[0]), text(call.numbers[1]),
                                placeText(call.operands[0].leaf), location});
  case CallKind::Copy: {
    const PlaceForm &source = call.operands[0].leaf;
    if (source.kind == PlaceKind::Head)
      return add("worker.pop(", {placeText(*call.destination), text(call.numbers[0]),
                                 text(source.numbers[0]), location});
    return add("worker.copy(",
               {placeText(*call.destination), text(call.numbers[0]), placeText(source)});
  }
  case CallKind::Reduce:
    break;
  }
  if (call.operandCount > mostListedOperands)
    return writeLongReduce(lines, call, indent);
  std::vector<std::string> arguments{placeText(*call.destination), text(call.numbers[0]),
                                     call.complete ? "Complete" : "Keep", location};
  std::vector<std::string> operands = operandTexts(call.operands);
  arguments.insert(arguments.end(), operands.begin(), operands.end());
  add("worker.reduce(", arguments);
}

namespace {

/// Operands that one run of the nodes makes.
uint32_t countOf(const std::vector<OperandForm> &operands) {
  uint32_t count = 0;
  for (const OperandForm &operand : operands)
    count += operand.trip == 1 ? 1 : operand.trip * countOf(operand.body);
  return count;
}

/// Whether operand q can be found with a few comparisons: a few pieces of one rule
/// each, which can be counted from any q on. `loop` would be the loop over q.
bool hasFewPieces(const std::vector<OperandForm> &operands, size_t loop) {
  constexpr size_t mostPieces = 8;
  auto isPiece = [loop](const OperandForm &operand) {
    if (operand.trip == 1)
      return true;
    if (operand.body.size() != 1 || operand.body[0].trip != 1)
      return false;
    const std::vector<Number> &numbers = operand.body[0].leaf.numbers;
    return std::none_of(numbers.begin(), numbers.end(),
                        [loop](const Number &number) { return number.shiftLoop == loop; });
  };
  return operands.size() <= mostPieces && std::all_of(operands.begin(), operands.end(), isPiece);
}

/// The place with the step of loop `loop` counted from `first`: with `first` for 0.
PlaceForm countedFrom(PlaceForm place, size_t loop, uint32_t first) {
  for (Number &number : place.numbers)
    if (!number.stepFactors.empty())
      number.base -= number.stepFactors[loop] * first;
  return place;
}

} // namespace

/// A reduction whose operands are given one by one: by a function if they are many
/// and follow few rules, so that nothing is kept for each, else by an array, whose
/// reduction is a function that all calls share.
void FunctionWriter::writeLongReduce(TextLines &lines, const CallForm &call, size_t indent) {
  std::vector<std::string> arguments{placeText(*call.destination), text(call.numbers[0]),
                                     call.complete ? "Complete" : "Keep",
                                     std::to_string(call.location)};
  const std::string count = std::to_string(call.operandCount);
  constexpr uint32_t mostInArray = 16;
  if (call.operandCount > mostInArray && hasFewPieces(call.operands, stepNames.size())) {
    arguments.insert(arguments.end(), {count, "[&](u32 q) -> Place {"});
    lines.addCall(indent, "worker.reduceMany(", arguments, "");
    writeSelection(lines, call.operands, indent + 2);
    lines.add(indent, "});");
    return;
  }
  lines.add(indent, "{");
  lines.add(indent + 2, fmt::format("Place places[{}];", count));
  size_t next = 0;
  writePlaces(lines, call.operands, "", next, indent + 2);
  arguments.push_back("places");
  lines.addCall(indent + 2, "worker.reduceMany(", arguments, ");");
  lines.add(indent, "}");
}

/// Statements that return operand `q`.
void FunctionWriter::writeSelection(TextLines &lines, const std::vector<OperandForm> &operands,
                                    size_t indent) {
  uint32_t first = 0;
  for (const OperandForm &operand : operands) {
    stepNames.push_back("q");
    std::string place =
        operand.trip == 1
            ? placeText(operand.leaf)
            : placeText(countedFrom(operand.body[0].leaf, stepNames.size() - 1, first));
    stepNames.pop_back();
    first += operand.trip;
    bool isLast = &operand == &operands.back();
    if (!isLast)
      lines.add(indent, fmt::format("if (q < {})", first));
    lines.add(isLast ? indent : indent + 2, fmt::format("return {};", place));
  }
}

/// `position` is what the loops around add to an operand's place, and `next` its
/// place in their first step.
void FunctionWriter::writePlaces(TextLines &lines, const std::vector<OperandForm> &operands,
                                 const std::string &position, size_t &next, size_t indent) {
  for (const OperandForm &operand : operands) {
    if (operand.trip == 1) {
      std::string place = position.empty() ? std::to_string(next)
                          : next == 0      ? position
                                           : fmt::format("{} + {}", next, position);
      ++next;
      lines.add(indent, fmt::format("places[{}] = {};", place, placeText(operand.leaf)));
      continue;
    }
    size_t depth = stepNames.size() - callLoops, first = next, period = countOf(operand.body);
    std::string step = depth == 0 ? "q" : fmt::format("q{}", depth + 1);
    std::string inner = period == 1 ? step : fmt::format("{} * {}", period, step);
    if (!position.empty())
      inner = position + " + " + inner;
    stepNames.push_back(step);
    TextLines body(maxKernelText);
    writePlaces(body, operand.body, inner, next, 0);
    stepNames.pop_back();
    next = first + operand.trip * period;
    bool isShort = body.size() == 1;
    lines.add(indent, fmt::format("for (u32 {0} = 0; {0} < {1}; ++{0}){2}", step, operand.trip,
                                  isShort ? "" : " {"));
    lines.append(indent + 2, body);
    if (!isShort)
      lines.add(indent, "}");
  }
}

} // namespace coil::codegen
