"""A free name is one that a draft may have, however long the wanted one is."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.store import free_names
from rewards_lib.store.records import NAME_CHARACTERS


@given(st.text("ab数_.", min_size=1, max_size=NAME_CHARACTERS))
def test_the_names_differ_and_keep_within_the_length(wanted):
    names = list(islice(free_names(wanted), 120))
    assert names[0] == wanted
    assert len(set(names)) >= 119  # the wanted one may itself end with a number
    assert max(map(len, names)) <= NAME_CHARACTERS


def test_the_second_name_bears_a_2():
    assert list(islice(free_names("math"), 3)) == ["math", "math_2", "math_3"]
