// Lines of a concordance, millions of them: only those in sight are asked for and drawn.

import { ask, element, say, whole } from "./common.js";

const ROW = 36, TALLEST = 8e6, AHEAD = 20, PAGE = 100; // pixels, pixels, lines, lines

export function lineTable(columns, corpus) {
  const count = element("p", { class: "hint", role: "status" }), head = element("div", { class: "row head", role: "row" });
  const body = element("div", { class: "rows", role: "rowgroup" }), space = element("div", { class: "space" }, body);
  const scroll = element("div", { class: "scroller", tabindex: "0", role: "table", "aria-label": "Lines" },
    element("div", { role: "rowgroup", class: "heads" }, head), space);
  const grid = element("div", { class: "concordance" }, scroll);
  grid.style.setProperty("--columns", columns.length);
  let asked = null, total = 0, pages = new Map(), sort = "", change = () => {};

  const heads = () => head.replaceChildren(...["before", "match", "after", ...columns].map((name) => {
    const sortable = name !== "match", now = sort.replace(/^-/, "") === name;
    const cell = element("div", { class: `cell ${name === "before" ? "before" : ""}`, role: "columnheader", "aria-sort": now ? (sort.startsWith("-") ? "descending" : "ascending") : "none" });
    cell.append(sortable ? element("button", { type: "button", onclick: () => order(now && !sort.startsWith("-") ? `-${name}` : now ? "" : name) }, name + (now ? (sort.startsWith("-") ? " ↓" : " ↑") : "")) : name);
    return cell;
  }));

  function order(next) {
    sort = next;
    change(sort);
    show(asked, sort);
  }

  const height = () => Math.min(total * ROW, TALLEST);
  const squeeze = () => (total * ROW <= TALLEST ? 1 : (TALLEST - scroll.clientHeight) / (total * ROW - scroll.clientHeight));

  async function page(which) {
    if (!pages.has(which)) {
      const mine = pages;
      pages.set(which, ask("/api/lines", { ...asked, sort, skip: which * PAGE, limit: PAGE }).catch((error) => { mine.delete(which); throw error; }));
      if (pages.size > 60) pages.delete(pages.keys().next().value);
    }
    return pages.get(which);
  }

  async function draw() {
    const mine = pages, top = scroll.scrollTop / squeeze(), first = Math.max(0, Math.floor(top / ROW) - AHEAD);
    const last = Math.min(total, Math.ceil((top + scroll.clientHeight) / ROW) + AHEAD), rows = [];
    for (let at = Math.floor(first / PAGE); at * PAGE < last; at += 1) {
      const answer = await page(at);
      if (mine !== pages) return;
      answer.lines.forEach((line, place) => { if (at * PAGE + place >= first && at * PAGE + place < last) rows.push(row(line, at * PAGE + place)); });
    }
    body.replaceChildren(...rows);
    body.style.transform = `translateY(${first * ROW - top + scroll.scrollTop}px)`;
  }

  function row(line, place) {
    const cells = [["before", line.before], ["match", line.match], ["after", line.after], ...columns.map((name) => ["value", String(line[name] ?? "")])];
    return element("div", { class: "row", role: "row", "aria-rowindex": place + 2, tabindex: "0", "data-line": place, onclick: () => whole_(line), onkeydown: (event) => { if (event.key === "Enter") whole_(line); } },
      cells.map(([kind, text]) => element("div", { class: `cell ${kind}`, role: "cell" }, element("bdi", {}, text))));
  }

  async function whole_(line) {
    const answer = await ask("/api/document", { corpus: corpus(), number: line.document });
    const facts = Object.entries(answer.values).map(([name, value]) => `${name}: ${value ?? ""}`).join(" · ");
    const close = element("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Close");
    const dialog = element("dialog", { "aria-label": "The document", onclose: () => dialog.remove() }, element("p", { class: "hint" }, facts), element("p", { class: "document" }, answer.text), close);
    document.body.append(dialog);
    dialog.showModal();
  }

  let waiting = false;
  scroll.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw().catch((error) => say(count, error)); });
  });

  async function show(values, order_ = "") {
    asked = values; sort = order_; pages = new Map(); total = 0;
    scroll.scrollTop = 0;
    heads();
    const first = await page(0);
    total = first.count;
    scroll.setAttribute("aria-rowcount", total + 1);
    space.style.height = `${height()}px`;
    scroll.style.height = `${Math.min(620, height() + 44)}px`;
    count.textContent = `${whole(total)} lines. Click on a line to read all of its document.`;
    await draw();
  }

  function clear() {
    total = 0; pages = new Map();
    body.replaceChildren(); head.replaceChildren();
    space.style.height = "0px";
    scroll.style.height = "0px";
    count.textContent = "";
  }
  clear();
  return { place: element("div", {}, count, grid), show, clear, onSort: (act) => { change = act; } };
}
