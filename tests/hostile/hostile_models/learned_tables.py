# SPDX-License-Identifier: Apache-2.0
"""Trees, support vectors, encoders and text operators whose tables contradict themselves."""

import numpy as np

from .build import case, count, graph, ml, node, ones

X = count(3, 2)


def tree(op="TreeEnsembleRegressor", **changes):
    """One node and two leaves, with changes."""
    table = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_values": [1.0, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
    }
    part = "class" if op.endswith("Classifier") else "target"
    table |= {
        f"{part}_treeids": [0, 0],
        f"{part}_nodeids": [1, 2],
        f"{part}_ids": [0, 1 if part == "class" else 0],
        f"{part}_weights": [1.0, 2.0],
    }
    table |= {"classlabels_int64s": [0, 1]} if part == "class" else {"n_targets": 1}
    return ml(
        op,
        "x",
        "y z" if part == "class" else "y",
        **{k: v for k, v in (table | changes).items() if v is not None},
    )


case("a tree that is right", tree(), {"x": X}, gives=np.array([[1], [2], [2]], np.float32))
for op in ("TreeEnsembleRegressor", "TreeEnsembleClassifier"):
    part = "class" if op.endswith("Classifier") else "target"
    for name, changes in {
        "that is its own child": {"nodes_truenodeids": [0, 0, 0]},
        "whose child is its parent": {
            "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"],
            "nodes_truenodeids": [1, 0, 0],
            "nodes_falsenodeids": [2, 2, 0],
        },
        "whose child does not exist": {"nodes_falsenodeids": [10**12, 0, 0]},
        "whose child is negative": {"nodes_falsenodeids": [-1, 0, 0]},
        "of an unknown mode": {"nodes_modes": ["BRANCH_MAYBE", "LEAF", "LEAF"]},
        "with too few values": {"nodes_values": [1.0]},
        "with too few modes": {"nodes_modes": ["BRANCH_LEQ"]},
        "without nodes": {"nodes_treeids": None},
        "whose nodes have the same id": {"nodes_nodeids": [0, 1, 1]},
        "whose weights have no node": {f"{part}_nodeids": [1, 77]},
        "with too few weights": {f"{part}_weights": [1.0]},
        "whose weights are of no class": {f"{part}_ids": [0, 10**12]},
        "whose weights are of a negative class": {f"{part}_ids": [0, -1]},
    }.items():
        case(f"a {op} {name}", tree(op, **changes), {"x": X}, says=f"'{op}'")
    case(
        f"a {op} that reads column 10^12", tree(op, nodes_featureids=[10**12, 0, 0]), {"x": X}, says=f"'{op}'"
    )
    case(f"a {op} that reads column -1", tree(op, nodes_featureids=[-1, 0, 0]), {"x": X}, says=f"'{op}'")
UNEQUAL = tree(target_ids=[0])
for taken, answer in ((True, {"gives": X}), (False, {"says": "lists of weights have"})):
    case(
        f"a tree that contradicts itself in a branch that {'does not run' if taken else 'runs'}",
        node(
            "If",
            "c",
            then_branch=graph([node("Identity", "x", "t")], [], ["t"]),
            else_branch=graph([UNEQUAL], [], ["y"]),
        ),
        {"x": X, "c": np.array(taken)},
        dims={"x": ["n", "m"]},
        **answer,
    )
case("a tree of 10^12 targets", tree(n_targets=10**12), {"x": X}, says="'TreeEnsembleRegressor'")
case("a tree of 0 targets", tree(n_targets=0), {"x": X}, says="'TreeEnsembleRegressor'")
case(
    "a classifier without classes",
    tree("TreeEnsembleClassifier", classlabels_int64s=None),
    {"x": X},
    says="'TreeEnsembleClassifier'",
)

