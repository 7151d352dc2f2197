// Pictures: each with a table of the same numbers for screen readers, each word and point a link to its evidence.

import { element, isKnown, number, svgLink, UNKNOWN, whole } from "./common.js";

const SUREST = 12; // powers of ten
const NARROWEST = 0.1; // of an axis of likeness
export const COLOURS = ["context", "spelling", "third", "fourth", "fifth", "sixth", "seventh"];

export function table(caption, names, rows) {
  return element(
    "div",
    { class: "unseen" },
    element(
      "table",
      {},
      element("caption", {}, caption),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          names.map((name) => element("th", { scope: "col" }, name)),
        ),
      ),
      element(
        "tbody",
        {},
        rows.map((row) =>
          element(
            "tr",
            {},
            row.map((cell) => element("td", {}, String(cell))),
          ),
        ),
      ),
    ),
  );
}

// Pictures are drawn as wide as there is room, up to `most`, so that their letters stay readable on a phone.
const room = (most) => Math.max(280, Math.min(most, innerWidth - 36));

function frame(width, height, label) {
  const picture = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label });
  picture.style.maxWidth = `${Math.round(1.25 * width)}px`;
  return picture;
}

// Tab leads to one link of a picture, from which arrows walk along the others; Enter opens one, as links do.
function walkable(picture) {
  const links = () => [...picture.querySelectorAll("a")];
  const stand = (link) => links().forEach((each) => each.setAttribute("tabindex", each === link ? 0 : -1));
  stand(links()[0]);
  picture.addEventListener("focusin", (event) => stand(event.target.closest("a")));
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const all = links();
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length]?.focus();
    event.preventDefault();
  });
  return picture;
}

const within = (value, low, high) => Math.max(low, Math.min(high, value));
const widthOf = (text, size = 11) => text.length * size * 0.64;
const short = (text, most = 18) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// ------------------------------------------------------------------------------------------------------------ axes

// Where an axis of likeness begins and ends: what is known lies on it, and it is never so narrow that noise looks
// large.
/** @returns {[number, number]} */
export function likenessRange(items) {
  const values = items
    .filter((item) => item && isKnown(item))
    .flatMap((item) => [item.estimate, item.conf_low, item.conf_high])
    .map((value) => within(value, -1, 1));
  if (!values.length) return [0, 1];
  let low = Math.floor(20 * Math.min(...values) + 1e-9) / 20,
    high = Math.ceil(20 * Math.max(...values) - 1e-9) / 20;
  if (high - low > 0.45) {
    low = Math.min(0, low);
    high = 1;
  }
  if (high - low < NARROWEST) {
    high = Math.min(1, low + NARROWEST);
    low = high - NARROWEST;
  }
  return [low, high];
}

// Round values along an axis, at most so many, and how they are written.
function ticks(low, high, most) {
  const rough = Math.max(high - low, 1e-9) / most,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((times) => times * power).find((size) => size >= rough - 1e-12),
    values = [];
  for (let count = Math.ceil(low / step - 1e-6); count * step <= high + 1e-6 * step; count += 1)
    values.push(count * step + 0); // no −0
  const decimals = Math.max(
    0,
    ...values.map((value) => (String(Number(value.toPrecision(6))).split(".")[1] ?? "").length),
  );
  return values.map((value) => [
    value,
    high >= 1000 ? whole(Math.round(value)) : (Math.abs(value) < 1e-9 ? 0 : value).toFixed(decimals),
  ]);
}

// Draws an axis of likeness from left to right and says where a value is.
function across(picture, [low, high], left, right, height) {
  const x = (value) => left + ((right - left) * (within(value, low, high) - low)) / (high - low);
  for (const [value, text] of ticks(low, high, Math.abs(right - left) < 250 ? 3 : 5)) {
    picture.append(
      element("line", { class: "grid", x1: x(value), x2: x(value), y1: 8, y2: height - 22 }),
      element("text", { class: "axis", x: x(value), y: height - 6, "text-anchor": "middle" }, text),
    );
  }
  return x;
}

