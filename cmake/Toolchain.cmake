# How every file of ours is compiled: warnings are errors, hardened in release, sanitised in dev and tsan.
set(MUSTER_SANITIZE "" CACHE STRING "Sanitizers: empty, 'address' (with undefined and leak), or 'thread'")
set(MUSTER_COVERAGE "" CACHE STRING "The room whose line coverage is counted: empty, or its name (tests/coverage)")

add_compile_options(
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Wimplicit-fallthrough -Wthread-safety -Werror
  # Options are structs with defaults, filled in by name: what is not named keeps its default.
  -Wno-missing-designated-field-initializers -Wno-missing-field-initializers
  # TRY is a statement expression.
  -Wno-gnu-statement-expression-from-macro-expansion
  -fno-omit-frame-pointer -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
add_link_options(-fuse-ld=lld)

if(MUSTER_SANITIZE STREQUAL "address")
  # fuzzer-no-link: the fuzz targets use these very objects, so they need no build of their own.
  add_compile_options(-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all -O1)
  add_link_options(-fsanitize=address,undefined)
elseif(MUSTER_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -O1)
  add_link_options(-fsanitize=thread)
else()
  add_compile_options(-O2 -fstack-protector-strong -D_GLIBCXX_ASSERTIONS -U_FORTIFY_SOURCE
                      -D_FORTIFY_SOURCE=2 -fcf-protection)
  add_link_options(-Wl,-z,relro,-z,now)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
