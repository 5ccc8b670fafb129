// RUN: coil-opt %s --coil-lower-to-exec=ranks=2 --split-input-file | FileCheck %s

// In an exchange each rank sends what it held before, and only then receives.

// CHECK-LABEL: exec.plan @doubling implements allreduce ranks 2 chunks 1
// CHECK-NEXT:    exec.variant @out_of_place root 0 transport matched scratch [0, 0]
// CHECK-NEXT:      exec.channel @from1to0 from 1 : 0 to 0 : 0
// CHECK-NEXT:      exec.channel @from0to1 from 0 : 0 to 1 : 0
// CHECK-NEXT:      exec.program rank 0
// CHECK-NEXT:        exec.worker
// CHECK-NEXT:          exec.tiles
// CHECK-NEXT:            exec.send input[0] via @from0to1 length 0
// CHECK-NEXT:            exec.recv_reduce input[0], head @from1to0 to output[0] length 0 complete
// CHECK:           exec.program rank 1
// CHECK-NEXT:        exec.worker
// CHECK-NEXT:          exec.tiles
// CHECK-NEXT:            exec.send input[0] via @from1to0 length 0
// CHECK-NEXT:            exec.recv_reduce input[0], head @from0to1 to output[0] length 0 complete
// CHECK:         exec.variant @in_place root 0 in_place transport matched scratch [0, 0]
coil.algorithm @doubling implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = coil.place data[%c0] on %c0
  %b = coil.place data[%c0] on %c1
  coil.exchange {
    coil.reduce %a from {
      coil.operand %b
    }
    coil.reduce %b from {
      coil.operand %a
    }
  }
}

// -----

// One variant for each root, in place and out of place: where the root's buffers
// are one memory, the copy of its own output changes nothing.

// CHECK-LABEL: exec.plan @send implements broadcast
// CHECK-NEXT:    exec.variant @root0 root 0 transport matched
// CHECK:           exec.program rank 0
// CHECK:             exec.tiles
// CHECK-DAG:           exec.send input[0] via @from0to1 length 0
// CHECK-DAG:           exec.copy input[0] to output[0] length 0
// CHECK:           exec.program rank 1
// CHECK:             exec.recv via @from0to1 to output[0] length 0
// CHECK:         exec.variant @root1 root 1 transport matched
// CHECK-NOT:     exec.variant
coil.algorithm @send implements broadcast {
^bb0(%ranks: index, %root: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %other = arith.addi %root, %c1 : index
  %a = coil.place data[%c0] on %root
  %b = coil.place data[%c0] on %other
  coil.send %a to %b
}

// -----

// Chunks that end nowhere in the output get scratch; the input is never written.

// CHECK-LABEL: exec.plan @scatter implements reduce_scatter
// CHECK:         exec.variant @in_place root 0 in_place transport matched scratch [1, 0]
// CHECK:           exec.program rank 0
// CHECK:             exec.recv_reduce input[1], head @from1to0 to scratch[0] length 0 complete
// CHECK:             exec.send scratch[0] via @from0to1 length 0
coil.algorithm @scatter implements reduce_scatter {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a0 = coil.place data[%c0] on %c0
  %b0 = coil.place data[%c0] on %c1
  coil.reduce %a0 from {
    coil.operand %b0
  }
  %a1 = coil.place data[%c1] on %c0
  %b1 = coil.place data[%c1] on %c1
  coil.reduce %a1 from {
    coil.operand %b1
  }
  coil.send %a1 to %b1
}

// -----

// In place, input chunk 0 of rank 0 is still named after its memory is written:
// the sum is kept in scratch until the end.

// CHECK-LABEL: exec.plan @outlives implements allreduce
// CHECK:         exec.variant @out_of_place root 0 transport matched scratch [0, 0]
// CHECK:         exec.variant @in_place root 0 in_place transport matched scratch [1, 0]
// CHECK:           exec.program rank 0
// CHECK:             exec.recv_reduce input[0], head @from1to0 to scratch[0] length 0 complete
// CHECK:             exec.copy scratch[0] to output[0] length 0
coil.algorithm @outlives implements allreduce {
^bb0(%ranks: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %in0 = coil.place input[%c0] on %c0
  %in1 = coil.place input[%c0] on %c1
  %out0 = coil.place output[%c0] on %c0
  %out1 = coil.place output[%c0] on %c1
  coil.combine %out0 from {
    coil.operand %in0
    coil.operand %in1
  }
  coil.combine %out1 from {
    coil.operand %in0
    coil.operand %in1
  }
}

// -----

// Rank 1 is not the root: its sum goes to scratch, since its input is never written
// and it has no output. The root's sum goes to scratch first: in a call in place it
// would overwrite the input that rank 1 still gets.

// CHECK-LABEL: exec.plan @reduce implements reduce
// CHECK-NEXT:    exec.variant @root0 root 0 transport matched scratch [1, 1]
// CHECK:           exec.program rank 0
// CHECK-DAG:         exec.recv_reduce input[0], head @from1to0 to scratch[0] length 0 complete
// CHECK-DAG:         exec.send input[0] via @from0to1
// CHECK-DAG:         exec.copy scratch[0] to output[0] length 0
// CHECK:           exec.program rank 1
// CHECK:             exec.recv_reduce input[0], head @from0to1 to scratch[0] length 0
coil.algorithm @reduce implements reduce {
^bb0(%ranks: index, %root: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %other = arith.addi %root, %c1 : index
  %a = coil.place data[%c0] on %root
  %b = coil.place data[%c0] on %other
  %in = coil.place input[%c0] on %root
  coil.reduce %a from {
    coil.operand %b
  }
  coil.reduce %b from {
    coil.operand %in
  }
}

// -----

// An all-to-all has no form in place.

// CHECK-LABEL: exec.plan @swap implements alltoall
// CHECK-NEXT:    exec.variant @out_of_place root 0 transport matched scratch [0, 0]
// CHECK:           exec.program rank 0
// CHECK-DAG:         exec.copy input[0] to output[0] length 0
// CHECK-DAG:         exec.send input[1] via @from0to1 length 0
// CHECK-DAG:         exec.recv via @from1to0 to output[1] length 0
// CHECK-NOT:     exec.variant
coil.algorithm @swap implements alltoall {
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
  coil.send %a1 to %y0
  coil.send %b0 to %x1
  coil.copy %b1 to %y1
}

// -----

// A schedule: each chunk in 2 slices for each of 2 workers. Worker w has the parts w and
// w + 2, and rank 1 sends the first on before it gets the second.

// CHECK-LABEL: exec.plan @scheduled implements broadcast
// CHECK-SAME:    chunks 4 over p2p
// CHECK:         exec.variant @root0
// CHECK-DAG:       exec.channel @from0to1 from 0 : 0 to 1 : 0
// CHECK-DAG:       exec.channel @from0to1w1 from 0 : 1 to 1 : 1
// CHECK:           exec.program rank 0
// CHECK:             exec.worker
// CHECK:               exec.send input[0] via @from0to1 length 0
// CHECK:               exec.send input[2] via @from0to1 length 2
// CHECK:             exec.worker
// CHECK:               exec.send input[1] via @from0to1w1 length 1
// CHECK:               exec.send input[3] via @from0to1w1 length 3
coil.algorithm @scheduled implements broadcast {
^bb0(%ranks: index, %root: index):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  coil.schedule slices %c2 parallel %c2 over p2p
  %other = arith.addi %root, %c1 : index
  %a = coil.place data[%c0] on %root
  %b = coil.place data[%c0] on %other
  coil.send %a to %b
}
