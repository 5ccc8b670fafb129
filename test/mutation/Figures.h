//===- Figures.h - What a mutation run found --------------------*- C++ -*-===//

#ifndef COIL_TEST_MUTATION_FIGURES_H
#define COIL_TEST_MUTATION_FIGURES_H

#include <cstdint>
#include <map>
#include <string>

namespace coil {

/// What became of the mutants of one kind.
struct Figures {
  int64_t accepted = 0; ///< by the verifier and by the judge
  int64_t rejected = 0; ///< by both
  int64_t refused = 0;  ///< before there was anything to prove
  int64_t disputed = 0;
  /// Of the rejected ones, those whose finding was replayed; of all, those that were judged by
  /// their whole state space too.
  int64_t replayed = 0, explored = 0;

  int64_t total() const { return accepted + rejected + refused + disputed; }
  Figures &operator+=(const Figures &other);
};

/// One part of a run: figures by kind of mutation.
class FigureTable {
public:
  explicit FigureTable(std::string title) : title(std::move(title)) {}

  Figures &of(const std::string &kind) { return figures[kind]; }
  Figures sum() const;
  /// A line a kind and one for the sum.
  std::string print() const;

private:
  std::string title;
  std::map<std::string, Figures> figures;
};

} // namespace coil

#endif // COIL_TEST_MUTATION_FIGURES_H
