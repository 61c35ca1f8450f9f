// Gives a linker the name libamd_comgr.so.2, without the library itself.
