// RUN: not coilc %s --compile-from=exec -o %t.plan 2>&1 | FileCheck %s --implicit-check-not=error: --implicit-check-not=note:

// Two ranks exchange 8 chunks each in one worker, all sends before all receives, over channels of
// 2 slots: right with unlimited channels only.
exec.plan @by_hand implements alltoall ranks 2 chunks 8 {
  exec.variant @sends_first root 0 transport staged scratch [0, 0] {
    exec.channel @from0 from 0 : 0 to 1 : 0 slots 2
    exec.channel @from1 from 1 : 0 to 0 : 0 slots 2
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          exec.copy input[0] to output[0] length 0
          exec.copy input[1] to output[1] length 1
          exec.copy input[2] to output[2] length 2
          exec.copy input[3] to output[3] length 3
          exec.copy input[4] to output[4] length 4
          exec.copy input[5] to output[5] length 5
          exec.copy input[6] to output[6] length 6
          exec.copy input[7] to output[7] length 7
          exec.push input[8] via @from0 length 0
          exec.push input[9] via @from0 length 1
          exec.push input[10] via @from0 length 2
          exec.push input[11] via @from0 length 3
          exec.push input[12] via @from0 length 4
          exec.push input[13] via @from0 length 5
          exec.push input[14] via @from0 length 6
          exec.push input[15] via @from0 length 7
          exec.pop via @from1 to output[8] length 0
          exec.pop via @from1 to output[9] length 1
          exec.pop via @from1 to output[10] length 2
          exec.pop via @from1 to output[11] length 3
          exec.pop via @from1 to output[12] length 4
          exec.pop via @from1 to output[13] length 5
          exec.pop via @from1 to output[14] length 6
          exec.pop via @from1 to output[15] length 7
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
          exec.copy input[8] to output[8] length 0
          exec.copy input[9] to output[9] length 1
          exec.copy input[10] to output[10] length 2
          exec.copy input[11] to output[11] length 3
          exec.copy input[12] to output[12] length 4
          exec.copy input[13] to output[13] length 5
          exec.copy input[14] to output[14] length 6
          exec.copy input[15] to output[15] length 7
          exec.push input[0] via @from1 length 0
          exec.push input[1] via @from1 length 1
          exec.push input[2] via @from1 length 2
          exec.push input[3] via @from1 length 3
          exec.push input[4] via @from1 length 4
          exec.push input[5] via @from1 length 5
          exec.push input[6] via @from1 length 6
          exec.push input[7] via @from1 length 7
          exec.pop via @from0 to output[0] length 0
          exec.pop via @from0 to output[1] length 1
          exec.pop via @from0 to output[2] length 2
          exec.pop via @from0 to output[3] length 3
          exec.pop via @from0 to output[4] length 4
          exec.pop via @from0 to output[5] length 5
          exec.pop via @from0 to output[6] length 6
          exec.pop via @from0 to output[7] length 7
        }
      }
    }
  }
}

// CHECK: {{^|/}}all-sends-first.mlir:22:11: error: deadlock: rank 0's push of message 2 on channel @from0 waits through rank 1 for itself; needs at least 8 slots, has 2 (in variant @sends_first)
// CHECK: {{^|/}}all-sends-first.mlir:22:11: note: rank 0's push of message 2 on channel @from0 waits for a free slot, freed by rank 1's pop of message 0
// CHECK: {{^|/}}all-sends-first.mlir:58:11: note: rank 1 comes to its pop of message 0 on channel @from0 only after its push of message 2 on channel @from1
// CHECK: {{^|/}}all-sends-first.mlir:52:11: note: rank 1's push of message 2 on channel @from1 waits for a free slot, freed by rank 0's pop of message 0
// CHECK: {{^|/}}all-sends-first.mlir:28:11: note: rank 0 comes to its pop of message 0 on channel @from1 only after its push of message 2 on channel @from0
// CHECK: {{^|/}}all-sends-first.mlir:8:5: note: 8 slots instead of 2 in channel @from1 alone would be enough
