// The names of all errors and a few words for each.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <string_view>

#include "cudart/call.h"

namespace tutti::cudart {
namespace {

struct Named {
  cudaError_t code;
  const char* name;
};

#define TUTTI_NAMED(code) \
  Named { code, #code }
constexpr std::array kErrors = {TUTTI_NAMED(cudaSuccess),
                                TUTTI_NAMED(cudaErrorInvalidValue),
                                TUTTI_NAMED(cudaErrorMemoryAllocation),
                                TUTTI_NAMED(cudaErrorInitializationError),
                                TUTTI_NAMED(cudaErrorCudartUnloading),
                                TUTTI_NAMED(cudaErrorProfilerDisabled),
                                TUTTI_NAMED(cudaErrorProfilerNotInitialized),
                                TUTTI_NAMED(cudaErrorProfilerAlreadyStarted),
                                TUTTI_NAMED(cudaErrorProfilerAlreadyStopped),
                                TUTTI_NAMED(cudaErrorInvalidConfiguration),
                                TUTTI_NAMED(cudaErrorInvalidPitchValue),
                                TUTTI_NAMED(cudaErrorInvalidSymbol),
                                TUTTI_NAMED(cudaErrorInvalidHostPointer),
                                TUTTI_NAMED(cudaErrorInvalidDevicePointer),
                                TUTTI_NAMED(cudaErrorInvalidTexture),
                                TUTTI_NAMED(cudaErrorInvalidTextureBinding),
                                TUTTI_NAMED(cudaErrorInvalidChannelDescriptor),
                                TUTTI_NAMED(cudaErrorInvalidMemcpyDirection),
                                TUTTI_NAMED(cudaErrorAddressOfConstant),
                                TUTTI_NAMED(cudaErrorTextureFetchFailed),
                                TUTTI_NAMED(cudaErrorTextureNotBound),
                                TUTTI_NAMED(cudaErrorSynchronizationError),
                                TUTTI_NAMED(cudaErrorInvalidFilterSetting),
                                TUTTI_NAMED(cudaErrorInvalidNormSetting),
                                TUTTI_NAMED(cudaErrorMixedDeviceExecution),
                                TUTTI_NAMED(cudaErrorNotYetImplemented),
                                TUTTI_NAMED(cudaErrorMemoryValueTooLarge),
                                TUTTI_NAMED(cudaErrorStubLibrary),
                                TUTTI_NAMED(cudaErrorInsufficientDriver),
                                TUTTI_NAMED(cudaErrorCallRequiresNewerDriver),
                                TUTTI_NAMED(cudaErrorInvalidSurface),
                                TUTTI_NAMED(cudaErrorDuplicateVariableName),
                                TUTTI_NAMED(cudaErrorDuplicateTextureName),
                                TUTTI_NAMED(cudaErrorDuplicateSurfaceName),
                                TUTTI_NAMED(cudaErrorDevicesUnavailable),
                                TUTTI_NAMED(cudaErrorIncompatibleDriverContext),
                                TUTTI_NAMED(cudaErrorMissingConfiguration),
                                TUTTI_NAMED(cudaErrorPriorLaunchFailure),
                                TUTTI_NAMED(cudaErrorLaunchMaxDepthExceeded),
                                TUTTI_NAMED(cudaErrorLaunchFileScopedTex),
                                TUTTI_NAMED(cudaErrorLaunchFileScopedSurf),
                                TUTTI_NAMED(cudaErrorSyncDepthExceeded),
                                TUTTI_NAMED(cudaErrorLaunchPendingCountExceeded),
                                TUTTI_NAMED(cudaErrorInvalidDeviceFunction),
                                TUTTI_NAMED(cudaErrorNoDevice),
                                TUTTI_NAMED(cudaErrorInvalidDevice),
                                TUTTI_NAMED(cudaErrorDeviceNotLicensed),
                                TUTTI_NAMED(cudaErrorSoftwareValidityNotEstablished),
                                TUTTI_NAMED(cudaErrorStartupFailure),
                                TUTTI_NAMED(cudaErrorInvalidKernelImage),
                                TUTTI_NAMED(cudaErrorDeviceUninitialized),
                                TUTTI_NAMED(cudaErrorMapBufferObjectFailed),
                                TUTTI_NAMED(cudaErrorUnmapBufferObjectFailed),
                                TUTTI_NAMED(cudaErrorArrayIsMapped),
                                TUTTI_NAMED(cudaErrorAlreadyMapped),
                                TUTTI_NAMED(cudaErrorNoKernelImageForDevice),
                                TUTTI_NAMED(cudaErrorAlreadyAcquired),
                                TUTTI_NAMED(cudaErrorNotMapped),
                                TUTTI_NAMED(cudaErrorNotMappedAsArray),
                                TUTTI_NAMED(cudaErrorNotMappedAsPointer),
                                TUTTI_NAMED(cudaErrorECCUncorrectable),
                                TUTTI_NAMED(cudaErrorUnsupportedLimit),
                                TUTTI_NAMED(cudaErrorDeviceAlreadyInUse),
                                TUTTI_NAMED(cudaErrorPeerAccessUnsupported),
                                TUTTI_NAMED(cudaErrorInvalidPtx),
                                TUTTI_NAMED(cudaErrorInvalidGraphicsContext),
                                TUTTI_NAMED(cudaErrorNvlinkUncorrectable),
                                TUTTI_NAMED(cudaErrorJitCompilerNotFound),
                                TUTTI_NAMED(cudaErrorUnsupportedPtxVersion),
                                TUTTI_NAMED(cudaErrorJitCompilationDisabled),
                                TUTTI_NAMED(cudaErrorUnsupportedExecAffinity),
                                TUTTI_NAMED(cudaErrorUnsupportedDevSideSync),
                                TUTTI_NAMED(cudaErrorContained),
                                TUTTI_NAMED(cudaErrorInvalidSource),
                                TUTTI_NAMED(cudaErrorFileNotFound),
                                TUTTI_NAMED(cudaErrorSharedObjectSymbolNotFound),
                                TUTTI_NAMED(cudaErrorSharedObjectInitFailed),
                                TUTTI_NAMED(cudaErrorOperatingSystem),
                                TUTTI_NAMED(cudaErrorInvalidResourceHandle),
                                TUTTI_NAMED(cudaErrorIllegalState),
                                TUTTI_NAMED(cudaErrorLossyQuery),
                                TUTTI_NAMED(cudaErrorSymbolNotFound),
                                TUTTI_NAMED(cudaErrorNotReady),
                                TUTTI_NAMED(cudaErrorIllegalAddress),
                                TUTTI_NAMED(cudaErrorLaunchOutOfResources),
                                TUTTI_NAMED(cudaErrorLaunchTimeout),
                                TUTTI_NAMED(cudaErrorLaunchIncompatibleTexturing),
                                TUTTI_NAMED(cudaErrorPeerAccessAlreadyEnabled),
                                TUTTI_NAMED(cudaErrorPeerAccessNotEnabled),
                                TUTTI_NAMED(cudaErrorSetOnActiveProcess),
                                TUTTI_NAMED(cudaErrorContextIsDestroyed),
                                TUTTI_NAMED(cudaErrorAssert),
                                TUTTI_NAMED(cudaErrorTooManyPeers),
                                TUTTI_NAMED(cudaErrorHostMemoryAlreadyRegistered),
                                TUTTI_NAMED(cudaErrorHostMemoryNotRegistered),
                                TUTTI_NAMED(cudaErrorHardwareStackError),
                                TUTTI_NAMED(cudaErrorIllegalInstruction),
                                TUTTI_NAMED(cudaErrorMisalignedAddress),
                                TUTTI_NAMED(cudaErrorInvalidAddressSpace),
                                TUTTI_NAMED(cudaErrorInvalidPc),
                                TUTTI_NAMED(cudaErrorLaunchFailure),
                                TUTTI_NAMED(cudaErrorCooperativeLaunchTooLarge),
                                TUTTI_NAMED(cudaErrorTensorMemoryLeak),
                                TUTTI_NAMED(cudaErrorNotPermitted),
                                TUTTI_NAMED(cudaErrorNotSupported),
                                TUTTI_NAMED(cudaErrorSystemNotReady),
                                TUTTI_NAMED(cudaErrorSystemDriverMismatch),
                                TUTTI_NAMED(cudaErrorCompatNotSupportedOnDevice),
                                TUTTI_NAMED(cudaErrorMpsConnectionFailed),
                                TUTTI_NAMED(cudaErrorMpsRpcFailure),
                                TUTTI_NAMED(cudaErrorMpsServerNotReady),
                                TUTTI_NAMED(cudaErrorMpsMaxClientsReached),
                                TUTTI_NAMED(cudaErrorMpsMaxConnectionsReached),
                                TUTTI_NAMED(cudaErrorMpsClientTerminated),
                                TUTTI_NAMED(cudaErrorCdpNotSupported),
                                TUTTI_NAMED(cudaErrorCdpVersionMismatch),
                                TUTTI_NAMED(cudaErrorStreamCaptureUnsupported),
                                TUTTI_NAMED(cudaErrorStreamCaptureInvalidated),
                                TUTTI_NAMED(cudaErrorStreamCaptureMerge),
                                TUTTI_NAMED(cudaErrorStreamCaptureUnmatched),
                                TUTTI_NAMED(cudaErrorStreamCaptureUnjoined),
                                TUTTI_NAMED(cudaErrorStreamCaptureIsolation),
                                TUTTI_NAMED(cudaErrorStreamCaptureImplicit),
                                TUTTI_NAMED(cudaErrorCapturedEvent),
                                TUTTI_NAMED(cudaErrorStreamCaptureWrongThread),
                                TUTTI_NAMED(cudaErrorTimeout),
                                TUTTI_NAMED(cudaErrorGraphExecUpdateFailure),
                                TUTTI_NAMED(cudaErrorExternalDevice),
                                TUTTI_NAMED(cudaErrorInvalidClusterSize),
                                TUTTI_NAMED(cudaErrorFunctionNotLoaded),
                                TUTTI_NAMED(cudaErrorInvalidResourceType),
                                TUTTI_NAMED(cudaErrorInvalidResourceConfiguration),
                                TUTTI_NAMED(cudaErrorUnknown),
                                TUTTI_NAMED(cudaErrorApiFailureBase)};
#undef TUTTI_NAMED

// Where the name says less than it could.
std::string_view better_words(cudaError_t code) {
  switch (static_cast<int>(code)) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNoDevice: return "there is no device";
    case cudaErrorInvalidDevice: return "there is no device of that number";
    case cudaErrorInvalidResourceHandle: return "no such stream, event or graph";
    case cudaErrorLaunchFailure: return "work on a stream failed";
    case cudaErrorNotReady: return "work on the stream goes on";
    case cudaErrorNotSupported: return "virtual devices cannot do this";
    default: return {};
  }
}

// "cudaErrorPeerAccessAlreadyEnabled" says "peer access already enabled".
std::string words_of(std::string_view name) {
  name.remove_prefix(std::min(name.size(), std::string_view("cudaError").size()));
  std::string words;
  for (const char c : name) {
    const bool is_capital = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (is_capital && !words.empty()) words += ' ';
    words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

// Made once; programs keep the pointers.
const std::map<int, std::string>& all_words() {
  static const auto& words = *[] {
    auto* const made = new std::map<int, std::string>;
    for (const auto& [code, name] : kErrors) {
      const std::string_view better = better_words(code);
      made->emplace(code, better.empty() ? words_of(name) : std::string(better));
    }
    return made;
  }();
  return words;
}

}  // namespace
}  // namespace tutti::cudart

using namespace tutti::cudart;

extern "C" {

cudaError_t cudaGetLastError() { return take_last_error(); }

cudaError_t cudaPeekAtLastError() { return last_error(); }

const char* cudaGetErrorName(cudaError_t error) {
  const auto found = std::ranges::find(kErrors, error, &Named::code);
  return found == kErrors.end() ? "unrecognized error code" : found->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const auto found = all_words().find(error);
  return found == all_words().end() ? "unrecognized error code" : found->second.c_str();
}

}  // extern "C"
