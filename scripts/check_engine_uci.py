#!/usr/bin/env python3
"""Let the engine play itself over UCI, in all variants, under a clock.

Both sides are processes of their own. A third process is the referee: it is told every game from the start, accepts or
refuses each move, and says when the game is over. A game is lost by a side that makes a move the referee refuses, oversteps its
time, or ends. Run from the repository's root:

    cargo build --release
    python3 scripts/check_engine_uci.py                                       # two short games of each variant, without nets
    python3 scripts/check_engine_uci.py --net runs/falcon-quick --variants falcon --games 200 --clock 1000+100 --parallel 2
"""

import argparse
import collections
import shlex
import subprocess
import sys
import threading
import time

VARIANTS = """chess falcon falcon-xboard falcon-free falcon-free2 falcon-tournament falcon-9x10 falcon-10x10 falcon-10x10-p3
falcon-8x8 falcon-hunter falcon-hunter-promotion falcon-hunter-66 hunter-chess decimal-falcon-hunter""".split()


class Engine:
    """A process that speaks UCI."""

    def __init__(self, command, variant, options=()):
        self.process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.send("uci")
        self.until("uciok")
        for name, value in [("UCI_Variant", variant), *options]:
            self.send(f"setoption name {name} value {value}")
        self.ready()

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, word):
        """The lines up to the first that begins with a word."""
        lines = []
        for line in self.process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith(word):
                return lines
        raise EOFError(f"the engine has ended; it was to say {word}")

    def ready(self):
        self.send("isready")
        return self.until("readyok")

    def close(self):
        self.send("quit")
        self.process.wait(10)


def refusal(referee, moves, move):
    """Why a move is not legal after others, or None."""
    referee.send(" ".join(["position startpos moves", *moves, move]))
    errors = [line for line in referee.ready() if " error: " in line]
    return errors[0].split(" error: ")[1] if errors else None


def end_of_game(referee):
    """Why the game that the referee has been told is over, or None."""
    referee.send("go nodes 1")
    over = [line for line in referee.until("bestmove") if "the game is over: " in line]
    return over[0].split(": ")[1] if over else None


def play(options, variant, number, referee, sides):
    """One game. Returns how it ended, its plies and the least time that was left on a clock, in seconds."""
    base, increment = (float(part) / 1000 for part in options.clock.split("+"))
    clocks, moves, least = [base, base], [], base
    for engine in sides:
        engine.send("ucinewgame")
        engine.ready()
    if number % 2:
        sides = sides[::-1]
    while True:
        turn = len(moves) % 2
        engine = sides[turn]
        engine.send(" ".join(["position startpos", *(["moves", *moves] if moves else [])]))
        times = [round(clock * 1000) for clock in clocks]
        step = round(increment * 1000)
        begun = time.monotonic()
        if len(moves) < options.opening:
            # Few simulations, and one of the referee's moves now and then, make games differ.
            engine.send(f"go nodes {1 + (number * 7 + len(moves) * 5) % 40}")
        else:
            engine.send(f"go wtime {times[0]} btime {times[1]} winc {step} binc {step}")
        answer = engine.until("bestmove")
        took = time.monotonic() - begun
        move = answer[-1].split()[1]
        if len(moves) >= options.opening:
            clocks[turn] -= took
            least = min(least, clocks[turn])
            if clocks[turn] < 0:
                known = [line.split(" time ")[1].split()[0] for line in answer if " time " in line] or ["?"]
                end = f"lost on time: {took:.3f} s with {clocks[turn] + took:.3f} s left; the engine knew of {known[-1]} ms"
                return end, len(moves), least
            clocks[turn] += increment
        error = refusal(referee, moves, move)
        if error:
            return f"illegal move {move}: {error}", len(moves), least
        moves.append(move)
        reason = end_of_game(referee)
        if reason:
            return reason, len(moves), least
        if len(moves) >= options.plies:
            return "not finished", len(moves), least


def worker(options, jobs, results, lock):
    """Plays games of the list until there are none left."""
    engines, playing = [], None
    while True:
        with lock:
            if not jobs:
                break
            variant, number = jobs.popleft()
        if playing != variant:
            for engine in engines:
                engine.close()
            command = f"{options.program} engine " + " ".join(f"--net {shlex.quote(net)}" for net in options.net)
            referee = f"{options.program} engine --net uniform --hash 16"
            engines = [Engine(command, variant), Engine(command, variant), Engine(referee, variant)]
            playing = variant
        end = play(options, variant, number, engines[2], engines[:2])
        with lock:
            results[variant].append(end)
            if options.verbose:
                print(f"{variant} game {number + 1}: {end[0]} after {end[1]} plies, {end[2]:.3f} s left", flush=True)
    for engine in engines:
        engine.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/falconzero")
    parser.add_argument("--net", action="append", help="as falconzero engine --net; may be repeated")
    parser.add_argument("--variants", nargs="*", default=VARIANTS)
    parser.add_argument("--games", type=int, default=2, help="games of each variant")
    parser.add_argument("--clock", default="300+20", help="milliseconds for the game + for each move")
    parser.add_argument("--plies", type=int, default=400, help="end a game after so many plies")
    parser.add_argument("--opening", type=int, default=6, help="plies with few simulations, off the clock")
    parser.add_argument("--parallel", type=int, default=1, help="games at once")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.net = options.net or ["uniform"]
    jobs = collections.deque((variant, number) for variant in options.variants for number in range(options.games))
    results, lock = {variant: [] for variant in options.variants}, threading.Lock()
    threads = [threading.Thread(target=worker, args=(options, jobs, results, lock)) for _ in range(options.parallel)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failed = False
    for variant, ends in results.items():
        counts = collections.Counter(reason for reason, _, _ in ends)
        bad = [reason for reason in counts if reason.startswith(("lost on time", "illegal"))]
        failed |= bool(bad) or len(ends) != options.games
        plies, least = sum(end[1] for end in ends), min((end[2] for end in ends), default=0.0)
        told = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
        print(f"{variant}: {len(ends)} games, {plies} plies, least time left {least:.3f} s; {told}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
