#!/usr/bin/env python3
"""Compare the legal moves of Falcon Chess, or of a variant exported for it, with Fairy-Max's.

Fairy-Max plays Falcon Chess by rules of its own, but lists no moves. It is told every pair of squares as a move and says
which it does not allow, in every position of random games, so both a move too many and a move too few would show.
Promotions are compared by their squares, and a game in which another piece than a queen is chosen is followed no further. Run from the repository's root:

    apt-get install fairymax
    python3 scripts/check_rules_fairymax.py [--positions 300] [--seed 1]

Falcon Chess is compared with Fairy-Max's own. Other variants, and the export itself, by an ini file:

    falconzero export --variant falcon-xboard --format fmax-ini --out x.ini
    python3 scripts/check_rules_fairymax.py --variant falcon-xboard --ini x.ini

A position takes about a second.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys


def squares(fen):
    """All squares of a FEN's board as XBoard's protocol names them: ranks count from 0 on boards of ten ranks."""
    rows = fen.split()[0].split("/")
    files = sum(int(number or 1) for number in re.findall(r"(\d+)|\D", rows[0]))
    lowest = 0 if len(rows) == 10 else 1
    return [file + str(rank + lowest) for rank in range(len(rows)) for file in "abcdefghij"[:files]]


def told(move, lowest):
    """A move's squares as the protocol names them, without the promotion."""
    start, goal = re.match(r"([a-j]\d+)([a-j]\d+)", move).groups()
    return "".join(name[0] + str(int(name[1:]) - 1 + lowest) for name in (start, goal))


class FairyMax:
    """The engine as a referee."""

    def __init__(self, program, variant, ini):
        self.variant = "normal" if variant == "chess" else pathlib.Path(variant).stem
        self.process = subprocess.Popen(
            [program, *(["20", ini] if ini else [])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
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
        self.ask("new", f"variant {self.variant}", "force")

    def allows(self, move):
        """Whether a move is legal; if it is, it has been played. A move may end the game with a result."""
        answer = self.ask(move)
        if not answer or answer[0].startswith(("1-0", "0-1", "1/2-1/2")):
            return True
        if any(line.startswith("Illegal move") for line in answer):
            return False
        sys.exit(f"Fairy-Max answers {answer} to the move {move}")

    def legal_moves(self, names, own_king):
        """All legal moves, as pairs of squares.

        Moves to the square of one's own king are not asked for: the engine lets men go there that guard it.
        """
        legal = set()
        for start in names:
            for goal in names:
                if goal not in (start, own_king) and self.allows(start + goal):
                    legal.add(start + goal)
                    self.ask("undo")
        return legal


def positions(variant, count, seed):
    """Positions of random games with legal moves and the move played, from the project's own generator."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "rules", "--example",
               "random_positions", "--", variant, str(count), str(seed)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        fen, moves, played = line.split("|")
        yield fen, moves.split(), played


def own_king(fen, lowest):
    """Where the king of the side to move stands."""
    board, side = fen.split()[:2]
    king = "K" if side == "w" else "k"
    for rank, row in enumerate(reversed(board.split("/")), start=lowest):
        cells = re.sub(r"\d+", lambda empty: "." * int(empty.group()), row)
        if king in cells:
            return "abcdefghij"[cells.index(king)] + str(rank)
    sys.exit(f"there is no king in {fen}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=7, help="compare every so many plies")
    parser.add_argument("--engine", help="path of fairymax")
    parser.add_argument("--variant", default="falcon", help="name, or a TOML file that has it for its own")
    parser.add_argument("--ini", help="file with the variant, as `falconzero export` writes it")
    options = parser.parse_args()
    program = options.engine or shutil.which("fairymax") or shutil.which("/usr/games/fairymax")
    if program is None:
        sys.exit("fairymax is not installed; run `apt-get install fairymax` first")
    engine = FairyMax(program, options.variant, options.ini)
    engine.restart()
    checked = moves_checked = differences = 0
    following = True
    plies = enumerate(positions(options.variant, options.positions * options.every, options.seed))
    for ply, (fen, moves, played) in plies:
        names = squares(fen)
        lowest = int(names[0][1:])
        if following and ply % options.every == 0:
            ours = {told(move, lowest) for move in moves}
            theirs = engine.legal_moves(names, own_king(fen, lowest))
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
        elif following and played[-1] in "fhrbn":
            following = False
        elif following and not engine.allows(told(played, lowest)):
            differences += 1
            following = False
            print(f"{fen}\n  only here:  {played}")
    print(f"{options.variant}: {checked} positions, {moves_checked} legal moves, "
          f"{checked * (len(names) - 1) ** 2} pairs of squares tried, {differences} positions differ")
    sys.exit(1 if differences or not checked else 0)


if __name__ == "__main__":
    main()
