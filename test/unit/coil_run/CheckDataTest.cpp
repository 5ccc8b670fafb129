//===- CheckDataTest.cpp - Tests of inputs whose results are known --------===//

#include "tools/coil-run/CheckData.h"

#include "tools/coil-run/Elements.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

using namespace coil;
using namespace coil::run;

namespace {

constexpr uint64_t longCount = 40000; // more than two periods

std::vector<DataType> allTypes() {
  std::vector<DataType> types;
  for (int i = 0; i < numDataTypes; ++i)
    types.push_back(static_cast<DataType>(i));
  return types;
}

std::vector<std::byte> inputOf(const CheckData &data, DataType type, int rank) {
  std::vector<std::byte> input(data.inputCount(rank) * sizeOf(type));
  data.fillInput(rank, input.data());
  return input;
}

/// Combines two elements as a plan's statement would: one rounding to the type.
uint64_t combine(DataType type, ReduceOp op, uint64_t a, uint64_t b) {
  if (isFloat(type)) {
    double x = decodeFloat(type, a), y = decodeFloat(type, b);
    switch (op) {
    case ReduceOp::Prod:
      return encodeFloat(type, x * y);
    case ReduceOp::Max:
      return encodeFloat(type, std::max(x, y));
    case ReduceOp::Min:
      return encodeFloat(type, std::min(x, y));
    default:
      return encodeFloat(type, x + y);
    }
  }
  uint64_t x = extendInteger(type, a), y = extendInteger(type, b);
  bool less = isSignedInteger(type) ? static_cast<int64_t>(x) < static_cast<int64_t>(y) : x < y;
  switch (op) {
  case ReduceOp::Prod:
    return truncateInteger(type, x * y);
  case ReduceOp::Max:
    return less ? b : a;
  case ReduceOp::Min:
    return less ? a : b;
  default:
    return truncateInteger(type, x + y);
  }
}

uint64_t scale(DataType type, uint64_t element, uint64_t scalar) {
  return isFloat(type) ? encodeFloat(type, decodeFloat(type, element) * decodeFloat(type, scalar))
                       : truncateInteger(type, element * scalar);
}

uint64_t divide(DataType type, uint64_t element, int ranks) {
  if (type == DataType::F64)
    return encodeFloat(type, decodeFloat(type, element) / ranks);
  if (isFloat(type))
    return encodeFloat(type,
                       static_cast<float>(decodeFloat(type, element)) / static_cast<float>(ranks));
  if (isSignedInteger(type))
    return truncateInteger(
        type, static_cast<uint64_t>(static_cast<int64_t>(extendInteger(type, element)) / ranks));
  return element / static_cast<uint64_t>(ranks);
}

/// An all-reduce that combines in the order of `order`, one pair at a time.
std::vector<std::byte> reduceInOrder(const CheckData &data, const DataSpec &spec,
                                     const std::vector<int> &order) {
  size_t size = sizeOf(spec.type);
  std::vector<std::vector<std::byte>> inputs;
  for (int rank = 0; rank < spec.ranks; ++rank)
    inputs.push_back(inputOf(data, spec.type, rank));
  std::vector<std::byte> output(inputs[0].size());
  for (uint64_t i = 0; i < data.inputCount(0); ++i) {
    uint64_t result = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      auto rank = static_cast<size_t>(order[k]);
      uint64_t element = loadElement(spec.type, inputs[rank].data() + i * size);
      if (spec.op == ReduceOp::PreMulSum)
        element = scale(spec.type, element, data.scalarCode(order[k]));
      result = k == 0 ? element : combine(spec.type, spec.op, result, element);
    }
    if (spec.op == ReduceOp::Avg)
      result = divide(spec.type, result, spec.ranks);
    storeElement(spec.type, result, output.data() + i * size);
  }
  return output;
}

DataSpec specOf(Collective collective, DataType type, ReduceOp op, int ranks, uint64_t count) {
  DataSpec spec;
  spec.collective = collective;
  spec.type = type;
  spec.op = op;
  spec.ranks = ranks;
  spec.count = count;
  spec.salt = 5;
  return spec;
}

