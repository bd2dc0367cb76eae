// Prints javascript_numbers.tsv: texts, and what a JavaScript engine makes of
// each as a Retry-After value in seconds. Run it as
//
//     node javascript_numbers.mjs > javascript_numbers.tsv
//
// A row is the text as a JSON string, a tab, and Math.round(Number(text) * 1000),
// "overflow" where that is infinite although Number(text) is not, or "refused"
// where Number(text) is NaN, infinite or negative, or the text is blank.
// The generator is seeded, so every run prints the same rows.

// mulberry32
let state = 20260101;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const digits = (n, alphabet = "0123456789") => Array.from({ length: n }, () => pick(alphabet)).join("");
const neighbour = (x, by) => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(by));
  return view.getFloat64(0);
};

const kinds = [
  // Halves of a millisecond, and their neighbours: where rounding shows.
  () => `${below(10 ** below(11))}.${digits(3)}5`,
  () => String(neighbour((below(10 ** below(8)) + 0.5) / 1000, below(9) - 4)),
  () => `${below(100)}.${digits(3)}${pick(["4", "5"])}${pick(["9", "0"]).repeat(below(20))}${below(10)}`,
  // Decimals of any length.
  () => `${digits(below(6))}.${digits(below(25))}`,
  () => pick(["", "+", "-"]) + digits(1 + below(20)) + pick(["", "."]),
  // Around the longest time.Duration.
  () => `922337203${below(10)}.${pick(["8", ""])}${pick(["5", "4"])}${pick(["4", "5"])}${digits(below(15))}`,
  // Any double, and exponents up to both ends.
  () => `${digits(1 + below(3))}.${digits(below(5))}${pick("eE")}${pick(["", "+", "-"])}${below(20)}`,
  () => `${1 + below(9)}.${digits(below(20))}e${pick(["-", ""])}${300 + below(30)}`,
  () => `1.797693134862315${digits(1 + below(8))}e308`,
  () => `${pick(["", "-"])}${pick(["2", "4"])}.${digits(3)}e-324`,
  () => `0.${"0".repeat(below(40))}${digits(3)}e${below(45)}`,
  () => `${digits(3)}${"0".repeat(below(40))}e-${below(45)}`,
  // Other radixes, up to 2^1024.
  () => `0${pick("xX")}${digits(1 + below(20), "0123456789abcdefABCDEF")}`,
  () => `0${pick("bB")}${digits(1 + below(70), "01")}`,
  () => `0${pick("oO")}${digits(1 + below(25), "01234567")}`,
  () => `0x${"0".repeat(below(3))}${pick(["f", "F", "1", "7"])}${"f".repeat(12)}${pick("78bcef")}${digits(240 + below(5), "0f")}`,
  // White space, and what only looks like it.
  () => {
    const space = () => pick(["", " ", "\t", "\v", "\f", "\r\n", "\u00a0", "\ufeff", "\u2003", "\u202f", "\u205f", "\u3000", "\u1680", "\u2028", "\u2029", "\u0085", "\u180e", "\u200b", "\0"]);
    return space() + space() + pick(["7", "1.5", ""]) + space() + space();
  },
  // Noise from the alphabet of numbers.
  () => digits(1 + below(5), "0012345..+-eExXbo_n, f"),
  () => digits(1 + below(8), "01..+-e"),
];

function outcome(text) {
  const seconds = Number(text);
  if (text.trim() === "" || !Number.isFinite(seconds) || seconds < 0) return "refused";
  const ms = Math.round(seconds * 1000);
  return ms === Infinity ? "overflow" : String(ms === 0 ? 0 : ms);
}

const ascii = (text) => JSON.stringify(text).replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

const rows = new Map();
while (rows.size < 2500) {
  const text = pick(kinds)();
  rows.set(text, outcome(text));
}
for (const [text, ms] of rows) console.log(`${ascii(text)}\t${ms}`);
