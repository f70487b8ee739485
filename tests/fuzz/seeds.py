# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_run: small official cases and stand-in models as ONNX text.

python tests/fuzz/seeds.py, after `make test` has made build/official and build/test_models.
"""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 3000
# Shapes that are made of data, control flow, fusing, layouts, odd types: what has most ways to go wrong.
OFFICIAL = """
adagrad attention_4d attention_4d_with_past_and_present averagepool_2d_ceil basic_conv_with_padding batchnorm_example
cast_FLOAT16_to_FLOAT center_crop_pad_crop clip col2im compress_0 concat_2d_axis_0 constantofshape_int_zeros
convtranspose_group_2 cumsum_1d depthtospace_example dequantizelinear_axis dft dropout_default einsum_batch_matmul
expand_dim_changed flatten_axis1 gather_elements_0 gathernd_example_int32 gemm_all_attributes globalaveragepool
gridsample group_normalization_example gru_defaults hardmax_example if if_seq identity_sequence instancenorm_example
layer_normalization_2d_axis0 logsoftmax_axis_0 loop11 loop13_seq lrn lstm_with_peepholes matmul_3d maxpool_2d_dilations
maxunpool_export_with_output_shape nonmaxsuppression_center_point_box_format nonzero_example onehot_with_axis
optional_get_element_optional_sequence pow prelu_broadcast qlinearconv quantizelinear_axis range_float_type_positive_delta
reduce_sum_do_not_keepdims_example reshape_zero_dim resize_upsample_sizes_nearest reversesequence_batch
rms_normalization_2d_axis0 roialign_aligned_false rotary_embedding scan9_sum scatternd scatter_elements_with_axis
sequence_insert_at_back sequence_map_add_2_sequences shape_start_1_end_2 slice_default_axes softmax_axis_0
spacetodepth_example split_1d_uneven_split_opset18 split_to_sequence_1 squeeze strnormalizer_nostopwords_nochangecase
swish tfidfvectorizer_tf_uniandbigrams_skip5 tile top_k transpose_all_permutations_0 tree_ensemble_single_tree
unique_sorted_with_axis unsqueeze_axis_0 where_example xor3d
""".split()


def main() -> None:
    out = ROOT / "tests" / "fuzz" / "fuzz_run"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    models = [ROOT / "build" / "official" / f"test_{name}" / "model.onnx" for name in OFFICIAL]
    models += sorted((ROOT / "build" / "test_models").glob("*/model.onnx"))
    written = 0
    for model in models:
        if not model.exists() or model.stat().st_size > MOST_BYTES:
            print(f"left out: {model.relative_to(ROOT)}")
            continue
        text = subprocess.run([ROOT / "build" / "sardonyx", "text", model], capture_output=True, text=True)
        if text.returncode == 0 and len(text.stdout) < 2 * MOST_BYTES:
            (out / model.parent.name.removeprefix("test_")).write_text(text.stdout)
            written += 1
    print(f"{written} seeds in {out.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
