// An object for a machine that is no GPU.
int answer(void) { return 42; }
