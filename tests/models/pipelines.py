# SPDX-License-Identifier: Apache-2.0
"""scikit-learn pipelines through skl2onnx: 4 string and 8 numeric columns, imputer, scaler, one-hot, trees, ZipMap."""

from pathlib import Path

import numpy as np
import onnx
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from net import by_onnxruntime, store

WORDS = {
    "city": ["Aachen", "Bern", "Córdoba", "Delft", "Évora", "Fano"],
    "plan": ["basic", "plus", "gold"],
    "device": ["phone", "tablet", "desktop", "tv"],
    "segment": ["a", "b", "c", "d", "e", "f", "g", "h"],
}
NUMBERS = [f"n{k}" for k in range(8)]


def table(rows: int, seed: int, unknown: bool = False) -> dict[str, np.ndarray]:
    """Columns [rows, 1]: words, and numbers of which one in ten is missing."""
    random = np.random.default_rng(seed)
    columns = {}
    for name, words in WORDS.items():
        choice = random.choice(words + (["never seen"] if unknown else []), (rows, 1))
        columns[name] = choice.astype(object)
    for k, name in enumerate(NUMBERS):
        values = random.normal(k, 1 + k, (rows, 1)).astype(np.float32)
        values[random.random((rows, 1)) < 0.1] = np.nan
        columns[name] = values
    return columns


def target(columns: dict[str, np.ndarray], classes: int) -> np.ndarray:
    """Something that trees can learn from words and numbers together."""
    score = np.nan_to_num(columns["n1"][:, 0]) + 0.4 * np.nan_to_num(columns["n4"][:, 0])
    score += np.where(columns["plan"][:, 0] == "gold", 2.0, 0.0) - np.where(
        columns["city"][:, 0] == "Bern", 1.5, 0.0
    )
    return np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


def fit(classifier, labels, rows: int) -> onnx.ModelProto:
    columns = table(rows, 0)
    matrix = np.hstack([columns[name].astype(object) for name in (*WORDS, *NUMBERS)])
    words, numbers = slice(0, len(WORDS)), slice(len(WORDS), len(WORDS) + len(NUMBERS))
    prepare = ColumnTransformer(
        [
            (
                "numbers",
                Pipeline([("impute", SimpleImputer(strategy="mean")), ("scale", StandardScaler())]),
                numbers,
            ),
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
        ]
    )
    pipeline = Pipeline([("prepare", prepare), ("classify", classifier)])
    pipeline.fit(matrix, labels[target(columns, len(labels))])
    types = [(name, StringTensorType([None, 1])) for name in WORDS]
    types += [(name, FloatTensorType([None, 1])) for name in NUMBERS]
    model = to_onnx(pipeline, initial_types=types, target_opset={"": 18, "ai.onnx.ml": 3})
    # The truth of the trees is scikit-learn's own; onnxruntime only says what float32 makes of it.
    fresh = table(200, 1)
    _, probabilities = by_onnxruntime(model, fresh)
    ours = np.array([list(row.values()) for row in probabilities])
    theirs = pipeline.predict_proba(np.hstack([fresh[name].astype(object) for name in (*WORDS, *NUMBERS)]))
    # A value beside a threshold may fall to the other side in float32: nearly all rows agree.
    assert (np.abs(ours - theirs).max(1) < 1e-5).mean() > 0.98, "skl2onnx and scikit-learn differ"
    return model


def pipeline_forest(folder: Path, full: bool = False) -> None:
    """A random forest of three classes with numbers for labels; 200 trees if `full`."""
    forest = RandomForestClassifier(200 if full else 20, max_depth=6, random_state=0)
    model = fit(forest, np.array([10, 20, 30]), 3000 if full else 600)
    cases = [table(1000, 2)] if full else [table(25, 2), table(1, 3), table(12, 4, unknown=True)]
    store(folder, model, cases, float64=False)


def pipeline_boosting(folder: Path, full: bool = False) -> None:
    """Gradient boosting of two classes with words for labels; 200 trees of depth 6 if `full`."""
    boosting = GradientBoostingClassifier(
        n_estimators=200 if full else 20, max_depth=6 if full else 3, random_state=0
    )
    model = fit(boosting, np.array(["no", "yes"]), 3000 if full else 600)
    cases = [table(1000, 2)] if full else [table(25, 2), table(1, 3)]
    store(folder, model, cases, float64=False)


MODELS = [pipeline_forest, pipeline_boosting]
FULL = [pipeline_forest, pipeline_boosting]
