// RUN: not coilc %s --compile-from=exec -o %t.plan 2>&1 | FileCheck %s --implicit-check-not=error: --implicit-check-not=note:

// A signal that nobody waits for would be taken for the next one.
exec.plan @by_hand implements allgather ranks 2 chunks 1 {
  exec.variant @no_wait root 0 transport p2p scratch [0, 0] {
    exec.channel @from0 from 0 : 0 to 1 : 0
    exec.channel @from1 from 1 : 0 to 0 : 0
    exec.program rank 0 {
      exec.worker {
        exec.meet [1]
        exec.tiles {
          exec.copy input[0] to output[0] length 0
          exec.signal @from0
          exec.wait @from1
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
          exec.signal @from1
          exec.get output[0] on 0 to output[0] length 0
        }
        exec.signal @from1
        exec.wait @from0
      }
    }
  }
}

// CHECK: {{^|/}}signal-without-wait.mlir:13:11: error: signal on channel @from0 has no matching wait: 1 signal, 0 waits in the body (in variant @no_wait)
// CHECK: {{^|/}}signal-without-wait.mlir:6:5: note: channel @from0 leads from rank 0 to rank 1
