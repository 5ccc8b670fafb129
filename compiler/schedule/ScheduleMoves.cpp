//===- ScheduleMoves.cpp - Moves into an order for each rank --------------===//

#include "compiler/schedule/ScheduleMoves.h"

#include "compiler/schedule/MemoryLocations.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace coil {

namespace {

bool isMessage(const Move &move, const ExecPlace &operand) {
  return operand.rank != move.destination.rank;
}

/// The end of the exchange block, or of the single move, that begins at `begin`.
size_t endOfBlock(const std::vector<Move> &moves, size_t begin) {
  size_t end = begin + 1;
  if (moves[begin].exchange)
    while (end < moves.size() && moves[end].exchange == moves[begin].exchange)
      ++end;
  return end;
}

//===----------------------------------------------------------------------===//
// Snapshots
//===----------------------------------------------------------------------===//

/// Gives exchange blocks the scratch they need. A message leaves before anything
/// of its step arrives, so it carries the state before the block by itself. An
/// operand on the move's own rank does not, nor do the later ones of several
/// messages on one channel; if another move of the block overwrites such an
/// operand, it is copied before the block and read there.
class SnapshotInserter {
public:
  SnapshotInserter(const CollectiveShape &shape, MoveProgram &program, bool inPlace)
      : shape(shape), program(program),
        locations(shape, program.symmetry, inPlace, program.scratch) {}

  void run() {
    std::vector<Move> result;
    std::vector<Move> &moves = program.moves;
    for (size_t begin = 0; begin < moves.size();) {
      size_t end = endOfBlock(moves, begin);
      if (end - begin > 1)
        snapshotBlock(begin, end, result);
      std::move(moves.begin() + static_cast<ptrdiff_t>(begin),
                moves.begin() + static_cast<ptrdiff_t>(end), std::back_inserter(result));
      begin = end;
    }
    moves = std::move(result);
  }

private:
  bool sharesChannels(size_t begin, size_t end) const {
    std::set<std::tuple<int32_t, int32_t, uint32_t>> used;
    for (size_t i = begin; i < end; ++i) {
      const Move &move = program.moves[i];
      for (const ExecPlace &operand : move.operands)
        if (isMessage(move, operand) &&
            !used.emplace(operand.rank, move.destination.rank, move.worker).second)
          return true;
    }
    return false;
  }

  void snapshotBlock(size_t begin, size_t end, std::vector<Move> &result) {
    std::unordered_map<size_t, size_t> writer;
    for (size_t i = begin; i < end; ++i)
      writer[locations.of(program.moves[i].destination)] = i;
    bool shared = sharesChannels(begin, end);
    std::unordered_map<size_t, ExecPlace> snapshots;
    for (size_t i = begin; i < end; ++i) {
      Move &move = program.moves[i];
      for (ExecPlace &operand : move.operands) {
        size_t location = locations.of(operand);
        auto it = writer.find(location);
        if (it == writer.end() || it->second == i || (isMessage(move, operand) && !shared))
          continue;
        const Symmetry &symmetry = program.symmetry;
        int64_t kind = symmetry.kindOf(operand.rank);
        auto [snapshot, inserted] = snapshots.try_emplace(location);
        if (inserted) {
          int64_t back = symmetry.inverse(symmetry.shiftOf(operand.rank));
          int64_t &scratch = program.scratch[static_cast<size_t>(kind)];
          snapshot->second = {ExecBuffer::Scratch,
                              static_cast<int32_t>(symmetry.representative(kind)), scratch++};
          result.push_back({snapshot->second,
                            {shiftPlace(shape, symmetry, operand, back)},
                            symmetry.shiftChunk(move.length, back),
                            false,
                            0,
                            move.location,
                            move.worker});
        }
        operand = {ExecBuffer::Scratch, operand.rank, snapshot->second.index};
      }
    }
  }

  const CollectiveShape &shape;
  MoveProgram &program;
  /// Of the places that moves name; snapshots are not looked up.
  MemoryLocations locations;
};

//===----------------------------------------------------------------------===//
// Steps and rounds
//===----------------------------------------------------------------------===//

/// From, to, worker, ordinal in the move.
using ChannelKey = std::tuple<int32_t, int32_t, uint32_t, int>;

/// The steps in which a channel carries no message yet.
class FreeSteps {
public:
  int64_t firstFrom(int64_t step) {
    int64_t free = step;
    for (auto it = next.find(free); it != next.end(); it = next.find(free))
      free = it->second;
    // What was passed now points there itself.
    for (auto it = next.find(step); it != next.end(); it = next.find(step))
      step = std::exchange(it->second, free);
    return free;
  }
  void take(int64_t step) { next[step] = step + 1; }

private:
  /// For each step that is taken, a later one with none but taken ones between.
  std::unordered_map<int64_t, int64_t> next;
};

class Scheduler {
public:
  Scheduler(const CollectiveShape &shape, const MoveProgram &program, bool inPlace)
      : shape(shape), program(program),
        locations(shape, program.symmetry, inPlace, program.scratch), states(locations.size()),
        step(program.moves.size(), 0), round(program.moves.size(), 0),
        sameStepReaders(program.moves.size()) {
    variant.inPlace = inPlace;
    variant.root = shape.root;
    variant.symmetry = program.symmetry;
    variant.scratch = program.scratch;
    variant.programs.assign(program.scratch.size(),
                            std::vector<ExecWorker>(static_cast<size_t>(program.workers)));
  }

