# SPDX-License-Identifier: Apache-2.0
# The few functions that every folder's CMakeLists.txt is written in.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

add_library(sx_flags INTERFACE)
target_include_directories(sx_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_options(sx_flags INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers
                       -fno-math-errno -ffp-contract=off $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       $<$<BOOL:${SX_WERROR}>:-Werror>)  # g++ 12 sees overlaps in std::string that are not there

if(SX_SANITIZE)
  list(JOIN SX_SANITIZE "," sanitizers)
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizers})
endif()
if(SX_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# sx_library(NAME [SOURCES ...] [DEPS ...] [HEADERS ...]): the static library of one folder.
# HEADERS are compiled once for all its files.
function(sx_library name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS;HEADERS" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC sx_flags ${A_DEPS})
  if(SX_PRECOMPILE)
    target_precompile_headers(${name} PRIVATE ${A_HEADERS})
  endif()
endfunction()

# sx_same_headers(TARGET ... AS LIBRARY): their files start from the compiled headers of LIBRARY.
function(sx_same_headers)
  cmake_parse_arguments(A "" "AS" "" ${ARGN})
  if(SX_PRECOMPILE)
    foreach(target ${A_UNPARSED_ARGUMENTS})
      target_precompile_headers(${target} REUSE_FROM ${A_AS})
    endforeach()
  endif()
endfunction()

# sx_simd(TARGET FILE ...): compiles each NAME.simd.cc once per vector level, in namespace sx::LEVEL.
set(SX_ISA_LEVELS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND SX_ISA_LEVELS avx2 avx512)
endif()
set(SX_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi -mbmi2)
set(SX_FLAGS_avx512 -mavx2 -mfma -mf16c -mbmi -mbmi2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd
    -mprefer-vector-width=512)
set(SX_SIMD_LEVEL -O3)
if(SX_SANITIZE)
  # What is unrolled into thousands of loads takes minutes at -O3, with checks in line, with the fuzzer's counters,
  # and with both sanitizers at the widest level; undefined behaviour shows at the other levels.
  set(SX_SIMD_LEVEL -O1 "SHELL:-mllvm -asan-instrumentation-with-call-threshold=0"
      $<$<BOOL:${SX_FUZZ}>:-fno-sanitize=fuzzer-no-link>)
  set(SX_SANITIZE_avx512 -fno-sanitize=undefined)
endif()
function(sx_simd target)
  foreach(file ${ARGN})
    get_filename_component(stem ${file} NAME)
    foreach(level ${SX_ISA_LEVELS})
      string(REPLACE "." "_" object "${target}_${stem}_${level}")
      add_library(${object} OBJECT ${file})
      target_link_libraries(${object} PRIVATE sx_flags)
      target_compile_definitions(${object} PRIVATE SX_ISA=${level} SX_ISA_${level}=1)
      target_compile_options(${object} PRIVATE ${SX_SIMD_LEVEL} -fno-exceptions ${SX_FLAGS_${level}}
                             ${SX_SANITIZE_${level}})
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${object}>)
    endforeach()
  endforeach()
endfunction()

# The build line is the registry: a list of names becomes a generated file that declares and lists them.
# sx_registry(TARGET KIND NAMESPACE): writes KIND_registry.inc from the property that sx_operator/sx_rule fill.
define_property(GLOBAL PROPERTY SX_operator BRIEF_DOCS "operators" FULL_DOCS "family/name of each operator")
define_property(GLOBAL PROPERTY SX_rule BRIEF_DOCS "rules" FULL_DOCS "name of each rewrite rule")

# sx_operator(NAME ...): in src/ops/FAMILY/CMakeLists.txt; compiles NAME.cc and registers sx::ops::NAME::op.
# Each has a namespace of its own, so SX_UNITY may compile many as one file.
set(SX_UNITY_BATCH 16)
function(sx_operator)
  get_filename_component(family ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(count 0)
  foreach(name ${ARGN})
    set(file ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cc)
    target_sources(sx_ops PRIVATE ${file})
    set_property(GLOBAL APPEND PROPERTY SX_operator ${name})
    math(EXPR batch "${count} / ${SX_UNITY_BATCH}")
    math(EXPR count "${count} + 1")
    set_source_files_properties(${file} TARGET_DIRECTORY sx_ops PROPERTIES UNITY_GROUP ${family}_${batch})
  endforeach()
endfunction()

# sx_rule(NAME ...): in src/passes/rules/CMakeLists.txt; compiles NAME.cc and registers sx::passes::NAME().
function(sx_rule)
  foreach(name ${ARGN})
    target_sources(sx_passes PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cc)
    set_property(GLOBAL APPEND PROPERTY SX_rule ${name})
  endforeach()
endfunction()

# sx_write_list(KIND FILE): generates KIND_list.inc with one SX_ITEM(name) line for each registered name, for FILE alone.
# Other files do not see that folder: its name would keep ccache from sharing them between build folders.
function(sx_write_list kind file)
  get_property(names GLOBAL PROPERTY SX_${kind})
  set(text "")
  foreach(name ${names})
    string(APPEND text "SX_ITEM(${name})\n")
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${kind}_list.inc CONTENT "${text}")
  set_source_files_properties(${file} PROPERTIES INCLUDE_DIRECTORIES ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# sx_test(NAME SOURCES ... DEPS ... [LABELS ...]): a doctest executable that ctest runs.
# The label `threads` puts it among the tests that `make check` also runs under the thread sanitizer.
add_custom_target(sx_thread_tests)
if(SX_TESTS)
  add_library(sx_doctest_main OBJECT ${CMAKE_SOURCE_DIR}/tests/doctest_main.cc)
  target_link_libraries(sx_doctest_main PRIVATE sx_flags)
endif()
function(sx_test name)
  if(NOT SX_TESTS)
    return()
  endif()
  cmake_parse_arguments(A "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${A_SOURCES} $<TARGET_OBJECTS:sx_doctest_main>)
  target_link_libraries(${name} PRIVATE sx_flags ${A_DEPS})
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}")
  if("threads" IN_LIST A_LABELS)
    add_dependencies(sx_thread_tests ${name})
  endif()
endfunction()

# sx_fuzz(NAME SOURCES ... DEPS ...): a libFuzzer target; its seeds lie in fuzz_NAME/ beside it, if anywhere.
add_custom_target(sx_fuzzers)
function(sx_fuzz name)
  if(NOT SX_FUZZ)
    return()
  endif()
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(fuzz_${name} ${A_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE sx_flags ${A_DEPS})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzzers)
  add_dependencies(sx_fuzzers fuzz_${name})
endfunction()
