//===- ExecText.cpp - Rank programs as short texts for tests --------------===//

#include "test/unit/semantics/ExecText.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace coil {

namespace {

constexpr int numKinds = static_cast<int>(ExecOpKind::Barrier) + 1;
constexpr std::array transports = {ExecTransport::Matched, ExecTransport::P2P,
                                   ExecTransport::Staged};
constexpr std::array buffers = {ExecBuffer::Input, ExecBuffer::Output, ExecBuffer::Scratch};

class Parser {
public:
  ExecPlan parse(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
    std::istringstream lines{std::string(text)};
    for (std::string source; std::getline(lines, source);) {
      ++line;
      std::ranges::replace(source, ',', ' ');
      words = std::istringstream(source);
      if (std::string first; words >> first)
        parseLine(first);
    }
    return std::move(plan);
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw std::runtime_error(fmt::format("line {}: {}", line, what));
  }

  std::string word() {
    std::string result;
    if (!(words >> result))
      fail("expected another word");
    return result;
  }

  ExecVariant &variant() { return plan.variants.front(); }

  void parseLine(const std::string &first) {
    if (first == "plan")
      parsePlan();
    else if (first == "channel")
      parseChannel();
    else if (first == "rank")
      parseWorker();
    else if (first == "prologue")
      section = &worker()->prologue;
    else if (first == "tiles")
      section = &worker()->body;
    else if (first == "epilogue")
      section = &worker()->epilogue;
    else
      parseOperation(first);
  }

  void parsePlan() {
    plan.collective = *parseCollective(word());
    plan.variants.emplace_back().location = line;
    for (std::string key; words >> key;) {
      if (key == "ranks")
        plan.ranks = std::stoll(word());
      else if (key == "chunks")
        plan.chunks = std::stoll(word());
      else if (key == "root")
        variant().root = std::stoll(word());
      else if (key == "in_place")
        variant().inPlace = true;
      else if (key == "transport")
        parseTransport(word());
      else if (key == "scratch")
        for (int64_t rank = 0; rank < plan.ranks; ++rank)
          variant().scratch.push_back(std::stoll(word()));
      else
        fail("unknown word " + key);
    }
    variant().scratch.resize(static_cast<size_t>(plan.ranks));
    variant().programs.resize(static_cast<size_t>(plan.ranks));
  }

  void parseTransport(const std::string &name) {
    for (ExecTransport transport : transports)
      if (name == nameOf(transport))
        variant().transport = transport;
  }

  void parseEnd(int64_t &rank, int64_t &workerIndex) {
    std::string end = word();
    size_t colon = end.find(':');
    rank = std::stoll(end);
    workerIndex = colon == std::string::npos ? 0 : std::stoll(end.substr(colon + 1));
  }

  void parseChannel() {
    ExecChannel channel;
    channel.name = word();
    channel.location = line;
    for (std::string key; words >> key;) {
      if (key == "from")
        parseEnd(channel.sourceRank, channel.sourceWorker);
      else if (key == "to")
        parseEnd(channel.destinationRank, channel.destinationWorker);
      else if (key == "slots")
        channel.slots = std::stoll(word());
      else
        fail("unknown word " + key);
    }
    variant().channels.push_back(channel);
  }

  void parseWorker() {
    rank = std::stoll(word());
    variant().programs[static_cast<size_t>(rank)].emplace_back();
    section = &worker()->body;
  }

  ExecWorker *worker() { return &variant().programs[static_cast<size_t>(rank)].back(); }

  uint32_t channelNamed(const std::string &name) {
    for (uint32_t i = 0; i < variant().channels.size(); ++i)
      if ("@" + variant().channels[i].name == name)
        return i;
    fail("no channel " + name);
  }

  ExecPlace placeOf(const std::string &text, std::optional<int64_t> &length) {
    size_t bracket = text.find('['), on = text.find('@');
    ExecPlace place;
    place.rank =
        static_cast<int32_t>(on == std::string::npos ? rank : std::stoll(text.substr(on + 1)));
    place.index = std::stoll(text.substr(bracket + 1));
    for (ExecBuffer buffer : buffers)
      if (text.substr(0, bracket) == nameOf(buffer))
        place.buffer = buffer;
    if (place.buffer != ExecBuffer::Scratch && !length)
      length = place.index % plan.chunks;
    return place;
  }

