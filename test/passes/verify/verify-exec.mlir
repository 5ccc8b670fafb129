// RUN: coil-opt %s --coil-verify-exec --split-input-file --verify-diagnostics

// Programs with one fault each. What is right is proved in the tests of the
// lowerings, of every example, and of compiler/semantics.

// Both ranks push twice before they pop, through one slot each.
exec.plan @swap implements allgather ranks 2 chunks 2 {
  exec.variant @slots root 0 transport staged scratch [0, 0] {
    exec.channel @from0 from 0 : 0 to 1 : 0 slots 1
    // expected-note@+1 {{2 slots instead of 1 in channel @from1 alone would be enough}}
    exec.channel @from1 from 1 : 0 to 0 : 0 slots 1
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          exec.copy input[0] to output[0] length 0
          exec.copy input[1] to output[1] length 1
          exec.push input[0] via @from0 length 0
          // expected-error@+2 {{deadlock: rank 0's push of message 1 on channel @from0 waits through rank 1 for itself; needs at least 2 slots, has 1}}
          // expected-note@+1 {{rank 0's push of message 1 on channel @from0 waits for a free slot, freed by rank 1's pop of message 0}}
          exec.push input[1] via @from0 length 1
          // expected-note@+1 {{rank 0 comes to its pop of message 0 on channel @from1 only after its push of message 1 on channel @from0}}
          exec.pop via @from1 to output[2] length 0
          exec.pop via @from1 to output[3] length 1
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
          exec.copy input[0] to output[2] length 0
          exec.copy input[1] to output[3] length 1
          exec.push input[0] via @from1 length 0
          // expected-note@+1 {{rank 1's push of message 1 on channel @from1 waits for a free slot, freed by rank 0's pop of message 0}}
          exec.push input[1] via @from1 length 1
          // expected-note@+1 {{rank 1 comes to its pop of message 0 on channel @from0 only after its push of message 1 on channel @from1}}
          exec.pop via @from0 to output[0] length 0
          exec.pop via @from0 to output[1] length 1
        }
      }
    }
  }
}

// -----

// A wait that nothing signals.
exec.plan @get implements broadcast ranks 2 chunks 1 {
  exec.variant @unmatched root 0 transport p2p scratch [0, 0] {
    // expected-note@+1 {{channel @s leads from rank 1 to rank 0}}
    exec.channel @s from 1 : 0 to 0 : 0
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          exec.copy input[0] to output[0] length 0
        }
        // expected-error@+1 {{wait on channel @s has no matching signal: 1 wait, 0 signals in the epilogue}}
        exec.wait @s
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.meet [0]
        exec.tiles {
          exec.get input[0] on 0 to output[0] length 0
        }
      }
    }
  }
}

// -----

// Rank 0 may leave while rank 1 still reads.
exec.plan @get implements broadcast ranks 2 chunks 1 {
  exec.variant @leaves root 0 transport p2p scratch [0, 0] {
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          exec.copy input[0] to output[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.meet [0]
        exec.tiles {
          // expected-error@+1 {{accesses input[0] on rank 0, which may have left the call: nothing orders it before rank 0's end}}
          exec.get input[0] on 0 to output[0] length 0
        }
      }
    }
  }
}

// -----

// Rank 1 may read before rank 0 has come.
exec.plan @get implements broadcast ranks 2 chunks 1 {
  exec.variant @enters root 0 transport p2p scratch [0, 0] {
    exec.channel @s from 1 : 0 to 0 : 0
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          exec.copy input[0] to output[0] length 0
        }
        exec.wait @s
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{accesses input[0] on rank 0, which may not have entered the call: nothing orders it after rank 0's start}}
          exec.get input[0] on 0 to output[0] length 0
        }
        exec.signal @s
      }
    }
  }
}

// -----

// An average would be divided on rank 1 alone.
exec.plan @average implements allreduce ranks 2 chunks 1 {
  exec.variant @incomplete root 0 transport staged scratch [0, 0] {
    exec.channel @from1to0 from 1 : 0 to 0 : 0 slots 2
    exec.channel @from0to1 from 0 : 0 to 1 : 0 slots 2
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          exec.push input[0] via @from0to1 length 0
          // expected-error@+2 {{output[0] on rank 0 ends with a value that no operation completed: an average would not be divided}}
          // expected-note@+1 {{it was last written here}}
          exec.pop_reduce input[0], head @from1to0 to output[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
          exec.push input[0] via @from1to0 length 0
          exec.pop_reduce input[0], head @from0to1 to output[0] length 0 complete
        }
      }
    }
  }
}

// -----

// Nothing is promised of rank 0, and no value of a contract of its own is complete.
exec.plan @own implements custom ranks 2 chunks 1 {
  exec.contract input 1 output 1 {
    exec.promise output[0] on 1 of input[0] on 0, input[0] on 1
  }
  exec.variant @stray root 0 transport staged scratch [0, 0] {
    exec.channel @c from 0 : 0 to 1 : 0 slots 2
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{writes output[0] on rank 0, of which the contract promises nothing}}
          exec.copy input[0] to output[0] length 0
          exec.push input[0] via @c length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{completes a value, but custom averages none}}
          exec.pop_reduce input[0], head @c to output[0] length 0 complete
        }
      }
    }
  }
}

// -----

exec.plan @own implements custom ranks 2 chunks 1 {
  exec.contract input 1 output 2 {
    exec.promise output[1] on 1 of input[0] on 0, input[0] on 1
  }
  exec.variant @copies root 0 transport staged scratch [0, 0] {
    exec.channel @c from 0 : 0 to 1 : 0 slots 2
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          exec.push input[0] via @c length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
          // expected-error@+2 {{output[1] on rank 1 ends with input[0] of rank 0 instead of input[0] of ranks 0-1; missing: input[0] of rank 1}}
          // expected-note@+1 {{it was last written here}}
          exec.pop via @c to output[1] length 0
        }
      }
    }
  }
}
