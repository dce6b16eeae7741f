"""The providers' own clients, in an environment of their own: does what it is told, and prints what they made of it.

One JSON object on standard input: `sdk`, `url`, and `calls`, each a name and its keywords. The answers are printed as a
JSON list; a call that raised is `{"raised": ...}`.
"""

import io
import json
import sys
from typing import Any


def client_of(sdk: str, url: str) -> Any:
    if sdk == "groq":
        import groq

        return groq.Groq(base_url=url, api_key="key", max_retries=0)
    if sdk == "together":
        import together

        return together.Together(base_url=url, api_key="key", max_retries=0)
    if sdk == "voyage":
        import voyageai

        return voyageai.Client(api_key="key", base_url=url, max_retries=0)
    import openai

    if sdk == "azure-classic":
        return openai.AzureOpenAI(azure_endpoint=url, api_key="key", api_version="2024-10-21", max_retries=0)
    return openai.OpenAI(base_url=url, api_key="key", max_retries=0)


def _call(client: Any, name: str, given: dict[str, Any]) -> Any:
    match name:
        case "chat":
            return client.chat.completions.create(**given)
        case "embeddings":
            return client.embeddings.create(**given)
        case "embed":
            return {"embeddings": client.embed(**given).embeddings}
        case "upload":
            return client.files.create(purpose="batch", file=(given["name"], io.BytesIO(given["content"].encode())))
        case "create":
            return client.batches.create(**given)
        case "retrieve":
            return client.batches.retrieve(given["id"])
        case "cancel":
            return client.batches.cancel(given["id"])
        case "list":
            return client.batches.list()
        case _:
            answer = client.files.content(given["id"])
            return {"text": answer.read().decode()}


def answers_of(client: Any, calls: Any) -> list[Any]:
    """What a client makes of these calls."""
    answers: list[Any] = []
    for name, given in calls:
        try:
            answer = _call(client, name, given)
        except Exception as error:
            answers.append({"raised": f"{type(error).__name__}: {error}"})
            continue
        if hasattr(answer, "model_dump"):
            answer = answer.model_dump(mode="json", warnings=False)
        elif isinstance(answer, list):
            answer = [one.model_dump(mode="json", warnings=False) for one in answer]
        answers.append(answer)
    return answers


if __name__ == "__main__":
    told = json.load(sys.stdin)
    print(json.dumps(answers_of(client_of(told["sdk"], told["url"]), told["calls"])))
