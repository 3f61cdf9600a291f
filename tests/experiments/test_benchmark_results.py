"""Tables, figures and the comparison, from rows whose results are known."""

import csv

import numpy as np
import pandas as pd
import pytest

from experiments import (
    __main__,
    causes,
    compare,
    paired_figures,
    published,
    results,
    results_page,
    summary,
    table,
)

LOSSES = {"CLEAR": 1.0, "PCS-EPISTEMIC": 1.5, "ALEATORIC": 3.0, "ALEATORIC-R": 1.1}


def make_rows(losses=None, sets=("airfoil", "computer"), seeds=(777, 778), **columns):
    """Return rows where each measure is the loss times a factor of the set and the seed."""
    rows = []
    for i, dataset in enumerate(sets):
        for seed in seeds:
            for method, loss in (losses or LOSSES).items():
                value = loss * (i + 1) * (1 + 0.1 * (seed - 777))
                row = dict.fromkeys(results.METRICS, value) | {
                    "dataset": dataset,
                    "variant": "b",
                    "setting": "standard",
                    "seed": seed,
                    "method": method,
                    "lambda": 1.0 + seed - 777,
                    "gamma1": 2.0,
                    "fit_seconds": {"PCS-EPISTEMIC": 2.0, "ALEATORIC-R": 5.0}.get(method, 6.0),
                    "error": "",
                }
                rows.append(row | columns)
    return pd.DataFrame(rows)[results.COLUMNS]


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "rows.csv"
    make_rows().to_csv(path, index=False)
    return path


def found_table(rows, name):
    return next(t for t in table.tables(rows, ("b",), ("standard",)) if t.name == name)


def test_best_and_second_best_are_marked():
    lines = table.as_markdown(found_table(make_rows(), "b-standard-quantile_loss")).splitlines()
    assert lines[2] == "| dataset | CLEAR | ALEATORIC | ALEATORIC-R | PCS-EPISTEMIC |"
    assert lines[4].startswith("| airfoil | **1.05 ± 0.0707** | 3.15 ± 0.212 | _1.16 ± 0.0778_ | 1")
    assert lines[-1] == "Fewer than 10 seeds: airfoil 2, computer 2."


def test_ties_are_marked_alike_and_coverage_is_not_marked():
    rows = make_rows({"CLEAR": 1.0, "lambda=1": 1.0004, "gamma1=1": 2.0} | LOSSES)
    marks = found_table(rows, "b-standard-nciw").marks
    assert [marks.get((0, j)) for j in (1, 6)] == [1, 1]
    assert not found_table(rows, "b-standard-picp").marks


def test_infinite_values_are_shown_and_never_best():
    rows = make_rows(LOSSES | {"UACQR-P": np.inf, "UACQR-S": 2.0})
    text = table.as_markdown(found_table(rows, "b-standard-niw"))
    assert "| inf |" in text
    assert r"$\infty$" in table.as_latex(found_table(rows, "b-standard-niw"))


def test_latex_and_csv():
    found = found_table(make_rows(), "b-standard-quantile_loss")
    latex = table.as_latex(found)
    assert r"airfoil & \textbf{1.05 $\pm$ 0.0707}" in latex
    assert r"\underline{1.16" in latex
    lines = list(csv.reader(table.as_csv(found).splitlines()))
    assert lines[0][:2] == ["dataset", "CLEAR"]
    assert lines[1][:2] == ["airfoil", "1.05 ± 0.0707"]


def test_averages_are_given_with_and_without_the_set_that_the_paper_left_out():
    rows = make_rows(variant="a")
    huge = (rows["dataset"] == "computer") & (rows["method"] == "PCS-EPISTEMIC")
    rows.loc[huge, "quantile_loss"] *= 10
    lines = summary.average_increases(rows, "quantile_loss", "standard")
    pcs = [(round(percent), which) for method, percent, which in lines if method == "PCS-EPISTEMIC"]
    assert pcs == [(725, "all 2 sets"), (50, "1 sets, without computer as the paper")]


