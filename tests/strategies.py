"""Hypothesis strategies that several tests share: JSON values, messages and payloads in every accepted shape."""

from hypothesis import strategies as st

text = st.text(max_size=30)
scalars = (
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False) | text
)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4), max_leaves=12
)
contents = text | st.none() | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": text}), max_size=3)
messages = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool"]), "content": contents})
completions = (
    text
    | messages
    | st.lists(messages, max_size=3)
    | st.fixed_dictionaries({"messages": messages | st.lists(messages, max_size=3)})
)
samples = st.fixed_dictionaries(
    {
        "messages": st.lists(messages, max_size=3),
        "extra": st.dictionaries(text, json_values, max_size=3),
        "tools": st.just([]),
    }
)
bare_payloads = st.fixed_dictionaries(
    {
        "context": st.dictionaries(text, json_values, max_size=2),
        "sample": samples,
        "completions": st.lists(completions, min_size=1, max_size=4),
    }
)
