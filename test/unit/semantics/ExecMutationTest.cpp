//===- ExecMutationTest.cpp - Programs broken at random -------------------===//
//
// Changes right programs at random and compares verifyExec with the judge, which
// tries them out: neither may know better.
//
//===----------------------------------------------------------------------===//

#include "compiler/semantics/ExecVerifier.h"
#include "test/unit/semantics/ExecJudge.h"
#include "test/unit/semantics/ExecText.h"
#include "test/unit/semantics/RightPrograms.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace coil;

namespace {

class Mutator {
public:
  Mutator(ExecPlan &plan, std::mt19937 &random)
      : plan(plan), variant(plan.variants.front()), random(random) {}

  void mutate() {
    switch (below(9)) {
    case 0:
      return drop();
    case 1:
      return duplicate();
    case 2:
    case 3:
      return move();
    case 4:
      return dropPair();
    case 5:
      return changePlace();
    case 6:
      return changeOperation();
    case 7:
      return changeSlots();
    case 8:
      return dropOperand();
    }
  }

private:
  size_t below(size_t bound) { return random() % bound; }

  std::vector<ExecOp> *section() {
    auto &program = variant.programs[below(variant.programs.size())];
    ExecWorker &worker = program[below(program.size())];
    size_t which = below(4);
    std::vector<ExecOp> &ops = which == 0   ? worker.prologue
                               : which == 1 ? worker.epilogue
                                            : worker.body;
    return ops.empty() ? nullptr : &ops;
  }

  static auto at(std::vector<ExecOp> &ops, size_t index) {
    return ops.begin() + static_cast<ptrdiff_t>(index);
  }

  void drop() {
    if (auto *ops = section())
      ops->erase(at(*ops, below(ops->size())));
  }

  void duplicate() {
    if (auto *ops = section()) {
      ExecOp op = (*ops)[below(ops->size())];
      ops->insert(at(*ops, below(ops->size() + 1)), op);
    }
  }

  void move() {
    if (auto *ops = section()) {
      size_t from = below(ops->size());
      ExecOp op = (*ops)[from];
      ops->erase(at(*ops, from));
      ops->insert(at(*ops, below(ops->size() + 1)), op);
    }
  }

  /// Takes one signal and one wait of a channel away, or one barrier of each worker.
  void dropPair() {
    if (variant.channels.empty())
      return;
    uint32_t channel = static_cast<uint32_t>(below(variant.channels.size()));
    size_t barrier = below(4), kind = below(3);
    for (auto &program : variant.programs)
      for (ExecWorker &worker : program)
        for (auto *ops : {&worker.prologue, &worker.body, &worker.epilogue}) {
          size_t seen = 0;
          auto it = std::ranges::find_if(*ops, [&](const ExecOp &op) {
            if (kind == 0)
              return op.kind == ExecOpKind::Barrier && seen++ == barrier;
            return (op.kind == ExecOpKind::Signal || op.kind == ExecOpKind::Wait) &&
                   op.channel == channel;
          });
          if (it != ops->end())
            ops->erase(it);
        }
  }

  void changePlace() {
    auto *ops = section();
    if (!ops)
      return;
    ExecOp &op = (*ops)[below(ops->size())];
    std::vector<ExecPlace *> places;
    for (ExecOperand &operand : op.operands)
      if (!operand.isHead)
        places.push_back(&operand.place);
    bool hasDestination =
        !op.operands.empty() && op.kind != ExecOpKind::Push && op.kind != ExecOpKind::Send;
    if (hasDestination)
      places.push_back(&op.destination);
    if (places.empty())
      return;
    ExecPlace &place = *places[below(places.size())];
    place.buffer = static_cast<ExecBuffer>(below(3));
    SegmentCounts segments = segmentCounts(plan.collective, plan.ranks);
    size_t rank = static_cast<size_t>(place.rank);
    int64_t chunks = place.buffer == ExecBuffer::Input    ? segments.input * plan.chunks
                     : place.buffer == ExecBuffer::Output ? segments.output * plan.chunks
                                                          : variant.scratch[rank];
    if (chunks == 0) {
      place.buffer = ExecBuffer::Output;
      chunks = segments.output * plan.chunks;
    }
    place.index = static_cast<int64_t>(below(static_cast<size_t>(chunks)));
    // User buffers give the length, and must agree.
    std::optional<int64_t> length;
    for (ExecPlace *other : places)
      if (other->buffer != ExecBuffer::Scratch) {
        if (!length)
          length = other->index % plan.chunks;
        other->index += *length - other->index % plan.chunks;
      }
    op.length = length.value_or(op.length);
  }

  void changeOperation() {
    auto *ops = section();
    if (!ops)
      return;
    ExecOp &op = (*ops)[below(ops->size())];
    bool combining = op.kind == ExecOpKind::Reduce || op.kind == ExecOpKind::RecvReduce ||
                     op.kind == ExecOpKind::GetReduce || op.kind == ExecOpKind::PopReduce;
    if (combining)
      op.complete = !op.complete;
    else if (op.kind == ExecOpKind::Meet && !op.peers.empty())
      op.peers.pop_back();
  }

  void changeSlots() {
    for (ExecChannel &channel : variant.channels)
      if (channel.slots && below(2))
        channel.slots = 1 + static_cast<int64_t>(below(4));
  }

  void dropOperand() {
    auto *ops = section();
    if (!ops)
      return;
    ExecOp &op = (*ops)[below(ops->size())];
    if (op.operands.size() > 1)
      op.operands.erase(op.operands.begin() + static_cast<ptrdiff_t>(below(op.operands.size())));
  }

  ExecPlan &plan;
  ExecVariant &variant;
  std::mt19937 &random;
};

class MutationTest : public testing::TestWithParam<NamedProgram> {};

TEST_P(MutationTest, VerifierAgreesWithJudge) {
  // The judge has nothing against the program itself.
  ExecPlan right = parseExec(GetParam().text);
  ASSERT_EQ(judgeExec(right, 3, 2).value_or(""), "");

  std::mt19937 random(20240229);
  int accepted = 0, rejected = 0;
  for (int i = 0; i < 400; ++i) {
    ExecPlan plan = right;
    for (size_t changes = 1 + random() % 3; changes > 0; --changes)
      Mutator(plan, random).mutate();
    std::vector<Finding> findings = verifyExec(plan, plan.variants.front());
    std::optional<std::string> complaint = judgeExec(plan, 3, 2);
    ASSERT_EQ(findings.empty(), !complaint)
        << "verifier: " << (findings.empty() ? "right" : findings.front().message)
        << "\njudge: " << complaint.value_or("right") << "\n"
        << printExec(plan);
    ++(findings.empty() ? accepted : rejected);
  }
  // Both must occur for the comparison to mean much.
  EXPECT_GT(accepted, 5);
  EXPECT_GT(rejected, 50);
}

INSTANTIATE_TEST_SUITE_P(ExecVerifier, MutationTest, testing::ValuesIn(rightPrograms()),
                         [](const auto &info) { return info.param.name; });

} // namespace
