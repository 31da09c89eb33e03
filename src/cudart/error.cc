extern "C" int cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return 1;
  *version = 13000;
  return 0;
}
