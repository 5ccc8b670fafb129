// RUN: coil-opt %s --coil-lower-protocol="transports=staged slots=2" --split-input-file | FileCheck %s --check-prefix=STAGED
// RUN: coil-opt %s --coil-lower-protocol=transports=p2p --split-input-file | FileCheck %s --check-prefix=P2P
// RUN: coil-opt %s --coil-lower-protocol --coil-verify-exec --split-input-file --verify-diagnostics -o /dev/null

// An exchange in place. Over p2p both ranks would overwrite what the other still
// reads, so each offers a copy; signals order the copy before the read, and the
// read before the next tile's copy.

// STAGED-LABEL: exec.variant @in_place_staged root 0 in_place transport staged scratch [0, 0]
// STAGED-NEXT:    exec.channel @from1to0 from 1 : 0 to 0 : 0 slots 2
// STAGED:           exec.push input[0] via @from0to1 length 0
// STAGED-NEXT:      exec.pop_reduce input[0], head @from1to0 to output[0] length 0 complete

// P2P-LABEL: exec.variant @in_place_p2p root 0 in_place transport p2p scratch [1, 1]
// P2P:         exec.program rank 0
// P2P-NEXT:      exec.worker
// P2P-NEXT:        exec.meet [1]
// P2P-NEXT:        exec.tiles
// P2P-NEXT:          exec.copy input[0] to scratch[0] length 0
// P2P-NEXT:          exec.signal @sync0to1
// P2P-NEXT:          exec.wait @sync1to0
// P2P-NEXT:          exec.get_reduce input[0], scratch[0] on 1 to output[0] length 0 complete
// P2P-NEXT:          exec.signal @sync0to1
// P2P-NEXT:          exec.wait @sync1to0
// P2P-NEXT:        }
// P2P-NEXT:      }
exec.plan @doubling implements allreduce ranks 2 chunks 1 {
  exec.variant @in_place root 0 in_place transport matched scratch [0, 0] {
    exec.channel @from1to0 from 1 : 0 to 0 : 0
    exec.channel @from0to1 from 0 : 0 to 1 : 0
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          exec.send input[0] via @from0to1 length 0
          exec.recv_reduce input[0], head @from1to0 to output[0] length 0 complete
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
          exec.send input[0] via @from1to0 length 0
          exec.recv_reduce input[0], head @from0to1 to output[0] length 0 complete
        }
      }
    }
  }
}

// -----

// A ring's step: the reader reads the sender's memory. The second lap overwrites
// input[0] on rank 0, which rank 1 has read long before; the value that comes back
// says so, and no further signal is needed within the tile.

// STAGED-LABEL: exec.variant @ring_staged
// STAGED:         exec.push input[0] via @from0to1 length 0
// STAGED-NEXT:    exec.pop via @from1to0 to output[0] length 0

// P2P-LABEL: exec.variant @ring_p2p root 0 in_place transport p2p scratch [0, 0]
// P2P:         exec.program rank 0
// P2P-NEXT:      exec.worker
// P2P-NEXT:        exec.meet [1]
// P2P-NEXT:        exec.tiles
// P2P-NEXT:          exec.wait @sync1to0
// P2P-NEXT:          exec.get output[0] on 1 to output[0] length 0
// P2P-NEXT:        }
// P2P-NEXT:        exec.signal @sync0to1
// P2P-NEXT:      }
// P2P:         exec.program rank 1
// P2P-NEXT:      exec.worker
// P2P-NEXT:        exec.meet [0]
// P2P-NEXT:        exec.tiles
// P2P-NEXT:          exec.get_reduce input[0], input[0] on 0 to output[0] length 0 complete
// P2P-NEXT:          exec.signal @sync1to0
// P2P-NEXT:        }
// P2P-NEXT:        exec.wait @sync0to1
// P2P-NEXT:      }
exec.plan @ring implements allreduce ranks 2 chunks 1 {
  exec.variant @ring root 0 in_place transport matched scratch [0, 0] {
    exec.channel @from0to1 from 0 : 0 to 1 : 0
    exec.channel @from1to0 from 1 : 0 to 0 : 0
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          exec.send input[0] via @from0to1 length 0
          exec.recv via @from1to0 to output[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
          exec.recv_reduce input[0], head @from0to1 to output[0] length 0 complete
          exec.send output[0] via @from1to0 length 0
        }
      }
    }
  }
}
