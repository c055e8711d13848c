#!/usr/bin/env python3
"""Draws a run's curves (strength, losses, calibration) as an SVG for documents.

    pip install tensorboard matplotlib
    python3 scripts/plot_run.py runs/falcon-quick/tensorboard docs/falcon-run.svg
"""

import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def curve(events, tag):
    """Steps and values of a scalar, empty if the run has none."""
    if tag not in events.Tags()["scalars"]:
        return [], []
    points = events.Scalars(tag)
    return [point.step for point in points], [point.value for point in points]


def draw_strength(axes, events):
    steps, elo = curve(events, "arena/elo_above_untrained")
    _, error = curve(events, "arena/elo_error")
    _, above_greedy = curve(events, "arena/elo_above_greedy")
    axes.plot(steps, elo, color="tab:blue", label="net")
    axes.fill_between(steps, [e - d for e, d in zip(elo, error)], [e + d for e, d in zip(elo, error)],
                      color="tab:blue", alpha=0.2, linewidth=0)
    if above_greedy:
        greedy = elo[-1] - above_greedy[-1]
        axes.axhline(greedy, color="tab:gray", linestyle="--", label="greedy player")
    axes.axhline(0, color="black", linewidth=0.8, label="untrained net")
    axes.set_title("Elo, 95% band")
    axes.legend(frameon=False, fontsize=8)


def draw_losses(axes, events, head, title):
    for tag, label in ((f"train/{head}_loss", "training"), (f"holdout/{head}_loss", "held-out games"),
                       (f"holdout/{head}_loss_of_constant", "constant prediction")):
        steps, values = curve(events, tag)
        if steps:
            axes.plot(steps, values, label=label)
    axes.set_title(title)
    axes.legend(frameon=False, fontsize=8)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
    events.Reload()
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    draw_strength(axes[0], events)
    draw_losses(axes[1], events, "value", "Value loss (nats)")
    draw_losses(axes[2], events, "policy", "Policy loss (nats)")
    for axis in axes:
        axis.set_xlabel("training steps")
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
