// Lines of a concordance, millions of them: only those in sight are asked for and drawn.

import {
  ask,
  counted,
  csvRow,
  current,
  download,
  element,
  flat,
  giveUp,
  keyed,
  remember,
  say,
  spaceBefore,
  state,
  whole,
} from "./common.js";
import { readDocument } from "./document.js";

const TALLEST = 8e6; // pixels
const AHEAD = 20; // lines that are drawn above and below those in sight
const PAGE = 100; // lines that are asked for at a time
const AT_ONCE = 1000; // lines of a file that are asked for at a time
const ALL = "CSV of all lines";
const WIDE = 820; // pixels: lines are in columns from here on
const VALUE = 88; // pixels of a column of values
const GAP = 14; // pixels between columns
const WORD = 50; // pixels of a word, about
const AROUND = 10; // words on either side that are shown unless somebody asks for more
const WIDTHS = [AROUND, 25, 50, 100];
const MATCH = 200; // pixels of the widest match
const HEAD = 44; // pixels of the header
const TEXTS = ["before", "match", "after"];
const ORDERS = {
  "": "in the order of the text",
  before: "by the word before",
  "before 2": "by the second word before",
  "before 3": "by the third word before",
  after: "by the word after",
  "after 2": "by the second word after",
  "after 3": "by the third word after",
};

const pen = element("canvas").getContext("2d");

// ------------------------------------------------------------------------------------------------------- one line

// How lines are laid out in so much room: in columns, or, where there is little, as text with its values below.
function layoutOf(place, columns, matches, around = AROUND) {
  const width = place.clientWidth,
    face = getComputedStyle(place).getPropertyValue("--serif");
  const stacked = width < WIDE || columns.length > 4 || around > AROUND;
  pen.font = `600 17px ${face}`;
  const match = Math.min(MATCH, Math.max(50, ...matches.map((text) => pen.measureText(text).width))) + 2;
  pen.font = `17px ${face}`;
  const inRow = (width - match - columns.length * (VALUE + GAP) - 2 * GAP) / 2 - 2;
  const wide = Math.ceil((2 * around * WORD) / (0.9 * width));
  const text = around > AROUND ? wide : width < 1000 ? 2 : 1; // rows of text of a stacked line
  const row = stacked ? text * 26 + (columns.length ? 32 : 12) : 38;
  place.classList.toggle("stacked", stacked);
  place.style.setProperty("--columns", columns.length);
  place.style.setProperty("--match", `${match}px`);
  place.style.setProperty("--row", `${row}px`);
  // A stacked line begins with the words before the match for which there is room: nothing is cut off.
  return { stacked, side: stacked ? (0.9 * text * width - match) / 2 - GAP : inRow, row };
}

// The words that fit, from the match on; the others are there for screen readers.
function fitted(text, room, before) {
  const words = text.split(" "),
    space = pen.measureText(" ").width;
  let width = -space,
    count = 0;
  while (count < words.length) {
    width += space + pen.measureText(words[before ? words.length - 1 - count : count]).width;
    if (width > room && count) break;
    count += 1;
  }
  const [seen, unseen] = before
    ? [words.slice(words.length - count), words.slice(0, words.length - count)]
    : [words.slice(0, count), words.slice(count)];
  const rest = unseen.length ? element("span", { class: "unseen" }, unseen.join(" ")) : null;
  return before ? [rest, element("bdi", {}, seen.join(" "))] : [element("bdi", {}, seen.join(" ")), rest];
}

const cell = (kind, ...children) => element("div", { class: `cell ${kind}`, role: "cell" }, ...children);
const parts = (text, values) => [
  element("div", { class: "text", role: "presentation" }, text),
  values.length ? element("div", { class: "values", role: "presentation" }, values) : null,
];

// The columns of a line's document are kept apart from its text: they may be called as that is.
const valuesOf = (line, columns) => columns.map((name) => String(line.columns[name] ?? ""));

// A line that opens its document; it is shaded by how much it counts, where that is known.
function lineRow(line, values, layout, largest, open, more = {}) {
  const room = layout.side,
    space = layout.stacked ? " " : null;
  const match = cell("match", element("bdi", {}, line.match));
  const before = cell("before", fitted(line.before, room, true));
  const after = cell("after", fitted(line.after, room, false));
  const cells = values.map((value) => cell("value", element("bdi", { title: value }, value)));
  const onkeydown = (event) => {
    if (event.key === "Enter") open();
  };
  const then = layout.stacked ? spaceBefore(line.after) : null;
  const row = element(
    "div",
    { class: "row", role: "row", tabindex: "0", onclick: open, onkeydown, ...more },
    parts([before, space, match, then, after], cells),
  );
  if (line.share !== undefined) {
    row.classList.add("share");
    row.style.setProperty("--s", Math.round((30 * Math.abs(line.share)) / largest));
  }
  return row;
}