/// Every type, operator and several numbers of ranks; kind of data given.
void checkAnyOrder(DataKind kind) {
  for (DataType type : allTypes())
    for (int number = 0; number < numReduceOps; ++number)
      for (int ranks : {1, 2, 3, 8, 33}) {
        DataSpec spec =
            specOf(Collective::AllReduce, type, static_cast<ReduceOp>(number), ranks, 500);
        spec.kind = kind;
        CheckData data(spec);
        std::vector<int> order(static_cast<size_t>(ranks));
        std::iota(order.begin(), order.end(), 0);
        for (int turn = 0; turn < 3; ++turn) {
          std::vector<std::byte> output = reduceInOrder(data, spec, order);
          Comparison result = data.checkOutput(0, output.data());
          EXPECT_EQ(result.wrong, 0u)
              << nameOf(type) << " " << nameOf(spec.op) << " of " << ranks << " ranks"
              << (result.first.empty() ? ""
                                       : ": expected " + result.first[0].expected + ", found " +
                                             result.first[0].found);
          if (turn == 0)
            std::reverse(order.begin(), order.end());
          else
            std::rotate(order.begin(), order.begin() + ranks / 2, order.end());
        }
      }
}

TEST(CheckData, ExactDataGivesEqualBitsInAnyOrder) { checkAnyOrder(DataKind::Exact); }
TEST(CheckData, RandomDataStaysWithinTheBoundInAnyOrder) { checkAnyOrder(DataKind::Random); }

TEST(CheckData, AMissingOrDoubledRankShows) {
  for (DataType type : allTypes())
    for (ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Avg, ReduceOp::PreMulSum})
      for (int ranks : {2, 4, 8}) {
        DataSpec spec = specOf(Collective::AllReduce, type, op, ranks, 500);
        CheckData data(spec);
        std::vector<int> order(static_cast<size_t>(ranks));
        std::iota(order.begin(), order.end(), 0);
        std::vector<int> missing(order.begin() + 1, order.end()), doubled = order;
        doubled.push_back(1);
        for (const std::vector<int> &wrong : {missing, doubled})
          EXPECT_GT(data.checkOutput(0, reduceInOrder(data, spec, wrong).data()).wrong, 100u)
              << nameOf(type) << " " << nameOf(op) << " of " << ranks;
      }
}

TEST(CheckData, RanksHoldDifferentElements) {
  for (DataType type : allTypes())
    for (int number = 0; number < numReduceOps; ++number) {
      DataSpec spec = specOf(Collective::AllReduce, type, static_cast<ReduceOp>(number), 4, 300);
      CheckData data(spec);
      std::set<std::vector<std::byte>> inputs;
      for (int rank = 0; rank < 4; ++rank)
        inputs.insert(inputOf(data, type, rank));
      EXPECT_EQ(inputs.size(), 4u) << nameOf(type) << " " << nameOf(spec.op);
    }
}

TEST(CheckData, SaltsGiveDifferentData) {
  DataSpec spec = specOf(Collective::AllGather, DataType::U8, ReduceOp::Sum, 2, 100);
  CheckData one(spec);
  ++spec.salt;
  CheckData other(spec);
  EXPECT_NE(inputOf(one, spec.type, 0), inputOf(other, spec.type, 0));
}

TEST(CheckData, GathersScattersAndBroadcasts) {
  for (DataType type : {DataType::U8, DataType::F32, DataType::F64})
    for (uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{333}, longCount}) {
      size_t size = sizeOf(type), bytes = count * size;
      DataSpec gather = specOf(Collective::AllGather, type, ReduceOp::Sum, 3, count);
      CheckData gathered(gather);
      EXPECT_EQ(gathered.outputCount(0), 3 * count);
      std::vector<std::byte> all;
      for (int rank = 0; rank < 3; ++rank) {
        std::vector<std::byte> part = inputOf(gathered, type, rank);
        all.insert(all.end(), part.begin(), part.end());
        EXPECT_EQ(gathered.checkInput(rank, part.data(), 0, count).wrong, 0u);
      }
      EXPECT_EQ(gathered.checkOutput(1, all.data()).wrong, 0u);

      DataSpec reduce = specOf(Collective::ReduceScatter, type, ReduceOp::Sum, 3, count);
      CheckData reduced(reduce);
      EXPECT_EQ(reduced.inputCount(0), 3 * count);
      std::vector<std::byte> sums = reduceInOrder(reduced, reduce, {1, 2, 0});
      for (size_t rank = 0; rank < 3; ++rank)
        EXPECT_EQ(reduced.checkOutput(static_cast<int>(rank), sums.data() + rank * bytes).wrong,
                  0u);

      DataSpec cast = specOf(Collective::Broadcast, type, ReduceOp::Sum, 3, count);
      cast.root = 2;
      CheckData sent(cast);
      EXPECT_EQ(sent.inputCount(0), 0u);
      EXPECT_EQ(sent.checkOutput(0, inputOf(sent, type, 2).data()).wrong, 0u);
      if (count > 100) {
        CheckData other(gather);
        EXPECT_GT(sent.checkOutput(0, inputOf(other, type, 0).data()).wrong, 0u);
      }
    }
}

