//===- RightPrograms.cpp - Rank programs without a fault ------------------===//

#include "test/unit/semantics/RightPrograms.h"

#include <fmt/format.h>
#include <stdexcept>

namespace coil {

std::string stagedRing(int64_t ranks, int64_t slots, bool inPlace) {
  std::string text = fmt::format("plan allreduce ranks {0} chunks {0} transport staged{1}\n", ranks,
                                 inPlace ? " in_place" : "");
  for (int64_t rank = 0; rank < ranks; ++rank)
    text +=
        fmt::format("channel c{0} from {0} to {1} slots {2}\n", rank, (rank + 1) % ranks, slots);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t from = (rank + ranks - 1) % ranks;
    text += fmt::format("rank {0}\n  push input[{0}] -> @c{0}\n", rank);
    for (int64_t step = 1; step < 2 * ranks - 1; ++step) {
      int64_t chunk = (rank + 2 * ranks - step) % ranks;
      if (step < ranks)
        text += fmt::format("  pop_reduce input[{0}] @c{1} -> output[{0}]{2}\n", chunk, from,
                            step == ranks - 1 ? " complete" : "");
      else
        text += fmt::format("  pop @c{1} -> output[{0}]\n", chunk, from);
      if (step < 2 * ranks - 2)
        text += fmt::format("  push output[{}] -> @c{}\n", chunk, rank);
    }
  }
  return text;
}

// Each rank reads from its left neighbour, and tells it when it has read all.
std::string p2pRing(int64_t ranks) {
  std::string text = fmt::format("plan allreduce ranks {0} chunks {0} transport p2p\n", ranks);
  for (int64_t rank = 0; rank < ranks; ++rank)
    text += fmt::format("channel c{0} from {0} to {1}\nchannel d{0} from {1} to {0}\n", rank,
                        (rank + 1) % ranks);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t from = (rank + ranks - 1) % ranks;
    text += fmt::format("rank {}\nprologue\n  meet {}\ntiles\n", rank, from);
    for (int64_t step = 1; step < 2 * ranks - 1; ++step) {
      int64_t chunk = (rank + 2 * ranks - step) % ranks;
      if (step > 1)
        text += fmt::format("  wait @c{}\n", from);
      // The second lap overwrites partial sums, which the right neighbour has read:
      // its own second lap follows from them.
      if (step < ranks)
        text += fmt::format("  get_reduce {3}[{0}]@{1} input[{0}] -> output[{0}]{2}\n", chunk, from,
                            step == ranks - 1 ? " complete" : "", step == 1 ? "input" : "output");
      else
        text += fmt::format("  get output[{0}]@{1} -> output[{0}]\n", chunk, from);
      if (step < 2 * ranks - 2)
        text += fmt::format("  signal @c{}\n", rank);
    }
    text += fmt::format("epilogue\n  signal @d{}\n  wait @d{}\n", from, rank);
  }
  return text;
}

