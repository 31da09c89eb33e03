// Recordings as text in JSON, of the form that docs/guide/flight-recorder.md describes.
#pragma once

#include <string>
#include <string_view>

#include "comm/watch/recording.h"

namespace tutti::comm::watch {

inline constexpr int kJsonVersion = 1;

std::string json_of(const Recording& recording);
// Several, as an array.
std::string json_of(std::span<const Recording> recordings);
// The reverse, of one or of an array. Nothing in the text is trusted; a failure says where it is wrong.
Result<std::vector<Recording>> parse_recordings(std::string_view json);

}  // namespace tutti::comm::watch
