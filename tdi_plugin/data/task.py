"""What every data set of the package looks like from outside; the words are s4's."""

from __future__ import annotations

from typing import Any, ClassVar

from torch.utils.data import Dataset

from tdi_plugin.errors import DataError

OWN, SPLIT, TEST = "a set of its own", "split of the training set", "the test set"


class SeriesTask:
    """A training, a validation and a test set with their sizes; nothing is read before ``setup``.

    Attributes:
        d_input: input channels, or None for tokens (then ``n_tokens`` is set).
        d_output: classes, or target dimensions.
        l_output: 0, one answer a series.
        l_max: longest series.
        has_lengths: True where items are (x, y, length).
        validation: where the validation set comes from.
    """

    _name_: ClassVar[str]
    l_output: ClassVar[int] = 0

    def __init__(self) -> None:
        self.d_input: int | None = None
        self.d_output = 0
        self.l_max = 0
        self.n_tokens: int | None = None
        self.has_lengths = False
        self.validation = OWN
        self.classes: tuple[str, ...] = ()
        self.sample_rate: float | None = None
        self.dataset_train: Dataset[Any] | None = None
        self.dataset_val: Dataset[Any] | None = None
        self.dataset_test: Dataset[Any] | None = None
        self._ready = False

    def setup(self, stage: str | None = None) -> None:
        """Read the data, once; ``stage`` is there for Lightning and ignored."""
        if not self._ready:
            self._load()
            self._ready = True

    def provenance(self) -> dict[str, Any]:
        """Plain values that say which data these are: source, options, validation rule, hash of contents."""
        if not self._ready:
            raise DataError(f"provenance of {self._name_!r} was asked before setup(); call setup() first.")
        return {"dataset": self._name_, "validation": self.validation, **self._source()}

    def _load(self) -> None:
        raise NotImplementedError

    def _source(self) -> dict[str, Any]:
        raise NotImplementedError
