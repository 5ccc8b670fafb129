//===- CheckTest.cpp - Names, types and numbers ---------------------------===//

#include "test/unit/frontend/FrontendTesting.h"

using namespace coil;
using namespace coil::testing;

namespace {

TEST(CheckContract, KnowsTheCollectives) {
  for (std::string contract :
       {"allreduce", "allgather", "reduce_scatter", "broadcast(root)", "reduce(root)",
        "gather(root)", "scatter(root)", "alltoall", "sendrecv", "barrier"})
    EXPECT_EQ(errorsOf("algorithm a : " + contract + " {}"), "");
  const std::string known =
      "1:15: error: expected one of the collectives allreduce, allgather, reduce_scatter, "
      "broadcast(root), reduce(root), gather(root), scatter(root), alltoall, sendrecv, barrier, "
      "custom, found ";
  EXPECT_EQ(errorsOf("algorithm a : all_to_all {}"),
            known + "'all_to_all'; did you mean 'alltoall'?\n");
  EXPECT_EQ(errorsOf("algorithm a : everything {}"), known + "'everything'\n");
  EXPECT_EQ(errorsOf("algorithm a : allreduc { send data[3] @ 0 -> data[3] @ 1 }"),
            known + "'allreduc'; did you mean 'allreduce'?\n");
}

TEST(CheckContract, WantsARootWhereThereIsOne) {
  EXPECT_EQ(errorsOf("algorithm a : broadcast {}"),
            "1:15: error: 'broadcast' needs a name for its root's rank, as in "
            "'broadcast(root)'\n");
  EXPECT_EQ(errorsOf("algorithm a : reduce {}"),
            "1:15: error: 'reduce' needs a name for its root's rank, as in 'reduce(root)'\n");
  EXPECT_EQ(errorsOf("algorithm a : alltoall(root) {}"), "1:24: error: 'alltoall' has no root\n");
  EXPECT_EQ(errorsOf("algorithm a : allreduce(root) {}"), "1:25: error: 'allreduce' has no root\n");
  EXPECT_EQ(errorsOf("algorithm a : broadcast(from) { send data[0] @ from -> data[0] @ from + 1 }"),
            "");
  EXPECT_EQ(errorsOf("algorithm a : broadcast(ranks) {}"),
            "1:25: error: 'ranks' is a word of the language; choose another name\n");
}

TEST(CheckNames, SuggestsWhatIsVisible) {
  EXPECT_EQ(errorsIn("for step in 0..ranks\n send data[0] @ stpe -> data[0] @ rank"),
            "3:17: error: unknown name 'stpe'; did you mean 'step'?\n"
            "3:35: error: unknown name 'rank'; did you mean 'ranks'?\n");
  EXPECT_EQ(errorsIn("copy dta[0] @ 0 -> output[0] @ 0"),
            "2:6: error: unknown buffer 'dta'; did you mean 'data'?\n");
  EXPECT_EQ(errorsIn("let x = lg2(4) + nothing"),
            "2:9: error: unknown function 'lg2'; did you mean 'log2'?\n"
            "2:18: error: unknown name 'nothing'\n");
}

TEST(CheckNames, KeepsScopes) {
  EXPECT_EQ(errorsIn("for i in 0..2 {}\nlet x = i"),
            "3:9: error: unknown name 'i'\n"
            "2:5: note: 'i' is declared here, in a block that has ended\n");
  EXPECT_EQ(errorsIn("for i in 0..2 {}\nfor i in 0..2 {}\nlet i = 1"), "");
  EXPECT_EQ(errorsIn("if ranks > 1 { let x = 1 } else { let x = 2 }"), "");
  EXPECT_EQ(errorsIn("reduce data[0] @ q for q in 0..2, data[0] @ q for q in 2..4 -> data[0] @ 0"),
            "");
  EXPECT_EQ(errorsIn("reduce data[0] @ q for q in 0..2, data[0] @ q -> data[0] @ 0"),
            "2:45: error: unknown name 'q'\n"
            "2:24: note: 'q' is declared here, in a block that has ended\n");
}

TEST(CheckNames, RefusesShadowing) {
  EXPECT_EQ(errorsIn("let x = 1\nfor x in 0..2 {}"),
            "3:5: error: 'x' is declared already\n2:5: note: the first declaration is here\n");
  EXPECT_EQ(errorsIn("scratch x[1]\nlet x = 1"),
            "3:5: error: 'x' is declared already\n2:9: note: the first declaration is here\n");
  EXPECT_EQ(errorsIn("let data = 1"),
            "2:5: error: 'data' is a word of the language; choose another name\n");
  EXPECT_EQ(errorsIn("let min = 1"),
            "2:5: error: 'min' is the name of a function; choose another name\n");
  EXPECT_EQ(errorsOf("algorithm a : allreduce {}\nalgorithm a : allgather {}"),
            "2:11: error: an algorithm named 'a' exists already\n"
            "1:11: note: the first one is here\n");
}

TEST(CheckNames, TellsBuffersFromValues) {
  EXPECT_EQ(errorsIn("scratch s[1]\nlet x = s + data"),
            "3:9: error: expected a value, found the buffer 's'\n"
            "2:9: note: 's' is declared here\n"
            "3:13: error: expected a value, found the buffer 'data'\n");
  EXPECT_EQ(errorsIn("let x = 1\ncopy x[0] @ 0 -> ranks[0] @ 0"),
            "3:6: error: expected a buffer, found the value 'x'\n"
            "2:5: note: 'x' is declared here\n"
            "3:18: error: expected a buffer, found the value 'ranks'\n");
}

TEST(CheckTypes, TellsIntsFromBools) {
  EXPECT_EQ(errorsIn("if ranks {}"), "2:4: error: a condition must be a bool, found an int; "
                                     "compare it, as in 'x != 0'\n");
  EXPECT_EQ(errorsIn("let b = ranks > 1\nif !b && (b == b) {}"), "");
  EXPECT_EQ(errorsIn("chunks 1 < 2"), "2:8: error: the number of chunks must be an int, "
                                      "found a bool\n");
  EXPECT_EQ(errorsIn("let x = (1 < 2) + 1"),
            "2:9: error: an operand of '+' must be an int, found a bool\n");
  EXPECT_EQ(errorsIn("let x = -(1 < 2)"),
            "2:10: error: the operand of '-' must be an int, found a bool\n");
  EXPECT_EQ(errorsIn("let x = !1"), "2:10: error: the operand of '!' must be a bool, found an "
                                    "int; compare it, as in 'x != 0'\n");
  EXPECT_EQ(errorsIn("let x = 1 == (1 == 1)"), "2:9: error: cannot compare an int with a bool\n");
  EXPECT_EQ(errorsIn("let x = (1 < 2) < (2 < 3)"),
            "2:9: error: an operand of '<' must be an int, found a bool\n");
  EXPECT_EQ(errorsIn("send data[1 < 2] @ 0 -> data[0] @ 1 == 1"),
            "2:11: error: a chunk index must be an int, found a bool\n"
            "2:35: error: a rank must be an int, found a bool\n");
  EXPECT_EQ(errorsIn("for i in 0..2 step 1 == 1 {}"),
            "2:20: error: a step must be an int, found a bool\n");
}

TEST(CheckTypes, CountsArguments) {
  EXPECT_EQ(errorsIn("let x = log2(1, 2)"), "2:9: error: 'log2' takes one argument, found 2\n");
  EXPECT_EQ(errorsIn("let x = min()"), "2:9: error: 'min' takes at least one argument, "
                                       "found none\n");
  EXPECT_EQ(errorsIn("let x = max(1 < 2, 3)"),
            "2:13: error: an argument of 'max' must be an int, found a bool\n");
}

TEST(CheckNumbers, ComputesConstants) {
  EXPECT_EQ(errorsIn("let x = 1 / (2 - 2)"), "2:13: error: division by zero\n");
  EXPECT_EQ(errorsIn("let x = ranks % 0"), "2:17: error: division by zero\n");
  EXPECT_EQ(errorsIn("let x = 1 << -1"), "2:14: error: a shift must be by 0 to 63 bits, "
                                         "found -1\n");
  EXPECT_EQ(errorsIn("let x = ranks >> ranks + 63"),
            "2:18: error: a shift must be by 0 to 63 bits, found ranks + 63\n");
  EXPECT_EQ(errorsIn("let x = 0x7fffffffffffffff + 1"),
            "2:9: error: the result does not fit into 64 signed bits\n");
  EXPECT_EQ(errorsIn("let x = 1 << 63"),
            "2:9: error: the result does not fit into 64 signed bits\n");
  EXPECT_EQ(errorsIn("let x = (-0x7fffffffffffffff - 1) / -1"),
            "2:9: error: the result does not fit into 64 signed bits\n");
  EXPECT_EQ(errorsIn("let x = log2(0)"),
            "2:14: error: the argument of 'log2' must be at least 1, found 0\n");
  // Each value is wrong unless the arithmetic before it is right.
  for (std::string equation :
       {"-7 / 2 == -4", "-7 % 2 == 1", "7 % -2 == -1", "7 / -2 == -4", "-1 >> 1 == -1",
        "log2(9) == 3", "min(3, 1, 2) == 1", "max(3, 1, 2) == 3", "~5 == -6", "6 & 3 == 2",
        "6 | 3 == 7", "6 ^ 3 == 5", "1 << 62 > 0", "ranks >= 1", "ranks * 2 > ranks"})
    EXPECT_EQ(errorsIn("if !(" + equation + ") { let x = 1 / 0 }"), "") << equation;
}

TEST(CheckNumbers, JudgesChunksAndScratch) {
  EXPECT_EQ(errorsIn("chunks 0"), "2:8: error: the number of chunks must be at least 1, "
                                  "found 0\n");
  EXPECT_EQ(errorsIn("chunks 1 - ranks"),
            "2:8: error: the number of chunks must be at least 1, found -ranks + 1\n");
  EXPECT_EQ(errorsIn("chunks ranks - 1"), "");
  EXPECT_EQ(errorsIn("scratch s[-3]"),
            "2:11: error: scratch 's' must have at least 1 slot, found -3\n");
}

TEST(CheckNumbers, JudgesRanges) {
  EXPECT_EQ(errorsIn("for i in 5..2 {}"),
            "2:10: error: the range is reversed: it begins at 5 and ends at 2\n");
  EXPECT_EQ(errorsIn("for i in 1..ranks {}\nfor i in 0..ranks - 2 {}\nfor i in 3..3 {}"), "");
  EXPECT_EQ(errorsIn("for i in 0..4 step 0 {}"), "2:20: error: a step must not be 0\n");
  EXPECT_EQ(errorsIn("send data[2..2] @ 0 -> data[0] @ 1"),
            "2:11: error: a run of chunks must end after it begins; it begins at 2 and ends at "
            "2\n");
}

TEST(CheckNumbers, JudgesRangesThatGoDown) {
  EXPECT_EQ(errorsIn("for i in 2..5 step -1 {}"),
            "2:10: error: the range is reversed: it goes down, begins at 2 and ends at 5\n");
  EXPECT_EQ(errorsIn("chunks 8\nfor i in 7..-1 step -1 send data[i] @ 0 -> data[i] @ 1"), "");
  EXPECT_EQ(errorsIn("chunks 8\nfor i in 8..0 step -1 send data[i] @ 0 -> data[7] @ 1"), "");
  EXPECT_EQ(errorsIn("for i in -1..-5 step -2 send data[i] @ 0 -> data[0] @ 1"),
            "2:35: error: the chunk index is at most -1; chunks are counted from 0\n");
  // The sign is known on the instance.
  EXPECT_EQ(errorsIn("for i in 2..5 step ranks - 3 send data[i - 9] @ 0 -> data[0] @ 1"), "");
}

TEST(CheckHeads, JudgesParameters) {
  auto errors = [](std::string parameters, std::string body = "") {
    return errorsOf("algorithm a(" + parameters + ") : allreduce {\n" + body + "}");
  };
  EXPECT_EQ(errors("k: int = ranks, m: int in 0..k = k - 1, f: bool = k > 2"), "");
  EXPECT_EQ(errors("k: int = true"), "1:22: error: 'k' must be an int, found a bool\n");
  EXPECT_EQ(errors("k: bool = 1"), "1:23: error: 'k' must be a bool, found an int\n");
  EXPECT_EQ(errors("k: int in 2..9 = 9"), "1:30: error: the default of 'k' is out of its range\n");
  EXPECT_EQ(errors("k: int in 3..3"),
            "1:23: error: the range of 'k' holds nothing: it begins at 3 and ends at 3\n");
  EXPECT_EQ(errors("k: int, k: bool"), "1:21: error: 'k' is declared already\n"
                                       "1:13: note: the first declaration is here\n");
  EXPECT_EQ(errors("k: int in 1..3", "send data[k] @ 0 -> data[0] @ 1"),
            "2:11: error: the chunk index is at least 1, but 'data' has 1 chunk\n");
}

TEST(CheckHeads, JudgesFunctions) {
  auto errors = [](std::string function, std::string body = "") {
    return errorsOf(function + "\nalgorithm a : allreduce {\n" + body + "}");
  };
  EXPECT_EQ(errors("fn f(a, b: bool) = if b then f(a - 1, !b) else a", "let x = f(1, true)"), "");
  EXPECT_EQ(errors("fn f(a) : bool = a"),
            "1:18: error: 'f' has the type bool, but its value is an int\n");
  EXPECT_EQ(errors("fn f(a) = a + ranks"), "1:15: error: unknown name 'ranks'\n"
                                           "1:4: note: a function sees its parameters alone\n");
  EXPECT_EQ(errors("fn f(a) = node(a)"), "1:11: error: 'node' is not known in a function\n"
                                         "1:4: note: a function sees its parameters alone\n");
  EXPECT_EQ(errors("fn f(a) = a", "let x = f()"), "3:9: error: 'f' takes one argument, found none\n"
                                                  "1:4: note: 'f' is declared here\n");
  EXPECT_EQ(errors("fn f(a) = a", "let x = f(true)"),
            "3:11: error: 'a' must be an int, found a bool\n1:6: note: 'a' is declared here\n");
  EXPECT_EQ(errors("fn f(a) = a", "let f = 1"),
            "3:5: error: 'f' is the name of a function; choose another name\n");
  EXPECT_EQ(errors("fn min(a) = a"),
            "1:4: error: 'min' is a word of the language; choose another name\n");
  EXPECT_EQ(errors("fn a() = 1"), "2:11: error: an algorithm named 'a' exists already\n"
                                  "1:4: note: the first one is here\n");
  EXPECT_EQ(errors("fn f(a) = g(a)"), "1:11: error: unknown function 'g'\n");
}

TEST(CheckNumbers, JudgesConditionsAndBuiltins) {
  EXPECT_EQ(errorsIn("let x = if ranks > 1 then 1 else true"),
            "2:9: error: the values of a condition must be of one type, found an int and a "
            "bool\n");
  EXPECT_EQ(errorsIn("let x = if 2 > 1 then 1 else 1 / 0"), "");
  EXPECT_EQ(errorsIn("send data[if ranks > 1 then 2 else 3] @ 0 -> data[0] @ 1"),
            "2:11: error: the chunk index is at least 2, but 'data' has 1 chunk\n");
  EXPECT_EQ(errorsIn("assert abs(-3) == 4"), "2:1: error: this assertion never holds: abs(-3) == "
                                             "4\n");
  EXPECT_EQ(errorsIn("assert ceil_div(7, 2) == 4 && !is_power_of_two(6)\n"
                     "assert ceil_div(7, 2) == 3"),
            "3:1: error: this assertion never holds: ceil_div(7, 2) == 3\n");
  EXPECT_EQ(errorsIn("let x = ceil_div(1, 0)"), "2:21: error: division by zero\n");
  EXPECT_EQ(errorsIn("let x = gcd(1)"), "2:9: error: 'gcd' takes 2 arguments, found 1\n");
  EXPECT_EQ(errorsIn("let x = rank(nodes, 0) + local(1) + node(ranks_per_node)"), "");
}

TEST(CheckNumbers, JudgesPlaces) {
  EXPECT_EQ(errorsIn("send data[-1] @ 0 -> data[0] @ -1"),
            "2:11: error: the chunk index is -1; chunks are counted from 0\n");
  EXPECT_EQ(errorsIn("send data[1] @ 0 -> data[0] @ 1"),
            "2:11: error: the chunk index is 1, but 'data' has 1 chunk\n");
  EXPECT_EQ(errorsIn("chunks ranks\nfor c in 1..2\nsend data[ranks] @ 0 -> data[c + ranks] @ 1"),
            "4:11: error: the chunk index is ranks, but 'data' has ranks chunks\n"
            "4:30: error: the chunk index is ranks + 1, but 'data' has ranks chunks\n");
  EXPECT_EQ(errorsIn("chunks 4\nsend data[3..5] @ 0 -> data[0..2] @ 1"),
            "3:14: error: the end of the run is 5, but 'data' has 4 chunks\n");
  EXPECT_EQ(errorsIn("scratch s[min(ranks, 3)]\ncopy data[0] @ 0 -> s[3] @ 0"),
            "3:23: error: the chunk index is 3, but 's' has at most 3 chunks\n"
            "2:9: note: 's' is declared here\n");
  EXPECT_EQ(errorsIn("chunks 4\nsend data[0..2] @ 0 -> data[0] @ 1"),
            "3:6: error: this place has 2 chunks, but the destination has 1 chunk\n"
            "3:24: note: the destination is here\n");
  // Wrong for some numbers of ranks only: the instance tells.
  EXPECT_EQ(errorsIn("chunks 4\nfor c in 0..ranks send data[c] @ 0 -> data[c - 1] @ 1"), "");
}

TEST(CheckNumbers, KnowsTheSizeOfEachBuffer) {
  auto sizes = [](std::string contract) {
    std::string result;
    for (std::string buffer : {"input", "output", "data"})
      result += errorsOf("algorithm a : " + contract + " {\nchunks 2\nlet far = 4 * ranks\n" +
                         "copy " + buffer + "[far] @ 0 -> " + buffer + "[far] @ 0\n}");
    return result;
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(sizes("allgather"), HasSubstr("'input' has 2 chunks"));
  EXPECT_THAT(sizes("allgather"), HasSubstr("'output' has 2 * ranks chunks"));
  EXPECT_THAT(sizes("allgather"), HasSubstr("'data' has 2 * ranks chunks"));
  EXPECT_THAT(sizes("reduce_scatter"), HasSubstr("'input' has 2 * ranks chunks"));
  EXPECT_THAT(sizes("reduce_scatter"), HasSubstr("'output' has 2 chunks"));
  EXPECT_THAT(sizes("reduce_scatter"), HasSubstr("'data' has 2 * ranks chunks"));
  EXPECT_THAT(sizes("broadcast(root)"), HasSubstr("'data' has 2 chunks"));
}

TEST(CheckNumbers, PassesOverWhatIsNeverExecuted) {
  EXPECT_EQ(errorsIn("let n = 1\nfor i in 0..n if i > 0 send data[i - 1] @ 0 -> data[-1] @ 1"), "");
  EXPECT_EQ(errorsIn("let n = 0\nif n != 0 && 1 / n > 0 || n == 0 { let x = 1 }"), "");
  EXPECT_EQ(errorsIn("for i in 0..0 { let x = 1 / 0 + log2(0) + (1 << 64) let y = x }"), "");
  EXPECT_EQ(errorsIn("combine data[0] @ 1, data[-1] @ q for q in 0..3 if q > 3 -> output[0] @ 0"),
            "");
  // Names and types are judged everywhere.
  EXPECT_EQ(errorsIn("if 1 > 2 { let x = y }"), "2:20: error: unknown name 'y'\n");
}

TEST(CheckStatements, NeverWritesTheInput) {
  EXPECT_EQ(errorsIn("send data[0] @ 0 -> input[0] @ 1"),
            "2:21: error: cannot write to 'input': the caller's input is never written\n");
}

TEST(CheckStatements, PutsChunksFirstAndOnce) {
  EXPECT_EQ(errorsIn("let k = 2\nassert k > 1\nscratch s[k]\nchunks k"), "");
  EXPECT_EQ(errorsIn("chunks 1\nchunks 2"),
            "3:1: error: the number of chunks is given already\n2:1: note: it is given here\n");
  EXPECT_EQ(errorsIn("for i in 0..2 { if true exchange {} }\nchunks 2"),
            "3:1: error: 'chunks' must come before the first statement that moves chunks\n"
            "2:1: note: the first one is here\n");
  EXPECT_EQ(errorsIn("if ranks > 1 { chunks 2 scratch s[1] }"),
            "2:16: error: 'chunks' must stand at the top level of the algorithm\n"
            "2:25: error: 'scratch' must stand at the top level of the algorithm\n");
}

TEST(CheckStatements, NestsNoExchange) {
  EXPECT_EQ(errorsIn("exchange { for i in 0..2 { exchange {} exchange {} } }\nexchange {}"),
            "2:28: error: an exchange cannot stand in another exchange\n"
            "2:1: note: the outer one is here\n"
            "2:40: error: an exchange cannot stand in another exchange\n"
            "2:1: note: the outer one is here\n");
}

TEST(CheckStatements, RefusesAssertionsThatNeverHold) {
  EXPECT_EQ(errorsIn("assert ranks < 1 \"no ranks\""),
            "2:1: error: this assertion never holds: no ranks\n");
  EXPECT_EQ(errorsIn("assert 2 ==\n   3"), "2:1: error: this assertion never holds: 2 == 3\n");
}

TEST(Check, GivesOneErrorForOneMistake) {
  EXPECT_EQ(errorsIn("let x = nothing\nlet y = x + 1\nfor i in 0..y send data[i] @ x -> "
                     "data[i] @ y"),
            "2:9: error: unknown name 'nothing'\n");
}

TEST(CheckTables, WantsRowsOfOneLength) {
  EXPECT_EQ(errorsIn("let t = [[1, ranks], [2, 1 + 1]]\nlet x = t[0][1] + t[1][0]"), "");
  EXPECT_EQ(errorsIn("let t = [[1, 2], [3]]\nlet x = t[5][5]"),
            "2:18: error: expected 2 entries, as the first row has, found 1\n");
  EXPECT_EQ(errorsIn("let t = [[1, 2], 3]"),
            "2:18: error: expected a row, as the first entry is, found a number\n");
  EXPECT_EQ(errorsIn("let t = [1, [2]]"),
            "2:13: error: expected a number, as the first entry is, found a row\n");
  EXPECT_EQ(errorsIn("let t = [[[1], [2]], [[3], 4]]"),
            "2:28: error: expected a row, as the first entry is, found a number\n");
  EXPECT_EQ(errorsIn("let t = [true]"),
            "2:10: error: an entry of a table must be an int, found a bool\n");
  EXPECT_EQ(errorsIn("let t = [[[[[[[[[1]]]]]]]]]"),
            "2:16: error: a table has at most 8 dimensions\n");
  EXPECT_EQ(errorsIn("let t = [1, 2\nlet x = 1"),
            "2:14: error: expected ']', found the keyword 'let'\n"
            "2:9: note: to close this '['\n");
}

TEST(CheckTables, WantsIndicesThatAreThere) {
  auto in = [](std::string_view use) {
    return errorsIn("let t = [[1, 2, 3], [4, 5, 6]]\n" + std::string(use));
  };
  const std::string declared = "2:5: note: 't' is declared here\n";
  EXPECT_EQ(in("let x = t[2][0]"),
            "3:11: error: the index is 2, but 't' has entries 0 to 1 there\n" + declared);
  EXPECT_EQ(in("let x = t[0][ranks + 2]"),
            "3:14: error: the index is ranks + 2, but 't' has entries 0 to 2 there\n" + declared);
  EXPECT_EQ(in("let x = t[-1][0]"),
            "3:11: error: the index is -1, but 't' has entries 0 to 1 there\n" + declared);
  EXPECT_EQ(in("if false let x = t[7][0]"), "");
  EXPECT_EQ(in("let x = t[0]"), "3:9: error: 't' needs 2 indices, found 1\n" + declared);
  EXPECT_EQ(in("let x = t[0][1][2]"), "3:9: error: 't' needs 2 indices, found 3\n" + declared);
  EXPECT_EQ(
      in("let x = t + 1"),
      "3:9: error: expected a value, found the table 't'; take an entry of it, as in 't[0]'\n" +
          declared);
  EXPECT_EQ(in("let x = 1 let y = x[0]"), "3:19: error: expected a table, found the value 'x'\n"
                                          "3:5: note: 'x' is declared here\n");
  EXPECT_EQ(in("let y = data[0]"), "3:9: error: expected a table, found the buffer 'data'\n");
  EXPECT_EQ(in("let y = tt[0]"), "3:9: error: unknown table 'tt'\n");
  EXPECT_EQ(in("send t[0] @ 0 -> data[0] @ 1"),
            "3:6: error: expected a buffer, found the table 't'\n" + declared);
  EXPECT_EQ(in("let x = t[true][0]"),
            "3:11: error: an index of a table must be an int, found a bool\n");
  EXPECT_EQ(in("let t = 1"), "3:5: error: 't' is declared already\n"
                             "2:5: note: the first declaration is here\n");
  // What is known of all entries is known of each.
  EXPECT_EQ(in("send data[t[0][ranks - 1]] @ 0 -> data[0] @ 1"),
            "3:11: error: the chunk index is at least 1, but 'data' has 1 chunk\n");
  EXPECT_EQ(errorsOf("fn f(t) = t[0] algorithm a : allreduce { }"),
            "1:11: error: expected a table, found the value 't'\n"
            "1:6: note: 't' is declared here\n");
}

TEST(CheckFolds, PutsNumbersTogether) {
  EXPECT_EQ(errorsIn("let x = sum(i * j for i in 0..ranks for j in 0..i if i != j)\nlet sum = x"),
            "");
  EXPECT_EQ(errorsIn("let x = max(true for i in 0..ranks)"),
            "2:13: error: what 'max' puts together must be an int, found a bool\n");
  EXPECT_EQ(errorsIn("let x = abs(i for i in 0..ranks)"),
            "2:15: error: expected ',' or ')', since only 'sum', 'min' and 'max' take loops and "
            "'abs' does not, found the keyword 'for'\n");
  EXPECT_EQ(errorsIn("let x = min(i for i in 0..ranks) + i"),
            "2:36: error: unknown name 'i'\n"
            "2:19: note: 'i' is declared here, in a block that has ended\n");
  EXPECT_EQ(errorsIn("let x = sum(i for ranks in 0..3)"),
            "2:19: error: 'ranks' is a word of the language; choose another name\n"
            "2:13: error: unknown name 'i'\n");
  // The values' bounds are those of the smallest and the largest.
  EXPECT_EQ(errorsIn("send data[max(i for i in 1..ranks + 1)] @ 0 -> data[0] @ 1"),
            "2:11: error: the chunk index is at least 1, but 'data' has 1 chunk\n");
  EXPECT_EQ(errorsIn("send data[-1 - sum(i for i in 0..ranks)] @ 0 -> data[0] @ 1"),
            "2:11: error: the chunk index is at most -1; chunks are counted from 0\n");
  EXPECT_EQ(errorsOf("fn f(n) = sum(ranks for i in 0..n) algorithm a : allreduce { }"),
            "1:15: error: unknown name 'ranks'\n1:4: note: a function sees its parameters alone\n");
}

/// As errorsIn, for the body of an algorithm with a contract of its own.
std::string errorsInCustom(std::string_view body) {
  return errorsOf(fmt::format("algorithm a : custom {{\n{}\n}}\n", body));
}

TEST(CheckContract, TakesAnAlgorithmsOwn) {
  EXPECT_EQ(
      errorsInCustom("let sizes = [2, 3]\nrequires ranks <= 4 \"few\"\n"
                     "segments input[ranks], output[sizes[1]] chunks 2\n"
                     "for r in 0..ranks { let q = (r + 1) % ranks\n"
                     "  if q != r ensures output[0] @ r == input[q] @ q }\n"
                     "for r in 1..ranks ensures output[1..3] @ r == input[0..2] @ r - 1\n"
                     "ensures output[0] @ 0 == sum(input[0] @ 0, input[i] @ q for q in 1..ranks "
                     "for i in 0..q if i != q)\nlet segments = 1"),
      "");
}

TEST(CheckContract, WantsAllOfAnAlgorithmsOwn) {
  EXPECT_EQ(errorsInCustom(""),
            "1:15: error: 'custom' needs the segments of its buffers, as in 'segments input[1], "
            "output[2]'\n"
            "1:15: error: 'custom' needs what the algorithm promises, as in 'ensures output[0] @ 1 "
            "== input[0] @ 0'\n");
  EXPECT_EQ(errorsInCustom("ensures output[0] @ 0 == input[0] @ 0\nsegments input[1], output[1]"),
            "2:1: error: 'segments' must come before the first 'ensures'\n");
  EXPECT_EQ(errorsInCustom("segments input[1], output[1]\nsegments input[1], output[1]\n"
                           "ensures output[0] @ 0 == input[0] @ 0"),
            "3:1: error: the segments are given already\n2:1: note: they are given here\n");
  EXPECT_EQ(errorsInCustom("if ranks > 1 { segments input[1], output[1] }\n"
                           "ensures output[0] @ 0 == input[0] @ 0"),
            "2:16: error: 'segments' must stand at the top level of the algorithm\n");
  EXPECT_EQ(
      errorsInCustom("segments input[0], output[-ranks]\nensures output[0] @ 0 == input[0] @ 0"),
      "2:16: error: the number of segments must be at least 1, found 0\n"
      "2:27: error: the number of segments must be at least 1, found -ranks\n");
  EXPECT_EQ(errorsInCustom("segments output[1], input[1]"),
            "2:10: error: expected 'input' and its number of segments, found 'output'\n");
}

TEST(CheckContract, PromisesOutputsOfInputs) {
  auto promised = [](std::string_view promise) {
    return errorsInCustom("segments input[2], output[ranks]\n" + std::string(promise));
  };
  EXPECT_EQ(promised("ensures input[0] @ 0 == input[0] @ 0"),
            "3:9: error: expected 'output', found 'input': a contract says what the output is of "
            "the input\n");
  EXPECT_EQ(promised("ensures output[0] @ 0 == data[0] @ 0"),
            "3:26: error: expected 'input', found 'data': a contract says what the output is of "
            "the input\n");
  EXPECT_EQ(promised("ensures output[0] @ 0 == input[2] @ 0"),
            "3:32: error: the segment's index is 2, but 'input' has 2 segments\n");
  EXPECT_EQ(promised("ensures output[0..ranks + 1] @ 0 == input[-1] @ 0"),
            "3:19: error: the end of the run is ranks + 1, but 'output' has ranks segments\n"
            "3:43: error: the segment's index is -1; segments are counted from 0\n");
  EXPECT_EQ(promised("ensures output[0..2] @ 0 == input[0] @ 0"),
            "3:29: error: this place has 1 segment, but what is promised has 2 segments\n"
            "3:9: note: it is promised of this place\n");
  EXPECT_EQ(promised("for r in 0..ranks ensures output[0] @ r == input[0] @ r - ranks"),
            "3:55: error: the rank is at most -1; a contract does not go around the ranks of "
            "itself: write '% ranks' where that is meant\n");
  EXPECT_EQ(promised("ensures output[0] @ ranks == input[0] @ 0"),
            "3:21: error: the rank is ranks; a contract does not go around the ranks of itself: "
            "write '% ranks' where that is meant\n");
  EXPECT_EQ(promised("ensures output[0] @ r == input[0] @ r"),
            "3:21: error: unknown name 'r'\n3:37: error: unknown name 'r'\n");
  EXPECT_EQ(promised("ensures output[0] @ 0 -> input[0] @ 0"),
            "3:23: error: expected '==' and what the place ends as, found '->'\n");
  EXPECT_EQ(promised("ensures output[0] @ 0 == sum input[0] @ 0"),
            "3:30: error: expected '(' and what is summed, found 'input'\n");
  EXPECT_EQ(promised("ensures output[0] @ 0 == 3"),
            "3:26: error: expected a place such as 'data[0] @ 0', found '3'\n");
}

TEST(CheckContract, StandsBeforeTheMoves) {
  EXPECT_EQ(errorsInCustom("segments input[1], output[1]\n"
                           "for r in 1..ranks { ensures output[0] @ r == input[0] @ 0\n"
                           "send input[0] @ 0 -> output[0] @ r }\n"
                           "requires ranks > 1"),
            "3:21: error: 'ensures' must come before the first statement that moves chunks\n"
            "3:1: note: the first one is here\n"
            "5:1: error: 'requires' must come before the first statement that moves chunks\n"
            "3:1: note: the first one is here\n");
  EXPECT_EQ(errorsIn("ensures output[0] @ 0 == input[0] @ 0"),
            "2:1: error: 'ensures' is for contracts of an algorithm's own: what 'allreduce' "
            "promises is known\n");
  EXPECT_EQ(errorsIn("segments input[1], output[1]"),
            "2:1: error: 'segments' is for contracts of an algorithm's own: the buffers of "
            "'allreduce' are known\n");
  EXPECT_EQ(errorsIn("requires ranks > 2\nif true requires ranks > 3"),
            "3:9: error: 'requires' must stand at the top level of the algorithm\n");
  EXPECT_EQ(errorsIn("requires ranks < 1"),
            "2:1: error: this requirement never holds: ranks < 1\n");
}

TEST(CheckSchedule, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(errorsIn("let n = 4 schedule { slices n parallel 1 + 1 transport staged }\n"
                     "let slices = 1 let parallel = slices let transport = parallel"),
            "");
  EXPECT_EQ(errorsIn("schedule { } schedule { }"),
            "2:14: error: the schedule is given already\n2:1: note: it is given here\n");
  EXPECT_EQ(errorsIn("if ranks > 1 { schedule { } }"),
            "2:16: error: 'schedule' must stand at the top level of the algorithm\n");
  EXPECT_EQ(errorsIn("send data[0] @ 0 -> data[0] @ 1\nschedule { }"),
            "3:1: error: 'schedule' must come before the first statement that moves chunks\n"
            "2:1: note: the first one is here\n");
  EXPECT_EQ(errorsIn("schedule { slices 0 parallel true slices 2 }"),
            "2:19: error: the number behind 'slices' must be at least 1, found 0\n"
            "2:30: error: the number behind 'parallel' must be an int, found a bool\n"
            "2:35: error: 'slices' is given already\n2:12: note: it is given here\n");
  EXPECT_EQ(errorsIn("schedule { transport stage }"),
            "2:22: error: expected the transport 'p2p' or 'staged', found 'stage'; did you mean "
            "'staged'?\n");
  EXPECT_EQ(errorsIn("schedule { protocol ll12 }"),
            "2:21: error: expected the protocol 'simple', 'll' or 'll128', found 'll12'; did you "
            "mean 'll128'?\n");
  EXPECT_EQ(errorsIn("schedule { protocol ll transport p2p }"),
            "2:12: error: transport p2p sends no messages, so that there is no protocol\n"
            "2:24: note: the transport is given here\n");
  EXPECT_EQ(errorsIn("schedule { slice 2 }"),
            "2:12: error: expected 'slices', 'parallel', 'transport' or 'protocol', found 'slice'; "
            "did you mean 'slices'?\n");
  EXPECT_EQ(errorsIn("schedule { transport 2 }"),
            "2:22: error: expected 'p2p' or 'staged', found '2'\n");
  EXPECT_EQ(errorsIn("schedule"),
            "2:9: error: expected '{' and how the algorithm should run, found '}'\n");
}

} // namespace
