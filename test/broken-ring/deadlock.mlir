// RUN: not coilc %s --compile-from=exec -o %t 2>&1 | FileCheck %s

// The ring of two ranks, written by hand: each waits for the other's value before
// it signals its own.
exec.plan @ring implements allreduce ranks 2 chunks 2 {
  exec.variant @waits_first root 0 transport p2p scratch [0, 0] {
    exec.channel @from0 from 0 : 0 to 1 : 0
    exec.channel @from1 from 1 : 0 to 0 : 0
    exec.program rank 0 {
      exec.worker {
        exec.meet [1]
        exec.tiles {
          exec.get_reduce input[1], input[1] on 1 to output[1] length 1 complete
          exec.wait @from1
          exec.signal @from0
          exec.get output[0] on 1 to output[0] length 0
        }
        exec.signal @from0
        exec.wait @from1
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.meet [0]
        exec.tiles {
          exec.get_reduce input[0], input[0] on 0 to output[0] length 0 complete
          exec.wait @from0
          exec.signal @from1
          exec.get output[1] on 0 to output[1] length 1
        }
        exec.signal @from1
        exec.wait @from0
      }
    }
  }
}

// CHECK: deadlock.mlir:14:11: error: deadlock: rank 0's wait for signal 0 on channel @from1 waits through rank 1 for itself
// CHECK: deadlock.mlir:28:11: note: rank 1 comes to its signal 0 on channel @from1 only after its wait for signal 0 on channel @from0
// CHECK: deadlock.mlir:27:11: note: rank 1's wait for signal 0 on channel @from0 waits for rank 0's signal
// CHECK: deadlock.mlir:15:11: note: rank 0 comes to its signal 0 on channel @from0 only after its wait for signal 0 on channel @from1
