// RUN: coil-opt %s --coil-verify-collective="ranks=2" --split-input-file --verify-diagnostics

// A right program passes unchanged.
coil.algorithm @pair implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = coil.place data[%c0] on %c0
  %b = coil.place data[%c0] on %c1
  coil.reduce %a from {
    coil.operand %b
  }
  coil.send %a to %b
}

// -----

// Ranks are taken modulo their number, negative ones too; every root is proved.
coil.algorithm @modulo implements broadcast {
^bb0(%ranks: index, %root: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %before = arith.subi %root, %c1 : index
  %a = coil.place data[%c0] on %root
  %b = coil.place data[%c0] on %before
  coil.send %a to %b
}

// -----

coil.algorithm @missing implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = coil.place data[%c0] on %c0
  %b = coil.place data[%c0] on %c1
  coil.exchange {
    // expected-error@+1 {{output[0] on rank 1 ends with input[0] of rank 0 instead of input[0] of ranks 0-1; missing: input[0] of rank 1}}
    coil.send %a to %b
    // expected-error@+1 {{output[0] on rank 0 ends with input[0] of rank 1 instead of input[0] of ranks 0-1; missing: input[0] of rank 0}}
    coil.send %b to %a
  }
}

// -----

coil.algorithm @twice implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = coil.place data[%c0] on %c0
  %b = coil.place data[%c0] on %c1
  // expected-error@+1 {{input[0] of rank 1 is combined twice into data[0] on rank 0}}
  coil.reduce %a from {
    coil.operand %b
    coil.operand %b
  }
}

// -----

coil.algorithm @unset implements allgather {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = coil.place data[%c0] on %c1
  %b = coil.place data[%c0] on %c0
  // expected-error@+1 {{reads data[0] on rank 1, which holds nothing yet}}
  coil.send %a to %b
}

// -----

coil.algorithm @lengths implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  coil.chunks %ranks
  %a = coil.place data[%c0] on %c0
  %b = coil.place data[%c1] on %c1
  // expected-error@+1 {{data[0] on rank 0 is chunk 0 of its segment and data[1] on rank 1 chunk 1: their lengths may differ for counts that 2 does not divide}}
  coil.send %a to %b
}

// -----

coil.algorithm @range implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %a = coil.place data[%ranks] on %c0
  // expected-error@+1 {{data[2] on rank 0 is out of range: the buffer has 1 chunk}}
  coil.send %a to %a
}

// -----

coil.algorithm @writes_input implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = coil.place input[%c0] on %c0
  %b = coil.place input[%c0] on %c1
  // expected-error@+1 {{writes input[0] on rank 1: the caller's input is never written}}
  coil.send %a to %b
}

// -----

coil.algorithm @copies_between_ranks implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = coil.place data[%c0] on %c0
  %b = coil.place data[%c0] on %c1
  // expected-error@+1 {{copies from rank 0 to rank 1; expected one rank (use send)}}
  coil.copy %a to %b
}

// -----

coil.algorithm @written_twice implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = coil.place data[%c0] on %c0
  %b = coil.place data[%c0] on %c1
  coil.exchange {
    // expected-note@+1 {{the first write is here}}
    coil.send %a to %b
    // expected-error@+1 {{data[0] on rank 1 is written twice in one exchange}}
    coil.send %a to %b
  }
}

// -----

// expected-error@+1 {{output[0] on rank 0 ends with input[0] of rank 0 instead of input[0] of ranks 0-1; missing: input[0] of rank 1; no statement writes there}}
coil.algorithm @empty implements allreduce {
^bb0(%ranks: index):
  // expected-error@-2 {{output[0] on rank 1 ends with input[0] of rank 1}}
}

// -----

coil.algorithm @asserts implements allreduce {
^bb0(%ranks: index):
  %false = arith.constant false
  // expected-error@+1 {{never right (with 2 ranks)}}
  coil.assert %false, "never right"
}

// -----

coil.algorithm @divides implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{division of 2 by zero}}
  %q = arith.floordivsi %ranks, %c0 : index
}

// -----

coil.algorithm @overflows implements allreduce {
^bb0(%ranks: index):
  %big = arith.constant 9223372036854775807 : index
  // expected-error@+1 {{the result for 9223372036854775807 and 2 does not fit in 64 bits}}
  %sum = arith.addi %big, %ranks : index
}

