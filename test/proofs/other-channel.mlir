// RUN: not coilc %s --compile-from=exec -o %t.plan 2>&1 | FileCheck %s --implicit-check-not=error: --implicit-check-not=note:

// A signal on one channel between two ranks, the wait for it on another.
exec.plan @by_hand implements allgather ranks 2 chunks 1 {
  exec.variant @two_channels root 0 transport p2p scratch [0, 0] {
    exec.channel @from0 from 0 : 0 to 1 : 0
    exec.channel @from1 from 1 : 0 to 0 : 0
    exec.channel @other0 from 0 : 0 to 1 : 0
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
          exec.wait @other0
          exec.get output[0] on 0 to output[0] length 0
        }
        exec.signal @from1
        exec.wait @from0
      }
    }
  }
}

// CHECK: {{^|/}}other-channel.mlir:14:11: error: signal on channel @from0 has no matching wait: 1 signal, 0 waits in the body (in variant @two_channels)
// CHECK: {{^|/}}other-channel.mlir:6:5: note: channel @from0 leads from rank 0 to rank 1
// CHECK: {{^|/}}other-channel.mlir:28:11: error: wait on channel @other0 has no matching signal: 1 wait, 0 signals in the body (in variant @two_channels)
// CHECK: {{^|/}}other-channel.mlir:8:5: note: channel @other0 leads from rank 0 to rank 1
