//===- Words.h - Elements packed in words -----------------------*- C++ -*-===//
//
// A word is what one access moves: u8, u16, u32, u64 or Vector16. Elements lie
// in it as in memory, the first in the lowest bits.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_DEVICE_WORDS_H
#define COIL_RUNTIME_KERNELS_DEVICE_WORDS_H

#include "runtime/kernels/device/Operators.h"

namespace coil::device {

template <typename T> COIL_DEVICE inline constexpr T lesser(T a, T b) { return a < b ? a : b; }

COIL_DEVICE inline u64 addressOf(const void *pointer) { return reinterpret_cast<u64>(pointer); }

template <typename Element, typename Word>
inline constexpr u32 elementsOf = sizeof(Word) / sizeof(Element);

template <typename Element, typename Word>
COIL_DEVICE inline Element elementAt(Word word, u32 index) {
  u64 bits;
  u32 position = index * sizeof(Element);
  if constexpr (sizeof(Word) == 16)
    bits = position < 8 ? word.low : word.high;
  else
    bits = word;
  return bitCast<Element>(static_cast<Bits<Element>>(bits >> position % 8 * 8));
}

/// Puts an element in a word whose bits there are zero.
template <typename Element, typename Word>
COIL_DEVICE inline void putElement(Word &word, u32 index, Element element) {
  u32 position = index * sizeof(Element);
  u64 bits = static_cast<u64>(bitCast<Bits<Element>>(element)) << position % 8 * 8;
  if constexpr (sizeof(Word) == 16)
    (position < 8 ? word.low : word.high) |= bits;
  else
    word = static_cast<Word>(word | bits);
}

/// What a statement needs besides its operands. Equal for all threads.
template <typename Element> struct Terms {
  Accumulation<Element> factor; ///< of the rank's own input, if the operator scales
  Divisor divisor;              ///< of the result, if the operator divides; at least 2
};

/// A word of own input, scaled if the operator does that.
template <typename Element, typename Operator, typename Word>
COIL_DEVICE inline Word scaledWord(Word word, const Terms<Element> &terms) {
  if constexpr (Operator::scales) {
    Word result = {};
    for (u32 i = 0; i < elementsOf<Element, Word>; ++i)
      putElement(result, i, scaled(elementAt<Element>(word, i), terms.factor));
    return result;
  } else {
    return word;
  }
}

/// An operator's statements that do not make their value complete.
template <typename Operator> struct Undivided : Operator {
  static constexpr bool divides = false;
};

/// Makes a copy of an operator's statements: it scales as the operator does, never
/// divides, and leaves all else as it is, NaN's bits included.
template <typename Operator> struct CopyFor : Operator {
  static constexpr bool divides = false;
};

template <bool choice, typename A, typename B> struct Choose {
  using Type = A;
};
template <typename A, typename B> struct Choose<false, A, B> {
  using Type = B;
};

/// What a statement of `arity` operands does to its elements.
template <typename Operator, u32 arity>
using StatementOf =
    typename Choose<arity == 1 && !Operator::divides, CopyFor<Operator>, Operator>::Type;

/// A statement's value for the elements of one word.
template <typename Element, typename Operator, typename Word> class WordSum {
public:
  COIL_DEVICE explicit WordSum(Word first) {
    for (u32 i = 0; i < count; ++i)
      values[i] = A::widen(elementAt<Element>(first, i));
  }

  COIL_DEVICE void combine(Word next) {
    for (u32 i = 0; i < count; ++i)
      values[i] = Operator::combine(values[i], A::widen(elementAt<Element>(next, i)));
  }

  COIL_DEVICE Word finish(const Terms<Element> &terms) const {
    Word result = {};
    for (u32 i = 0; i < count; ++i) {
      Accumulation<Element> value = values[i];
      if constexpr (Operator::divides)
        value = average(value, terms.divisor);
      putElement(result, i, A::round(value));
    }
    return result;
  }

private:
  using A = Arithmetic<Element>;
  static constexpr u32 count = elementsOf<Element, Word>;
  Accumulation<Element> values[count];
};

/// A copy's value is its one operand.
template <typename Element, typename Operator, typename Word>
class WordSum<Element, CopyFor<Operator>, Word> {
public:
  COIL_DEVICE explicit WordSum(Word only) : word(only) {}
  COIL_DEVICE Word finish(const Terms<Element> &) const { return word; }

private:
  Word word;
};

/// Bytes [0, bytes), 1 to 8 of them, of memory of any alignment, as the low ones
/// of a word; the others are zero. Reads no other byte.
template <typename Element> COIL_DEVICE inline u64 loadEight(const u8 *from, u32 bytes) {
  u64 address = addressOf(from), word = 0;
  if (bytes == 8 && address % 8 == 0)
    return loadData<u64>(from);
  if (address % sizeof(Element) == 0) {
    COIL_ROLLED
    for (u32 i = 0; i < bytes; i += sizeof(Element))
      word |= static_cast<u64>(loadData<Bits<Element>>(from + i)) << i * 8;
  } else {
    COIL_ROLLED
    for (u32 i = 0; i < bytes; ++i)
      word |= static_cast<u64>(loadData<u8>(from + i)) << i * 8;
  }
  return word;
}

/// The reverse. Writes no other byte.
template <typename Element> COIL_DEVICE inline void storeEight(u8 *to, u64 word, u32 bytes) {
  u64 address = addressOf(to);
  if (bytes == 8 && address % 8 == 0) {
    storeData<u64>(to, word);
  } else if (address % sizeof(Element) == 0) {
    COIL_ROLLED
    for (u32 i = 0; i < bytes; i += sizeof(Element))
      storeData(to + i, static_cast<Bits<Element>>(word >> i * 8));
  } else {
    COIL_ROLLED
    for (u32 i = 0; i < bytes; ++i)
      storeData(to + i, static_cast<u8>(word >> i * 8));
  }
}

/// One element of memory of any alignment.
template <typename Element> COIL_DEVICE inline Bits<Element> loadElement(const u8 *from) {
  if (addressOf(from) % sizeof(Element) == 0)
    return loadData<Bits<Element>>(from);
  return static_cast<Bits<Element>>(loadEight<Element>(from, sizeof(Element)));
}

template <typename Element> COIL_DEVICE inline void storeElement(u8 *to, Bits<Element> bits) {
  if (addressOf(to) % sizeof(Element) == 0)
    storeData(to, bits);
  else
    storeEight<Element>(to, bits, sizeof(Element));
}

} // namespace coil::device

#endif // COIL_RUNTIME_KERNELS_DEVICE_WORDS_H
