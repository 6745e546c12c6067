# Language, warnings and sanitizers of every target of ours.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(reseq_compiler INTERFACE)
target_compile_options(reseq_compiler INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Werror
  -fstack-protector-strong -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_include_directories(reseq_compiler INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/resequencer)
target_link_options(reseq_compiler INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
# Programs are linked as position independent executables, whatever the compiler does by itself.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C CXX)

if(RESEQ_SANITIZE)
  string(REPLACE "+" "," sanitizers ${RESEQ_SANITIZE})
  target_compile_options(reseq_compiler INTERFACE
    -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(reseq_compiler INTERFACE -fsanitize=${sanitizers})
  if(RESEQ_SANITIZE STREQUAL "thread")
    set(RESEQ_EVERY_PROGRAM $<TARGET_OBJECTS:reseq_c11_threads>)
  endif()
else()
  # What is shipped; tests/hardening looks for it in the programs.
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-fcf-protection=full RESEQ_HAS_CF_PROTECTION)  # x86 only
  set(hardened -fstack-clash-protection $<$<BOOL:${RESEQ_HAS_CF_PROTECTION}>:-fcf-protection=full>)
  target_compile_options(reseq_compiler INTERFACE "$<$<CONFIG:Release,RelWithDebInfo>:${hardened}>")
  target_compile_definitions(reseq_compiler INTERFACE $<$<CONFIG:Release,RelWithDebInfo>:_FORTIFY_SOURCE=3>)
endif()
