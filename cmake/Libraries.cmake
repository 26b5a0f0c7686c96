# Third-party libraries, all from Debian's packages. Their licences are in docs/third-party.md.
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(Boost 1.81 EXACT REQUIRED)
find_package(GTest REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(NGHTTP2 REQUIRED IMPORTED_TARGET libnghttp2)
pkg_check_modules(CARES REQUIRED IMPORTED_TARGET libcares)

# What the rooms of a fully static program link. Programs get the shared libraries; those with the property
# MUSTER_STATIC get archives in their place, so that the rooms are compiled once for both.
# muster_library(muster_tls SHARED OpenSSL::SSL ARCHIVES libssl.a)
function(muster_library name)
  cmake_parse_arguments(LIBRARY "" "" "SHARED;ARCHIVES" ${ARGN})
  add_library(${name} INTERFACE)
  set(static $<BOOL:$<TARGET_PROPERTY:MUSTER_STATIC>>)
  target_link_libraries(${name} INTERFACE "$<${static}:${LIBRARY_ARCHIVES}>" "$<$<NOT:${static}>:${LIBRARY_SHARED}>")
endfunction()

# Debian ships fmt without an archive; this is one, made from its headers.
add_library(muster_fmt_archive STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_archive.cc)
find_library(MUSTER_SSL_ARCHIVE libssl.a REQUIRED)
find_library(MUSTER_CRYPTO_ARCHIVE libcrypto.a REQUIRED)
find_library(MUSTER_NGHTTP2_ARCHIVE libnghttp2.a REQUIRED)
find_library(MUSTER_CARES_ARCHIVE libcares.a REQUIRED)
muster_library(muster_fmt SHARED fmt::fmt ARCHIVES muster_fmt_archive)
muster_library(muster_openssl SHARED OpenSSL::SSL OpenSSL::Crypto ARCHIVES ${MUSTER_SSL_ARCHIVE} ${MUSTER_CRYPTO_ARCHIVE})
muster_library(muster_nghttp2 SHARED PkgConfig::NGHTTP2 ARCHIVES ${MUSTER_NGHTTP2_ARCHIVE})
muster_library(muster_cares SHARED PkgConfig::CARES ARCHIVES ${MUSTER_CARES_ARCHIVE})
