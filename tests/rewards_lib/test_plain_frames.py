"""Values that go to another process of ours arrive as they were, one frame after the other."""

import io
from collections import OrderedDict, UserString

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.plain_frames import pack_frame, read_frame, unpack_frame, write_frame

leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.just("\ud800"))
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


@given(st.lists(values, max_size=4))
def test_what_was_written_is_read_in_order(sent):
    pipe = io.BytesIO()
    for value in sent:
        write_frame(pipe, pack_frame(value))
    pipe.seek(0)
    read = []
    while (frame := read_frame(pipe)) is not None:
        read.append(unpack_frame(frame))
    assert read == sent


def test_objects_of_other_kinds_become_plain_ones():
    assert unpack_frame(pack_frame(OrderedDict(a=[1]))) == {"a": [1]}


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(TypeError):
        pack_frame({"x": UserString("a")})


@pytest.mark.parametrize("kept", [3, 8, 11])
def test_a_frame_that_is_cut_is_the_end(kept):
    pipe = io.BytesIO()
    write_frame(pipe, pack_frame("a long text"))
    assert read_frame(io.BytesIO(pipe.getvalue()[:kept])) is None
