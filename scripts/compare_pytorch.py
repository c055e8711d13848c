#!/usr/bin/env python3
"""Races PyTorch and falconzero on the same nets, by turns, on this machine's CPU.

    cargo build --release && pip install torch
    python3 scripts/compare_pytorch.py --sizes small medium --threads 1 2 --rounds 3

Each round measures every way of both programs one after the other, a few seconds each, so that whatever else
the machine does slows down both; the best round of each counts. PyTorch runs the same network (same board, planes, blocks,
global pooling and heads) eagerly and through torch.compile, contiguous and channels last, in float32 and bfloat16, and
all its policy logits are computed; falconzero also encodes the positions and computes the legal moves' logits from them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

SIZES = {"tiny": (2, 16), "small": (4, 32), "medium": (6, 64), "large": (10, 128)}
POLICY_DIM, VALUE_CHANNELS, VALUE_HIDDEN = 32, 32, 64
LEGAL_MOVES = 48  # picked from all logits in a training step, about as many as a position has


def build_net(shape, blocks, channels):
    import torch
    import torch.nn.functional as F
    from torch import nn

    class ConvNorm(nn.Sequential):
        def __init__(self, inputs, outputs):
            super().__init__(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs))

    def pool(x):
        return torch.cat([x.mean(dim=(2, 3)), x.amax(dim=(2, 3))], 1)

    class Block(nn.Module):
        def __init__(self, pools):
            super().__init__()
            self.first, self.second = ConvNorm(channels, channels), ConvNorm(channels, channels)
            self.pooling = nn.Linear(2 * channels, channels) if pools else None

        def forward(self, x):
            y = self.first(x)
            if self.pooling is not None:
                y = y + self.pooling(pool(F.relu(y)))[:, :, None, None]
            return F.relu(self.second(F.relu(y)) + x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = ConvNorm(shape["planes"], channels)
            self.blocks = nn.Sequential(*[Block(i % 2 == 1) for i in range(blocks)])
            self.query, self.key = nn.Conv2d(channels, POLICY_DIM, 1), nn.Conv2d(channels, POLICY_DIM, 1)
            self.kind = nn.Conv2d(channels, shape["kinds"], 1)
            self.value = nn.Conv2d(channels, VALUE_CHANNELS, 1)
            self.hidden = nn.Linear(2 * VALUE_CHANNELS, VALUE_HIDDEN)
            self.outputs = nn.Linear(VALUE_HIDDEN, 4)

        def forward(self, x):
            x = self.blocks(F.relu(self.stem(x)))
            query, key = self.query(x).flatten(2), self.key(x).flatten(2)
            qk = torch.matmul(query.transpose(1, 2), key) / POLICY_DIM**0.5
            value = F.relu(self.hidden(pool(F.relu(self.value(x)))))
            return qk, self.kind(x).flatten(2), self.outputs(value)

    torch.manual_seed(1)
    return Net()


def rate(step, count, seconds):
    """Things per second by the median step; `step` handles `count` of them."""
    for _ in range(3):
        step()
    times, begun = [], time.perf_counter()
    while time.perf_counter() - begun < seconds or len(times) < 5:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return count / statistics.median(times)


class PyTorchWay:
    """One way to run the net with PyTorch, prepared (and compiled) once."""

    def __init__(self, task, shape, size, compiled, bf16, channels_last=True):
        self.task, self.bf16 = task, bf16
        self.name = f"{'compiled' if compiled else 'eager'} {'bf16' if bf16 else 'f32'}"
        self.name += "" if channels_last else " contiguous"
        self.shape, self.channels_last, self.compiled = shape, channels_last, compiled
        self.net = self.layout(build_net(shape, *SIZES[size]))
        self.net = self.net.train() if task == "training" else self.net.eval()

    def layout(self, x):
        import torch
        return x.to(memory_format=torch.channels_last) if self.channels_last else x

    def prepare(self, batch):
        import torch
        import torch._inductor.config as inductor
        torch._dynamo.reset()
        inductor.freezing = self.task == "inference"
        planes = self.layout(torch.rand(batch, self.shape["planes"], self.shape["ranks"], self.shape["files"]))
        forward = self.inference(planes) if self.task == "inference" else self.training(planes)
        return forward

    def inference(self, planes):
        import torch
        net = self.net
        if self.bf16:
            net, planes = build_like(net, torch.bfloat16), planes.to(torch.bfloat16)
        net = torch.compile(net) if self.compiled else net

        def step():
            with torch.inference_mode():
                return net(planes)

        return step

    def training(self, planes):
        import torch
        import torch.nn.functional as F
        batch, cells = planes.shape[0], self.shape["ranks"] * self.shape["files"]
        moves = torch.randint(cells * cells, (batch, LEGAL_MOVES))
        kinds = torch.randint(self.shape["kinds"] * cells, (batch, LEGAL_MOVES))
        policy = torch.softmax(torch.randn(batch, LEGAL_MOVES), 1)
        wdl = torch.softmax(torch.randn(batch, 3), 1)
        optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-3, fused=True)
        net = torch.compile(self.net) if self.compiled else self.net

        def step():
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=self.bf16):
                qk, kind, out = net(planes)
            logits = qk.float().flatten(1).gather(1, moves) + kind.float().flatten(1).gather(1, kinds)
            out = out.float()
            loss = -(F.log_softmax(logits, 1) * policy).sum(1).mean() - (F.log_softmax(out[:, :3], 1) * wdl).sum(1).mean()
            loss = loss + F.huber_loss(F.softplus(out[:, 3]), torch.ones(batch))
            loss.backward()
            optimizer.step()

        return step


def build_like(net, dtype):
    import copy
    return copy.deepcopy(net).to(dtype)


def pytorch_worker(request):
    """Measures PyTorch in a process of its own: thread counts cannot be changed well within one."""
    import torch
    torch.set_num_threads(request["threads"])
    ways = [(True, True, True), (True, False, True), (False, True, True), (False, False, True), (False, False, False)]
    for compiled, bf16, channels_last in ways:
        way = PyTorchWay(request["task"], request["shape"], request["size"], compiled, bf16, channels_last)
        for batch in request["batches"]:
            try:
                speed = rate(way.prepare(batch), batch, request["seconds"])
            except Exception as error:  # a way that this build of PyTorch lacks must not end the race
                print(f"{way.name}: {str(error).splitlines()[0][:120]}", file=sys.stderr)
                break
            print(json.dumps({"way": f"PyTorch {way.name}", "batch": batch, "rate": speed}), flush=True)


def run_pytorch(request):
    environment = dict(os.environ, OMP_NUM_THREADS=str(request["threads"]))
    command = [sys.executable, __file__, "--worker", json.dumps(request)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_program(args, request):
    command = [args.program, "bench", "--only", request["task"], "--variant", args.variant, "--size", request["size"],
               "--threads", str(request["threads"]), "--seconds", str(request["seconds"]),
               "--batches", ",".join(map(str, request["batches"]))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def race(args, request):
    """The best rate of each way and batch over all rounds."""
    best = {}
    for _ in range(args.rounds):
        ours = run_program(args, request)
        request["shape"] = ours["shape"]
        for result in [{**result, "way": f"falconzero {result['way']}"} for result in ours["results"]] + run_pytorch(request):
            key = (result["way"], result["batch"])
            best[key] = max(best.get(key, 0.0), result["rate"])
    return best


def report(request, best):
    unit = "positions/s" if request["task"] == "inference" else "samples/s"
    print(f"\n{request['task']}, net {request['size']}, {request['threads']} threads: {unit} (ratio to PyTorch's best)")
    for batch in request["batches"]:
        rates = {way: rate for (way, size), rate in best.items() if size == batch}
        reference = max((rate for way, rate in rates.items() if way.startswith("PyTorch")), default=float("nan"))
        for way, value in sorted(rates.items(), key=lambda item: -item[1]):
            print(f"  batch {batch:4}  {way:32} {value:10.0f}  {value / reference:6.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/falconzero")
    parser.add_argument("--variant", default="falcon")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["small", "medium"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--tasks", nargs="+", choices=["inference", "training"], default=["inference", "training"])
    parser.add_argument("--batches", nargs="+", type=int, default=[64, 256])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each measurement of a round")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return pytorch_worker(json.loads(args.worker))
    for task in args.tasks:
        for size in args.sizes:
            for threads in args.threads:
                request = {"task": task, "size": size, "threads": threads, "batches": args.batches, "seconds": args.seconds}
                report(request, race(args, request))


if __name__ == "__main__":
    main()
