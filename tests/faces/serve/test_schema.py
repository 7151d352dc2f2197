"""Requests made up from the OpenAPI document, good ones and bad ones: every answer is as the document says."""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from alacarte.serve.answers import QUESTIONS
from alacarte.serve.app import LARGEST
from alacarte.serve.questions import Question

schemathesis = pytest.importorskip("schemathesis")
requests = pytest.importorskip("requests")

LONG = 3  # examples of a question that takes a process


@pytest.fixture(scope="module")
def schema(address: str) -> Any:
    return schemathesis.openapi.from_url(f"{address}/openapi.json")


@pytest.fixture(scope="module")
def known(schema: Any) -> Any:
    """The checks by name. One is left out: a word that nobody uses is a good request, and an error all the same."""
    from schemathesis.checks import CHECKS, load_all_checks

    load_all_checks()
    return {check.__name__: check for check in CHECKS.get_all()}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.path)
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_answers_are_as_the_document_says(schema: Any, known: Any, question: Question, mode: str) -> None:
    """A good request has an answer, or an error that says what to do; a bad one such an error."""
    if mode == "negative" and (not question.parameters or question.manner == "job"):
        return  # nothing can be wrong about it, or it is checked by the same code and takes long
    operation = schema[question.path][question.method.upper()]
    cases = operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode))

    examples = LONG if question.manner == "job" else 12

    @settings(max_examples=examples, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(cases)
    def ask(case: Any) -> None:
        try:
            case.call_and_validate(excluded_checks=[known["positive_data_acceptance"]])
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
            if len(str(case.query)) < LARGEST // 12:  # a longer address may take all that one may have, and is cut off
                raise

    ask()
