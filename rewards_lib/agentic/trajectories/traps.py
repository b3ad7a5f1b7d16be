"""The known traps of masks and trajectories, as findings.

Invariant: every finding says what is wrong with this trajectory, with its numbers, and what to do; a sound trajectory
has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rewards_lib.agentic.trajectories.token_track import TokenTrack
from rewards_lib.agentic.trajectories.tokenizers import TokenPiece
from rewards_lib.agentic.trajectories.trajectory import WRITTEN, Part, Trajectory
from rewards_lib.contract import Finding, Severity, sentence

_FOREIGN = {
    Part.TOOL: sentence(
        "Tool output is in the loss (tokens: {count}): the policy would learn to make up its environment. Mask it."
    ),
    Part.USER: sentence("The user's words are in the loss (tokens: {count}): not written by the policy. Mask them."),
    Part.SYSTEM: sentence("The system prompt is in the loss (tokens: {count}). Mask it."),
    Part.HISTORY: sentence(
        "An earlier answer is in the loss (tokens: {count}): the prompt brought it along, this rollout did not write "
        "it."
    ),
    Part.TEMPLATE: sentence("The chat template is in the loss (tokens: {count}): the policy never writes it."),
}  # fmt: skip


def find_traps(trajectory: Trajectory, track: TokenTrack) -> tuple[Finding, ...]:
    """List what would go wrong in training with this mask, the worst first."""
    found = [*_of_mask(trajectory, track), *_of_authors(track), *_of_end(trajectory, track), *_of_text(track)]
    rank = {"error": 0, "warning": 1, "hint": 2}
    return tuple(sorted(found, key=lambda finding: rank[finding.severity]))


def find_group_traps(rewards: Sequence[float | None]) -> tuple[Finding, ...]:
    """List what is wrong with the rewards of one group, None being unscored; a group of one counts as a group."""
    scored = [reward for reward in rewards if reward is not None]
    found: list[Finding] = []
    if len(scored) < len(rewards):
        told = sentence("Unscored in this group: {count}. What is unscored gets no advantage.",
                        count=len(rewards) - len(scored))  # fmt: skip
        found.append(Finding("warning", told, rule="unscored"))
    if len(scored) == 1:
        told = sentence("A group of one has nothing to compare with: verl takes the reward itself as the advantage.")
        found.append(Finding("warning", told, rule="group_of_one"))
    elif scored and max(scored) - min(scored) < 1e-9:
        told = sentence("All {count} rewards of this group are equal: every advantage is 0.", count=len(scored))
        found.append(Finding("warning", told, rule="zero_variance"))
    return tuple(found)


def _of_mask(trajectory: Trajectory, track: TokenTrack) -> Iterator[Finding]:
    record, count = trajectory.tokens, len(track.pieces)
    if track.given_mask_length not in (None, count):
        told = sentence(
            "The mask has {mask} entries for {tokens} tokens: every loss behind the first gap stands on a wrong token. "
            "What is missing counts as 0 here, what is too much is cut.",
            mask=track.given_mask_length, tokens=count,
        )  # fmt: skip
        yield Finding("error", told, rule="mask_length")
    if record is not None and record.kl is not None and len(record.kl) != count:
        told = sentence("KL values: {numbers}, tokens: {tokens}. They have to be one to one; the KL is left aside.",
                        numbers=len(record.kl), tokens=count)  # fmt: skip
        yield Finding("error", told, rule="kl_length")
    if not any(track.mask):
        told = sentence(
            "No token is trained: the trajectory adds nothing to the loss, and is left out of means over trajectories."
        )
        yield Finding("error", told, rule="empty_mask")
    elif track.mask[0]:
        told = sentence("The very first token is in the mask: nothing predicts it, the shift drops it.")
        yield Finding("hint", told, rule="first_token")


def _of_authors(track: TokenTrack) -> Iterator[Finding]:
    counted = Counter(part for part, trained in zip(track.part_of, track.mask, strict=True) if trained)
    for part, told in _FOREIGN.items():
        if counted[part]:
            severity: Severity = "error" if part in (Part.TOOL, Part.USER, Part.SYSTEM) else "warning"
            values = {"count": counted[part]}
            yield Finding(
                severity, sentence(told.template, **values), rule=f"{part.value} in the loss".replace(" ", "_")
            )
    left_out = [one for one in track.stretches if one.part is Part.END and not track.mask[one.start]]
    if left_out and any(track.mask):
        told = sentence("Ends of turns are not in the mask ({count}): the policy does not learn to stop.",
                        count=len(left_out))  # fmt: skip
        yield Finding("warning", told, rule="untrained_end")


def _of_end(trajectory: Trajectory, track: TokenTrack) -> Iterator[Finding]:
    if trajectory.truncated:
        told = sentence(
            "The end was cut by its length: the last trained token is no end of a turn, and a reward on the last token "
            "falls into the middle of a word. TRL leaves such rows out (mask_truncated_completions)."
        )
        yield Finding("warning", told, rule="truncated_end")
    elif [one.part for one in track.stretches if one.part is not Part.TEMPLATE][-1:] == [Part.TOOL]:
        told = sentence("The trajectory ends with tool output: the policy never answered.")
        yield Finding("warning", told, rule="no_answer")


def _of_text(track: TokenTrack) -> Iterator[Finding]:
    """What happens when the text is rendered and tokenised anew instead of keeping the tokens that were sampled."""
    whole, pieces = [_identity(one) for one in track.whole or ()], [_identity(one) for one in track.pieces]
    if track.whole is not None and whole != pieces:
        pairs = enumerate(zip(whole, pieces, strict=False))
        place = next((place for place, (one, other) in pairs if one != other), min(len(whole), len(pieces)))
        told = sentence(
            "Tokenised as one text it has {whole} tokens, piece by piece {pieces}; they part at token {place}. Keep "
            "the ids that were sampled.",
            whole=len(whole), pieces=len(pieces), place=place,
        )  # fmt: skip
        yield Finding("warning", told, rule="retokenised")
    last_turn = max((one.turn for one in track.stretches if one.part in WRITTEN), default=0)
    lost = sum(one.end - one.start for one in track.stretches if one.part is Part.REASONING and one.turn < last_turn)
    if lost:
        told = sentence(
            "Earlier turns hold reasoning (tokens: {count}). Templates that drop it (Qwen3 and others) make the text "
            "that much shorter when it is rendered again, and the mask stands on wrong tokens.",
            count=lost,
        )
        yield Finding("hint", told, rule="dropped_reasoning")


def _identity(piece: TokenPiece) -> int | str:
    """What makes two tokens the same: the id, or the text where there is no vocabulary."""
    return piece.text if piece.id is None else piece.id
