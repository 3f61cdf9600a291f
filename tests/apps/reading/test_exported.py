"""Forty files as public tables are exported: each is read right without an option.

The reader was written with twenty of them. Ten were exported later, by programs that know nothing
of the reader: at first it read five of them right, told what was unclear in a sixth, and read the
other four wrong, which is corrected since. Ten more were typed after files that offices and
services publish: at first it read seven right, told what was unclear in two ("M" for a gap, "<1"
for few), and mistook the separator of Eurostat's. The "M" and the separator are corrected; "T" for
a trace of rain and "<1" still make a column text, which a note tells.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest

from clearbands.apps.reading.reading import read_table, reading_in_words
from tests.apps.cli.running import run

FOLDER = Path(__file__).parent / "exported"
N, T, D, M, C, B = "number", "text", "date", "datetime", "time", "boolean"

# For every file: the number of its rows, the kinds of its columns, and cells as they were meant.
FILES = {
    "airquality.csv": (12, [N] * 6, {"Ozone": [41, 36, 12, 18, None], "Wind": [7.4, 8]}),
    "bike_trips.csv": (
        4,
        [M, M, B, N],
        {"started_at": [dt.datetime(2023, 5, 1, 8, 15, tzinfo=dt.UTC)], "member": [True, False]},
    ),
    "euro_cars.csv": (
        5,
        [T, N, N, N, D],
        {
            "Preis": [59222, 74150.5],
            "Kilometer": [12500],
            "Verbrauch": [6.2, 7.9],
            "Erstzulassung": [dt.date(2019, 5, 1)],
        },
    ),
    "excel_sep.csv": (
        5,
        [T, N, N, D],
        {"Menge": [1200, 350], "Preis": [0.05, 0.12], "Lieferdatum": [dt.date(2008, 5, 21)]},
    ),
    "football_players.csv": (
        5,
        [T] + [N] * 5,
        {"Height": [170], "Weight": [72], "Value": [110_500_000, 77_000_000], "Wage": [565_000]},
    ),
    "gapminder.csv": (7, [T, N, N, N, N], {"pop": [8425333, 9240934], "lifeExp": [28.801]}),
    "german_rents.csv": (
        8,
        [N, N, N, T],
        {
            "Wohnfläche": [77.7, 102, 45.5],
            "Miete": [1113, 1880, 950, 1249.5],
            "Baujahr": [1965],
            "Ort": ["Köln"],
        },
    ),
    "joined_matches.csv": (4, [T, N, N, T, N, N, N], {"Goals": [2, 3], "Goals_2": [1, 3]}),
    "ledger.csv": (
        5,
        [T] + [N] * 4,
        {"Budget": [12000, 3500], "Variance": [-450, 0, 354.5], "Adjustment": [25, 0, -15, -30]},
    ),
    "mtcars.tsv": (5, [T] + [N] * 6, {"column_1": ["Mazda RX4"], "mpg": [21], "am": [1]}),
    "padded_weather.csv": (
        5,
        [T, N, N, T],
        {"station": ["Bern", "Bern"], "temp_c": [12.5, -1], "sky": ["clear", "snow"]},
    ),
    "sales_with_total.csv": (4, [T] + [N] * 4, {"Region": ["North"], "Q1": [120, 80, 45, 200]}),
    "swiss_invoices.csv": (
        5,
        [T, N, D, T],
        {"Kunde": ["Müller"], "Betrag": [1200, 345.5, 12780.25], "Datum": [dt.date(2023, 1, 12)]},
    ),
    "uk_house_sales.csv": (
        5,
        [D, N, T, T],
        {"Date": [dt.date(2019, 2, 1), dt.date(2019, 2, 3)], "Price": [215_000]},
    ),
    "unemployment.csv": (5, [T, N, N, N], {"Rate": [4.9], "Change": [-0.2, 0.1, 0.91, 0, -1.05]}),
    "unicode_text.txt": (
        5,
        [T, N, N, N],
        {"Stadt": ["Zürich", "Genève"], "Einwohner": [421_878], "Fläche": [91.88]},
    ),
    "us_counties.csv": (
        5,
        [T, T, T, N, N],
        {"fips": ["01001"], "zip": ["36003"], "population": [55_869]},
    ),
    "us_crashes.csv": (
        5,
        [D, C, N, N, T],
        {"CRASH DATE": [dt.date(2021, 4, 13)], "CRASH TIME": [dt.time(9, 35), dt.time(0, 5)]},
    ),
    "us_houses.csv": (
        6,
        [N, N, N, D, T],
        {"Price": [132_500], "Lot Size": [3920], "Listed": [dt.date(2008, 7, 5)]},
    ),
    "worldbank_title.csv": (
        4,
        [T, T, N, N, N],
        {"Country Code": ["ABW"], "1960": [54608, 5357195]},
    ),
}
LATER = {
    "french_sales.csv": (
        7,
        [T] + [N] * 5 + [D],
        {"Volume": [21_314_933], "Médiane": [104_000], "Date de relevé": [dt.date(2008, 5, 1)]},
    ),
    "german_short_years.csv": (
        7,
        [D] + [N] * 4,
        {"Datum": [dt.date(1967, 7, 1)], "Bevölkerung": [198_712], "Quote": [12.6]},
    ),
    "pandas_german.csv": (7, [D] + [N] * 5, {"date": [dt.date(1967, 7, 1)], "pop": [198_712]}),
    "pandas_tab.tsv": (
        7,
        [T, N, N, N, T, N, N, N],
        {"lat": [27.5], "tropicalstorm_force_diameter": [None]},
    ),
    "polars_bar.csv": (7, [N] * 3 + [T] * 3 + [N, M], {"time_hour": [dt.datetime(2013, 1, 1, 10)]}),
    "psql_copy.csv": (
        6,
        [N, T, M, T, N, T],
        {
            "listed_at": [dt.datetime(2008, 5, 1, 0, 15, tzinfo=dt.UTC)],
            "note": ['He said "sold",\nthen left'],
        },
    ),
    "r_write_csv2.csv": (7, [N] * 3 + [T] * 3 + [N, M], {"air_time": [227]}),
    "r_write_table.txt": (
        7,
        [N, T, T, T] + [N] * 6,
        {"carat": [0.23], "cut": ["Ideal", "Premium", "Very Good"]},
    ),
    "sas_export.csv": (
        7,
        [D, T, N, N, N, T],
        {"when": [dt.date(2012, 1, 3)], "bodywt": [50, 0.48], "sleep_rem": [None, 1.8]},
    ),
    "us_accounting.csv": (
        7,
        [D] + [N] * 4,
        {"PCE": [506.7], "Savings Rate": [12.6], "Change": [-60, 4.9], "Unemployed": [2944]},
    ),
}
OF_OFFICES = {
    "airbnb.csv": (
        5,
        [N, T, D, N, T, T, T, N, N],
        {"host_response_rate": [100, 93, None], "price": [149, 240, 60, 1079]},
    ),
    "asos.csv": (
        6,
        [T, M, N, N, N, T, T],
        {"tmpf": [26.1, 26.1, 25, None], "drct": [200, 190, None], "p01i": ["0.00", "0.00", "T"]},
    ),
    "eurostat.tsv": (
        6,
        [T, N, N, N, N],
        {"2020": [6, None], "2021": [6.2, 17.4], "2022": [4.8, 15.4, 5.6, 4.2, 4.3, None]},
    ),
    "fred.csv": (8, [D, N, N], {"DGS10": [None, 3.95]}),
    "garmin.csv": (
        5,
        [T, M, B, T, N, N, C, N, C, N],
        {"Calories": [1024, 402], "Time": [dt.time(0, 55, 12)], "Total Ascent": [85, None]},
    ),
    "genesis.csv": (
        6,
        [T, T, N, N, N],
        {"Schlüssel": ["01001"], "Insgesamt": [92667], "Anteil": [1.1, 3, 2.6, None]},
    ),
    "google_trends.csv": (6, [D, N, T], {"fortran: (Worldwide)": ["1", "<1", "1"]}),
    "investing.csv": (
        5,
        [D] + [N] * 6,
        {
            "Date": [dt.date(2022, 1, 7)],
            "Vol.": [1_230_000, 987_300],
            "Change %": [-0.35, 0.12, -1.68, 0.62, None],
        },
    ),
    "nyc_sales.csv": (
        5,
        [N, T, N, N, N, N, N, D],
        {
            "NEIGHBORHOOD": ["ALPHABET CITY"],
            "SALE\nPRICE": [0, 6_625_000],
            "SALE DATE": [dt.date(2023, 2, 15)],
        },
    ),
    "sparkasse.csv": (
        5,
        [T, D, D, T, T, N, T, T],
        {"Buchungstag": [dt.date(2023, 1, 2)], "Betrag": [-34.56, -1250, 3412.87]},
    ),
}
FILES |= LATER | OF_OFFICES
TOLD = {
    "asos.csv": [
        "Column 'drct': 1 cell read as missing, such as 'M' in row 3 (counted from 1).",
        "Column 'p01i': text, because 2 cells of 6 hold no number, such as 'T' in row 3 (counted "
        "from 1).",
    ],
    "google_trends.csv": [
        "Column 'fortran: (Worldwide)': text, because 2 cells of 6 hold no number, such as '<1' in "
        "row 2 (counted from 1)."
    ],
    "airquality.csv": [
        "Column 'Ozone': 1 cell read as missing, such as '?' in row 8 (counted from 1)."
    ],
    "joined_matches.csv": ["Column 4 is named 'Team' like another, so it is called 'Team_2'."],
    "sales_with_total.csv": [
        "1 line below the rows left out, such as 'Source: annual report 2023'.",
        "The last row, 'Total', left out: it sums up the others.",
    ],
    "us_houses.csv": ["Column 'Price': 6 cells such as '$132,500' read as numbers such as 132500."],
    "worldbank_title.csv": ["2 lines above the header left out, such as 'Data Source'."],
}


def kind(dtype: pl.DataType) -> str:
    if dtype.is_numeric():
        return N
    names = {pl.String: T, pl.Date: D, pl.Time: C, pl.Boolean: B}
    return M if dtype.base_type() == pl.Datetime else names[dtype.base_type()]


def test_every_file_is_listed():
    assert {path.name for path in FOLDER.iterdir()} == set(FILES)
    assert (len(FILES), len(LATER), len(OF_OFFICES)) == (40, 10, 10)


@pytest.mark.parametrize("name", FILES)
def test_files_are_read_as_they_were_meant(name):
    n_rows, kinds, cells = FILES[name]
    reading = read_table(FOLDER / name)
    assert reading.frame.height == n_rows
    assert [kind(dtype) for dtype in reading.frame.dtypes] == kinds
    for column, expected in cells.items():
        assert reading.frame[column][: len(expected)].to_list() == expected
    assert set(TOLD.get(name, [])) <= set(reading_in_words(reading))


@pytest.mark.parametrize("name", ["german_rents.csv", "us_houses.csv", "worldbank_title.csv"])
def test_inspect_shows_them(name):
    result = run("inspect", FOLDER / name)
    assert result.exit_code == 0, result.stderr
    assert f"{name}: {FILES[name][0]} rows, {len(FILES[name][1])} columns (csv" in result.stdout
