# One folder = one target. A folder's CMakeLists.txt is one or two lines; its sources are the .cpp files in it.
include(ReseqJoin)

# All programs. What tests of a label need is target tests_<label>.
add_custom_target(programs)
set(RESEQ_TEST_LABELS unit tree component property simulation e2e threads long)
foreach(label ${RESEQ_TEST_LABELS})
  add_custom_target(tests_${label})
endforeach()
set(RESEQ_TESTS_FOLDER ${PROJECT_SOURCE_DIR}/tests)

# Sanitized code takes twice as long to compile with -O1: what is under test keeps it; tests, their helpers and the main
# files of programs do without. Fuzzers keep it, too: they are worth what they play in a second.
function(reseq_compile_fast target)
  if(RESEQ_SANITIZE AND NOT RESEQ_SANITIZE MATCHES fuzzer)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# What only starts programs and waits for them is not optimized in a release either: that halves its time to compile.
function(reseq_compile_unoptimized target)
  if(NOT RESEQ_SANITIZE)
    target_compile_options(${target} PRIVATE -O0 -U_FORTIFY_SOURCE)
  endif()
endfunction()

# The .cpp files of this folder, and of the folders in it that are named, that no library of it has taken by name.
function(reseq_folder_sources out)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(folder ${ARGN})
    file(GLOB inner CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${inner})
  endforeach()
  get_property(taken DIRECTORY PROPERTY RESEQ_TAKEN)
  foreach(file ${taken})
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# reseq_library(engine DEPS model [LINK Pkg::lib] [SOURCES a.cpp ...] [FOLDERS documents ...] [OPTIMIZED|UNOPTIMIZED]):
# library reseq_<name> of the .cpp files in this folder. FOLDERS: and in these, which are parts of it. SOURCES: only of
# these, and a test of the same folder is made of the others. OPTIMIZED: for tests that have much to do themselves.
# UNOPTIMIZED: for tests that need no speed.
function(reseq_library name)
  cmake_parse_arguments(arg "OPTIMIZED;UNOPTIMIZED" "" "DEPS;LINK;SOURCES;FOLDERS" ${ARGN})
  if(arg_SOURCES)
    set(sources ${arg_SOURCES})
    set_property(DIRECTORY APPEND PROPERTY RESEQ_TAKEN ${sources})
  else()
    reseq_folder_sources(sources ${arg_FOLDERS})
  endif()
  list(TRANSFORM arg_DEPS PREPEND reseq_)
  if(sources)
    reseq_join(sources reseq_${name} ${sources})
    add_library(reseq_${name} STATIC ${sources})
    target_link_libraries(reseq_${name} PUBLIC reseq_compiler ${arg_DEPS} ${arg_LINK})
    cmake_path(IS_PREFIX RESEQ_TESTS_FOLDER ${CMAKE_CURRENT_SOURCE_DIR} is_of_tests)
    if(is_of_tests AND NOT arg_OPTIMIZED)
      reseq_compile_fast(reseq_${name})
    endif()
    if(arg_UNOPTIMIZED)
      reseq_compile_unoptimized(reseq_${name})
    endif()
  else()
    add_library(reseq_${name} INTERFACE)
    target_link_libraries(reseq_${name} INTERFACE reseq_compiler ${arg_DEPS} ${arg_LINK})
  endif()
endfunction()

# reseq_program(reseq-sink-sqlite SOURCES main.cpp DEPS ... [LINK ...])
function(reseq_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LINK" ${ARGN})
  list(TRANSFORM arg_DEPS PREPEND reseq_)
  reseq_join(sources ${name} ${arg_SOURCES})
  add_executable(${name} ${sources} ${RESEQ_EVERY_PROGRAM})
  target_link_libraries(${name} PRIVATE reseq_compiler ${arg_DEPS} ${arg_LINK})
  reseq_compile_fast(${name})
  add_dependencies(programs ${name})
endfunction()

# reseq_test(unit_engine DEPS engine [LINK ...] [LABELS unit] [TIMEOUT 120] [TAKES 5] [PROCESSORS 2] [OPTIMIZED]
# [LONG]): one GoogleTest program of the .cpp files in this folder, one ctest entry.
#   TAKES       seconds, about: what takes longest begins first
#   PROCESSORS  how many of the tests that run at once it counts for
#   OPTIMIZED   a test that has much to do itself
#   LONG        cases whose suite begins with Long are an entry of their own, with label long
function(reseq_test name)
  cmake_parse_arguments(arg "LONG;OPTIMIZED" "TIMEOUT;TAKES;PROCESSORS" "DEPS;LINK;LABELS" ${ARGN})
  foreach(default TIMEOUT=300 TAKES=1 PROCESSORS=1)
    string(REPLACE "=" ";" default ${default})
    list(GET default 0 option)
    if(NOT arg_${option})
      list(GET default 1 arg_${option})
    endif()
  endforeach()
  reseq_folder_sources(sources)
  reseq_join(sources test_${name} ${sources})
  list(TRANSFORM arg_DEPS PREPEND reseq_)
  add_executable(test_${name} ${sources} ${RESEQ_EVERY_PROGRAM})
  target_link_libraries(test_${name} PRIVATE
    reseq_compiler ${arg_DEPS} reseq_source_path ${arg_LINK} GTest::gmock GTest::gtest_main)
  # Tests of many cases play fewer.
  target_compile_definitions(test_${name} PRIVATE $<$<BOOL:${RESEQ_SANITIZE}>:RESEQ_SANITIZED>)
  if(arg_LONG)
    add_test(NAME ${name}_long COMMAND test_${name} --gtest_filter=Long* WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name}_long PROPERTIES TIMEOUT 3600 LABELS long)
    add_dependencies(tests_long test_${name})
    set(short --gtest_filter=-Long*)
  endif()
  add_test(NAME ${name} COMMAND test_${name} ${short} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}"
    COST ${arg_TAKES} PROCESSORS ${arg_PROCESSORS})
  if(NOT arg_OPTIMIZED)
    reseq_compile_fast(test_${name})
  endif()
  if("e2e" IN_LIST arg_LABELS AND NOT arg_OPTIMIZED)
    reseq_compile_unoptimized(test_${name})
  endif()
  if(RESEQ_SANITIZE AND "e2e" IN_LIST arg_LABELS)
    # They start programs of the release build.
    set_target_properties(test_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  foreach(label ${arg_LABELS})
    add_dependencies(tests_${label} test_${name})
  endforeach()
endfunction()