// A point with its interval; grey where nothing can be known.
function measured(item, x, y, colour, sure = true) {
  const kind = sure && isKnown(item) ? colour : "unknown",
    parts = [];
  if (item.conf_low !== null && item.conf_low !== undefined)
    parts.push(
      element("line", { class: `interval ${kind}`, x1: x(item.conf_low), x2: x(item.conf_high), y1: y, y2: y }),
    );
  parts.push(
    element("circle", {
      class: `point ${kind}`,
      cx: x(kind === "unknown" ? item.cosine : item.estimate),
      cy: y,
      r: 4.5,
    }),
  );
  return parts;
}

// -------------------------------------------------------------------------------------------------------- likeness

// The words most like a word, with intervals.
export function likeness(nearest, label, open) {
  const width = room(520),
    names = nearest.map((item) => short(item.other, width < 420 ? 14 : 18)),
    left = Math.min(0.5 * width, 22 + Math.max(80, ...names.map((name) => widthOf(name, 15)))),
    height = 30 + nearest.length * 29,
    picture = frame(width, height, label);
  const x = across(picture, likenessRange(nearest.some(isKnown) ? nearest : []), left, width - 20, height);
  nearest.forEach((item, place) => {
    const y = 22 + place * 29,
      name = element(
        "text",
        { x: left - 10, y: y + 5, "text-anchor": "end", "font-size": 15 },
        names[place],
        element("title", {}, item.other),
      );
    picture.append(open ? svgLink(open(item.other), name) : name, ...measured(item, x, y, "context"));
  });
  const rows = nearest.map((item) => [
    item.other,
    ...["estimate", "conf_low", "conf_high"].map((name) => (isKnown(item) ? number(item[name]) : "unknown")),
  ]);
  return {
    picture: walkable(picture),
    place: element("div", {}, picture, table(label, ["word", "likeness", "at least", "at most"], rows)),
  };
}

// Words on two sides, from the middle outwards: the higher the likeness, the farther out. Those that are nearer to the
// first side come first. `sure` says of which sides anything can be known.
export function mirrored(words, names, label, open, sure = [true, true]) {
  const width = room(1180);
  const column = width < 560 ? 104 : 170; // for the words
  const height = 62 + words.length * 28;
  const picture = frame(width, height, label);
  const range = likenessRange(words.flatMap((item) => [item.a, item.b].filter((side, which) => side && sure[which])));
  const low = (width - column) / 2;
  const edges = [
    [low, 20],
    [low + column, width - 20],
  ]; // of either side, from the middle outwards
  const axes = edges.map(([inner, outer]) => across(picture, range, inner, outer, height));
  names.forEach((name, side) => {
    const at = { x: edges[side][1], y: 14, "text-anchor": side ? "end" : "start" };
    const kind = sure[side] ? COLOURS[side] : "unknown";
    picture.append(element("text", { class: `label ${kind}`, ...at }, short(name, Math.round(width / 22))));
  });
  const lean = (item) => (item.a && item.b ? item.b.estimate - item.a.estimate : 0);
  const sorted = [...words].sort((one, two) => lean(one) - lean(two));
  sorted.forEach((item, place) => {
    const y = 42 + place * 28;
    const at = { x: low + column / 2, y: y + 5, "text-anchor": "middle", "font-size": 15 };
    const name = element("text", at, short(item.word, column < 150 ? 12 : 20), element("title", {}, item.word));
    const sides = [item.a, item.b];
    const points = sides.map((side, which) =>
      side ? measured(side, axes[which], y, COLOURS[which], sure[which]) : [],
    );
    picture.append(svgLink(open(item.word), name), ...points.flat());
  });
  const known = (side, which) => side && sure[which] && isKnown(side);
  const range_ = (side) => `${number(side.estimate)} (${number(side.conf_low)} to ${number(side.conf_high)})`;
  const cell = (side, which) => (known(side, which) ? range_(side) : "unknown");
  const rows = sorted.map((item) => [item.word, cell(item.a, 0), cell(item.b, 1)]);
  return {
    picture: walkable(picture),
    place: element("div", {}, picture, table(label, ["word", ...names], rows)),
  };
}

