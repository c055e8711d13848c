#!/usr/bin/env python3
"""Compare the legal moves of Falcon Chess with Fairy-Max's.

Fairy-Max plays Falcon Chess by rules of its own, but lists no moves. It is told every pair of squares as a move and says
which it does not allow, in every position of random games, so both a move too many and a move too few would show.
It promotes to a queen only, so promotions are compared by their squares, and a game in which another piece is chosen is followed
no further. Run from the repository's root:

    apt-get install fairymax
    python3 scripts/check_rules_fairymax.py [--positions 300] [--seed 1]

A position takes about a second.
"""

import argparse
import re
import shutil
import subprocess
import sys

VARIANT = "falcon"
SQUARES = [file + str(rank) for rank in range(1, 9) for file in "abcdefghij"]


class FairyMax:
    """The engine as a referee."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, bufsize=1)
        self.pings = 0
        self.ask("xboard", "protover 2")

    def ask(self, *commands):
        """Sends commands and returns the lines that come before the answer to a ping."""
        self.pings += 1
        for command in (*commands, f"ping {self.pings}"):
            self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            line = line.strip()
            if line == f"pong {self.pings}":
                return lines
            if line:
                lines.append(line)
        sys.exit(f"Fairy-Max ended after {commands}: {lines}")

    def restart(self):
        """The start position, with the engine playing neither side."""
        self.ask("new", "variant falcon", "force")

    def allows(self, move):
        """Whether a move is legal; if it is, it has been played. A move may end the game with a result."""
        answer = self.ask(move)
        if not answer or answer[0].startswith(("1-0", "0-1", "1/2-1/2")):
            return True
        if any(line.startswith("Illegal move") for line in answer):
            return False
        sys.exit(f"Fairy-Max answers {answer} to the move {move}")

    def legal_moves(self, own_king):
        """All legal moves, as pairs of squares.

        Moves to the square of one's own king are not asked for: the engine lets men go there that guard it.
        """
        legal = set()
        for start in SQUARES:
            for goal in SQUARES:
                if goal not in (start, own_king) and self.allows(start + goal):
                    legal.add(start + goal)
                    self.ask("undo")
        return legal


def positions(count, seed):
    """Positions of random games with legal moves and the move played, from the project's own generator."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "rules", "--example",
               "random_positions", "--", VARIANT, str(count), str(seed)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        fen, moves, played = line.split("|")
        yield fen, moves.split(), played


def own_king(fen):
    """Where the king of the side to move stands."""
    board, side = fen.split()[:2]
    king = "K" if side == "w" else "k"
    for rank, row in enumerate(reversed(board.split("/")), start=1):
        cells = re.sub(r"\d+", lambda empty: "." * int(empty.group()), row)
        if king in cells:
            return "abcdefghij"[cells.index(king)] + str(rank)
    sys.exit(f"there is no king in {fen}")


def squares_of(move):
    """The squares of a move that the engine is told: without the promotion."""
    return move[:4]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=7, help="compare every so many plies")
    parser.add_argument("--engine", help="path of fairymax")
    options = parser.parse_args()
    program = options.engine or shutil.which("fairymax") or shutil.which("/usr/games/fairymax")
    if program is None:
        sys.exit("fairymax is not installed; run `apt-get install fairymax` first")
    engine = FairyMax(program)
    engine.restart()
    checked = moves_checked = differences = 0
    following = True
    plies = enumerate(positions(options.positions * options.every, options.seed))
    for ply, (fen, moves, played) in plies:
        if following and ply % options.every == 0:
            ours = {squares_of(move) for move in moves}
            theirs = engine.legal_moves(own_king(fen))
            checked += 1
            moves_checked += len(ours)
            if ours != theirs:
                differences += 1
                print(fen)
                print(f"  only here:  {' '.join(sorted(ours - theirs)) or '-'}")
                print(f"  only there: {' '.join(sorted(theirs - ours)) or '-'}")
        if played == "-":
            engine.restart()
            following = True
        elif following and len(played) > 4 and not played.endswith("q"):
            following = False
        elif following and not engine.allows(squares_of(played)):
            differences += 1
            following = False
            print(f"{fen}\n  only here:  {played}")
    print(f"{VARIANT}: {checked} positions, {moves_checked} legal moves, "
          f"{checked * (len(SQUARES) - 1) ** 2} pairs of squares tried, {differences} positions differ")
    sys.exit(1 if differences or not checked else 0)


if __name__ == "__main__":
    main()
