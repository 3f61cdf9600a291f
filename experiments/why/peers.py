"""Noise and ignorance of other methods on the named simulations; rows are written as they come.

CatBoost's virtual ensembles (Malinin, Prokhorenkova and Ustimenko 2021), a deep ensemble
(Lakshminarayanan, Pritzel and Blundell 2017) and stochtree's BART with a variance forest. Each says
how much of its variance comes from the data and how much from the model. Together they make normal
intervals of 90 %, whose share of ignorance is compared with 1 - true noise / their width.

usage: python -m experiments why peers [--seeds 0] [--peers catboost "deep ensemble" BART]
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from experiments import results
from experiments.why.tables import SIMULATIONS, simulate

RESULTS = results.FOLDER / "why_peers.csv"
COLUMNS = ["peer", "table", "seed", "rows", "share", "true", "noise", "true_noise", "seconds"]
TEST_ROWS, LEVEL = 2_000, 0.9
REACH = 2 * float(ndtri((1 + LEVEL) / 2))
N_NETWORKS, EPOCHS, HIDDEN = 5, 200, 64


class Variances(NamedTuple):
    """The variances (n,) that come from the data and from the model."""

    data: np.ndarray
    model: np.ndarray


def catboost(X: np.ndarray, y: np.ndarray, new: np.ndarray, seed: int) -> Variances:
    from catboost import CatBoostRegressor

    settings = {"loss_function": "RMSEWithUncertainty", "posterior_sampling": True}
    model = CatBoostRegressor(**settings, random_seed=seed, thread_count=1, verbose=False)
    model.fit(X, y)
    predicted = model.virtual_ensembles_predict(
        new, prediction_type="TotalUncertainty", virtual_ensembles_count=10, thread_count=1
    )
    return Variances(predicted[:, 2], predicted[:, 1])


def deep_ensemble(X: np.ndarray, y: np.ndarray, new: np.ndarray, seed: int) -> Variances:
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    center, unit = X.mean(axis=0), X.std(axis=0) + 1e-12
    inputs, wanted = (torch.tensor((each - center) / unit).float() for each in (X, new))
    target = torch.tensor((y - y.mean()) / y.std()).float()
    means, variances = [], []
    for _ in range(N_NETWORKS):
        network = torch.nn.Sequential(
            torch.nn.Linear(X.shape[1], HIDDEN), torch.nn.ReLU(),
            torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 2),
        )  # fmt: skip
        optimizer = torch.optim.Adam(network.parameters(), lr=3e-3, weight_decay=1e-4)
        for _ in range(EPOCHS):
            for some in torch.randperm(len(y)).split(64):
                mean, logs = network(inputs[some]).T
                variance = torch.nn.functional.softplus(logs) + 1e-4
                loss = torch.nn.functional.gaussian_nll_loss(mean, target[some], variance)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        with torch.no_grad():
            mean, logs = network(wanted).T
            means.append(mean.numpy())
            variances.append(torch.nn.functional.softplus(logs).numpy() + 1e-4)
    scale = y.std() ** 2
    return Variances(scale * np.mean(variances, axis=0), scale * np.var(means, axis=0))


def bart(X: np.ndarray, y: np.ndarray, new: np.ndarray, seed: int) -> Variances:
    from stochtree import BARTModel

    model = BARTModel()
    model.sample(
        X_train=X, y_train=y, X_test=new, num_gfr=10, num_burnin=100, num_mcmc=200,
        general_params={"random_seed": seed, "num_threads": 1},
        variance_forest_params={"num_trees": 20},
    )  # fmt: skip
    return Variances(model.sigma2_x_test.mean(axis=1), model.y_hat_test.var(axis=1))


PEERS: dict[str, Callable[..., Variances]] = {
    "catboost": catboost,
    "deep ensemble": deep_ensemble,
    "BART": bart,
}


def compare(peer: str, name: str, n: int, seed: int) -> dict[str, float]:
    rows, y = simulate(name, n + TEST_ROWS, seed)
    start = time.process_time()
    data, model = PEERS[peer](rows.X[:n], y[:n], rows.X[n:], seed)
    seconds = time.process_time() - start
    noise, width = (REACH * float(np.sqrt(each).mean()) for each in (data, data + model))
    true_noise = REACH * float(rows.sd[n:].mean())
    return {
        "share": 1 - noise / width,
        "true": 1 - true_noise / width,
        "noise": noise,
        "true_noise": true_noise,
        "seconds": seconds,
    }


def add_command(commands: Any) -> None:
    help_ = "the shares of others on the named simulations"
    parser = commands.add_parser("peers", help=help_, description=help_)
    parser.add_argument("--file", type=Path, default=RESULTS)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> int:
    known = set()
    if args.file.exists():
        there = pd.read_csv(args.file)
        known = set(zip(there.peer, there.table, there.seed, there.rows, strict=True))
    with args.file.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not known:
            writer.writeheader()
        for peer, seed, name, n in product(args.peers, args.seeds, SIMULATIONS, (300, 1200)):
            if (peer, name, seed, n) not in known:
                values = compare(peer, name, n, seed)
                key = {"peer": peer, "table": name, "seed": seed, "rows": n}
                writer.writerow(key | {k: float(f"{v:.4g}") for k, v in values.items()})
                file.flush()
    rows = pd.read_csv(args.file)
    rows["off"], rows["noise_off"] = (
        (rows.share - rows.true).abs(),
        np.log(rows.noise / rows.true_noise).abs(),
    )
    print(rows.groupby(["peer", "rows"])[["off", "noise_off", "seconds"]].mean().round(3))
    return 0