  ExecVariant run() {
    for (size_t begin = 0; begin < program.moves.size();) {
      size_t end = endOfBlock(program.moves, begin);
      assignSteps(begin, end);
      begin = end;
    }
    std::vector<size_t> order(program.moves.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return std::pair(step[a], a) < std::pair(step[b], b); });
    for (size_t begin = 0; begin < order.size();) {
      size_t end = begin;
      while (end < order.size() && step[order[end]] == step[order[begin]])
        ++end;
      assignRounds(std::span(order).subspan(begin, end - begin));
      begin = end;
    }
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::tuple(step[a], round[a], a) < std::tuple(step[b], round[b], b);
    });
    for (size_t begin = 0; begin < order.size();) {
      size_t end = begin;
      while (end < order.size() && step[order[end]] == step[order[begin]] &&
             round[order[end]] == round[order[begin]])
        ++end;
      emit(std::span(order).subspan(begin, end - begin));
      begin = end;
    }
    return std::move(variant);
  }

private:
  struct LocationState {
    int64_t lastWrite = -1;     ///< step of the last write
    int64_t lastLocalRead = -1; ///< last step in which its rank read it
    std::vector<size_t> sends;  ///< moves since the last write that send it away
  };

  void assignSteps(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Move &move = program.moves[i];
      const LocationState &target = states[locations.of(move.destination)];
      int64_t earliest = std::max(target.lastWrite, target.lastLocalRead) + 1;
      for (size_t reader : target.sends)
        earliest = std::max(earliest, step[reader]);
      for (const ExecPlace &operand : move.operands)
        earliest = std::max(earliest, states[locations.of(operand)].lastWrite + 1);
      step[i] = move.exchange ? earliest : takeFreeStep(channelsOf(move), earliest);
    }

    // In an exchange, what one move overwrites another may send: not later.
    std::unordered_map<size_t, std::vector<size_t>> sendersHere;
    for (size_t i = begin; i < end; ++i)
      for (const ExecPlace &operand : program.moves[i].operands)
        if (isMessage(program.moves[i], operand))
          sendersHere[locations.of(operand)].push_back(i);
    for (bool changed = end - begin > 1; changed;) {
      changed = false;
      for (size_t i = begin; i < end; ++i)
        for (size_t sender : sendersHere[locations.of(program.moves[i].destination)])
          if (step[sender] > step[i]) {
            step[i] = step[sender];
            changed = true;
          }
    }

    for (size_t i = begin; i < end; ++i) {
      size_t target = locations.of(program.moves[i].destination);
      for (const std::vector<size_t> *senders : {&states[target].sends, &sendersHere[target]})
        for (size_t sender : *senders)
          if (sender != i && step[sender] == step[i])
            sameStepReaders[i].push_back(sender);
    }

    std::unordered_set<size_t> overwritten;
    for (size_t i = begin; i < end; ++i) {
      size_t target = locations.of(program.moves[i].destination);
      overwritten.insert(target);
      states[target] = {step[i], -1, {}};
    }
    for (size_t i = begin; i < end; ++i)
      for (const ExecPlace &operand : program.moves[i].operands) {
        size_t location = locations.of(operand);
        if (overwritten.count(location))
          continue; // the read was of the value that is gone
        if (isMessage(program.moves[i], operand))
          states[location].sends.push_back(i);
        else
          states[location].lastLocalRead = std::max(states[location].lastLocalRead, step[i]);
      }
  }

  /// The first step from `earliest` on in which none of the channels carries a message, and
  /// from now on does.
  int64_t takeFreeStep(const std::vector<ChannelKey> &keys, int64_t earliest) {
    std::vector<FreeSteps *> free;
    for (const ChannelKey &key : keys)
      free.push_back(&freeSteps[key]);
    int64_t found = earliest;
    for (bool moved = true; moved;) {
      moved = false;
      for (FreeSteps *each : free) {
        int64_t next = each->firstFrom(found);
        moved |= next != found;
        found = next;
      }
    }
    for (FreeSteps *each : free)
      each->take(found);
    return found;
  }

  std::vector<ChannelKey> channelsOf(const Move &move) const {
    std::vector<ChannelKey> keys;
    std::map<int32_t, int> seen;
    for (const ExecPlace &operand : move.operands)
      if (isMessage(move, operand))
        keys.emplace_back(operand.rank, move.destination.rank, move.worker, seen[operand.rank]++);
    return keys;
  }

  /// Rounds of the moves of one step: one message a channel and round, in the order
  /// of the program, and no place overwritten in an earlier round than it is sent.
  void assignRounds(std::span<const size_t> moves) {
    for (bool changed = true; changed;) {
      changed = false;
      std::map<ChannelKey, int64_t> next;
      for (size_t i : moves) {
        int64_t earliest = round[i];
        std::vector<ChannelKey> channels = channelsOf(program.moves[i]);
        for (const ChannelKey &channel : channels)
          earliest = std::max(earliest, next[channel]);
        for (size_t reader : sameStepReaders[i])
          earliest = std::max(earliest, round[reader]);
        for (const ChannelKey &channel : channels)
          next[channel] = earliest + 1;
        changed |= earliest != round[i];
        round[i] = earliest;
      }
    }
  }

  uint32_t channelFor(const ChannelKey &key) {
    auto [it, inserted] = channels.try_emplace(key, static_cast<uint32_t>(variant.channels.size()));
    if (inserted) {
      // Moves end at representatives, channels begin there.
      auto [source, destination, worker, ordinal] = key;
      const Symmetry &symmetry = program.symmetry;
      int64_t from = symmetry.representative(symmetry.kindOf(source));
      int64_t to = symmetry.shiftRank(destination, symmetry.inverse(symmetry.shiftOf(source)));
      ExecChannel channel;
      channel.name = fmt::format("from{}to{}", from, to);
      if (worker != 0)
        channel.name += fmt::format("w{}", worker);
      if (ordinal != 0)
        channel.name += fmt::format("_{}", ordinal);
      channel.sourceRank = from;
      channel.destinationRank = to;
      channel.sourceWorker = channel.destinationWorker = worker;
      variant.channels.push_back(std::move(channel));
    }
    return it->second;
  }

  std::vector<ExecOp> &bodyOf(int32_t rank, uint32_t worker) {
    return variant.programs[static_cast<size_t>(program.symmetry.kindOf(rank))][worker].body;
  }

  /// The moves in an order that ranks which do alike also have alike: by statement of
  /// the source, then by how far they come. Within a round any order will do.
  std::vector<size_t> inSymmetricOrder(std::span<const size_t> moves) const {
    std::vector<std::tuple<LocationIndex, int64_t, size_t>> keys;
    for (size_t i : moves) {
      const Move &move = program.moves[i];
      int64_t farthest = 0;
      for (const ExecPlace &operand : move.operands)
        farthest = std::max(farthest, variant.distance(operand.rank, move.destination.rank));
      keys.emplace_back(move.location, farthest, i);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<size_t> order;
    for (const auto &key : keys)
      order.push_back(std::get<2>(key));
    return order;
  }

  void emit(std::span<const size_t> unordered) {
    std::vector<size_t> moves = inSymmetricOrder(unordered);
    for (size_t i : moves) {
      const Move &move = program.moves[i];
      std::vector<ChannelKey> keys = channelsOf(move);
      auto channel = keys.begin();
      for (const ExecPlace &operand : move.operands)
        if (isMessage(move, operand)) {
          // The representative's own send is the image of the one to this move.
          const Symmetry &symmetry = program.symmetry;
          int64_t back = symmetry.inverse(symmetry.shiftOf(operand.rank));
          ExecOp send;
          send.kind = ExecOpKind::Send;
          send.length = symmetry.shiftChunk(move.length, back);
          send.operands = {ExecOperand::ofPlace(shiftPlace(shape, symmetry, operand, back))};
          send.channel = channelFor(*channel++);
          send.location = move.location;
          bodyOf(operand.rank, move.worker).push_back(std::move(send));
        }
    }
    for (size_t i : moves) {
      const Move &move = program.moves[i];
      std::vector<ChannelKey> keys = channelsOf(move);
      auto channel = keys.begin();
      ExecOp op;
      op.length = move.length;
      op.complete = move.complete;
      op.destination = move.destination;
      op.location = move.location;
      for (const ExecPlace &operand : move.operands)
        op.operands.push_back(isMessage(move, operand) ? ExecOperand::ofHead(channelFor(*channel++))
                                                       : ExecOperand::ofPlace(operand));
      bool combining = op.operands.size() > 1;
      op.kind = keys.empty() ? (combining ? ExecOpKind::Reduce : ExecOpKind::Copy)
                             : (combining ? ExecOpKind::RecvReduce : ExecOpKind::Recv);
      bodyOf(move.destination.rank, move.worker).push_back(std::move(op));
    }
  }

  const CollectiveShape shape;
  const MoveProgram &program;
  MemoryLocations locations;
  std::vector<LocationState> states;
  std::vector<int64_t> step, round;
  /// For each move, the moves of its step that send what it overwrites.
  std::vector<std::vector<size_t>> sameStepReaders;
  std::map<ChannelKey, FreeSteps> freeSteps;
  std::map<ChannelKey, uint32_t> channels;
  ExecVariant variant;
};

} // namespace

ExecVariant scheduleMoves(const CollectiveShape &shape, MoveProgram program, bool inPlace) {
  SnapshotInserter(shape, program, inPlace).run();
  return Scheduler(shape, program, inPlace).run();
}

} // namespace coil
