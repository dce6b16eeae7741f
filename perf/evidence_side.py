"""The computing time of finding evidence in the labelled documents that may be looked at, as one process tells it."""

from __future__ import annotations

import json
import sys
import time

from batchwork.evidence import find_evidence
from tests.evidence.corpus.build import samples
from tests.evidence.papers import load


def main() -> None:
    step = int(sys.argv[1])
    made = samples(per_layout=1)[::step]
    papers = load("open").papers[::step]
    documents = [(one.value, one.document, one.schema) for one in made]
    documents += [(paper.answer, paper.document, paper.schema) for paper in papers]
    began = time.process_time()
    for value, document, schema in documents:
        find_evidence(value, document, schema=schema)
    print(json.dumps({"cpu_s": time.process_time() - began, "documents": len(documents)}))


if __name__ == "__main__":
    main()
