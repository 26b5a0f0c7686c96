"""Stands in for a wide & deep training script, at the path and with the flags that its manifest names. The training is muster-trainer's,
which finds its peers through the same MS_* variables; results lie beside this file."""
import argparse
import os
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("--device_target", choices=["CPU", "GPU", "Ascend"], required=True)
parser.add_argument("--epochs", type=int, required=True)
parser.add_argument("--data_path", required=True)
parser.add_argument("--batch_size", type=int, required=True)
flags = parser.parse_args()

batch = min(flags.batch_size, 64)  # the data is made up and small
results = pathlib.Path(__file__).parent / "results"
os.execvp("muster-trainer", ["muster-trainer", "--epochs", str(flags.epochs), "--batch", str(batch), "--checkpoint-dir", str(results)])
