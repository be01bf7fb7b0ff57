"""The end of a message about an unknown name."""

from __future__ import annotations

from tdi_plugin.errors import choices


def test_of_many_names_the_nearest_are_given() -> None:
    names = [f"lra/task{i}" for i in range(39)] + ["sc/speech"]
    assert choices("sc/spech", names).endswith("Known: " + ", ".join(sorted(names)) + ".")
    said = choices("sc/spech", [*names, "lra/last"])
    assert said.startswith("did you mean 'sc/speech'? Known: sc/speech, ")
    assert said.endswith(" and 33 more.")


def test_a_name_like_no_other_gets_no_hint() -> None:
    assert choices("zzz", ["b", "a"]) == "Known: a, b."