const largestShare = (lines) => Math.max(1e-9, ...lines.map((line) => Math.abs(line.share ?? 0)));

// A short list of lines that are all there, with how much each counts.
export function lineList(lines, columns, corpus, label) {
  const place = element("div", { class: "concordance", role: "table", "aria-label": label }),
    names = ["counts", ...columns];
  let width = 0;
  new ResizeObserver(() => {
    if (!place.clientWidth || place.clientWidth === width) return;
    width = place.clientWidth;
    const layout = layoutOf(
        place,
        names,
        lines.map((line) => line.match),
      ),
      largest = largestShare(lines);
    const head = (kind, name) => element("div", { class: `cell ${kind}`, role: "columnheader" }, name);
    const heads = parts(
      TEXTS.map((name) => head(name, name)),
      names.map((name) => head("value", name)),
    );
    const values = (line) => [`${(100 * line.share).toFixed(2)} %`, ...valuesOf(line, columns)];
    place.replaceChildren(
      element("div", { class: "row head", role: "row" }, heads),
      ...lines.map((line) => lineRow(line, values(line), layout, largest, () => readDocument(line, corpus()))),
    );
  }).observe(place);
  return place;
}

// ------------------------------------------------------------------------------------------------------- all lines

// The next line for each key, from line `at` on: `far` lines make a page.
const STEPS = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at, far) => at + far,
  PageUp: (at, far) => at - far,
  Home: () => 0,
  End: () => Infinity,
};

// All lines of a question. Rows are kept as they are while one scrolls, so that focus and clicks are not lost; one of
// them can be reached by Tab, the others by arrows.
export class LineTable {
  constructor(columns, corpus, label = "Lines") {
    this.columns = columns;
    this.corpus = corpus;
    this.onSort = (/** @type {string} */ _order) => {};
    const chosen = state().getAll("show");
    this.shown = new Set(chosen.length ? columns.filter((name) => chosen.includes(name)) : columns.slice(0, 2));
    this.count = element("p", { class: "hint", role: "status" });
    this.head = element("div", { class: "row head", role: "row" });
    this.body = element("div", { class: "rows", role: "rowgroup" });
    this.space = element("div", { class: "space" }, this.body);
    const heads = element("div", { role: "rowgroup", class: "heads" }, this.head);
    this.scroll = element("div", { class: "scroller", tabindex: "-1", role: "table" }, heads, this.space);
    this.scroll.setAttribute("aria-label", label);
    this.grid = element("div", { class: "concordance" }, this.scroll);
    this.all = element("button", { type: "button", onclick: () => this.everything() }, ALL);
    this.order = this.orders();
    this.around = Number(state().get("around")) || AROUND;
    this.ways = element("div", { class: "tools", hidden: true }, this.all, this.order, this.widths(), this.choice());
    this.place = element("div", {}, element("div", { class: "over-lines" }, this.count, this.ways), this.grid);
    this.drawn = 0; // how often rows were drawn anew
    this.turn = 0;
    this.width = 0;
    this.listen();
    this.clear();
  }

  names() {
    return this.columns.filter((name) => this.shown.has(name));
  }

