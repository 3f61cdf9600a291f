"""The sources of the data sets of the benchmark, and the preparation of their tables.

The preparation is that of the authors: nominal features are one-hot coded without their first level
and put behind the numeric ones, nothing is scaled, and rows are in the order of the source.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Source:
    """The source of one data set.

    `openml` is the id at OpenML, `url` a file elsewhere, and `member` the file inside it if it is
    an archive. `target` names the raw column to predict, `drop` columns to leave out, and `nominal`
    those to encode. `sha256` is that of the float64 bytes of X, then y. If the prepared table
    cannot be reproduced bit for bit, the `first` targets and their `mean` are checked instead.
    """

    n: int
    d: int
    target: str
    openml: int | None = None
    url: str = ""
    member: str = ""
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    step: str = ""
    sha256: str = ""
    first: tuple[float, ...] = ()
    mean: float | None = None
    note: str = ""

    @property
    def origin(self) -> str:
        return f"OpenML {self.openml}" if self.openml else self.url

    @property
    def short_origin(self) -> str:
        if self.url.startswith(UCI):
            return f"UCI {self.url.removeprefix(UCI).split('/')[1]}"
        return self.origin if self.openml else self.url.split("/")[2]


UCI = "https://archive.ics.uci.edu/static/public"

SOURCES = {
    "ailerons": Source(
        13_750,
        40,
        "goal",
        openml=296,
        sha256="0549939331e98ed0c2cba43586322faafaab0f4a85f011674f0f65e5b84a5e0e",
    ),
    "airfoil": Source(
        1_503,
        5,
        "scaled-sound-pressure",
        url=f"{UCI}/291/airfoil+self+noise.zip",
        member="airfoil_self_noise.dat",
        columns=(
            "frequency",
            "attack-angle",
            "chord-length",
            "free-stream-velocity",
            "suction-side-displacement-thickness",
            "scaled-sound-pressure",
        ),
        sha256="c81f5682ec4c6190b48a305ece2e5fab6906f8fbb87f007a2a85fc2e6902d9d2",
    ),
    "allstate": Source(
        5_000,
        1_037,
        "loss",
        openml=42571,
        step="allstate",
        first=(1674.06, 2828.00, 1347.37),
        mean=3076.792562,
        note="competition terms; 5,000 rows drawn, levels of the whole table",
    ),
    "ca_housing": Source(
        20_640,
        8,
        "median_value",
        url="https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.tgz",
        member="CaliforniaHousing/cal_housing.data",
        columns=(
            "lon",
            "lat",
            "med_age",
            "total_rooms",
            "total_beds",
            "population",
            "households",
            "med_income",
            "median_value",
        ),
        sha256="a0e1a69ae03f410bfab76b316bf93c32152bdd4c43df6efe37d24661ad660f7b",
        note="raw totals, not the ratios of scikit-learn's loader",
    ),
    "computer": Source(
        8_192,
        21,
        "usr",
        openml=197,
        sha256="07c20ac5e4d24a97a533354dd5b215f3973b38cf6bb99982f416f74addeea695",
    ),
    "concrete": Source(
        1_030,
        8,
        "strength",
        url=f"{UCI}/165/concrete+compressive+strength.zip",
        member="Concrete_Data.xls",
        columns=(
            "Cement",
            "Blast Furnace Slag",
            "Fly Ash",
            "Water",
            "Superplasticizer",
            "Coarse Aggregate",
            "Fine Aggregate",
            "Age",
            "strength",
        ),
        step="two_decimals",
        sha256="95cb952ae1ade7d55b866083620d52d512ccc12cabf2d5b48f19e558ffce6fd3",
        note="target rounded to 2 decimals",
    ),
    "elevator": Source(
        16_599,
        18,
        "Goal",
        openml=216,
        sha256="6eeb3569ac2d7ba89b4b6be7d5f9ae32e7fe349e1033d2673dcd0b22bd7c9025",
    ),
    "energy_efficiency": Source(
        768,
        10,
        "Y1",
        url=f"{UCI}/242/energy+efficiency.zip",
        member="ENB2012_data.xlsx",
        drop=("Y2",),
        nominal=("X6",),
        sha256="5579ee6ae2a268b6fc71151a474c0596af1bbed246946ea4bfb0d9f9f60a9cbe",
    ),
    "insurance": Source(
        1_338,
        8,
        "charges",
        url="https://raw.githubusercontent.com/stedy/Machine-Learning-with-R-datasets/master/insurance.csv",
        nominal=("sex", "smoker", "region"),
        sha256="db9799bff9b90fdb1b3da386d1a483639dd332e6a76a20a82da36372518ac68c",
    ),
    "kin8nm": Source(
        8_192,
        8,
        "y",
        openml=189,
        sha256="62724b272be0bfde5e0518c43da7800caae1373d3a39a2ff69890921152b54d5",
    ),
    "miami_housing": Source(
        13_932,
        28,
        "SALE_PRC",
        openml=43093,
        drop=("PARCELNO",),
        nominal=("avno60plus", "month_sold", "structure_quality"),
        sha256="f5a986538479ea460bdcd74c9b9d16b4e1da6eb99286d943f20d929d74207075",
    ),
    "naval_propulsion": Source(
        11_934,
        24,
        "fuel_flow",
        url=f"{UCI}/316/condition+based+maintenance+of+naval+propulsion+plants.zip",
        member="UCI CBM Dataset/data.txt",
        columns=(
            "Lever_position",
            "Ship_speed",
            "Gas_Turbine_shaft_torque",
            "Gas_Turbine_rate_of_revolutions",
            "Gas_Generator_rate_of_revolutions",
            "Starboard_Propeller_Torque",
            "Port_Propeller_Torque",
            "HP_Turbine_exit_temperature",
            "GT_Compressor_inlet_air_temperature",
            "GT_Compressor_outlet_air_temperature",
            "HP_Turbine_exit_pressure",
            "GT_Compressor_inlet_air_pressure",
            "GT_Compressor_outlet_air_pressure",
            "Gas_Turbine_exhaust_gas_pressure",
            "Turbine_Injection_Control",
            "fuel_flow",
            "GT_Compressor_decay_state_coefficient",
            "GT_Turbine_decay_state_coefficient",
        ),
        nominal=("Ship_speed",),
        sha256="4b30be588ced255e43a3d842a016052ac2bda843aea6baddb030410a3ec2aa69",
    ),
    "parkinsons": Source(
        5_875,
        18,
        "total_UPDRS",
        url=f"{UCI}/189/parkinsons+telemonitoring.zip",
        member="parkinsons_updrs.data",
        drop=("subject#", "test_time", "motor_UPDRS"),
        nominal=("sex",),
        sha256="106bcefe8d3997104b6a124ac0f40f61895212b62ff2119520b2d56c494cce62",
    ),
    "powerplant": Source(
        9_568,
        4,
        "PE",
        url=f"{UCI}/294/combined+cycle+power+plant.zip",
        member="CCPP/Folds5x2_pp.xlsx",
        sha256="0e03496b0bb2b04e39e6256ccffa3f0df2b9aed20a664437b8f1cb8022b6b70b",
    ),
    "qsar": Source(
        5_742,
        500,
        "MEDIAN_PXC50",
        openml=3050,
        step="qsar",
        first=(7.409, 8.0, 5.0),
        mean=6.237024208,
        note="the 500 columns of largest variance",
    ),
    "sulfur": Source(
        10_081,
        5,
        "y1",
        openml=23515,
        drop=("y2",),
        sha256="b30412d13eab9ccd926fa55cb0b991596bd5673d1cd6d8b44e4befe1c9d5d91c",
    ),
    "superconductor": Source(
        21_263,
        79,
        "criticaltemp",
        openml=44148,
        sha256="e9a768d2b326406b23af2ac93bc69d7d6c5eed854486e248c4fe3128d6d475b6",
        first=(29.0, 26.0, 19.0),
        mean=34.421219135,
        note="features recomputed to 12 digits have this sum; a download differs in the last bits",
    ),
    "diamond": Source(
        53_940,
        23,
        "price",
        openml=42225,
        nominal=("cut", "color", "clarity"),
        sha256="7985456a2dd9f9c64876be2947dd3b89903a0fb702d51ae45a73dcded1c304bc",
        note="prepared by the authors, left out of the paper",
    ),
}

PAPER_SETS = tuple(name for name in SOURCES if name != "diamond")


def fingerprint(X: np.ndarray, y: np.ndarray) -> str:
    """Return the sha256 of the float64 bytes of X, row by row, then of y."""
    digest = hashlib.sha256(np.ascontiguousarray(X, np.float64).tobytes())
    digest.update(np.ascontiguousarray(y, np.float64).tobytes())
    return digest.hexdigest()


def difference(source: Source, X: np.ndarray, y: np.ndarray) -> str:
    """Say what differs from the table of the paper's authors; return "" if nothing does."""
    if X.shape != (source.n, source.d):
        return f"it has {X.shape[0]} rows and {X.shape[1]} features, not {source.n} and {source.d}"
    if source.sha256 and fingerprint(X, y) == source.sha256:
        return ""
    if not source.first:
        return "its values (sha256) are not those of the table the paper used"
    if not np.allclose(y[: len(source.first)], source.first, rtol=1e-9):
        return f"its first targets are {y[: len(source.first)].tolist()}, not {source.first}"
    if not np.isclose(y.mean(), source.mean, rtol=1e-8):
        return f"its mean target is {y.mean():.10g}, not {source.mean:.10g}"
    return ""
