"""What a request may ask for, and how it is refused."""

from __future__ import annotations

import pytest

from rewards_lib.code_judge.submission import RequestError, read_code_run, read_submission
from rewards_lib.errors import InputError


def request(**config):
    own = {"dataset_type": "CommonOJDataset", "language": "python", "provided_data": {"test": []}} | config
    return {"completion": "x", "config": own}


def test_the_envelope_is_opened():
    inside = read_submission({"data": request(), "method": "POST", "path": "/submit", "headers": {}})
    assert inside == read_submission(request())


def test_what_is_not_told_has_a_default():
    submission = read_submission(request())
    assert (submission.compile_seconds, submission.seconds, submission.memory_mb) == (10.0, 20.0, 1024)
    assert (submission.run_all, submission.full_texts, submission.rules.mode) == (False, False, "lines")
    assert read_submission(request(language="cpp")).seconds == 10.0


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"language": None}, "config.language"),
        ({"language": ""}, "config.language"),
        ({"language": "cobol"}, "config.language"),
        ({"dataset_type": "Nope"}, "config.dataset_type"),
        ({"custom_extract_logic": "exec"}, "config.custom_extract_logic"),
    ],
)
def test_a_configuration_that_is_not_allowed_is_status_400_with_its_place(config, place):
    with pytest.raises(RequestError) as error:
        read_submission(request(**config))
    assert (error.value.http_status, error.value.where) == (400, place)


@pytest.mark.parametrize(
    "config",
    [
        {"run_timeout": 0}, {"run_timeout": "1"}, {"run_timeout": 1e9}, {"run_timeout": True}, {"compile_timeout": -1},
        {"memory_limit_MB": 0}, {"extra": []}, {"extra": {"compare": "fuzzy"}}, {"extra": {"float_tol": -1}},
        {"extra": {"float_tol": "x"}}, {"extra": {"run_all_cases": "yes"}}, {"extra": {"scoring": "half"}},
        {"extra": {"checker": {"language": "python"}}}, {"extra": {"checker": {"language": "java", "code": "x"}}},
    ],
)  # fmt: skip
def test_values_that_mean_nothing_are_refused(config):
    with pytest.raises(InputError):
        read_submission(request(**config))


@pytest.mark.parametrize("key", ["run_timeout", "compile_timeout", "memory_limit_MB"])
def test_a_limit_that_means_nothing_is_told_with_its_place(key):
    with pytest.raises(InputError) as error:
        read_submission(request(**{key: 10**9}))
    assert error.value.where == f"config.{key}"


@pytest.mark.parametrize(("name", "flag"), [("cpp", "-std=c++17"), ("C++20", "-std=c++20"), ("cpp11", "-std=c++11")])
def test_a_standard_of_cpp_that_is_asked_for_is_compiled(name, flag):
    language = read_submission(request(language=name)).language
    assert (language.name, [part for part in language.compile if "std" in part]) == ("cpp", [flag])


@pytest.mark.parametrize("body", [None, [], "x", {"completion": 5, "config": request()["config"]}, {"config": 1}])
def test_a_body_that_is_no_request_is_refused(body):
    with pytest.raises(InputError):
        read_submission(body)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "", "a/../../b", "x\0y", None])
def test_files_stay_in_the_programs_folder(name):
    with pytest.raises(InputError):
        read_code_run({"code": "", "language": "python", "fetch_files": [name]})


def test_files_are_base64():
    run = read_code_run({"code": "", "language": "python", "files": {"a/b.txt": "aGk="}})
    assert dict(run.files) == {"a/b.txt": b"hi"}
    assert not read_code_run({"code": "", "language": "python", "files": {"a": None}}).files
    with pytest.raises(InputError):
        read_code_run({"code": "", "language": "python", "files": {"a": "*"}})
