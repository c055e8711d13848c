#!/usr/bin/env bash
# Compares the speed of perft, one thread each, with Fairy-Stockfish's large-board build, which is made from the source package of
# PyPI's pyffish. The programs take turns, and CPU time is compared, so that other work on the machine disturbs little.
# Run from the repository's root; needs g++, pip and some minutes for the build:
#
#     scripts/compare_perft.sh [FOLDER FOR THE BUILD] [TURNS]
set -euo pipefail

folder=${1:-target/fairy-stockfish}
turns=${2:-3}
version=0.0.90
# As Fairy-Stockfish's own makefile for x86-64-modern, tuned to this machine, as our own build finds its instructions at run time.
flags="-O3 -DNDEBUG -std=c++17 -march=native -flto -DIS_64BIT -DUSE_PTHREADS -DUSE_POPCNT
       -DLARGEBOARDS -DALLVARS -DPRECOMPUTED_MAGICS -DNNUE_EMBEDDING_OFF -w"

build_stockfish() {
    local source="$folder/pyffish-$version/src"
    pip download --quiet --no-binary :all: --no-deps --dest "$folder" "pyffish==$version"
    tar -C "$folder" -xzf "$folder/pyffish-$version.tar.gz"
    mkdir -p "$folder/objects"
    find "$source" -name '*.cpp' ! -name pyffish.cpp ! -name ffishjs.cpp -print0 |
        xargs -0 -P "$(nproc)" -I{} sh -c \
            'g++ $1 -I "$2" -c "$3" -o "$4/$(echo "${3#"$2"/}" | tr / _).o"' sh "$flags" "$source" {} "$folder/objects"
    # shellcheck disable=SC2086
    g++ $flags "$folder"/objects/*.o -o "$folder/stockfish" -lpthread
}

# Prints the count and the CPU seconds of a command whose output has the count as its last number.
measure() {
    local output
    TIMEFORMAT=%U
    output=$( { time "$@" 2>/dev/null; } 2>"$folder/seconds")
    echo "$(grep -oE '[0-9]+' <<<"$output" | sort -n | tail -1) $(cat "$folder/seconds")"
}

stockfish() {
    printf '%s\n' "setoption name VariantPath value $folder/variants.ini" "setoption name Use NNUE value false" \
        "setoption name UCI_Variant value $1" "position startpos" "go perft $2" quit | "$folder/stockfish"
}

mkdir -p "$folder"
[ -x "$folder/stockfish" ] || build_stockfish
sed -n '/^CONFIG = """$/,/^"""$/p' scripts/check_rules_pyffish.py | sed '1d;$d' >"$folder/variants.ini"
# Fairy-Stockfish cannot express the knights' first leap.
sed 's/"Ni(2,4)"/"N"/' configs/variants/decimal-falcon-hunter.toml >"$folder/decimal.toml"
cargo build --quiet --release --bin falconzero
for game in "chess chess 6" "decimal-falcon-hunter $folder/decimal.toml 5"; do
    read -r variant ours depth <<<"$game"
    for turn in $(seq "$turns"); do
        read -r our_count our_seconds <<<"$(measure target/release/falconzero perft --variant "$ours" --depth "$depth")"
        read -r their_count their_seconds <<<"$(measure stockfish "$variant" "$depth")"
        [ "$our_count" = "$their_count" ] || { echo "$variant $depth: $our_count here, $their_count there"; exit 1; }
        awk -v v="$variant" -v d="$depth" -v n="$our_count" -v a="$our_seconds" -v b="$their_seconds" 'BEGIN {
            printf "%s depth %d, %d nodes: %.2f s here (%.1f M nodes/s), %.2f s Fairy-Stockfish (%.1f M nodes/s), ratio %.2f\n",
                v, d, n, a, n / a / 1e6, b, n / b / 1e6, b / a }'
    done
done
