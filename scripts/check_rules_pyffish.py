#!/usr/bin/env python3
"""Compare legal moves with Fairy-Stockfish's, through PyPI's pyffish.

Covers the variants that Fairy-Stockfish can express: chess, falcon-hunter-promotion,
falcon-hunter-66 and decimal-falcon-hunter (without the knights' first leap, so positions in
which a knight still has it are skipped). Run from the repository's root:

    pip install pyffish
    python3 scripts/check_rules_pyffish.py [--positions 2000] [--seed 1]

With --ini, a file written by `falconzero export --format variants-ini`, the variants in it are compared as exported.
"""

import argparse
import re
import subprocess
import sys

try:
    import pyffish
except ImportError:
    sys.exit("pyffish is not installed; run `pip install pyffish` first")

CONFIG = """
[falcon-hunter-promotion:chess]
customPiece1 = f:fBbR
customPiece2 = h:fRbB
promotionPieceTypes = fh

[falcon-hunter-66:chess]
maxRank = 10
customPiece1 = f:fBbR
customPiece2 = h:fRbB
promotionPieceTypes = qfhrbn
castling = false
promotionRegionWhite = *9
promotionRegionBlack = *2
doubleStepRegionWhite = *3
doubleStepRegionBlack = *8
startFen = ****k***/rnbhfbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBHFBNR/****K*** w - - 0 1

[decimal-falcon-hunter:chess]
maxRank = 10
maxFile = j
customPiece1 = f:fBbR
customPiece2 = h:fRbB
promotionPieceTypes = qfhrbn
promotionRegionWhite = *10
promotionRegionBlack = *1
doubleStepRegionWhite = *2
doubleStepRegionBlack = *9
tripleStepRegionWhite = *2
tripleStepRegionBlack = *9
enPassantRegion = -
castlingKingsideFile = i
castlingQueensideFile = c
startFen = rnhbqkbfnr/pppppppppp/10/10/10/10/10/10/PPPPPPPPPP/RNHBQKBFNR w KQkq - 0 1
"""

VARIANTS = [
    "chess",
    "falcon-hunter-promotion",
    "falcon-hunter-66",
    "decimal-falcon-hunter",
]


def positions(variant, count, seed):
    """Positions of random games and their legal moves, from the project's own generator."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "rules", "--example",
               "random_positions", "--", variant, str(count), str(seed)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        fen, moves, _ = line.split("|")
        yield fen, set(moves.split())


def raise_ranks(move):
    """The move with ranks counted from 1, where the variant counts them from 0."""
    return re.sub(r"\d+", lambda rank: str(int(rank.group()) + 1), move)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=2000, help="positions a variant")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ini", help="variants in place of those in this script; their names are ours")
    options = parser.parse_args()
    config, variants = CONFIG, VARIANTS
    if options.ini:
        with open(options.ini, encoding="utf-8") as file:
            config = file.read()
        # Fairy-Stockfish's own chess cannot be replaced under its name.
        config = config.replace("[chess:chess]", "[exported-chess:chess]")
        variants = re.findall(r"^\[([^]:]+)", config, re.MULTILINE)
    pyffish.load_variant_config(config)
    failed = False
    for variant in variants:
        checked = moves_checked = 0
        for fen, ours in positions(variant.removeprefix("exported-"), options.positions, options.seed):
            board, side, rights, ep, *clocks = fen.split()
            if set(rights) & set("BIbi"):
                continue
            if variant == "falcon-hunter-66":
                ours = {raise_ranks(move) for move in ours}
                ep = raise_ranks(ep)
            theirs = set(pyffish.legal_moves(variant, " ".join([board, side, rights, ep, *clocks]), []))
            if ours != theirs:
                failed = True
                print(f"{variant}: {fen}")
                print(f"  only here:  {' '.join(sorted(ours - theirs)) or '-'}")
                print(f"  only there: {' '.join(sorted(theirs - ours)) or '-'}")
            checked += 1
            moves_checked += len(ours)
        print(f"{variant}: {checked} positions, {moves_checked} moves compared")
        if checked == 0:
            failed = True
            print(f"{variant}: nothing was compared; ask for more positions")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
