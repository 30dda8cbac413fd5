#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lint.sh [--all | --changed] [--seconds N] [--jobs N] [--fix-format]: clang-format 14 over every
# C++ file and clang-tidy 14 over every source, or over those changed since the last commit but one.
# --seconds stops clang-tidy in good time: it begins with what changed last, and says what it left.
set -Eeuo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
source cmake/packages.sh

scope=all seconds=86400 jobs=$(nproc) fix=0
while (($#)); do
  case $1 in
    --all) scope=all ;;
    --changed) scope=changed ;;
    --fix-format) fix=1 ;;
    --seconds) seconds=$2 && shift ;;
    --jobs) jobs=$2 && shift ;;
    *) printf 'lint.sh: unknown option: %s\n' "$1" >&2 && exit 2 ;;
  esac
  shift
done
crawlstore_install_packages "${crawlstore_test_packages[@]}" "${crawlstore_clang_packages[@]}"

# Ours, and not ignored by git; newest commits first, uncommitted files before them.
cxx_files() {
  {
    git ls-files --modified --others --exclude-standard -- '*.cpp' '*.h'
    git log --format= --name-only --no-renames -- '*.cpp' '*.h' 2>/dev/null || true
    git ls-files -- '*.cpp' '*.h'
  } | awk '!seen[$0]++' | while read -r file; do [[ ! -f $file ]] || printf '%s\n' "$file"; done
}

changed_files() {
  git diff --name-only HEAD~1 2>/dev/null || cxx_files
  git ls-files --others --exclude-standard
}

mapfile -t files < <(cxx_files)
if ((fix)); then
  clang-format-14 -i "${files[@]}"
  exit 0
fi
status=0
clang-format-14 --dry-run --Werror "${files[@]}" || status=1
verdict=clean
((status == 0)) || verdict='NOT formatted (cmake/lint.sh --fix-format)'
printf 'clang-format: %d files, %s\n' "${#files[@]}" "$verdict"

# clang-tidy reads the compile commands of the fuzz preset: clang's flags, no precompiled header.
mkdir -p build
cmake --preset fuzz --log-level=WARNING >build/fuzz.configure.log 2>&1 ||
  { cat build/fuzz.configure.log && exit 1; }
cmake --build build/fuzz --target crawlstore_schemas -- --quiet

built=$(sed -n "s|.*\"file\": \"$PWD/\(.*\)\".*|\1|p" build/fuzz/compile_commands.json | sort -u)
if [[ $scope == changed ]]; then
  wanted=$(changed_files)
else
  wanted=$(printf '%s\n' "${files[@]}")
fi
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep -xF "$built" | grep -xF "$wanted" || true)

# A source that was clean with the same headers and rules is not looked at again, here or in another
# clone on this machine.
clean_dir=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/crawlstore-lint
headers=$(git ls-files --cached --others --exclude-standard -- \
  '*.h' '*.fbs' CMakePresets.json '*.clang-tidy' | LC_ALL=C sort |
  while read -r file; do [[ ! -f $file ]] || sha256sum "$file"; done | sha256sum)
export clean_dir headers
rm -rf build/lint
mkdir -p build/lint "$clean_dir"
find "$clean_dir" -type f -mtime +30 -delete
lint_start=$(date +%s) lint_seconds=$seconds
export lint_start lint_seconds
# shellcheck disable=SC2317 # called by xargs
tidy_one() {
  local log=build/lint/${1//\//__} clean
  clean=$clean_dir/$({ echo "$1 $headers" && cat "$1"; } | sha256sum | cut -c1-32)
  if [[ -e $clean ]]; then
    touch "$clean"
  elif (($(date +%s) - lint_start >= lint_seconds)); then
    : >"$log.left"
  elif ! clang-tidy-14 -p build/fuzz --quiet "$1" >"$log.log" 2>"$log.err"; then
    cat "$log.log"
    grep 'error:' "$log.err" || true
    : >"$log.bad"
  else
    : >"$clean"
  fi
}
export -f tidy_one
printf '%s\n' "${sources[@]}" | xargs -r -P "$jobs" -I{} bash -c 'tidy_one {}'
bad=$(find build/lint -name '*.bad' | wc -l) left=$(find build/lint -name '*.left' | wc -l)
printf 'clang-tidy: %d of %d sources, %d with findings, %d left for lack of time, %d s\n' \
  $((${#sources[@]} - left)) "${#sources[@]}" "$bad" "$left" $(($(date +%s) - lint_start))
((bad == 0)) || status=1
exit "$status"
