//===- LowerTest.cpp - From program text to the coil dialect --------------===//

#include "compiler/frontend/Lower.h"
#include "test/unit/frontend/FrontendTesting.h"

#include <llvm/Support/raw_ostream.h>
#include <mlir/IR/OperationSupport.h>

using namespace coil;
using namespace coil::testing;

namespace {

/// The module that a text becomes.
std::string lowered(std::string text, bool withLocations = false) {
  Program program(std::move(text));
  EXPECT_TRUE(program.isValid);
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      lowerToCoil(*program.file, context, program.diagnostics);
  EXPECT_FALSE(program.diagnostics.hasErrors());
  std::string result;
  if (module) {
    llvm::raw_string_ostream out(result);
    mlir::OpPrintingFlags flags;
    if (withLocations)
      flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/true);
    module->print(out, flags);
  }
  return result;
}

TEST(Lower, KeepsLoopsAndMoves) {
  EXPECT_EQ(lowered("algorithm ring : allreduce {\n"
                    "  chunks ranks\n"
                    "  for c in 0..ranks\n"
                    "    for step in 1..ranks step 2\n"
                    "      reduce data[c] @ c + step - 1 -> data[c] @ c + step\n"
                    "}\n"),
            R"(module {
  coil.algorithm @ring implements allreduce {
  ^bb0(%ranks: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    coil.chunks %ranks
    scf.for %arg0 = %c0 to %ranks step %c1 {
      scf.for %arg1 = %c1 to %ranks step %c2 {
        %0 = arith.addi %arg0, %arg1 : index
        %1 = coil.place data[%arg0] on %0
        coil.reduce %1 from {
          %2 = arith.addi %arg0, %arg1 : index
          %3 = arith.subi %2, %c1 : index
          %4 = coil.place data[%arg0] on %3
          coil.operand %4
        }
      }
    }
  }
}
)");
}

TEST(Lower, NestsComprehensions) {
  EXPECT_EQ(lowered("algorithm a : broadcast(from) {\n"
                    "  scratch mine[2]\n"
                    "  exchange {\n"
                    "    combine data[0] @ from,\n"
                    "            mine[i] @ q for q in 0..ranks if q != from for i in 0..2\n"
                    "      -> output[0] @ 0\n"
                    "  }\n"
                    "}\n"),
            R"(module {
  coil.algorithm @a implements broadcast {
  ^bb0(%ranks: index, %root: index):
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    coil.scratch mine[%c2]
    coil.exchange {
      %0 = coil.place output[%c0] on %c0
      coil.combine %0 from {
        %1 = coil.place data[%c0] on %root
        coil.operand %1
        scf.for %arg0 = %c0 to %ranks step %c1 {
          %2 = arith.cmpi ne, %arg0, %root : index
          scf.if %2 {
            scf.for %arg1 = %c0 to %c2 step %c1 {
              %3 = coil.place mine[%arg1] on %arg0
              coil.operand %3
            }
          }
        }
      }
    }
  }
}
)");
}

