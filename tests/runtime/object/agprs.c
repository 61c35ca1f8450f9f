// A kernel whose register counts are known: v0 .. v20 and a0 .. a9.
__attribute__((amdgpu_kernel, visibility("default"))) void agprs(void) {
  __asm__ volatile("v_mov_b32 v20, 0\n\tv_accvgpr_write_b32 a9, v20" ::: "v20", "a9");
}
