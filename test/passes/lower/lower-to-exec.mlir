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

// One variant for each root. Out of place the root's own output is copied; in
// place it is there.

// CHECK-LABEL: exec.plan @send implements broadcast
// CHECK:         exec.variant @out_of_place_root0 root 0 transport matched
// CHECK:           exec.program rank 0
// CHECK:             exec.tiles
// CHECK-DAG:           exec.send input[0] via @from0to1 length 0
// CHECK-DAG:           exec.copy input[0] to output[0] length 0
// CHECK:           exec.program rank 1
// CHECK:             exec.recv via @from0to1 to output[0] length 0
// CHECK:         exec.variant @in_place_root0 root 0 in_place transport matched
// CHECK:           exec.program rank 0
// CHECK-NEXT:        exec.worker
// CHECK-NEXT:          exec.tiles
// CHECK-NEXT:            exec.send input[0] via @from0to1 length 0
// CHECK-NEXT:          }
// CHECK:         exec.variant @out_of_place_root1 root 1 transport matched
// CHECK:         exec.variant @in_place_root1 root 1 in_place transport matched
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
