#!/usr/bin/env bash
# A small match of Falcon Chess against Fairy-Max, H. G. Muller's engine, which knows the game.
#
#   scripts/match_fairymax.sh NET [GAMES] [arguments of `falconzero arena`, such as --st 1 or --simulations 200]
#
# NET is a net's file, a run, greedy, uniform, or an engine such as 'uci:falconzero engine --net NET' for equal time.
# FALCONZERO names the program if it is not on the path.
set -euo pipefail
cd "$(dirname "$0")/.."

net=${1:?say which net plays: a file or the folder of a run}
games=${2:-20}
shift $(($# > 2 ? 2 : $#))

PATH=$PATH:/usr/games:target/release
command -v fairymax >/dev/null || $(if [ "$(id -u)" != 0 ]; then echo sudo; fi) apt-get install -y fairymax
exec "${FALCONZERO:-falconzero}" arena --variant falcon --a "$net" --b cecp:fairymax \
    --games "$games" --grace 1 "$@"
