#!/usr/bin/env bash
# A small match of orthodox chess against Stockfish at a fixed skill level.
#
#   scripts/match_stockfish.sh NET [LEVEL] [GAMES] [arguments of `falconzero arena`, such as --st 0.1]
#
# NET is a net's file, a run, greedy, uniform, or an engine such as 'uci:falconzero engine --net NET' for equal time.
# LEVEL is 0 to 20 (default 0). FALCONZERO names the program if it is not on the path.
set -euo pipefail
cd "$(dirname "$0")/.."

net=${1:?say which net plays: a file or the folder of a run}
level=${2:-0}
games=${3:-20}
shift $(($# > 3 ? 3 : $#))

PATH=$PATH:/usr/games:target/release
command -v stockfish >/dev/null || $(if [ "$(id -u)" != 0 ]; then echo sudo; fi) apt-get install -y stockfish
exec "${FALCONZERO:-falconzero}" arena --variant chess --a "$net" --b uci:stockfish --games "$games" \
    --b-option "Skill Level=$level" --b-option Threads=1 "$@"
