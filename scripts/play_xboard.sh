#!/usr/bin/env bash
# One game under XBoard, on a screen that nobody sees: the engine against itself, or against another program.
#
#     apt-get install xboard xvfb imagemagick fairymax
#     cargo build --release
#     scripts/play_xboard.sh falcon
#     scripts/play_xboard.sh decimal-falcon-hunter
#     scripts/play_xboard.sh falcon --against fairymax --net runs/falcon-quick --png docs/engine-xboard.png
#     falconzero export --variant data/engines/decimal-plain.toml --format fmax-ini --out decimal-plain.ini
#     scripts/play_xboard.sh decimal-plain --file data/engines/decimal-plain.toml --against 'fairymax 20 decimal-plain.ini'
#
# XBoard checks every move by what the engine has told it of the rules, keeps the clocks and writes the game. The script prints the
# game's result, and fails if there is none, or if XBoard has found a move illegal or a clock run out. Variants go by
# the names that the engine has for XBoard, such as fz-falcon-8x8 (docs/engine.md). --file gives the engine a variant of your own.
# Another program is not told that its opponent is a computer: Fairy-Max 5.0b crashes on the command `computer`.
set -euo pipefail
cd "$(dirname "$0")/.."

variant=$1
shift
against="" file="" net=uniform png="" clock=0:20 increment=0 seconds=300 after=12
while [ $# -gt 0 ]; do
    case $1 in
        --against) against=$2 ;;
        --file) file=$2 ;;
        --net) net=$2 ;;
        --png) png=$(realpath -m "$2") ;;
        --clock) clock=$2 ;;
        --increment) increment=$2 ;;
        --after) after=$2 ;;
        --seconds) seconds=$2 ;;
        *) echo "unknown option $1; see the head of this script" >&2; exit 2 ;;
    esac
    shift 2
done
export PATH="$PATH:/usr/games"
engine="$PWD/target/release/falconzero engine --net $net${file:+ --variant $file}"
work=$(mktemp -d)
display=:$((90 + RANDOM % 900))
Xvfb $display -screen 0 640x640x24 >"$work/xvfb.log" 2>&1 &
screen=$!
trap 'kill $screen 2>/dev/null || true; rm -rf "$work"' EXIT
sleep 2

quiet=()
if [ -n "$against" ]; then quiet=(-secondComputerString ""); fi
DISPLAY=$display xboard -fcp "$engine" -scp "${against:-$engine}" -fd "$PWD" -sd "$PWD" -mode TwoMachines -mg 1 \
    -variant "$variant" -tc "$clock" -inc "$increment" "${quiet[@]}" -xponder -size 49 -coords -saveSettingsOnExit false -sgf "$work/game.pgn" \
    -debug -debugfile "$work/debug" >"$work/xboard.log" 2>&1 &
board=$!
for ((waited = 0; waited < seconds; waited++)); do
    if [ -s "$work/game.pgn" ] || ! kill -0 $board 2>/dev/null || grep -aqs "exited unexpectedly" "$work/debug"; then
        break
    fi
    if [ -n "$png" ] && [ "$waited" = "$after" ]; then
        DISPLAY=$display import -window root -trim +repage +dither -colors 32 "PNG8:$png"
    fi
    sleep 1
done
# XBoard waits for an answer to its last message otherwise.
kill -9 $board 2>/dev/null || true
wait $board 2>/dev/null || true
if [ ! -s "$work/game.pgn" ]; then
    echo "no game after $waited s:" >&2
    grep -aE 'GameEnds|exited unexpectedly' "$work/debug" >&2 || cat "$work/xboard.log" >&2
    exit 1
fi
grep -aE '^\[(White|Black|Result|TimeControl|Variant) ' "$work/game.pgn"
moves=$(grep -acE '<(first |second): move ' "$work/debug") || true
echo "$moves moves; $(tr '\n' ' ' <"$work/game.pgn" | grep -aoE '\{[^{}]*\} (1-0|0-1|1/2-1/2|\*) *$')"
if grep -aE 'invalid move|[Ii]llegal move|forfeits on time|flag fell|time forfeit' "$work/debug" >&2; then
    exit 1
fi
