// RUN: not coilc %s --compile-from=exec -o %t.plan 2>&1 | FileCheck %s --implicit-check-not=error: --implicit-check-not=note:

// One worker of a rank comes to a barrier that the other has not.
exec.plan @by_hand implements allgather ranks 2 chunks 1 {
  exec.variant @half_a_barrier root 0 transport staged scratch [0, 0] {
    exec.channel @from0 from 0 : 1 to 1 : 0 slots 1
    exec.channel @from1 from 1 : 0 to 0 : 0 slots 1
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          exec.copy input[0] to output[0] length 0
          exec.pop via @from1 to output[1] length 0
          exec.barrier
        }
      }
      exec.worker {
        exec.tiles {
          exec.push input[0] via @from0 length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
          exec.copy input[0] to output[1] length 0
          exec.push input[0] via @from1 length 0
          exec.pop via @from0 to output[0] length 0
        }
      }
    }
  }
}

// CHECK: {{^|/}}barrier-of-one-worker.mlir:13:11: error: barrier of rank 0 worker 0 has no matching barrier in worker 1: 1 and 0 in the body (in variant @half_a_barrier)
