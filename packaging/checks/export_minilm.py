# SPDX-License-Identifier: Apache-2.0
"""Exports MiniLM with PyTorch, as its users do, and tokens of real text to run it on.

usage: export_minilm.py MODEL OUT

MODEL is the folder of ./dev's MiniLM. Writes OUT/model.onnx, with batch and length open, and
OUT/tokens.npz.
"""
import pathlib
import sys

import numpy as np
import torch
from transformers import BertModel, BertTokenizer, logging

TEXTS = [
    "The engine runs a graph on whatever hardware is there.",
    "Un moteur exécute un graphe sur le matériel présent.",
    "Rain fell on the harbour all night, and in the morning the boats were gone.",
    "matmul(2x3, 3x2)",
]


def main():
    logging.set_verbosity_error()  # the pooler is left out on purpose
    source, out = map(pathlib.Path, sys.argv[1:])
    model = BertModel.from_pretrained(source, add_pooling_layer=False).eval()
    tokens = dict(BertTokenizer.from_pretrained(source)(TEXTS, padding=True, return_tensors="pt"))
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "batch", 1: "sequence"} for name in [*names, "last_hidden_state"]}
    torch.onnx.export(
        model, tuple(tokens[name] for name in names), out / "model.onnx", input_names=names,
        output_names=["last_hidden_state"], dynamic_axes=axes, opset_version=16,
    )
    np.savez(out / "tokens.npz", **{name: tokens[name].numpy() for name in names})


main()
