// The values of columns: as JSON has them, as places on an axis, and as people read them.

const numbers = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 4 });

export const isChoice = (control) => control.kind === "text" || control.kind === "boolean";
export const isMoment = (control) => ["date", "datetime", "time"].includes(control.kind);

// As in the report: numbers that differ by errors of floating point alone are rounded alike.
export const show = (number) => (number == null ? "∞" : numbers.format(Number(number.toPrecision(12))).replace("-", "−"));
export const showLower = (number) => (number == null ? "−∞" : show(number));
export const withUnit = (number, unit) => (unit && number != null ? `${show(number)} ${unit}` : show(number));
// A share that is not whole never rounds to 0 % or 100 %.
export function percent(share, digits = 0) {
  const isWhole = (d) => [0, 100].includes(Number((100 * share).toFixed(d)));
  let d = digits;
  while (d < 3 && share > 0 && share < 1 && isWhole(d)) d += 1;
  return `${(100 * share).toFixed(d)} %`;
}
// A chance that is not certain is never shown as certain.
export const chanceName = (share) => (share > 0 && share < 0.001 ? "below 0.1 %" : share < 1 && share > 0.999 ? "above 99.9 %" : `${+(100 * share).toFixed(1)} %`);
export const levelName = (level) => `${+(100 * level).toFixed(4)} %`;

export function placeOf(control, value) {
  if (value == null || !isMoment(control)) return value;
  if (control.kind === "time") {
    const [hours, minutes, seconds = 0] = value.split(":").map(Number);
    return 3600 * hours + 60 * minutes + seconds;
  }
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/.test(value) || !value.includes("T");
  return Date.parse(hasZone ? value : `${value}Z`) / 1000;
}

export function valueAt(control, place) {
  if (!isMoment(control)) return place;
  const text = new Date(1000 * place).toISOString();
  if (control.kind === "time") return text.slice(11, 19);
  return control.kind === "date" ? text.slice(0, 10) : text.slice(0, 19);
}

export function showPlace(control, place) {
  return isMoment(control) ? valueAt(control, place) : show(place);
}

export function showValue(control, value) {
  if (value == null) return "missing";
  if (isChoice(control)) return String(value);
  return showPlace(control, placeOf(control, value));
}
