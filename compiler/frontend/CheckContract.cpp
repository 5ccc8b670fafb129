//===- CheckContract.cpp - What an algorithm itself promises --------------===//

#include "compiler/frontend/Check.h"

#include <tuple>

namespace coil {

using namespace ast;

void Checker::checkComesFirst(const Stmt &stmt, std::string_view what) {
  if (firstMove)
    diagnostics.error(stmt.range, "{} must come before the first statement that moves chunks", what)
        .note(firstMove->range, "the first one is here");
}

void Checker::operator()(const SegmentsStmt &stmt) {
  MaybeInterval input = evaluateInt(*stmt.input, "the number of segments");
  MaybeInterval output = evaluateInt(*stmt.output, "the number of segments");
  if (!isCustom()) {
    diagnostics.error(stmt.range,
                      "'segments' is for contracts of an algorithm's own: the buffers "
                      "of '{}' are known",
                      contract->collective.text);
    return;
  }
  if (segments) {
    diagnostics.error(stmt.range, "the segments are given already")
        .note(segments->range, "they are given here");
    return;
  }
  segments = &stmt;
  if (depth > 0)
    diagnostics.error(stmt.range, "'segments' must stand at the top level of the algorithm");
  else
    checkComesFirst(stmt, "'segments'");
  for (auto [count, expr, kept] : {std::tuple(&input, stmt.input.get(), &inputSegments),
                                   std::tuple(&output, stmt.output.get(), &outputSegments)}) {
    if (*count && (*count)->isAtMost(0))
      rangeError(expr->range, "the number of segments must be at least 1, found {}",
                 describeHigh(**count));
    else
      *kept = *count;
  }
  setBufferSizes();
}

/// "1 segment", "at most 3 segments".
static std::string countText(std::string count) {
  return count + (count == "1" ? " segment" : " segments");
}

Checker::MaybeInterval Checker::checkSegments(const Place &place, std::string_view buffer,
                                              const MaybeInterval &size) {
  MaybeInterval begin = evaluateInt(*place.begin, "a segment's index"), end;
  if (place.end)
    end = evaluateInt(*place.end, "a segment's index");
  MaybeInterval rank = evaluateInt(*place.rank, "a rank");
  if (place.buffer.text != buffer) {
    diagnostics.error(place.buffer.range,
                      "expected '{}', found '{}': a contract says what the "
                      "output is of the input",
                      buffer, place.buffer.text);
    return std::nullopt;
  }
  if (rank && (rank->isBelow(0) || isLessEqual(Interval::ranks(), *rank) == true))
    rangeError(place.rank->range,
               "the rank is {}; a contract does not go around the ranks of itself: write '% ranks' "
               "where that is meant",
               rank->isBelow(0) ? describeHigh(*rank) : describeLow(*rank));
  if (!begin || (place.end && !end))
    return std::nullopt;
  if (begin->isBelow(0)) {
    rangeError(place.begin->range, "the segment's index is {}; segments are counted from 0",
               describeHigh(*begin));
    return std::nullopt;
  }
  Interval highest = end ? add(*end, Interval::constant(-1)) : *begin;
  if (size && isLessEqual(*size, highest) == true) {
    rangeError(end ? place.end->range : place.begin->range, "the {} is {}, but '{}' has {}",
               end ? "end of the run" : "segment's index", describeLow(end ? *end : *begin), buffer,
               countText(describeHigh(*size)));
    return std::nullopt;
  }
  return end ? subtract(*end, *begin) : Interval::constant(1);
}

void Checker::operator()(const EnsuresStmt &stmt) {
  hasEnsures = true;
  if (!isCustom()) {
    diagnostics.error(stmt.range,
                      "'ensures' is for contracts of an algorithm's own: what '{}' "
                      "promises is known",
                      contract->collective.text);
    return;
  }
  if (exchange)
    diagnostics.error(stmt.range, "'ensures' cannot stand in an exchange")
        .note(exchange->range, "the exchange is here");
  else
    checkComesFirst(stmt, "'ensures'");
  if (!segments)
    diagnostics.error(stmt.range, "'segments' must come before the first 'ensures'");
  MaybeInterval promised = checkSegments(stmt.place, "output", outputSegments);
  for (const Operand &source : stmt.sources) {
    Scope scope(*this);
    int reachable = unreachable;
    checkClauses(source.clauses);
    MaybeInterval count = checkSegments(source.place, "input", inputSegments);
    if (promised && count && isEqual(*promised, *count) == false) {
      bool isSmaller = isLess(*count, *promised) == true;
      if (Diagnostic *diagnostic =
              rangeError(source.place.range, "this place has {}, but what is promised has {}",
                         countText(isSmaller ? describeHigh(*count) : describeLow(*count)),
                         countText(isSmaller ? describeLow(*promised) : describeHigh(*promised))))
        diagnostic->note(stmt.place.range, "it is promised of this place");
    }
    unreachable = reachable;
  }
}

} // namespace coil
