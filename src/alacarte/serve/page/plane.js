// Words on a plane that one can move, zoom and search; one word at a time can be looked at alone.

import { element, svgLink } from "./common.js";
import { COLOURS, table } from "./charts.js";

const STEP = 60; // pixels that an arrow key moves
const LABELS = 60; // words behind that are named
const ROWS = [0, 14, -14, 28, -28, 42, -42, 56]; // pixels by which a label may lie below its point

export class Plane {
  // `address` gives the link of a word; `look` is told of a point that one points at, and whether it was chosen.
  constructor(answered, address, look) {
    this.points = answered.points;
    this.background = answered.background;
    this.address = address;
    this.look = look;
    this.alone = null;
    this.found = null;
    this.view = null;
    this.start = null;
    this.width = 0;
    this.height = 0;
    this.pointers = new Map();
    this.waiting = false;
    this.behind = element("canvas", { "aria-hidden": "true" });
    this.picture = element("svg", { role: "group", "aria-label": "Words on a plane", tabindex: "0" });
    this.plane = element("div", { class: "map" }, this.behind, this.picture);
    this.place = element("div", {}, this.buttons(), this.plane, this.table());
    this.listen();
    new ResizeObserver(() => this.begin()).observe(this.plane);
  }

  table() {
    const names = ["x", "y", "own_x", "own_y", "major"];
    const value = (point, name) => (point[name] === null ? "none" : point[name].toFixed(3));
    const row = (point) => [point.word, point.contexts, ...names.map((name) => value(point, name))];
    return table("Words on a plane", ["word", "uses", "x", "y", "own x", "own y", "doubt"], this.points.map(row));
  }

  buttons() {
    const button = (label, name, onclick) =>
      element("button", { type: "button", class: "plain", "aria-label": name, onclick }, label);
    const find = element("input", { type: "search", "aria-label": "Find a word", placeholder: "find a word" });
    find.addEventListener("input", () => this.find(find.value.trim().toLowerCase()));
    const all = () => this.move({ ...this.start });
    return element(
      "div",
      { class: "zoom" },
      button("+", "Zoom in", () => this.zoom(1.3)),
      button("−", "Zoom out", () => this.zoom(1 / 1.3)),
      button("All", "Show all", all),
      find,
    );
  }

  // ------------------------------------------------------------------------------------------------------ the view

  // As large as there is room, a unit a pixel, so that words are readable on a phone; all of it in sight.
  begin() {
    if (!this.plane.clientWidth || (this.view && this.plane.clientWidth === this.width)) return;
    this.width = this.plane.clientWidth;
    this.height = Math.round(this.width < 600 ? 1.15 * this.width : 0.6 * this.width);
    this.picture.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    [this.behind.width, this.behind.height] = [2 * this.width, 2 * this.height];
    const all = this.points.flatMap((point) => [
      [point.x, point.y, point.major],
      ...(point.own_x === null ? [] : [[point.own_x, point.own_y, 0]]),
    ]);
    const reach = (place, sign) => Math.max(...all.map((point) => sign * point[place] + point[2]));
    const spans = [0, 1].map((place) => Math.max(reach(place, 1) + reach(place, -1), 1e-6));
    const scale = 0.86 * Math.min((this.width - 60) / spans[0], this.height / spans[1]);
    this.start = {
      scale,
      x: this.width / 2 - 30 - (scale * (reach(0, 1) - reach(0, -1))) / 2,
      y: this.height / 2 + (scale * (reach(1, 1) - reach(1, -1))) / 2,
    };
    this.view = { ...this.start };
    this.redraw();
  }

  px(x) {
    return this.view.x + this.view.scale * x;
  }

  py(y) {
    return this.view.y - this.view.scale * y;
  }

