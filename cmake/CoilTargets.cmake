# How Coil's targets are made: one function a kind.

# coil_add_library(NAME SOURCES ... [LINK ...])
# A static library free of LLVM. Include paths start at the repository root;
# generated files mirror the same paths in the build tree.
function(coil_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_include_directories(${name} SYSTEM PUBLIC "${PROJECT_BINARY_DIR}")
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# Headers that nearly every file of the compiler includes.
if(COIL_COMPILER)
  add_library(CoilMLIR INTERFACE)
  target_include_directories(CoilMLIR SYSTEM INTERFACE
    ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS} "${PROJECT_BINARY_DIR}")
  target_include_directories(CoilMLIR INTERFACE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(CoilMLIR INTERFACE ${COIL_LLVM_DEFINITIONS})
  # The shared libraries, nothing else: mixing in component archives would
  # load two copies of MLIR's type ids.
  target_link_libraries(CoilMLIR INTERFACE MLIR LLVM)
  if(COIL_PRECOMPILED_HEADERS)
    file(WRITE "${PROJECT_BINARY_DIR}/CoilPrecompiled.cpp" "// Carries the precompiled headers.\n")
    add_library(CoilPrecompiled STATIC "${PROJECT_BINARY_DIR}/CoilPrecompiled.cpp")
    target_link_libraries(CoilPrecompiled PRIVATE CoilMLIR)
    target_precompile_headers(CoilPrecompiled PRIVATE
      <mlir/IR/Builders.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/BuiltinOps.h>
      <mlir/IR/DialectImplementation.h> <mlir/IR/OpImplementation.h>
      <mlir/IR/PatternMatch.h> <mlir/Pass/Pass.h>)
  endif()
endif()

# coil_add_mlir_library(NAME SOURCES ... [LINK ...] [DEPENDS ...])
# A static library that includes MLIR's headers.
function(coil_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} CoilMLIR)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(COIL_PRECOMPILED_HEADERS)
    target_precompile_headers(${name} REUSE_FROM CoilPrecompiled)
  endif()
endfunction()

# coil_tablegen(TARGET TD-FILE OUTPUT GENERATOR [OUTPUT GENERATOR ...])
# Runs mlir-tblgen, once an output; a generator is an option string.
function(coil_tablegen target td)
  set(pairs ${ARGN})
  set(outputs)
  while(pairs)
    list(POP_FRONT pairs name generator)
    separate_arguments(generator NATIVE_COMMAND "${generator}")
    set(output "${CMAKE_CURRENT_BINARY_DIR}/${name}")
    add_custom_command(OUTPUT "${output}"
      COMMAND mlir-tblgen ${generator} -I "${PROJECT_SOURCE_DIR}" -I "${MLIR_INCLUDE_DIR}"
              "${CMAKE_CURRENT_SOURCE_DIR}/${td}" --write-if-changed -o "${output}" -d "${output}.d"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${td}"
      DEPFILE "${output}.d"
      COMMENT "Generating ${name}"
      VERBATIM)
    list(APPEND outputs "${output}")
  endwhile()
  add_custom_target(${target} DEPENDS ${outputs})
endfunction()

# coil_adjust_sanitizer(NAME)
# Lets a program that may load libMLIR run under AddressSanitizer.
function(coil_adjust_sanitizer name)
  if(COIL_SANITIZE AND COIL_COMPILER)
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/AsanOptions.cpp")
  endif()
endfunction()

# coil_add_tool(NAME SOURCES ... LINK ...)
function(coil_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  coil_adjust_sanitizer(${name})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endfunction()

# coil_add_unittest(NAME SOURCES ... LINK ...)
# A GoogleTest program, each of whose tests is a ctest.
function(coil_add_unittest name)
  if(NOT COIL_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest GTest::gtest_main)
  coil_adjust_sanitizer(${name})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/unit")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_test(NAME unit/${name} COMMAND ${name})
  set_tests_properties(unit/${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()

# coil_add_fuzzer(NAME SOURCES ... LINK ...)
function(coil_add_fuzzer name)
  if(NOT COIL_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
endfunction()
