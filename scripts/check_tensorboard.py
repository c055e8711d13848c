#!/usr/bin/env python3
"""Reads a run's TensorBoard files with TensorBoard's own reader and checks that the curves are there and finite.

    pip install tensorboard
    python3 scripts/check_tensorboard.py runs/falcon-quick/tensorboard
"""

import math
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

NEEDED = [
    "train/policy_loss", "train/value_loss", "train/moves_left_loss", "train/policy_kl", "train/learning_rate",
    "holdout/policy_loss", "holdout/value_loss", "holdout/value_loss_of_constant", "holdout/calibration_error",
    "games/plies", "games/draws", "games/white_wins", "games/black_wins", "games/steps_behind",
    "speed/evaluations_per_second", "speed/training_steps_per_second", "replay/window", "arena/elo_above_untrained",
]


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
    events.Reload()
    tags = events.Tags()["scalars"]
    faults = [f"{tag} is missing" for tag in NEEDED if tag not in tags]
    for tag in tags:
        points = events.Scalars(tag)
        if not all(math.isfinite(point.value) for point in points):
            faults.append(f"{tag} has values that are not finite")
        print(f"{tag:36} {len(points):5} points, {points[0].value:10.4g} -> {points[-1].value:10.4g}")
    for fault in faults:
        print("error:", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
