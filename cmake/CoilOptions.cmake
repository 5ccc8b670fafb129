# Language level, warnings, sanitizers and linker: what holds for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
endif()

# Assertions stay on in every preset but release.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -fno-strict-aliasing)
if(COIL_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-unused-command-line-argument)
  # Debian's clang otherwise picks the newest installed libstdc++, headers or not.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fcolor-diagnostics>)
endif()

if(COIL_SANITIZE AND COIL_SANITIZE_THREAD)
  message(FATAL_ERROR "COIL_SANITIZE and COIL_SANITIZE_THREAD exclude each other")
endif()
if(COIL_SANITIZE)
  # vptr needs the type information of uninstrumented libMLIR; leave it out.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr
                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined -fno-sanitize=vptr)
endif()
if(COIL_SANITIZE_THREAD)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()

find_program(COIL_MOLD mold)
if(COIL_MOLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=mold)
endif()

include(GNUInstallDirs)
# Installed tools find LLVM's shared libraries where they were linked.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
