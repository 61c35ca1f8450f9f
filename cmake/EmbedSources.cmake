# Writes OUT, a C++ file that holds the texts of FILES (paths relative to ROOT, separated by '|').
# Run at build time: cmake -DROOT=... -DFILES=... -DOUT=... -P EmbedSources.cmake
string(REPLACE "|" ";" files "${FILES}")
set(body "#include \"builds/kernel_sources.h\"\n\nnamespace baton::builds {\n\n")
string(APPEND body "const std::vector<SourceText>& kernel_sources() {\n")
string(APPEND body "  static const std::vector<SourceText> sources = {\n")
foreach(file IN LISTS files)
  file(READ "${ROOT}/${file}" text)
  string(APPEND body "      {\"${file}\", R\"baton_source(${text})baton_source\"},\n")
endforeach()
string(APPEND body "  };\n  return sources;\n}\n\n}  // namespace baton::builds\n")
file(WRITE "${OUT}" "${body}")
