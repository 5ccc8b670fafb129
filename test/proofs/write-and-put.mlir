// RUN: not coilc %s --compile-from=exec -o %t.plan 2>&1 | FileCheck %s --implicit-check-not=error: --implicit-check-not=note:

// One worker of rank 0 writes scratch, another puts it into rank 1's memory; nothing is between.
exec.plan @by_hand implements allgather ranks 2 chunks 1 {
  exec.variant @no_barrier root 0 transport p2p scratch [1, 0] {
    exec.channel @done from 0 : 1 to 1 : 0
    exec.channel @back from 1 : 0 to 0 : 1
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          exec.copy input[0] to scratch[0] length 0
          exec.copy input[0] to output[0] length 0
        }
      }
      exec.worker {
        exec.meet [1]
        exec.tiles {
          exec.put scratch[0] to output[0] on 1 length 0
          exec.get input[0] on 1 to output[1] length 0
          exec.signal @done
        }
        exec.signal @done
        exec.wait @back
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.meet [0]
        exec.tiles {
          exec.copy input[0] to output[1] length 0
          exec.wait @done
        }
        exec.wait @done
        exec.signal @back
      }
    }
  }
}

// CHECK: {{^|/}}write-and-put.mlir:18:11: error: rank 0 worker 1's put of scratch[0] in a tile and rank 0 worker 0's copy into scratch[0] in the next tile are not ordered (in variant @no_barrier)
// CHECK: {{^|/}}write-and-put.mlir:11:11: note: the other access is here
