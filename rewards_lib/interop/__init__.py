"""One definition, every trainer: published versions as folders that trainers run, trainers' functions as drafts.

``targets`` and ``sources`` know one trainer a file; ``adapters`` and ``runtime`` are what an exported folder carries.
"""

from rewards_lib.interop.exporting import Exported, export_version
from rewards_lib.interop.importing import Imported, import_file, import_source, keep_import
from rewards_lib.interop.sources import SOURCES
from rewards_lib.interop.targets import TARGETS

__all__ = [
    "SOURCES", "TARGETS", "Exported", "Imported", "export_version", "import_file", "import_source", "keep_import",
]  # fmt: skip