TEST(Lower, ComputesWhatTheOperatorsSay) {
  auto valueOf = [](std::string expr) {
    std::string text = lowered("algorithm a : allreduce { let x = " + expr + " }");
    return text.substr(text.find("index):\n") + 8);
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(valueOf("ranks / 2"), HasSubstr("arith.floordivsi %ranks, %c2"));
  EXPECT_THAT(valueOf("ranks % 2"), HasSubstr("coil.mod %ranks, %c2"));
  EXPECT_THAT(valueOf("ranks << 2"), HasSubstr("arith.shli %ranks, %c2"));
  EXPECT_THAT(valueOf("ranks >> 2"), HasSubstr("arith.shrsi %ranks, %c2"));
  EXPECT_THAT(valueOf("ranks & 2"), HasSubstr("arith.andi %ranks, %c2"));
  EXPECT_THAT(valueOf("ranks | 2"), HasSubstr("arith.ori %ranks, %c2"));
  EXPECT_THAT(valueOf("ranks ^ 2"), HasSubstr("arith.xori %ranks, %c2"));
  EXPECT_THAT(valueOf("ranks * 2"), HasSubstr("arith.muli %ranks, %c2"));
  EXPECT_THAT(valueOf("-ranks"), HasSubstr("arith.subi %c0, %ranks"));
  EXPECT_THAT(valueOf("~ranks"), HasSubstr("arith.xori %ranks, %c-1"));
  EXPECT_THAT(valueOf("-3"), HasSubstr("arith.constant -3"));
  EXPECT_THAT(valueOf("log2(ranks)"), HasSubstr("coil.log2 %ranks"));
  EXPECT_THAT(valueOf("min(ranks, 2)"), HasSubstr("arith.minsi %ranks, %c2"));
  EXPECT_THAT(valueOf("max(2, ranks)"), HasSubstr("arith.maxsi %c2, %ranks"));
  EXPECT_THAT(valueOf("ranks <= 2"), HasSubstr("arith.cmpi sle, %ranks, %c2"));
  EXPECT_THAT(valueOf("!(ranks > 2)"), HasSubstr("arith.xori %0, %true"));
  EXPECT_THAT(valueOf("ranks > 2 || ranks < 4"), HasSubstr("arith.ori %0, %1"));
}

TEST(Lower, CountsUpWhereALoopGoesDown) {
  EXPECT_THAT(lowered("algorithm a : allreduce {\n"
                      "  for n in 7..-1 step -2\n"
                      "    copy data[n] @ 0 -> data[0] @ 0\n"
                      "}\n"),
              ::testing::HasSubstr(R"(    %0 = arith.cmpi ne, %c-2, %c0 : index
    coil.assert %0, "a step must not be 0"
    %1 = arith.subi %c7, %c-1 : index
    %2 = arith.floordivsi %1, %c-2 : index
    %3 = arith.subi %c0, %2 : index
    scf.for %arg0 = %c0 to %3 step %c1 {
      %4 = arith.muli %arg0, %c-2 : index
      %5 = arith.addi %c7, %4 : index
      %6 = coil.place data[%5] on %c0
)"));
}

TEST(Lower, KeepsParametersAndFunctions) {
  EXPECT_EQ(lowered("fn pick(n, upper: bool) = if upper then n else pick(n, true)\n"
                    "algorithm a(k: int in 2..ranks = 2, fast: bool) : allreduce {\n"
                    "  assert pick(k, fast) == rank(1, 0)\n"
                    "}\n"),
            R"mlir(module {
  func.func private @pick(%arg0: index, %arg1: i1) -> index {
    %0 = scf.if %arg1 -> (index) {
      scf.yield %arg0 : index
    } else {
      %true = arith.constant true
      %1 = func.call @pick(%arg0, %true) : (index, i1) -> index
      scf.yield %1 : index
    }
    return %0 : index
  }
  coil.algorithm @a implements allreduce {
  ^bb0(%ranks: index):
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %0 = coil.nodes
    %1 = arith.floordivsi %ranks, %0 : index
    %2 = coil.parameter k in %c2 to %ranks default %c2 : index
    %3 = coil.parameter fast : i1
    %4 = func.call @pick(%2, %3) : (index, i1) -> index
    %5 = coil.mod %c1, %0
    %6 = arith.muli %5, %1 : index
    %7 = coil.mod %c0, %1
    %8 = arith.addi %6, %7 : index
    %9 = arith.cmpi eq, %4, %8 : index
    coil.assert %9, "pick(k, fast) == rank(1, 0)"
  }
}
)mlir");
}

TEST(Lower, ComputesARightOperandOnlyIfItMatters) {
  EXPECT_THAT(lowered("algorithm a : allreduce {\n"
                      "  for n in 0..ranks\n"
                      "    if n != 0 && 8 / n > 1 {}\n"
                      "    else copy data[0] @ n -> data[0] @ n\n"
                      "}\n"),
              ::testing::HasSubstr(R"(      %0 = arith.cmpi ne, %arg0, %c0 : index
      %1 = scf.if %0 -> (i1) {
        %2 = arith.floordivsi %c8, %arg0 : index
        %3 = arith.cmpi sgt, %2, %c1 : index
        scf.yield %3 : i1
      } else {
        %false = arith.constant false
        scf.yield %false : i1
      }
      scf.if %1 {
      } else {
        %2 = coil.place data[%c0] on %arg0
)"));
}

TEST(Lower, CarriesTheSourcePosition) {
  std::string text = lowered("algorithm a : allreduce {\n"
                             "  assert ranks > 1 \"too \\\"few\\\"\"\n"
                             "  send data[0] @ 0 -> data[0] @ 1\n"
                             "}\n"
                             "algorithm b : allgather {}\n",
                             /*withLocations=*/true);
  using ::testing::HasSubstr;
  EXPECT_THAT(text, HasSubstr(R"(coil.assert %0, "too \22few\22" test.coil:2:3)"));
  EXPECT_THAT(text, HasSubstr("coil.place data[%c0] on %c1 test.coil:3:23"));
  EXPECT_THAT(text, HasSubstr("coil.send %1 to %2 test.coil:3:3"));
  EXPECT_THAT(text, HasSubstr("coil.algorithm @b implements allgather"));
}

} // namespace
