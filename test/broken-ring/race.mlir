// RUN: not coilc %s --compile-from=exec -o %t 2>&1 | FileCheck %s

// The ring of two ranks, written by hand: rank 0 reads rank 1's sum without
// waiting for it.
exec.plan @ring implements allreduce ranks 2 chunks 2 {
  exec.variant @no_wait root 0 transport p2p scratch [0, 0] {
    exec.channel @from0 from 0 : 0 to 1 : 0
    exec.channel @from1 from 1 : 0 to 0 : 0
    exec.program rank 0 {
      exec.worker {
        exec.meet [1]
        exec.tiles {
          exec.get_reduce input[1], input[1] on 1 to output[1] length 1 complete
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
          exec.get output[1] on 0 to output[1] length 1
        }
        exec.signal @from1
        exec.wait @from0
      }
    }
  }
}

// CHECK: race.mlir:25:11: error: rank 1's get_reduce into output[0] and rank 0's get of output[0] on rank 1 are not ordered
// CHECK: race.mlir:15:11: note: the other access is here
