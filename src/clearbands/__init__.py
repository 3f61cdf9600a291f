"""Prediction intervals you can trust, that say why they are wide.

The public names are loaded on first use: importing the package alone costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearbands import diagnostics as diagnostics
    from clearbands import metrics as metrics
    from clearbands import plots as plots
    from clearbands.aleatoric import ResidualQuantiles as ResidualQuantiles
    from clearbands.baselines import CQR as CQR
    from clearbands.baselines import BootstrappedCQR as BootstrappedCQR
    from clearbands.baselines import NaiveConformal as NaiveConformal
    from clearbands.baselines import PCSIntervals as PCSIntervals
    from clearbands.baselines import ResidualCQR as ResidualCQR
    from clearbands.calibration import AdditiveCalibrator as AdditiveCalibrator
    from clearbands.calibration import ClearCalibrator as ClearCalibrator
    from clearbands.calibration import FixedAleatoricCalibrator as FixedAleatoricCalibrator
    from clearbands.calibration import FixedRatioCalibrator as FixedRatioCalibrator
    from clearbands.conformal import CalibrationWarning as CalibrationWarning
    from clearbands.diagnosis import Diagnosis as Diagnosis
    from clearbands.diagnosis import diagnose as diagnose
    from clearbands.encoding import TableEncoder as TableEncoder
    from clearbands.epistemic.deep import DeepEnsemble as DeepEnsemble
    from clearbands.epistemic.gaussian_process import GaussianProcess as GaussianProcess
    from clearbands.epistemic.mc_dropout import MCDropout as MCDropout
    from clearbands.epistemic.members import MemberEnsemble as MemberEnsemble
    from clearbands.epistemic.pcs import PCSEnsemble as PCSEnsemble
    from clearbands.epistemic.virtual import CatBoostVirtualEnsemble as CatBoostVirtualEnsemble
    from clearbands.gaussian_network import GaussianNetwork as GaussianNetwork
    from clearbands.lambda_loss import LambdaPath as LambdaPath
    from clearbands.lambda_loss import lambda_path as lambda_path
    from clearbands.lambda_search import PAPER_LAMBDAS as PAPER_LAMBDAS
    from clearbands.ngboost_aleatoric import NGBoostAleatoric as NGBoostAleatoric
    from clearbands.persistence import ModelFileError as ModelFileError
    from clearbands.persistence import load as load
    from clearbands.persistence import save as save
    from clearbands.pools import mean_pool as mean_pool
    from clearbands.pools import quantile_pool as quantile_pool
    from clearbands.quantile_models.boosting import BoostedQuantiles as BoostedQuantiles
    from clearbands.quantile_models.forest import ForestQuantiles as ForestQuantiles
    from clearbands.quantile_models.gam import ExpectileGAM as ExpectileGAM
    from clearbands.quantile_models.linear import LinearQuantiles as LinearQuantiles
    from clearbands.quantile_models.network import NetworkQuantiles as NetworkQuantiles
    from clearbands.regressor import ClearRegressor as ClearRegressor
    from clearbands.simultaneous import SimultaneousQuantiles as SimultaneousQuantiles
    from clearbands.uacqr import UACQRP as UACQRP
    from clearbands.uacqr import UACQRS as UACQRS
    from clearbands.uacqr import MemberRankCalibrator as MemberRankCalibrator
    from clearbands.uncertainty import Uncertainty as Uncertainty
    from clearbands.variants import variant_a as variant_a
    from clearbands.variants import variant_b as variant_b
    from clearbands.variants import variant_c as variant_c
    from clearbands.variants import variant_deep as variant_deep

__version__ = "0.1.0"

# In the order data meets them: models, parts, calibration, and what surrounds them.
_HOMES = {
    "ClearRegressor": "regressor",
    "variant_a": "variants",
    "variant_b": "variants",
    "variant_c": "variants",
    "variant_deep": "variants",
    "NaiveConformal": "baselines",
    "CQR": "baselines",
    "BootstrappedCQR": "baselines",
    "ResidualCQR": "baselines",
    "PCSIntervals": "baselines",
    "UACQRS": "uacqr",
    "UACQRP": "uacqr",
    "TableEncoder": "encoding",
    "PCSEnsemble": "epistemic.pcs",
    "MemberEnsemble": "epistemic.members",
    "DeepEnsemble": "epistemic.deep",
    "MCDropout": "epistemic.mc_dropout",
    "GaussianProcess": "epistemic.gaussian_process",
    "CatBoostVirtualEnsemble": "epistemic.virtual",
    "mean_pool": "pools",
    "quantile_pool": "pools",
    "ResidualQuantiles": "aleatoric",
    "SimultaneousQuantiles": "simultaneous",
    "GaussianNetwork": "gaussian_network",
    "NGBoostAleatoric": "ngboost_aleatoric",
    "BoostedQuantiles": "quantile_models.boosting",
    "ForestQuantiles": "quantile_models.forest",
    "ExpectileGAM": "quantile_models.gam",
    "LinearQuantiles": "quantile_models.linear",
    "NetworkQuantiles": "quantile_models.network",
    "ClearCalibrator": "calibration",
    "FixedRatioCalibrator": "calibration",
    "FixedAleatoricCalibrator": "calibration",
    "AdditiveCalibrator": "calibration",
    "MemberRankCalibrator": "uacqr",
    "PAPER_LAMBDAS": "lambda_search",
    "lambda_path": "lambda_loss",
    "LambdaPath": "lambda_loss",
    "CalibrationWarning": "conformal",
    "Uncertainty": "uncertainty",
    "diagnose": "diagnosis",
    "Diagnosis": "diagnosis",
    "save": "persistence",
    "load": "persistence",
    "ModelFileError": "persistence",
}

_MODULES = ("metrics", "diagnostics", "plots")

__all__ = [*_MODULES, *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"clearbands.{name}")
    if name in _HOMES:
        return getattr(import_module(f"clearbands.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'clearbands' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
