from __future__ import annotations

import itertools
import random
import statistics

import pytest
import torch

from tdi_plugin.data import ListOps, collate, subset_dataset
from tdi_plugin.data.listops_files import VOCABULARY, generate, read_listops, tokenize, write_listops
from tdi_plugin.data.listops_grammar import expressions, n_tokens, random_expression, source, value
from tdi_plugin.errors import DataError, OptionError

GRAMMAR = {"min_length": 8, "max_length": 60, "max_depth": 5, "max_args": 4}
SIZES = {"n_train": 60, "n_val": 10, "n_test": 10}


def by_stack(tokens: list[str]) -> int:
    """An evaluator of its own: a stack machine over the tokens, no tree."""
    apply = {
        "[MIN": min,
        "[MAX": max,
        "[MED": lambda v: int(statistics.median(v)),
        "[SM": lambda v: sum(v) % 10,
    }
    stack: list[object] = []
    for token in tokens:
        if token == "]":
            arguments = []
            while not isinstance(stack[-1], str):
                arguments.append(stack.pop())
            assert len(arguments) >= 2
            stack.append(apply[stack.pop()](arguments))
        else:
            stack.append(int(token) if token.isdigit() else token)
    (result,) = stack
    return result


def ready(**options) -> ListOps:
    task = ListOps(**options)
    task.setup()
    return task


def test_published_form():
    tree = ("MAX", [2, ("SM", [9, 4, 8]), 0])
    assert source(tree) == "( ( ( ( [MAX 2 ) ( ( ( ( [SM 9 ) 4 ) 8 ) ] ) ) 0 ) ] )"
    assert value(tree) == 2
    assert n_tokens(tree) == 9
    assert source(7) == "7"


@pytest.mark.parametrize(("arguments", "median"), [([1, 2], 1), ([3, 4, 9], 4), ([0, 9, 8, 1], 4)])
def test_median_is_rounded_down(arguments, median):
    assert value(("MED", arguments)) == median


def test_answers_against_a_stack_machine():
    for tree in itertools.islice(expressions(1, **GRAMMAR), 300):
        text = source(tree)
        tokens = text.replace("(", "").replace(")", "").split()
        assert len(tokens) == n_tokens(tree)
        assert 8 <= len(tokens) <= 60
        assert text.count("(") == text.count(")")
        assert by_stack(tokens) == value(tree)


def test_grammar_draws_what_was_published():
    """A quarter of the inner nodes are operators, arguments are uniform on 2..max_args."""
    rng, roots, arguments = random.Random(0), 0, []
    for _ in range(4000):
        tree = random_expression(rng, 2, 5, 1000)
        if not isinstance(tree, int):
            roots += 1
            arguments.append(len(tree[1]))
            assert all(isinstance(argument, int) for argument in tree[1])
    assert abs(roots / 4000 - 0.25) < 5 * (0.25 * 0.75 / 4000) ** 0.5
    assert set(arguments) == {2, 3, 4, 5}
    assert abs(statistics.mean(arguments) - 3.5) < 5 * statistics.stdev(arguments) / len(arguments) ** 0.5


def test_no_expression_twice():
    splits = {split: list(pairs) for split, pairs in generate((200, 50, 50), 0, **GRAMMAR)}
    assert [len(splits[s]) for s in ("train", "val", "test")] == [200, 50, 50]
    assert len({text for pairs in splits.values() for text, _ in pairs}) == 300


def test_full_size_lengths():
    for tree in itertools.islice(expressions(0), 3):
        assert 500 <= n_tokens(tree) <= 2000


def test_write_and_read(tmp_path):
    splits = [(split, list(pairs)) for split, pairs in generate((20, 5, 5), 0, **GRAMMAR)]
    write_listops(tmp_path, splits)
    assert (tmp_path / "basic_train.tsv").read_text().startswith("Source\tTarget\n( ")
    for split, pairs in splits:
        assert list(read_listops(tmp_path / f"basic_{split}.tsv")) == pairs


def test_vocabulary_has_the_published_size_and_no_unknowns():
    assert len(VOCABULARY) == len(set(VOCABULARY)) == 18
    tokens = tokenize("( ( ( [MAX 2 ) 9 ) ] )", 100)
    assert [VOCABULARY[t] for t in tokens] == ["[MAX", "2", "9", "]", "<eos>"]
    assert [VOCABULARY[t] for t in tokenize("( ( ( [MAX 2 ) 9 ) ] )", 3)] == ["[MAX", "2", "<eos>"]
    assert VOCABULARY[tokenize("[AVG", 9)[0]] == "<unk>"


def test_items_from_files_and_from_the_generator(tmp_path):
    write_listops(tmp_path / "listops", generate((60, 10, 10), 4, **GRAMMAR))
    filed, made = ready(data_dir=tmp_path), ready(source="generate", **SIZES, **GRAMMAR, seed=4)
    assert filed.provenance()["sha256"] == made.provenance()["sha256"]
    assert (filed.n_tokens, filed.d_input, filed.d_output, filed.has_lengths) == (18, None, 10, True)
    x, y, length = filed.dataset_train[5]
    assert (x.dtype, y.dtype, len(x)) == (torch.int64, torch.int64, int(length))
    assert by_stack([VOCABULARY[t] for t in x[:-1]]) == int(y)
    assert len(list(filed.dataset_train)) == 60
    assert torch.equal(filed.dataset_train[-1][0], filed.dataset_train[59][0])
    with pytest.raises(IndexError):
        filed.dataset_train[60]
    batch, answers, extras = collate([filed.dataset_train[i] for i in range(8)])
    assert batch.shape == (8, int(extras["lengths"].max()))
    assert (batch[0, extras["lengths"][0] :] == 0).all()
    assert answers.shape == (8,)


def test_subset_of_token_sequences():
    part = subset_dataset(ready(source="generate", **SIZES, **GRAMMAR).dataset_train, 0.5)
    assert len(part) == 30


def test_files_missing(tmp_path):
    with pytest.raises(DataError, match=r"no basic_train\.tsv.*source=generate"):
        ready(data_dir=tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "begins with ''"),
        ("Target\tSource\n", "expected the columns Source and Target"),
        ("Source\tTarget\n( 1 )\t12\n", "line 2"),
        ("Source\tTarget\n1\t1\nnothing\n", "line 3"),
    ],
)
def test_files_of_another_form(tmp_path, text, message):
    (tmp_path / "basic_train.tsv").write_text(text)
    with pytest.raises(DataError, match=message):
        list(read_listops(tmp_path / "basic_train.tsv"))


def test_empty_split(tmp_path):
    write_listops(tmp_path, [(split, []) for split in ("train", "val", "test")])
    with pytest.raises(DataError, match="train set of ListOps has no expression"):
        ready(data_dir=tmp_path)


def test_more_than_the_grammar_has(monkeypatch):
    monkeypatch.setattr("tdi_plugin.data.listops_grammar._PATIENCE", 2000)
    with pytest.raises(OptionError, match="No new expression of 4 to 4 tokens"):
        list(itertools.islice(expressions(0, 4, 4, 2, 2), 401))


@pytest.mark.parametrize("options", [{"min_length": 2}, {"max_length": 5}, {"max_args": 1}, {"n_val": 0}])
def test_sizes_out_of_range(options):
    with pytest.raises(OptionError, match="expected 3 <= min_length"):
        ready(source="generate", **{**SIZES, **GRAMMAR, **options})


def test_unknown_source():
    with pytest.raises(OptionError, match="did you mean 'generate'"):
        ListOps(source="generated")
