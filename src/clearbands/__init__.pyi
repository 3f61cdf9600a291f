import os
from collections.abc import Sequence
from typing import TypeVar, overload

from . import diagnostics as diagnostics
from . import metrics as metrics
from . import plots as plots
from . import scorers as scorers
from .apps.report import Report as Report
from .baselines.cqr import CQR as CQR
from .baselines.cqr import BootstrappedCQR as BootstrappedCQR
from .baselines.cqr import ResidualCQR as ResidualCQR
from .baselines.split_conformal import NaiveConformal as NaiveConformal
from .baselines.split_conformal import PCSIntervals as PCSIntervals
from .baselines.uacqr import UACQRP as UACQRP
from .baselines.uacqr import UACQRS as UACQRS
from .calibration.additive import AdditiveCalibrator as AdditiveCalibrator
from .calibration.any_level import AnyLevel as AnyLevel
from .calibration.calibrators import ClearCalibrator as ClearCalibrator
from .calibration.calibrators import FixedAleatoricCalibrator as FixedAleatoricCalibrator
from .calibration.calibrators import FixedRatioCalibrator as FixedRatioCalibrator
from .calibration.class_calibrator import JointClassCalibrator as JointClassCalibrator
from .calibration.conditional import ConditionalCalibrator as ConditionalCalibrator
from .calibration.conformal import CalibrationWarning as CalibrationWarning
from .calibration.distribution import Distribution as Distribution
from .calibration.groups import GroupCalibrator as GroupCalibrator
from .calibration.lambda_path import PAPER_LAMBDAS as PAPER_LAMBDAS
from .calibration.lambda_path import LambdaPath as LambdaPath
from .calibration.lambda_path import lambda_path as lambda_path
from .calibration.member_rank import MemberRankCalibrator as MemberRankCalibrator
from .calibration.rolling import Pace as Pace
from .calibration.rolling import RefitWarning as RefitWarning
from .calibration.rolling import Rolling as Rolling
from .calibration.shift_weights import ShiftWeights as ShiftWeights
from .classifier import ClearClassifier as ClearClassifier
from .diagnostics.diagnose import diagnose as diagnose
from .diagnostics.diagnosis import Diagnosis as Diagnosis
from .models.boosted_quantiles import BoostedQuantiles as BoostedQuantiles
from .models.forest_quantiles import ForestQuantiles as ForestQuantiles
from .models.gam import ExpectileGAM as ExpectileGAM
from .models.kernel_ridge import KernelRidge as KernelRidge
from .models.linear_quantiles import LinearQuantiles as LinearQuantiles
from .models.mixture import Mixture as Mixture
from .models.network_classifier import NetworkClassifier as NetworkClassifier
from .models.network_quantiles import NetworkQuantiles as NetworkQuantiles
from .models.pools import mean_pool as mean_pool
from .models.pools import quantile_pool as quantile_pool
from .models.quantile_model import QuantileModel as QuantileModel
from .models.random_trees import RandomTrees as RandomTrees
from .models.symmetric_trees import SymmetricTrees as SymmetricTrees
from .models.trees_classifier import SymmetricTreesClassifier as SymmetricTreesClassifier
from .models.trees_on_smooth import TreesOnSmooth as TreesOnSmooth
from .persistence.model_file import ModelFileError as ModelFileError
from .persistence.model_file import load as _load  # noqa: F401  typed below
from .persistence.model_file import save as save
from .prediction.class_uncertainty import ClassUncertainty as ClassUncertainty
from .prediction.forecast import Forecast as Forecast
from .prediction.uncertainty import Uncertainty as Uncertainty
from .prediction.uncertainty import rank_by_epistemic as rank_by_epistemic
from .presets import fast as fast
from .presets import thorough as thorough
from .presets import variant_a as variant_a
from .presets import variant_b as variant_b
from .presets import variant_c as variant_c
from .presets import variant_deep as variant_deep
from .regressor import ClearRegressor as ClearRegressor
from .rows.time_order import TimeOrderWarning as TimeOrderWarning
from .rows.weighting import recency_weights as recency_weights
from .selection.model_search import ModelSearch as ModelSearch
from .tables.encoder import TableEncoder as TableEncoder
from .uncertainty.aleatoric import AleatoricPart as AleatoricPart
from .uncertainty.deep_ensemble import DeepEnsemble as DeepEnsemble
from .uncertainty.epistemic import Ensemble as Ensemble
from .uncertainty.epistemic import EpistemicPart as EpistemicPart
from .uncertainty.folded_bounds import FoldedBounds as FoldedBounds
from .uncertainty.folded_ensemble import FoldedEnsemble as FoldedEnsemble
from .uncertainty.gaussian_network import GaussianNetwork as GaussianNetwork
from .uncertainty.gaussian_process import GaussianProcess as GaussianProcess
from .uncertainty.mc_dropout import MCDropout as MCDropout
from .uncertainty.member_ensemble import CatBoostVirtualEnsemble as CatBoostVirtualEnsemble
from .uncertainty.member_ensemble import MemberEnsemble as MemberEnsemble
from .uncertainty.ngboost_aleatoric import NGBoostAleatoric as NGBoostAleatoric
from .uncertainty.pcs_ensemble import PCSEnsemble as PCSEnsemble
from .uncertainty.residual_quantiles import ResidualQuantiles as ResidualQuantiles
from .uncertainty.scaled_residuals import ScaledResiduals as ScaledResiduals
from .uncertainty.simultaneous_quantiles import SimultaneousQuantiles as SimultaneousQuantiles

__version__: str

Model = TypeVar("Model")

# Here, since files of models stand below the models that they hold.
@overload
def load(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> ClearRegressor: ...
@overload
def load(
    path: str | os.PathLike[str], kind: type[Model], *, trusted: Sequence[str] = ()
) -> Model: ...
