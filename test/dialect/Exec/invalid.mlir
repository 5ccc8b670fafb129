// RUN: coil-opt %s --split-input-file --verify-diagnostics

// exec.plan C1
// expected-error@+1 {{expected at least 1 rank, found 0}}
exec.plan @a implements allreduce ranks 0 chunks 2 {
}

// -----

// expected-error@+1 {{expected at least 1 chunk, found 0}}
exec.plan @a implements allreduce ranks 2 chunks 0 {
}

// -----

// exec.variant C1
exec.plan @a implements allreduce ranks 1 chunks 1 {
  // expected-error@+1 {{has root 1; expected 0, as the collective has no root}}
  exec.variant @v root 1 transport staged scratch [0] {
  }
}

// -----

// exec.variant C2
exec.plan @a implements allreduce ranks 2 chunks 1 {
  // expected-error@+1 {{expected scratch for each of 2 ranks, found 1 entries}}
  exec.variant @v root 0 transport staged scratch [0] {
  }
}

// -----

// exec.variant C3
exec.plan @a implements allreduce ranks 2 chunks 1 {
  // expected-error@+1 {{expected a program for each of 2 ranks, found 0}}
  exec.variant @v root 0 transport staged scratch [0, 0] {
  }
}

// -----

exec.plan @a implements allreduce ranks 2 chunks 1 {
  exec.variant @v root 0 transport staged scratch [0, 0] {
    // expected-error@+1 {{expected rank 0, found rank 1}}
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

// exec.channel C1
exec.plan @a implements allreduce ranks 2 chunks 1 {
  exec.variant @v root 0 transport staged scratch [0, 0] {
    // expected-error@+1 {{ends at rank 2; expected a rank below 2}}
    exec.channel @c from 0 : 0 to 2 : 0 slots 4
  }
}

// -----

// exec.worker C1
exec.plan @a implements allreduce ranks 1 chunks 1 {
  exec.variant @v root 0 transport staged scratch [0] {
    exec.program rank 0 {
      // expected-error@+1 {{expected an exec.tiles}}
      exec.worker {
      }
    }
  }
}

// -----

// exec.worker C2
exec.plan @a implements allreduce ranks 1 chunks 1 {
  exec.variant @v root 0 transport staged scratch [0] {
    exec.program rank 0 {
      exec.worker {
        // expected-error@+1 {{moves data; expected to stand in exec.tiles}}
        exec.copy input[0] to output[0] length 0
        exec.tiles {
        }
      }
    }
  }
}

// -----

// exec.meet C1
exec.plan @a implements allreduce ranks 1 chunks 1 {
  exec.variant @v root 0 transport p2p scratch [0] {
    exec.program rank 0 {
      exec.worker {
        // expected-error@+1 {{names rank 0; expected another rank of the plan}}
        exec.meet [0]
        exec.tiles {
        }
      }
    }
  }
}

// -----

// exec.variant C4
exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport staged scratch [1, 0] {
    exec.channel @c from 0 : 0 to 1 : 0 slots 4
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{names channel @d, which is not declared}}
          exec.push input[0] via @d length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport staged scratch [1, 0] {
    // expected-note@+1 {{the channel is declared here}}
    exec.channel @c from 0 : 0 to 1 : 0 slots 4
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{stands on rank 0 worker 0, but @c ends at rank 1 worker 0}}
          exec.pop via @c to output[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

// exec.variant C5
exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport staged scratch [1, 0] {
    exec.channel @c from 0 : 0 to 1 : 0 slots 4
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{is not offered by transport staged}}
          exec.get input[0] on 1 to output[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport p2p scratch [1, 0] {
    exec.channel @c from 0 : 0 to 1 : 0
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{is not offered by transport p2p}}
          exec.push input[0] via @c length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

// Places and lengths
exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport staged scratch [1, 0] {
    exec.channel @c from 0 : 0 to 1 : 0 slots 4
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{names chunk 2 of input on rank 0, which has 2}}
          exec.copy input[2] to output[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport staged scratch [1, 0] {
    exec.channel @c from 0 : 0 to 1 : 0 slots 4
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{has length 0, but input[1] is chunk 1 of its segment}}
          exec.copy input[1] to output[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport staged scratch [1, 0] {
    exec.channel @c from 0 : 0 to 1 : 0 slots 4
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{has length 2; expected a chunk below 2}}
          exec.copy input[0] to scratch[0] length 2
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport staged scratch [1, 0] {
    exec.channel @c from 0 : 0 to 1 : 0 slots 4
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{writes input, which is the caller's}}
          exec.copy output[0] to input[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport p2p scratch [1, 0] {
    exec.channel @c from 0 : 0 to 1 : 0
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{reads a chunk on a peer; expected chunks of its own rank}}
          exec.copy input[0] on 1 to output[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport p2p scratch [1, 0] {
    exec.channel @c from 0 : 0 to 1 : 0
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{expected a destination on a peer}}
          exec.put input[0] to output[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport p2p scratch [1, 0] {
    exec.channel @c from 0 : 0 to 1 : 0
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{names its own rank 0 as a peer; expected the place without 'on'}}
          exec.get input[0] on 0 to output[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

exec.plan @a implements allreduce ranks 2 chunks 2 {
  exec.variant @v root 0 transport p2p scratch [1, 0] {
    exec.channel @c from 0 : 0 to 1 : 0
    exec.program rank 0 {
      exec.worker {
        exec.tiles {
          // expected-error@+1 {{names rank 2; expected a rank below 2}}
          exec.get input[0] on 2 to output[0] length 0
        }
      }
    }
    exec.program rank 1 {
      exec.worker {
        exec.tiles {
        }
      }
    }
  }
}

// -----

// exec.plan C2
// expected-error@+1 {{expected an exec.contract first, as it implements custom}}
exec.plan @a implements custom ranks 1 chunks 1 {
}

// -----

exec.plan @a implements allreduce ranks 1 chunks 1 {
  // expected-error@+1 {{expected only exec.variant in an exec.plan here}}
  exec.contract input 1 output 1 {
  }
}

// -----

// exec.contract C1
exec.plan @a implements custom ranks 1 chunks 1 {
  // expected-error@+1 {{expected 1 to 1048576 segments, found 0}}
  exec.contract input 1 output 0 {
  }
}

// -----

// exec.contract C2
exec.plan @a implements custom ranks 1 chunks 1 {
  exec.contract input 1 output 2 {
    exec.promise output[1] on 0 of input[0] on 0
    // expected-error@+1 {{expected places of output ascending by rank and segment}}
    exec.promise output[0] on 0 of input[0] on 0
  }
}

// -----

// exec.promise C1
exec.plan @a implements custom ranks 1 chunks 1 {
  exec.contract input 1 output 1 {
    // expected-error@+1 {{expected one of 1 segments of output on one of 1 ranks}}
    exec.promise output[1] on 0 of input[0] on 0
  }
}

// -----

exec.plan @a implements custom ranks 1 chunks 1 {
  exec.contract input 1 output 1 {
    // expected-error@+1 {{expected one of 1 segments of input on one of 1 ranks}}
    exec.promise output[0] on 0 of input[0]
  }
}

// -----

exec.plan @a implements custom ranks 2 chunks 1 {
  exec.contract input 1 output 1 {
    // expected-error@+1 {{expected places of input ascending by rank and segment}}
    exec.promise output[0] on 0 of input[0] on 1, input[0] on 1
  }
}

// -----

// exec.plan C1
// expected-error@+1 {{expected the transport p2p or staged, found 'matched'}}
exec.plan @a implements allreduce ranks 1 chunks 1 over matched {
}

// -----

// exec.plan C1
// expected-error@+1 {{expected no protocol over p2p, which sends no messages, found ll128}}
exec.plan @a implements allreduce ranks 1 chunks 1 over p2p using ll128 {
}
