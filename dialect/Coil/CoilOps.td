//===- CoilOps.td - Operations of the coil dialect ------------*- tablegen -*-===//

#ifndef COIL_DIALECT_COIL_COILOPS_TD
#define COIL_DIALECT_COIL_COILOPS_TD

include "dialect/Coil/CoilDialect.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Coil_Op<string mnemonic, list<Trait> traits = []> : Op<Coil_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Coil_AlgorithmOp : Coil_Op<"algorithm",
    [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "an algorithm and the collective that it implements";
  let description = [{
    The body sees every rank at once. Its block arguments are the number of
    ranks and, for a collective with a root, the root's rank.

    Constraints:
    - C1: `collective` names a collective.
    - C2: one `index` argument, and a second one exactly if the collective has a root.
    - C3: at most one `coil.chunks` and one `coil.schedule`, directly in the body.
    - C4: one `coil.segments`, directly in the body, if the collective is `custom`; else
      neither that nor `coil.ensures`.

    ```mlir
    coil.algorithm @chain implements broadcast {
    ^bb0(%ranks: index, %root: index):
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c1 to %ranks step %c1 {
        %to = arith.addi %root, %i : index
        %from = arith.subi %to, %c1 : index
        %source = coil.place data[%c0] on %from
        %destination = coil.place data[%c0] on %to
        coil.send %source to %destination
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$collective);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `implements` custom<Collective>($collective) attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getRanks() { return getBody().getArgument(0); }
    /// Null if the collective has no root.
    ::mlir::BlockArgument getRoot() {
      return getBody().getNumArguments() > 1 ? getBody().getArgument(1) : ::mlir::BlockArgument();
    }
  }];
}

def Coil_SegmentsOp : Coil_Op<"segments", [HasParent<"AlgorithmOp">]> {
  let summary = "the segments of each rank's buffers under a contract of its own";
  let description = [{
    Both numbers must be 1 to 2^20.

    ```mlir
    coil.segments input %c2 output %ranks
    ```
  }];
  let arguments = (ins Index:$input, Index:$output);
  let assemblyFormat = "`input` $input `output` $output attr-dict";
}

def Coil_EnsuresOp : Coil_Op<"ensures", [SingleBlock, NoTerminator]> {
  let summary = "a promise about output segments";
  let description = [{
    Output segment `begin` on `rank` ends as the combination of all sources that the
    region runs, in whatever order; one source is a copy. With `to`, this holds of each
    segment up to, not including, `end`, and the sources are runs of the same length.
    Ranks are not taken modulo their number. What several promises say of one segment
    must be the same.

    Constraints:
    - C1: stands in a `coil.algorithm` that implements `custom`.

    ```mlir
    coil.ensures [%i] on %r of {
      scf.for %q = %c0 to %ranks step %c1 {
        coil.source [%i] on %q
      }
    }
    ```
  }];
  let arguments = (ins Index:$begin, Optional<Index>:$end, Index:$rank);
  let regions = (region SizedRegion<1>:$sources);
  let assemblyFormat = "`[` $begin (`to` $end^)? `]` `on` $rank `of` $sources attr-dict";
  let hasVerifier = 1;
}

def Coil_SourceOp : Coil_Op<"source"> {
  let summary = "input segments of the enclosing ensures";
  let description = [{
    Constraints:
    - C1: stands in a `coil.ensures`, at any depth of loops and conditions.

    ```mlir
    coil.source [%a to %b] on %q
    ```
  }];
  let arguments = (ins Index:$begin, Optional<Index>:$end, Index:$rank);
  let assemblyFormat = "`[` $begin (`to` $end^)? `]` `on` $rank attr-dict";
  let hasVerifier = 1;
}

def Coil_ChunksOp : Coil_Op<"chunks", [HasParent<"AlgorithmOp">]> {
  let summary = "the number of chunks that a segment is cut into";
  let description = [{
    Without it a segment is one chunk. The value must be at least 1.

    ```mlir
    coil.chunks %ranks
    ```
  }];
  let arguments = (ins Index:$count);
  let assemblyFormat = "$count attr-dict";
}

def Coil_ScheduleOp : Coil_Op<"schedule", [HasParent<"AlgorithmOp">, AttrSizedOperandSegments]> {
  let summary = "how the algorithm should run, which does not change what it computes";
  let description = [{
    Every chunk is cut into `slices` times `parallel` parts, which are moved one by one;
    each of the `parallel` workers of a rank moves its share of the parts of every chunk.
    Both numbers are at least 1, which is what they are if not given. With `over`, plans
    have variants of that transport only; with `using`, messages on GPUs have that
    protocol. Where the algorithm is applied by another, this has no effect.

    Constraints:
    - C1: the transport is `p2p` or `staged`.
    - C2: the protocol is `simple`, `ll` or `ll128`; there is none over `p2p`.

    ```mlir
    coil.schedule slices %c4 parallel %c2 over staged using ll
    ```
  }];
  let arguments = (ins Optional<Index>:$slices, Optional<Index>:$parallel,
                       OptionalAttr<StrAttr>:$transport, OptionalAttr<StrAttr>:$protocol);
  let assemblyFormat = [{
    (`slices` $slices^)? (`parallel` $parallel^)? (`over` custom<Keyword>($transport)^)?
    (`using` custom<Keyword>($protocol)^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Coil_ScratchOp : Coil_Op<"scratch", [HasParent<"AlgorithmOp">]> {
  let summary = "a scratch buffer that each rank has";
  let description = [{
    Declares `count` chunks under a name that `coil.place` uses. A scratch chunk
    holds nothing at first; it has room for the longest chunk and takes the
    length of what is put in it.

    Constraints:
    - C1: the name is not `input`, `output` or `data`, and unique in the algorithm.

    ```mlir
    coil.scratch incoming[%ranks]
    ```
  }];
  let arguments = (ins StrAttr:$name, Index:$count);
  let assemblyFormat = "custom<Keyword>($name) `[` $count `]` attr-dict";
  let hasVerifier = 1;
}

def Coil_ParameterOp : Coil_Op<"parameter",
    [HasParent<"AlgorithmOp">, AttrSizedOperandSegments]> {
  let summary = "a number or a truth that whoever compiles chooses";
  let description = [{
    The result is the value given for the instance, or else `default`; the
    instance is refused if there is neither, or if a number is not in the range
    from `in`'s first up to, not including, its second operand.

    Constraints:
    - C1: the name is unique in the algorithm.
    - C2: the type is `index` or `i1`; the default has it too.
    - C3: only an `index` has a range.

    ```mlir
    %radix = coil.parameter radix in %c2 to %c9 default %c2 : index
    %fast = coil.parameter fast : i1
    ```
  }];
  let arguments = (ins StrAttr:$name, Optional<Index>:$low, Optional<Index>:$high,
                       Optional<AnyTypeOf<[Index, I1]>>:$value);
  let results = (outs AnyTypeOf<[Index, I1]>:$result);
  let assemblyFormat = [{
    custom<Keyword>($name) (`in` $low^ `to` $high)?
    custom<Default>($value, type($value), type($result)) attr-dict
  }];
  let hasVerifier = 1;
}

def Coil_AssertOp : Coil_Op<"assert"> {
  let summary = "a condition that the instance must meet";
  let description = [{
    If the condition is false, the instance is refused with the message.

    ```mlir
    coil.assert %even, "ranks must be even"
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

def Coil_Log2Op : Coil_Op<"log2", [Pure]> {
  let summary = "the floor of the binary logarithm";
  let description = [{
    The operand must be at least 1.

    ```mlir
    %steps = coil.log2 %ranks
    ```
  }];
  let arguments = (ins Index:$value);
  let results = (outs Index:$result);
  let assemblyFormat = "$value attr-dict";
}

def Coil_GcdOp : Coil_Op<"gcd", [Pure]> {
  let summary = "the greatest common divisor";
  let description = [{
    It is not negative, and 0 for two operands of 0.

    ```mlir
    %rings = coil.gcd %ranks, %distance
    ```
  }];
  let arguments = (ins Index:$left, Index:$right);
  let results = (outs Index:$result);
  let assemblyFormat = "$left `,` $right attr-dict";
}

def Coil_TableOp : Coil_Op<"table", [Pure]> {
  let summary = "numbers in rows";
  let description = [{
    The entries stand row by row: the last index grows fastest.

    Constraints:
    - C1: the shape has at least one dimension, none below 1, and as many entries as
      its dimensions multiply to.

    ```mlir
    %counts = coil.table [2, 2] of %c1, %c2, %c0, %c3
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$shape, Variadic<Index>:$entries);
  let results = (outs Coil_TableType:$table);
  let assemblyFormat = "$shape `of` $entries attr-dict";
  let hasVerifier = 1;
}

def Coil_EntryOp : Coil_Op<"entry", [Pure]> {
  let summary = "an entry of a table";
  let description = [{
    An index out of its dimension is an error on the instance.

    Constraints:
    - C1: the table is the result of a `coil.table`, and has as many dimensions as
      there are indices.

    ```mlir
    %count = coil.entry %counts[%q, %r]
    ```
  }];
  let arguments = (ins Coil_TableType:$table, Variadic<Index>:$indices);
  let results = (outs Index:$result);
  let assemblyFormat = "$table `[` $indices `]` attr-dict";
  let hasVerifier = 1;
}

def Coil_NodesOp : Coil_Op<"nodes", [Pure]> {
  let summary = "the number of nodes that the ranks lie on";
  let description = [{
    Each node has as many ranks as every other, and its ranks follow each other.

    ```mlir
    %nodes = coil.nodes
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Coil_ModOp : Coil_Op<"mod", [Pure]> {
  let summary = "the remainder of a floor division";
  let description = [{
    The result has the sign of the divisor, so that `(r - 1) mod ranks` is a
    rank. The divisor must not be 0.

    ```mlir
    %left = coil.mod %r, %ranks
    ```
  }];
  let arguments = (ins Index:$dividend, Index:$divisor);
  let results = (outs Index:$result);
  let assemblyFormat = "$dividend `,` $divisor attr-dict";
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

def Coil_PlaceOp : Coil_Op<"place", [Pure]> {
  let summary = "names a chunk, or a run of chunks, of a buffer on a rank";
  let description = [{
    The buffer is `input`, `output`, `data` (the view of a collective in place)
    or a scratch buffer's name. `begin` counts chunks over all segments of the
    buffer. With `to`, the place is the run of chunks from `begin` up to, not
    including, `end`. The rank is taken modulo the number of ranks.

    Constraints:
    - C1: the buffer is `input`, `output`, `data` or declared by a `coil.scratch`
      of the same algorithm.

    ```mlir
    %chunk = coil.place data[%c] on %r
    %half = coil.place incoming[%a to %b] on %r
    ```
  }];
  let arguments = (ins StrAttr:$buffer, Index:$begin, Optional<Index>:$end, Index:$rank);
  let results = (outs Coil_PlaceType:$place);
  let assemblyFormat = [{
    custom<Keyword>($buffer) `[` $begin (`to` $end^)? `]` `on` $rank attr-dict
  }];
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$buffer, "::mlir::Value":$begin, "::mlir::Value":$end,
                   "::mlir::Value":$rank)>
  ];
  let skipDefaultBuilders = 1;
}

class Coil_MoveOp<string mnemonic> : Coil_Op<mnemonic> {
  let arguments = (ins Coil_PlaceType:$source, Coil_PlaceType:$destination);
  let assemblyFormat = "$source `to` $destination attr-dict";
}

def Coil_SendOp : Coil_MoveOp<"send"> {
  let summary = "moves chunks to another rank";
  let description = [{
    The destination takes the source's value; the source keeps it. On the
    instance both runs have the same number of chunks, at the same places of
    their segments, and the ranks differ, or the source is the destination's own
    rank and the move is a copy (a ring of one rank).

    ```mlir
    coil.send %source to %destination
    ```
  }];
}

def Coil_CopyOp : Coil_MoveOp<"copy"> {
  let summary = "copies chunks within a rank";
  let description = [{
    As `coil.send`, on one rank: it is an error on the instance if the ranks differ.

    ```mlir
    coil.copy %source to %destination
    ```
  }];
}

class Coil_CombiningOp<string mnemonic> : Coil_Op<mnemonic,
    [SingleBlock, NoTerminator]> {
  let arguments = (ins Coil_PlaceType:$destination);
  let regions = (region SizedRegion<1>:$operandsRegion);
  let assemblyFormat = "$destination `from` $operandsRegion attr-dict";
}

def Coil_ReduceOp : Coil_CombiningOp<"reduce"> {
  let summary = "accumulates operands into a place";
  let description = [{
    destination := ((destination + x1) + x2) ..., the operands in the order in
    which the region's `coil.operand`s come; none is a no-op. One statement
    rounds once. The destination must hold a value.

    ```mlir
    coil.reduce %mine from {
      scf.for %q = %c1 to %ranks step %c1 {
        %peer = arith.addi %r, %q : index
        %theirs = coil.place data[%r] on %peer
        coil.operand %theirs
      }
    }
    ```
  }];
}

def Coil_CombineOp : Coil_CombiningOp<"combine"> {
  let summary = "overwrites a place with combined operands";
  let description = [{
    destination := (x1 + x2) ..., at least one operand, in order. What the
    destination held before does not count.

    ```mlir
    coil.combine %sum from {
      coil.operand %left
      coil.operand %right
    }
    ```
  }];
}

def Coil_OperandOp : Coil_Op<"operand"> {
  let summary = "one operand of the enclosing reduce or combine";
  let description = [{
    Constraints:
    - C1: stands in a `coil.reduce` or `coil.combine`, at any depth of loops and
      conditions.

    ```mlir
    coil.operand %place
    ```
  }];
  let arguments = (ins Coil_PlaceType:$place);
  let assemblyFormat = "$place attr-dict";
  let hasVerifier = 1;
}

def Coil_ExchangeOp : Coil_Op<"exchange", [SingleBlock, NoTerminator]> {
  let summary = "moves that all read the state before the block";
  let description = [{
    Every read in the region sees what its place held before the block; no place
    is written twice. The compiler adds what scratch that takes.

    Constraints:
    - C1: not nested in another `coil.exchange`.

    ```mlir
    coil.exchange {
      coil.send %a to %b
      coil.send %b to %a
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Applications
//===----------------------------------------------------------------------===//

def Coil_ApplyOp : Coil_Op<"apply",
    [AttrSizedOperandSegments, SingleBlock, NoTerminator,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "another algorithm, run in a group of ranks on chunks of a buffer";
  let description = [{
    The first region's items are the group: item i is the other algorithm's rank i.
    The second region's items are chunks of the buffer `view`, which are the other
    algorithm's `data`, in place. With `to`, they are its input, and the chunks of
    `target` are its output. Its segments and chunks divide these chunks evenly; the
    chunks of the whole program are refined for that as much as it takes. Its
    scratch is its own. It is proved for the group by itself.

    Constraints:
    - C1: the callee is a `coil.algorithm`; there is a root exactly if it has one.
    - C2: each name is a parameter of the callee, once, and its argument has the type;
      what has no default is given.
    - C3: the buffers are `input`, `output`, `data` or declared scratch.
    - C4: does not stand in a `coil.exchange`.

    ```mlir
    coil.apply @tree with ["radix"](%c2 : index) over {
      coil.item %c0 to %ranks
    } on "data" {
      coil.item %c0
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Optional<Index>:$root,
                       Variadic<AnyTypeOf<[Index, I1]>>:$arguments,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$names, StrAttr:$view,
                       OptionalAttr<StrAttr>:$target);
  let regions = (region SizedRegion<1>:$group, SizedRegion<1>:$viewItems,
                        MaxSizedRegion<1>:$targetItems);
  let assemblyFormat = [{
    $callee (`root` $root^)? (`with` $names `(` $arguments^ `:` type($arguments) `)`)?
    `over` $group `on` $view $viewItems (`to` $target^ $targetItems)? attr-dict
  }];
  let hasVerifier = 1;
}

def Coil_ItemOp : Coil_Op<"item"> {
  let summary = "a number, or a run of numbers, of a list of the enclosing apply";
  let description = [{
    With `to`, the numbers from `begin` up to, not including, `end`.

    Constraints:
    - C1: stands in a `coil.apply`, at any depth of loops and conditions.

    ```mlir
    coil.item %first to %last
    ```
  }];
  let arguments = (ins Index:$begin, Optional<Index>:$end);
  let assemblyFormat = "$begin (`to` $end^)? attr-dict";
  let hasVerifier = 1;
}

#endif // COIL_DIALECT_COIL_COILOPS_TD
