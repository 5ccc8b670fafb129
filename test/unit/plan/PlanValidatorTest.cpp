//===- PlanValidatorTest.cpp - Every rule of the format is enforced -------===//

#include "compiler/target/plan/PlanWriter.h"
#include "runtime/plan/PlanFile.h"
#include "test/unit/plan/TestPlans.h"

#include <functional>
#include <gmock/gmock.h>

namespace coil {
namespace {

using testing::HasSubstr;

/// A change to everyOperation() that makes it invalid, and what is said then.
struct Refusal {
  const char *name;
  std::function<void(Plan &)> change;
  const char *message;
};

void PrintTo(const Refusal &refusal, std::ostream *out) { *out << refusal.name; }

PlanWorker &workerOf(Plan &plan, size_t variant, size_t rank, size_t worker = 0) {
  return plan.variants[variant].programs[rank].workers[worker];
}
/// Body operations of everyOperation(). P2p, worker 0: put, signal, wait, reduce,
/// signal; worker 1: wait, get, copy, get_reduce. Staged: push, pop_reduce, push, pop.
PlanOp &direct(Plan &plan, size_t op, size_t worker = 0) {
  return workerOf(plan, 0, 0, worker).body[op];
}
PlanOp &staged(Plan &plan, size_t op) { return workerOf(plan, 1, 0).body[op]; }
PlanOperand &operandOf(PlanWorker &worker, const PlanOp &op, size_t i = 0) {
  return worker.operands[op.firstOperand + i];
}
PlanOperand &directOperand(Plan &plan, size_t op, size_t worker = 0, size_t i = 0) {
  return operandOf(workerOf(plan, 0, 0, worker), direct(plan, op, worker), i);
}
PlanOperand &stagedOperand(Plan &plan, size_t op, size_t i = 0) {
  return operandOf(workerOf(plan, 1, 0), staged(plan, op), i);
}
PlanOp &meet(Plan &plan) { return workerOf(plan, 0, 0).prologue[0]; }
PlanChannel &channelOf(Plan &plan, size_t variant, size_t i = 0) {
  return plan.variants[variant].channels[i];
}

class PlanRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(PlanRefusal, NamesWhatIsWrong) {
  Plan plan = everyOperation();
  GetParam().change(plan);
  Status status = validatePlan(plan);
  ASSERT_FALSE(status.isOk());
  EXPECT_EQ(status.code(), StatusCode::InvalidPlan);
  EXPECT_THAT(status.message(), HasSubstr(GetParam().message));
}

std::string nameOfRefusal(const testing::TestParamInfo<Refusal> &info) { return info.param.name; }

const Refusal planRefusals[] = {
    {"Collective", [](Plan &p) { p.collective = Collective(numCollectives); },
     "unknown collective 11"},
    {"Protocol", [](Plan &p) { p.protocol = MessageProtocol(numMessageProtocols); },
     "unknown protocol 3"},
    {"NoRanks", [](Plan &p) { p.ranks = 0; }, "expected 1 to 1048576 ranks, found 0"},
    {"ManyRanks", [](Plan &p) { p.ranks = maxPlanRanks + 1; },
     "expected 1 to 1048576 ranks, found 1048577"},
    {"NoChunks", [](Plan &p) { p.chunks = 0; }, "expected at least 1 chunk, found 0"},
    {"NoVariants", [](Plan &p) { p.variants.clear(); }, "expected at least 1 variant, found 0"},
    {"NameWithEscape", [](Plan &p) { p.name = "\x1b[2J"; },
     "name: expected UTF-8 without control characters"},
    {"NameWithC1Control", [](Plan &p) { p.name = "\xc2\x9b"; }, "name: expected UTF-8"},
    {"ProducerNotUtf8", [](Plan &p) { p.producer = "coil \xff"; }, "producer: expected UTF-8"},
    {"ProducerOverlong", [](Plan &p) { p.producer = "\xc1\x81"; }, "producer: expected UTF-8"},
    {"ProducerCutShort", [](Plan &p) { p.producer = "\xe2\x82"; }, "producer: expected UTF-8"},
    {"ProducerSurrogate", [](Plan &p) { p.producer = "\xed\xa0\x80"; }, "producer: expected UTF-8"},
    {"ProducerBeyondUnicode", [](Plan &p) { p.producer = "\xf4\x90\x80\x80"; },
     "producer: expected UTF-8"},
    {"FileWithNewline", [](Plan &p) { p.locations[1].file = "a\nb"; },
     "file of location 1: expected UTF-8"},
    {"SameVariant", [](Plan &p) { p.variants.push_back(p.variants[1]); },
     "variant 2 (out of place, staged): an earlier variant is for the same calls"},
    {"VariantTransport", [](Plan &p) { p.variants[0].transport = Transport(2); },
     "variant 0: unknown transport 2"},
    {"RootWithoutRoots", [](Plan &p) { p.variants[0].root = 1; },
     "variant 0 (out of place, p2p): expected a root below 1, found 1"},
    {"RootOutOfBounds",
     [](Plan &p) {
       p.collective = Collective::Broadcast;
       p.variants[0].root = 2;
     },
     "variant 0 (out of place, p2p, root 2): expected a root below 2, found 2"},
    {"FewPrograms", [](Plan &p) { p.variants[0].programOfKind.pop_back(); },
     "expected the programs of 2 ranks, found 1"},
    {"ManyScratch", [](Plan &p) { p.variants[0].scratchChunks.push_back(1); },
     "expected the scratch chunks of 2 ranks, found 3"},
    {"ProgramOutOfBounds", [](Plan &p) { p.variants[0].programOfKind[1] = 2; },
     "rank 1: expected a program below 2, found 2"},
    {"UnusedProgram", [](Plan &p) { p.variants[0].programs.emplace_back(); },
     "program 2 is of no rank"},
    {"SharedProgram",
     [](Plan &p) {
       p.variants[1].programOfKind = {0, 0};
       p.variants[1].programs.pop_back();
     },
     "body op 0 (push at test.coil:3:5): its program is of 2 ranks, but it fits one only"},
    {"ManyWorkers", [](Plan &p) { p.variants[1].programs[0].workers.resize(1025); },
     "program 0: expected at most 1024 workers, found 1025"},
};
INSTANTIATE_TEST_SUITE_P(Plans, PlanRefusal, testing::ValuesIn(planRefusals), nameOfRefusal);

const Refusal channelRefusals[] = {
    {"Transport", [](Plan &p) { channelOf(p, 1).transport = Transport(9); },
     "channel 0: unknown transport 9"},
    {"SourceRank", [](Plan &p) { channelOf(p, 0).sourceRank = 2; },
     "channel 0: expected a source rank below 2, found 2"},
    {"DestinationRank", [](Plan &p) { channelOf(p, 0, 1).destinationRank = 7; },
     "channel 1: expected a destination rank below 2, found 7"},
    {"SourceWorker", [](Plan &p) { channelOf(p, 0).sourceWorker = 2; },
     "channel 0: source rank 0 has 2 workers, found worker 2"},
    {"DestinationWorker", [](Plan &p) { channelOf(p, 1).destinationWorker = 1; },
     "channel 0: destination rank 1 has 1 worker, found worker 1"},
    {"StagedInP2p",
     [](Plan &p) {
       channelOf(p, 0).transport = Transport::Staged;
       channelOf(p, 0).slots = 1;
     },
     "channel 0 (rank 0 worker 0 to rank 1 worker 0, staged): a p2p variant has no staged"},
    {"StagedWithinRank", [](Plan &p) { channelOf(p, 1).destinationRank = 0; },
     "expected its ends to be two ranks"},
    {"WithinWorker", [](Plan &p) { channelOf(p, 0, 2).destinationWorker = 0; },
     "expected its ends to be two workers"},
    {"NoSlots", [](Plan &p) { channelOf(p, 1).slots = 0; }, "expected 1 to 4096 slots, found 0"},
    {"ManySlots", [](Plan &p) { channelOf(p, 1).slots = 4097; },
     "expected 1 to 4096 slots, found 4097"},
    {"SlotsInP2p", [](Plan &p) { channelOf(p, 0).slots = 1; }, "expected no slots, found 1"},
    {"MorePushesThanPops",
     [](Plan &p) {
       PlanWorker &worker = workerOf(p, 1, 0);
       addMove(worker, worker.body, OpKind::Push, 0, {inputOf(0, 0)});
     },
     "channel 0 (rank 0 worker 0 to rank 1 worker 0, staged): expected as many pushes as pops in "
     "the body, found 3 and 2"},
    {"PushAndPopInTwoSections",
     [](Plan &p) {
       std::vector<PlanOp> &body = workerOf(p, 1, 0).body;
       workerOf(p, 1, 0).epilogue = {body[3]};
       body.pop_back();
     },
     "expected as many pushes as pops in the body, found 2 and 1"},
    {"MoreWaitsThanSignals", [](Plan &p) { addSync(workerOf(p, 0, 1).epilogue, OpKind::Wait, 0); },
     "expected as many signals as waits in the epilogue, found 1 and 2"},
    {"SignalInPrologue", [](Plan &p) { addSync(workerOf(p, 0, 0).prologue, OpKind::Signal, 0); },
     "expected as many signals as waits in the prologue, found 1 and 0"},
    {"Barriers", [](Plan &p) { addBarrier(workerOf(p, 0, 1, 1).body); },
     "variant 0 (out of place, p2p), rank 1, worker 1: expected 0 barriers in the body, as worker "
     "0 has, found 1"},
};
INSTANTIATE_TEST_SUITE_P(Channels, PlanRefusal, testing::ValuesIn(channelRefusals), nameOfRefusal);

const Refusal opRefusals[] = {
    {"Kind", [](Plan &p) { direct(p, 0).kind = OpKind(numOpKinds); }, "unknown operation 12"},
    {"Location", [](Plan &p) { direct(p, 0).location = 2; },
     "expected a location below 2, found 2"},
    {"LocationWithoutAny",
     [](Plan &p) {
       p.locations.clear();
       direct(p, 0).location = 1;
     },
     "body op 0 (put): expected a location below 0, found 1"},
    {"PutInStaged",
     [](Plan &p) {
       staged(p, 0).kind = OpKind::Put;
       staged(p, 0).channel = 0;
       staged(p, 0).destination = outputOf(1, 0);
     },
     "(put at test.coil:3:5): a staged variant cannot reach the memory of peers"},
    {"GetInStaged", [](Plan &p) { staged(p, 3).kind = OpKind::Get; },
     "a staged variant cannot reach the memory of peers"},
    {"GetReduceInStaged", [](Plan &p) { staged(p, 1).kind = OpKind::GetReduce; },
     "a staged variant cannot reach the memory of peers"},
    {"PushInP2p",
     [](Plan &p) {
       direct(p, 0).kind = OpKind::Push;
       direct(p, 0).destination = {};
     },
     "expected a staged channel, found channel 0 (p2p)"},
    {"MeetInBody",
     [](Plan &p) {
       PlanWorker &worker = workerOf(p, 0, 0);
       worker.body.push_back(worker.prologue[0]);
       worker.prologue.erase(worker.prologue.begin());
     },
     "body op 5 (meet at test.coil:3:5): expected it in the prologue"},
    {"CompletePut", [](Plan &p) { direct(p, 0).complete = true; },
     "only a reduction makes a value complete"},
    {"CompletePop", [](Plan &p) { staged(p, 3).complete = true; },
     "only a reduction makes a value complete"},
    {"Length", [](Plan &p) { direct(p, 0).length = 2; },
     "expected the length of a chunk below 2, found 2"},
    {"LengthOfSignal", [](Plan &p) { direct(p, 1).length = 1; },
     "it moves nothing, but has the length of chunk 1"},
    {"LengthOfBarrier", [](Plan &p) { workerOf(p, 0, 0).prologue[1].length = 1; },
     "prologue op 1 (barrier at test.coil:3:5): it moves nothing"},
    {"LengthOfOperand", [](Plan &p) { directOperand(p, 0).index = 1; },
     "operand 0: expected the length of chunk 0, found input[1] @ 0 with the length of chunk 1"},
    {"LengthOfDestination", [](Plan &p) { direct(p, 3).destination.index = 1; },
     "destination: expected the length of chunk 0, found output[1] @ 0"},
    {"DestinationInput", [](Plan &p) { direct(p, 3).destination.kind = OperandKind::Input; },
     "destination: expected output or scratch, found input"},
    {"DestinationSlot", [](Plan &p) { direct(p, 3).destination.kind = OperandKind::Slot; },
     "destination: expected output or scratch, found slot"},
    {"DestinationKind", [](Plan &p) { direct(p, 3).destination.kind = OperandKind(8); },
     "destination: expected a chunk of memory, found unknown[0] @ 0"},
    {"DestinationOfCopyOnPeer", [](Plan &p) { direct(p, 2, 1).destination.rank = 1; },
     "worker 1, body op 2 (copy at test.coil:3:5): destination: expected a chunk of rank 0, found "
     "output[1] @ 1"},
    {"DestinationOfPutHere", [](Plan &p) { direct(p, 0).destination.rank = 0; },
     "destination: expected a chunk of a peer, found scratch[0] @ 0"},
    {"DestinationRank", [](Plan &p) { direct(p, 0).destination.rank = 2; },
     "destination: expected a rank below 2, found 2"},
    {"DestinationIndex", [](Plan &p) { direct(p, 3).destination.index = 2; },
     "destination: expected an index below 2, found output[2] @ 0"},
    {"DestinationScratchIndex", [](Plan &p) { direct(p, 0).destination.index = 2; },
     "destination: expected an index below 2, found scratch[2] @ 1"},
    {"DestinationOfPush", [](Plan &p) { staged(p, 0).destination.index = 1; },
     "it has no destination, but names one"},
    {"DestinationOfMeet", [](Plan &p) { meet(p).destination.rank = 1; },
     "it has no destination, but names one"},
    {"NoScratch", [](Plan &p) { staged(p, 3).destination = scratchOf(0, 0); },
     "destination: rank 0 has no scratch"},
    {"TwoToCopy", [](Plan &p) { direct(p, 2, 1).operandCount = 2; }, "expected 1 operand, found 2"},
    {"NoneToReduce", [](Plan &p) { direct(p, 3).operandCount = 0; },
     "expected at least 1 operand, found 0"},
    {"OneToSignal", [](Plan &p) { direct(p, 1).operandCount = 1; }, "expected 0 operands, found 1"},
    {"NoneToMeet", [](Plan &p) { meet(p).operandCount = 0; },
     "expected at least 1 operand, found 0"},
    {"FirstOfNone", [](Plan &p) { direct(p, 1).firstOperand = 1; },
     "it has no operands, but names 1 as the first"},
    {"RunOutOfBounds", [](Plan &p) { direct(p, 3).firstOperand = 3; },
     "expected operands among the worker's 4, found 2 from 3 on"},
    {"RunWrapsAround", [](Plan &p) { direct(p, 3).firstOperand = UINT32_MAX; },
     "expected operands among the worker's 4, found 2 from 4294967295 on"},
    {"RunTooLong", [](Plan &p) { direct(p, 3).operandCount = UINT32_MAX; },
     "expected operands among the worker's 4, found 4294967295 from 2 on"},
    {"SharedRun",
     [](Plan &p) {
       PlanWorker &worker = workerOf(p, 0, 0);
       worker.body.push_back(worker.body[0]);
     },
     "body op 5 (put at test.coil:3:5): operand 0: an earlier operation has it already"},
    {"UnusedOperand", [](Plan &p) { workerOf(p, 0, 0).operands.emplace_back(); },
     "rank 0, worker 0: operand 4 of 5 is of no operation"},
    {"OperandKind", [](Plan &p) { directOperand(p, 0).kind = OperandKind(4); },
     "operand 0: expected a chunk of memory, found unknown[0] @ 0"},
    {"OperandOfPutOnPeer", [](Plan &p) { directOperand(p, 0).rank = 1; },
     "operand 0: expected a chunk of rank 0, found input[0] @ 1"},
    {"OperandOfGetHere", [](Plan &p) { directOperand(p, 1, 1).rank = 0; },
     "operand 0: expected a chunk of a peer, found input[1] @ 0"},
    {"OperandRank", [](Plan &p) { directOperand(p, 1, 1).rank = UINT32_MAX; },
     "operand 0: expected a rank below 2, found 4294967295"},
    {"OperandIndex", [](Plan &p) { directOperand(p, 1, 1).index = 3; },
     "operand 0: expected an index below 2, found input[3] @ 1"},
    {"OperandScratchIndex", [](Plan &p) { directOperand(p, 3, 0, 1).index = 3; },
     "operand 1: expected an index below 3, found scratch[3] @ 0"},
    {"GetReduceWithoutPeer", [](Plan &p) { directOperand(p, 3, 1, 1) = inputOf(0, 1); },
     "(get_reduce at test.coil:3:5): expected at least one operand on a peer"},
    {"SlotToReduce", [](Plan &p) { directOperand(p, 3, 0, 1) = slotOf(0, 1); },
     "operand 1: expected a chunk of memory, found slot[1] @ 0"},
    {"SlotToPush", [](Plan &p) { stagedOperand(p, 0) = slotOf(0, 1); },
     "operand 0: expected a chunk of memory, found slot[1] @ 0"},
    {"PopOfMemory", [](Plan &p) { stagedOperand(p, 3) = inputOf(0, 1); },
     "operand 0: expected a slot, found input[1] @ 0"},
    {"PopReduceWithoutSlot", [](Plan &p) { stagedOperand(p, 1, 1) = inputOf(0, 0); },
     "expected at least one operand in a slot"},
    {"PopReduceOfPeer", [](Plan &p) { stagedOperand(p, 1, 0).rank = 1; },
     "operand 0: expected a chunk of rank 0, found input[0] @ 1"},
    {"PopReduceTwiceOfOne", [](Plan &p) { stagedOperand(p, 1, 0) = slotOf(0, 1); },
     "operand 1: channel 1 is among its slots already"},
    {"SlotIndex", [](Plan &p) { stagedOperand(p, 3).index = 2; },
     "operand 0: expected a channel below 2, found 2"},
    {"SlotRank", [](Plan &p) { stagedOperand(p, 3).rank = 1; },
     "operand 0: expected rank 0 in a slot, found 1"},
    {"SlotOfOtherEnd", [](Plan &p) { stagedOperand(p, 3).index = 0; },
     "variant 1 (out of place, staged), rank 0, worker 0, body op 3 (pop at test.coil:3:5): slot "
     "of channel 0 ends at rank 1 worker 0, expected rank 0 worker 0"},
    {"SlotOfP2p",
     [](Plan &p) {
       p.variants[1].channels.push_back({1, 0, 0, 0, Transport::P2P, 0});
       stagedOperand(p, 3).index = 2;
     },
     "operand 0: expected a staged channel, found channel 2 (p2p)"},
    {"MeetOfItself", [](Plan &p) { workerOf(p, 0, 0).operands[0].rank = 0; },
     "prologue op 0 (meet at test.coil:3:5): operand 0: rank 0 would meet itself"},
    {"MeetRank", [](Plan &p) { workerOf(p, 0, 0).operands[0].rank = 2; },
     "operand 0: expected a rank below 2, found 2"},
    {"MeetOfMemory", [](Plan &p) { workerOf(p, 0, 0).operands[0].index = 1; },
     "operand 0: expected a rank alone, found input[1] @ 1"},
    {"MeetTwice",
     [](Plan &p) {
       PlanWorker &worker = workerOf(p, 0, 0);
       worker.prologue.push_back(worker.prologue[0]);
       worker.prologue[2].firstOperand = static_cast<uint32_t>(worker.operands.size());
       worker.prologue[2].operandCount = 2;
       worker.operands.insert(worker.operands.end(), 2, worker.operands[0]);
     },
     "operand 1: rank 1 is among those to meet already"},
    {"ChannelOfCopy", [](Plan &p) { direct(p, 2, 1).channel = 1; },
     "it uses no channel, but names channel 1"},
    {"ChannelOfPop", [](Plan &p) { staged(p, 3).channel = 1; },
     "it uses no channel, but names channel 1"},
    {"ChannelIndex", [](Plan &p) { direct(p, 1).channel = 4; },
     "expected a channel below 4, found 4"},
    {"SignalOfStaged", [](Plan &p) { addSync(workerOf(p, 1, 0).body, OpKind::Signal, 0); },
     "expected a p2p channel, found channel 0 (staged)"},
    {"SignalOfOtherEnd", [](Plan &p) { direct(p, 1).channel = 1; },
     "channel 1 starts at rank 1 worker 0, expected rank 0 worker 0"},
    {"WaitOfOtherWorker", [](Plan &p) { direct(p, 2).channel = 2; },
     "channel 2 ends at rank 0 worker 1, expected rank 0 worker 0"},
    {"PushOfOtherEnd", [](Plan &p) { staged(p, 0).channel = 1; },
     "channel 1 starts at rank 1 worker 0, expected rank 0 worker 0"},
};
INSTANTIATE_TEST_SUITE_P(Ops, PlanRefusal, testing::ValuesIn(opRefusals), nameOfRefusal);

/// A change to ownContract() that makes it invalid, and what is said then.
class ContractRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(ContractRefusal, NamesWhatIsWrong) {
  Plan plan = ownContract();
  GetParam().change(plan);
  Status status = validatePlan(plan);
  ASSERT_FALSE(status.isOk());
  EXPECT_EQ(status.code(), StatusCode::InvalidPlan);
  EXPECT_THAT(status.message(), HasSubstr(GetParam().message));
}

const Refusal contractRefusals[] = {
    {"OfACollective", [](Plan &p) { p.collective = Collective::AllReduce; },
     "contract: expected none for allreduce"},
    {"Missing", [](Plan &p) { p.contract = {}; },
     "contract: expected 1 to 1048576 segments of input, found 0"},
    {"NoOutput", [](Plan &p) { p.contract.outputSegments = 0; },
     "contract: expected 1 to 1048576 segments of output, found 0"},
    {"ManySegments", [](Plan &p) { p.contract.inputSegments = maxContractSegments + 1; },
     "contract: expected 1 to 1048576 segments of input, found 1048577"},
    {"ManySources", [](Plan &p) { p.contract.sources.resize(maxContractSources + 1); },
     "contract: expected at most 4194304 sources, found 4194305"},
    {"PromiseRank", [](Plan &p) { p.contract.promises[1].rank = 2; },
     "contract, promise 1: expected a rank below 2 and a segment below 3, found 2 and 0"},
    {"PromiseSegment", [](Plan &p) { p.contract.promises[0].segment = 3; },
     "contract, promise 0: expected a rank below 2 and a segment below 3, found 0 and 3"},
    {"PromiseTwice", [](Plan &p) { p.contract.promises[1] = {0, 2, 1, 2}; },
     "contract, promise 1: expected promises ascending by rank and segment"},
    {"NoSources", [](Plan &p) { p.contract.promises[0].sourceCount = 0; },
     "contract, promise 0: expected 1 to 3 sources from 0 on, found 0 from 0 on"},
    {"SourcesBeyond", [](Plan &p) { p.contract.promises[1].sourceCount = 3; },
     "contract, promise 1: expected 1 to 2 sources from 1 on, found 3 from 1 on"},
    {"SourcesWrapAround", [](Plan &p) { p.contract.promises[1].sourceCount = UINT32_MAX; },
     "contract, promise 1: expected 1 to 2 sources from 1 on, found 4294967295 from 1 on"},
    {"SourcesShared", [](Plan &p) { p.contract.promises[1].firstSource = 0; },
     "contract, promise 1: expected 1 to 2 sources from 1 on, found 2 from 0 on"},
    {"SourceLeftOver", [](Plan &p) { p.contract.promises[1].sourceCount = 1; },
     "contract: source 2 of 3 is of no promise"},
    {"SourceRank", [](Plan &p) { p.contract.sources[0].rank = 2; },
     "contract, source 0: expected a rank below 2 and a segment below 2, found 2 and 1"},
    {"SourceSegment", [](Plan &p) { p.contract.sources[2].segment = 2; },
     "contract, source 2: expected a rank below 2 and a segment below 2, found 1 and 2"},
    {"SourceTwice", [](Plan &p) { p.contract.sources[2] = {0, 0}; },
     "contract, source 2: expected the sources of promise 1 ascending by rank and segment"},
    {"InPlace", [](Plan &p) { p.variants[0].inPlace = true; },
     "a contract of its own has no form in place"},
    {"Complete", [](Plan &p) { workerOf(p, 0, 1).body[3].complete = true; },
     "it makes a value complete, but a contract of its own averages none"},
    {"WritesUnpromised", [](Plan &p) { workerOf(p, 0, 0).body[2].destination.index = 2; },
     "destination: the contract promises nothing of output[2] @ 0"},
    {"InputBeyond", [](Plan &p) { workerOf(p, 0, 1).operands[0].index = 4; },
     "operand 0: expected an index below 4, found input[4] @ 1"},
    {"OutputBeyond", [](Plan &p) { workerOf(p, 0, 0).body[2].destination.index = 6; },
     "destination: expected an index below 6, found output[6] @ 0"},
};
INSTANTIATE_TEST_SUITE_P(Contract, ContractRefusal, testing::ValuesIn(contractRefusals),
                         nameOfRefusal);

TEST(PlanValidator, AcceptsTheTestPlans) {
  for (const auto &[name, plan] : allTestPlans()) {
    Status status = validatePlan(plan);
    EXPECT_TRUE(status.isOk()) << name << ": " << status.message();
  }
}

TEST(PlanValidator, AcceptsPlansWithoutLocationsAndNames) {
  Plan plan = stagedAllReduce();
  plan.name.clear();
  plan.producer.clear();
  plan.locations.clear();
  Status status = validatePlan(plan);
  EXPECT_TRUE(status.isOk()) << status.message();
}

TEST(PlanValidator, AcceptsAReductionIntoItsOwnOperand) {
  Plan plan = directAllReduce();
  PlanWorker &worker = plan.variants[0].programs[0].workers[0];
  operandOf(worker, worker.body[0]) = outputOf(0, 0);
  Status status = validatePlan(plan);
  EXPECT_TRUE(status.isOk()) << status.message();
}

TEST(PlanValidator, CountsTheSegmentsOfTheCollective) {
  // Rank 0 copies chunk `source` of its input to chunk `destination` of its output.
  auto check = [](Collective collective, uint32_t source, uint32_t destination) {
    Plan plan;
    plan.collective = collective;
    plan.ranks = 2;
    plan.chunks = 3;
    PlanVariant &variant = plan.variants.emplace_back();
    variant.programs.resize(2);
    variant.programOfKind = {0, 1};
    variant.scratchChunks = {0, 0};
    PlanWorker &worker = variant.programs[0].workers.emplace_back();
    addMove(worker, worker.body, OpKind::Copy, source % 3, {inputOf(0, source)},
            outputOf(0, destination));
    return validatePlan(plan).message();
  };
  EXPECT_EQ(check(Collective::AllGather, 2, 5), "");
  EXPECT_THAT(check(Collective::AllGather, 3, 3), HasSubstr("index below 3, found input[3]"));
  EXPECT_THAT(check(Collective::AllGather, 0, 6), HasSubstr("index below 6, found output[6]"));
  EXPECT_EQ(check(Collective::ReduceScatter, 5, 2), "");
  EXPECT_THAT(check(Collective::ReduceScatter, 0, 3), HasSubstr("index below 3, found output[3]"));
  EXPECT_EQ(check(Collective::AllToAll, 5, 5), "");
  EXPECT_THAT(check(Collective::AllReduce, 5, 2), HasSubstr("index below 3, found input[5]"));
}

TEST(PlanValidator, KnowsBuffersThatOnlyTheRootHas) {
  Plan plan = chainBroadcast();
  PlanWorker &worker = plan.variants[0].programs[1].workers[0];
  worker.operands[1] = inputOf(1, 0);
  EXPECT_THAT(validatePlan(plan).message(),
              HasSubstr("variant 0 (out of place, staged, root 0), rank 1, worker 0, body op 1 "
                        "(push at test.coil:3:5): operand 0: rank 1 has no input"));

  plan = stagedAllReduce();
  plan.collective = Collective::Reduce;
  EXPECT_THAT(validatePlan(plan).message(), HasSubstr("destination: rank 1 has no output"));
}

TEST(PlanValidator, AcceptsMeetsOfSharedPrograms) {
  // Ranks 1 and 2 share a program that meets rank 0.
  Plan plan;
  plan.collective = Collective::Barrier;
  plan.ranks = 3;
  plan.chunks = 1;
  PlanVariant &variant = plan.variants.emplace_back();
  variant.programs.resize(2);
  variant.programOfKind = {0, 1, 1};
  variant.scratchChunks = {0, 0, 0};
  PlanWorker &worker = variant.programs[1].workers.emplace_back();
  addMeet(worker, {0});
  EXPECT_EQ(validatePlan(plan).message(), "");
  worker.operands[0].rank = 2;
  EXPECT_THAT(validatePlan(plan).message(), HasSubstr("rank 2 would meet itself"));
}

TEST(PlanValidator, FindsVariants) {
  Plan plan = chainBroadcast();
  EXPECT_EQ(plan.find(0, false, Transport::Staged), &plan.variants[0]);
  EXPECT_EQ(plan.find(1, false, Transport::Staged), &plan.variants[1]);
  EXPECT_EQ(plan.find(2, false, Transport::Staged), nullptr);
  EXPECT_EQ(plan.find(0, true, Transport::Staged), nullptr);
  EXPECT_EQ(plan.find(0, false, Transport::P2P), nullptr);
}

} // namespace
} // namespace coil