def test_the_papers_values_per_seed_give_the_papers_averages():
    """Variant (a) saves 15.8, 34.4 and 9.4 % quantile loss, and 28.2 % NCIW against ALEATORIC."""
    rows = pd.read_parquet(published.PER_SEED).rename(columns={"seed_index": "seed"})
    rows = rows[rows["variant"] == "a"]
    wide = rows.pivot(
        index=["variant", "dataset", "method", "seed"], columns="metric", values="value"
    )
    rows = wide.rename(columns=compare.NAMES).reset_index()
    found = {
        (metric, method, which.split(",")[0]): round(percent, 1)
        for metric in ("quantile_loss", "nciw")
        for method, percent, which in summary.average_increases(rows, metric, "standard")
    }
    assert found["quantile_loss", "PCS-EPISTEMIC", "16 sets"] == 15.8
    assert found["quantile_loss", "PCS-EPISTEMIC", "all 17 sets"] == 913.8
    assert found["quantile_loss", "ALEATORIC", "all 17 sets"] == pytest.approx(34.4, abs=0.11)
    assert found["quantile_loss", "ALEATORIC-R", "all 17 sets"] == 9.4
    assert found["nciw", "ALEATORIC", "16 sets"] == 28.2


def test_the_networks_values_per_seed_give_the_printed_tables():
    printed = compare.printed()
    printed = printed[printed["variant"] == "deep"].set_index(compare.KEY)
    means = published.per_seed("deep").groupby(compare.KEY).mean().reindex(printed.index)
    assert len(means) == 425
    assert ((means - printed["mean"]).abs() <= 1.01 * printed["rounded"]).all()


def test_factors_runtime_and_uacqr():
    rows = make_rows(LOSSES | {"UACQR-S": 2.0, "UACQR-P": 4.0})
    rows.loc[(rows["method"] == "UACQR-P") & (rows["seed"] == 778), "niw"] = np.inf
    factors = summary.factors(rows, "standard").loc["airfoil"]
    assert factors[["lambda_median", "lambda_min", "lambda_max"]].tolist() == [1.5, 1, 2]
    seconds = summary.runtime(rows)
    assert seconds.loc["airfoil"].tolist() == [2, 3, 1, 6]
    assert seconds.loc["Total", "total"] == 12
    gains = summary.improvement_over_uacqr(rows).loc["airfoil"]
    assert gains["UACQR-S nciw"] == "+50.0"
    assert gains["UACQR-P width"] == "+75.0 (infinite on 1 seeds)"


def test_rows_with_errors_enter_no_table():
    rows = make_rows()
    rows.loc[0, ["error", "quantile_loss"]] = ["MemoryError: too large", np.nan]
    assert summary.per_set(summary.select(rows, "b", "standard"), "nciw").notna().all(axis=None)


@pytest.mark.parametrize("format_", ["markdown", "latex", "csv"])
def test_tables_from_stored_rows_are_stable(stored, tmp_path, format_):
    texts = []
    for order in (1, -1):
        lines = stored.read_text().splitlines()
        stored.write_text("\n".join([lines[0], *lines[1:][::order]]) + "\n")
        out = tmp_path / f"out{order}"
        arguments = ["table", "--results", str(stored), "--format", format_, "--out", str(out)]
        assert __main__.main(arguments) == 0
        texts.append({path.name: path.read_text() for path in out.iterdir()})
    assert len(texts[0]) == 8
    assert texts[0] == texts[1]


