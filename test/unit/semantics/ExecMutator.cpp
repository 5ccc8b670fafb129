//===- ExecMutator.cpp - Rank programs broken at random -------------------===//

#include "test/unit/semantics/ExecMutator.h"

#include <algorithm>
#include <optional>

namespace coil {

const char *nameOf(ExecMutation mutation) {
  switch (mutation) {
  case ExecMutation::DropSignal:
    return "drop a signal";
  case ExecMutation::DropWait:
    return "drop a wait";
  case ExecMutation::DropAccess:
    return "drop an access";
  case ExecMutation::DropBarrier:
    return "drop a barrier or meeting";
  case ExecMutation::DropPair:
    return "drop a signal and its wait";
  case ExecMutation::DropOperand:
    return "drop an operand";
  case ExecMutation::DuplicateSignal:
    return "duplicate a signal or wait";
  case ExecMutation::DuplicateAccess:
    return "duplicate an access";
  case ExecMutation::MoveSignal:
    return "move a signal";
  case ExecMutation::MoveWait:
    return "move a wait";
  case ExecMutation::MoveAccess:
    return "move an access";
  case ExecMutation::Swap:
    return "swap neighbours";
  case ExecMutation::ChangeChannel:
    return "change a channel";
  case ExecMutation::ChangePlace:
    return "change a place";
  case ExecMutation::ChangeCompletion:
    return "change a completion or meeting";
  case ExecMutation::ChangeSlots:
    return "change slots";
  }
  return "";
}

namespace {

bool isSignal(const ExecOp &op) { return op.kind == ExecOpKind::Signal; }
bool isWait(const ExecOp &op) { return op.kind == ExecOpKind::Wait; }
bool isMeeting(const ExecOp &op) {
  return op.kind == ExecOpKind::Barrier || op.kind == ExecOpKind::Meet;
}
bool isAccess(const ExecOp &op) { return !op.operands.empty(); }
bool isAny(const ExecOp &) { return true; }
bool sends(const ExecOp &op) { return op.kind == ExecOpKind::Push || op.kind == ExecOpKind::Send; }

class Mutator {
public:
  Mutator(ExecPlan &plan, std::mt19937 &random)
      : plan(plan), variant(plan.variants.front()), random(random) {}

  bool mutate(ExecMutation mutation) {
    switch (mutation) {
    case ExecMutation::DropSignal:
      return drop(isSignal);
    case ExecMutation::DropWait:
      return drop(isWait);
    case ExecMutation::DropAccess:
      return drop(isAccess);
    case ExecMutation::DropBarrier:
      return drop(isMeeting);
    case ExecMutation::DropPair:
      return dropPair();
    case ExecMutation::DropOperand:
      return dropOperand();
    case ExecMutation::DuplicateSignal:
      return duplicate([](const ExecOp &op) { return !isAccess(op); });
    case ExecMutation::DuplicateAccess:
      return duplicate(isAccess);
    case ExecMutation::MoveSignal:
      return move([](const ExecOp &op) { return isSignal(op) || isMeeting(op); });
    case ExecMutation::MoveWait:
      return move(isWait);
    case ExecMutation::MoveAccess:
      return move(isAccess);
    case ExecMutation::Swap:
      return swap();
    case ExecMutation::ChangeChannel:
      return changeChannel();
    case ExecMutation::ChangePlace:
      return changePlace();
    case ExecMutation::ChangeCompletion:
      return changeCompletion();
    case ExecMutation::ChangeSlots:
      return changeSlots();
    }
    return false;
  }

private:
  using Ops = std::vector<ExecOp>;
  struct Site {
    Ops *ops;
    size_t index;
    int64_t rank, worker;
    ExecOp &op() const { return (*ops)[index]; }
  };

  size_t below(size_t bound) { return random() % bound; }

  static auto at(Ops &ops, size_t index) { return ops.begin() + static_cast<ptrdiff_t>(index); }

  /// An operation that meets the condition, at random.
  template <typename Condition> std::optional<Site> pick(Condition condition) {
    std::vector<Site> sites;
    for (size_t rank = 0; rank < variant.programs.size(); ++rank)
      for (size_t worker = 0; worker < variant.programs[rank].size(); ++worker) {
        ExecWorker &code = variant.programs[rank][worker];
        for (Ops *ops : {&code.prologue, &code.body, &code.epilogue})
          for (size_t i = 0; i < ops->size(); ++i)
            if (condition((*ops)[i]))
              sites.push_back({ops, i, static_cast<int64_t>(rank), static_cast<int64_t>(worker)});
      }
    if (sites.empty())
      return std::nullopt;
    return sites[below(sites.size())];
  }

  template <typename Condition> bool drop(Condition condition) {
    auto site = pick(condition);
    if (site)
      site->ops->erase(at(*site->ops, site->index));
    return site.has_value();
  }

  template <typename Condition> bool duplicate(Condition condition) {
    auto site = pick(condition);
    if (!site)
      return false;
    ExecOp op = site->op();
    site->ops->insert(at(*site->ops, below(site->ops->size() + 1)), op);
    return true;
  }

  template <typename Condition> bool move(Condition condition) {
    auto site = pick(condition);
    if (!site)
      return false;
    ExecOp op = site->op();
    site->ops->erase(at(*site->ops, site->index));
    site->ops->insert(at(*site->ops, below(site->ops->size() + 1)), op);
    return true;
  }

