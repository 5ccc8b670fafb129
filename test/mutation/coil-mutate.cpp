//===- coil-mutate.cpp - No wrong program accepted, no right one refused --===//
//
//   coil-mutate examples                       a short run, as the tests do it
//   coil-mutate examples --programs 60000      a long one
//   coil-mutate examples --part texts --first 4711 --programs 1     one mutant again
//
// Breaks the algorithms of a folder at random, in their texts, in the statements that these mean,
// and in the rank programs that the compiler makes of them, and compares what the verifiers say
// with judges that run the programs. Prints figures by kind of mutation; on a dispute the program
// and both opinions, and the exit code is 1.
//
//===----------------------------------------------------------------------===//

#include "test/mutation/MutationRun.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iostream>

using namespace coil;

int main(int argc, char **argv) {
  std::string folder, part;
  int64_t programs = 6000, first = 0, mostRanks = 5;
  uint32_t seed = 20240229;
  CLI::App app(
      "Holds the compiler's proofs against judges, on programs that were broken at random.",
      "coil-mutate");
  app.add_option("folder", folder, "the algorithms to break")->required()->type_name("FOLDER");
  app.add_option("--programs", programs, "mutants, of which each part has a third")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{100'000'000}));
  app.add_option("--first", first, "number of the first mutant of each part")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", seed, "what the mutants are a function of")->capture_default_str();
  app.add_option("--most-ranks", mostRanks, "from 2 up to this many ranks")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{2}, int64_t{16}));
  app.add_option("--part", part, "only this part")
      ->check(CLI::IsMember({"right", "texts", "statements", "programs"}));
  CLI11_PARSE(app, argc, argv);

  std::vector<std::string> problems;
  std::vector<RightCase> cases = readExamples(folder, mostRanks, problems);
  for (const std::string &problem : problems)
    std::cerr << problem << "\n";
  if (cases.empty()) {
    std::cerr << fmt::format("coil-mutate: expected .coil programs below {}, found none\n", folder);
    return 2;
  }
  size_t algorithms = 0;
  for (size_t i = 0; i < cases.size(); ++i)
    algorithms += i == 0 || cases[i].name != cases[i - 1].name;
  std::cout << fmt::format("{} algorithms in {} cases of 2 to {} ranks, seed {}\n\n", algorithms,
                           cases.size(), mostRanks, seed)
            << std::flush;

  MutationRun run(std::move(cases), seed);
  auto isWanted = [&](std::string_view name) { return part.empty() || part == name; };
  int64_t each = part.empty() ? (programs + 2) / 3 : programs;
  if (isWanted("right"))
    run.judgeRightOnes();
  if (isWanted("texts"))
    run.mutateTexts(first, each);
  if (isWanted("statements"))
    run.mutateInstances(first, each);
  if (isWanted("programs"))
    run.mutatePrograms(first, each);

  constexpr size_t mostShown = 10;
  for (size_t i = 0; i < std::min(mostShown, run.disputes().size()); ++i)
    std::cout << "disputed: " << run.disputes()[i] << "\n";
  std::cout << run.print();
  return run.disputes().empty() && problems.empty() ? 0 : 1;
}