def test_figures(stored, tmp_path):
    pytest.importorskip("matplotlib")
    rows = pd.concat([make_rows(), make_rows(LOSSES | {"CLEAR": 0.9}, variant="default")])
    rows.loc[rows["method"] == "ALEATORIC", "nciw"] = np.inf
    rows.to_csv(stored, index=False)
    assert __main__.main(["figure", "--results", str(stored), "--out", str(tmp_path / "f")]) == 0
    assert {p.name for p in (tmp_path / "f").iterdir()} == {
        "b-standard.png",
        "default-standard.png",
    } | {"variants.png", "agreement.png", "ranks.png"}
    rows = pd.concat([rows, make_rows(variant="a")])
    rows.to_csv(stored, index=False)
    assert __main__.main(["figure", "--results", str(stored), "--out", str(tmp_path / "g")]) == 0
    assert (tmp_path / "g" / "time.png").exists()


def test_loss_and_time_are_of_the_splits_that_all_methods_have():
    own = make_rows({"CLEAR": 1.0, "crepes": 2.0}, variant="default")
    paper = make_rows({"CLEAR": 1.5}, variant="a")
    rows = pd.concat([own, paper[paper["seed"] > 777]]).assign(fit_seconds=4.0)
    rows.loc[rows["seed"] == 777, "fit_seconds"] = 100.0
    points = paired_figures.loss_and_time(rows)
    assert points["seconds"].tolist() == pytest.approx([4.0] * 3)
    assert points["percent"].to_dict() == pytest.approx({"default": 0, "(a)": 50, "crepes": 100})


def test_comparison_with_the_values_per_seed(capsys, tmp_path):
    """The rows are the paper's own values, with one value a fifth larger."""
    values = published.per_seed("b")
    rows = make_rows(sets=("airfoil", "concrete"))
    for i, row in rows.iterrows():
        for theirs, ours in compare.NAMES.items():
            key = (row["dataset"], row["seed"] - 777, row["method"], theirs)
            rows.loc[i, ours] = values[key]
    larger = (rows["dataset"] == "concrete") & (rows["method"] == "PCS-EPISTEMIC")
    rows.loc[larger, "nciw"] *= 1.2
    found = compare.differences(rows).set_index(["metric", "dataset", "method"])["percent"]
    assert found["nciw", "concrete", "PCS-EPISTEMIC"] == pytest.approx(20)
    assert found.drop(("nciw", "concrete", "PCS-EPISTEMIC")).abs().max() < 1e-9
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    assert __main__.main(["compare", "--results", str(path)]) == 0
    text = capsys.readouterr().out
    assert "PCS-EPISTEMIC 10.0 (+10.0)" in text
    assert "- concrete, PCS-EPISTEMIC:" in text
    assert "(+20 %)" in text
    assert "quantile_loss: ALEATORIC " in text
    assert "DOES NOT HOLD" not in text


def test_comparison_with_the_printed_tables():
    rows = make_rows({"CLEAR-c": 0.11}, ("airfoil",), setting="conformalized")
    found = compare.differences(rows).set_index("metric")
    assert found.loc["quantileloss", "paper"] == 0.110
    assert found.loc["quantileloss", "ours"] == pytest.approx(0.1155)


# Causes of differences


def far_cell(tmp_path, percent, text, **columns):
    """Return cause and line of a cell whose rows are the paper's, changed by so many percent."""
    path = tmp_path / "causes.toml"
    path.write_text(text)
    rows = make_rows({"CLEAR": 1.0}, ("airfoil",), seeds=range(777, 781))
    values = published.per_seed("b")
    rows["nciw"] = [values["airfoil", seed - 777, "CLEAR", "nciw"] for seed in rows["seed"]]
    rows["nciw"] *= 1 + np.asarray(percent) / 100
    found = compare.differences(rows)
    (far,) = compare.far_off(found[found["metric"] == "nciw"], causes.load(path))
    return far


def test_a_difference_above_five_percent_gets_its_cause(tmp_path):
    text = '["wide"]\ndatasets = ["airfoil"]\nwhy = "so"\ncommand = "run"\n'
    far = far_cell(tmp_path, 20, text)
    assert far.cause == "wide"
    assert far.text.startswith("airfoil, CLEAR: 0.2")
    assert far.text.endswith("(+20 %): wide")
    elsewhere = far_cell(tmp_path, 20, text.replace("airfoil", "concrete"))
    assert elsewhere.cause == compare.UNKNOWN


