// Where profilers begin and end to look; virtual devices have none, so these do nothing.
#pragma once

#include <driver_types.h>

#if defined(__cplusplus)
extern "C" {
#endif
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
#if defined(__cplusplus)
}
#endif
