//===- Figures.cpp - What a mutation run found ----------------------------===//

#include "test/mutation/Figures.h"

#include <fmt/format.h>

namespace coil {

Figures &Figures::operator+=(const Figures &other) {
  accepted += other.accepted;
  rejected += other.rejected;
  refused += other.refused;
  disputed += other.disputed;
  replayed += other.replayed;
  explored += other.explored;
  return *this;
}

Figures FigureTable::sum() const {
  Figures all;
  for (const auto &[kind, each] : figures)
    all += each;
  return all;
}

std::string FigureTable::print() const {
  std::string text =
      fmt::format("{:<34}{:>9}{:>10}{:>10}{:>9}{:>10}{:>10}{:>10}\n", title, "mutants", "accepted",
                  "rejected", "refused", "disputed", "replayed", "explored");
  auto line = [&](const std::string &name, const Figures &each) {
    text += fmt::format("  {:<32}{:>9}{:>10}{:>10}{:>9}{:>10}{:>10}{:>10}\n", name, each.total(),
                        each.accepted, each.rejected, each.refused, each.disputed, each.replayed,
                        each.explored);
  };
  for (const auto &[kind, each] : figures)
    line(kind, each);
  line("all", sum());
  return text;
}

} // namespace coil
