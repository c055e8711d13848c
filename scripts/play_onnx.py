#!/usr/bin/env python3
"""Play the likeliest legal move of an exported net (docs/export.md): play_onnx.py NET.onnx 'FEN', with falconzero on the path."""
import json, re, subprocess, sys, numpy as np, onnxruntime

def encode(meta, fen, repetitions=1):
    """A position as planes by name, each [10, 10], the side to move at the bottom; all that it takes is in the metadata."""
    board, rights = json.loads(meta["board"]), json.loads(meta["rights"])
    placement, side, castling, passed, *clocks = fen.split() + ["+0+0"]
    placement, *hand = placement.rstrip("]").split("[")
    who = lambda letter: "own " if letter.islower() == (side == "b") else "enemy "
    planes = {name: np.zeros((10, 10), np.float32) for name in json.loads(meta["planes"])}
    for rank, row in enumerate(reversed(placement.split("/"))):
        for file, man in enumerate(re.sub(r"\d+", lambda count: "." * int(count[0]), row)):
            planes["board"][rank, file] = man != "*"
            if man.isalpha():
                planes[who(man) + man.upper()][rank, file] = 1
    for letter in castling.strip("-"):
        right, color = rights[letter.upper()], "black" if letter.islower() else "white"
        for name in right.get(color, []):
            planes[who(letter) + "rights"][square(board, name)] = 1
        if "entered" in right:  # the man of this kind on its side's first rank
            first = {"white": 0, "black": board["ranks"] - 1}[color]
            planes[who(letter) + "rights"][first] += planes[who(letter) + right["entered"]][first]
    if passed != "-":
        planes["en passant"][square(board, passed)] = 1
    for losses, pawn in zip(clocks[2].split("+")[1:], "Pp") if hand else ():
        held = [man for man in hand[0].strip("-") if man.islower() == pawn.islower()]
        for man in held:
            planes[who(man) + "hand " + man.upper()] += planes["board"] / 2
        planes[who(pawn) + "due"] += planes["board"] * (int(losses) - board["entries"] + len(held)) / 2
    planes["repetition"] += planes["board"] * (repetitions > 1)
    planes["halfmove clock"] += planes["board"] * int(clocks[0]) / 100
    turned = lambda plane: np.vstack([plane[: board["ranks"]][::-1], plane[board["ranks"] :]]) if side == "b" else plane
    return {name: turned(plane) for name, plane in planes.items()}

def square(board, name, side="w"):
    rank = int(name[1:]) - board["first_rank"]
    return board["ranks"] - 1 - rank if side == "b" else rank, ord(name[0]) - ord("a")

def place(meta, planes, fen, move):
    """Row, cell and kind in the policy of a move as `falconzero moves` writes it: e2e4, f1i1, f1g1/j1, b7b8q or F@e1."""
    board, policy, side = json.loads(meta["board"]), json.loads(meta["policy"]), fen.split()[1]
    start, goal, role, partner = re.fullmatch(r"(.@|[a-j]\d+)([a-j]\d+)([a-z]?)/?(.*)", move).groups()
    rank, to = square(board, goal, side)
    if "@" in start:
        return policy["cells"] + policy["hand"].index(start[0]), rank * board["files"] + to, 0
    (row, file), kind = square(board, start, side), f"promotion {role.upper()}" if role else "plain"
    if partner or planes["own K"][row, file] and abs(to - file) > 1:  # castling has its partner's square for a row
        men = sum(planes[name] for name in planes if re.fullmatch("own .", name))[row]
        beyond = range(to, board["files"]) if to > file else range(to, -1, -1)
        file, kind = square(board, partner, side)[1] if partner else next(f for f in beyond if men[f]), "castling"
    return row * board["files"] + file, rank * board["files"] + to, policy["kinds"].index(kind)

def main(net, fen):
    session = onnxruntime.InferenceSession(net)
    meta = session.get_modelmeta().custom_metadata_map
    command = ["falconzero", "moves", "--variant", "/dev/stdin", "--fen", fen]
    legal = subprocess.run(command, input=meta["variant_toml"], text=True, stdout=subprocess.PIPE)
    legal.returncode and sys.exit(legal.returncode)  # a FEN that is wrong: falconzero has told
    moves = legal.stdout.split() or sys.exit("the game is over: there is no legal move")
    planes = encode(meta, fen)
    policy, wdl, plies = session.run(None, {"/input/planes": np.stack(list(planes.values()))[None]})
    best = max(moves, key=lambda move: policy[0][place(meta, planes, fen, move)])
    print(best, "win %.3f draw %.3f loss %.3f, %.0f plies left" % (*wdl[0], plies[0, 0]))

if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) == 3 else sys.exit(__doc__)
