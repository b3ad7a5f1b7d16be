"""The tables, and the steps that bring an older file to them.

Invariant: a step, once released, never changes; the tables below are what all steps together make.
"""

from __future__ import annotations

from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, Text, inspect, text

METADATA = MetaData()

DRAFTS = Table(
    "drafts", METADATA,
    Column("kind", String(16), primary_key=True),
    Column("name", String(80), primary_key=True),
    Column("content", Text, nullable=True),  # NULL: renamed or deleted; the row stays so that revisions go on rising
    Column("revision", Integer, nullable=False),
    Column("saved_at", String(32), nullable=False),
)  # fmt: skip

VERSIONS = Table(
    "versions", METADATA,
    Column("kind", String(16), primary_key=True),
    Column("name", String(80), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("content", Text, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("note", Text, nullable=False),
    Column("published_at", String(32), nullable=False),
    Column("withdrawn_at", String(32), nullable=True),
)  # fmt: skip

ITEMS = Table(
    "items", METADATA,
    Column("kind", String(16), primary_key=True),
    Column("id", String(80), primary_key=True),
    Column("content", Text, nullable=False),
    Column("saved_at", String(32), nullable=False),
)  # fmt: skip

# Step n (from 0) brings schema n to schema n + 1; schema 0 is an empty database. Times are UTC, ISO 8601.
MIGRATIONS: list[tuple[str, ...]] = [
    (
        "CREATE TABLE drafts (kind VARCHAR(16) NOT NULL, name VARCHAR(80) NOT NULL, content TEXT,"
        " revision INTEGER NOT NULL, saved_at VARCHAR(32) NOT NULL, PRIMARY KEY (kind, name))",
        "CREATE TABLE versions (kind VARCHAR(16) NOT NULL, name VARCHAR(80) NOT NULL, number INTEGER NOT NULL,"
        " content TEXT NOT NULL, sha256 VARCHAR(64) NOT NULL, note TEXT NOT NULL, published_at VARCHAR(32) NOT NULL,"
        " withdrawn_at VARCHAR(32), PRIMARY KEY (kind, name, number))",
    ),
    (
        "CREATE TABLE items (kind VARCHAR(16) NOT NULL, id VARCHAR(80) NOT NULL, content TEXT NOT NULL,"
        " saved_at VARCHAR(32) NOT NULL, PRIMARY KEY (kind, id))",
    ),
]


def schema_version(connection: Connection) -> int:
    """The schema the database is in; 0 where nothing of ours is there yet."""
    if not inspect(connection).has_table("schema_version"):
        return 0
    return int(connection.execute(text("SELECT version FROM schema_version")).scalar_one())


def migrate(connection: Connection) -> None:
    """Take the steps that are missing. Runs inside one transaction: a process killed half-way leaves the old schema."""
    present = schema_version(connection)
    if present == 0:
        connection.execute(text("CREATE TABLE schema_version (version INTEGER NOT NULL)"))
        connection.execute(text("INSERT INTO schema_version (version) VALUES (0)"))
    for step in MIGRATIONS[present:]:
        for statement in step:
            connection.execute(text(statement))
    connection.execute(text("UPDATE schema_version SET version = :version"), {"version": len(MIGRATIONS)})
