"""What the tests of the benchmark share."""

import pytest

from batchwork.benchmarks import run_benchmark


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run it in an empty folder; exit status, standard output and error."""
    monkeypatch.chdir(tmp_path)

    def go(*arguments):
        try:
            status = run_benchmark.main(list(arguments))
        except SystemExit as ended:  # argparse's own
            status = ended.code
        told = capsys.readouterr()
        return status, told.out, told.err

    return go
