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
  remember,
  say,
  state,
  stream,
  whole,
} from "./common.js";

const TALLEST = 8e6,
  AHEAD = 20,
  PAGE = 100; // pixels, lines, lines
const WIDE = 820,
  VALUE = 88,
  GAP = 14,
  MATCH = 200; // pixels: lines in columns from here on; a column of values, between columns, the widest match
const TEXTS = ["before", "match", "after"];
const NEAR = 1500,
  MORE = 20000; // characters of a document around a use, and how many more at a time

const pen = element("canvas").getContext("2d");

// ------------------------------------------------------------------------------------------------------- one line

// How lines are laid out in so much room: in columns, or, where there is little, as text with its values below.
function layoutOf(place, columns, matches) {
  const width = place.clientWidth,
    face = getComputedStyle(place).getPropertyValue("--serif");
  const stacked = width < WIDE || columns.length > 4;
  pen.font = `600 17px ${face}`;
  const match = Math.min(MATCH, Math.max(50, ...matches.map((text) => pen.measureText(text).width))) + 2;
  pen.font = `17px ${face}`;
  const side = (width - match - columns.length * (VALUE + GAP) - 2 * GAP) / 2 - 2;
  const row = stacked ? (width < 500 ? 4 : width < 1000 ? 2 : 1) * 26 + (columns.length ? 32 : 12) : 38;
  place.classList.toggle("stacked", stacked);
  place.style.setProperty("--columns", columns.length);
  place.style.setProperty("--match", `${match}px`);
  place.style.setProperty("--row", `${row}px`);
  return { stacked, side, row };
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
  const room = layout.stacked ? Infinity : layout.side,
    space = layout.stacked ? " " : null;
  const match = cell("match", element("bdi", {}, line.match));
  const before = cell("before", fitted(line.before, room, true));
  const after = cell("after", fitted(line.after, room, false));
  const cells = values.map((value) => cell("value", element("bdi", { title: value }, value)));
  const onkeydown = (event) => {
    if (event.key === "Enter") open();
  };
  const row = element(
    "div",
    { class: "row", role: "row", tabindex: "0", onclick: open, onkeydown, ...more },
    parts([before, space, match, space, after], cells),
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

export function lineTable(columns, corpus) {
  const count = element("p", { class: "hint", role: "status" }),
    head = element("div", { class: "row head", role: "row" });
  const body = element("div", { class: "rows", role: "rowgroup" }),
    space = element("div", { class: "space" }, body);
  const scroll = element(
    "div",
    { class: "scroller", tabindex: "0", role: "table", "aria-label": "Lines" },
    element("div", { role: "rowgroup", class: "heads" }, head),
    space,
  );
  const grid = element("div", { class: "concordance" }, scroll);
  const chosen = state().getAll("show"),
    shown = new Set(chosen.length ? columns.filter((name) => chosen.includes(name)) : columns.slice(0, 2));
  const names = () => columns.filter((name) => shown.has(name));
  const all = element("button", { type: "button", onclick: () => everything() }, "CSV of all lines");
  const choice = columns.length
    ? element(
        "details",
        { class: "choose" },
        element("summary", {}, "Columns"),
        columns.map((name) =>
          element(
            "label",
            { class: "inline" },
            element("input", {
              type: "checkbox",
              checked: shown.has(name),
              onchange: (event) => choose(name, event.target.checked),
            }),
            " ",
            name,
          ),
        ),
      )
    : "";
  const ways = element("div", { class: "tools", hidden: true }, all, choice);
  let asked = null,
    signal = null,
    total = 0,
    pages = new Map(),
    sort = "",
    change = () => {},
    layout = null,
    width = 0;

  const heads = () =>
    head.replaceChildren(
      ...parts(
        TEXTS.map((name) => titled(name, name, name === "match" ? null : name)),
        names().map((name) => titled(name, "value", TEXTS.includes(name) ? `columns.${name}` : name)),
      ),
    );

  // A header; `key` is what one sorts by.
  function titled(name, kind, key) {
    const now = key !== null && sort.replace(/^-/, "") === key,
      down = sort.startsWith("-");
    const sorted = now ? (down ? "descending" : "ascending") : "none";
    const made = element("div", { class: `cell ${kind}`, role: "columnheader", "aria-sort": sorted });
    const next = () => order(now && !down ? `-${key}` : now ? "" : key),
      arrow = now ? (down ? " ↓" : " ↑") : "";
    made.append(key === null ? name : element("button", { type: "button", onclick: next }, name + arrow));
    return made;
  }

  function order(next) {
    change(next);
    show(asked, next);
  }

  function choose(name, on) {
    if (on) shown.add(name);
    else shown.delete(name);
    remember({ show: shown.size ? names() : "none" });
    heads();
    arrange();
  }

  const height = () => Math.min(total * layout.row, TALLEST);
  const squeeze = () =>
    total * layout.row <= TALLEST ? 1 : (TALLEST - scroll.clientHeight) / (total * layout.row - scroll.clientHeight);

  function page(which) {
    if (!pages.has(which)) {
      const mine = pages;
      pages.set(
        which,
        ask("/api/lines", { ...asked, sort, skip: which * PAGE, limit: PAGE }, false, signal).catch((error) => {
          mine.delete(which);
          throw error;
        }),
      );
      if (pages.size > 60) pages.delete(pages.keys().next().value);
    }
    return pages.get(which);
  }

  async function draw() {
    const mine = pages,
      top = scroll.scrollTop / squeeze(),
      first = Math.max(0, Math.floor(top / layout.row) - AHEAD);
    const last = Math.min(total, Math.ceil((top + scroll.clientHeight) / layout.row) + AHEAD),
      lines = [];
    for (let at = Math.floor(first / PAGE); at * PAGE < last; at += 1) {
      const answer = await page(at);
      if (mine !== pages) return;
      answer.lines.forEach((line, place) => {
        if (at * PAGE + place >= first && at * PAGE + place < last) lines.push([line, at * PAGE + place]);
      });
    }
    const largest = largestShare(lines.map(([line]) => line));
    body.replaceChildren(
      ...lines.map(([line, place]) =>
        lineRow(line, valuesOf(line, names()), layout, largest, () => readDocument(line, corpus()), {
          "aria-rowindex": place + 2,
          "data-line": place,
        }),
      ),
    );
    body.style.transform = `translateY(${first * layout.row - top + scroll.scrollTop}px)`;
  }

  const redraw = () =>
    draw().catch((error) => {
      if (error.name !== "AbortError") say(count, error);
    });

  // All of it in the room that there is now.
  function arrange() {
    if (!total || !grid.clientWidth) return;
    width = grid.clientWidth;
    pages.get(0)?.then(
      (first) => {
        if (!total) return;
        layout = layoutOf(
          grid,
          names(),
          first.lines.map((line) => line.match),
        );
        space.style.height = `${height()}px`;
        scroll.style.height = `${Math.min(460, height() + 44)}px`;
        redraw();
      },
      () => {},
    );
  }
  new ResizeObserver(() => {
    if (grid.clientWidth !== width) arrange();
  }).observe(grid);

  let waiting = false;
  scroll.addEventListener("scroll", () => {
    if (waiting || !total) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (total) redraw();
    });
  });

  // The lines of a question; those of the question before are given up.
  const show = (values, next = "") =>
    current(
      grid,
      async (_, mine) => {
        asked = values;
        sort = next;
        pages = new Map();
        signal = mine.signal;
        const first = await page(0);
        total = first.count;
        scroll.hidden = false;
        scroll.scrollTop = 0;
        scroll.setAttribute("aria-rowcount", total + 1);
        heads();
        count.textContent = `${counted(total, "line")}. Click on a line to read its document.`;
        ways.hidden = false;
        arrange();
      },
      (error) => {
        clear();
        say(count, error);
      },
    );

  function clear() {
    giveUp(grid, ways);
    total = 0;
    pages = new Map();
    body.replaceChildren();
    head.replaceChildren();
    scroll.hidden = true; // a table without lines is none
    ways.hidden = true;
    count.textContent = "";
  }

  // All lines as CSV, written as they come.
  const everything = () =>
    current(
      ways,
      async (mine) => {
        const rows = [];
        let written = 0,
          columns_ = null;
        await stream(
          "/api/all-lines",
          { ...asked, sort },
          (line) => {
            const row = flat(line);
            if (columns_ === null) {
              columns_ = Object.keys(row);
              rows.push(`${csvRow(columns_)}\n`);
            }
            rows.push(`${csvRow(columns_.map((name) => row[name]))}\n`);
            written += 1;
            if (written % 1000 === 0) all.textContent = `${whole(written)} of ${whole(total)} lines …`;
          },
          mine,
        );
        all.textContent = "CSV of all lines";
        download(
          new Blob(rows, { type: "text/csv" }),
          `${asked.phrase.replace(/[^\p{L}\p{N}]+/gu, "-") || "all"}-lines.csv`,
        );
      },
      (error) => say(count, error),
    );

  clear();
  return {
    place: element("div", {}, element("div", { class: "over-lines" }, count, ways), grid),
    show,
    clear,
    onSort: (act) => {
      change = act;
    },
    names,
  };
}

