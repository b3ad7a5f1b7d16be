"""What is told of a delimited table: how it was read, and what was mended in it."""

from __future__ import annotations

import re

from rewards_lib.contract import Sentence, sentence
from rewards_lib.training_metrics.cells import Numbers
from rewards_lib.training_metrics.csv_table import DELIMITERS, Table, name_list
from rewards_lib.training_metrics.formats.reading import coercion_note


def table_told(table: Table) -> Sentence:
    """Encoding, delimiter and size."""
    return sentence(
        "{encoding}, {delimiter}, {columns} columns, {rows} rows",
        encoding=table.source.encoding,
        delimiter=DELIMITERS[table.header.delimiter],
        columns=len(table.header.names),
        rows=len(table.frame),
    )


def table_notes(table: Table, numbers: Numbers) -> list[Sentence]:
    """Everything that was mended, with the line of the first cell."""
    names, notes = table.header.names, []
    if table.source.encoding != "UTF-8":
        notes.append(sentence("Read as {encoding}.", encoding=table.source.encoding))
    if table.decimal_comma:
        notes.append(sentence("Commas were read as decimal points, since semicolons divide the cells."))
    copies = [n for n in names if re.search(r" \(\d+\)$", n) and n.rpartition(" (")[0] in names]
    if copies:
        notes.append(sentence("Columns of the same name are told apart: {names}.", names=name_list(copies)))
    notes += table.notes
    lines = table.lines_of([found.first_row for found in numbers.coercions]) if numbers.coercions else {}
    notes += [coercion_note(found, lines[found.first_row]) for found in numbers.coercions]
    return notes