def test_what_differs_both_ways_from_seed_to_seed_is_chance(tmp_path):
    """The mean of +40, -20, +40 and -20 % is 10, with a standard error of about 17."""
    assert far_cell(tmp_path, [40, -20, 40, -20], "").cause == compare.CHANCE
    assert far_cell(tmp_path, [11, 9, 11, 9], "").cause == compare.UNKNOWN


def test_printed_means_allow_for_rounding_and_for_seeds_that_we_lack():
    assert [compare.half_a_unit(text) for text in ("0.11", "2.8e+03")] == [0.005, 50]
    means = pd.DataFrame({"paper": 10.0, "rounded": 0.05, "sd": 1.0, "seeds": [10, 5, 1]})
    expected = [0.5, 0.5 + 20 * np.sqrt(0.1), 0.5 + 20 * np.sqrt(0.9)]
    np.testing.assert_allclose(compare.chance_of_print(means), expected)


def test_draws_of_the_standard_setting_count_for_the_same_fits_conformalized():
    rows = pd.concat(
        make_rows(values, ("airfoil",), range(777, 787), setting=setting)
        for setting, values in (("standard", {"CLEAR": 1.0}), ("conformalized", {"CLEAR-c": 1.0}))
    )
    found = compare.differences(rows).set_index(["setting", "metric"])["chance"]
    rounding = 100 * 0.0005 / 0.110  # ten seeds are printed as 0.110
    drawn = found["standard", "quantileloss"]
    assert drawn > 0
    assert found["conformalized", "quantileloss"] == pytest.approx(rounding + drawn)


def test_a_misspelt_key_in_the_file_of_causes(tmp_path):
    path = tmp_path / "causes.toml"
    path.write_text('["wide"]\nsets = ["airfoil"]\nwhy = ""\ncommand = ""\n')
    with pytest.raises(results.RowsError, match="'sets' is none of variants, settings, datasets"):
        causes.load(path)


def test_every_cause_names_a_command_and_cells():
    for cause in causes.load():
        assert cause.command
        assert cause.why
        assert cause.cells, f"{cause.name} would explain everything"


# The page


def test_results_and_the_summary_are_what_the_rows_say():
    """The page and the summary were made from the packed rows (`python -m experiments summary`)."""
    found = results_page.Found.of(results.read(results_page.PACKED))
    text = results_page.PAGE.read_text()
    assert results_page.fill(text, found) == text
    assert results_page.SUMMARY.read_text() == results_page.as_json(found)


def test_the_page_refuses_blocks_that_it_does_not_know():
    with pytest.raises(results.RowsError, match="RESULTS has blocks \\['seed'\\], known are"):
        results_page.fill("<!-- rows: seed -->\n<!-- end of rows: seed -->", None)


# Figures over seeds


def test_mean_ranks_and_what_they_cannot_tell_apart():
    """By Demsar (2006), ranks of 4 methods on 14 sets differ if they are 1.25 apart."""
    losses = {"CLEAR": 1.0, "Naive": 2.0, "ALEATORIC": 3.0, "gamma1=1": 4.0}
    rows = make_rows(losses, [f"set {i}" for i in range(14)])
    ranks, least = paired_figures.mean_ranks(rows)
    assert ranks.to_dict() == {"CLEAR": 1, "Naive": 2, "ALEATORIC": 3, "gamma1=1": 4}
    assert least == pytest.approx(1.25, abs=0.01)
    assert paired_figures.groups(ranks, least) == [(1, 2), (2, 3), (3, 4)]
    assert paired_figures.groups(ranks, 2.5) == [(1, 3), (2, 4)]
    assert paired_figures.groups(ranks, 0.5) == []


def test_no_rows_yet(tmp_path, capsys):
    assert __main__.main(["table", "--results", str(tmp_path / "none.csv")]) == 2
    assert "There are no rows" in capsys.readouterr().err
