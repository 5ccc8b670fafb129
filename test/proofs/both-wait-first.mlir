// RUN: not coilc %s --compile-from=exec -o %t.plan 2>&1 | FileCheck %s --implicit-check-not=error: --implicit-check-not=note:

// Both ranks wait for the other's signal before they give their own.
exec.plan @by_hand implements allgather ranks 2 chunks 1 {
  exec.variant @waits_first root 0 transport p2p scratch [0, 0] {
    exec.channel @from0 from 0 : 0 to 1 : 0
    exec.channel @from1 from 1 : 0 to 0 : 0
    exec.program rank 0 {
      exec.worker {
        exec.meet [1]
        exec.tiles {
          exec.copy input[0] to output[0] length 0
          exec.wait @from1
          exec.signal @from0
          exec.get output[1] on 1 to output[1] length 0
        }
        exec.signal @from0
        exec.wait @from1
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.meet [0]
        exec.tiles {
          exec.copy input[0] to output[1] length 0
          exec.wait @from0
          exec.signal @from1
          exec.get output[0] on 0 to output[0] length 0
        }
        exec.signal @from1
        exec.wait @from0
      }
    }
  }
}

// CHECK: {{^|/}}both-wait-first.mlir:13:11: error: deadlock: rank 0's wait for signal 0 on channel @from1 waits through rank 1 for itself (in variant @waits_first)
// CHECK: {{^|/}}both-wait-first.mlir:13:11: note: rank 0's wait for signal 0 on channel @from1 waits for rank 1's signal
// CHECK: {{^|/}}both-wait-first.mlir:27:11: note: rank 1 comes to its signal 0 on channel @from1 only after its wait for signal 0 on channel @from0
// CHECK: {{^|/}}both-wait-first.mlir:26:11: note: rank 1's wait for signal 0 on channel @from0 waits for rank 0's signal
// CHECK: {{^|/}}both-wait-first.mlir:14:11: note: rank 0 comes to its signal 0 on channel @from0 only after its wait for signal 0 on channel @from1
