// RUN: coil-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected the name of a collective, found 'allreduction'}}
coil.algorithm @a implements allreduction {
^bb0(%ranks: index):
}

// -----

// coil.algorithm C2
// expected-error@+1 {{expected 2 block arguments of type index (the number of ranks and the root), found 1}}
coil.algorithm @a implements broadcast {
^bb0(%ranks: index):
}

// -----

// expected-error@+1 {{expected 1 block argument of type index (the number of ranks), found 2}}
coil.algorithm @a implements allreduce {
^bb0(%ranks: index, %root: index):
}

// -----

// coil.algorithm C3
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-note@+1 {{the first one is here}}
  coil.chunks %ranks
  // expected-error@+1 {{'coil.chunks' op stands a second time}}
  coil.chunks %ranks
}

// -----

// coil.parameter C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-note@+1 {{the first declaration is here}}
  %a = coil.parameter radix : index
  // expected-error@+1 {{declares 'radix' again}}
  %b = coil.parameter radix : i1
}

// -----

// coil.parameter C2
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected a default of type 'i1', found 'index'}}
  %a = "coil.parameter"(%ranks) {name = "fast", operandSegmentSizes = array<i32: 0, 0, 1>} : (index) -> i1
}

// -----

// coil.parameter C3
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected no range for type 'i1'}}
  %a = coil.parameter fast in %ranks to %ranks : i1
}

// -----

coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected both ends of a range}}
  %a = "coil.parameter"(%ranks) {name = "radix", operandSegmentSizes = array<i32: 1, 0, 0>} : (index) -> index
}

// -----

// coil.scratch C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected a name other than input, output and data, found 'data'}}
  coil.scratch data[%ranks]
}

// -----

coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-note@+1 {{the first declaration is here}}
  coil.scratch kept[%ranks]
  // expected-error@+1 {{declares 'kept' again}}
  coil.scratch kept[%ranks]
}

// -----

// coil.place C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{names the buffer 'kept'; expected input, output, data or a declared scratch buffer}}
  %p = coil.place kept[%ranks] on %ranks
}

// -----

// coil.operand C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  %p = coil.place data[%ranks] on %ranks
  // expected-error@+1 {{expected to stand in a coil.reduce or coil.combine}}
  coil.operand %p
}

// -----

// coil.exchange C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-note@+1 {{the outer one is here}}
  coil.exchange {
    // expected-error@+1 {{is nested in another exchange}}
    coil.exchange {
    }
  }
}

// -----

// coil.apply C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected an algorithm, found @b}}
  coil.apply @b over {
  } on "data" {
  }
}

// -----

coil.algorithm @b implements broadcast {
^bb0(%ranks: index, %root: index):
}
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{gives no root, but @b has one}}
  coil.apply @b over {
  } on "data" {
  }
}

// -----

// coil.apply C2
coil.algorithm @b implements allreduce {
^bb0(%ranks: index):
  %fast = coil.parameter fast : i1
}
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{gives no value for 'fast'}}
  coil.apply @b over {
  } on "data" {
  }
}

// -----

coil.algorithm @b implements allreduce {
^bb0(%ranks: index):
  %fast = coil.parameter fast : i1
}
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected type 'i1' for 'fast', found 'index'}}
  coil.apply @b with ["fast"](%ranks : index) over {
  } on "data" {
  }
}

// -----

coil.algorithm @b implements allreduce {
^bb0(%ranks: index):
}
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{gives 'radix', which @b does not have}}
  coil.apply @b with ["radix"](%ranks : index) over {
  } on "data" {
  }
}

// -----

coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected a name for each argument, found 0 for 1}}
  coil.apply @a with [](%ranks : index) over {
  } on "data" {
  }
}

// -----

// coil.apply C3
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{names the buffer 'kept'; expected input, output, data or a declared scratch buffer}}
  coil.apply @a over {
  } on "kept" {
  }
}

// -----

// coil.apply C4
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-note@+1 {{the exchange is here}}
  coil.exchange {
    // expected-error@+1 {{stands in an exchange}}
    coil.apply @a over {
    } on "data" {
    }
  }
}

// -----

// coil.item C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected to stand in a coil.apply}}
  coil.item %ranks
}

// -----

// coil.table C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected 4 entries, found 1}}
  %t = coil.table [2, 2] of %ranks
}

// -----

coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected dimensions of at least 1}}
  %t = coil.table [2, 0] of %ranks
}

// -----

// coil.entry C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  %t = coil.table [1] of %ranks
  // expected-error@+1 {{expected 1 indices, found 2}}
  %e = coil.entry %t[%ranks, %ranks]
}

// -----

// coil.algorithm C4
// expected-error@+1 {{expected one coil.segments, as it implements custom, found 0}}
coil.algorithm @a implements custom {
^bb0(%ranks: index):
}

// -----

// expected-error@+1 {{expected no coil.segments, as it implements allreduce, found 1}}
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  coil.segments input %ranks output %ranks
}

// -----

// coil.ensures C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected to stand in a coil.algorithm that implements custom}}
  coil.ensures [%ranks] on %ranks of {
  }
}

// -----

// coil.source C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected to stand in a coil.ensures}}
  coil.source [%ranks] on %ranks
}

// -----

// coil.schedule C1
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected the transport p2p or staged, found 'matched'}}
  coil.schedule over matched
}

// -----

// coil.schedule C2
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected the protocol simple, ll or ll128, found 'll64'}}
  coil.schedule using ll64
}

// -----

// coil.schedule C2
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-error@+1 {{expected no protocol over p2p, which sends no messages, found ll}}
  coil.schedule over p2p using ll
}

// -----

// coil.algorithm C3
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
  // expected-note@+1 {{the first one is here}}
  coil.schedule slices %ranks
  // expected-error@+1 {{stands a second time}}
  coil.schedule
}