  listen() {
    let waiting = false;
    this.scroll.addEventListener("scroll", () => {
      if (waiting || !this.total) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        this.redraw();
      });
    });
    this.body.addEventListener("keydown", (event) => this.walk(event));
    this.body.addEventListener("focusin", (event) =>
      this.stand(Number(event.target.closest("[data-line]")?.dataset.line)),
    );
    new ResizeObserver(() => {
      if (this.grid.clientWidth !== this.width) this.arrange();
    }).observe(this.grid);
  }

  // ------------------------------------------------------------------------------------------------- the header

  choice() {
    if (!this.columns.length) return "";
    const box = (name) => {
      const onchange = (event) => this.choose(name, event.target.checked);
      const input = element("input", { type: "checkbox", checked: this.shown.has(name), onchange });
      return element("label", { class: "inline" }, input, " ", name);
    };
    return element("details", { class: "choose" }, element("summary", {}, "Columns"), this.columns.map(box));
  }

  // By the first, second or third word on either side; the headers sort by the first, and by columns.
  orders() {
    const options = Object.entries(ORDERS).map(([value, text]) => element("option", { value }, text));
    const onchange = (event) => this.sorted(event.target.value);
    return element("select", { "aria-label": "Order of the lines", onchange }, options);
  }

  // How much of the text is shown.
  widths() {
    const option = (count) => element("option", { value: count, selected: count === this.around }, `${count} words`);
    const onchange = (event) => {
      this.around = Number(event.target.value);
      remember({ around: this.around === AROUND ? "" : this.around });
      this.show(this.asked, this.sort);
    };
    const select = element("select", { "aria-label": "Words on either side of a line", onchange }, WIDTHS.map(option));
    return element("span", {}, select, " on either side");
  }

  sorted(order) {
    this.onSort(order);
    return this.show(this.asked, order);
  }

  choose(name, on) {
    if (on) this.shown.add(name);
    else this.shown.delete(name);
    remember({ show: this.shown.size ? this.names() : "none" });
    this.heads();
    this.arrange();
  }

  heads() {
    const texts = TEXTS.map((name) => this.titled(name, name, name === "match" ? null : name));
    const values = this.names().map((name) =>
      this.titled(name, "value", TEXTS.includes(name) ? `columns.${name}` : name),
    );
    const focus = /** @type {HTMLElement} */ (document.activeElement);
    const key = this.head.contains(focus) ? focus.dataset.sort : null;
    this.head.replaceChildren(...parts(texts, values));
    if (key) this.head.querySelector(`[data-sort="${CSS.escape(key)}"]`)?.focus();
  }

  // A header; `key` is what one sorts by.
  titled(name, kind, key) {
    const now = key !== null && this.sort.replace(/^-/, "") === key;
    const down = this.sort.startsWith("-");
    const sorted = now ? (down ? "descending" : "ascending") : "none";
    const made = element("div", { class: `cell ${kind}`, role: "columnheader", "aria-sort": sorted });
    const arrow = now ? (down ? " ↓" : " ↑") : "";
    const next = now && !down ? `-${key}` : now ? "" : key;
    const onclick = () => this.sorted(next);
    made.append(key === null ? name : element("button", { type: "button", "data-sort": key, onclick }, name + arrow));
    return made;
  }

  // ------------------------------------------------------------------------------------------- lines in sight

  height() {
    return Math.min(this.total * this.layout.row, TALLEST);
  }

  // How many pixels of the scroll bar stand for one of the lines: fewer than one where there are very many.
  squeeze() {
    const tall = this.total * this.layout.row;
    const inside = this.scroll.clientHeight;
    return tall <= TALLEST ? 1 : (TALLEST - inside) / (tall - inside);
  }

  page(which) {
    const { pages, asked, around, sort, signal } = this;
    if (!pages.has(which)) {
      const values = { ...asked, around, sort, skip: which * PAGE, limit: PAGE };
      const answer = ask("/api/lines", values, false, signal).catch((error) => {
        pages.delete(which);
        throw error;
      });
      pages.set(which, answer);
      if (pages.size > 60) pages.delete(pages.keys().next().value);
    }
    return pages.get(which);
  }

  // The lines from `first` to `last`, each with its number.
  async stretch(first, last) {
    const lines = [];
    for (let at = Math.floor(first / PAGE); at * PAGE < last; at += 1) {
      const answer = await this.page(at);
      answer.lines.forEach((line, place) => lines.push([line, at * PAGE + place]));
    }
    return lines.filter(([, place]) => place >= first && place < last);
  }

  async draw() {
    this.turn += 1;
    const turn = this.turn;
    const top = this.scroll.scrollTop / this.squeeze();
    const bottom = top + this.scroll.clientHeight;
    const first = Math.max(0, Math.floor(top / this.layout.row) - AHEAD);
    const last = Math.min(this.total, Math.ceil(bottom / this.layout.row) + AHEAD);
    const lines = await this.stretch(first, last);
    if (turn !== this.turn) return;
    const lost = this.body.contains(document.activeElement);
    keyed(
      this.body,
      lines,
      ([, place]) => `${this.drawn}:${place}`,
      ([line, place]) => this.row(line, place),
    );
    this.body.style.transform = `translateY(${first * this.layout.row - top + this.scroll.scrollTop}px)`;
    if (this.at < first || this.at >= last) this.stand(Math.ceil(top / this.layout.row));
    if (this.going) this.body.querySelector(`[data-line="${this.at}"]`)?.focus({ preventScroll: true });
    else if (lost && !this.body.contains(document.activeElement)) this.scroll.focus({ preventScroll: true });
    this.going = false;
  }

  row(line, place) {
    const tabindex = place === this.at ? 0 : -1;
    const more = { "aria-rowindex": place + 2, "data-line": place, tabindex };
    const open = () => readDocument(line, this.corpus());
    return lineRow(line, valuesOf(line, this.names()), this.layout, 1, open, more);
  }

  redraw() {
    if (!this.total || !this.layout) return;
    this.draw().catch((error) => {
      if (error.name !== "AbortError") say(this.count, error);
    });
  }

  // All of it in the room that there is now.
  async arrange() {
    if (!this.total || !this.grid.clientWidth) return;
    this.width = this.grid.clientWidth;
    const first = await this.pages.get(0)?.catch(() => null);
    if (!this.total || !first) return;
    const matches = first.lines.map((line) => line.match);
    this.layout = layoutOf(this.grid, this.names(), matches, this.around);
    this.drawn += 1;
    this.space.style.height = `${this.height()}px`;
    this.scroll.style.height = `${Math.min(460, this.height() + HEAD)}px`;
    this.redraw();
  }

  // ----------------------------------------------------------------------------------------------- the keyboard

  // The line that Tab leads to.
  stand(at) {
    if (Number.isNaN(at) || at === this.at) return;
    this.at = at;
    for (const row of this.body.children) row.tabIndex = Number(row.dataset.line) === at ? 0 : -1;
  }

  walk(event) {
    const step = STEPS[event.key];
    if (!step || event.target.dataset.line === undefined) return;
    event.preventDefault();
    const { row } = this.layout;
    const room = this.scroll.clientHeight - HEAD;
    const next = step(Number(event.target.dataset.line), Math.floor(room / row));
    this.stand(Math.max(0, Math.min(this.total - 1, next)));
    const low = this.at * row;
    const top = this.scroll.scrollTop / this.squeeze();
    if (low < top) this.scroll.scrollTop = low * this.squeeze();
    else if (low + row > top + room) this.scroll.scrollTop = (low + row - room) * this.squeeze();
    this.going = true;
    this.redraw();
  }

  // ------------------------------------------------------------------------------------------------ a question

  // The lines of a question; those of the question before are given up.
  show(values, sort = "") {
    const work = async (_, mine) => {
      this.asked = values;
      this.sort = sort;
      this.pages = new Map();
      this.signal = mine.signal;
      this.at = 0;
      this.going = false;
      const first = await this.page(0);
      this.total = first.count;
      this.scroll.hidden = false;
      this.scroll.scrollTop = 0;
      this.scroll.setAttribute("aria-rowcount", this.total + 1);
      this.heads();
      this.order.value = sort.replace(/^-/, "") in ORDERS ? sort.replace(/^-/, "") : "";
      this.count.textContent = `${counted(this.total, "line")}. Click on a line to read its document.`;
      this.ways.hidden = false;
      await this.arrange();
    };
    return current(this.grid, work, (error) => {
      this.clear();
      say(this.count, error);
    });
  }

  clear() {
    giveUp(this.grid, this.ways);
    this.total = 0;
    this.pages = new Map();
    this.sort = "";
    this.at = 0;
    this.going = false;
    this.layout = null;
    this.body.replaceChildren();
    this.head.replaceChildren();
    this.scroll.hidden = true; // a table without lines is none
    this.ways.hidden = true;
    this.count.textContent = "";
  }

  // All lines as CSV.
  everything() {
    const { asked, around, sort, all, total } = this;
    const work = async (signal) => {
      const text = [];
      let names = null;
      for (let skip = 0; skip < total; skip += AT_ONCE) {
        all.textContent = `${whole(skip)} of ${whole(total)} lines …`;
        const answer = await ask("/api/lines", { ...asked, around, sort, skip, limit: AT_ONCE }, false, signal);
        const rows = answer.lines.map(flat);
        if (!names) text.push(csvRow((names = Object.keys(rows[0]))));
        for (const row of rows) text.push("\n", csvRow(names.map((name) => row[name])));
      }
      all.textContent = ALL;
      const name = asked.phrase.replace(/[^\p{L}\p{N}]+/gu, "-") || "all";
      download(new Blob(text, { type: "text/csv" }), `${name}-lines.csv`);
    };
    return current(this.ways, work, (error) => say(this.count, error));
  }
}
