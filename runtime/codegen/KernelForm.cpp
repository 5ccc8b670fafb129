//===- KernelForm.cpp - A kernel's text before it is text -----------------===//

#include "runtime/codegen/KernelForm.h"
#include "runtime/codegen/Rolling.h"

#include <algorithm>
#include <map>
#include <span>

namespace coil::codegen {

namespace {

/// Where the numbers of a sequence of items lie in a row.
using Offsets = std::vector<size_t>;

/// Builds one worker's form for a class of ranks.
class WorkerBuilder {
public:
  WorkerBuilder(const Plan &plan, const PlanVariant &variant, const RankClasses &classes,
                uint32_t classNumber, size_t workerNumber, ClassForm &classForm)
      : variant(variant), shapes(classes.shapes), ranks(classes.ranksOfClass[classNumber]),
        classForm(classForm) {
    for (uint32_t rank : ranks) {
      workers.push_back(&classes.programs[rank][workerNumber]);
      rows.push_back(workers.back()->numbers);
    }
    // What programs usually count in.
    const FlatWorker &first = *workers.front();
    addModulus(plan.ranks);
    addModulus(plan.chunks);
    addModulus(plan.ranks - 1);
    addModulus(first.peerSlots);
    addModulus(static_cast<uint32_t>(first.ends.sends.size()));
    addModulus(static_cast<uint32_t>(first.ends.receives.size()));
  }

  WorkerForm build() {
    WorkerForm form;
    size_t offset = 0;
    for (size_t section = 0; section < numSections; ++section) {
      std::span<const uint32_t> calls = workers.front()->calls[section];
      Offsets offsets{offset};
      for (uint32_t call : calls)
        offsets.push_back(offsets.back() + numberCount(shapes[call]));
      offset = offsets.back();
      RollPolicy policy;
      policy.misfits = [&](size_t first, std::span<const RollLoop> loops) {
        return misfits(offsets, first, loops);
      };
      policy.startCost = [&](uint32_t shape) { return startCost(shapes[shape]); };
      std::vector<SampleLoop> loops;
      for (const Rolled &rolled : roll(calls, policy))
        form.sections[section].push_back(callNode(calls, offsets, rolled, loops));
    }
    form.sends = describeEnds(true);
    form.receives = describeEnds(false);
    return form;
  }

private:
  void addModulus(uint32_t modulus) {
    if (modulus > 1 && std::find(moduli.begin(), moduli.end(), modulus) == moduli.end())
      moduli.push_back(modulus);
  }

  /// A step that begins by waiting and ends by telling reads best.
  static int startCost(const CallShape &shape) {
    switch (shape.kind) {
    case CallKind::Wait:
      return 0;
    case CallKind::Signal:
      return 2;
    default:
      return 1;
    }
  }

  Samples samplesAt(size_t offset, const std::vector<SampleLoop> &loops) const {
    return {ranks, rows, offset, loops};
  }

  size_t misfits(const Offsets &offsets, size_t first, std::span<const RollLoop> loops,
                 const std::vector<SampleLoop> &around = {}) const {
    std::vector<SampleLoop> sampled = around;
    for (const RollLoop &loop : loops)
      sampled.push_back({loop.trip, offsets[first + loop.period] - offsets[first]});
    size_t count = 0;
    for (size_t offset = offsets[first]; offset < offsets[first + loops.back().period]; ++offset)
      if (!fit(samplesAt(offset, sampled), moduli))
        ++count;
    return count;
  }

  /// The expression of the number at `offset`, which goes on to the next one.
  Number number(size_t &offset, const std::vector<SampleLoop> &loops) {
    Samples samples = samplesAt(offset++, loops);
    std::optional<Number> fitting = fit(samples, moduli);
    return fitting ? *fitting : tableNumber(samples);
  }
  std::vector<Number> numbers(size_t count, size_t &offset, const std::vector<SampleLoop> &loops) {
    std::vector<Number> result;
    for (size_t i = 0; i < count; ++i)
      result.push_back(number(offset, loops));
    return result;
  }

  /// Puts the samples into the ranks' tables, once if they are the same.
  Number tableNumber(const Samples &samples) {
    std::vector<std::vector<uint32_t>> columns(ranks.size());
    size_t next = 0, perRank = 1;
    for (const SampleLoop &loop : samples.loops)
      perRank *= loop.trip;
    samples.all([&](uint32_t, std::span<const uint32_t>, uint32_t value) {
      columns[next++ / perRank].push_back(value);
      return true;
    });
    Number number;
    number.form = Number::Form::Table;
    size_t stride = perRank;
    for (const SampleLoop &loop : samples.loops) {
      stride /= loop.trip;
      number.stepFactors.push_back(static_cast<int64_t>(stride));
    }
    std::vector<uint32_t> key;
    for (const std::vector<uint32_t> &column : columns)
      key.insert(key.end(), column.begin(), column.end());
    auto [known, isNew] = tables.try_emplace(std::move(key), classForm.constants.front().size());
    if (isNew)
      for (size_t r = 0; r < ranks.size(); ++r) {
        std::vector<uint32_t> &constants = classForm.constants[r];
        constants.insert(constants.end(), columns[r].begin(), columns[r].end());
      }
    number.base = static_cast<int64_t>(known->second);
    return number;
  }

  PlaceForm placeForm(PlaceKind kind, size_t &offset, const std::vector<SampleLoop> &loops) {
    return {kind, numbers(numberCount(kind), offset, loops)};
  }

