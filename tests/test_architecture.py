"""The house stands as CONTRIBUTING draws it: who may import whom, how long a file may be, what must be said."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GROUND_FLOOR = {"contract", "errors", "strict_json", "data_directory", "whole_files", "plain_frames"}

# Room of rewards_lib -> the rooms it may import, besides itself and the ground floor.
ROOMS: dict[str, set[str]] = {
    "contract": set(),
    "errors": {"contract"},
    "strict_json": {"contract", "errors"},
    "data_directory": {"errors"},
    "whole_files": set(),
    "plain_frames": set(),
    "host_files": set(),
    "digits": set(),
    "quantiles": set(),
    "extraction": {"digits"},
    "payloads": set(),
    "executor": set(),
    "http_guard": set(),
    "code_judge": {"executor", "extraction", "http_guard"},
    "training_metrics": {"host_files"},
    "upstream": set(),
    "llm_judge": {"extraction", "upstream"},
    "mathematics": {"digits", "extraction"},
    "reward_tools": {"extraction", "mathematics"},
    "presets": {"digits", "extraction", "mathematics", "llm_judge", "upstream", "code_judge"},
    "mix": {"presets"},
    "mix_result": {"mix"},
    "scoring": {"mix", "mix_result", "presets", "executor"},
    "store": {"mix"},
    "function_sources": {"scoring", "mix", "executor", "store"},
    "loaded_mix": {"publishing", "function_sources", "scoring", "mix", "payloads", "executor", "store"},
    "publishing": {"function_sources", "scoring", "mix", "executor", "store"},
    "rollouts": {"quantiles", "scoring", "mix", "mix_result", "presets", "payloads", "executor", "extraction"},
    "jobs": {"rollouts", "scoring", "mix", "executor", "store", "function_sources"},
    "agentic": {"rollouts"},
    "practice": {"executor"},
    "regression_cases": {"scoring", "mix", "executor", "payloads", "rollouts", "store"},
    "cli_cases": {
        "cli_options",
        "cli_output",
        "regression_cases",
        "mix",
        "scoring",
        "executor",
        "publishing",
        "function_sources",
        "store",
    },
    "datasets": {"quantiles", "rollouts", "store", "extraction"},
    "cli_datasets": {"cli_options", "cli_output", "datasets", "rollouts"},
    "cli_output": set(),
    "cli_code_judge": {"cli_options", "cli_output", "code_judge"},
    "cli_options": {"executor", "store"},
    "cli_rollouts": {
        "cli_datasets",
        "cli_options",
        "cli_output",
        "rollouts",
        "mix",
        "executor",
        "function_sources",
        "store",
    },
    "serving": {
        "quantiles",
        "http_guard",
        "code_judge",
        "publishing",
        "scoring",
        "payloads",
        "presets",
        "executor",
        "store",
    },
    "interop": {"publishing", "scoring", "mix", "mix_result", "presets", "payloads", "executor", "store"},
    "cli_publish": {
        "cli_cases",
        "cli_options",
        "cli_output",
        "serving",
        "interop",
        "publishing",
        "executor",
        "function_sources",
        "mix",
        "store",
        "payloads",
    },
    "cli": {
        "cli_code_judge",
        "cli_cases",
        "cli_options",
        "cli_publish",
        "cli_output",
        "cli_rollouts",
        "scoring",
        "function_sources",
        "mix",
        "presets",
        "executor",
        "payloads",
        "store",
        "training_metrics",
    },
    "__main__": {"cli"},
    "__init__": {"mix", "scoring", "executor", "presets", "payloads", "function_sources", "store", "loaded_mix"},
}
# Third-party package -> the rooms that may import it; what is not listed may be imported by pages and components alone.
PACKAGES: dict[str, set[str]] = {
    "sqlalchemy": {"store"},
    "cryptography": {"store"},
    "sympy": {"mathematics"},
    "math_verify": {"mathematics"},
    "latex2sympy2_extended": {"mathematics"},
    "mpmath": {"mathematics"},
    "referencing": {"presets"},
    "rapidfuzz": {"presets"},
    "jsonschema": {"presets"},
    "pandas": {"training_metrics"},
    "numpy": {"training_metrics", "rollouts", "agentic"},
    "pyarrow": {"rollouts", "training_metrics"},
    "ray": {"rollouts"},
    "tokenizers": {"agentic"},
    "tsdownsample": {"training_metrics"},
    "yaml": {"training_metrics"},
    "fastapi": {"serving", "code_judge"},
    "starlette": {"serving"},
    "uvicorn": {"serving", "code_judge"},
    "uvloop": {"serving"},
    "prometheus_client": {"serving"},
    "RestrictedPython": {"executor"},
    "pyseccomp": {"executor"},
    "bubblewrap": {"executor"},
    "packaging": {"executor"},
    "urllib3": {"executor", "upstream"},
    "requests": {"upstream"},
    "aiohttp": {"executor"},
    "aiohappyeyeballs": {"executor"},
}
LAZY = {
    "ray",
    "cryptography",
    "sympy",
    "math_verify",
    "latex2sympy2_extended",
    "jsonschema",
    "pandas",
    "numpy",
    "pyarrow",
    "tokenizers",
    "tsdownsample",
    "plotly",
    "requests",
}
SIMPLE_COMPONENTS = {"state", "cache", "theme", "i18n"}
MAX_FILE_LINES, MAX_FUNCTION_LINES = 400, 40


def sources(*folders: str) -> list[Path]:
    found = [ROOT / "app.py"] if "app.py" in folders else []
    for folder in folders:
        found += sorted(p for p in (ROOT / folder).rglob("*.py") if "node_modules" not in p.parts)
    return found


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def imports(path: Path) -> list[tuple[str, int, bool]]:
    """(dotted module, line, whether it stands at module level) for every import; ``from a import b`` gives a.b."""
    top = {id(node) for node in ast.walk(tree(path))} - {
        id(inner)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found += [(f"{node.module}.{alias.name}", node.lineno, id(node) in top) for alias in node.names]
    return found


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def room_of(path: Path) -> str:
    return path.relative_to(ROOT / "rewards_lib").parts[0].removesuffix(".py")


def test_every_room_of_the_library_imports_only_what_it_may():
    wrong = []
    for path in sources("rewards_lib"):
        room = room_of(path)
        assert room in ROOMS, f"{name_of(path)} is not on the list of rooms"
        for module, line, _ in imports(path):
            parts = module.split(".")
            if parts[0] == "rewards_lib" and len(parts) > 1:
                target = parts[1]
                if target not in ROOMS[room] | GROUND_FLOOR | {room, "__version__"} and room != "__init__":
                    wrong.append(f"{name_of(path)}:{line} imports {module}")
            if parts[0] in {"streamlit", "pages", "components", "tests", "app"}:
                wrong.append(f"{name_of(path)}:{line} imports {module}")
    assert not wrong


def test_the_rooms_of_the_library_form_no_circle():
    done: set[str] = set()
    while left := set(ROOMS) - done:
        free = {room for room in left if ROOMS[room] <= done}
        assert free, f"a circle among {sorted(left)}"
        done |= free


def test_third_party_packages_stay_in_their_rooms_and_heavy_ones_inside_functions():
    wrong = []
    for path in sources("rewards_lib"):
        for module, line, at_top in imports(path):
            package = module.split(".")[0]
            if package in sys.stdlib_module_names or package in {"rewards_lib", "rl_types"}:
                continue
            beside = path.with_name(f"{package}.py").exists()  # the worker's own modules import each other by stem
            if not beside and room_of(path) not in PACKAGES.get(package, set()):
                wrong.append(f"{name_of(path)}:{line} imports {package}")
            if at_top and package in LAZY and path.stem not in {"worker_entry"}:
                wrong.append(f"{name_of(path)}:{line} imports {package} at module level")
    assert not wrong


def test_pages_import_components_and_the_library_and_no_other_page():
    wrong = [
        f"{name_of(path)}:{line} imports {module}"
        for path in sources("pages")
        for module, line, _ in imports(path)
        if module.split(".")[0] == "pages"
    ]
    assert not wrong


def test_components_never_import_pages_and_simple_ones_import_no_composed_one():
    wrong = []
    for path in sources("components"):
        parts = path.relative_to(ROOT / "components").parts
        own = parts[0].removesuffix(".py")
        for module, line, _ in imports(path):
            names = module.split(".")
            if names[0] in {"pages", "app", "tests"}:
                wrong.append(f"{name_of(path)}:{line} imports {module}")
            if (
                own in SIMPLE_COMPONENTS
                and names[0] == "components"
                and names[-1] not in SIMPLE_COMPONENTS | {"_", "say"}
            ):
                wrong.append(f"{name_of(path)}:{line} imports {module}")
    assert not wrong


def test_app_py_is_short_and_knows_only_the_shell():
    allowed = {"components.shell", "components.theme", "components.i18n", "components.state", "streamlit"}
    path = ROOT / "app.py"
    assert len(path.read_text().splitlines()) < 40
    assert {m for m, _, _ in imports(path)} <= allowed | {f"{a}._" for a in allowed}


def test_only_state_py_names_session_state():
    wrong = [
        f"{name_of(path)}:{node.lineno}"
        for path in sources("pages", "components", "app.py")
        if path.name != "state.py"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr == "session_state"
    ]
    assert not wrong


def test_html_is_never_let_through():
    wrong = [
        f"{name_of(path)}:{node.value.lineno}"
        for path in sources("pages", "components", "app.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.keyword) and node.arg in {"unsafe_allow_html", "unsafe_allow_javascript"}
    ]
    assert not wrong


@pytest.mark.parametrize("path", sources("rewards_lib", "components", "pages", "app.py"), ids=name_of)
def test_no_file_is_longer_than_four_hundred_lines_and_every_module_says_what_it_is_for(path: Path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE_LINES
    if path.read_text(encoding="utf-8").strip():
        assert ast.get_docstring(tree(path)), "no module docstring"


@cache
def functions() -> list[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef, bool]]:
    """Every function of the product, and whether it is public: named without underscore at module or class level."""
    found = []
    for path in sources("rewards_lib", "components", "pages", "app.py"):
        public = {id(tree(path))} | {
            id(n) for n in tree(path).body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")
        }
        for node in ast.walk(tree(path)):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                    found.append((path, child, id(node) in public and not child.name.startswith("_")))
    return found


def own_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
    return (node.end_lineno or first.lineno) - first.lineno + 1


def test_nine_functions_in_ten_have_at_most_forty_lines():
    lengths = [own_lines(node) for _, node, _ in functions()]
    assert sum(length <= MAX_FUNCTION_LINES for length in lengths) >= 0.9 * len(lengths)


def test_every_parameter_and_return_is_annotated_and_every_public_function_says_what_it_does():
    wrong = []
    for path, node, public in functions():
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        bare = [a.arg for a in arguments if a and a.annotation is None and a.arg not in {"self", "cls"}]
        if bare or node.returns is None:
            wrong.append(f"{name_of(path)}:{node.lineno} {node.name}: not annotated: {bare or 'return'}")
        if public and not ast.get_docstring(node):
            wrong.append(f"{name_of(path)}:{node.lineno} {node.name}: no docstring")
    assert not wrong


def test_exceptions_are_caught_whole_at_the_boundary_alone():
    """The worker, too, must answer for everything that an author's code can raise, and latex2sympy raises bare ones."""
    allowed = {"rewards_lib/errors.py", "rewards_lib/mathematics/algebra.py"}
    workers = ("rewards_lib/executor/", "rewards_lib/code_judge/worker/")
    wrong = [
        f"{name_of(path)}:{node.lineno}"
        for path in sources("rewards_lib", "components", "pages", "app.py")
        if name_of(path) not in allowed and not name_of(path).startswith(workers)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}))
    ]
    assert not wrong


def test_importing_the_library_takes_no_heavy_package():
    heavy = ("streamlit", "pandas", "numpy", "sympy", "plotly", "sqlalchemy", "RestrictedPython", "requests")
    code = f"import sys, rewards_lib; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
