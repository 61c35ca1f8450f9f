# cmake -DOUT=file.cpp -DPIPELINE=a.a|b.a -DKERNELS=c.a|d.a -P HashArchives.cmake: the SHA-256s of
# the static libraries as C++, for builds/library_id.h. Archives of the same objects are the same
# bytes.
function(hash_all result files)
  string(REPLACE "|" ";" files "${files}")
  set(text "")
  foreach(file ${files})
    file(SHA256 ${file} digest)
    get_filename_component(name ${file} NAME)
    string(APPEND text "    \"${name} ${digest}\\n\"\n")
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

hash_all(pipeline "${PIPELINE}")
hash_all(kernels "${KERNELS}")
file(WRITE ${OUT} "#include \"builds/library_id.h\"

namespace baton::builds {

const std::string_view kPipelineArchives =
${pipeline}    ;
const std::string_view kKernelArchives =
${kernels}    ;

}  // namespace baton::builds
")
