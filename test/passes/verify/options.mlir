// RUN: not coil-opt %s --coil-verify-collective 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not coil-opt %s --coil-verify-collective="ranks=2 root=2" 2>&1 | FileCheck %s --check-prefix=ROOT
// RUN: not coil-opt %s --coil-verify-collective="ranks=2 root=1" 2>&1 | FileCheck %s --check-prefix=NO-ROOT
// RUN: not coil-opt %s --coil-lower-protocol=transports=pigeon 2>&1 | FileCheck %s --check-prefix=TRANSPORT
// RUN: not coil-opt %s --coil-lower-protocol=slots=0 2>&1 | FileCheck %s --check-prefix=SLOTS

// RANKS: error: expected a number of ranks from 1 to 1048576, found 0
// ROOT: error: expected a root below 2, found 2
// NO-ROOT: error: has no root, but root 1 is asked for
// TRANSPORT: error: expected transports p2p and staged, found 'pigeon'
// SLOTS: error: expected at least 1 slot a channel, found 0
coil.algorithm @a implements allreduce {
^bb0(%ranks: index):
}