for name, changes in {
    "with too few vectors": {"support_vectors": [1.0, 2.0, 3.0]},
    "with too few coefficients": {"coefficients": [1.0]},
    "with a negative count": {"vectors_per_class": [-1, 3]},
    "with counts of 10^12": {"vectors_per_class": [10**12, 1]},
    "without rho": {"rho": None},
    "of an unknown kernel": {"kernel_type": "WEIRD"},
    "with a short kernel_params": {"kernel_params": [1.0]},
}.items():
    right = {
        "support_vectors": [1.0, 2.0, 3.0, 4.0],
        "coefficients": [1.0, -1.0],
        "vectors_per_class": [1, 1],
        "rho": [0.5],
        "kernel_type": "RBF",
        "kernel_params": [0.5, 0.0, 3.0],
        "classlabels_ints": [0, 1],
    }
    table = {key: value for key, value in (right | changes).items() if value is not None}
    case(
        f"an SVMClassifier {name}", ml("SVMClassifier", "x", "y z", **table), {"x": X}, says="'SVMClassifier'"
    )
case(
    "an SVMRegressor with more supports than vectors",
    ml("SVMRegressor", n_supports=10**12, support_vectors=[1.0, 2.0], coefficients=[1.0], rho=[0.0]),
    {"x": X},
    says="'SVMRegressor'",
)

INTS = np.array([1, 2, 3], np.int64)
TEXT = np.array(["a b", "c"], object)
case(
    "a LabelEncoder of unequal lists",
    ml("LabelEncoder", keys_int64s=[1, 2], values_int64s=[5]),
    {"x": INTS},
    says="'LabelEncoder'",
)
case(
    "a LabelEncoder without values",
    ml("LabelEncoder", keys_int64s=[1, 2]),
    {"x": INTS},
    says="'LabelEncoder'",
)
case(
    "a LabelEncoder of two kinds of keys",
    ml("LabelEncoder", keys_int64s=[1], keys_strings=["a"], values_int64s=[5]),
    {"x": INTS},
    says="'LabelEncoder'",
)
case(
    "a LinearClassifier with too few coefficients",
    ml("LinearClassifier", "x", "y z", coefficients=[1.0], classlabels_ints=[0, 1]),
    {"x": X},
    says="'LinearClassifier'",
)
case(
    "a LinearRegressor of 10^12 targets",
    ml("LinearRegressor", coefficients=[1.0, 2.0], targets=10**12),
    {"x": X},
    says="'LinearRegressor'",
)
case(
    "a Scaler with three offsets for two columns",
    ml("Scaler", offset=[1.0, 2.0, 3.0], scale=[1.0, 1.0, 1.0]),
    {"x": X},
    says="'Scaler'",
)
case(
    "an Imputer with three values for two columns",
    ml("Imputer", imputed_value_floats=[1.0, 2.0, 3.0]),  # onnxruntime, too, takes the first for all
    {"x": X},
    gives=np.where(X == 0, np.float32(1), X),
)
case(
    "an ArrayFeatureExtractor of column 10^12",
    ml("ArrayFeatureExtractor", "x i"),
    {"x": X, "i": np.array([10**12])},
    says="'ArrayFeatureExtractor'",
)
case(
    "an ArrayFeatureExtractor of column -1",
    ml("ArrayFeatureExtractor", "x i"),
    {"x": X, "i": np.array([-1])},
    says="'ArrayFeatureExtractor'",
)
case("a OneHotEncoder without categories", ml("OneHotEncoder"), {"x": INTS}, says="'OneHotEncoder'")
case(
    "a OneHotEncoder of an unknown category",
    ml("OneHotEncoder", cats_int64s=[1, 2], zeros=0),
    {"x": INTS},
    says="'OneHotEncoder'",
)
case(
    "a FeatureVectorizer with other sizes",
    ml("FeatureVectorizer", "x x", inputdimensions=[2, 10**12]),
    {"x": X},
    says="'FeatureVectorizer'",
)
case("a Normalizer of an unknown norm", ml("Normalizer", norm="L7"), {"x": X}, says="'Normalizer'")
case(
    "a CategoryMapper of unequal lists",
    ml("CategoryMapper", cats_int64s=[1, 2], cats_strings=["a"]),
    {"x": INTS},
    says="'CategoryMapper'",
)


