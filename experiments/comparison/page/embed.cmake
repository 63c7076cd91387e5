# Writes a C++ file with the bytes of files: cmake -DOUTPUT=... -DHEADER=... "-DFILES=name=path;..." -P embed.cmake
# defines std::string_view name() for each, as HEADER declares them.
set(text "#include \"${HEADER}\"\n\nnamespace saccade {\nnamespace {\n\n")
set(functions "")
foreach(entry ${FILES})
  string(REGEX MATCH "^([a-z_]+)=(.+)$" entry "${entry}")
  set(name ${CMAKE_MATCH_1})
  file(READ ${CMAKE_MATCH_2} hex HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND text "constexpr char k_${name}[] = {${bytes}};\n")
  string(APPEND functions
    "std::string_view ${name}() { return {k_${name}, sizeof k_${name}}; }\n")
endforeach()
file(WRITE ${OUTPUT} "${text}\n}  // namespace\n\n${functions}\n}  // namespace saccade\n")
