// Pieces of command lines and environments that the contenders of bench/compare share.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "bench/peers/measure.h"

namespace tutti::bench {

using Words = std::vector<std::string>;

Words joined(std::initializer_list<Words> lists);

// A setting of Open MPI.
Words parameter(const char* name, const std::string& value);
// One algorithm of its all_reduce instead of its choice.
Words all_reduce_algorithm(const char* number);
// Messages by UCX, whatever the network is.
Words ucx_words();

// "m": the allocator keeps large temporaries. Otherwise a call of MPI maps, faults in and unmaps its scratch memory.
const std::map<std::string, std::string>& keep_memory();

// What every program of peers/ is told.
Words words_of(const Request& request);

}  // namespace tutti::bench
