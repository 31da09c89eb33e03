// How large a topology file may be: enough for any machine, little enough that a hostile file costs no more memory than
// a large one.
#pragma once

#include <cstddef>

namespace tutti::topology {

inline constexpr std::size_t kTextBytesMax = std::size_t{16} << 20;
inline constexpr std::size_t kNameLengthMax = 64;
inline constexpr std::size_t kTitleLengthMax = 256;
inline constexpr std::size_t kListNamesMax = std::size_t{1} << 20;  // of one list such as node[0-511]
inline constexpr std::size_t kListDigitsMax = 9;                    // of a number in a list: fits 32 bits

inline constexpr std::size_t kDeviceCountMax = std::size_t{1} << 20;  // in all hosts
inline constexpr std::size_t kNicCountMax = std::size_t{1} << 21;     // in all hosts
inline constexpr std::size_t kVertexCountMax = std::size_t{1} << 24;  // in all hosts
inline constexpr std::size_t kLinkCountMax = std::size_t{1} << 24;    // in all hosts: twice as many fit 32 bits
inline constexpr std::size_t kHostVertexCountMax = 4096;
inline constexpr std::size_t kHostLinkCountMax = 16384;
inline constexpr std::size_t kKindVertexCountMax = std::size_t{1} << 16;  // in all kinds of hosts
inline constexpr std::size_t kKindLinkCountMax = std::size_t{1} << 17;    // in all kinds of hosts
inline constexpr std::size_t kSwitchCountMax = std::size_t{1} << 16;      // in the network
inline constexpr std::size_t kNetworkDepthMax = 16;                       // switches from a card to the root

inline constexpr double kRateMin = 1;  // bytes per second; less is a slip of the unit
inline constexpr double kRateMax = 1e18;
inline constexpr double kSecondsMax = 1000;  // 4,096 hops of this still fit 64 bits of picoseconds

inline constexpr std::size_t kSuggestedNamesMax =
    4096;  // candidates for "did you mean": their number times length is work

}  // namespace tutti::topology
