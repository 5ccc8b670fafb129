//===- ParserTest.cpp - Trees, syntax errors and recovery -----------------===//

#include "test/unit/frontend/FrontendTesting.h"

using namespace coil;
using namespace coil::testing;

namespace {

/// An expression with all its parentheses.
std::string grouped(const ast::Expr &expr) {
  struct Grouping {
    std::string operator()(const ast::IntegerExpr &expr) { return fmt::format("{}", expr.value); }
    std::string operator()(const ast::BooleanExpr &expr) { return fmt::format("{}", expr.value); }
    std::string operator()(const ast::NameExpr &expr) { return expr.name; }
    std::string operator()(const ast::UnaryExpr &expr) {
      return fmt::format("({}{})", spelling(expr.op), grouped(*expr.operand));
    }
    std::string operator()(const ast::BinaryExpr &expr) {
      return fmt::format("({} {} {})", grouped(*expr.left), spelling(expr.op),
                         grouped(*expr.right));
    }
    std::string operator()(const ast::ConditionalExpr &expr) {
      return fmt::format("({} ? {} : {})", grouped(*expr.condition), grouped(*expr.whenTrue),
                         grouped(*expr.whenFalse));
    }
    std::string operator()(const ast::CallExpr &expr) {
      std::string arguments;
      for (const ast::ExprPtr &argument : expr.arguments)
        arguments += (arguments.empty() ? "" : ", ") + grouped(*argument);
      return fmt::format("{}({})", expr.callee.text, arguments);
    }
    std::string operator()(const ast::EntryExpr &expr) {
      std::string text = expr.table.text;
      for (const ast::ExprPtr &index : expr.indices)
        text += fmt::format("[{}]", grouped(*index));
      return text;
    }
    std::string operator()(const ast::FoldExpr &expr) {
      return fmt::format("{}({} for {} loops)", spelling(expr.op), grouped(*expr.value),
                         expr.clauses.size());
    }
  };
  return ast::visit(expr, Grouping());
}

std::string groupedText(std::string_view expr) {
  Program program(fmt::format("algorithm a : allreduce {{ let x = {} }}", expr));
  if (!program.file)
    return shortText(program.diagnostics.diagnostics().front());
  const ast::Stmt &stmt = *program.file->algorithms[0]->body.statements[0];
  return grouped(*static_cast<const ast::LetStmt &>(stmt).value);
}

TEST(ParseExpr, BindsByPrecedence) {
  EXPECT_EQ(groupedText("1 + 2 * 3 - 4"), "((1 + (2 * 3)) - 4)");
  EXPECT_EQ(groupedText("a / b % c * d"), "(((a / b) % c) * d)");
  EXPECT_EQ(groupedText("1 << a + 1 & b ^ c | d"), "((((1 << (a + 1)) & b) ^ c) | d)");
  EXPECT_EQ(groupedText("ranks & (ranks - 1) == 0"), "((ranks & (ranks - 1)) == 0)");
  EXPECT_EQ(groupedText("a < b && c >= d || !e && f != g"),
            "(((a < b) && (c >= d)) || ((!e) && (f != g)))");
  EXPECT_EQ(groupedText("-a + ~b - -1"), "(((-a) + (~b)) - (-1))");
  EXPECT_EQ(groupedText("min(a, b + 1, max(c)) >> 1"), "(min(a, (b + 1), max(c)) >> 1)");
  EXPECT_EQ(groupedText("((a))"), "a");
  EXPECT_EQ(groupedText("-t[i + 1][u[0]] * 2"), "((-t[(i + 1)][u[0]]) * 2)");
  EXPECT_EQ(groupedText("sum(a * i for i in 0..2 if i > 1 for j in 0..i) + max(a, b)"),
            "(sum((a * i) for 2 loops) + max(a, b))");
}

TEST(ParseExpr, LetsAConditionGoOnToTheEnd) {
  EXPECT_EQ(groupedText("1 + if a < b then c else d + 2"), "(1 + ((a < b) ? c : (d + 2)))");
  EXPECT_EQ(groupedText("if a then if b then 1 else 2 else if true then 3 else 4"),
            "(a ? (b ? 1 : 2) : (true ? 3 : 4))");
  EXPECT_EQ(groupedText("if a 3"), "1:40: error: expected 'then' after the condition, found '3'\n");
  EXPECT_EQ(groupedText("if a then 3"),
            "1:47: error: expected 'else' and the value otherwise, found '}'\n");
}

TEST(ParseExpr, RefusesChainsOfComparisons) {
  EXPECT_EQ(groupedText("a < b < c"),
            "1:41: error: comparisons do not chain; join two of them with '&&'\n");
  EXPECT_EQ(groupedText("(a < b) == c"), "((a < b) == c)");
}

TEST(Parser, DumpsTheTree) {
  Program program("algorithm ring : broadcast(root) {\n"
                  "  chunks 2 scratch x[2]\n"
                  "  if ranks > 1 exchange { copy data[0..2] @ 0 -> x[0..2] @ 0 } else\n"
                  "    combine data[c] @ q for q in 0..ranks step 2 if q != 1 for c in 0..2,\n"
                  "      data[0] @ root -> output[0] @ log2(4)\n"
                  "}\n");
  ASSERT_TRUE(program.isValid);
  std::ostringstream out;
  dumpAst(*program.file, out);
  EXPECT_EQ(out.str(), R"(file 'test.coil'
  algorithm ring : broadcast(root) <1:1-6:2>
    chunks <2:3-11>
      integer 2 <2:10-11>
    scratch x <2:12-24>
      integer 2 <2:22-23>
    if <3:3-5:44>
      binary > <3:6-15>
        name ranks <3:6-11>
        integer 1 <3:14-15>
      then <3:16-63>
        exchange <3:16-63>
          copy <3:27-61>
            operand <3:32-46>
              place data <3:32-46>
                integer 0 <3:37-38>
                to <3:40-41>
                  integer 2 <3:40-41>
                rank <3:45-46>
                  integer 0 <3:45-46>
            destination <3:50-61>
              place x <3:50-61>
                integer 0 <3:52-53>
                to <3:55-56>
                  integer 2 <3:55-56>
                rank <3:60-61>
                  integer 0 <3:60-61>
      else <4:5-5:44>
        combine <4:5-5:44>
          operand <4:13-73>
            place data <4:13-24>
              name c <4:18-19>
              rank <4:23-24>
                name q <4:23-24>
            for q <4:25-49>
              integer 0 <4:34-35>
              name ranks <4:37-42>
              step <4:48-49>
                integer 2 <4:48-49>
              if <4:53-59>
                binary != <4:53-59>
                  name q <4:53-54>
                  integer 1 <4:58-59>
            for c <4:60-73>
              integer 0 <4:69-70>
              integer 2 <4:72-73>
          operand <5:7-21>
            place data <5:7-21>
              integer 0 <5:12-13>
              rank <5:17-21>
                name root <5:17-21>
          destination <5:25-44>
            place output <5:25-44>
              integer 0 <5:32-33>
              rank <5:37-44>
                call log2 <5:37-44>
                  integer 4 <5:42-43>
)");
}

TEST(Parser, DumpsHeads) {
  Program program("algorithm tree(radix: int in 2..9 = 2, fast: bool) : allreduce {}\n"
                  "fn pick(a, b: bool) : int = if b then a else 0\n");
  ASSERT_TRUE(program.isValid);
  std::ostringstream out;
  dumpAst(*program.file, out);
  EXPECT_EQ(out.str(), R"(file 'test.coil'
  fn pick : int <2:1-47>
    parameter a : int <2:9-10>
    parameter b : bool <2:12-13>
    conditional <2:29-47>
      name b <2:32-33>
      name a <2:39-40>
      integer 0 <2:46-47>
  algorithm tree : allreduce <1:1-66>
    parameter radix : int <1:16-38>
      in <1:30-34>
        integer 2 <1:30-31>
        integer 9 <1:33-34>
      default <1:37-38>
        integer 2 <1:37-38>
    parameter fast : bool <1:40-50>
)");
}

TEST(Parser, SaysWhatItExpectedInHeads) {
  EXPECT_EQ(errorsOf("algorithm a(x) : allreduce {}"),
            "1:14: error: expected ':' and the parameter's type, found ')'\n");
  EXPECT_EQ(errorsOf("algorithm a(x: float) : allreduce {}"),
            "1:16: error: expected the type 'int' or 'bool', found 'float'\n");
  EXPECT_EQ(errorsOf("algorithm a(x: int in 3) : allreduce {}"),
            "1:24: error: expected '..' and the end of the range, found ')'\n");
  EXPECT_EQ(errorsOf("algorithm a(x: bool in 0..2) : allreduce {}"),
            "1:21: error: a bool parameter has no range\n");
  EXPECT_EQ(errorsOf("algorithm a() : allreduce {}"), "");
  EXPECT_EQ(errorsOf("fn f = 2"),
            "1:6: error: expected '(' and the function's parameters, found '='\n");
  EXPECT_EQ(errorsOf("fn f() 2\nalgorithm a : allreduce { let 1 }"),
            "1:8: error: expected '=' and the function's value, found '2'\n"
            "2:31: error: expected a name for the value, found '1'\n");
}

TEST(Parser, TakesStepAsANameToo) {
  EXPECT_EQ(errorsIn("for step in 0..ranks step 2 send data[0] @ step -> data[0] @ step + 1"), "");
}

TEST(Parser, NeedsNoLineEnds) {
  EXPECT_EQ(errorsOf("algorithm a:allreduce{chunks 2 for c in 0..2 for r in 1..ranks "
                     "reduce data[c]@r->data[c]@0 send data[0]@0->data[0]@1}"
                     "algorithm b:allgather{send data[0]@0->data[0]@1}"),
            "");
}

TEST(Parser, SaysWhatItExpected) {
  EXPECT_EQ(errorsOf(""), "1:1: error: expected an algorithm, found end of file\n");
  EXPECT_EQ(errorsOf("ring"), "1:1: error: expected 'algorithm', 'fn' or 'import', found 'ring'\n");
  EXPECT_EQ(errorsOf("algorithm for : allreduce {}"),
            "1:11: error: expected the algorithm's name, found the keyword 'for'\n");
  EXPECT_EQ(errorsOf("algorithm schedule : allreduce {}"),
            "1:11: error: expected the algorithm's name, found the keyword 'schedule'\n");
  EXPECT_EQ(errorsOf("algorithm a {}"),
            "1:13: error: expected ':' and the collective that the algorithm implements, "
            "found '{'\n");
  EXPECT_EQ(errorsOf("algorithm a : {}"),
            "1:15: error: expected the name of a collective, found '{'\n");
  EXPECT_EQ(errorsOf("algorithm a : broadcast() {}"),
            "1:25: error: expected a name for the root's rank, found ')'\n");
  EXPECT_EQ(errorsOf("algorithm a : broadcast(r {}"),
            "1:27: error: expected ')', found '{'\n1:24: note: to close this '('\n");
  EXPECT_EQ(errorsOf("algorithm a : allreduce\n"),
            "1:24: error: expected '{' and the algorithm's statements, found end of file\n");
  EXPECT_EQ(errorsOf("algorithm a : allreduce {\n  chunks 1\n"),
            "2:11: error: expected '}', found end of file\n1:25: note: to close this '{'\n");
  EXPECT_EQ(errorsOf("algorithm a : allreduce {}\n}"),
            "1:27: error: expected 'algorithm', 'fn' or 'import', found '}'\n");
}

TEST(Parser, SaysWhatItExpectedInStatements) {
  EXPECT_EQ(errorsIn("sned data[0] @ 0 -> data[0] @ 1"),
            "2:1: error: expected a statement, found 'sned'; did you mean 'send'?\n");
  EXPECT_EQ(errorsIn("42"), "2:1: error: expected a statement, found '42'\n");
  EXPECT_EQ(errorsIn("{ chunks 1 }"), "2:1: error: expected a statement, found '{'\n");
  EXPECT_EQ(errorsIn("chunks"), "2:7: error: expected an expression, found '}'\n");
  EXPECT_EQ(errorsIn("let if = 3"),
            "2:5: error: expected a name for the value, found the keyword 'if'\n");
  EXPECT_EQ(errorsIn("let x 3"), "2:7: error: expected '=' after 'let x', found '3'\n");
  EXPECT_EQ(errorsIn("scratch x"),
            "2:10: error: expected '[' and the number of slots, found '}'\n");
  EXPECT_EQ(errorsIn("scratch x[3"),
            "2:12: error: expected ']', found '}'\n2:10: note: to close this '['\n");
  EXPECT_EQ(errorsIn("for c 0..3 {}"),
            "2:7: error: expected 'in' after the loop variable, found '0'\n");
  EXPECT_EQ(errorsIn("for c in 0 {}"),
            "2:12: error: expected '..' and the end of the range, found '{'\n");
  EXPECT_EQ(errorsIn("for c in 0..3"),
            "2:14: error: expected '{' or a statement as the loop's body, found '}'\n");
  EXPECT_EQ(errorsIn("if ranks = 2 {}"), "2:10: error: expected '==' in a condition, found '='\n");
  EXPECT_EQ(errorsIn("if ranks == 2 {} else"),
            "2:22: error: expected '{' or a statement after 'else', found '}'\n");
  EXPECT_EQ(errorsIn("exchange send data[0] @ 0 -> data[0] @ 1"),
            "2:10: error: expected '{' and the exchange's statements, found the keyword "
            "'send'\n");
  EXPECT_EQ(errorsIn("else"), "2:1: error: expected a statement, found the keyword 'else'\n");
}

TEST(Parser, SaysWhatItExpectedInMoves) {
  EXPECT_EQ(errorsIn("send -> data[0] @ 1"),
            "2:6: error: expected a place such as 'data[0] @ 0', found '->'\n");
  EXPECT_EQ(errorsIn("send data @ 0 -> data[0] @ 1"),
            "2:11: error: expected '[' and a chunk index after the buffer's name, found '@'\n");
  EXPECT_EQ(errorsIn("send data[0] -> data[0] @ 1"),
            "2:14: error: expected '@' and a rank after the place, found '->'\n");
  EXPECT_EQ(errorsIn("send data[0 @ 1 -> data[0] @ 1"),
            "2:13: error: expected ']', found '@'\n2:10: note: to close this '['\n");
  EXPECT_EQ(errorsIn("send data[0] @ 0\nsend data[0] @ 0 -> data[0] @ 1"),
            "2:17: error: expected '->' and a destination, found the keyword 'send'\n");
  EXPECT_EQ(errorsIn("send data[0] @ 0, data[0] @ 1 -> data[0] @ 2"),
            "2:17: error: expected '->' and a destination, found ','\n");
  EXPECT_EQ(errorsIn("send data[0] @ q for q in 0..2 -> data[0] @ 2"),
            "2:18: error: 'send' takes one place; write the loop as a statement around it\n");
  EXPECT_EQ(errorsIn("reduce data[0] @ for q in 0..2 -> data[0] @ 2"),
            "2:18: error: expected an expression, found the keyword 'for'\n");
  EXPECT_EQ(errorsIn("let x = (1 + 2"),
            "2:15: error: expected ')', found '}'\n2:9: note: to close this '('\n");
}

TEST(Parser, DumpsApplications) {
  Program program("algorithm a(k: int = 1) : broadcast(r) {\n"
                  "  apply a(0, k = 2) over [0..2, for i in 3..5: i] on data[0] -> output[0]\n"
                  "}\n");
  ASSERT_TRUE(program.isValid);
  std::ostringstream out;
  dumpAst(*program.file, out);
  EXPECT_THAT(out.str(), ::testing::HasSubstr(R"(    apply a <2:3-74>
      argument <2:11-12>
        integer 0 <2:11-12>
      argument k <2:18-19>
        integer 2 <2:18-19>
      member <2:27-31>
        integer 0 <2:27-28>
        to <2:30-31>
          integer 2 <2:30-31>
      member <2:33-49>
        for i <2:33-46>
          integer 3 <2:42-43>
          integer 5 <2:45-46>
        name i <2:48-49>
      view data <2:54-61>
        chunks <2:59-60>
          integer 0 <2:59-60>
      output output <2:65-74>
        chunks <2:72-73>
          integer 0 <2:72-73>
)"));
}

TEST(Parser, NamesImports) {
  auto moduleOf = [](std::string import) {
    Program program("import " + import);
    return program.file ? program.file->imports[0].module.text
                        : shortText(program.diagnostics.diagnostics().front());
  };
  EXPECT_EQ(moduleOf("\"ring.coil\""), "ring");
  EXPECT_EQ(moduleOf("\"/usr/reduce_scatter/ring.coil\""), "reduce_scatter.ring");
  EXPECT_EQ(moduleOf("\"../ring.coil\""), "ring");
  EXPECT_EQ(moduleOf("\"a/two-level.coil\" as levels"), "levels");
  EXPECT_EQ(moduleOf("\"a/two-level.coil\""),
            "1:8: error: 'a.two-level' cannot be a name; give one, as in 'import "
            "\"a/two-level.coil\" as name'\n");
  EXPECT_EQ(moduleOf("\"\""),
            "1:8: error: '' cannot be a name; give one, as in 'import \"\" as name'\n");
  EXPECT_EQ(moduleOf("ring"),
            "1:8: error: expected the path of a file, as in \"ring.coil\", found 'ring'\n");
}

TEST(Parser, SaysWhatItExpectedInApplications) {
  EXPECT_EQ(errorsIn("apply"), "2:6: error: expected the name of an algorithm, found '}'\n");
  EXPECT_EQ(errorsIn("apply a on data[0]"),
            "2:9: error: expected 'over' and the group's ranks, found 'on'\n");
  EXPECT_EQ(errorsIn("apply a over 0..2 on data[0]"),
            "2:14: error: expected '[' and the group's ranks, found '0'\n");
  EXPECT_EQ(errorsIn("apply a over [for i in 0..2 i] on data[0]"),
            "2:29: error: expected ':' after the loop, found 'i'\n");
  EXPECT_EQ(errorsIn("apply a over [0..2] data[0]"),
            "2:21: error: expected 'on' and the chunks to work on, found 'data'\n");
  EXPECT_EQ(errorsIn("apply a(1 over [0..2] on data[0]"),
            "2:11: error: expected ')', found 'over'\n2:8: note: to close this '('\n");
}

TEST(Parser, GoesOnAfterAnError) {
  EXPECT_EQ(errorsIn("for c in 0.. {\n"
                     "  send data[c] -> data[c] @ 1\n"
                     "}\n"
                     "for c 0..2\n"
                     "  reduce data[c] @ 0 -> @ 2\n"
                     "if ranks > { copy data[0] @ 0 } else { sedn }\n"
                     "let = 1\n"
                     "chunks 1"),
            "2:14: error: expected an expression, found '{'\n"
            "3:16: error: expected '@' and a rank after the place, found '->'\n"
            "5:7: error: expected 'in' after the loop variable, found '0'\n"
            "6:25: error: expected a place such as 'data[0] @ 0', found '@'\n"
            "7:12: error: expected an expression, found '{'\n"
            "7:31: error: expected '->' and a destination, found '}'\n"
            "7:40: error: expected a statement, found 'sedn'; did you mean 'send'?\n"
            "8:5: error: expected a name for the value, found '='\n");
}

TEST(Parser, GoesOnWithTheNextAlgorithm) {
  EXPECT_EQ(errorsOf("algorithm a : allreduce {\n  for\nalgorithm : allreduce {\n  x\n}\n"),
            "2:6: error: expected a name for the loop variable, found the keyword 'algorithm'\n"
            "3:11: error: expected the algorithm's name, found ':'\n"
            "4:3: error: expected a statement, found 'x'\n");
}

TEST(Parser, ShowsTwentyErrors) {
  std::string body;
  for (int i = 0; i < 100; ++i)
    body += "let 1 = 2\n";
  Program program("algorithm a : allreduce {\n" + body + "}\n");
  EXPECT_EQ(program.file, nullptr);
  EXPECT_EQ(program.diagnostics.diagnostics().size(), 21u);
}

} // namespace
