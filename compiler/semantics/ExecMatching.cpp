//===- ExecMatching.cpp - What has no counterpart -------------------------===//

#include "compiler/semantics/ExecChecks.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace coil {

namespace {

constexpr std::array<ExecSection, numExecSections> sections = {
    ExecSection::Prologue, ExecSection::Body, ExecSection::Epilogue};

class Matching {
public:
  Matching(const ExecModel &model, ExecFindings &findings)
      : model(model), findings(findings), counts(model.variant.channels.size()) {}

  void check() {
    for (uint32_t worker = 0; worker < model.workers.size(); ++worker)
      for (ExecSection section : sections)
        for (const ExecOp &op : model.operations(worker, section)) {
          checkOperation(op, section);
          forEachUse(op, [&](ExecUse use, uint32_t channel) { ++countOf(channel, use, section); });
        }
    for (uint32_t channel = 0; channel < counts.size(); ++channel)
      for (ExecUse source : {ExecUse::SendData, ExecUse::Signal})
        for (ExecSection section : sections)
          checkChannel(channel, source, section);
    for (int64_t kind = 0; kind < model.kinds(); ++kind)
      for (ExecSection section : sections)
        checkBarriers(model.symmetry().representative(kind), section);
  }

private:
  using Counts = std::array<std::array<uint32_t, numExecSections>, numExecUses>;

  uint32_t &countOf(uint32_t channel, ExecUse use, ExecSection section) {
    return counts[channel][static_cast<size_t>(use)][static_cast<size_t>(section)];
  }

  void checkOperation(const ExecOp &op, ExecSection section) {
    if (!movesData(op.kind))
      return;
    if (section != ExecSection::Body)
      findings.report(op.location, fmt::format("{} moves data in the {}; expected it in the tiles",
                                               nameOf(op.kind), nameOf(section)));
    if (writesMemory(op.kind)) {
      if (op.destination.buffer == ExecBuffer::Input)
        findings.report(op.location, fmt::format("writes {}: the caller's input is never written",
                                                 ExecModel::describe(op.destination)));
      checkExistence(op, op.destination, "writes");
    }
    for (const ExecOperand &operand : op.operands)
      if (!operand.isHead)
        checkExistence(op, operand.place, "reads");
  }

  void checkExistence(const ExecOp &op, const ExecPlace &place, const char *verb) {
    if (!model.exists(place))
      findings.report(op.location,
                      fmt::format("{} {}: {} has no {} on ranks other than the root", verb,
                                  ExecModel::describe(place), nameOf(model.shape.collective),
                                  nameOf(place.buffer)));
  }

  /// The `ordinal`-th operation of a section that uses the channel so.
  const ExecOp &operationAt(uint32_t channel, ExecUse use, ExecSection section, uint32_t ordinal) {
    const ExecOp *last = nullptr;
    uint32_t seen = 0;
    for (const ExecOp &op : model.operations(model.workerAt(model.channel(channel), use), section))
      forEachUse(op, [&](ExecUse opUse, uint32_t opChannel) {
        if (opChannel == channel && opUse == use && seen++ == ordinal)
          last = &op;
      });
    return *last;
  }

  void checkChannel(uint32_t channel, ExecUse source, ExecSection section) {
    uint32_t sent = countOf(channel, source, section);
    uint32_t taken = countOf(channel, counterpartOf(source), section);
    if (sent == taken)
      return;
    ExecUse surplus = sent > taken ? source : counterpartOf(source);
    const ExecOp &unmatched = operationAt(channel, surplus, section, std::min(sent, taken));
    auto [sourceName, takerName] = namesOf(source);
    const ExecChannel &described = model.channel(channel);
    findings.report(
        unmatched.location,
        fmt::format("{} on channel @{} has no matching {}: {}, {} in the {}",
                    nameOf(unmatched.kind), described.name,
                    surplus == source ? takerName : sourceName,
                    surplus == source ? plural(sent, sourceName) : plural(taken, takerName),
                    surplus == source ? plural(taken, takerName) : plural(sent, sourceName),
                    nameOf(section)),
        {{described.location,
          fmt::format("channel @{} leads from {} to {}", described.name,
                      model.describeWorker(model.workerAt(described, source)),
                      model.describeWorker(model.workerAt(described, counterpartOf(source))))}});
  }

  std::pair<const char *, const char *> namesOf(ExecUse source) const {
    if (source == ExecUse::Signal)
      return {"signal", "wait"};
    if (model.variant.transport == ExecTransport::Staged)
      return {"push", "pop"};
    return {"send", "recv"};
  }

  static std::string plural(uint32_t count, std::string_view noun) {
    const char *ending = count == 1 ? "" : noun == "push" ? "es" : "s";
    return fmt::format("{} {}{}", count, noun, ending);
  }

  void checkBarriers(int64_t rank, ExecSection section) {
    auto barriersOf = [&](uint32_t worker) {
      return std::ranges::count(model.operations(worker, section), ExecOpKind::Barrier,
                                &ExecOp::kind);
    };
    uint32_t first = model.firstWorkerOf(rank), end = first + model.workersOf(rank);
    if (first == end)
      return;
    uint32_t fewest = first, most = first;
    for (uint32_t worker = first + 1; worker < end; ++worker) {
      if (barriersOf(worker) < barriersOf(fewest))
        fewest = worker;
      if (barriersOf(worker) > barriersOf(most))
        most = worker;
    }
    auto least = barriersOf(fewest);
    if (barriersOf(most) == least)
      return;
    auto seen = least;
    for (const ExecOp &op : model.operations(most, section))
      if (op.kind == ExecOpKind::Barrier && seen-- == 0) {
        findings.report(
            op.location,
            fmt::format("barrier of {} has no matching barrier in worker {}: {} and {} in the {}",
                        model.describeWorker(most), model.workers[fewest].indexInRank,
                        barriersOf(most), least, nameOf(section)));
        return;
      }
  }

  const ExecModel &model;
  ExecFindings &findings;
  /// Per channel.
  std::vector<Counts> counts;
};

} // namespace

void checkMatching(const ExecModel &model, ExecFindings &findings) {
  Matching(model, findings).check();
}

} // namespace coil
