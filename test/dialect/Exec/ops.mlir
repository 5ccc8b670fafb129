// RUN: coil-opt %s | FileCheck %s
// RUN: coil-opt %s | coil-opt | FileCheck %s
// RUN: coil-opt %s --emit-bytecode | coil-opt | FileCheck %s
// RUN: coil-opt %s --mlir-print-op-generic | coil-opt | FileCheck %s

// Every operation of the exec dialect, as text and bytecode and back.

// CHECK-LABEL: exec.plan @every implements allreduce ranks 2 chunks 2
exec.plan @every implements allreduce ranks 2 chunks 2 {
  // CHECK: exec.variant @matched root 0 transport matched scratch [1, 0]
  exec.variant @matched root 0 transport matched scratch [1, 0] {
    // CHECK-NEXT: exec.channel @c from 0 : 0 to 1 : 0{{$}}
    exec.channel @c from 0 : 0 to 1 : 0
    // CHECK-NEXT: exec.program rank 0 {
    exec.program rank 0 {
      // CHECK-NEXT: exec.worker {
      exec.worker {
        // CHECK-NEXT: exec.tiles {
        exec.tiles {
          // CHECK-NEXT: exec.copy input[0] to scratch[0] length 0
          exec.copy input[0] to scratch[0] length 0
          // CHECK-NEXT: exec.reduce input[0], scratch[0] to output[0] length 0{{$}}
          exec.reduce input[0], scratch[0] to output[0] length 0
          // CHECK-NEXT: exec.send output[0] via @c length 0
          exec.send output[0] via @c length 0
          // CHECK-NEXT: exec.send output[1] via @c length 1
          exec.send output[1] via @c length 1
        }
      }
    }
    // CHECK: exec.program rank 1 {
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
          // CHECK: exec.recv via @c to output[0] length 0
          exec.recv via @c to output[0] length 0
          // CHECK-NEXT: exec.recv_reduce input[1], head @c to output[1] length 1 complete
          exec.recv_reduce input[1], head @c to output[1] length 1 complete
        }
      }
    }
  }
  // CHECK: exec.variant @p2p root 0 in_place transport p2p scratch [0, 0]
  exec.variant @p2p root 0 in_place transport p2p scratch [0, 0] {
    exec.channel @s from 0 : 0 to 1 : 0
    exec.program rank 0 {
      exec.worker {
        // CHECK: exec.meet [1]
        exec.meet [1]
        exec.tiles {
          // CHECK: exec.put input[0] to output[0] on 1 length 0
          exec.put input[0] to output[0] on 1 length 0
          // CHECK-NEXT: exec.get input[1] on 1 to output[1] length 1
          exec.get input[1] on 1 to output[1] length 1
          // CHECK-NEXT: exec.get_reduce input[1], input[1] on 1 to output[1] length 1 complete
          exec.get_reduce input[1], input[1] on 1 to output[1] length 1 complete
        }
        // CHECK: exec.signal @s
        exec.signal @s
        // CHECK-NEXT: exec.barrier
        exec.barrier
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
        // CHECK: exec.wait @s
        exec.wait @s
      }
    }
  }
  // CHECK: exec.variant @staged root 0 transport staged scratch [0, 0]
  exec.variant @staged root 0 transport staged scratch [0, 0] {
    // CHECK-NEXT: exec.channel @c from 0 : 0 to 1 : 0 slots 4
    exec.channel @c from 0 : 0 to 1 : 0 slots 4
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // CHECK: exec.push input[0] via @c length 0
          exec.push input[0] via @c length 0
          exec.push input[1] via @c length 1
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
          // CHECK: exec.pop via @c to output[0] length 0
          exec.pop via @c to output[0] length 0
          // CHECK-NEXT: exec.pop_reduce input[1], head @c to output[1] length 1
          exec.pop_reduce input[1], head @c to output[1] length 1
        }
      }
    }
  }
}

// CHECK-LABEL: exec.plan @promising implements custom ranks 1 chunks 2
exec.plan @promising implements custom ranks 1 chunks 2 {
  // CHECK-NEXT: exec.contract input 1 output 2 {
  exec.contract input 1 output 2 {
    // CHECK-NEXT: exec.promise output[1] on 0 of input[0] on 0
    exec.promise output[1] on 0 of input[0] on 0
  }
  exec.variant @matched root 0 transport matched scratch [0] {
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // CHECK: exec.copy input[1] to output[3] length 1
          exec.copy input[1] to output[3] length 1
        }
      }
    }
  }
}

// CHECK-LABEL: exec.plan @chosen implements allreduce ranks 1 chunks 1 over staged using ll128 {
exec.plan @chosen implements allreduce ranks 1 chunks 1 over staged using ll128 {
}
