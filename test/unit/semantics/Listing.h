//===- Listing.h - Findings as texts for tests ------------------*- C++ -*-===//

#ifndef COIL_TEST_UNIT_SEMANTICS_LISTING_H
#define COIL_TEST_UNIT_SEMANTICS_LISTING_H

#include <string>
#include <string_view>

namespace coil {

/// What verifyExec has against a program as parseExec reads it: "LINE: MESSAGE"
/// for each finding, its notes indented by two spaces.
std::string listFindings(std::string_view text);

} // namespace coil

#endif // COIL_TEST_UNIT_SEMANTICS_LISTING_H
