# Joined sources: one translation unit for several .cpp files of a target, which saves most of the time that goes into
# headers. RESEQ_JOIN says how many at most; 0 compiles each file alone, as an editor wants it. Not CMake's own
# UNITY_BUILD, because its files hold the path of the tree, and a compiler cache would not know them in another clone.
set(RESEQ_JOIN 0 CACHE STRING "sources that are compiled at once; 0: each alone")

# reseq_join(OUT TARGET SOURCE...): the sources that TARGET is to be compiled from, files of the source tree.
function(reseq_join out target)
  set(sources ${ARGN})
  list(LENGTH sources count)
  if(RESEQ_JOIN LESS 2 OR count LESS 2)
    set(${out} ${sources} PARENT_SCOPE)
    return()
  endif()
  # As few as can be, of the same length: two compilers that run side by side end together.
  math(EXPR batches "(${count} + ${RESEQ_JOIN} - 1) / ${RESEQ_JOIN}")
  set(joined)
  foreach(batch RANGE 1 ${batches})
    math(EXPR begin "(${batch} - 1) * ${count} / ${batches}")
    math(EXPR length "${batch} * ${count} / ${batches} - ${begin}")
    list(SUBLIST sources ${begin} ${length} files)
    set(text)
    foreach(file ${files})
      cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(APPEND text "#include \"${file}\"  // NOLINT(bugprone-suspicious-include)\n")
    endforeach()
    set(joined_file ${PROJECT_BINARY_DIR}/joined/${target}_${batch}.cpp)
    file(CONFIGURE OUTPUT ${joined_file} CONTENT "${text}" @ONLY)
    list(APPEND joined ${joined_file})
  endforeach()
  set(${out} ${joined} PARENT_SCOPE)
endfunction()

# GCC inlines less in a large unit. Joined sources are none: each of them is inlined as if it were alone.
if(RESEQ_JOIN GREATER 1)
  target_compile_options(reseq_compiler INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=large-unit-insns=100000>)
endif()
