"""What presets that ask a service have in common: parameters, the key, the time limit.

Invariant: a key is named, never written into a mix, and only variables whose name ends in ``API_KEY`` can be named, so
that a mix from elsewhere cannot send other secrets of this machine away.
"""

from __future__ import annotations

import os

from rewards_lib.contract import JsonObject, Score, sentence
from rewards_lib.presets.parameters import integer, number, text
from rewards_lib.presets.registry import REQUIRED, Bilingual, Parameter
from rewards_lib.upstream import Service, longest_seconds

API_KEY_ENV = text(
    "api_key_env",
    Bilingual("Key variable", "密钥环境变量"),
    Bilingual(
        "The name of an environment variable of the console that holds the key; it must end in API_KEY. The key is "
        "sent as a bearer token to the address above and nowhere else. Empty: no key is sent.",
        "控制台环境变量名，其值为密钥；名称须以 API_KEY 结尾。密钥仅以 Bearer 令牌发往上面的地址。留空则不发送密钥。",
    ),
    "",
    pattern="^([A-Za-z0-9_]*API_KEY)?$",
)


def address(name: str, title: Bilingual, explanation: Bilingual) -> Parameter:
    """The parameter that holds a service's address."""
    return text(name, title, explanation, REQUIRED, pattern="^https?://[^\\s/]+")


def patience(concurrency: int, timeout_seconds: float) -> tuple[Parameter, ...]:
    """The parameters ``concurrency``, ``timeout_s`` and ``retries``."""
    return (
        integer(
            "concurrency",
            Bilingual("Requests at once", "并发请求数"),
            Bilingual(
                "How many requests to this service may be under way at once, over everything that is being scored.",
                "对该服务同时进行的请求数上限，对所有正在评分的任务合计。",
            ),
            concurrency,
            minimum=1,
            maximum=256,
        ),
        number(
            "timeout_s",
            Bilingual("Time-out (s)", "超时（秒）"),
            Bilingual(
                "Seconds that one request may take, to the last byte of its answer.",
                "单个请求允许的秒数，直到收完回答。",
            ),
            timeout_seconds,
            exclusiveMinimum=0,
            maximum=600,
        ),
        integer(
            "retries",
            Bilingual("Retries", "重试次数"),
            Bilingual(
                "How often a request is repeated when there is no connection, no answer in time, HTTP 429 or 5xx, "
                "after growing waits. A completion whose last try fails is unscored, never 0.",
                "无连接、超时、HTTP 429 或 5xx 时重试的次数，等待逐次加长。最后一次仍失败则该回答不计分，绝不记 0。",
            ),
            3,
            minimum=0,
            maximum=10,
        ),
    )


def service_of(url: str, params: JsonObject) -> Service | Score:
    """The service behind an address; a failed score when the key's variable is not set."""
    headers = {}
    name = params["api_key_env"]
    if name:
        key = os.environ.get(name, "").strip()
        if not key:
            return Score.failed(sentence("the environment variable {name} is not set", name=name))
        if not key.isascii() or not key.isprintable():
            return Score.failed(sentence("the environment variable {name} holds no usable key", name=name))
        headers["Authorization"] = f"Bearer {key}"
    return Service(url, headers, float(params["timeout_s"]), int(params["retries"]))


def patient_seconds(params: JsonObject) -> float:
    """How long one request may take, repetitions and waits included."""
    return longest_seconds(float(params["timeout_s"]), int(params["retries"]))
