"""Where classes live now that files of earlier versions know under another name."""

from __future__ import annotations

# Old module -> new module, for modules that moved whole.
MOVED_MODULES = {
    "clearbands.aleatoric": "clearbands.aleatoric.residual",
    "clearbands.answering": "clearbands.answers.answering",
    "clearbands.answers": "clearbands.answers.answers",
    "clearbands.calibration": "clearbands.calibration.calibrators",
    "clearbands.cells": "clearbands.diagnostics.coverage",
    "clearbands.chunks": "clearbands.rows.chunks",
    "clearbands.class_labels": "clearbands.targets.classes",
    "clearbands.class_logits": "clearbands.classes.logits",
    "clearbands.class_members": "clearbands.classes.members",
    "clearbands.class_metrics": "clearbands.classes.metrics",
    "clearbands.class_predictions": "clearbands.classes.predictions",
    "clearbands.class_uncertainty": "clearbands.classes.uncertainty",
    "clearbands.columns": "clearbands.tables.columns",
    "clearbands.conformal": "clearbands.calibration.conformal",
    "clearbands.crossfit": "clearbands.diagnostics.conditional",
    "clearbands.diagnosis": "clearbands.diagnostics.diagnosis",
    "clearbands.diagnostics": "clearbands.diagnostics.dependence",
    "clearbands.display": "clearbands.words.display",
    "clearbands.encoding": "clearbands.tables.encoder",
    "clearbands.epistemic.versions": "clearbands.epistemic.prepared",
    "clearbands.epistemic.virtual": "clearbands.epistemic.catboost",
    "clearbands.extrapolation": "clearbands.new_rows.extrapolation",
    "clearbands.familiarity": "clearbands.new_rows.familiarity",
    "clearbands.features": "clearbands.tables.features",
    "clearbands.gaussian_network": "clearbands.aleatoric.gaussian",
    "clearbands.glossary": "clearbands.words.glossary",
    "clearbands.hashing": "clearbands.rows.hashing",
    "clearbands.importance": "clearbands.diagnostics.importance",
    "clearbands.labelling": "clearbands.new_rows.labelling",
    "clearbands.lambda_loss": "clearbands.calibration.lambda_path",
    "clearbands.lambda_search": "clearbands.calibration.lambda_search",
    "clearbands.ngboost_aleatoric": "clearbands.aleatoric.ngboost",
    "clearbands.partitions": "clearbands.scaling.partitions",
    "clearbands.predictions": "clearbands.answers.predictions",
    "clearbands.questions": "clearbands.answers.questions",
    "clearbands.recency": "clearbands.rows.recency",
    "clearbands.shift": "clearbands.new_rows.shift",
    "clearbands.simultaneous": "clearbands.aleatoric.simultaneous",
    "clearbands.split": "clearbands.rows.split",
    "clearbands.support": "clearbands.targets.support",
    "clearbands.target_transform": "clearbands.targets.transform",
    "clearbands.targets": "clearbands.targets.targets",
    "clearbands.time_order": "clearbands.rows.time_order",
    "clearbands.uacqr": "clearbands.baselines.uacqr",
    "clearbands.updating": "clearbands.answers.updating",
    "clearbands.weighting": "clearbands.rows.weighting",
    "clearbands.words": "clearbands.words.numbers",
}
# Old module.class -> new module.class, where they went apart or changed their name.
MOVED_CLASSES = {
    "clearbands.baselines.BootstrappedCQR": "clearbands.baselines.cqr.BootstrappedCQR",
    "clearbands.baselines.CQR": "clearbands.baselines.cqr.CQR",
    "clearbands.baselines.NaiveConformal": "clearbands.baselines.split_conformal.NaiveConformal",
    "clearbands.baselines.PCSIntervals": "clearbands.baselines.split_conformal.PCSIntervals",
    "clearbands.baselines.ResidualCQR": "clearbands.baselines.cqr.ResidualCQR",
    "clearbands.baselines._BaggedQuantiles": "clearbands.baselines.cqr._BaggedQuantiles",
    "clearbands.calibration.AdditiveCalibrator": (
        "clearbands.calibration.additive.AdditiveCalibrator"
    ),
    "clearbands.uacqr.MemberRankCalibrator": (
        "clearbands.calibration.member_rank.MemberRankCalibrator"
    ),
}


def new_home(module: str, name: str) -> tuple[str, str]:
    """Module and class of today for those of a file; unchanged where nothing moved."""
    moved = MOVED_CLASSES.get(f"{module}.{name}")
    if moved is not None:
        home, _, name = moved.rpartition(".")
        return home, name
    return MOVED_MODULES.get(module, module), name
