# shellcheck shell=bash
# Sourced by ./test, ./demo and .ci/run: brings a fresh Debian 12 or Ubuntu 24.04 to where it can build, then builds.
# The caller has set -euo pipefail and stands in the root of the repository.

readonly BASE_PACKAGES="g++ cmake ninja-build pkg-config libfmt-dev libcli11-dev nlohmann-json3-dev libgtest-dev
  libhwy-dev libhwloc-dev libucx-dev libpmix-dev libssl-dev iproute2"
# Both MPIs, for the programs that use NCCL and MPI; where one is missing, their tests are skipped.
readonly MPI_PACKAGES="openmpi-bin libopenmpi-dev mpich libmpich-dev"
# A browser without windows, for the reports of the perf tools; where there is none, their tests are skipped.
readonly BROWSER_PACKAGE=chromium-headless-shell
# A cluster on virtual hosts, for the tests of launchers; where a part is missing, those that need it are skipped.
readonly CLUSTER_PACKAGES="openssh-client openssh-server slurmctld slurmd slurm-client munge"
readonly PROGRESS_EVERY_S=5

say() { printf '%s\n' "$*"; }
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# The program that a package is wanted for; whoever has it from elsewhere needs no package.
program_of() {
  case "$1" in
    g++ | cmake | pkg-config | clang | clang-format-14) printf '%s' "$1" ;;
    ninja-build) printf 'ninja' ;;
    iproute2) printf 'tc' ;;
    openssh-client) printf 'ssh' ;;
    openssh-server) printf '/usr/sbin/sshd' ;;
  esac
}

has_package() {
  local program
  program=$(program_of "$1")
  if [[ -n $program ]] && command -v "$program" > /dev/null; then return 0; fi
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2> /dev/null) == installed ]]
}

# 14, from the clang that is here or, before it is here, from the one that apt would install.
clang_major() {
  if command -v clang > /dev/null; then
    clang --version | sed -nE '1s/.*version ([0-9]+).*/\1/p'
  elif command -v apt-cache > /dev/null; then
    apt-cache depends clang 2> /dev/null | sed -nE 's/.*Depends: clang-([0-9]+)$/\1/p' | head -n 1
  fi
}

# How to become root: nothing when we are, sudo where there is one. Fails when neither helps.
root_command() {
  if [[ $(id -u) == 0 ]]; then return 0; fi
  command -v sudo > /dev/null || return 1
  if sudo -n true 2> /dev/null; then
    printf 'sudo -n'
  elif [[ -t 0 ]]; then
    printf 'sudo'
  else
    return 1
  fi
}

# Installs those of the packages that are not here; fails when apt-get cannot. Where all are here, this calls nothing
# but dpkg-query. Without a way to become root the program ends here.
install_packages() {
  local missing=() package root apt=(env DEBIAN_FRONTEND=noninteractive apt-get)
  if ! command -v dpkg-query > /dev/null; then
    say "This is no Debian or Ubuntu, so nothing is installed; what is needed is called there: $*"
    return 0
  fi
  for package in "$@"; do
    has_package "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then return 0; fi
  if ! root=$(root_command); then
    say "Packages are missing, and only root can install them. Please run this, then try again:" >&2
    fail "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  mkdir -p build
  # Without a network the lists of yesterday may still do.
  $root "${apt[@]}" update > build/setup.log 2>&1 || true
  if ! $root "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >> build/setup.log 2>&1; then
    tail -n 20 build/setup.log >&2
    say "apt-get could not install ${missing[*]}; the whole log is build/setup.log" >&2
    return 1
  fi
}

need_packages() { install_packages "$@" || exit 1; }

# A browser for the tests, unless one is here or none can be had: Ubuntu has it only as a snap.
want_browser() {
  local name
  for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    if command -v "$name" > /dev/null; then return 0; fi
  done
  if ! apt-cache show "$BROWSER_PACKAGE" > /dev/null 2>&1 || ! root_command > /dev/null; then return 0; fi
  install_packages "$BROWSER_PACKAGE" || true
}

# The daemons of a cluster for the tests. Where systemd runs, their packages would start them at once and at every boot:
# whoever wants these tests there installs them by hand.
want_cluster() {
  if [[ -d /run/systemd/system ]] || ! command -v dpkg-query > /dev/null; then return 0; fi
  if ! root_command > /dev/null; then return 0; fi
  # shellcheck disable=SC2086
  install_packages $CLUSTER_PACKAGES || true
}

# Configures a preset when it never was, or when the folder has moved since.
configure() {
  local preset=$1 folder=build/$1 home=
  if [[ -f $folder/build.ninja ]]; then
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/CMakeCache.txt")
    if [[ $home == "$PWD" ]]; then return 0; fi
  fi
  say "configuring $preset"
  mkdir -p "$folder"
  if ! cmake --preset "$preset" --fresh > "$folder/configure.log" 2>&1; then
    tail -n 40 "$folder/configure.log" >&2
    say "configuring $preset failed; the whole log is $folder/configure.log" >&2
    return 1
  fi
}

# show_progress WHAT: of lines such as "[3/80] ..." from ninja and "3/80 Test ..." from ctest it makes one line that
# changes or, where nobody watches, one every few seconds.
show_progress() {
  local line what=$1 last=$SECONDS columns=${COLUMNS:-80} counted='^[[ ]*([0-9]+/[0-9]+)'
  while IFS= read -r line; do
    [[ $line =~ $counted ]] || continue
    if [[ -t 1 ]]; then
      line="$what $line"
      printf '\r\033[K%s' "${line:0:columns-1}"
    elif ((SECONDS - last >= PROGRESS_EVERY_S)); then
      printf '%s %s\n' "$what" "${BASH_REMATCH[1]}"
      last=$SECONDS
    fi
  done
  if [[ -t 1 ]]; then printf '\r\033[K'; fi
}

# build PRESET [TARGET...]: everything, or these targets.
build() {
  local preset=$1 log=build/$1/build.log targets=() begin=$SECONDS
  shift
  if (($# > 0)); then targets=(--target "$@"); fi
  configure "$preset" || return 1
  if ! NINJA_STATUS='[%f/%t] ' cmake --build "build/$preset" "${targets[@]}" 2>&1 | tee "$log" \
    | show_progress "building $preset"; then
    # What the compiler says, without the status lines.
    { grep -vE '^\[[0-9]+/[0-9]+\]' "$log" || true; } | tail -n 60 >&2
    say "building $preset failed; the whole log is $log" >&2
    return 1
  fi
  if grep -q '^ninja: no work to do' "$log"; then
    say "$preset is built"
  else
    say "built $preset in $((SECONDS - begin)) s"
  fi
}

# Seeds of tests that draw random cases: the commit decides, so that a failure repeats and the next commit looks
# elsewhere.
export_seed() {
  local commit
  if [[ -z ${TUTTI_SEED:-} ]]; then
    commit=$(git rev-parse --short=8 HEAD 2> /dev/null || true)
    TUTTI_SEED=$((16#${commit:-1}))
  fi
  export TUTTI_SEED
}