// ------------------------------------------------------------------------------------------------------- over time

// Dates are written as their years where periods are named.
export const periodName = (name) => name.replace(/(\d{4})-\d{2}(-\d{2})?/g, "$1").replace(/^(.+)–\1$/, "$1");

// Curves over periods, each {name, colour, points: [{period, uses, value, low, high, known, title, href}]}; `range` is
// shared between pictures. What cannot be known is at the foot, in grey, and interrupts its curve.
export function overTime(curves, periods, range, label, { most = 620, tall = 330 } = {}) {
  const width = room(most);
  const picture = frame(width, tall, label);
  const plane = timeAxes(picture, curves, periods, range, width, tall);
  const placed = curves.map((curve) => ({
    ...curve,
    points: curve.points.map((point) => ({ ...point, at: periods.indexOf(point.period) })),
  }));
  for (const { colour, points } of placed) picture.append(...stretches(points).flatMap(drawnStretch(plane, colour)));
  for (const { colour, points } of placed) picture.append(...points.filter(isDrawn).map(dot(plane, colour)));
  picture.append(...endLabels(placed, plane));
  const value = (point) =>
    point.known ? [number(point.value), number(point.low), number(point.high)] : [UNKNOWN, "", ""];
  const cells = placed.flatMap(({ name, points }) => points.map((point) => [point.period, name, ...value(point)]));
  return {
    picture: walkable(picture),
    place: element("div", {}, picture, table(label, ["period", "which", "value", "at least", "at most"], cells)),
  };
}

