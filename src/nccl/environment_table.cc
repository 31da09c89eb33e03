// The table itself: what NCCL 2.28 to 2.32 document, and what else people set.
#include <algorithm>
#include <array>

#include "nccl/environment_table.h"

namespace tutti::nccl {

namespace {

constexpr std::string_view kBlocks = "chooses CUDA blocks, channels and threads; there are none here";
constexpr std::string_view kGpus = "is about GPUs and what joins them; ranks here share memory or a network";
constexpr std::string_view kCudaMemory = "chooses how CUDA allocates memory; memory here is that of the host";
constexpr std::string_view kGraphs = "is about CUDA graphs and kernels; there are none here";
constexpr std::string_view kProtocols = "chooses between protocols of GPUs; plans here have one";
constexpr std::string_view kUcx = "InfiniBand and RoCE are UCX's: see UCX_* and 'ucx_info -cf'";
constexpr std::string_view kGpuNetwork = "is about network cards that reach into GPUs; memory here is that of the host";
constexpr std::string_view kBuffers = "the planner sizes pipes and pieces by itself";
constexpr std::string_view kPlugins = "loads plugins for NCCL; nothing here has their interface";
constexpr std::string_view kChecks = "arguments are always checked, which costs little";
constexpr std::string_view kRetries = "starts are tried again until TUTTI_START_TIMEOUT";
constexpr std::string_view kRegistration =
    "buffers need no registration here; tutti::allocate gives those that others reach directly";
constexpr std::string_view kSwitches = "is about sums in switches of the network, which are not used here";
constexpr std::string_view kHostLinks = "is about NVLink between hosts, which is not used here";
constexpr std::string_view kLinkSwitches = "is about sums in NVLink switches; there are none here";
constexpr std::string_view kObservers =
    "'tutti inspect' and 'tutti diagnose' look at a running job, without a port of their own";
constexpr std::string_view kOrder = "calls of a communicator always run in the order of the program";
constexpr std::string_view kRails = "TUTTI_RAILS_MAX says how many interfaces are used together";
constexpr std::string_view kThresholds = "NCCL itself no longer reads it; the planner chooses by size";
constexpr std::string_view kLaunches = "there are no kernels to launch";
constexpr std::string_view kTopology = "the machine is found out at each start; 'tutti plan' takes topologies as files";
constexpr std::string_view kSharedMemory = "ranks of one host always share memory";
constexpr std::string_view kOneNetwork = "the same interfaces carry messages and data: TUTTI_SOCKET_IFNAME";
constexpr std::string_view kMismatches =
    "ranks that do not fit together are an error at the start, which says how to mend it";
constexpr std::string_view kOneSided = "is about puts of kernels over the network; there are no kernels here";

constexpr Variable knob(std::string_view name) { return {.name = name, .standing = Standing::knob}; }
constexpr Variable honoured(std::string_view name, std::string_view how) { return {name, Standing::honoured, how}; }
constexpr Variable none(std::string_view name, std::string_view why) { return {name, Standing::none, why}; }

constexpr auto kVariables = std::to_array<Variable>({
    honoured("NCCL_ALGO", "restricts what the planner chooses from: Ring, Tree and PAT have a meaning"),
    none("NCCL_ALLOC_P2P_NET_LL_BUFFERS", kProtocols),
    none("NCCL_BUFFSIZE", kBuffers),
    none("NCCL_CGA_CLUSTER_SIZE", kBlocks),
    none("NCCL_CHECKS_DISABLE", kChecks),
    none("NCCL_CHECK_MODE", kChecks),
    none("NCCL_CHECK_POINTERS", kChecks),
    none("NCCL_CHUNK_SIZE", kBuffers),
    none("NCCL_COLLNET_ENABLE", kSwitches),
    none("NCCL_COLLNET_NODE_THRESHOLD", kSwitches),
    none("NCCL_COLLNET_NTHREADS", kSwitches),
    honoured("NCCL_COMM_BLOCKING", "whether communicators block, where a program does not say it in its configuration"),
    honoured("NCCL_COMM_ID", "all ranks meet at this address; TUTTI_JOB_SECRET protects it"),
    none("NCCL_COMM_SHRINK_SHARE_RESOURCES", "shrunk communicators share what is shared without being told"),
    none("NCCL_COMM_SPLIT_SHARE_RESOURCES", "split communicators share what is shared without being told"),
    honoured("NCCL_CONF_FILE", "names the file of settings, instead of ~/.nccl.conf"),
    none("NCCL_CREATE_THREAD_CONTEXT", kGraphs),
    none("NCCL_CROSS_CLIQUE_ENABLE", kGpus),
    none("NCCL_CROSS_NIC", kRails),
    none("NCCL_CTA_POLICY", kBlocks),
    none("NCCL_CUMEM_ENABLE", kCudaMemory),
    none("NCCL_CUMEM_HOST_ENABLE", kCudaMemory),
    knob("NCCL_DEBUG"),
    knob("NCCL_DEBUG_FILE"),
    knob("NCCL_DEBUG_SUBSYS"),
    knob("NCCL_DEBUG_TIMESTAMP_FORMAT"),
    none("NCCL_DEBUG_TIMESTAMP_LEVELS", "NCCL_DEBUG_TIMESTAMP_FORMAT is for lines of all levels"),
    none("NCCL_DMABUF_ENABLE", kGpuNetwork),
    none("NCCL_ENV_PLUGIN", kPlugins),
    none("NCCL_GDRCOPY_ENABLE", kGpuNetwork),
    none("NCCL_GDRCOPY_FLUSH_ENABLE", kGpuNetwork),
    none("NCCL_GDRCOPY_SYNC_ENABLE", kGpuNetwork),
    none("NCCL_GDR_FLUSH_DISABLE", kGpuNetwork),
    none("NCCL_GIN_ENABLE", kOneSided),
    none("NCCL_GIN_PLUGIN", kPlugins),
    none("NCCL_GIN_TYPE", kOneSided),
    none("NCCL_GRAPH_DUMP_FILE", kTopology),
    none("NCCL_GRAPH_DUMP_FILE_RANK", kTopology),
    none("NCCL_GRAPH_FILE", kTopology),
    none("NCCL_GRAPH_MIXING_SUPPORT", kGraphs),
    none("NCCL_GRAPH_REGISTER", kGraphs),
    none("NCCL_GRAPH_STREAM_ORDERING", kGraphs),
    none("NCCL_GROUP_CUDA_STREAM", kLaunches),
    none("NCCL_HOSTID", "hosts are told apart by what their kernels say"),
    none("NCCL_IB_ADAPTIVE_ROUTING", kUcx),
    none("NCCL_IB_ADDR_FAMILY", kUcx),
    none("NCCL_IB_ADDR_RANGE", kUcx),
    none("NCCL_IB_AR_THRESHOLD", kUcx),
    none("NCCL_IB_ASYNC_EVENTS", kUcx),
    none("NCCL_IB_CUDA_SUPPORT", kGpuNetwork),
    none("NCCL_IB_DATA_DIRECT", kUcx),
    honoured("NCCL_IB_DISABLE", "1 is TUTTI_TRANSPORT=tcp"),
    none("NCCL_IB_ECE_ENABLE", kUcx),
    none("NCCL_IB_FIFO_TC", kUcx),
    none("NCCL_IB_GDR_LEVEL", kGpuNetwork),
    honoured("NCCL_IB_GID_INDEX", "becomes UCX_IB_GID_INDEX, unless that is set"),
    honoured("NCCL_IB_HCA", "becomes UCX_NET_DEVICES, unless that is set"),
    none("NCCL_IB_MERGE_NICS", kUcx),
    none("NCCL_IB_MERGE_VFS", kUcx),
    none("NCCL_IB_OOO_RQ", kUcx),
    none("NCCL_IB_PCI_RELAXED_ORDERING", kUcx),
    none("NCCL_IB_PKEY", kUcx),
    none("NCCL_IB_QPS_PER_CONNECTION", kUcx),
    none("NCCL_IB_RESILIENCY_PORT_FAILOVER", kUcx),
    none("NCCL_IB_RESILIENCY_PORT_RECOVERY", kUcx),
    none("NCCL_IB_RETRY_CNT", kUcx),
    none("NCCL_IB_RETURN_ASYNC_EVENTS", kUcx),
    none("NCCL_IB_ROCE_VERSION_NUM", kUcx),
    honoured("NCCL_IB_SL", "becomes UCX_IB_SL, unless that is set"),
    none("NCCL_IB_SPLIT_DATA_ON_QPS", kUcx),
    honoured("NCCL_IB_TC", "becomes UCX_IB_TRAFFIC_CLASS, unless that is set"),
    none("NCCL_IB_TIMEOUT", kUcx),
    none("NCCL_IB_USE_INLINE", kUcx),
    none("NCCL_IB_WARN_RAIL_LOCAL", kUcx),
    none("NCCL_IGNORE_COLLNET_MISMATCH", kMismatches),
    none("NCCL_IGNORE_CPU_AFFINITY", "threads run where the program lets them; none is pinned"),
    none("NCCL_IGNORE_DISABLED_P2P", kGpus),
    none("NCCL_IGNORE_NET_MISMATCH", kMismatches),
    none("NCCL_IPC_USE_ABSTRACT_SOCKET", kSharedMemory),
    none("NCCL_LAUNCH_MODE", kLaunches),
    none("NCCL_LAUNCH_ORDER_IMPLICIT", kOrder),
    none("NCCL_LAUNCH_RACE_FATAL", kOrder),
    none("NCCL_LEGACY_CUDA_REGISTER", kCudaMemory),
    none("NCCL_LL128_BUFFSIZE", kProtocols),
    none("NCCL_LL128_C2C", kProtocols),
    none("NCCL_LL128_NTHREADS", kProtocols),
    none("NCCL_LL128_THRESHOLD", kThresholds),
    none("NCCL_LL_BUFFSIZE", kProtocols),
    none("NCCL_LL_THRESHOLD", kThresholds),
    none("NCCL_LOCAL_REGISTER", kRegistration),
    none("NCCL_MAX_CTAS", kBlocks),
    none("NCCL_MAX_NCHANNELS", kBlocks),
    none("NCCL_MAX_NRINGS", kBlocks),
    none("NCCL_MAX_P2P_NCHANNELS", kBlocks),
    none("NCCL_MEM_SYNC_DOMAIN", kGpus),
    none("NCCL_MIN_CTAS", kBlocks),
    none("NCCL_MIN_NCHANNELS", kBlocks),
    none("NCCL_MIN_NRINGS", kBlocks),
    none("NCCL_MIN_P2P_NCHANNELS", kBlocks),
    none("NCCL_MNNVL_CLIQUE_ID", kHostLinks),
    none("NCCL_MNNVL_ENABLE", kHostLinks),
    none("NCCL_MNNVL_SCATTER_NETS_ENABLE", kHostLinks),
    none("NCCL_MNNVL_UUID", kHostLinks),
    none("NCCL_MULTI_RANK_GPU_ENABLE", kGpus),
    none("NCCL_NCHANNELS_PER_NET_PEER", kBlocks),
    honoured("NCCL_NET", "Socket is TUTTI_TRANSPORT=tcp, IB is TUTTI_TRANSPORT=ucx; names of plugins have no meaning"),
    none("NCCL_NETDEVS_POLICY", kPlugins),
    none("NCCL_NET_DISABLE_INTRA", kGpuNetwork),
    none("NCCL_NET_FORCE_MERGE", kUcx),
    none("NCCL_NET_GDR_C2C", kGpuNetwork),
    none("NCCL_NET_GDR_LEVEL", kGpuNetwork),
    none("NCCL_NET_GDR_READ", kGpuNetwork),
    none("NCCL_NET_MERGE_LEVEL", kUcx),
    none("NCCL_NET_MERGE_POLICY", kUcx),
    none("NCCL_NET_OPTIONAL_RECV_COMPLETION", kBuffers),
    none("NCCL_NET_OVERHEAD", kThresholds),
    none("NCCL_NET_PLUGIN", kPlugins),
    none("NCCL_NET_SHARED_BUFFERS", kBuffers),
    none("NCCL_NET_SHARED_COMMS", kBuffers),
    none("NCCL_NO_CACHE", "settings are read at each start, never kept"),
    honoured("NCCL_NSOCKS_PERTHREAD", "times NCCL_SOCKET_NTHREADS is TUTTI_SOCKETS_PER_PEER"),
    none("NCCL_NTHREADS", kBlocks),
    none("NCCL_NVB_DISABLE", kGpus),
    none("NCCL_NVLINK_UTIL_CENTRIC_SCHED_ENABLE", kLinkSwitches),
    none("NCCL_NVLSTREE_MAX_CHUNKSIZE", kLinkSwitches),
    none("NCCL_NVLS_CHUNKSIZE", kLinkSwitches),
    none("NCCL_NVLS_ENABLE", kLinkSwitches),
    none("NCCL_NVLS_NCHANNELS", kLinkSwitches),
    none("NCCL_OOB_NET_ENABLE", kOneNetwork),
    none("NCCL_OOB_NET_IFNAME", kOneNetwork),
    none("NCCL_P2P_DIRECT_DISABLE", kGpus),
    none("NCCL_P2P_DISABLE", kGpus),
    none("NCCL_P2P_LEVEL", kGpus),
    none("NCCL_P2P_LL_THRESHOLD", kProtocols),
    none("NCCL_P2P_NET_CHUNKSIZE", kBuffers),
    none("NCCL_P2P_NVL_CHUNKSIZE", kBuffers),
    none("NCCL_P2P_PCI_CHUNKSIZE", kBuffers),
    none("NCCL_P2P_PXN_LEVEL", kGpus),
    none("NCCL_P2P_READ_ENABLE", kGpus),
    none("NCCL_P2P_USE_CUDA_MEMCPY", kGpus),
    honoured("NCCL_PARAM_DUMP_ALL", "1 writes all settings to the log at info; 'tutti env' lists them at any time"),
    none("NCCL_PAT_ENABLE", "the planner knows when such algorithms pay"),
    none("NCCL_PROFILER_PLUGIN", kPlugins),
    none("NCCL_PROFILE_EVENT_MASK", kPlugins),
    none("NCCL_PROTO", kProtocols),
    none("NCCL_PROXY_APPEND_BATCH_SIZE", kBuffers),
    none("NCCL_PXN_C2C", kGpus),
    none("NCCL_PXN_DISABLE", kGpus),
    none("NCCL_RAS_ADDR", kObservers),
    none("NCCL_RAS_ENABLE", kObservers),
    none("NCCL_RAS_TIMEOUT_FACTOR", kObservers),
    none("NCCL_REPORT_CONNECT_PROGRESS", "a start that waits says for whom"),
    none("NCCL_RINGS", kThresholds),
    none("NCCL_RUNTIME_CONNECT", "connections are always made when a call first needs them"),
    none("NCCL_SET_CPU_STACK_SIZE", "threads have the stacks that they need"),
    none("NCCL_SET_STACK_SIZE", kGraphs),
    none("NCCL_SET_THREAD_NAME", "threads always have names"),
    none("NCCL_SHARP_DISABLE", kSwitches),
    none("NCCL_SHARP_GROUP_SIZE_THRESH", kSwitches),
    none("NCCL_SHM_DISABLE", kSharedMemory),
    none("NCCL_SHM_LOCALITY", kSharedMemory),
    none("NCCL_SHM_MEMCPY_MODE", kSharedMemory),
    none("NCCL_SHM_USE_CUDA_MEMCPY", kSharedMemory),
    none("NCCL_SINGLE_RING_THRESHOLD", kThresholds),
    knob("NCCL_SOCKET_FAMILY"),
    knob("NCCL_SOCKET_IFNAME"),
    none("NCCL_SOCKET_MAGIC", "connections prove that they belong to the job, by a secret instead of a number"),
    honoured("NCCL_SOCKET_NTHREADS", "times NCCL_NSOCKS_PERTHREAD is TUTTI_SOCKETS_PER_PEER"),
    none("NCCL_SOCKET_POLL_TIMEOUT_MSEC", kRetries),
    none("NCCL_SOCKET_RETRY_CNT", kRetries),
    none("NCCL_SOCKET_RETRY_SLEEP_MSEC", kRetries),
    none("NCCL_STACK_SIZE", kGraphs),
    none("NCCL_STEPS", kBuffers),
    none("NCCL_SYM_CTAS", kOneSided),
    none("NCCL_SYM_GIN_ENABLE", kOneSided),
    none("NCCL_SYM_GIN_KERNELS_ENABLE", kOneSided),
    none("NCCL_SYM_KERNEL", kOneSided),
    none("NCCL_THREAD_THRESHOLDS", kThresholds),
    none("NCCL_TOPO_DUMP_FILE", kTopology),
    none("NCCL_TOPO_DUMP_FILE_RANK", kTopology),
    none("NCCL_TOPO_FILE", kTopology),
    none("NCCL_TREE_THRESHOLD", kThresholds),
    none("NCCL_TUNER_CONFIG_FILE", kPlugins),
    none("NCCL_TUNER_PLUGIN", kPlugins),
    none("NCCL_UID_STAGGER_RATE", kRetries),
    none("NCCL_UID_STAGGER_THRESHOLD", kRetries),
    none("NCCL_UNPACK_DOUBLE_NCHANNELS", kBlocks),
    none("NCCL_WARN_ENABLE_DEBUG_INFO", "NCCL_DEBUG=INFO tells at once what led to a warning"),
    none("NCCL_WIN_ENABLE", kRegistration),
    none("NCCL_WIN_STRIDE", kRegistration),
    none("NCCL_WORK_ARGS_BYTES", kBlocks),
    none("NCCL_WORK_FIFO_BYTES", kBlocks),
});

static_assert(std::ranges::is_sorted(kVariables, {}, &Variable::name));

}  // namespace

std::span<const Variable> variables() { return kVariables; }

const Variable* find_variable(std::string_view name) {
  const auto found = std::ranges::lower_bound(kVariables, name, {}, &Variable::name);
  return found == kVariables.end() || found->name != name ? nullptr : &*found;
}

}  // namespace tutti::nccl
