//===- ElementTypes.h - Element types of device code, by name ---*- C++ -*-===//

#ifndef COIL_TEST_UNIT_DEVICE_ELEMENTTYPES_H
#define COIL_TEST_UNIT_DEVICE_ELEMENTTYPES_H

#include "runtime/base/Types.h"
#include "runtime/kernels/device/Elements.h"

namespace coil::test {

/// The host's name of a type; only what follows has one.
template <typename Element> struct TypeOf;
template <> struct TypeOf<device::i8> {
  static constexpr DataType value = DataType::I8;
};
template <> struct TypeOf<device::u8> {
  static constexpr DataType value = DataType::U8;
};
template <> struct TypeOf<device::i32> {
  static constexpr DataType value = DataType::I32;
};
template <> struct TypeOf<device::u32> {
  static constexpr DataType value = DataType::U32;
};
template <> struct TypeOf<device::i64> {
  static constexpr DataType value = DataType::I64;
};
template <> struct TypeOf<device::u64> {
  static constexpr DataType value = DataType::U64;
};
template <> struct TypeOf<device::Half> {
  static constexpr DataType value = DataType::F16;
};
template <> struct TypeOf<float> {
  static constexpr DataType value = DataType::F32;
};
template <> struct TypeOf<double> {
  static constexpr DataType value = DataType::F64;
};
template <> struct TypeOf<device::BFloat16> {
  static constexpr DataType value = DataType::BF16;
};
template <> struct TypeOf<device::Float8E4M3> {
  static constexpr DataType value = DataType::F8E4M3;
};
template <> struct TypeOf<device::Float8E5M2> {
  static constexpr DataType value = DataType::F8E5M2;
};
template <typename Element> inline constexpr DataType typeOf = TypeOf<Element>::value;

} // namespace coil::test

#endif // COIL_TEST_UNIT_DEVICE_ELEMENTTYPES_H