// -----

coil.algorithm @widths implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected a result of type index or i1}}
  %narrow = arith.constant 7 : i32
}

// -----

coil.algorithm @chooses_places implements allreduce {
^bb0(%ranks: index):
  %true = arith.constant true
  %a = coil.place data[%ranks] on %ranks
  // expected-error@+1 {{expected results of type index or i1}}
  %b = scf.if %true -> !coil.place {
    scf.yield %a : !coil.place
  } else {
    scf.yield %a : !coil.place
  }
}

// -----

// In place on the root only: the parts are named as data, or as what they are.
coil.algorithm @gathered implements gather {
^bb0(%ranks: index, %root: index):
  %c1 = arith.constant 1 : index
  %other = arith.subi %c1, %root : index
  %from = coil.place data[%other] on %other
  %to = coil.place output[%other] on %root
  coil.send %from to %to
}

// -----

coil.algorithm @scattered implements scatter {
^bb0(%ranks: index, %root: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %other = arith.subi %c1, %root : index
  %from = coil.place data[%other] on %root
  %to = coil.place output[%c0] on %other
  coil.send %from to %to
}

// -----

coil.algorithm @output_off_root implements reduce {
^bb0(%ranks: index, %root: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %other = arith.addi %root, %c1 : index
  %from = coil.place data[%c0] on %root
  %to = coil.place output[%c0] on %other
  // expected-error@+1 {{output[0] on rank 1 does not exist: in reduce the root alone, rank 0, has an output}}
  coil.send %from to %to
}

// -----

coil.algorithm @input_off_root implements scatter {
^bb0(%ranks: index, %root: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %other = arith.addi %root, %c1 : index
  %from = coil.place input[%c0] on %other
  %to = coil.place output[%c0] on %other
  // expected-error@+1 {{input[0] on rank 1 does not exist: in scatter the root alone, rank 0, has an input}}
  coil.copy %from to %to
}

// -----

// expected-error@+1 {{output[1] on rank 0 ends with nothing instead of input[0] of rank 1; no statement writes there}}
coil.algorithm @missing_segment implements gather {
^bb0(%ranks: index, %root: index):
}

// -----

coil.algorithm @wrong_segment implements alltoall {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a0 = coil.place input[%c0] on %c0
  %a1 = coil.place input[%c1] on %c0
  %b0 = coil.place input[%c0] on %c1
  %b1 = coil.place input[%c1] on %c1
  %x0 = coil.place output[%c0] on %c0
  %x1 = coil.place output[%c1] on %c0
  %y0 = coil.place output[%c0] on %c1
  %y1 = coil.place output[%c1] on %c1
  coil.copy %a0 to %x0
  // expected-error@+1 {{output[1] on rank 0 ends with input[1] of rank 1 instead of input[0] of rank 1}}
  coil.send %b1 to %x1
  coil.send %a1 to %y0
  coil.copy %b1 to %y1
}

// -----

coil.algorithm @no_data implements sendrecv {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = coil.place data[%c0] on %c0
  %b = coil.place data[%c0] on %c1
  // expected-error@+1 {{sendrecv has no 'data': name input and output}}
  coil.send %a to %b
}

// -----

coil.algorithm @wrong_neighbour implements sendrecv {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %in0 = coil.place input[%c0] on %c0
  %in1 = coil.place input[%c0] on %c1
  %out0 = coil.place output[%c0] on %c0
  %out1 = coil.place output[%c0] on %c1
  coil.send %in1 to %out0
  // expected-error@+1 {{output[0] on rank 1 ends with input[0] of rank 1 instead of input[0] of rank 0}}
  coil.copy %in1 to %out1
}

// -----

coil.algorithm @scheduled implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected 1 to 1024 parallel workers, found 0}}
  coil.schedule parallel %c0
}

// -----

// A barrier may hear of a rank twice, but must hear of each.

// expected-error@+1 {{output[0] on rank 0 ends with input[0] of rank 0 instead of input[0] of ranks 0-1; missing: input[0] of rank 1; no statement writes there}}
coil.algorithm @half implements barrier {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = coil.place data[%c0] on %c0
  %b = coil.place data[%c0] on %c1
  coil.reduce %b from {
    coil.operand %a
    coil.operand %a
  }
}
