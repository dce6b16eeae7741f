from batchwork.evidence import find_evidence
from tests.evidence.corpus import store
from tests.evidence.corpus.build import blind_samples, samples
from tests.evidence.score import score, verdicts
from tests.evidence.strangers import strangers


def test_the_stored_set_is_what_the_generator_makes() -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in store.FOLDER.glob("*.jsonl")}
    assert stored == store.files(), "run python -m tests.evidence.corpus.store"


def test_the_set_is_large_and_a_third_of_its_layouts_is_kept_out_of_tuning() -> None:
    made = [*samples(), *blind_samples()]
    layouts = {sample.layout: sample.held_out for sample in made}
    assert len(made) >= 60
    assert sum(len(sample.labels) for sample in made) >= 600
    assert len(layouts) >= 10
    assert sum(layouts.values()) / len(layouts) >= 0.33
    assert any(sample.document.media_type == "application/pdf" for sample in made)


def test_labels_lie_in_their_documents() -> None:
    for sample in samples(per_layout=1):
        for label in sample.labels:
            for start, end in label.accepted:
                assert 0 <= start < end <= len(sample.document.text)
                assert sample.document.text[start:end].strip() == sample.document.text[start:end]


def test_the_bars_are_met_on_documents_that_nobody_looked_at() -> None:
    tallies = score(samples(per_layout=1, seed=17))  # `make evidence` scores six of each layout
    assert verdicts(tallies, only=("overall", "elsewhere")) == []


def test_a_name_that_has_nothing_to_do_with_a_labelled_place_hardly_ever_cites_it() -> None:
    tally = strangers(samples(per_layout=1, seed=4)[::2])  # `make evidence` asks all
    assert tally.of_labelled >= 150
    assert tally.labelled / tally.of_labelled <= 0.04
    assert tally.bare < tally.of_bare


def test_the_same_question_has_the_same_answer() -> None:
    sample = samples(per_layout=1)[0]
    first = find_evidence(sample.value, sample.document, schema=sample.schema)
    assert first == find_evidence(sample.value, sample.document, schema=sample.schema)
