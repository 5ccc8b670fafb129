//===- ExpansionTest.cpp - A wrong form is noticed ------------------------===//

#include "runtime/codegen/Expansion.h"
#include "runtime/plan/AllRanks.h"
#include "test/unit/plan/TestPlans.h"

#include <functional>
#include <gtest/gtest.h>

namespace coil::codegen {
namespace {

/// A plan's first class, and the facts of its first rank.
struct Checked {
  explicit Checked(const Plan &given) : plan(*withAllRanks(given)) {
    RankClasses classes = classifyRanks(plan, plan.variants[0]);
    forms = buildForms(plan, plan.variants[0], classes);
    facts.constants = forms[0].constants[0];
    for (const FlatWorker &worker : classes.programs[forms[0].ranks[0]])
      facts.workers.push_back(worker.ends);
  }
  Status check() const { return checkExpansion(plan, plan.variants[0], forms[0], 0, facts); }

  Plan plan;
  std::vector<ClassForm> forms;
  GeneratedKernel::RankFacts facts;
};

/// Calls visit() for every call of a form.
void visitCalls(std::vector<CallNode> &nodes, const std::function<void(CallForm &)> &visit) {
  for (CallNode &node : nodes) {
    if (node.trip > 1)
      visitCalls(node.body, visit);
    else
      visit(node.leaf);
  }
}

size_t countCalls(Checked &checked) {
  size_t count = 0;
  for (WorkerForm &worker : checked.forms[0].workers)
    for (std::vector<CallNode> &section : worker.sections)
      visitCalls(section, [&](CallForm &) { ++count; });
  return count;
}

/// Changes one call at a time and expects that the check fails for each.
void expectNoticed(const char *what, const std::function<bool(CallForm &)> &change) {
  size_t changed = 0;
  for (const auto &[name, plan] : allTestPlans()) {
    Checked whole(plan);
    ASSERT_TRUE(whole.check().isOk()) << name << ": " << whole.check().message();
    for (size_t target = 0, count = countCalls(whole); target < count; ++target) {
      Checked broken(plan);
      size_t number = 0;
      bool isChanged = false;
      for (WorkerForm &worker : broken.forms[0].workers)
        for (std::vector<CallNode> &section : worker.sections)
          visitCalls(section, [&](CallForm &call) {
            if (number++ == target)
              isChanged = change(call);
          });
      if (!isChanged)
        continue;
      ++changed;
      Status status = broken.check();
      EXPECT_EQ(status.code(), StatusCode::InternalError)
          << what << " of call " << target << " of " << name;
    }
  }
  EXPECT_GT(changed, 0u) << what;
}

TEST(Expansion, WrongNumbersAreNoticed) {
  for (size_t which : {0u, 1u})
    expectNoticed("number", [which](CallForm &call) {
      if (call.numbers.size() <= which)
        return false;
      call.numbers[which].base += 1;
      return true;
    });
  expectNoticed("number of the destination", [](CallForm &call) {
    if (!call.destination)
      return false;
    call.destination->numbers[0].base += 1;
    return true;
  });
  expectNoticed("number of the last operand", [](CallForm &call) {
    if (call.operands.empty())
      return false;
    call.operands.back().leaf.numbers.back().base += 1;
    return true;
  });
}

TEST(Expansion, OtherOperationsAreNoticed) {
  expectNoticed("completion", [](CallForm &call) {
    call.complete = !call.complete;
    return call.kind == CallKind::Reduce;
  });
  expectNoticed("location", [](CallForm &call) {
    call.location += 1;
    return call.kind != CallKind::Bind;
  });
  expectNoticed("kind", [](CallForm &call) {
    if (call.kind != CallKind::Signal && call.kind != CallKind::Wait)
      return false;
    call.kind = call.kind == CallKind::Signal ? CallKind::Wait : CallKind::Signal;
    return true;
  });
  expectNoticed("operands", [](CallForm &call) {
    if (call.kind != CallKind::Reduce)
      return false;
    call.operands.push_back(call.operands.front());
    return true;
  });
}

TEST(Expansion, MissingAndExtraOperationsAreNoticed) {
  for (bool extra : {false, true}) {
    Checked checked(stagedAllReduce());
    std::vector<CallNode> &body = checked.forms[0].workers[0].sections[bodySection];
    if (extra)
      body.push_back(body.back());
    else
      body.pop_back();
    EXPECT_EQ(checked.check().code(), StatusCode::InternalError);
  }
}

TEST(Expansion, WrongFactsAreNoticed) {
  Checked checked(stagedAllReduce());
  checked.facts.workers[0].sends.clear();
  EXPECT_EQ(checked.check().message(), "rank 0, worker 0, body: expected an end below 0, found 0");
}

} // namespace
} // namespace coil::codegen
