# One folder = one target. A folder's CMakeLists.txt is one or two lines; its sources are the .cpp files in it.

# What the release build of script/test needs: all programs, and the tests whose label says that they take long.
add_custom_target(programs)
add_custom_target(release_tests)
# What the TSan build needs.
add_custom_target(thread_tests)
set(RESEQ_RELEASE_LABELS e2e property simulation)
set(RESEQ_TESTS_FOLDER ${PROJECT_SOURCE_DIR}/tests)

# Sanitized code takes twice as long to compile with -O1: what is under test keeps it; tests, their helpers and the main
# files of programs do without. Fuzzers keep it, too: they are worth what they play in a second.
function(reseq_compile_fast target)
  if(RESEQ_SANITIZE AND NOT RESEQ_SANITIZE MATCHES fuzzer)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# reseq_library(engine DEPS model [LINK Pkg::lib]): library reseq_<name> of the .cpp files in this folder.
function(reseq_library name)
  cmake_parse_arguments(arg "" "" "DEPS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(TRANSFORM arg_DEPS PREPEND reseq_)
  if(sources)
    add_library(reseq_${name} STATIC ${sources})
    target_link_libraries(reseq_${name} PUBLIC reseq_compiler ${arg_DEPS} ${arg_LINK})
    cmake_path(IS_PREFIX RESEQ_TESTS_FOLDER ${CMAKE_CURRENT_SOURCE_DIR} is_of_tests)
    if(is_of_tests)
      reseq_compile_fast(reseq_${name})
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
  add_executable(${name} ${arg_SOURCES} ${RESEQ_EVERY_PROGRAM})
  target_link_libraries(${name} PRIVATE reseq_compiler ${arg_DEPS} ${arg_LINK})
  reseq_compile_fast(${name})
  add_dependencies(programs ${name})
endfunction()

# reseq_test(unit_engine DEPS engine [LINK ...] [LABELS unit] [TIMEOUT 120] [ALONE]): one GoogleTest program of the .cpp
# files in this folder, one ctest entry. ALONE: no other test runs meanwhile.
function(reseq_test name)
  cmake_parse_arguments(arg "ALONE" "TIMEOUT" "DEPS;LINK;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(TRANSFORM arg_DEPS PREPEND reseq_)
  add_executable(test_${name} ${sources} ${RESEQ_EVERY_PROGRAM})
  target_link_libraries(test_${name} PRIVATE reseq_compiler ${arg_DEPS} ${arg_LINK} GTest::gmock GTest::gtest_main)
  target_compile_definitions(test_${name} PRIVATE RESEQ_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    $<$<BOOL:${RESEQ_SANITIZE}>:RESEQ_SANITIZED>)  # tests of many cases play fewer
  add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" RUN_SERIAL ${arg_ALONE})
  reseq_compile_fast(test_${name})
  if(RESEQ_SANITIZE AND "e2e" IN_LIST arg_LABELS)
    # They start programs of the release build.
    set_target_properties(test_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  foreach(label ${arg_LABELS})
    if(label IN_LIST RESEQ_RELEASE_LABELS)
      add_dependencies(release_tests test_${name})
    endif()
    if(label STREQUAL "threads")
      add_dependencies(thread_tests test_${name})
    endif()
  endforeach()
endfunction()
