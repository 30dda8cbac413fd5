# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart, run-tests and .ci/run: the Debian packages we need, and how they get in.
# shellcheck shell=bash disable=SC2034

# The packages that the library, the command, the inspector and the examples need to build and run.
crawlstore_build_packages=(
  ca-certificates
  capnproto
  cmake
  flatbuffers-compiler
  fonts-dejavu-core
  g++
  libboost-dev
  libcapnp-dev
  libcli11-dev
  libcurl4-openssl-dev
  libexpected-dev
  libflatbuffers-dev
  libfmt-dev
  libfreetype-dev
  libgl-dev
  libgl1-mesa-dri
  libglfw3-dev
  libicu-dev
  libimgui-dev
  liblz4-dev
  libpng-dev
  libpsl-dev
  libre2-dev
  libsimdjson-dev
  libstb-dev
  libxxhash-dev
  libzstd-dev
  ninja-build
  nlohmann-json3-dev
  pkg-config
  publicsuffix
  robin-map-dev
  zlib1g-dev
)

# The packages that `./quickstart --package` needs on top.
crawlstore_package_packages=(
  dpkg-dev
  file
)

# The packages that crawlstored needs to build.
crawlstore_service_packages=(
  libgrpc++-dev
  libprotobuf-dev
  prometheus-cpp-dev
  protobuf-compiler
  protobuf-compiler-grpc
)

# The packages that crawlstore-mpi needs to build, and to run on one machine.
crawlstore_mpi_packages=(
  libopenmpi-dev
  openmpi-bin
)

# The packages of the documentation site: `./quickstart --site` and `--package`.
crawlstore_site_packages=(
  doxygen
  python3
  python3-markdown-it
  python3-pygments
)

# The packages that pycrawlstore and its tests need.
crawlstore_python_packages=(
  python3
  python3-cffi
  python3-numpy
  python3-pandas
  python3-pip
  python3-pytest
  python3-scipy
  python3-scrapy
  python3-setuptools
  python3-wheel
)

# The packages that the ordinary tests need on top.
crawlstore_test_packages=(
  "${crawlstore_build_packages[@]}"
  "${crawlstore_package_packages[@]}"
  "${crawlstore_site_packages[@]}"
  abigail-tools
  "${crawlstore_python_packages[@]}"
  "${crawlstore_service_packages[@]}"
  "${crawlstore_mpi_packages[@]}"
  appstream
  bash-completion
  btrfs-progs
  ccache
  desktop-file-utils
  fonts-droid-fallback
  git
  libbenchmark-dev
  libglib2.0-bin
  libgmock-dev
  libgtest-dev
  lintian
  man-db
  mold
  python3-flatbuffers
  python3-grpcio
  python3-idna
  python3-jsonschema
  python3-protego
  python3-protobuf
  python3-xlib
  shared-mime-info
  spin
  x11-utils
  xdotool
  xfsprogs
  xvfb
  zstd
)
# Node runs the tests of spec/crawl.ksy and of events in JavaScript. A node that came from elsewhere
# brings its own npm, and conflicts with Debian's.
if ! { command -v node && command -v npm; } >/dev/null; then
  crawlstore_test_packages+=(nodejs npm)
fi

# The packages that `./run-tests --long` and the source checks need on top.
crawlstore_clang_packages=(
  clang-14
  clang-format-14
  clang-tidy-14
  libclang-rt-14-dev
)

# Ends with 3, "the system said no", like the crawlstore command.
crawlstore_fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 3
}

# Runs a command as root: directly, or through sudo.
crawlstore_as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    return 126
  fi
}

# apt-get that never asks, waits for another apt and gives up on a dead network in good time.
crawlstore_apt_get() {
  env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 \
    -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@"
}

# Prints those of the given packages that are not installed, one a line.
crawlstore_missing_packages() {
  comm -23 <(printf '%s\n' "$@" | sort -u) \
    <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
      sed -n 's/^installed //p' | sort -u)
}

# Installs what is missing of the given packages. Touches neither apt nor the network otherwise.
crawlstore_install_packages() {
  local missing
  command -v dpkg-query >/dev/null ||
    crawlstore_fail "this is not a Debian system; install the like of: $*"
  mapfile -t missing < <(crawlstore_missing_packages "$@")
  ((${#missing[@]} == 0)) && return 0

  local command="apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  [[ $(id -u) -eq 0 ]] || command -v sudo >/dev/null ||
    crawlstore_fail "packages are missing, and this is neither root nor is there sudo.
Run as root, then start ${0##*/} again:
  $command"
  printf 'Installing %d packages: %s\n' "${#missing[@]}" "${missing[*]}"
  # A broken third-party source must not stop us: only the installation decides.
  crawlstore_as_root "$(command -v env)" bash -c "$(declare -f crawlstore_apt_get)
    crawlstore_apt_get update || true
    crawlstore_apt_get install -y --no-install-recommends \"\$@\"" bash "${missing[@]}" ||
    crawlstore_fail "the packages could not be installed. Is there a network, and can apt-get reach
a Debian mirror? Once it can, start ${0##*/} again; what is installed already stays. By hand:
  $command"
  mapfile -t missing < <(crawlstore_missing_packages "${missing[@]}")
  ((${#missing[@]} == 0)) ||
    crawlstore_fail "apt-get said it succeeded, but these are still missing: ${missing[*]}"
}

# crawlstore_install_npm_folder FROM FOLDER TEST
# Puts the npm packages of FROM into FOLDER, with the versions and hashes of its package-lock.json;
# nothing is done while that has not changed. Without a network to npm's registry they are missed by
# one test only, which then says so and is skipped.
crawlstore_install_npm_folder() {
  local from=$1 folder=$2
  cmp -s "$from/package-lock.json" "$folder/installed.json" && return 0
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$from/package.json" "$from/package-lock.json" "$folder"
  if npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --silent \
    --fetch-retries=1 --fetch-timeout=20000; then
    mv "$folder/package-lock.json" "$folder/installed.json"
  else
    rm -rf "$folder"
    printf '%s: npm could not install the packages of %s; the test "%s" will be skipped\n' \
      "${0##*/}" "$from" "$3" >&2
  fi
}

# Installs the packages that the tests in JavaScript need.
crawlstore_install_npm_packages() {
  crawlstore_install_npm_folder tests/golden/ksy build/ksy ksy
  crawlstore_install_npm_folder tests/events build/events events
}