const std::vector<NamedProgram> &rightPrograms() {
  static const std::vector<NamedProgram> programs = {
      {"staged_exchange", R"(
plan allreduce ranks 2 chunks 1 transport staged
channel c0 from 0 to 1 slots 1
channel c1 from 1 to 0 slots 1
rank 0
  push input[0] -> @c0
  pop_reduce input[0], @c1 -> output[0] complete
rank 1
  push input[0] -> @c1
  pop_reduce @c0, input[0] -> output[0] complete
)"},
      {"staged_exchange_in_place", R"(
plan allreduce ranks 2 chunks 1 transport staged in_place
channel c0 from 0 to 1 slots 1
channel c1 from 1 to 0 slots 1
rank 0
  push output[0] -> @c0
  pop_reduce input[0], @c1 -> output[0] complete
rank 1
  push input[0] -> @c1
  pop_reduce @c0, output[0] -> output[0] complete
)"},
      {"matched_exchange", R"(
plan allreduce ranks 2 chunks 1 transport matched
channel c0 from 0 to 1
channel c1 from 1 to 0
rank 0
  send input[0] -> @c0
  recv_reduce input[0], @c1 -> output[0] complete
rank 1
  send input[0] -> @c1
  recv_reduce @c0, input[0] -> output[0] complete
)"},
      {"p2p_exchange", R"(
plan allreduce ranks 2 chunks 1 transport p2p
channel d0 from 0 to 1
channel d1 from 1 to 0
rank 0
prologue
  meet 1
tiles
  get_reduce input[0], input[0]@1 -> output[0] complete
epilogue
  signal @d0
  wait @d1
rank 1
prologue
  meet 0
tiles
  get_reduce input[0]@0, input[0] -> output[0] complete
epilogue
  signal @d1
  wait @d0
)"},
      {"p2p_in_place", R"(
plan allreduce ranks 2 chunks 2 transport p2p in_place
channel a from 0 to 1
channel b from 1 to 0
channel c from 0 to 1
channel d from 1 to 0
rank 0
prologue
  meet 1
tiles
  get_reduce input[0], input[0]@1 -> output[0] complete
  signal @a
  wait @b
  get output[1]@1 -> output[1]
epilogue
  signal @c
  wait @d
rank 1
prologue
  meet 0
tiles
  get_reduce input[1]@0, input[1] -> output[1] complete
  signal @b
  wait @a
  get output[0]@0 -> output[0]
epilogue
  signal @d
  wait @c
)"},
      {"scratch_of_peer", R"(
plan reduce ranks 2 chunks 1 transport p2p root 1 scratch 0 1
channel full from 0 to 1
channel free from 1 to 0
rank 0
prologue
  meet 1
tiles
  put input[0] -> scratch[0]@1
  signal @full
  wait @free
rank 1
  wait @full
  reduce input[0], scratch[0] -> output[0] complete
  signal @free
)"},
      {"ring", stagedRing(3, 1, false)},
      {"ring_in_place", stagedRing(3, 2, true)},
      {"p2p_ring", p2pRing(3)},
      {"broadcast_chain", R"(
plan broadcast ranks 3 chunks 2 transport staged root 1
channel c0 from 1 to 2 slots 1
channel c1 from 2 to 0 slots 3
rank 0
  pop @c1 -> output[0]
  pop @c1 -> output[1]
rank 1
  push input[0] -> @c0
  copy input[0] -> output[0]
  push input[1] -> @c0
  copy input[1] -> output[1]
rank 2
  pop @c0 -> output[0]
  push output[0] -> @c1
  pop @c0 -> output[1]
  push output[1] -> @c1
)"},
      {"broadcast_chain_in_place", R"(
plan broadcast ranks 2 chunks 1 transport staged in_place
channel c0 from 0 to 1 slots 1
rank 0
  push input[0] -> @c0
rank 1
  pop @c0 -> output[0]
)"},
      {"reduce", R"(
plan reduce ranks 3 chunks 1 transport staged root 1 scratch 1 0 0
channel c0 from 2 to 0 slots 1
channel c1 from 0 to 1 slots 1
rank 0
  pop_reduce input[0], @c0 -> scratch[0]
  push scratch[0] -> @c1
rank 1
  pop_reduce input[0], @c1 -> output[0] complete
rank 2
  push input[0] -> @c0
)"},
      {"gather", R"(
plan gather ranks 2 chunks 2 transport staged root 1
channel c from 0 to 1 slots 1
rank 0
  push input[0] -> @c
  push input[1] -> @c
rank 1
  copy input[0] -> output[2]
  copy input[1] -> output[3]
  pop @c -> output[0]
  pop @c -> output[1]
)"},
      {"scatter_gets", R"(
plan scatter ranks 2 chunks 1 transport p2p
channel a from 0 to 1
channel b from 1 to 0
rank 0
prologue
  signal @a
tiles
  copy input[0] -> output[0]
epilogue
  wait @b
rank 1
prologue
  wait @a
tiles
  get input[1]@0 -> output[0]
epilogue
  signal @b
)"},
      {"sendrecv", R"(
plan sendrecv ranks 2 chunks 1 transport staged
channel c0 from 0 to 1 slots 1
channel c1 from 1 to 0 slots 1
rank 0
  push input[0] -> @c0
  pop @c1 -> output[0]
rank 1
  push input[0] -> @c1
  pop @c0 -> output[0]
)"},
      {"workers_with_barriers", R"(
plan allreduce ranks 2 chunks 1 transport staged scratch 1 0
channel c0 from 0:1 to 1 slots 2
channel c1 from 1 to 0 slots 1
rank 0 worker 0
  pop @c1 -> scratch[0]
  barrier
  barrier
rank 0 worker 1
  push input[0] -> @c0
  barrier
  reduce input[0], scratch[0] -> output[0] complete
  barrier
rank 1
  push input[0] -> @c1
  pop_reduce @c0, input[0] -> output[0] complete
)"},
      {"workers_with_signals", R"(
plan allreduce ranks 2 chunks 1 transport staged scratch 1 0
channel c0 from 0:1 to 1 slots 2
channel c1 from 1 to 0 slots 1
channel s from 0:0 to 0:1
channel f from 0:1 to 0:0
rank 0 worker 0
  pop @c1 -> scratch[0]
  signal @s
  wait @f
rank 0 worker 1
  push input[0] -> @c0
  wait @s
  reduce input[0], scratch[0] -> output[0] complete
  signal @f
rank 1
  push input[0] -> @c1
  pop_reduce @c0, input[0] -> output[0] complete
)"},
      // The credits alone order a tile's copies into scratch after the last tile's reads.
      {"credits_guard_scratch", R"(
plan broadcast ranks 1 chunks 2 transport staged scratch 3
channel turn from 0:0 to 0:1 slots 2
channel set from 0:0 to 0:1
rank 0 worker 0
  push input[0] -> @turn
  copy input[0] -> scratch[0]
  signal @set
  push input[1] -> @turn
  copy input[1] -> scratch[1]
  signal @set
rank 0 worker 1
  wait @set
  copy scratch[0] -> output[0]
  pop @turn -> scratch[2] length 0
  wait @set
  copy scratch[1] -> output[1]
  pop @turn -> scratch[2] length 1
)"},
      {"alltoall_puts", R"(
plan alltoall ranks 2 chunks 1 transport p2p
channel a from 0 to 1
channel b from 1 to 0
rank 0
prologue
  meet 1
tiles
  copy input[0] -> output[0]
  put input[1] -> output[0]@1
epilogue
  signal @a
  wait @b
rank 1
prologue
  meet 0
tiles
  put input[0] -> output[1]@0
  copy input[1] -> output[1]
epilogue
  signal @b
  wait @a
)"},
      {"reduce_scatter_in_place", R"(
plan reduce_scatter ranks 2 chunks 1 transport p2p in_place
channel a from 0 to 1
channel b from 1 to 0
rank 0
prologue
  meet 1
tiles
  get_reduce input[0], input[0]@1 -> output[0] complete
epilogue
  signal @a
  wait @b
rank 1
prologue
  meet 0
tiles
  get_reduce input[1]@0, input[1] -> output[0] complete
epilogue
  signal @b
  wait @a
)"},
      {"allgather_in_place", R"(
plan allgather ranks 2 chunks 1 transport staged in_place
channel a from 0 to 1 slots 1
channel b from 1 to 0 slots 4
rank 0
  push input[0] -> @a
  pop @b -> output[1]
rank 1
  push output[1] -> @b
  pop @a -> output[0]
)"},
      {"one_rank", R"(
plan allreduce ranks 1 chunks 2 transport staged
rank 0
  copy input[0] -> output[0]
  copy input[1] -> output[1]
)"},
  };
  return programs;
}

const std::string &rightProgram(const std::string &name) {
  for (const NamedProgram &program : rightPrograms())
    if (program.name == name)
      return program.text;
  throw std::runtime_error("no program " + name);
}

} // namespace coil