/// All ranks' inputs, cut into segments of `count` elements.
std::vector<std::vector<std::vector<std::byte>>> segmentsOf(const CheckData &data, DataType type,
                                                            int ranks, uint64_t count) {
  std::vector<std::vector<std::vector<std::byte>>> segments;
  size_t bytes = count * sizeOf(type);
  for (int rank = 0; rank < ranks; ++rank) {
    auto &own = segments.emplace_back();
    if (!data.hasInput(rank))
      continue;
    std::vector<std::byte> input = inputOf(data, type, rank);
    for (auto begin = input.begin(); begin != input.end(); begin += static_cast<ptrdiff_t>(bytes))
      own.emplace_back(begin, begin + static_cast<ptrdiff_t>(bytes));
  }
  return segments;
}

TEST(CheckData, EverySegmentHasItsPlace) {
  constexpr int ranks = 3, root = 2;
  for (Collective collective :
       {Collective::Gather, Collective::Scatter, Collective::AllToAll, Collective::SendRecv})
    for (uint64_t count : {uint64_t{1}, uint64_t{333}, longCount}) {
      DataSpec spec = specOf(collective, DataType::F32, ReduceOp::Sum, ranks, count);
      spec.root = hasRoot(collective) ? root : 0;
      CheckData data(spec);
      auto in = segmentsOf(data, spec.type, ranks, count);
      for (int rank = 0; rank < ranks; ++rank) {
        auto own = static_cast<size_t>(rank);
        std::vector<std::vector<std::byte>> out;
        if (collective == Collective::Scatter)
          out = {in[root][own]};
        else if (collective == Collective::SendRecv)
          out = {in[(own + 2) % 3][0]};
        else if (collective == Collective::AllToAll)
          out = {in[0][own], in[1][own], in[2][own]};
        else if (rank == root)
          out = {in[0][0], in[1][0], in[2][0]};
        ASSERT_EQ(data.outputCount(rank), out.size() * count);
        EXPECT_EQ(data.hasOutput(rank), !out.empty());
        std::vector<std::byte> output;
        for (const auto &segment : out)
          output.insert(output.end(), segment.begin(), segment.end());
        EXPECT_EQ(data.checkOutput(rank, output.data()).wrong, 0u) << nameOf(collective);
        if (output.empty())
          continue;
        output[output.size() / 2] ^= std::byte{1};
        EXPECT_EQ(data.checkOutput(rank, output.data()).wrong, 1u) << nameOf(collective);
      }
    }
}

TEST(CheckData, ReducesOnTheRootAlone) {
  for (DataKind kind : {DataKind::Exact, DataKind::Random}) {
    DataSpec spec = specOf(Collective::Reduce, DataType::F32, ReduceOp::Sum, 3, 100);
    spec.root = 1;
    spec.kind = kind;
    CheckData data(spec);
    EXPECT_EQ(data.outputCount(0), 0u);
    EXPECT_EQ(data.outputParts(0), 0);
    EXPECT_EQ(data.checkOutput(0, nullptr).wrong, 0u);
    EXPECT_EQ(data.outputCount(1), 100u);
    std::vector<std::byte> sums = reduceInOrder(data, spec, {2, 0, 1});
    EXPECT_EQ(data.checkOutput(1, sums.data()).wrong, 0u);
    sums[3] ^= std::byte{0x40};
    EXPECT_EQ(data.checkOutput(1, sums.data()).wrong, 1u);
  }
}

