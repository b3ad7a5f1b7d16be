"""What is told of a delimited table: how it was read, and what was mended in it."""

from __future__ import annotations

import re

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.csv_header import DELIMITERS, name_list
from rewards_lib.training_metrics.csv_table import Table
from rewards_lib.training_metrics.formats.reading import coercion_note


def table_told(table: Table) -> Sentence:
    """Encoding, delimiter and size."""
    return sentence(
        "{encoding}, {delimiter}, {columns} columns, {rows} rows",
        encoding=table.source.encoding,
        delimiter=table.source.divided_by or DELIMITERS.get(table.header.delimiter, table.header.delimiter),
        columns=len(table.header.names),
        rows=table.rows,
    )


def table_notes(table: Table) -> list[Sentence]:
    """Everything that was mended, with the line of the first cell."""
    names, numbers = table.header.names, table.numbers
    notes = []
    if table.source.encoding != "UTF-8":
        notes.append(sentence("Read as {encoding}.", encoding=table.source.encoding))
    if table.decimal_comma:
        notes.append(sentence("Commas were read as decimal points, since semicolons divide the cells."))
    if numbers.comma_columns:
        names_of = name_list(numbers.comma_columns)
        notes.append(sentence("Commas were read as decimal points in {names}.", names=names_of))
    copies = [n for n in names if n.endswith(")") and re.search(r" \(\d+\)$", n) and n.rpartition(" (")[0] in names]
    if copies:
        notes.append(sentence("Columns of the same name are told apart: {names}.", names=name_list(copies)))
    notes += table.notes
    lines = table.lines_of([found.first_row for found in numbers.coercions]) if numbers.coercions else {}
    notes += [coercion_note(found, lines[found.first_row]) for found in numbers.coercions]
    return notes


def refuse_torn_cells(table: Table) -> None:
    """Raise InputError, with the line, where a cell of a column of numbers runs over several lines.

    A quotation mark stands there that no other closes, and the rows up to the next one have become one cell.
    """
    torn = [found.torn_row for found in table.numbers.coercions if found.torn_row is not None]
    if torn:
        line = table.lines_of([min(torn)])[min(torn)]
        raise InputError(
            "The quotation mark that is opened in line {line} is closed only in a later line, and what lies between "
            "is no number.",
            line=line,
            where=table.source.name,
            remedy="Close it where it belongs, or export the file again.",
        )