  bool swap() {
    auto site = pick(isAny);
    if (!site || site->index + 1 >= site->ops->size())
      return false;
    std::swap(site->op(), (*site->ops)[site->index + 1]);
    return true;
  }

  /// Takes one signal and one wait of a channel away, or one barrier of each worker of a rank.
  bool dropPair() {
    auto site = pick([](const ExecOp &op) {
      return isSignal(op) || isWait(op) || op.kind == ExecOpKind::Barrier;
    });
    if (!site)
      return false;
    bool isBarrier = site->op().kind == ExecOpKind::Barrier;
    uint32_t channel = site->op().channel;
    size_t ordinal = below(3);
    for (size_t rank = 0; rank < variant.programs.size(); ++rank)
      for (ExecWorker &worker : variant.programs[rank])
        for (Ops *ops : {&worker.prologue, &worker.body, &worker.epilogue}) {
          size_t seen = 0;
          auto it = std::ranges::find_if(*ops, [&](const ExecOp &op) {
            if (isBarrier)
              return op.kind == ExecOpKind::Barrier && static_cast<int64_t>(rank) == site->rank &&
                     seen++ == ordinal;
            return (isSignal(op) || isWait(op)) && op.channel == channel;
          });
          if (it != ops->end())
            ops->erase(it);
        }
    return true;
  }

  /// To another one with the same end at this worker.
  bool changeChannel() {
    auto site = pick([](const ExecOp &op) { return isSignal(op) || isWait(op) || sends(op); });
    if (!site)
      return false;
    std::vector<uint32_t> others;
    for (uint32_t i = 0; i < variant.channels.size(); ++i) {
      const ExecChannel &channel = variant.channels[i];
      bool isAtEnd =
          isWait(site->op())
              ? channel.destinationRank == site->rank && channel.destinationWorker == site->worker
              : channel.sourceRank == site->rank && channel.sourceWorker == site->worker;
      if (isAtEnd && i != site->op().channel)
        others.push_back(i);
    }
    if (others.empty())
      return false;
    site->op().channel = others[below(others.size())];
    return true;
  }

  int64_t chunksOf(const ExecPlace &place) const {
    SegmentCounts segments = segmentCounts(plan.collective, plan.ranks);
    switch (place.buffer) {
    case ExecBuffer::Input:
      return segments.input * plan.chunks;
    case ExecBuffer::Output:
      return segments.output * plan.chunks;
    case ExecBuffer::Scratch:
      return variant.scratch[static_cast<size_t>(place.rank)];
    }
    return 0;
  }

  bool changePlace() {
    auto site = pick(isAccess);
    if (!site)
      return false;
    ExecOp &op = site->op();
    std::vector<ExecPlace *> places;
    for (ExecOperand &operand : op.operands)
      if (!operand.isHead)
        places.push_back(&operand.place);
    if (!sends(op))
      places.push_back(&op.destination);
    if (places.empty())
      return false;
    ExecPlace &place = *places[below(places.size())];
    place.buffer = static_cast<ExecBuffer>(below(3));
    if (chunksOf(place) == 0)
      place.buffer = ExecBuffer::Output;
    place.index = static_cast<int64_t>(below(static_cast<size_t>(chunksOf(place))));
    // User buffers give the length, and must agree.
    std::optional<int64_t> length;
    for (ExecPlace *other : places)
      if (other->buffer != ExecBuffer::Scratch) {
        if (!length)
          length = other->index % plan.chunks;
        other->index += *length - other->index % plan.chunks;
      }
    op.length = length.value_or(op.length);
    return true;
  }

  bool changeCompletion() {
    auto isCombining = [](const ExecOp &op) {
      return op.kind == ExecOpKind::Reduce || op.kind == ExecOpKind::RecvReduce ||
             op.kind == ExecOpKind::GetReduce || op.kind == ExecOpKind::PopReduce;
    };
    auto site = pick([&](const ExecOp &op) {
      return isCombining(op) || (op.kind == ExecOpKind::Meet && !op.peers.empty());
    });
    if (!site)
      return false;
    if (isCombining(site->op()))
      site->op().complete = !site->op().complete;
    else
      site->op().peers.erase(site->op().peers.begin() +
                             static_cast<ptrdiff_t>(below(site->op().peers.size())));
    return true;
  }

  bool changeSlots() {
    bool isChanged = false;
    for (ExecChannel &channel : variant.channels)
      if (channel.slots && below(2)) {
        channel.slots = 1 + static_cast<int64_t>(below(4));
        isChanged = true;
      }
    return isChanged;
  }

  bool dropOperand() {
    auto site = pick([](const ExecOp &op) { return op.operands.size() > 1; });
    if (!site)
      return false;
    auto &operands = site->op().operands;
    operands.erase(operands.begin() + static_cast<ptrdiff_t>(below(operands.size())));
    return true;
  }

  ExecPlan &plan;
  ExecVariant &variant;
  std::mt19937 &random;
};

} // namespace

bool mutate(ExecPlan &plan, ExecMutation mutation, std::mt19937 &random) {
  return Mutator(plan, random).mutate(mutation);
}

} // namespace coil
