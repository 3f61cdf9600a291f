"""Signs, currencies, percent, units and thousands that people write before and after a number."""

from __future__ import annotations

import re
from dataclasses import dataclass

MINUS = "-\u2212\u2013\u2014"


def _words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


CURRENCIES = _words_in(
    "$ € £ ¥ ₹ ₽ ₩ ₺ ₫ ฿ ₪ ₴ ₦ ₱ ₲ ₡ US$ U$ A$ AU$ C$ CA$ NZ$ HK$ S$ NT$ R$ Mex$ "
    "usd eur euro euros gbp chf jpy inr aud cad nzd sek nok dkk pln czk huf rub cny rmb brl zar "
    "mxn krw try ils thb sgd hkd ron bgn isk fr fr. sfr sfr. kr kr. zł kč lei rs rs. rp"
)
PERCENT = frozenset({"%", "percent", "pct", "prozent", "v.h.", "‰"})
UNITS = _words_in(
    "mm cm dm m km in inch inches ft feet foot yd yds yards mi mile miles nm "
    "mm² cm² m² km² mm2 cm2 m2 km2 qm sqm sqft sqm. sq.ft. ft² ft2 ha acre acres "
    "m³ m3 cm³ cm3 ft³ cc ccm l ltr liter litre liters litres ml cl hl gal gallon gallons "
    "mg g kg t ton tons tonne tonnes lb lbs lbs. oz "
    "w kw mw kwh mwh gwh wh v mv kv mah hp ps bhp cv nm. rpm j kj kcal cal "
    "°c °f ° °k c° deg degrees pa hpa kpa mbar bar psi hz khz mhz ghz "
    "b kb mb gb tb kib mib gib px dpi mp "
    "ms s sec secs second seconds min mins min. minute minutes h hr hrs hour hours std std. "
    "d day days tag tage week weeks wk wks month months mo mos year years yr yrs jahr jahre "
    "km/h kmh mph m/s kn knots kmpl km/l mpg l/100km db ppm ppb mg/l g/l mg/dl µg/m³ "
    "pcs pieces pc stk stk. people persons"
)
FACTORS = {
    "k": 1e3,
    "tsd": 1e3,
    "tsd.": 1e3,
    "thousand": 1e3,
    "mn": 1e6,
    "mio": 1e6,
    "mio.": 1e6,
    "mln": 1e6,
    "million": 1e6,
    "millions": 1e6,
    "bn": 1e9,
    "mrd": 1e9,
    "mrd.": 1e9,
    "billion": 1e9,
    "billions": 1e9,
    "trillion": 1e12,
}  # in upper or lower case; besides these, capital M and B


@dataclass(frozen=True)
class Affix:
    """The meaning of the characters around the digits of a cell."""

    is_negative: bool = False
    currency: str = ""  # in lower case
    unit: str = ""  # in lower case; "%" for percent
    factor: float = 1.0


def read_affix(before: str, after: str) -> Affix | None:
    """Return what the text before and after the digits means; None if the cell is no number.

    >>> read_affix("($", ")")
    Affix(is_negative=True, currency='$', unit='', factor=1.0)
    >>> read_affix("$(", ")") == read_affix("($", ")")
    True
    >>> read_affix("", "rooms in Bern") is None
    True
    """
    before, after = before.strip(), after.strip()
    in_brackets = "(" in (before[:1], before[-1:]) and ")" in (after[:1], after[-1:])
    if in_brackets:  # ($5) and $(5)
        before, after = before.strip("( "), after.strip(") ")
    # "1200.-" and "1200,--" have no cents
    after = re.sub(rf"^[.,][{MINUS}]{{1,2}}", "", after).strip()
    sign, before, after = _sign(before, after)
    if sign is None or (in_brackets and sign):
        return None
    words = [word for word in (before, *_words(after)) if word]
    if before and before.casefold() not in CURRENCIES and before not in CURRENCIES:
        return None
    return _meaning(words, in_brackets or sign == "-")


def _sign(before: str, after: str) -> tuple[str | None, str, str]:
    """Return the sign, "" if there is none and None if the cell is no number, and the other text.

    One sign may stand before or behind the currency, or behind the digits.
    """
    signs = [character for character in before + after if character in MINUS + "+"]
    if len(signs) > 1:
        return None, before, after
    ends = (before[:1], before[-1:], after[:1], after[-1:])
    if signs and signs[0] not in ends:
        return None, before, after
    before = before.strip(MINUS + "+").strip()
    if signs and signs[0] in after and (signs[0] == "+" or after != signs[0]):
        return None, before, after  # "10,000+" is no number; "5-" is minus five
    after = "" if after in MINUS else after
    return ("-" if signs and signs[0] in MINUS else "+" if signs else ""), before, after


def _words(after: str) -> list[str]:
    """Cut the text behind digits into words: K€ and M $ are two words, km/h and sq ft are one."""
    after = re.sub(r"^(sq|cu)\.? (?=ft|m)", r"\1", after)
    spaced = re.sub(r"([$€£¥₹])", r" \1 ", after)
    return spaced.split()


def _meaning(words: list[str], is_negative: bool) -> Affix | None:
    currency, unit, factor = "", "", 1.0
    for word in words:
        lowered = word.casefold()
        if lowered in CURRENCIES or word in CURRENCIES:
            if currency:
                return None
            currency = lowered
        elif lowered in PERCENT:
            unit, known = "%" if lowered != "‰" else lowered, unit
            if known:
                return None
        elif factor == 1.0 and (lowered in FACTORS or word in ("M", "B")):
            factor = FACTORS.get(lowered, 1e6 if word == "M" else 1e9)
        elif lowered in UNITS and not unit:
            unit = _singular(lowered)
        else:
            return None
    if currency and unit == "m":  # $5m
        unit, factor = "", 1e6 * factor
    return Affix(is_negative, currency, unit, factor)


def _singular(unit: str) -> str:
    """Return a unit in the singular, so that lbs and lb are one unit."""
    bare = unit.rstrip(".")
    return bare.removesuffix("s") if len(bare) > 2 else bare
