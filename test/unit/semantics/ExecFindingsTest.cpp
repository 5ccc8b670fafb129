//===- ExecFindingsTest.cpp - What verify-exec says to wrong programs -----===//

#include "compiler/semantics/Findings.h"
#include "test/unit/semantics/Listing.h"
#include "test/unit/semantics/RightPrograms.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>

using namespace coil;

namespace {

/// A right program with each first occurrence replaced; lines stay where they are.
std::string changed(const std::string &name,
                    std::initializer_list<std::pair<std::string, std::string>> changes) {
  std::string text = rightProgram(name);
  for (const auto &[from, to] : changes) {
    size_t at = text.find(from);
    if (at == std::string::npos)
      throw std::runtime_error(name + " has no '" + from + "'");
    text.replace(at, from.size(), to);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

TEST(ExecMatchingTest, WaitWithoutSignal) {
  EXPECT_EQ(listFindings(changed("scratch_of_peer", {{"signal @full", ""}})),
            R"(12: wait on channel @full has no matching signal: 1 wait, 0 signals in the body
  2: channel @full leads from rank 0 to rank 1
)");
}

TEST(ExecMatchingTest, SecondSignalInAnotherSection) {
  EXPECT_EQ(
      listFindings(changed("p2p_exchange", {{"epilogue\n  signal @d0", "  signal @d0\nepilogue"}})),
      R"(9: signal on channel @d0 has no matching wait: 1 signal, 0 waits in the body
  2: channel @d0 leads from rank 0 to rank 1
19: wait on channel @d0 has no matching signal: 1 wait, 0 signals in the epilogue
  2: channel @d0 leads from rank 0 to rank 1
)");
}

TEST(ExecMatchingTest, PushWithoutPop) {
  EXPECT_EQ(listFindings(changed("broadcast_chain", {{"pop @c1 -> output[1]", ""}})),
            R"(16: push on channel @c1 has no matching pop: 2 pushes, 1 pop in the body
  3: channel @c1 leads from rank 2 to rank 0
)");
}

TEST(ExecMatchingTest, MessageThatNobodySends) {
  EXPECT_EQ(listFindings(changed("matched_exchange", {{"send input[0] -> @c0", ""}})),
            R"(9: recv_reduce on channel @c0 has no matching send: 1 recv, 0 sends in the body
  2: channel @c0 leads from rank 0 to rank 1
)");
}

TEST(ExecMatchingTest, BarrierThatOneWorkerLacks) {
  EXPECT_EQ(
      listFindings(changed("workers_with_barriers", {{"barrier\n  barrier", "barrier\n"}})),
      R"(12: barrier of rank 0 worker 1 has no matching barrier in worker 0: 2 and 1 in the body
)");
}

TEST(ExecMatchingTest, DataOutsideTheTiles) {
  EXPECT_EQ(listFindings(changed("one_rank", {{"  copy input[1]", "epilogue copy input[1]"},
                                              {"epilogue copy", "epilogue\n  copy"}})),
            R"(5: copy moves data in the epilogue; expected it in the tiles
)");
}

TEST(ExecMatchingTest, WrittenInput) {
  EXPECT_EQ(listFindings(changed("one_rank", {{"input[1] -> output[1]", "input[1] -> input[1]"}})),
            R"(4: writes input[1] on rank 0: the caller's input is never written
)");
}

TEST(ExecMatchingTest, BuffersThatOnlyTheRootHas) {
  EXPECT_EQ(
      listFindings(changed("broadcast_chain", {{"push output[1] -> @c1", "push input[1] -> @c1"}})),
      R"(16: reads input[1] on rank 2: broadcast has no input on ranks other than the root
)");
  EXPECT_EQ(listFindings(R"(
plan reduce ranks 2 chunks 1 transport staged
channel c from 1 to 0 slots 1
rank 0
  pop_reduce input[0] @c -> output[0] complete
rank 1
  copy input[0] -> output[0]
  push output[0] -> @c
)"),
            R"(6: writes output[0] on rank 1: reduce has no output on ranks other than the root
7: reads output[0] on rank 1: reduce has no output on ranks other than the root
)");
}

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

TEST(ExecDeadlockTest, BothWaitBeforeTheySignal) {
  EXPECT_EQ(listFindings(R"(
plan barrier ranks 2 chunks 1 transport p2p
channel a from 0 to 1
channel b from 1 to 0
rank 0
  wait @b
  signal @a
rank 1
  wait @a
  signal @b
)"),
            R"(5: deadlock: rank 0's wait for signal 0 on channel @b waits through rank 1 for itself
  5: rank 0's wait for signal 0 on channel @b waits for rank 1's signal
  9: rank 1 comes to its signal 0 on channel @b only after its wait for signal 0 on channel @a
  8: rank 1's wait for signal 0 on channel @a waits for rank 0's signal
  6: rank 0 comes to its signal 0 on channel @a only after its wait for signal 0 on channel @b
)");
}

TEST(ExecDeadlockTest, TooFewSlots) {
  EXPECT_EQ(
      listFindings(R"(
plan allgather ranks 2 chunks 3 transport staged in_place
channel a from 0 to 1 slots 2
channel b from 1 to 0 slots 2
rank 0
  push input[0] -> @a
  push input[1] -> @a
  push input[2] -> @a
  pop @b -> output[3]
  pop @b -> output[4]
  pop @b -> output[5]
rank 1
  push input[0] -> @b
  push input[1] -> @b
  push input[2] -> @b
  pop @a -> output[0]
  pop @a -> output[1]
  pop @a -> output[2]
)"),
      R"(7: deadlock: rank 0's push of message 2 on channel @a waits through rank 1 for itself; needs at least 3 slots, has 2
  7: rank 0's push of message 2 on channel @a waits for a free slot, freed by rank 1's pop of message 0
  15: rank 1 comes to its pop of message 0 on channel @a only after its push of message 2 on channel @b
  14: rank 1's push of message 2 on channel @b waits for a free slot, freed by rank 0's pop of message 0
  8: rank 0 comes to its pop of message 0 on channel @b only after its push of message 2 on channel @a
  3: 3 slots instead of 2 in channel @b alone would be enough
)");
}

TEST(ExecDeadlockTest, PopsThatMoreSlotsDoNotCure) {
  EXPECT_EQ(
      listFindings(R"(
plan allreduce ranks 3 chunks 1 transport staged
channel a from 0 to 1 slots 1
channel b from 1 to 2 slots 1
channel c from 2 to 0 slots 1
rank 0
  pop @c -> output[0]
  push input[0] -> @a
rank 1
  pop_reduce @a, input[0] -> output[0]
  push output[0] -> @b
rank 2
  pop_reduce @b, input[0] -> output[0] complete
  push output[0] -> @c
)"),
      R"(6: deadlock: rank 0's pop of message 0 on channel @c waits through ranks 1-2 for itself
  6: rank 0's pop of message 0 on channel @c waits for rank 2's push
  13: rank 2 comes to its push of message 0 on channel @c only after its pop_reduce of message 0 on channel @b
  12: rank 2's pop_reduce of message 0 on channel @b waits for rank 1's push
  10: rank 1 comes to its push of message 0 on channel @b only after its pop_reduce of message 0 on channel @a
  9: rank 1's pop_reduce of message 0 on channel @a waits for rank 0's push
  7: rank 0 comes to its push of message 0 on channel @a only after its pop of message 0 on channel @c
)");
}

TEST(ExecDeadlockTest, BarrierInTheCycle) {
  EXPECT_EQ(
      listFindings(changed("workers_with_signals", {{"  signal @s\n", "  barrier\n  signal @s\n"},
                                                    {"  wait @s\n", "  wait @s\n  barrier\n"}})),
      R"(8: deadlock: rank 0 worker 0's barrier 0 waits for itself
  8: rank 0 worker 0's barrier 0 waits for rank 0 worker 1's barrier
  14: rank 0 worker 1 comes to its barrier 0 only after its wait for signal 0 on channel @s
  13: rank 0 worker 1's wait for signal 0 on channel @s waits for rank 0 worker 0's signal
  9: rank 0 worker 0 comes to its signal 0 on channel @s only after its barrier 0
)");
}

TEST(ExecDeadlockTest, WaitForItself) {
  EXPECT_EQ(listFindings(R"(
plan barrier ranks 1 chunks 1 transport p2p
channel a from 0 to 0
rank 0
epilogue
  wait @a
  signal @a
)"),
            R"(5: deadlock: rank 0's wait for signal 0 on channel @a waits for itself
  5: rank 0's wait for signal 0 on channel @a waits for rank 0's signal
  6: rank 0 comes to its signal 0 on channel @a only after its wait for signal 0 on channel @a
)");
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

TEST(ExecRaceTest, MissingSignalAndWait) {
  EXPECT_EQ(
      listFindings(changed("p2p_in_place", {{"  signal @a\n", "\n"}, {"  wait @a\n", "\n"}})),
      R"(24: rank 1's get of output[0] on rank 0 and rank 0's get_reduce into output[0] are not ordered
  10: the other access is here
)");
}

TEST(ExecRaceTest, SignalBeforeTheWrite) {
  EXPECT_EQ(
      listFindings(R"(
plan broadcast ranks 2 chunks 1 transport p2p
channel a from 0 to 1
channel b from 1 to 0
rank 0
  signal @a
  copy input[0] -> output[0]
epilogue
  wait @b
rank 1
  wait @a
  get output[0]@0 -> output[0]
epilogue
  signal @b
)"),
      R"(11: rank 1's get of output[0] on rank 0 and rank 0's copy into output[0] are not ordered
  6: the other access is here
)");
}

TEST(ExecRaceTest, ScratchThatTheNextTileOverwrites) {
  EXPECT_EQ(
      listFindings(
          changed("scratch_of_peer", {{"  wait @free\n", "epilogue\n  wait @free\n"},
                                      {"  signal @free\n", "epilogue\n  signal @free\n"}})),
      R"(14: rank 1's reduce of scratch[0] in a tile and rank 0's put into scratch[0] on rank 1 in the next tile are not ordered
  8: the other access is here
)");
}

TEST(ExecRaceTest, CreditsThatComeTooLate) {
  EXPECT_EQ(
      listFindings(changed("credits_guard_scratch", {{"slots 2", "slots 3"}})),
      R"(13: rank 0 worker 1's copy of scratch[0] in a tile and rank 0 worker 0's copy into scratch[0] in the next tile are not ordered
  6: the other access is here
9: rank 0 worker 0's copy into scratch[1] in the next tile and rank 0 worker 1's copy of scratch[1] in a tile are not ordered
  16: the other access is here
)");
}

TEST(ExecRaceTest, InputThatIsOutputInPlace) {
  // Out of place, nothing would write what the peers read.
  EXPECT_EQ(
      listFindings(changed("p2p_exchange", {{"transport p2p", "transport p2p in_place"}})),
      R"(16: rank 1's get_reduce of input[0] on rank 0 and rank 0's get_reduce into output[0] are not ordered; in place, both are the same memory
  8: the other access is here
)");
}

TEST(ExecRaceTest, WorkersOfOneRank) {
  EXPECT_EQ(
      listFindings(changed("workers_with_barriers", {{"barrier\n  barrier", "barrier\n"},
                                                     {"complete\n  barrier", "complete\n"}})),
      R"(5: rank 0 worker 0's pop into scratch[0] in the next tile and rank 0 worker 1's reduce of scratch[0] in a tile are not ordered
  11: the other access is here
)");
}

//===----------------------------------------------------------------------===//
// Entry and exit
//===----------------------------------------------------------------------===//

TEST(ExecEntryTest, MissingMeet) {
  EXPECT_EQ(
      listFindings(changed("alltoall_puts", {{"meet 1", ""}})),
      R"(9: accesses output[0] on rank 1, which may not have entered the call: nothing orders it after rank 1's start
)");
}

TEST(ExecEntryTest, MissingFinalWait) {
  EXPECT_EQ(
      listFindings(changed("p2p_exchange", {{"wait @d1", ""}, {"signal @d1", ""}})),
      R"(16: accesses input[0] on rank 0, which may have left the call: nothing orders it before rank 0's end
)");
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

TEST(ExecResultTest, CombinedTwice) {
  EXPECT_EQ(listFindings(R"(
plan allreduce ranks 2 chunks 1 transport staged scratch 1 0
channel c0 from 0 to 1 slots 2
channel c1 from 1 to 0 slots 2
rank 0
  push input[0] -> @c0
  pop_reduce input[0], @c1 -> scratch[0]
  reduce input[0], scratch[0] -> output[0] complete
rank 1
  push input[0] -> @c1
  pop_reduce @c0, input[0] -> output[0] complete
)"),
            R"(7: combines input[0] of rank 0 twice
  6: scratch[0] on rank 0 was last written here
)");
}

TEST(ExecResultTest, MissingContribution) {
  EXPECT_EQ(
      listFindings(changed("staged_exchange", {{"pop_reduce input[0], @c1 -> output[0] complete",
                                                "pop @c1 -> output[0]"}})),
      R"(6: output[0] on rank 0 ends with input[0] of rank 1 instead of input[0] of ranks 0-1; missing: input[0] of rank 0
  6: it was last written here
)");
}

TEST(ExecResultTest, ForeignChunk) {
  EXPECT_EQ(
      listFindings(changed("alltoall_puts",
                           {{"put input[1] -> output[0]@1", "put input[0] -> output[0]@1"}})),
      R"(9: output[0] on rank 1 ends with input[0] of rank 0 instead of input[1] of rank 0; missing: input[1] of rank 0; foreign: input[0] of rank 0
  9: it was last written here
)");
}

TEST(ExecResultTest, OutputThatNothingWrites) {
  EXPECT_EQ(listFindings(changed("one_rank", {{"copy input[1] -> output[1]", ""}})),
            R"(1: output[1] on rank 0 ends with nothing instead of input[1] of rank 0
  1: no operation writes it
)");
}

TEST(ExecResultTest, UnsetRead) {
  EXPECT_EQ(listFindings(changed("credits_guard_scratch", {{"copy input[0] -> scratch[0]",
                                                            "copy scratch[0] -> scratch[0]"}})),
            R"(6: reads scratch[0] on rank 0 before it is set
)");
  EXPECT_EQ(listFindings(changed("one_rank", {{"copy input[0]", "copy output[0]"}})),
            R"(3: reads output[0] on rank 0 before it is set
)");
}

TEST(ExecResultTest, ScratchThatOnlyTheLastTileSet) {
  EXPECT_EQ(listFindings(R"(
plan broadcast ranks 1 chunks 1 transport staged scratch 1
rank 0
  copy scratch[0] -> output[0]
  copy input[0] -> scratch[0]
)"),
            R"(3: reads scratch[0] on rank 0 before it is set
  4: it is set only here
)");
}

TEST(ExecResultTest, LengthsThatDiffer) {
  EXPECT_EQ(listFindings(R"(
plan broadcast ranks 2 chunks 3 transport staged in_place scratch 1 0
channel a from 0 to 1 slots 4
rank 0
  copy input[1] -> scratch[0]
  push scratch[0] -> @a length 0
  push scratch[0] -> @a length 1
  push input[0] -> @a
rank 1
  pop @a -> output[0]
  pop @a -> output[1]
  pop @a -> output[2]
)"),
            R"(5: scratch[0] on rank 0 holds a chunk of length class 1, read with length 0
  4: scratch[0] on rank 0 was last written here
11: the message on channel @a holds a chunk of length class 0, read with length 2
  7: the message on channel @a was sent here
)");
}

TEST(ExecResultTest, NeverCompleted) {
  EXPECT_EQ(
      listFindings(changed("staged_exchange", {{"complete", ""}})),
      R"(6: output[0] on rank 0 ends with a value that no operation completed: an average would not be divided
  6: it was last written here
)");
}

TEST(ExecResultTest, CompletedTwice) {
  EXPECT_EQ(
      listFindings(changed("p2p_in_place", {{"get output[1]@1 -> output[1]",
                                             "get_reduce output[1]@1 -> output[1] complete"}})),
      R"(13: completes a value that is complete already
  21: it was completed here
)");
}

TEST(ExecResultTest, CompletedTooEarly) {
  EXPECT_EQ(
      listFindings(changed("ring", {{"@c2 -> output[2]", "@c2 -> output[2] complete"}})),
      R"(7: completes a value of input[2] of ranks 0 and 2; expected a contribution of each of 3 ranks
)");
}

TEST(ExecResultTest, CombinedAfterCompletion) {
  EXPECT_EQ(listFindings(R"(
plan reduce_scatter ranks 2 chunks 1 transport staged scratch 1 0
channel a from 0 to 1 slots 1
channel b from 1 to 0 slots 1
rank 0
  push input[1] -> @a
  pop_reduce input[0], @b -> scratch[0] complete
  reduce scratch[0], input[1] -> output[0]
rank 1
  push input[0] -> @b
  pop_reduce @a, input[1] -> output[0] complete
)"),
            R"(7: combines scratch[0] on rank 0, whose value is complete already
  6: it was completed here
)");
}

TEST(ExecResultTest, CompletedWhereNothingIsCombined) {
  EXPECT_EQ(listFindings(R"(
plan broadcast ranks 1 chunks 1 transport staged
rank 0
  reduce input[0] -> output[0] complete
)"),
            R"(3: completes a value, but broadcast combines none
)");
}

TEST(ExecFindingsTest, StopsAfterTheMost) {
  // Of twenty outputs that nothing writes, each has a line and a note.
  std::string listing = listFindings("plan broadcast ranks 1 chunks 20 transport staged\nrank 0\n");
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(listing, '\n')), 2 * maxFindings);
}

} // namespace