// ---------------------------------------------------------------------------------------------------- the document

// A document around one use of it; the rest of a long one comes on request.
const readDocument = (line, corpus) =>
  current(
    readDocument,
    async (signal) => {
      const answer = await ask("/api/document", { corpus, number: line.document }, false, signal);
      const facts = Object.entries(answer.values)
        .map(([name, value]) => `${name}: ${value ?? ""}`)
        .join(" · ");
      const text = answer.text,
        [begin, end] = whereabouts(text, line),
        use = element("mark", {}, text.slice(begin, end));
      let low = text.length > 4 * NEAR ? Math.max(0, begin - NEAR) : 0,
        high = text.length > 4 * NEAR ? Math.min(text.length, end + NEAR) : text.length;
      const before = element("span", {}, text.slice(low, begin)),
        after = element("span", {}, text.slice(end, high));
      const button = (label, act) => element("button", { type: "button", class: "plain", onclick: act }, label);
      const earlier = button("Earlier", () => {
        const from = Math.max(0, low - MORE);
        before.prepend(text.slice(from, low));
        low = from;
        rest();
      });
      const later = button("Later", () => {
        const to = Math.min(text.length, high + MORE);
        after.append(text.slice(high, to));
        high = to;
        rest();
      });
      const whole_ = button("Download all of it", () =>
        download(new Blob([text], { type: "text/plain" }), `document-${line.document}.txt`),
      );
      const told = element("p", { class: "hint" });
      function rest() {
        earlier.hidden = low === 0;
        later.hidden = high === text.length;
        told.textContent =
          low === 0 && high === text.length ? "" : `${whole(high - low)} of ${whole(text.length)} characters.`;
      }
      rest();
      const dialog = element(
        "dialog",
        { "aria-label": "The document", onclose: () => dialog.remove() },
        element("p", { class: "hint" }, facts),
        earlier,
        element("p", { class: "document" }, before, use, after),
        later,
        told,
        element(
          "p",
          {},
          button("Close", () => dialog.close()),
          " ",
          text.length > 4 * NEAR ? whole_ : "",
        ),
      );
      document.body.append(dialog);
      dialog.showModal();
      if (end > begin) use.scrollIntoView({ block: "center" });
    },
    (error) => {
      const dialog = element("dialog", { "aria-label": "The document", onclose: () => dialog.remove() });
      say(dialog, error);
      dialog.append(element("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Close"));
      document.body.append(dialog);
      dialog.showModal();
    },
  );

// Where a use is in the text of its document, from the words around it; the words of a line are in lower case and
// are apart from their commas.
function whereabouts(text, line) {
  const pattern = (words) =>
    words
      .filter(Boolean)
      .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
      .join("\\s*");
  const match = pattern(line.match.split(" "));
  for (const near of [10, 4, 2, 0]) {
    const before = pattern(line.before.split(" ").slice(-near || Infinity)),
      after = pattern(line.after.split(" ").slice(0, near));
    const found = new RegExp(`(${before}\\s*)(${match})\\s*${after}`, "iu").exec(text);
    if (found) return [found.index + found[1].length, found.index + found[1].length + found[2].length];
  }
  return [0, 0];
}