TEST(CheckData, DisplacedChunksShow) {
  // The count is a multiple of the first period, which must then not be used.
  for (uint64_t count : {longCount, uint64_t{16381 * 4}, uint64_t{1} << 17}) {
    DataSpec spec = specOf(Collective::Broadcast, DataType::U8, ReduceOp::Sum, 2, count);
    CheckData data(spec);
    std::vector<std::byte> output = inputOf(data, spec.type, 0);
    ASSERT_EQ(data.checkOutput(0, output.data()).wrong, 0u);
    auto quarter = static_cast<std::ptrdiff_t>(count / 4);
    std::swap_ranges(output.begin(), output.begin() + quarter, output.begin() + 2 * quarter);
    EXPECT_GT(data.checkOutput(0, output.data()).wrong, count / 3);
  }
}

TEST(CheckData, NamesTheWrongElements) {
  DataSpec spec = specOf(Collective::AllGather, DataType::I32, ReduceOp::Sum, 2, longCount);
  CheckData data(spec);
  std::vector<std::byte> output = inputOf(data, spec.type, 0), second = inputOf(data, spec.type, 1);
  output.insert(output.end(), second.begin(), second.end());
  uint64_t wrong[] = {3, longCount - 1, longCount, longCount + 16381, 2 * longCount - 1};
  for (uint64_t index : wrong)
    output[index * 4] ^= std::byte{1};
  Comparison result = data.checkOutput(0, output.data());
  EXPECT_EQ(result.wrong, 5u);
  ASSERT_EQ(result.first.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(result.first[i].index, wrong[i]);
    EXPECT_NE(result.first[i].expected, result.first[i].found);
  }

  Comparison input = data.checkInput(0, output.data(), longCount - 1, longCount);
  EXPECT_EQ(input.wrong, 1u);
  EXPECT_EQ(input.first[0].index, longCount - 1);
}

TEST(CheckData, NaNIsNeverWithinABound) {
  DataSpec spec = specOf(Collective::AllReduce, DataType::F32, ReduceOp::Sum, 1, 1);
  spec.kind = DataKind::Random;
  CheckData data(spec);
  std::vector<std::byte> output(4);
  storeElement(spec.type, encodeFloat(spec.type, std::nan("")), output.data());
  EXPECT_EQ(data.checkOutput(0, output.data()).wrong, 1u);
}

TEST(CheckData, ScalarsAreWhatDataCanBeMadeFor) {
  EXPECT_TRUE(validateScalar(-4, DataType::F16, DataKind::Exact).isOk());
  EXPECT_FALSE(validateScalar(5, DataType::F16, DataKind::Exact).isOk());
  EXPECT_FALSE(validateScalar(0.5, DataType::F16, DataKind::Exact).isOk());
  EXPECT_TRUE(validateScalar(0.3, DataType::F16, DataKind::Random).isOk());
  EXPECT_FALSE(validateScalar(0.3, DataType::I32, DataKind::Random).isOk());
  EXPECT_TRUE(validateScalar(-3, DataType::I32, DataKind::Random).isOk());
  EXPECT_EQ(validateScalar(-3, DataType::U32, DataKind::Exact).message(),
            "expected a whole number from 0 to 4 for u32 with exact data, found -3");
}

TEST(CheckData, GivenScalarsAreExactToo) {
  for (DataType type : allTypes())
    for (double scalar : {-3.0, 0.0, 4.0}) {
      DataSpec spec = specOf(Collective::AllReduce, type, ReduceOp::PreMulSum, 5, 400);
      if (!validateScalar(scalar, type, spec.kind).isOk())
        continue;
      spec.scalar = scalar;
      CheckData data(spec);
      std::vector<std::byte> output = reduceInOrder(data, spec, {3, 1, 4, 0, 2});
      EXPECT_EQ(data.checkOutput(0, output.data()).wrong, 0u) << nameOf(type) << " " << scalar;
    }
}

/// Sums and copies of segments of 4 ranks, and output that nothing is promised of.
OwnContract sampleContract() {
  OwnContract contract{3, 4, {}, {}};
  auto promise = [&](uint32_t rank, uint32_t segment, std::vector<OwnContract::Source> sources) {
    contract.promises.push_back({rank, segment, static_cast<uint32_t>(contract.sources.size()),
                                 static_cast<uint32_t>(sources.size())});
    contract.sources.insert(contract.sources.end(), sources.begin(), sources.end());
  };
  promise(0, 1, {{3, 2}});
  promise(0, 3, {{0, 0}, {0, 2}, {2, 1}});
  promise(2, 0, {{1, 1}, {3, 1}});
  promise(3, 3, {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}, {3, 0}});
  return contract;
}

