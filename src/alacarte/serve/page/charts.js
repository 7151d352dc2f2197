// Pictures: each with a table of the same numbers for screen readers, each word a link to its evidence.

import { element, isKnown, number, svgLink, whole } from "./common.js";

const SUREST = 12; // powers of ten
const COLOURS = ["context", "spelling", "third", "fourth", "fifth", "sixth", "seventh"];

function table(caption, names, rows) {
  return element("div", { class: "unseen" }, element("table", {}, element("caption", {}, caption),
    element("thead", {}, element("tr", {}, names.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell) => element("td", {}, String(cell))))))));
}

function frame(width, height, label) {
  return element("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label });
}

// Arrows walk along the links of a picture; Enter opens one, as links do.
function walkable(picture) {
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const links = [...picture.querySelectorAll("a")], place = links.indexOf(document.activeElement);
    links[(place + step + links.length) % links.length]?.focus();
    event.preventDefault();
  });
  return picture;
}

const within = (value, low = 0) => Math.max(low, Math.min(1, value));

// From 0 to 1, or a part of it where all intervals are short; draws the axis and says where a value stands.
function scaled(picture, items, height) {
  const values = items.flatMap((item) => (isKnown(item) ? [item.estimate, item.conf_low, item.conf_high] : [item.cosine, item.conf_low ?? item.cosine, item.conf_high ?? item.cosine]));
  let low = Math.floor(20 * Math.min(1, ...values)) / 20, high = Math.ceil(20 * Math.max(0, ...values)) / 20;
  if (high - low > 0.45 || low < 0) { low = 0; high = 1; }
  high = Math.min(1, high);
  const x = (value) => 150 + (350 * (Math.max(low, Math.min(high, value)) - low)) / Math.max(high - low, 0.05);
  for (let step = 0; step <= 4; step += 1) {
    const value = low + ((high - low) * step) / 4;
    picture.append(element("line", { class: "grid", x1: x(value), x2: x(value), y1: 8, y2: height - 22 }),
      element("text", { class: "axis", x: x(value), y: height - 6, "text-anchor": "middle" }, String(Math.round(1000 * value) / 1000)));
  }
  return x;
}

// The words most like a word, with intervals.
export function likeness(nearest, label, open) {
  const height = 30 + nearest.length * 29, picture = frame(520, height, label), x = scaled(picture, nearest, height);
  nearest.forEach((item, place) => {
    const y = 22 + place * 29, kind = isKnown(item) ? "" : " unknown";
    const value = isKnown(item) ? item.estimate : item.cosine;
    const name = element("text", { x: 140, y: y + 5, "text-anchor": "end", "font-size": 15 }, item.other);
    picture.append(open ? svgLink(open(item.other), name) : name);
    if (item.conf_low !== null) picture.append(element("line", { class: `interval${kind}`, x1: x(item.conf_low), x2: x(item.conf_high), y1: y, y2: y }));
    picture.append(element("circle", { class: `point${kind}`, cx: x(value), cy: y, r: 4.5 }));
  });
  const rows = nearest.map((item) => [item.other, ...["estimate", "conf_low", "conf_high"].map((name) => (isKnown(item) ? number(item[name]) : "unknown"))]);
  return { picture: walkable(picture), place: element("div", {}, picture, table(label, ["word", "likeness", "at least", "at most"], rows)) };
}

// Words on two sides: how like each is on either, with intervals.
export function pairs(words, names, label, open) {
  const height = 54 + words.length * 34, picture = frame(520, height, label), x = scaled(picture, words.flatMap((item) => [item.a, item.b]).filter(Boolean), height);
  picture.append(...names.map((name, side) => element("text", { class: `label ${COLOURS[side]}`, x: side ? 500 : 150, y: 12, "text-anchor": side ? "end" : "start" }, name)));
  words.forEach((item, place) => {
    const y = 40 + place * 34;
    const name = element("text", { x: 140, y: y + 5, "text-anchor": "end", "font-size": 15 }, item.word);
    picture.append(svgLink(open(item.word), name));
    [item.a, item.b].forEach((side, which) => {
      if (!side) return;
      const kind = isKnown(side) ? COLOURS[which] : "unknown", at = y + (which ? 6 : -6);
      if (side.conf_low !== null) picture.append(element("line", { class: `interval ${kind}`, x1: x(side.conf_low), x2: x(side.conf_high), y1: at, y2: at }));
      picture.append(element("circle", { class: `point ${kind}`, cx: x(isKnown(side) ? side.estimate : side.cosine), cy: at, r: 4.5 }));
    });
  });
  const cell = (side) => (side && isKnown(side) ? `${number(side.estimate)} (${number(side.conf_low)} to ${number(side.conf_high)})` : "unknown");
  return { picture: walkable(picture), place: element("div", {}, picture, table(label, ["word", ...names], words.map((item) => [item.word, cell(item.a), cell(item.b)]))) };
}

