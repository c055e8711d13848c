#!/usr/bin/env python3
"""Hold a net that `falconzero export --format nnue` wrote in Fairy-Stockfish against our own reader, to the last bit.

    npm install fairy-stockfish-nnue.wasm@1.1.12
    python3 scripts/check_nnue.py NET.nnue --variant chess --package node_modules/fairy-stockfish-nnue.wasm

The engine's command `eval` prints pawns with two digits, some 33 units of the output layer each. So of many positions those are taken whose
printed value changes when that sum grows by one, and the net is loaded twice: as it is, and with 1 added to the bias of the
last layers. An engine whose sum were any other would print another number for one of the two.
FALCONZERO names the program if it is not on the path.
"""
import argparse
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

UNITS_PER_PAWN = 208
OUTPUT_SCALE = 16
STACKS = 8
# A stack of layers: hash, then biases and weights of 1024 -> 16 -> 32 -> 1, inputs padded to 32.
STACK_BYTES = 4 + 4 * 16 + 1024 * 16 + 4 * 32 + 32 * 32 + 4 + 32
LAST_BIAS = STACK_BYTES - 36
HERE = pathlib.Path(__file__).parent


def printed(sums, offset, white):
    """What `eval` prints for a sum of the output layer, once `offset` has been added."""
    total = sums + offset
    value = abs(total) // OUTPUT_SCALE * (1 if total >= 0 else -1)
    return f"{(value if white else -value) / UNITS_PER_PAWN:+.2f}"


def our_sums(falconzero, net, variant, count):
    """The sum of the output layer for each of many positions, by FEN."""
    command = [falconzero, "nnue", net, "--variant", variant, "--random", str(count)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    sums = {}
    for line in lines[1:]:
        _, psqt, positional, _, fen = line.split(maxsplit=4)
        sums[fen] = int(psqt) + int(positional)
    return sums


def with_offset(net, offset, folder):
    """A copy of the net with `offset` added to the bias of every stack's last layer; its name begins as the net's."""
    data = bytearray(net.read_bytes())
    for stack in range(STACKS):
        place = len(data) - STACK_BYTES * (STACKS - stack) + LAST_BIAS
        (bias,) = struct.unpack_from("<i", data, place)
        struct.pack_into("<i", data, place, bias + offset)
    copy = pathlib.Path(folder) / f"{net.stem}-{offset}.nnue"
    copy.write_bytes(data)
    return copy


def engine_values(package, ini, net, name, fens):
    """What the engine prints for each position; None in check."""
    command = ["node", HERE / "fairy_stockfish.cjs", package, ini, net]
    engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(*lines):
        engine.stdin.write("".join(line + "\n" for line in lines))
        engine.stdin.flush()

    def lines_until(*starts):
        for line in engine.stdout:
            yield line
            if line.startswith(starts):
                return
        sys.exit(f"the engine ended while it was to say one of {starts}")

    tell("uci")
    list(lines_until("uciok"))
    tell(f"setoption name VariantPath value /{ini.name}", f"setoption name UCI_Variant value {name}",
         f"setoption name EvalFile value /{net.name}", "isready")
    list(lines_until("readyok"))
    values = []
    for fen in fens:
        tell(f"position fen {fen}", "eval")
        said = list(lines_until("Final evaluation"))
        lines = [line for line in said if line.startswith("NNUE evaluation")]
        if not lines and "in check" not in said[-1]:
            sys.exit(f"the engine does not use the net:\n{''.join(said)}")
        values.append(lines[0].split()[2] if lines else None)
    tell("quit")
    engine.wait(timeout=30)
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net", type=pathlib.Path)
    parser.add_argument("--variant", required=True, help="name, or path of a TOML file")
    parser.add_argument("--package", required=True, type=pathlib.Path, help="folder of fairy-stockfish-nnue.wasm")
    parser.add_argument("--positions", type=int, default=250, help="positions whose sums are told apart exactly")
    args = parser.parse_args()
    falconzero = os.environ.get("FALCONZERO", "falconzero")

    sums = our_sums(falconzero, args.net, args.variant, 60 * args.positions)
    sharp, dull = [], []
    for fen, total in sums.items():
        white = fen.split()[1] == "w"
        changes = printed(total, 0, white) != printed(total, 1, white)
        (sharp if changes else dull).append(fen)
    fens = sharp[:args.positions] + dull[:args.positions]

    checked, wrong = [0, 0], 0
    with tempfile.TemporaryDirectory() as folder:
        ini = pathlib.Path(folder) / "variants.ini"
        subprocess.run([falconzero, "export", "--variant", args.variant, "--format", "variants-ini", "--out", ini], check=True)
        name = ini.read_text()[1:].split(":")[0]
        for offset in (0, 1):
            net = with_offset(args.net, offset, folder)
            values = engine_values(args.package, ini, net, name, fens)
            for fen, value in zip(fens, values):
                expected = printed(sums[fen], offset, fen.split()[1] == "w")
                if value is not None and value != expected:
                    wrong += 1
                    print(f"{fen}: {value}, expected {expected} (sum {sums[fen]} + {offset})")
            checked = [sum(value is not None for value in part)
                       for part in (values[:len(sharp[:args.positions])], values[len(sharp[:args.positions]):])]
    print(f"{checked[0]} positions told apart to the last bit, {checked[1]} more to the hundredth of a pawn: {wrong} differ")
    if wrong or checked[0] < min(200, args.positions // 2):
        sys.exit(1)


if __name__ == "__main__":
    main()