TEST(CheckData, FollowsContracts) {
  OwnContract contract = sampleContract();
  for (DataType type : allTypes())
    for (ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min})
      for (uint64_t count : {uint64_t{1}, uint64_t{333}, longCount}) {
        if (count == longCount && type != DataType::F16 && type != DataType::I32)
          continue;
        DataSpec spec = specOf(Collective::Custom, type, op, 4, count);
        spec.contract = &contract;
        CheckData data(spec);
        auto in = segmentsOf(data, type, 4, count);
        size_t bytes = count * sizeOf(type);
        for (uint32_t rank = 0; rank < 4; ++rank) {
          ASSERT_EQ(data.outputCount(static_cast<int>(rank)), 4 * count);
          ASSERT_EQ(in[rank].size(), 3u);
          std::vector<std::byte> output(4 * bytes, unsetByte);
          for (const OwnContract::Promise &promise : contract.promises) {
            if (promise.rank != rank)
              continue;
            // In another order than the contract has them in.
            auto sources = contract.sourcesOf(promise);
            std::vector<std::byte> value = in[sources.back().rank][sources.back().segment];
            for (size_t i = sources.size() - 1; i-- > 0;)
              for (size_t e = 0; e < count; ++e) {
                std::byte *element = value.data() + e * sizeOf(type);
                const std::byte *next =
                    in[sources[i].rank][sources[i].segment].data() + e * sizeOf(type);
                storeElement(type,
                             combine(type, op, loadElement(type, element), loadElement(type, next)),
                             element);
              }
            std::ranges::copy(value,
                              output.begin() + static_cast<ptrdiff_t>(promise.segment * bytes));
          }
          int own = static_cast<int>(rank);
          ASSERT_EQ(data.checkOutput(own, output.data()).wrong, 0u)
              << nameOf(type) << " " << nameOf(op) << " " << count << " rank " << rank;
          // A byte too many is seen everywhere, also where nothing is promised.
          for (size_t segment = 0; segment < 4; ++segment) {
            output[segment * bytes] ^= std::byte{1};
            EXPECT_EQ(data.checkOutput(own, output.data()).wrong, 1u);
            output[segment * bytes] ^= std::byte{1};
          }
          std::vector<std::byte> input = inputOf(data, type, own);
          EXPECT_EQ(data.checkInput(own, input.data(), 0, data.inputCount(own)).wrong, 0u);
          input[bytes] ^= std::byte{1};
          EXPECT_EQ(data.checkInput(own, input.data(), 0, data.inputCount(own)).wrong, 1u);
        }
        // Segments differ, so that none can be taken for another.
        if (count > 1) {
          EXPECT_NE(in[0][0], in[0][1]);
        }
      }
}

TEST(CheckData, BoundsRoundedSumsOfContracts) {
  OwnContract contract = sampleContract();
  DataSpec spec = specOf(Collective::Custom, DataType::F32, ReduceOp::Sum, 4, 100);
  spec.contract = &contract;
  spec.kind = DataKind::Random;
  CheckData data(spec);
  auto in = segmentsOf(data, spec.type, 4, 100);
  std::vector<std::byte> output(4 * 400, unsetByte);
  std::ranges::copy(in[3][2], output.begin() + 400);
  for (size_t e = 0; e < 100; ++e) {
    auto value = [&](size_t rank, size_t segment) {
      return static_cast<float>(
          decodeFloat(spec.type, loadElement(spec.type, in[rank][segment].data() + 4 * e)));
    };
    float sum = value(2, 1) + value(0, 0) + value(0, 2);
    storeElement(spec.type, encodeFloat(spec.type, sum), output.data() + 1200 + 4 * e);
  }
  EXPECT_EQ(data.checkOutput(0, output.data()).wrong, 0u);
  // Copies are exact, sums are bounded, and what is not promised is untouched.
  for (size_t byte : {size_t{0}, size_t{400}, size_t{800}, size_t{1203}}) {
    output[byte] ^= std::byte{0x40};
    EXPECT_EQ(data.checkOutput(0, output.data()).wrong, 1u) << byte;
    output[byte] ^= std::byte{0x40};
  }
}

} // namespace