def tfidf(**changes):
    table = {
        "max_gram_length": 1,
        "max_skip_count": 0,
        "min_gram_length": 1,
        "mode": "TF",
        "ngram_counts": [0],
        "ngram_indexes": [0, 1],
        "pool_int64s": [1, 2],
    }
    return node("TfIdfVectorizer", "x", **{k: v for k, v in (table | changes).items() if v is not None})


for name, changes in {
    "whose pools are out of order": {"ngram_counts": [2, 0], "max_gram_length": 2},
    "whose pool starts at 10^12": {"ngram_counts": [0, 10**12], "max_gram_length": 2},
    "whose index is 10^12": {"ngram_indexes": [0, 10**12]},
    "whose index is -1": {"ngram_indexes": [0, -1]},
    "with too few indexes": {"ngram_indexes": [0]},
    "with too few weights": {"weights": [1.0], "mode": "TFIDF"},
    "of an unknown mode": {"mode": "IDFTF"},
    "without a pool": {"pool_int64s": None},
    "of grams of -1": {"min_gram_length": -1},
}.items():
    case(f"a TfIdfVectorizer {name}", tfidf(**changes), {"x": INTS}, says="'TfIdfVectorizer'")
case(
    "a TfIdfVectorizer of grams of 10^12",
    tfidf(max_gram_length=10**12),
    {"x": INTS},
    gives=np.array([1, 1], np.float32),
)
case(
    "a TfIdfVectorizer that skips 10^12",
    tfidf(max_skip_count=10**12),
    {"x": INTS},
    gives=np.array([1, 1], np.float32),
)

case(
    "a StringNormalizer of a weird locale",
    node("StringNormalizer", "x", locale="xx_\x1b[31m", case_change_action="UPPER"),
    {"x": TEXT},
    says="'StringNormalizer'",
    gives=np.array(["A B", "C"], object),
)
case(
    "a StringNormalizer of an unknown case",
    node("StringNormalizer", "x", case_change_action="SIDEWAYS"),
    {"x": TEXT},
    says="'StringNormalizer'",
)
case(
    "a StringNormalizer of three dims",
    node("StringNormalizer", "x"),
    {"x": TEXT.reshape(1, 1, 2)},
    says="'StringNormalizer'",
)
case(
    "a regular expression that is none",
    node("RegexFullMatch", "x", pattern="(["),
    {"x": TEXT},
    says="'RegexFullMatch'",
)
case(
    "a regular expression that explodes",
    node("RegexFullMatch", "x", pattern="(a*)*(a*)*(a*)*b"),
    {"x": np.array(["a" * 20000], object)},
    gives=np.array([False]),
)
case(
    "a regular expression that counts to 10^9",
    node("RegexFullMatch", "x", pattern="((a{1000}){1000}){1000}"),
    {"x": TEXT},
    says="'RegexFullMatch'",
    gives=np.array([False, False]),
)
case(
    "a regular expression of 100,000 brackets",
    node("RegexFullMatch", "x", pattern="(" * 100000 + "a" + ")" * 100000),
    {"x": TEXT},
    says="'RegexFullMatch'",
    gives=np.array([False, False]),
)
case(
    "a StringSplit of -5 parts",
    node("StringSplit", "x", "y n", maxsplit=-5),
    {"x": TEXT},
    gives=[np.array([["a", "b"], ["c", ""]], object), np.array([2, 1])],
)
case(
    "a StringConcat that does not fit",
    node("StringConcat", "x z"),
    {"x": TEXT, "z": np.array(["a", "b", "c"], object)},
    says="'StringConcat'",
    dims={"x": ["n"], "z": ["m"]},
)
case(
    "bytes that are no text",
    node("StringConcat", "x x"),
    {"x": np.array([b"\xff\xfe"], object)},
    says=(),
    gives=np.array(["\udcff\udcfe\udcff\udcfe"], object),
)
case("a ZipMap without labels", ml("ZipMap"), {"x": ones(1, 2)}, says="'ZipMap'")
case(
    "a ZipMap of three labels for two columns",
    ml("ZipMap", classlabels_int64s=[1, 2, 3]),
    {"x": ones(1, 2)},
    says="'ZipMap'",
)
