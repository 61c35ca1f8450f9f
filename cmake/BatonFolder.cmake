# One folder of the source tree is one library target. Its link list is its row in the include table
# (README, "Where things live"); tests/style checks that the #includes keep to it.

# The warnings and the determinism flags of every target of ours. Source paths are relative to the
# repository, so that debug information, and with it a code object, is the same in every checkout.
add_library(baton_flags INTERFACE)
target_include_directories(baton_flags INTERFACE ${PROJECT_SOURCE_DIR})
# What TableGen writes is not ours to warn about.
target_include_directories(baton_flags SYSTEM INTERFACE ${PROJECT_BINARY_DIR})
target_compile_options(baton_flags INTERFACE
  -Wall -Wextra -Werror -Wnon-virtual-dtor -Wold-style-cast
  -Wshadow$<$<CXX_COMPILER_ID:GNU>:=local>
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(BATON_SANITIZE)
  target_compile_options(baton_flags INTERFACE -fsanitize=address,undefined
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(baton_flags INTERFACE -fsanitize=address,undefined)
endif()

if(BATON_FUZZ)  # coverage for libFuzzer; the fuzz targets alone link its main
  target_compile_options(baton_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# LLVM's and MLIR's headers, as system headers: their warnings are not ours to fix.
add_library(baton_llvm INTERFACE)
add_library(baton_mlir INTERFACE)
function(baton_find_llvm)
  target_include_directories(baton_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${LLD_INCLUDE_DIRS})
  target_compile_definitions(baton_llvm INTERFACE ${LLVM_DEFINITIONS_LIST})
  target_link_libraries(baton_llvm INTERFACE LLVM)
  target_include_directories(baton_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS})
  target_link_libraries(baton_mlir INTERFACE MLIR baton_llvm)
endfunction()

# baton_folder(NAME SOURCES... LINK public link list... PRIVATE private link list...)
function(baton_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC baton_flags ${arg_LINK} PRIVATE ${arg_PRIVATE})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
