# SPDX-License-Identifier: Apache-2.0
"""Recipes: ai.onnx.ml."""

import numpy as np
from draw import STRING
from recipe import Control, Kit, recipe

ML = "ai.onnx.ml"
POST = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def _table(k: Kit) -> tuple[int, int]:
    return k.d.size(20, 1), k.d.size(9, 1)


def _reals(k: Kit, count: int) -> list[float]:
    return [k.d.real(-2, 2) for _ in range(count)]


@recipe("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(k: Kit):
    shape = k.d.shape(k.d.whole(1, 3), least=1, most=200)
    at = k.d.indices((k.d.whole(1, 5),), shape[-1], negative=False)
    return k.spec([k.values(shape, k.type()), Control(at)])


@recipe("Binarizer", domain=ML)
def binarizer(k: Kit):
    return k.spec([k.values(k.d.shape(), k.type())], k.some(threshold=k.d.real(-1, 1)))


@recipe("Scaler", domain=ML)
def scaler(k: Kit):
    shape = _table(k)
    count = k.d.one(1, shape[1])
    return k.spec(
        [k.values(shape, k.type(), "small")], {"scale": _reals(k, count), "offset": _reals(k, count)}
    )


@recipe("Normalizer", domain=ML)
def normalizer(k: Kit):
    return k.spec([k.values(_table(k), k.type(), "small")], {"norm": k.d.one("MAX", "L1", "L2")})


@recipe("Imputer", domain=ML)
def imputer(k: Kit):
    shape, t = _table(k), k.d.one(np.float32, np.int64)
    x = k.values(shape, t, "small")
    count = k.d.one(1, shape[1])
    if t == np.int64:
        return k.spec(
            [x], {"imputed_value_int64s": [k.d.whole(-9, 9) for _ in range(count)], "replaced_value_int64": 1}
        )
    x.reshape(-1)[0] = np.nan
    return k.spec(
        [x], {"imputed_value_floats": _reals(k, count), "replaced_value_float": k.d.one(float("nan"), 0.5)}
    )


@recipe("LinearRegressor", domain=ML)
def linear_regressor(k: Kit):
    shape, targets = _table(k), k.d.whole(1, 3)
    attrs = {"targets": targets, "coefficients": _reals(k, targets * shape[1])}
    attrs |= k.some(intercepts=_reals(k, targets), post_transform=k.d.of(POST[:3]))
    return k.spec([k.values(shape, k.type(), "small")], attrs)


@recipe("LinearClassifier", domain=ML)
def linear_classifier(k: Kit):
    shape, classes = _table(k), k.d.whole(2, 4)
    attrs = {"coefficients": _reals(k, classes * shape[1]), "intercepts": _reals(k, classes)}
    attrs |= (
        {"classlabels_ints": list(range(classes))}
        if k.d.flag()
        else {"classlabels_strings": [f"c{i}" for i in range(classes)]}
    )
    attrs |= k.some(post_transform=k.d.of(POST[:4]))
    return k.spec([k.values(shape, k.type("T1"), "small")], attrs, 2)


@recipe("LabelEncoder", domain=ML)
def label_encoder(k: Kit):
    keys = {"keys_int64s": [1, 2, 3], "keys_strings": ["a", "cat", ""], "keys_floats": [0.5, 1.0, -1.0]}
    values = {"values_int64s": [7, 8, 9], "values_strings": ["x", "y", "z"], "values_floats": [0.1, 0.2, 0.3]}
    key, value = k.d.of(sorted(keys)), k.d.of(sorted(values))
    if k.version == 1:
        t = k.d.one(np.int64, object)
        return k.spec([k.values(k.d.shape(most=50), t, "small")], {"classes_strings": ["a", "cat", "dog"]})
    t = {"keys_int64s": np.int64, "keys_strings": object, "keys_floats": np.float32}[key]
    return k.spec([k.values(k.d.shape(most=50), t, "small")], {key: keys[key], value: values[value]})


@recipe("OneHotEncoder", domain=ML)
def one_hot_encoder(k: Kit):
    t = k.d.of((np.dtype(np.int64), STRING, np.dtype(np.float32)))
    attrs = {"cats_strings": ["a", "b", "cat"]} if t == STRING else {"cats_int64s": [0, 1, 2, 5]}
    return k.spec([k.values(k.d.shape(most=50), t, "small")], attrs | k.some(zeros=1))


@recipe("CategoryMapper", domain=ML)
def category_mapper(k: Kit):
    t = k.d.one(np.int64, object)
    attrs = {"cats_strings": ["a", "b", "cat"], "cats_int64s": [0, 1, 2]} | k.some(
        default_int64=-7, default_string="?"
    )
    return k.spec([k.values(k.d.shape(most=50), t, "small")], attrs)


@recipe("FeatureVectorizer", domain=ML)
def feature_vectorizer(k: Kit):
    rows, t = k.d.size(9, 1), k.type("T1")
    sizes = [k.d.whole(1, 4) for _ in range(k.d.whole(1, 3))]
    return k.spec([k.values((rows, n), t, "small") for n in sizes], {"inputdimensions": sizes})


def _trees(k: Kit, features: int, leaves: str, classes: int) -> dict:
    """A few full trees of random depth."""
    d = k.d
    ids, trees, feature, value, mode, yes, no, missing = [], [], [], [], [], [], [], []
    out_tree, out_node, out_id, weight = [], [], [], []
    relation = d.one("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "BRANCH_LEQ")
    for tree in range(d.whole(1, 4)):
        depth = d.whole(0, 3)
        inner = 2**depth - 1
        for node in range(2 * inner + 1):
            leaf = node >= inner
            ids.append(node), trees.append(tree)
            feature.append(0 if leaf else d.whole(0, features - 1))
            value.append(0.0 if leaf else d.real(-1, 1))
            mode.append("LEAF" if leaf else relation if d.chance(0.9) else d.one("BRANCH_EQ", "BRANCH_NEQ"))
            yes.append(0 if leaf else 2 * node + 1), no.append(0 if leaf else 2 * node + 2)
            missing.append(d.flag())
            if leaf:
                for c in range(classes) if d.chance(0.5) else [d.whole(0, classes - 1)]:
                    (
                        out_tree.append(tree),
                        out_node.append(node),
                        out_id.append(c),
                        weight.append(d.real(-1, 1)),
                    )
    attrs = {
        "nodes_nodeids": ids, "nodes_treeids": trees, "nodes_featureids": feature, "nodes_values": value, "nodes_modes": mode,
        "nodes_truenodeids": yes, "nodes_falsenodeids": no, f"{leaves}_treeids": out_tree, f"{leaves}_nodeids": out_node,
        f"{leaves}_ids": out_id, f"{leaves}_weights": weight,
    }  # fmt: skip
    if d.chance(0.5):
        attrs["nodes_missing_value_tracks_true"] = missing
    return attrs


@recipe("TreeEnsembleRegressor", domain=ML)
def tree_regressor(k: Kit):
    shape, targets = _table(k), k.d.whole(1, 3)
    attrs = _trees(k, shape[1], "target", targets) | {"n_targets": targets}
    attrs |= k.some(
        aggregate_function=k.d.one("SUM", "AVERAGE", "MIN", "MAX"),
        base_values=_reals(k, targets),
        post_transform=k.d.of(POST[:3]),
    )
    return k.spec([k.values(shape, k.type(), "small")], attrs)


@recipe("TreeEnsembleClassifier", domain=ML)
def tree_classifier(k: Kit):
    shape, classes = _table(k), k.d.whole(2, 4)
    attrs = _trees(k, shape[1], "class", classes)
    attrs |= (
        {"classlabels_int64s": list(range(classes))}
        if k.d.flag()
        else {"classlabels_strings": [f"c{i}" for i in range(classes)]}
    )
    attrs |= k.some(base_values=_reals(k, classes), post_transform=k.d.of(POST[:4]))
    return k.spec([k.values(shape, k.type("T1"), "small")], attrs, 2)


@recipe("SVMRegressor", domain=ML)
def svm_regressor(k: Kit):
    shape, vectors = _table(k), k.d.whole(1, 4)
    attrs = {
        "kernel_type": k.d.one("LINEAR", "POLY", "RBF", "SIGMOID"), "kernel_params": [0.3, 0.5, 2.0], "n_supports": vectors,
        "coefficients": _reals(k, vectors), "support_vectors": _reals(k, vectors * shape[1]), "rho": [k.d.real(-1, 1)],
    }  # fmt: skip
    return k.spec([k.values(shape, k.type(), "small")], attrs)