  void parseOperation(const std::string &name) {
    ExecOp op;
    op.location = line;
    int kind = 0;
    while (kind < numKinds && name != nameOf(static_cast<ExecOpKind>(kind)))
      ++kind;
    if (kind == numKinds)
      fail("unknown operation " + name);
    op.kind = static_cast<ExecOpKind>(kind);
    std::optional<int64_t> length, saidLength;
    bool isDestination = false;
    for (std::string text; words >> text;) {
      if (text == "->")
        isDestination = true;
      else if (text == "complete")
        op.complete = true;
      else if (text == "length")
        saidLength = std::stoll(word());
      else if (op.kind == ExecOpKind::Meet)
        op.peers.push_back(std::stoll(text));
      else if (text[0] != '@' && isDestination)
        op.destination = placeOf(text, length);
      else if (text[0] != '@')
        op.operands.push_back(ExecOperand::ofPlace(placeOf(text, length)));
      else if (isDestination || op.kind == ExecOpKind::Signal || op.kind == ExecOpKind::Wait)
        op.channel = channelNamed(text);
      else
        op.operands.push_back(ExecOperand::ofHead(channelNamed(text)));
    }
    op.length = saidLength.value_or(length.value_or(0));
    section->push_back(op);
  }

  ExecPlan plan;
  uint32_t line = 0;
  std::istringstream words;
  int64_t rank = 0;
  std::vector<ExecOp> *section = nullptr;
};

std::string printPlace(const ExecPlace &place) {
  return fmt::format("{}[{}]@{}", nameOf(place.buffer), place.index, place.rank);
}

std::string printOperation(const ExecVariant &variant, const ExecOp &op) {
  std::string text = nameOf(op.kind);
  auto channel = [&](uint32_t index) { return " @" + variant.channels[index].name; };
  switch (op.kind) {
  case ExecOpKind::Barrier:
    return text;
  case ExecOpKind::Meet:
    for (int64_t peer : op.peers)
      text += fmt::format(" {}", peer);
    return text;
  case ExecOpKind::Signal:
  case ExecOpKind::Wait:
    return text + channel(op.channel);
  default:
    break;
  }
  for (const ExecOperand &operand : op.operands)
    text += operand.isHead ? channel(operand.channel) : " " + printPlace(operand.place);
  bool sends = op.kind == ExecOpKind::Send || op.kind == ExecOpKind::Push;
  text += " ->" + (sends ? channel(op.channel) : " " + printPlace(op.destination));
  return fmt::format("{} length {}{}", text, op.length, op.complete ? " complete" : "");
}

} // namespace

ExecPlan parseExec(std::string_view text) { return Parser().parse(text); }

std::string printExec(const ExecPlan &plan) {
  const ExecVariant &variant = plan.variants.front();
  std::string text =
      fmt::format("plan {} ranks {} chunks {} transport {} root {}{} scratch",
                  nameOf(plan.collective), plan.ranks, plan.chunks, nameOf(variant.transport),
                  variant.root, variant.inPlace ? " in_place" : "");
  for (int64_t chunks : variant.scratch)
    text += fmt::format(" {}", chunks);
  for (const ExecChannel &channel : variant.channels)
    text += fmt::format("\nchannel {} from {}:{} to {}:{} slots {}", channel.name,
                        channel.sourceRank, channel.sourceWorker, channel.destinationRank,
                        channel.destinationWorker, channel.slots);
  for (size_t rank = 0; rank < variant.programs.size(); ++rank)
    for (size_t worker = 0; worker < variant.programs[rank].size(); ++worker) {
      text += fmt::format("\nrank {} worker {}", rank, worker);
      const ExecWorker &code = variant.programs[rank][worker];
      for (auto [name, ops] : {std::pair("prologue", &code.prologue),
                               {"tiles", &code.body},
                               {"epilogue", &code.epilogue}}) {
        text += fmt::format("\n{}", name);
        for (const ExecOp &op : *ops)
          text += "\n  " + printOperation(variant, op);
      }
    }
  return text + "\n";
}

} // namespace coil
