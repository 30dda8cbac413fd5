#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lint.sh [--all | --changed] [--quick] [--seconds N] [--jobs N] [--fix-format]: clang-format 14
# over every C++ file and clang-tidy 14 over every source, or over those changed since the last
# commit but one. --quick leaves out the checks that take half of the time; ./run-tests --long runs
# them. --seconds stops clang-tidy in good time: it begins with what changed last, and says what it
# left.
set -Eeuo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
source cmake/packages.sh

scope=all seconds=86400 jobs=$(nproc) fix=0 checks=''
# The analyzer takes half of the time of a source that is no test, the other check a tenth; no
# message of a commit names a finding of either.
slow_checks='-clang-analyzer-*,-bugprone-reserved-identifier'
while (($#)); do
  case $1 in
    --all) scope=all ;;
    --changed) scope=changed ;;
    --quick) checks=$slow_checks ;;
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

if [[ $scope == changed ]]; then
  wanted=$(changed_files)
else
  wanted=$(printf '%s\n' "${files[@]}")
fi
# "KEY SOURCE" of each: the key stands for all that the verdict depends on.
salt="$(clang-tidy-14 --version | grep -i version) $slow_checks"
keyed=$({
  printf '%s\n' "${files[@]}"
  git ls-files --cached --others --exclude-standard -- '*.clang-tidy'
} | /usr/bin/python3 -B cmake/include_closure.py build/fuzz/compile_commands.json "$salt" |
  awk 'NR == FNR { wanted[$0]; next } $2 in wanted' <(printf '%s\n' "$wanted") -)
mapfile -t sources < <(printf '%s' "$keyed")

# A source that was clean with the same key is not looked at again, here or in another clone on this
# machine. A mark of the quick checks does not count for all.
clean_dir=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/crawlstore-lint
export clean_dir checks
rm -rf build/lint
mkdir -p build/lint "$clean_dir"
find "$clean_dir" -type f -mtime +30 -delete
lint_start=$(date +%s) lint_seconds=$seconds
export lint_start lint_seconds
# shellcheck disable=SC2317 # called by xargs
tidy_one() {
  local log=build/lint/${2//\//__} clean=$clean_dir/$1
  if [[ -e $clean ]]; then
    touch "$clean"
    return
  fi
  clean+=${checks:+.quick}
  if [[ -e $clean ]]; then
    touch "$clean"
  elif (($(date +%s) - lint_start >= lint_seconds)); then
    : >"$log.left"
  elif ! clang-tidy-14 -p build/fuzz --quiet ${checks:+"--checks=$checks"} "$2" \
    >"$log.log" 2>"$log.err"; then
    cat "$log.log"
    grep 'error:' "$log.err" || true
    : >"$log.bad"
  else
    : >"$clean"
  fi
}
export -f tidy_one
printf '%s\n' "${sources[@]}" | xargs -r -P "$jobs" -L 1 bash -c 'tidy_one "$@"' tidy_one
bad=$(find build/lint -name '*.bad' | wc -l) left=$(find build/lint -name '*.left' | wc -l)
printf 'clang-tidy: %d of %d sources, %d with findings, %d left for lack of time, %d s\n' \
  $((${#sources[@]} - left)) "${#sources[@]}" "$bad" "$left" $(($(date +%s) - lint_start))
if ((left)); then
  mapfile -t names < <(printf '%s\n' "${sources[@]#* }" | while read -r source; do
    [[ ! -e build/lint/${source//\//__}.left ]] || printf '%s\n' "$source"
  done)
  printf 'not reached: %d sources, first of them %s\n' "$left" "${names[*]:0:5}"
fi
((bad == 0)) || status=1
exit "$status"
