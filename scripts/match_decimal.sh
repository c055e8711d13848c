#!/usr/bin/env bash
# Small matches of Decimal Falcon-Hunter Chess without the knights' first leap, which is the part of the game that
# Fairy-Stockfish (the WebAssembly build from npm, run by node) and Sjaak II can play, and Fairy-Max but for this: it takes en
# passant what has gone three squares, which loses it the game.
#
#   scripts/match_decimal.sh fairy-stockfish|sjaak|fairymax|both [GAMES] [arguments of `falconzero arena`]
#
# The engine plays against search without a net, or against what OPPONENT names (a net, an engine); with `both` Fairy-Stockfish
# plays Sjaak II. A net is one of decimal-plain: the beginning of a run from another one's net makes it,
#   falconzero train RECIPE --from shipped:decimal-falcon-hunter
# with `variant = "data/engines/decimal-plain.toml"`.
# FALCONZERO names the program if it is not on the path; engines are installed into FOLDER (default: a cache folder).
set -euo pipefail
cd "$(dirname "$0")/.."

who=${1:?say who plays: fairy-stockfish, sjaak, fairymax or both}
games=${2:-10}
shift $(($# > 2 ? 2 : $#))

PATH=$PATH:/usr/games:target/release
folder=${FOLDER:-${XDG_CACHE_HOME:-$HOME/.cache}/falconzero-engines}
falconzero=${FALCONZERO:-falconzero}
package=$folder/node_modules/fairy-stockfish-nnue.wasm
ini=$folder/decimal-plain.ini

stockfish() {
    [ -d "$package" ] || npm install --prefix "$folder" fairy-stockfish-nnue.wasm@1.1.12 >&2
    "$falconzero" export --variant data/engines/decimal-plain.toml --format variants-ini --out "$ini" >&2
    echo "uci:node scripts/fairy_stockfish.cjs '$package' '$ini'"
}
sjaak() {
    command -v sjaakii >/dev/null || $(if [ "$(id -u)" != 0 ]; then echo sudo; fi) apt-get install -y sjaakii >&2
    echo "cecp:sjaakii data/engines/decimal-plain.sjaak.txt"
}
fairy_max() {
    command -v fairymax >/dev/null || $(if [ "$(id -u)" != 0 ]; then echo sudo; fi) apt-get install -y fairymax >&2
    echo "cecp:fairymax 20 data/engines/decimal-plain.fairymax.ini"
}
opponent=${OPPONENT:-uniform}

mkdir -p "$folder"
case $who in
    fairy-stockfish)
        players=(--a "$(stockfish)" --a-option VariantPath=/decimal-plain.ini --a-option 'Use NNUE=false' --b "$opponent") ;;
    sjaak)
        players=(--a "$(sjaak)" --b "$opponent") ;;
    fairymax)
        players=(--a "$(fairy_max)" --b "$opponent") ;;
    both)
        players=(--a "$(stockfish)" --a-option VariantPath=/decimal-plain.ini --a-option 'Use NNUE=false'
            --b "$(sjaak)") ;;
    *)
        echo "unknown: $who; say fairy-stockfish, sjaak, fairymax or both" >&2
        exit 2 ;;
esac
exec "$falconzero" arena --variant data/engines/decimal-plain.toml "${players[@]}" --games "$games" --grace 2 "$@"
