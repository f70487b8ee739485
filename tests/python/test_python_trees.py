# SPDX-License-Identifier: Apache-2.0
"""ONNX-ML on the fast provider and on the records, beside onnxruntime: random trees, columns, categories."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from python_testing import assert_same

import sardonyx

POSTS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
ROUGH = {"PROBIT": 5e-4}  # onnxruntime computes it in float32, where its differences cancel
FEATURES = 5


class Trees:
    """The node lists of random trees; `speak` gives the (target, weight) pairs of a leaf of a tree."""

    def __init__(self, random, count: int, depth: int, speak, modes=("BRANCH_LEQ",), nan=False) -> None:
        self.random, self.speak, self.modes, self.nan = random, speak, modes, nan
        names = "treeids nodeids featureids values modes truenodeids falsenodeids missing_value_tracks_true"
        self.nodes = {f"nodes_{name}": [] for name in names.split()}
        self.weights: list[tuple[int, int, int, float]] = []
        for tree in range(count):
            self.next = 0
            self.grow(tree, depth)

    def grow(self, tree: int, depth: int) -> int:
        me, self.next = self.next, self.next + 1
        leaf = depth == 0 or self.random.random() < 0.15
        at = len(self.nodes["nodes_nodeids"])
        row = (tree, me, int(self.random.integers(FEATURES)), float(self.random.integers(-3, 4)) / 2)
        mode = "LEAF" if leaf else str(self.random.choice(self.modes))
        tracks = int(self.nan and not leaf and self.random.random() < 0.5)
        for name, value in zip(self.nodes, (*row, mode, 0, 0, tracks), strict=True):
            self.nodes[name].append(value)
        if leaf:
            self.weights += [(tree, me, target, weight) for target, weight in self.speak(tree)]
            return me
        self.nodes["nodes_truenodeids"][at] = self.grow(tree, depth - 1)
        self.nodes["nodes_falsenodeids"][at] = self.grow(tree, depth - 1)
        return me

    def attributes(self, prefix: str) -> dict:
        tree, node, target, weight = (list(column) for column in zip(*self.weights, strict=True))
        names = ("treeids", "nodeids", "ids", "weights")
        return self.nodes | {
            f"{prefix}_{name}": column
            for name, column in zip(names, (tree, node, target, weight), strict=True)
        }


def info(name: str, elem: int, shape) -> object:
    return helper.make_tensor_value_info(name, elem, shape)


def model(op: str, attributes: dict, inputs: list, outputs: list, version: int = 3) -> bytes:
    names = [[v.name for v in values] for values in (inputs, outputs)]
    node = helper.make_node(op, *names, domain="ai.onnx.ml", **attributes)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", version)]
    graph = helper.make_graph([node], "g", inputs, outputs)
    return helper.make_model(graph, ir_version=9, opset_imports=opsets).SerializeToString()


def rows(random, count: int) -> np.ndarray:
    """Numbers that often equal a threshold, and some that are missing."""
    x = (random.integers(-8, 9, (count, FEATURES)) / 4).astype(np.float32)
    x[random.random(x.shape) < 0.05] = np.nan
    return x


def compare(source: bytes, feeds: dict, rtol: float = 2e-6, atol: float = 2e-7, peer: bool = True) -> None:
    """Both providers agree to the bit, and with onnxruntime unless it leaves some of its result unwritten."""
    session = sardonyx.InferenceSession(source, providers=["cpu"])
    assert [step["provider"] for step in session.explain()["steps"]] == ["cpu"]
    ours = session.run(None, feeds)
    for got, record in zip(
        ours, sardonyx.InferenceSession(source, providers=["reference"]).run(None, feeds), strict=True
    ):
        if isinstance(record, np.ndarray):
            np.testing.assert_array_equal(got, record, strict=True)
        else:
            assert_same(got, record, 0)
    if not peer:
        return
    expected = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"]).run(None, feeds)
    for got, wanted in zip(ours, expected, strict=True):
        if isinstance(wanted, np.ndarray) and wanted.dtype == np.float32:
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol)
        else:
            assert_same(got, wanted, 0)


def classifier(trees: Trees, labels, post: str, base=None) -> bytes:
    attributes = trees.attributes("class") | {"post_transform": post}
    text = isinstance(labels[0], str)
    attributes["classlabels_strings" if text else "classlabels_int64s"] = labels
    if base is not None:
        attributes["base_values"] = base
    label = info("y", TensorProto.STRING if text else TensorProto.INT64, ["n"])
    scores = info("z", TensorProto.FLOAT, ["n", len(labels)])
    return model("TreeEnsembleClassifier", attributes, [info("x", 1, ["n", FEATURES])], [label, scores])


@pytest.mark.parametrize("post", POSTS)
@pytest.mark.parametrize("labels", [[7, 3, 5], ["a", "b", "c", "d"]], ids=["numbers", "texts"])
@pytest.mark.parametrize("leaves", ["all", "some", "one", "signed"])
def test_many_classes(post, labels, leaves):
    random = np.random.default_rng(len(post) * 7 + len(leaves))
    n = len(labels)

    def speak(tree):
        low = -1.0 if leaves == "signed" else 0.01
        chosen = [tree % n] if leaves == "one" else range(n)
        kept = [k for k in chosen if leaves in ("all", "one") or random.random() < 0.7]
        return [(k, float(np.float32(random.uniform(low, 0.12)))) for k in kept or [0]]

    for base in (None, [0.25, 0.5, 0.125, 0.375][:n]):
        source = classifier(Trees(random, 7, 4, speak), labels, post, base)
        compare(source, {"x": rows(random, 150)}, atol=ROUGH.get(post, 2e-7))


@pytest.mark.parametrize("post", POSTS)
@pytest.mark.parametrize("labels", [[7, 3], ["no", "yes"]], ids=["numbers", "texts"])
@pytest.mark.parametrize("leaves", ["first", "second", "both", "mixed"])
@pytest.mark.parametrize("low", [0.01, -0.5])
def test_two_classes(post, labels, leaves, low):
    random = np.random.default_rng(len(post) + 3 * len(leaves))
    chosen = {"first": [0], "second": [1], "both": [0, 1]}

    def speak(tree):
        targets = chosen.get(leaves) or [int(random.integers(2))]
        return [(k, float(np.float32(random.uniform(low, 0.2)))) for k in targets]

    for base in (None, [0.125], [0.25, 0.0625]):
        source = classifier(Trees(random, 5, 3, speak), labels, post, base)
        # With scores for one class alone onnxruntime's PROBIT writes one, and with mixed leaves NONE and SOFTMAX do.
        peer = leaves != "mixed" and (leaves, post) != ("first", "PROBIT")
        compare(source, {"x": rows(random, 70)}, atol=ROUGH.get(post, 2e-7), peer=peer)


def test_ties_of_votes():
    """Five votes of 0.1f are one half and no more when float32 adds them."""
    random = np.random.default_rng(1)
    source = classifier(
        Trees(random, 10, 1, lambda _: [(1, float(random.choice([0.1, 0.0])))]), [0, 1], "NONE"
    )
    compare(source, {"x": rows(random, 200)})


@pytest.mark.parametrize("modes", [("BRANCH_LEQ",), ("BRANCH_LT", "BRANCH_GTE"), ("BRANCH_EQ", "BRANCH_NEQ")])
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 3])
def test_regressor(modes, aggregate, targets):
    random = np.random.default_rng(targets)

    def speak(_):
        return [(k, float(np.float32(random.normal()))) for k in range(targets)]

    for post, base in (("NONE", None), ("LOGISTIC", [0.5] * targets)):
        trees = Trees(random, 6, 4, speak, modes, nan=True)
        attributes = trees.attributes("target") | {"n_targets": targets, "post_transform": post}
        attributes["aggregate_function"] = aggregate
        if base:
            attributes["base_values"] = base
        x, y = info("x", 1, ["n", FEATURES]), info("y", 1, ["n", targets])
        compare(model("TreeEnsembleRegressor", attributes, [x], [y]), {"x": rows(random, 90)})


STUMP = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_values": [0.5, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "target_treeids": [0, 0],
    "target_nodeids": [1, 2],
    "target_ids": [0, 0],
    "target_weights": [1.0, 2.0],
    "n_targets": 1,
}


def stump(targets: int = 1, **changes) -> bytes:
    """One split, with some of its attributes changed, or left out where they are None."""
    attributes = {name: value for name, value in (STUMP | changes).items() if value is not None}
    x, y = info("x", 1, ["n", FEATURES]), info("y", 1, ["n", targets])
    return model("TreeEnsembleRegressor", attributes, [x], [y])


@pytest.mark.parametrize("mode", ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ"])
@pytest.mark.parametrize("missing", [None, [1, 0, 0]], ids=["test", "tracked"])
def test_thresholds_at_the_edge(mode, missing):
    edges = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 3.4e38, -3.4e38, 1.0]
    x = np.repeat(np.array(edges, np.float32)[:, None], FEATURES, 1)
    for threshold in edges:
        source = stump(
            nodes_modes=[f"BRANCH_{mode}", "LEAF", "LEAF"],
            nodes_values=[threshold, 0.0, 0.0],
            nodes_missing_value_tracks_true=missing,
        )
        compare(source, {"x": x})


def test_no_rows():
    compare(stump(), {"x": np.zeros((0, FEATURES), np.float32)})


@pytest.mark.parametrize(
    "changes",
    [
        {"nodes_nodeids": [0, 1, 1], "nodes_falsenodeids": [1, 0, 0], "target_nodeids": [1, 1]},
        {"nodes_truenodeids": [0, 0, 0], "nodes_falsenodeids": [0, 0, 0]},  # a loop, and no root
        {"nodes_truenodeids": [7, 0, 0]},
        {"nodes_featureids": [-1, 0, 0]},
        {"nodes_featureids": [2**31, 0, 0]},
        {"nodes_featureids": [FEATURES, 0, 0]},
        {"nodes_modes": ["BRANCH_X", "LEAF", "LEAF"]},
        {"nodes_values": [0.5, 0.0]},
        {"target_ids": [-1, 0]},
        {"target_ids": [2**40, 0]},
        {"target_nodeids": [1, 7]},
        {"target_weights": [1.0]},
        {"base_values": [0.5, 0.25]},
        {"aggregate_function": "MEDIAN"},
        {"post_transform": "ARGMAX"},
        {name: None for name in STUMP if name.startswith("nodes")},
    ],
    ids=lambda changes: " ".join(changes)[:40],
)
@pytest.mark.parametrize("provider", ["cpu", "reference"])
def test_bad_tables(changes, provider):
    with pytest.raises(Exception, match=r"."):
        session = sardonyx.InferenceSession(stump(**changes), providers=[provider])
        session.run(None, {"x": np.zeros((2, FEATURES), np.float32)})


def test_loop_below_the_root():
    nodes = {
        "nodes_treeids": [0] * 4,
        "nodes_nodeids": [0, 1, 2, 3],
        "nodes_featureids": [0] * 4,
        "nodes_values": [0.5] * 4,
        "nodes_modes": ["BRANCH_LEQ"] * 3 + ["LEAF"],
        "nodes_truenodeids": [1, 2, 1, 0],
        "nodes_falsenodeids": [3, 3, 3, 0],
        "target_nodeids": [3, 3],
    }
    with pytest.raises(Exception, match="loop"):
        sardonyx.InferenceSession(stump(**nodes), providers=["cpu"])


def test_trees_that_share_nodes():
    """Many roots over one chain are refused before they fill the memory."""
    chain, roots = 400, 400
    n = roots + chain + 1
    leaf = n - 1
    nodes = {
        "nodes_treeids": [0] * n,
        "nodes_nodeids": list(range(n)),
        "nodes_featureids": [0] * n,
        "nodes_values": [0.5] * n,
        "nodes_modes": ["BRANCH_LEQ"] * leaf + ["LEAF"],
        "nodes_truenodeids": [roots] * roots + [min(k + 1, leaf) for k in range(roots, leaf)] + [0],
        "nodes_falsenodeids": [leaf] * leaf + [0],
        "target_treeids": [0],
        "target_nodeids": [leaf],
        "target_ids": [0],
        "target_weights": [1.0],
    }
    x = np.zeros((1, FEATURES), np.float32)
    compare(stump(**nodes), {"x": x}, peer=False)  # one tree has one root
    tree = {
        "n_targets": 1,
        "tree_roots": list(range(roots)),
        "nodes_splits": helper.make_tensor("s", 1, [leaf], np.zeros(leaf, np.float32)),
        "nodes_featureids": [0] * leaf,
        "nodes_modes": helper.make_tensor("m", TensorProto.UINT8, [leaf], np.zeros(leaf, np.uint8)),
        "nodes_truenodeids": [roots] * roots + [k + 1 for k in range(roots, leaf - 1)] + [0],
        "nodes_trueleafs": [0] * (leaf - 1) + [1],
        "nodes_falsenodeids": [0] * leaf,
        "nodes_falseleafs": [1] * leaf,
        "leaf_targetids": [0],
        "leaf_weights": helper.make_tensor("w", 1, [1], np.ones(1, np.float32)),
    }
    source = model("TreeEnsemble", tree, [info("x", 1, ["n", FEATURES])], [info("y", 1, ["n", 1])], version=5)
    with pytest.raises(Exception, match="share"):
        sardonyx.InferenceSession(source, providers=["cpu"])


def test_second_root_of_a_tree_is_not_reached():
    nodes = {
        "nodes_treeids": [0] * 4,
        "nodes_nodeids": [0, 1, 2, 3],
        "nodes_featureids": [0] * 4,
        "nodes_values": [0.5] * 4,
        "nodes_modes": ["BRANCH_LEQ"] + ["LEAF"] * 3,
        "nodes_truenodeids": [1, 0, 0, 0],
        "nodes_falsenodeids": [2, 0, 0, 0],
        "target_treeids": [0] * 3,
        "target_nodeids": [1, 2, 3],
        "target_ids": [0] * 3,
        "target_weights": [1.0, 2.0, 4.0],
    }
    compare(stump(**nodes), {"x": rows(np.random.default_rng(0), 20)})


def test_ids_of_any_size():
    low, high = -(2**63), 2**63 - 1
    nodes = {
        "nodes_nodeids": [2**62, low, high],
        "nodes_truenodeids": [low, 0, 0],
        "nodes_falsenodeids": [high, 0, 0],
        "target_nodeids": [low, high],
        "nodes_treeids": [high] * 3,
        "target_treeids": [high] * 2,
    }
    x = rows(np.random.default_rng(0), 20)
    got = sardonyx.InferenceSession(stump(**nodes), providers=["cpu"]).run(None, {"x": x})
    np.testing.assert_array_equal(got, onnxruntime.InferenceSession(stump()).run(None, {"x": x}))


@pytest.mark.parametrize("rows_", [1, 9, 63, 64, 200])
def test_deep_trees(rows_):
    random = np.random.default_rng(rows_)
    trees = Trees(random, 4, 12, lambda _: [(0, float(np.float32(random.normal())))])
    x, y = info("x", 1, ["n", FEATURES]), info("y", 1, ["n", 1])
    source = model("TreeEnsembleRegressor", trees.attributes("target") | {"n_targets": 1}, [x], [y])
    compare(source, {"x": rows(random, rows_)})


def test_tree_ensemble_with_members():
    modes = np.array([0, 6, 1], np.uint8)
    attributes = {
        "n_targets": 2,
        "aggregate_function": 1,
        "post_transform": 0,
        "tree_roots": [0],
        "nodes_splits": helper.make_tensor("s", 1, [3], np.array([0.5, 0, -0.5], np.float32)),
        "nodes_featureids": [0, 1, 2],
        "nodes_modes": helper.make_tensor("m", TensorProto.UINT8, [3], modes),
        "nodes_truenodeids": [1, 0, 2],
        "nodes_trueleafs": [0, 1, 1],
        "nodes_falsenodeids": [2, 1, 3],
        "nodes_falseleafs": [0, 1, 1],
        "leaf_targetids": [0, 1, 0, 1],
        "leaf_weights": helper.make_tensor("w", 1, [4], np.array([1.5, -2.25, 0.125, 4], np.float32)),
        "membership_values": helper.make_tensor("v", 1, [3], np.array([1, 2, np.nan], np.float32)),
    }
    x, y = info("x", 1, ["n", FEATURES]), info("y", 1, ["n", 2])
    source = model("TreeEnsemble", attributes, [x], [y], version=5)
    compare(source, {"x": np.nan_to_num(rows(np.random.default_rng(0), 40))})


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_columns(dtype):
    random = np.random.default_rng(3)
    x = (random.integers(-9, 10, (17, 4)) / (1 if dtype in (np.int64, np.int32) else 4)).astype(dtype)
    elem = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    one, out = info("x", elem, ["n", 4]), info("y", 1, ["n", 4])
    scaler = {"offset": [0.5, 1.0, -1.0, 2.0], "scale": [0.1, 2.0, 3.0, -0.7]}
    compare(model("Scaler", scaler, [one], [out]), {"x": x}, 1e-6)
    compare(model("Scaler", {"offset": [0.5], "scale": [0.3]}, [one], [out]), {"x": x}, 1e-6)
    two = info("x2", elem, ["n", 2])
    wide = model("FeatureVectorizer", {"inputdimensions": [4, 2]}, [one, two], [info("y", 1, ["n", 6])])
    compare(wide, {"x": x, "x2": x[:, :2].copy()})


def test_float_columns():
    x = rows(np.random.default_rng(4), 30)
    one, out = info("x", 1, ["n", FEATURES]), info("y", 1, ["n", FEATURES])
    fills = [1.5, -2.0, 0.25, 8.0, 3.0]
    compare(
        model("Imputer", {"imputed_value_floats": fills, "replaced_value_float": float("nan")}, [one], [out]),
        {"x": x},
    )
    compare(
        model("Imputer", {"imputed_value_floats": [9.0], "replaced_value_float": 0.25}, [one], [out]),
        {"x": x},
    )
    x = np.nan_to_num(x)
    compare(model("Binarizer", {"threshold": 0.25}, [one], [out]), {"x": x})
    for norm in ("MAX", "L1", "L2"):
        compare(model("Normalizer", {"norm": norm}, [one], [out]), {"x": np.abs(x)})
    picks = info("k", 7, ["m"])
    source = model("ArrayFeatureExtractor", {}, [one, picks], [info("y", 1, ["n", "m"])])
    compare(source, {"x": x, "k": np.array([3, 0, 3], np.int64)})


WORDS = ["", "a", "bb", "ccc", "Évora", "a longer word", "a longer wort", "one of more than sixteen letters"]


def test_texts():
    random = np.random.default_rng(5)
    x = random.choice([*WORDS, "never seen"], (40, 2)).astype(object)
    one = info("x", TensorProto.STRING, ["n", 2])
    hot = {"cats_strings": WORDS, "zeros": 1}
    compare(model("OneHotEncoder", hot, [one], [info("y", 1, ["n", 2, len(WORDS)])]), {"x": x})
    with pytest.raises(Exception, match="never seen"):
        source = model("OneHotEncoder", hot | {"zeros": 0}, [one], [info("y", 1, ["n", 2, len(WORDS)])])
        sardonyx.InferenceSession(source).run(None, {"x": x})
    numbers = {"keys_strings": WORDS, "values_int64s": list(range(8)), "default_int64": -5}
    compare(model("LabelEncoder", numbers, [one], [info("y", 7, ["n", 2])]), {"x": x})
    texts = {"keys_strings": WORDS, "values_strings": WORDS[::-1], "default_string": "?"}
    compare(model("LabelEncoder", texts, [one], [info("y", 8, ["n", 2])]), {"x": x})
    picks = info("k", 7, ["m"])
    source = model("ArrayFeatureExtractor", {}, [one, picks], [info("y", 8, ["n", "m"])])
    compare(source, {"x": x, "k": np.array([1, 1, 0], np.int64)})


def test_equal_categories():
    x = np.array([["a"], ["b"], ["z"]], object)
    y = info("y", 1, ["n", 1, 3])
    hot = model(
        "OneHotEncoder", {"cats_strings": ["a", "b", "a"]}, [info("x", TensorProto.STRING, ["n", 1])], [y]
    )
    compare(hot, {"x": x})
    hot = model("OneHotEncoder", {"cats_int64s": [1, 2, 1]}, [info("x", 7, ["n", 1])], [y])
    compare(hot, {"x": np.array([[1], [2], [5]])})


def test_numbers_as_categories():
    random = np.random.default_rng(6)
    x = random.integers(-3, 9, (50, 1))
    hot = model(
        "OneHotEncoder", {"cats_int64s": [5, -1, 2, 8]}, [info("x", 7, ["n", 1])], [info("y", 1, ["n", 1, 4])]
    )
    compare(hot, {"x": x})
    labels = {"keys_int64s": [5, -1, 2], "values_strings": ["five", "minus", "two"]}
    compare(model("LabelEncoder", labels, [info("x", 7, ["n", 1])], [info("y", 8, ["n", 1])]), {"x": x})
    floats = {
        "keys_floats": [0.0, 1.5, -3.0],
        "values_floats": [-1.0, 2.0, 3.0],
        "default_float": 9.0,
    }
    x = np.array([[-0.0, 1.5, -3.0, 7.0]], np.float32)
    compare(model("LabelEncoder", floats, [info("x", 1, ["n", 4])], [info("y", 1, ["n", 4])]), {"x": x})


@pytest.mark.parametrize("labels", [[9, 1, 4], ["z", "y", "x"]], ids=["numbers", "texts"])
def test_zip_map(labels):
    text = isinstance(labels[0], str)
    key = TensorProto.STRING if text else TensorProto.INT64
    kind = helper.make_sequence_type_proto(
        helper.make_map_type_proto(key, helper.make_tensor_type_proto(1, []))
    )
    attributes = {"classlabels_strings" if text else "classlabels_int64s": labels}
    source = model("ZipMap", attributes, [info("x", 1, ["n", 3])], [helper.make_value_info("y", kind)])
    compare(source, {"x": np.random.default_rng(7).random((20, 3), np.float32)})
