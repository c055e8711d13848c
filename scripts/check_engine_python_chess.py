#!/usr/bin/env python3
"""Let python-chess drive the engine, over UCI and over CECP, through games of orthodox chess.

python-chess keeps the board itself, so every move, line and result is checked by rules that are not ours. Run from the
repository's root:

    pip install chess
    cargo build --release
    python3 scripts/check_engine_python_chess.py [--net FILE] [--games 2]
"""

import argparse
import shlex
import sys

try:
    import chess
    import chess.engine
except ImportError:
    sys.exit("python-chess is not installed; run `pip install chess` first")

LIMIT = chess.engine.Limit(white_clock=3, black_clock=3, white_inc=0.05, black_inc=0.05)
MATE_IN_TWO = "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"


def play(engine, ponder):
    """One game; every move comes with the search's line, which must be legal."""
    board, game = chess.Board(), object()
    while not board.is_game_over(claim_draw=True) and board.ply() < 300:
        result = engine.play(board, LIMIT, game=game, info=chess.engine.INFO_ALL, ponder=ponder)
        line = board.copy()
        for move in result.info.get("pv", []):
            assert line.is_legal(move), f"{move} in {board.fen()}"
            line.push(move)
        board.push(result.move)
    outcome = board.outcome(claim_draw=True)
    return f"{board.result(claim_draw=True)} after {board.ply()} plies, {outcome.termination.name if outcome else 'stopped'}"


def analyse(engine, name):
    """Several lines, and a mate by name."""
    board = chess.Board()
    infos = engine.analyse(board, chess.engine.Limit(nodes=500), multipv=3 if name == "UCI" else None)
    for info in infos if isinstance(infos, list) else [infos]:
        assert board.is_legal(info["pv"][0]), info
    board = chess.Board(MATE_IN_TWO)
    info = engine.analyse(board, chess.engine.Limit(time=20) if name == "UCI" else chess.engine.Limit(time=3))
    assert info["score"].white() == chess.engine.Mate(2), info
    return f"{board.san(info['pv'][0])} mates in two"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/falconzero")
    parser.add_argument("--net", default="uniform")
    parser.add_argument("--games", type=int, default=2)
    options = parser.parse_args()
    command = [options.program, "engine", "--net", options.net]
    print("python-chess", chess.__version__, "drives", shlex.join(command))
    protocols = [("UCI", chess.engine.SimpleEngine.popen_uci), ("CECP", chess.engine.SimpleEngine.popen_xboard)]
    for name, start in protocols:
        with start(command, timeout=60) as engine:
            print(f"{name}: {analyse(engine, name)}")
            for number in range(options.games):
                ponders = number % 2 == 1
                print(f"{name}: game {number + 1}{' with pondering' if ponders else ''}: {play(engine, ponders)}")


if __name__ == "__main__":
    main()