// Draws the axes and says where a period and a value are.
function timeAxes(picture, curves, periods, [low, high], width, height) {
  const scale = ticks(low, high, height < 250 ? 3 : 5);
  const left = 12 + Math.max(...scale.map(([, text]) => widthOf(text)));
  const names = curves.map(({ name }) => widthOf(short(name), 14));
  const right = width - 12 - Math.min(0.3 * width, Math.max(...names));
  const foot = height - 32;
  const step = (right - left - 16) / Math.max(1, periods.length - 1);
  const x = (place) => (periods.length < 2 ? (left + right) / 2 : left + 8 + place * step);
  const y = (value) => foot - ((within(value, low, high) - low) / (high - low)) * (foot - 16);
  for (const [value, text] of scale) {
    picture.append(
      element("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) }),
      element("text", { class: "axis", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, text),
    );
  }
  const titles = periods.map(periodName);
  const widest = Math.max(...titles.map((title) => widthOf(title))) + 22;
  const every = Math.max(1, Math.ceil((periods.length * widest) / (right - left + widest)));
  titles.forEach((title, place) => {
    if (place % every) return;
    const half = widthOf(title) / 2;
    const at = { x: within(x(place), left - 12 + half, width - 2 - half), y: height - 8, "text-anchor": "middle" };
    picture.append(element("text", { class: "axis", ...at }, title));
  });
  return { x, y, right, foot };
}

// Points that follow one another and are known.
const stretches = (points) =>
  points
    .reduce((found, point) => (point.known ? [...found.slice(0, -1), [...found.at(-1), point]] : [...found, []]), [[]])
    .filter((stretch) => stretch.length);

const drawnStretch =
  ({ x, y }, colour) =>
  (stretch) => {
    const edge = (side) => stretch.map((point) => `${x(point.at)},${y(point[side])}`);
    const curve = element("polyline", { class: `curve ${colour}`, points: edge("value").join(" ") });
    const [first] = stretch;
    if (first.low === undefined) return [curve];
    const around = [...edge("high"), ...edge("low").reverse()].join(" ");
    const alone = { x1: x(first.at), x2: x(first.at), y1: y(first.low), y2: y(first.high) };
    return stretch.length > 1
      ? [element("polygon", { class: `band ${colour}`, points: around }), curve]
      : [element("line", { class: `interval ${colour}`, ...alone }), curve];
  };

const isDrawn = (point) => point.uses > 0 || point.known;

const dot =
  ({ x, y, foot }, colour) =>
  (point) => {
    const look = point.known
      ? { class: `point ${colour}`, cy: y(point.value), r: 4 }
      : { class: "point unknown", cy: foot, r: 3 };
    const circle = element("circle", { cx: x(point.at), ...look }, element("title", {}, point.title));
    if (!point.uses) return circle;
    const link = svgLink(point.href, circle);
    link.setAttribute("aria-label", point.title);
    return link;
  };

// The names of curves at their ends, one below the other where they would lie on each other.
function endLabels(curves, { y, right, foot }) {
  const last = ({ name, colour, points }) => ({ name, colour, end: points.filter((point) => point.known).pop() });
  const named = curves.map(last).filter(({ name, end }) => name && end);
  const ends = named.map((each) => ({ ...each, y: y(each.end.value) + 5 })).sort((one, two) => one.y - two.y);
  ends.forEach((end, place) => {
    if (place) end.y = Math.max(end.y, ends[place - 1].y + 16);
  });
  const over = Math.max(0, (ends.at(-1)?.y ?? 0) - foot);
  return ends.map((end) =>
    element("text", { class: `label ${end.colour}`, x: right + 4, y: end.y - over }, short(end.name)),
  );
}

// ------------------------------------------------------------------------------------------------------- all words

const ERRORS = [
  [1e-1, "1 in 10"],
  [1e-3, "1 in 1,000"],
  [1e-6, "1 in 10⁶"],
  [1e-9, "1 in 10⁹"],
  [1e-12, "1 in 10¹²"],
];
const MOST = 1500; // words that are links
const NAMED = 45; // words that are written beside their points
const FAINT = 2000; // other words that are drawn

// All words at once: how far apart the two sides are, and how many words as sure as that are wrong (q). The words of
// `changed` are links; the others are grey.
export function volcano(words, changed, label, open, q = 0.05) {
  const width = room(1180);
  const height = width < 500 ? 420 : 520;
  const picture = frame(width, height, label);
  const box = { left: 74, right: width - 16, top: 24, foot: height - 36, height };
  const tested = words.filter((item) => item.q_value !== null);
  const plane = volcanoAxes(picture, tested, box, q);
  const there = new Set(changed);
  const rest = tested.filter((item) => !there.has(item));
  const step = Math.ceil(rest.length / FAINT);
  const grey = (item) =>
    element("circle", { class: "point unknown faint", cx: plane.x(item.distance), cy: plane.y(item.q_value), r: 2.5 });
  picture.append(...rest.filter((_, place) => place % step === 0).map(grey));
  const named = [];
  const place = labels(box.left, width);
  changed.slice(0, MOST).forEach((item) => {
    const [x, y] = [plane.x(item.distance), plane.y(item.q_value)];
    const point = element("circle", { class: "point", cx: x, cy: y, r: 4 }, element("title", {}, item.word));
    const link = svgLink(open(item.word), point);
    link.setAttribute("aria-label", item.word);
    const name = named.length < NAMED && place(item.word, x, y);
    if (name) {
      link.append(name);
      named.push(link);
    } else picture.append(link);
  });
  picture.append(...named); // above the points, so that these do not cover them
  const cells = (item) => [item.distance, item.conf_low, item.conf_high].map(number);
  const rows = changed.slice(0, 100).map((item) => [item.word, ...cells(item), item.q_value.toPrecision(2)]);
  return {
    picture: walkable(picture),
    place: element("div", {}, picture, table(label, ["word", "distance", "at least", "at most", "q"], rows)),
  };
}

function volcanoAxes(picture, tested, { left, right, top, foot, height }, q) {
  const sureness = (value) => Math.min(SUREST, -Math.log10(Math.max(value, 1e-300))); // the surest are at the top
  const far = Math.max(0.1, ...tested.map((item) => item.distance));
  const high = Math.max(2, ...tested.map((item) => sureness(item.q_value)));
  const x = (value) => left + (Math.max(0, value) / far) * (right - left);
  const y = (value) => foot - (sureness(value) / high) * (foot - top);
  const axis = (at, text) => element("text", { class: "axis", ...at }, text);
  for (const [value, text] of ticks(0, far, 5)) {
    const line = element("line", { class: "grid", x1: x(value), x2: x(value), y1: top - 4, y2: foot });
    picture.append(line, axis({ x: x(value), y: foot + 16, "text-anchor": "middle" }, text));
  }
  for (const [value, text] of ERRORS.filter(([share]) => sureness(share) <= high)) {
    const line = element("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) });
    picture.append(line, axis({ x: left - 8, y: y(value) + 4, "text-anchor": "end" }, text));
  }
  const above = element("text", { class: "axis haloed", x: right, y: y(q) - 5, "text-anchor": "end" });
  above.textContent = "above this line, 1 in 20 words is wrong at most";
  picture.append(
    element("line", { class: "null", x1: left, x2: right, y1: y(q), y2: y(q) }),
    above,
    axis({ x: right, y: height - 4, "text-anchor": "end" }, "further apart →"),
    axis({ x: 4, y: 12 }, "wrong among words as sure as this (q): ↑ fewer"),
  );
  return { x, y };
}

// Writes words beside their points, where no other is: gives the text, or nothing where there is no room.
function labels(left, width) {
  const taken = [];
  const crosses = (box, other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3];
  const free = (box) => box[0] >= left && box[2] <= width && !taken.some((other) => crosses(box, other));
  return (text, x, y) => {
    const long = widthOf(text, 12) + 4;
    const sides = [
      [x + 7, "start", x + 5],
      [x - 7, "end", x - 5 - long],
    ];
    const side = sides.find(([, , from]) => free([from, y - 7, from + long, y + 7]));
    if (!side) return null;
    taken.push([side[2], y - 7, side[2] + long, y + 7], [x - 4, y - 4, x + 4, y + 4]);
    return element("text", { class: "haloed", x: side[0], y: y + 4, "font-size": 12, "text-anchor": side[1] }, text);
  };
}

// ------------------------------------------------------------------------------------------------------- how many

// How many of something there are in each period.
export function bars(rows, name, label, open) {
  const width = room(520);
  const height = 190;
  const [left, foot] = [44, height - 26];
  const picture = frame(width, height, label);
  const most = Math.max(1, ...rows.map((row) => row[name]));
  const step = (width - left - 4) / rows.length;
  for (const [value, text] of ticks(0, most, 3)) {
    const y = foot - (value / most) * (foot - 10);
    picture.append(
      element("line", { class: "grid", x1: left, x2: width, y1: y, y2: y }),
      element("text", { class: "axis", x: left - 6, y: y + 4, "text-anchor": "end" }, text),
    );
  }
  const every = Math.ceil((widthOf(periodName(rows[0].period)) + 10) / step);
  rows.forEach((row, place) => {
    const text = { class: "axis", x: left + (place + 0.5) * step, y: height - 8, "text-anchor": "middle" };
    if (place % every === 0) picture.append(element("text", text, periodName(row.period)));
    const tall = (row[name] / most) * (foot - 10);
    const at = { x: left + place * step + 1, y: foot - tall, width: Math.max(1, step - 3), height: tall };
    const said = `${periodName(row.period)}: ${whole(row[name])}`;
    if (!row[name]) return;
    const link = svgLink(open(row), element("rect", { class: "bar", ...at }, element("title", {}, said)));
    link.setAttribute("aria-label", said);
    picture.append(link);
  });
  const cells = rows.map((row) => [row.period, row[name]]);
  return {
    picture: walkable(picture),
    place: element("div", {}, picture, table(label, ["period", name], cells)),
  };
}
