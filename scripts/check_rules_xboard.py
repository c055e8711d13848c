#!/usr/bin/env python3
"""Let XBoard check random games by what the engine tells it of the rules.

XBoard learns a variant from the engine's `setup` and `piece` lines and refuses moves that do not fit. Here two players that only
recite random games of the project's own generator play each other under XBoard, so a string that allows too little shows
as a forfeit. Needs a screen, if only one that nobody sees. Run from the repository's root:

    apt-get install xboard xvfb
    cargo build --release
    xvfb-run -a python3 scripts/check_rules_xboard.py [--variants falcon fz-falcon-hunter ...] [--games 2] [--seed 1]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = "target/release/falconzero"


def introduction(variant):
    """What the engine says about itself and a variant: the lines of its features, and those of the variant."""
    commands = f"xboard\nprotover 2\nvariant {variant}\nquit\n"
    command = [PROGRAM, "engine", "--net", "uniform", "--hash", "16"]
    lines = subprocess.run(command, input=commands, capture_output=True, text=True).stdout.splitlines()
    features = [line for line in lines if line.startswith("feature")]
    return features, [line for line in lines if line.startswith(("setup", "piece"))]


def own_name(variant):
    """The project's name for a variant of XBoard's."""
    return "chess" if variant == "normal" else variant.removeprefix("fz-")


def random_games(variant, count, seed):
    """Random games as lists of moves, ranks counted as in the variant."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "rules", "--example", "random_positions", "--",
               own_name(variant), str(count * 300), str(seed)]
    games = [[]]
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        move = line.split("|")[2]
        if move == "-":
            games.append([])
        else:
            games[-1].append(move)
    return [game for game in games if game][:count]


def recite(variant, path):
    """Plays the games of a file as an engine would, in XBoard's protocol."""
    features, lines = introduction(variant)
    on_ten_ranks = any("x10+" in line for line in lines)
    games = [line.split() for line in open(path)]

    def text(move):
        if on_ten_ranks:
            move = re.sub(r"([a-j])(\d+)", lambda square: square[1] + str(int(square[2]) - 1), move)
        return move.split("/")[0]

    def go_on():
        nonlocal ply
        while not forced and ply % 2 == side:
            if ply == len(games[game]):
                print("1/2-1/2 {the script ends}", flush=True)
                return
            print("move", text(games[game][ply]), flush=True)
            ply += 1

    game, ply, side, forced = 0, 0, 1, False
    for line in sys.stdin:
        word, *rest = line.split() or [""]
        if word == "protover":
            print(*features, sep="\n", flush=True)
        elif word == "variant":
            print(*lines, sep="\n", flush=True)
        elif word == "new":
            game, ply, side, forced = min(game + (ply > 0), len(games) - 1), 0, 1, False
        elif word == "force":
            forced = True
        elif word == "go":
            forced, side = False, ply % 2
            go_on()
        elif word == "usermove":
            ply += 1
            go_on()
        elif word == "ping":
            print("pong", *rest, flush=True)
        elif word == "quit":
            return


def check(variant, options):
    """Plays one variant's games. Returns whether XBoard has accepted them."""
    with tempfile.TemporaryDirectory() as folder:
        script, debug = os.path.join(folder, "games"), os.path.join(folder, "debug")
        games = random_games(variant, options.games, options.seed)
        with open(script, "w") as file:
            file.writelines(" ".join(game) + "\n" for game in games)
        player = f"{sys.executable} {os.path.abspath(__file__)} --recite {script} --variants {variant}"
        folders = ["-fd", os.getcwd(), "-sd", os.getcwd()]
        xboard = shutil.which("xboard", path=os.environ["PATH"] + ":/usr/games")
        process = subprocess.Popen(
            [xboard, "-fcp", player, "-scp", player, *folders, "-mode", "TwoMachines", "-mg", str(len(games)),
             "-variant", variant, "-tc", "30", "-inc", "0", "-xponder", "-saveSettingsOnExit", "false",
             "-debug", "-debugfile", debug],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end, log = time.monotonic() + options.seconds, ""
        while time.monotonic() < end and process.poll() is None:
            time.sleep(1)
            log = open(debug, errors="replace").read() if os.path.exists(debug) else ""
            # XBoard tells the result of each game twice to each player, and of the last one once more.
            if len(re.findall(r">first : result ", log)) >= len(games):
                break
        process.kill()
        process.wait()
    moves = len(re.findall(r"<(?:first |second): move ", log))
    refused = sorted(set(re.findall(r"invalid move: (\S+)", log)))
    finished = len(re.findall(r">first : result ", log))
    fine = not refused and finished >= len(games)
    told = f"refused: {' '.join(refused)}" if refused else "all accepted" if fine else f"only {finished} games ended"
    print(f"{variant}: {len(games)} games, {moves} of {sum(map(len, games))} moves played, {told}", flush=True)
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variants", nargs="*", help="XBoard's names [default: all that the engine offers]")
    parser.add_argument("--games", type=int, default=2, help="games of each variant")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=180, help="the most time for a variant")
    parser.add_argument("--recite", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.recite:
        return recite(options.variants[0], options.recite)
    if "DISPLAY" not in os.environ:
        sys.exit("XBoard needs a screen; run this under `xvfb-run -a`")
    offered = next(line for line in introduction("normal")[0] if "variants=" in line)
    names = options.variants or re.search(r'variants="([^"]*)"', offered)[1].split(",")
    sys.exit(0 if all([check(name, options) for name in names]) else 1)


if __name__ == "__main__":
    main()
