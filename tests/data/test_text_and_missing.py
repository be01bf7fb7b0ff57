from __future__ import annotations

import numpy as np
import pytest

from tdi_plugin.data.labels import class_names, encode, tidy
from tdi_plugin.data.missing import valid_part
from tdi_plugin.data.text import read_text
from tdi_plugin.errors import DataError, OptionError

NAN = float("nan")


@pytest.mark.parametrize(
    "text",
    ["2\t1.5\t-3\n-1\t4\t5e-1\n", "2,1.5,-3\n-1,4,0.5\n", "  2.0000e+00  1.5  -3\n -1.0  4  0.5\n\n"],
    ids=["tabs", "commas", "blanks"],
)
def test_three_separators_read_alike(tmp_path, text):
    path = tmp_path / "a.tsv"
    path.write_text(text)
    values, labels = read_text(path)
    assert labels == ["2", "-1"]
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values[..., 0], np.float32([[1.5, -3], [4, 0.5]]))


def test_ragged_rows_and_marks_of_absence_become_nan(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a\t1\t2\t3\nb\t1\t?\nc\t1\t\tNaN\n")
    values, labels = read_text(path)
    assert labels == ["a", "b", "c"]
    np.testing.assert_array_equal(values[..., 0], [[1, 2, 3], [1, NAN, NAN], [1, NAN, NAN]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("\n \n", "it is empty"),
        ("1\t2\t3\n7\n", "line 2.*no values"),
        ("1\t2\tabc\n", "line 1, column 3: 'abc'"),
        ("1\t2\n1\t--\n", "line 2, column 2: '--'"),
    ],
)
def test_bad_text_says_where(tmp_path, text, message):
    path = tmp_path / "bad.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_text(path)


def test_binary_file_is_no_text(tmp_path):
    path = tmp_path / "bad.tsv"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(DataError, match="is not text"):
        read_text(path)


def test_label_names_and_their_order():
    assert [tidy(s) for s in ["1.0", " 2.0000000e+00", "-1", "0.5", "'walk'", "1a"]] == [
        "1",
        "2",
        "-1",
        "0.5",
        "walk",
        "1a",
    ]
    assert class_names(["10", "2"], ["-1"]) == ("-1", "2", "10")
    assert class_names(["b", "2", "a"]) == ("2", "a", "b")
    assert encode(["b", "a", "b"], ("a", "b")).tolist() == [1, 0, 1]


def test_nan_at_the_end_is_length():
    x = np.float32([[1, 2, 3], [1, 2, NAN], [1, NAN, NAN]])[..., None]
    values, lengths = valid_part(x, "file")
    assert lengths.tolist() == [3, 2, 1]
    np.testing.assert_array_equal(values[..., 0], [[1, 2, 3], [1, 2, 0], [1, 0, 0]])


def test_full_series_are_passed_on_without_a_copy():
    x = np.zeros((1000, 3, 1), np.float32)
    values, lengths = valid_part(x, "file")
    assert values is x
    assert lengths is None


def test_gap_is_an_error_until_interpolation_is_asked_for():
    x = np.float32([[1, 2, 3, 4, 5], [NAN, 2, NAN, NAN, 5]])[..., None]
    with pytest.raises(
        DataError, match=r"1 of 2 series have missing values.*series 1\. Give missing=interpolate"
    ):
        valid_part(x, "file")
    values, lengths = valid_part(x, "file", "interpolate")
    assert lengths is None
    np.testing.assert_allclose(values[1, :, 0], [2, 2, 3, 4, 5])
    assert np.isnan(x[1, 0, 0]), "the input must stay as it was"


def test_one_channel_that_ends_early_has_a_gap():
    x = np.float32([[[1, 1], [2, 2], [3, NAN], [NAN, NAN]]])
    with pytest.raises(DataError, match="missing values"):
        valid_part(x, "file")
    values, lengths = valid_part(x, "file", "interpolate")
    assert lengths.tolist() == [3]
    np.testing.assert_array_equal(values[0], [[1, 1], [2, 2], [3, 2], [0, 0]])


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ([[1, np.inf]], "series 0 holds an infinite value"),
        ([[1, 2], [NAN, NAN]], "series 1 has no value at all"),
    ],
)
@pytest.mark.parametrize("rule", ["error", "interpolate"])
def test_beyond_repair(series, message, rule):
    with pytest.raises(DataError, match=message):
        valid_part(np.float32(series)[..., None], "file", rule)


def test_empty_channel_cannot_be_interpolated():
    with pytest.raises(DataError, match="a channel of series 0"):
        valid_part(np.float32([[[1, NAN], [2, NAN]]]), "file", "interpolate")


def test_unknown_rule():
    with pytest.raises(OptionError, match="did you mean 'interpolate'"):
        valid_part(np.zeros((1, 1, 1), np.float32), "file", "interpolat")
