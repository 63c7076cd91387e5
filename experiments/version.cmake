cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#define SACCADE_VERSION \"@VERSION@\"
#define SACCADE_COMMIT \"@commit@\"
" @ONLY)