  CallNode callNode(std::span<const uint32_t> calls, const Offsets &offsets, const Rolled &rolled,
                    std::vector<SampleLoop> &loops) {
    CallNode node;
    node.trip = rolled.trip;
    if (rolled.trip == 1) {
      node.leaf = callForm(shapes[calls[rolled.first]], offsets[rolled.first], loops);
      return node;
    }
    loops.push_back({rolled.trip, offsets[rolled.first + rolled.period] - offsets[rolled.first]});
    for (const Rolled &part : rolled.body)
      node.body.push_back(callNode(calls, offsets, part, loops));
    loops.pop_back();
    return node;
  }

  CallForm callForm(const CallShape &shape, size_t offset, std::vector<SampleLoop> &loops) {
    CallForm call;
    call.kind = shape.kind;
    call.complete = shape.complete;
    call.location = shape.location;
    call.numbers = numbers(numberCount(shape.kind), offset, loops);
    if (shape.destination)
      call.destination = placeForm(*shape.destination, offset, loops);
    call.operandCount = static_cast<uint32_t>(shape.operands.size());
    call.operands = operandForms(shape.operands, offset, loops);
    return call;
  }

  std::vector<OperandForm> operandForms(const std::vector<PlaceKind> &kinds, size_t offset,
                                        std::vector<SampleLoop> &loops) {
    Offsets offsets{offset};
    std::vector<uint32_t> kindNumbers;
    for (PlaceKind kind : kinds) {
      kindNumbers.push_back(static_cast<uint32_t>(kind));
      offsets.push_back(offsets.back() + numberCount(kind));
    }
    RollPolicy policy;
    policy.misfits = [&](size_t first, std::span<const RollLoop> inner) {
      return misfits(offsets, first, inner, loops);
    };
    std::vector<Rolled> parts;
    if (kinds.size() > mostListedOperands)
      parts = roll(kindNumbers, policy);
    else
      for (size_t i = 0; i < kinds.size(); ++i)
        parts.push_back({i, 1, 1, {}});
    std::vector<OperandForm> forms;
    for (const Rolled &part : parts)
      forms.push_back(operandNode(kinds, offsets, part, loops));
    return forms;
  }

  OperandForm operandNode(const std::vector<PlaceKind> &kinds, const Offsets &offsets,
                          const Rolled &rolled, std::vector<SampleLoop> &loops) {
    OperandForm node;
    node.trip = rolled.trip;
    if (rolled.trip == 1) {
      size_t offset = offsets[rolled.first];
      node.leaf = placeForm(kinds[rolled.first], offset, loops);
      return node;
    }
    loops.push_back({rolled.trip, offsets[rolled.first + rolled.period] - offsets[rolled.first]});
    for (const Rolled &part : rolled.body)
      node.body.push_back(operandNode(kinds, offsets, part, loops));
    loops.pop_back();
    return node;
  }

  /// Ends of a class need not be as many on every rank; then there is no rule.
  std::vector<EndForm> describeEnds(bool sends) const {
    auto endsOf = [&](const FlatWorker *worker) -> const std::vector<uint32_t> & {
      return sends ? worker->ends.sends : worker->ends.receives;
    };
    uint32_t count = static_cast<uint32_t>(endsOf(workers.front()).size());
    std::vector<std::vector<uint32_t>> peerRows;
    for (const FlatWorker *worker : workers) {
      const std::vector<uint32_t> &ends = endsOf(worker);
      if (ends.size() != count)
        return {{0, count, std::nullopt, std::nullopt}};
      std::vector<uint32_t> &row = peerRows.emplace_back();
      for (uint32_t end : ends) {
        const PlanChannel &channel = variant.channels[end];
        row.push_back(sends ? channel.destinationRank : channel.sourceRank);
        row.push_back(sends ? channel.destinationWorker : channel.sourceWorker);
      }
    }
    std::vector<std::span<const uint32_t>> spans(peerRows.begin(), peerRows.end());
    auto describe = [&](uint32_t first, uint32_t run) {
      Samples samples{ranks, spans, size_t{first} * 2, {}};
      if (run > 1)
        samples.loops.push_back({run, 2});
      EndForm form{first, run, fit(samples, moduli), std::nullopt};
      ++samples.offset;
      form.worker = fit(samples, moduli);
      return form;
    };
    std::vector<EndForm> forms;
    if (count > 2) {
      EndForm all = describe(0, count);
      if (all.rank && all.worker)
        return {all};
    }
    for (uint32_t end = 0; end < count; ++end)
      forms.push_back(describe(end, 1));
    return forms;
  }

  const PlanVariant &variant;
  const std::vector<CallShape> &shapes;
  const std::vector<uint32_t> &ranks;
  ClassForm &classForm;
  std::vector<const FlatWorker *> workers; ///< one for each rank
  std::vector<std::span<const uint32_t>> rows;
  std::vector<uint32_t> moduli;
  std::map<std::vector<uint32_t>, size_t> tables;
};

} // namespace

std::vector<ClassForm> buildForms(const Plan &plan, const PlanVariant &variant,
                                  const RankClasses &classes) {
  std::vector<ClassForm> forms;
  for (uint32_t classNumber = 0; classNumber < classes.ranksOfClass.size(); ++classNumber) {
    ClassForm &form = forms.emplace_back();
    form.ranks = classes.ranksOfClass[classNumber];
    form.constants.resize(form.ranks.size());
    size_t workerCount = classes.programs[form.ranks.front()].size();
    for (size_t worker = 0; worker < workerCount; ++worker)
      form.workers.push_back(
          WorkerBuilder(plan, variant, classes, classNumber, worker, form).build());
  }
  return forms;
}

} // namespace coil::codegen
