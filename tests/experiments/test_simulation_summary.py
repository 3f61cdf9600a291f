"""Tables, figures and packed files of simulated rows with known results."""

import pandas as pd
import pytest

from experiments import __main__, results, simulation_figure, simulation_summary, simulations, table

COVERAGE = {"CLEAR": 0.9, "PCS": 0.95, "ALEATORIC-R": 0.8, "Naive": 0.7}


def make_rows(where="radius", places=(1.0, 2.0, 4.0), noise="homo", d=1, **columns):
    """Return rows whose coverage falls by 0.01 and whose width grows by 1 per unit of place."""
    rows = [
        {
            "noise": noise,
            "d": d,
            "seed": seed,
            "method": method,
            where: place,
            "coverage": coverage - 0.01 * place + 0.02 * seed,
            "width": 3 + place,
            "error": "",
        }
        for seed in (0, 1)
        for method, coverage in COVERAGE.items()
        for place in places
    ]
    return pd.DataFrame(rows).assign(**columns)


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [make_rows(), make_rows(noise="hetero1"), make_rows(d=2), make_rows(d=20)]
    pd.concat(rows).to_csv(path, index=False)
    return path


def test_cases_are_the_papers_figures(stored):
    _, rows = results.read_any(stored)
    found = simulation_summary.split(rows)
    assert list(found) == ["homo", "hetero1", "multivariate"]
    assert set(found["homo"]["d"]) == {1}
    assert set(found["multivariate"]["d"]) == {2, 20}


def test_table_of_lowest_and_highest(stored):
    first = next(simulations.tables(stored))
    assert first.header[2:5] == ["lowest", "highest", "width"]
    by_hand = ["homo", "CLEAR", "0.890 at 2", "0.900 at 1", "4.50"]
    assert first.cells[0] == [*by_hand, "0.870 at 4", "0.870 at 4", "7.00"]
    assert [line[1] for line in first.cells[:4]] == list(COVERAGE)


def test_table_by_distance_names_the_runs(stored):
    found = {t.name: t for t in simulations.tables(stored)}
    assert "2 runs of d = 2, 2 runs of d = 20" in found["multivariate"].title
    assert found["homo"].header == ["radius", *COVERAGE]
    assert found["homo"].cells[0] == [
        "1",
        "0.900 (4.00)",
        "0.950 (4.00)",
        "0.800 (4.00)",
        "0.700 (4.00)",
    ]


def test_table_of_the_shift(tmp_path, capsys):
    path = tmp_path / "shift.csv"
    make_rows("scale").to_csv(path, index=False)
    assert __main__.main(["table", "simulations", "--results", str(path)]) == 0
    assert "| 4 | 0.870 (7.00) | 0.920 (7.00) |" in capsys.readouterr().out


def test_rows_with_errors_do_not_count(stored):
    rows = pd.read_csv(stored)
    broken = make_rows(coverage="", error="ArithmeticError: no luck").assign(seed=2)
    pd.concat([rows, broken]).to_csv(stored, index=False)
    assert next(simulations.tables(stored)).cells[0][2] == "0.890 at 2"


def test_figures(stored, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    arguments = ["figure", "simulations", "--results", str(stored), "--out", str(tmp_path / "f")]
    assert __main__.main(arguments) == 0
    assert {path.name for path in (tmp_path / "f").iterdir()} == {
        "simulation-homo.png",
        "simulation-hetero1.png",
        "simulation-multivariate.png",
    }


def test_true_width_is_that_of_the_quantiles():
    # Φ(1.6448536) = 0.95
    found = simulation_figure.true_width("hetero1", pd.Series([0.0, 2.0]))
    assert list(found) == pytest.approx([2 * 1.6448536, 6 * 1.6448536])
    assert simulation_figure.true_width("multivariate", pd.Series([5.0])).item() == pytest.approx(
        2 * 1.6448536
    )


def test_packed_rows_have_the_public_columns(stored, tmp_path):
    out = tmp_path / "simulations.parquet"
    assert __main__.main(["pack", str(stored), "--out", str(out)]) == 0
    packed = pd.read_parquet(out)
    assert list(packed.columns) == ["noise", "d", "seed", "method", "radius", "coverage", "width"]
    assert len(packed) == 4 * 2 * 4 * 3
    as_run = table.as_markdown(next(simulations.tables(stored)))
    assert table.as_markdown(next(simulations.tables(out))) == as_run


def test_rows_are_packed_beside_those_of_their_kind(tmp_path, monkeypatch, capsys):
    shift = tmp_path / "mine.csv"
    make_rows("scale").to_csv(shift, index=False)
    schema = results.SHIFT_ROWS._replace(path=tmp_path / "shift.csv")
    monkeypatch.setattr(results, "SCHEMAS", (results.BENCHMARK_ROWS, schema))
    assert __main__.main(["pack", str(shift)]) == 0
    assert capsys.readouterr().out == f"24 rows in {tmp_path / 'shift.parquet'}\n"


def test_rows_with_errors_are_not_packed(stored, tmp_path, capsys):
    make_rows(coverage="", error="ArithmeticError: no luck").to_csv(stored, index=False)
    assert __main__.main(["pack", str(stored), "--out", str(tmp_path / "out.parquet")]) == 2
    assert "24 rows have an error, the first 'ArithmeticError: no luck'" in capsys.readouterr().err
    assert not (tmp_path / "out.parquet").exists()


def test_kinds_of_rows_are_not_mixed(stored, tmp_path, capsys):
    shift = tmp_path / "shift.csv"
    make_rows("scale").to_csv(shift, index=False)
    assert __main__.main(["pack", str(stored), str(shift), "--out", str(tmp_path / "o.csv")]) == 2
    assert "not rows of one kind" in capsys.readouterr().err
    assert __main__.main(["figure", "simulations", "--results", str(shift)]) == 2
    assert "has shift rows, not simulation rows" in capsys.readouterr().err


def test_missing_rows_are_said(tmp_path, capsys):
    arguments = ["table", "simulations", "--results", str(tmp_path / "none.csv")]
    assert __main__.main(arguments) == 2
    assert "python -m experiments simulate" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("schema", "n_places"),
    [(results.SPHERE_ROWS, 25), (results.SHIFT_ROWS, 4)],
    ids=["distance", "shift"],
)
def test_rows_that_are_kept_are_whole(schema, n_places):
    rows = pd.read_parquet(schema.path.with_suffix(".parquet"))
    assert list(rows.columns) == schema.packed
    assert not rows.duplicated(schema.key).any()
    assert set(rows["method"]) == set(COVERAGE)
    assert (rows.groupby(["noise", "d", "seed"]).size() == 4 * n_places).all()
    runs = rows.groupby([rows["noise"], rows["d"] > 1])["seed"].nunique()
    assert runs.nunique() == 1  # each of the four cases has as many
    assert len(runs) == 4
    assert rows["coverage"].between(0, 1).all()
    assert (rows["width"] > 0).all()
