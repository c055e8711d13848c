#!/usr/bin/env python3
"""Hold exported nets in onnxruntime against our own evaluator, and the encoder and moves' places of play_onnx.py against our own.

    pip install onnx onnxruntime numpy
    cargo run --release -p model --example onnx_samples -- FOLDER
    python3 scripts/check_onnx.py FOLDER
"""
import json
import pathlib
import struct
import sys

import numpy as np
import onnx
import onnxruntime

import play_onnx

TOLERANCE = 1e-4


def read_safetensors(path):
    """Tensors by name."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    types = {"F32": np.float32, "I64": np.int64}
    tensors = {}
    for name, about in json.loads(data[8:8 + length]).items():
        start, end = (8 + length + offset for offset in about["data_offsets"])
        tensors[name] = np.frombuffer(data[start:end], types[about["dtype"]]).reshape(about["shape"])
    return tensors


def check(path):
    """The greatest differences of one net, by output, and of the encoder."""
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path))
    meta = session.get_modelmeta().custom_metadata_map
    samples = read_safetensors(path.with_suffix(".samples.safetensors"))
    lines = path.with_suffix(".fens").read_text().splitlines()
    encoded, places = [], []
    for number, line in enumerate(lines):
        fen, repetitions, moves = line.split("|")
        planes = play_onnx.encode(meta, fen, int(repetitions))
        encoded.append(np.stack(list(planes.values())))
        places += [(number, *play_onnx.place(meta, planes, fen, move)) for move in moves.split()]
    outputs = [[], [], []]
    for first in range(0, len(lines), 37):  # batches of different sizes
        batch = samples["planes"][first:first + 37]
        for parts, part in zip(outputs, session.run(None, {"/input/planes": batch})):
            parts.append(part)
    policy, wdl, moves_left = (np.concatenate(parts) for parts in outputs)
    found = np.ravel_multi_index(np.array(places).T, policy.shape)
    return {
        "places": (found != samples["policy_place"]).mean(),
        "encoder": np.abs(np.stack(encoded) - samples["planes"]).max(),
        "policy": np.abs(policy.reshape(-1)[samples["policy_place"]] - samples["policy_value"]).max(),
        "wdl": np.abs(wdl - samples["wdl"]).max(),
        "moves_left": np.abs(moves_left / samples["moves_left"] - 1).max(),
    }


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    paths = sorted(pathlib.Path(sys.argv[1]).glob("*.onnx"))
    failed = not paths
    for path in paths:
        differences = check(path)
        failed |= any(not difference <= TOLERANCE for difference in differences.values())
        print(f"{path.stem:26}", "  ".join(f"{name} {value:.1e}" for name, value in differences.items()))
    print("differences are too large" if failed else f"all within {TOLERANCE}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