// Likeness over time, a line with a band for each word; or, without words, how often the word is used.
export function overTime(rows, label) {
  const periods = [...new Set(rows.map((row) => row.period))], words = [...new Set(rows.map((row) => row.other))].filter(Boolean);
  const picture = frame(620, 330, label), x = (place) => 50 + (place * 480) / Math.max(1, periods.length - 1);
  const values = words.length ? rows.flatMap((row) => [row.conf_low, row.conf_high]).filter((value) => value !== null).map((value) => within(value, -1)) : rows.map((row) => row.per_million);
  const low = words.length ? Math.floor(Math.min(1, ...values) * 20) / 20 : 0, high = words.length ? Math.ceil(Math.max(0, ...values) * 20) / 20 : Math.max(...values, 1) * 1.1;
  const y = (value) => 295 - ((value - low) / Math.max(high - low, 0.05)) * 275;
  for (let step = 0; step <= 5; step += 1) {
    const value = low + ((high - low) * step) / 5;
    picture.append(element("line", { class: "grid", x1: 44, x2: 540, y1: y(value), y2: y(value) }),
      element("text", { class: "axis", x: 38, y: y(value) + 4, "text-anchor": "end" }, words.length ? value.toFixed(2) : whole(Math.round(value))));
  }
  const every = Math.ceil(periods.length / 7);
  periods.forEach((period, place) => {
    if (place % every === 0) picture.append(element("text", { class: "axis", x: x(place), y: 318, "text-anchor": "middle" }, period));
  });
  const ends = [];
  (words.length ? words : [""]).forEach((word, which) => {
    const colour = COLOURS[which % COLOURS.length];
    const known = rows.filter((row) => row.other === word).map((row) => ({ ...row, at: periods.indexOf(row.period) })).filter((row) => !word || row.estimate !== null);
    if (!known.length) return;
    const value = (row) => (word ? row.estimate : row.per_million);
    if (word) {
      const top = known.map((row) => `${x(row.at)},${y(within(row.conf_high, -1))}`), bottom = known.map((row) => `${x(row.at)},${y(within(row.conf_low, -1))}`).reverse();
      picture.append(element("polygon", { class: `band ${colour}`, points: [...top, ...bottom].join(" ") }));
    }
    picture.append(element("polyline", { class: `curve ${colour}`, points: known.map((row) => `${x(row.at)},${y(value(row))}`).join(" ") }));
    picture.append(...known.map((row) => element("circle", { class: `point ${colour}`, cx: x(row.at), cy: y(value(row)), r: 3.5 })));
    const last = known[known.length - 1];
    ends.push({ word: word || "uses a million words", colour, x: x(last.at) + 10, y: y(value(last)) + 5 });
  });
  ends.sort((one, two) => one.y - two.y).forEach((end, place) => { if (place) end.y = Math.max(end.y, ends[place - 1].y + 15); });
  picture.append(...ends.map((end) => element("text", { class: `label ${end.colour}`, x: words.length ? end.x : 50, y: words.length ? end.y : 14 }, end.word)));
  const cells = rows.map((row) => [row.period, row.uses, row.per_million.toFixed(1), row.other, number(row.estimate), number(row.conf_low), number(row.conf_high)]);
  return { picture, place: element("div", {}, picture, table(label, ["period", "uses", "a million words", "word", "likeness", "at least", "at most"], cells)) };
}

// All words at once: how far apart the two sides are against how sure that is. Those that differ are links.
export function volcano(words, label, open, q = 0.05) {
  const tested = words.filter((item) => item.q_value !== null), picture = frame(620, 420, label);
  const sureness = (item) => Math.min(SUREST, -Math.log10(item.q_value)); // those that are surer still stand at the top
  const far = Math.max(0.1, ...tested.map((item) => item.distance)), high = Math.max(2, ...tested.map(sureness));
  const x = (value) => 50 + (Math.max(0, value) / far) * 540, y = (value) => 385 - (Math.min(SUREST, -Math.log10(value)) / high) * 360;
  for (let step = 0; step <= 5; step += 1) {
    const value = (far * step) / 5;
    picture.append(element("line", { class: "grid", x1: x(value), x2: x(value), y1: 20, y2: 385 }), element("text", { class: "axis", x: x(value), y: 402, "text-anchor": "middle" }, value.toFixed(2)));
  }
  picture.append(element("line", { class: "null", x1: 50, x2: 590, y1: y(q), y2: y(q) }),
    element("text", { class: "axis", x: 592, y: y(q) - 5, "text-anchor": "end" }, "surer above this line"),
    element("text", { class: "axis", x: 592, y: 416, "text-anchor": "end" }, "further apart →"));
  const changed = tested.filter((item) => item.q_value <= q).sort((one, two) => two.conf_low - one.conf_low), rest = tested.filter((item) => item.q_value > q);
  const step = Math.ceil(rest.length / 2000);
  picture.append(...rest.filter((_, place) => place % step === 0).map((item) => element("circle", { class: "point unknown faint", cx: x(item.distance), cy: y(item.q_value), r: 2.5 })));
  const taken = [];
  changed.slice(0, 1500).forEach((item) => {
    const at = [x(item.distance), y(item.q_value)], link = svgLink(open(item.word), element("circle", { class: "point", cx: at[0], cy: at[1], r: 4 }, element("title", {}, item.word)));
    if (taken.length < 40 && !taken.some((other) => Math.abs(other[0] - at[0]) < 70 && Math.abs(other[1] - at[1]) < 14)) {
      taken.push(at);
      link.append(element("text", { x: at[0] > 500 ? at[0] - 7 : at[0] + 7, y: at[1] + 4, "font-size": 12, "text-anchor": at[0] > 500 ? "end" : "start" }, item.word));
    }
    link.setAttribute("aria-label", item.word);
    picture.append(link);
  });
  const rows = changed.slice(0, 100).map((item) => [item.word, number(item.distance), number(item.conf_low), number(item.conf_high), item.q_value.toPrecision(2)]);
  return { picture: walkable(picture), changed, place: element("div", {}, picture, table(label, ["word", "distance", "at least", "at most", "q"], rows)) };
}