  move(view) {
    this.view = view;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.redraw();
    });
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const { view, start } = this;
    const scale = Math.max(start.scale / 20, Math.min(start.scale * 200, view.scale * factor));
    const near = (at, from) => at - ((at - from) * scale) / view.scale;
    this.move({ scale, x: near(x, view.x), y: near(y, view.y) });
  }

  // The first word that begins so comes into the middle.
  find(text) {
    const { words, x, y } = this.background;
    const point = this.points.find(({ word }) => text && word.startsWith(text));
    const place = text && !point ? words.findIndex((word) => word.startsWith(text)) : -1;
    this.found = point ?? (place < 0 ? null : { word: words[place], x: x[place], y: y[place] });
    const { scale } = this.view;
    if (!this.found) this.move({ ...this.view });
    else this.move({ scale, x: this.width / 2 - scale * this.found.x, y: this.height / 2 + scale * this.found.y });
  }

  // ------------------------------------------------------------------------------------------------------- drawing

  redraw() {
    const placed = this.labels();
    const parts = this.points.map((point, which) => this.drawn(point, COLOURS[which % COLOURS.length]));
    const links = this.points.map((point, which) => this.link(point, placed[which], COLOURS[which % COLOURS.length]));
    const marked = this.found
      ? [element("circle", { class: "found", cx: this.px(this.found.x), cy: this.py(this.found.y), r: 9 })]
      : [];
    const focused = this.points.findIndex(
      (_, which) => this.picture.children[parts.length + which] === document.activeElement,
    );
    this.picture.replaceChildren(...parts, ...links, ...marked);
    if (focused >= 0) links[focused].focus();
    this.paint();
  }

  // Where words are written: not on each other, nor on points.
  labels() {
    const at = this.points.map((point) => [this.px(point.x), this.py(point.y)]);
    const boxes = at.map(([x, y]) => [x - 5, y - 5, x + 5, y + 5]);
    return this.points.map(({ word }, which) => {
      const [x, y] = at[which];
      const long = 8.2 * word.length + 4;
      const from = x + 8 + long > this.width ? x - 8 - long : x + 8;
      const hit = (row) =>
        boxes.some((box) => from < box[2] && box[0] < from + long && row - 12 < box[3] && box[1] < row + 4);
      const row = ROWS.map((shift) => y + 5 + shift).find((each) => !hit(each)) ?? y + 5;
      boxes.push([from, row - 12, from + long, row + 4]);
      return [from, row];
    });
  }

  dimmed(point) {
    return this.alone && this.alone !== point.word ? "dim" : "";
  }

  drawn(point, colour) {
    const [cx, cy] = [this.px(point.x), this.py(point.y)];
    const size = { rx: this.view.scale * point.major, ry: this.view.scale * point.minor };
    const transform = `rotate(${(-180 * point.angle) / Math.PI} ${cx} ${cy})`;
    const parts = [element("ellipse", { class: `ring ${colour}`, cx, cy, ...size, transform })];
    if (point.own_x !== null) {
      const [x1, y1] = [this.px(point.own_x), this.py(point.own_y)];
      parts.push(element("line", { class: `curve ${colour}`, x1, y1, x2: cx, y2: cy }), head(x1, y1, cx, cy, colour));
    }
    parts.push(element("circle", { class: `point ${colour}`, cx, cy, r: 4 }));
    return element("g", { class: this.dimmed(point) }, parts);
  }

  link(point, [x, y], colour) {
    const text = element("text", { class: `label haloed ${colour}`, x, y }, point.word);
    const link = svgLink(this.address(point.word), text);
    link.setAttribute("class", this.dimmed(point));
    const look = () => {
      if (!this.alone) this.look(point, false);
    };
    link.addEventListener("pointerenter", look);
    link.addEventListener("focus", look);
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      this.alone = this.alone === point.word ? null : point.word;
      this.look(point, this.alone !== null);
      this.redraw();
    });
    return link;
  }

  // The words behind, of which thousands are points on a canvas and some are named.
  paint() {
    const pen = this.behind.getContext("2d");
    const look = getComputedStyle(document.body);
    const { words, x, y } = this.background;
    const { width, height } = this.behind;
    pen.clearRect(0, 0, width, height);
    pen.fillStyle = look.getPropertyValue("--soft");
    pen.globalAlpha = this.alone ? 0.15 : 0.35;
    const seen = [];
    for (let place = 0; place < x.length; place += 1) {
      const [across, down] = [2 * this.px(x[place]), 2 * this.py(y[place])];
      if (across > 0 && down > 0 && across < width && down < height) {
        pen.fillRect(across - 1, down - 1, 3, 3);
        if (seen.length < 400) seen.push([across, down, words[place]]);
      }
    }
    pen.globalAlpha = this.alone ? 0.25 : 0.8;
    pen.font = `${this.width < 600 ? 22 : 24}px ${look.getPropertyValue("--sans")}`;
    const taken = [];
    for (const [across, down, word] of seen) {
      if (taken.length >= LABELS) break;
      if (taken.some((other) => Math.abs(other[0] - across) < 150 && Math.abs(other[1] - down) < 30)) continue;
      taken.push([across, down]);
      pen.fillText(word, across + 6, down + 6);
    }
  }

  // ------------------------------------------------------------------------------------------- mouse, fingers, keys

  where(event) {
    const box = this.picture.getBoundingClientRect();
    return [
      ((event.clientX - box.left) * this.width) / box.width,
      ((event.clientY - box.top) * this.height) / box.height,
    ];
  }

  listen() {
    const { picture, pointers } = this;
    const wheel = (event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, ...this.where(event));
    };
    picture.addEventListener("wheel", wheel, { passive: false });
    picture.addEventListener("pointerdown", (event) => pointers.set(event.pointerId, this.where(event)));
    for (const end of ["pointerup", "pointercancel", "pointerleave"])
      picture.addEventListener(end, (event) => pointers.delete(event.pointerId));
    picture.addEventListener("pointermove", (event) => this.drag(event));
    picture.addEventListener("keydown", (event) => {
      if (this.key(event.key)) event.preventDefault();
    });
  }

  // One finger moves, two zoom around the middle between them.
  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before || !event.buttons) return;
    const now = this.where(event);
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.pointers.set(event.pointerId, now);
    if (other) {
      const apart = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]);
      this.zoom(apart(now) / Math.max(1, apart(before)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else {
      this.move({ ...this.view, x: this.view.x + now[0] - before[0], y: this.view.y + now[1] - before[1] });
    }
  }

  key(key) {
    const moves = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[key];
    if (moves) this.move({ ...this.view, x: this.view.x + moves[0], y: this.view.y + moves[1] });
    else if (key === "+" || key === "=") this.zoom(1.3);
    else if (key === "-") this.zoom(1 / 1.3);
    else if (key === "0") this.move({ ...this.start });
    else if (key === "Escape" && this.alone) {
      this.alone = null;
      this.redraw();
    } else return false;
    return true;
  }
}

function head(x1, y1, x2, y2, colour) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const corner = (turn) => `${x2 - 11 * Math.cos(angle + turn)},${y2 - 11 * Math.sin(angle + turn)}`;
  return element("polygon", { class: `point ${colour}`, points: `${x2},${y2} ${corner(0.4)} ${corner(-0.4)}` });
}
